#pragma once

/// Inside the dynamics room: which functions of the state the parameters at the joints multiply,
/// compared symbolically. Every column in every torque row is a combination of named features that
/// are independent functions of the state: 1, a_k, q_k, v_k for v_k > 0, v_k for v_k < 0, the sign
/// of v_k likewise, |v_k|^e, ... Two columns with the same features can be told apart by nothing.
/// A mimic joint has the row of its leader (times ratio) and functions of its leader's state: with
/// v = ratio * v_k a negative ratio changes the sides, and tanh(gain v) is tanh((gain ratio) v_k).

#include <map>
#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"

namespace proprio::internal {

struct RowFeature {
  int row_joint = -1;        ///< torque row, of a joint that moves on its own
  std::string name;          ///< unique within the row
  int acceleration_of = -1;  ///< k if the feature is the acceleration of joint k, likewise
  bool constant = false;     ///< the feature is 1
  std::map<int, double> coefficients;  ///< by parameter index
};

/// Features of all torque rows that `measured` marks (per joint).
std::vector<RowFeature> jointFeatures(const ParameterLayout& layout,
                                      const std::vector<bool>& measured);

}  // namespace proprio::internal
