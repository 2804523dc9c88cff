#pragma once

/// States of a robot as columns of a table. Names per joint J:
///   q_J, v_J, a_J, tau_J       position, velocity, acceleration, torque: rad, rad/s, rad/s^2, N m
///                              or m, m/s, m/s^2, N, unless the column names its unit: q_J [deg]
///   planar joints              q_J_x q_J_y q_J_angle, v_J_x v_J_y v_J_angle, ...
///   floating joints            q_J_x q_J_y q_J_z q_J_qx q_J_qy q_J_qz q_J_qw, v_J_vx ... v_J_wz,
///   ...
/// and of a free base
///   base_x base_y base_z base_qx base_qy base_qz base_qw     pose in the world
///   base_vx base_vy base_vz base_wx base_wy base_wz          body twist: in the axes of the base
///   link base_ax base_ay base_az base_alx base_aly base_alz       its plain time derivative
///   base_fx base_fy base_fz base_tx base_ty base_tz          wrench on the base, in its axes
/// and of any link or extra frame L (external wrenches; places without them are free of any)
///   wrench_L_fx wrench_L_fy wrench_L_fz wrench_L_tx wrench_L_ty wrench_L_tz
///                              force and moment on L, or on the link of frame L, from outside, at
///                              the origin of L, in the axes of L
/// `time` (or `t`) may be there. Mimic joints follow their leader and have no columns.

#include <string>
#include <vector>

#include "proprio/model/tree.h"
#include "proprio/recording/csv.h"

namespace proprio {

/// In the order of the tree's coordinates.
std::vector<std::string> positionNames(const Tree& tree);
/// kind: 'v', 'a' or 't' (torque).
std::vector<std::string> velocityNames(const Tree& tree, char kind = 'v');

struct StateTable {
  Eigen::VectorXd time;     ///< empty if the table has none
  Eigen::MatrixXd q, v, a;  ///< row = sample; v and a are zero where the table has none
  Eigen::MatrixXd tau;      ///< 0 columns if the table has none
  std::vector<std::string> wrench_places;  ///< links and frames with external wrenches
  std::vector<int> wrench_links;           ///< their links; those of frames may repeat others
  Eigen::MatrixXd wrenches;  ///< six columns for each: moved to the link's frame and axes
  bool has_v = false, has_a = false;
};

/// Quaternions are normalised. @throws Error if a position column is missing (or some, but not all,
/// of another kind or of a wrench), if a column or its unit is unknown or of another kind, or a
/// quaternion is zero.
StateTable statesFrom(const CsvTable& table, const Tree& tree);

}  // namespace proprio
