#pragma once

/// Denavit-Hartenberg tables. Row i places frame i in frame i-1; joint i turns about or slides
/// along z.
///   modified (proximal; Khalil-Kleinfinger, Craig): X = Rx(alpha) Tx(a) Rz(theta + q) Tz(d), axis
///   z of frame i classic (distal; Denavit-Hartenberg, Paul):     X = Rz(theta + q) Tz(d) Tx(a)
///   Rx(alpha), axis z of frame i-1
/// A prismatic joint adds q to d instead of theta. Serial chains only.

#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

enum class DhConvention { kModified, kClassic };

struct DhRow {
  std::string joint;
  std::string link;                       ///< the link that the joint moves, with frame i
  JointType type = JointType::kRevolute;  ///< revolute, continuous, prismatic or fixed
  double alpha = 0.0;                     ///< rad
  double a = 0.0;                         ///< m
  double d = 0.0;                         ///< m
  double theta = 0.0;                     ///< rad
};

/// X_{i-1,i} of one row at joint position q.
Pose dhPose(DhConvention convention, const DhRow& row, double q);

/// Links (the base first) and joints of the chain, without inertias; not finalized.
/// X_B0: frame 0 in the base link.
Model dhChain(DhConvention convention, const std::vector<DhRow>& rows, const std::string& base_link,
              const Pose& X_B0);

}  // namespace proprio
