#pragma once

/// Base parameters of serial arms of revolute joints by closed formulas: the classical regrouping
/// rules on modified DH parameters (modified_dh.h). From the tip to the base, YY_j, MZ_j and M_j
/// are moved into link j-1, because turning about z_j does not change them:
///   XX_j -= YY_j;  XX_{j-1} += YY_j + 2 r MZ_j + r^2 M_j;  XY += d Sa (MZ_j + r M_j);
///   XZ -= d Ca (MZ_j + r M_j);  YY += Ca^2 (YY_j + 2 r MZ_j + r^2 M_j) + d^2 M_j;
///   YZ += Ca Sa (YY_j + 2 r MZ_j + r^2 M_j);  ZZ += Sa^2 (YY_j + 2 r MZ_j + r^2 M_j) + d^2 M_j;
///   MX += d M_j;  MY -= Sa (MZ_j + r M_j);  MZ += Ca (MZ_j + r M_j);  M += M_j
/// What is left: ZZ of joint 1 and of those directly following joints that are parallel to it
/// (their MX, MY too, unless gravity and the axes' distance give them no effect), seven parameters
/// of every other link. A rotor inertia is a parameter of its own except Ia_1, which joins ZZ_1,
/// and that of the first joint k not parallel to joint 1, which joins ZZ_k if the axes are
/// perpendicular. Count with axis 2 not parallel to axis 1: 7 n - 4, or 7 n - 6 if axis 1 is
/// vertical.
///
/// Limits: gravity must not be zero; accelerations in declared couplings only between adjacent
/// perpendicular joints. Source: Gautier and Khalil 1990; Ardiani 2023 ch. 1 with its
/// errata.

#include "proprio/dynamics/base_parameters.h"

namespace proprio {

/// No value where the rules do not apply; then `reason` says why. All joint torques are measured.
std::optional<BaseParameters> regroupedBaseParameters(const Tree& tree,
                                                      std::shared_ptr<const ParameterLayout> layout,
                                                      const ReductionOptions& options = {},
                                                      std::string* reason = nullptr);

}  // namespace proprio
