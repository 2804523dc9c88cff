#include "proprio/dynamics/drive_chain.h"

#include <fmt/format.h>

#include <Eigen/Core>

#include "proprio/core/text.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// N m per drive unit of every velocity coordinate; one where joints have several.
Eigen::VectorXd gainsOfDrives(const Tree& tree) {
  if (tree.floating())
    throw Error(tree.model().name + ": its base floats, and no drive moves it; fix it (--fixed)");
  Eigen::VectorXd gains = Eigen::VectorXd::Ones(tree.velocityCount());
  for (size_t joint = 0; joint < tree.model().joints.size(); ++joint) {
    const Joint& declared = tree.model().joints[joint];
    const int i = tree.velocityIndex(static_cast<int>(joint));
    if (i < 0 || declared.mimic || velocityCount(declared.type) != 1) continue;
    gains[i] = declared.drive.gain;
    if (declared.drive.gain == 0.0)
      throw Error(fmt::format("joint {} has a drive gain of 0; no current gives a torque there",
                              inQuotes(declared.name)));
  }
  return gains;
}

/// All torques that the drives supply.
Eigen::VectorXd driveTorques(const Tree& tree, const Parameters& parameters, ConstVectorRef q,
                             ConstVectorRef v, ConstVectorRef a) {
  Workspace workspace(tree);
  Eigen::VectorXd tau(tree.velocityCount());
  inverseDynamics(tree, compileParameters(tree, parameters), workspace, q, v, a, tau);
  addJointEffects(tree, parameters, q, v, a, tau);
  return tau;
}

}  // namespace

Eigen::VectorXd driveCurrents(const Tree& tree, const Parameters& parameters, ConstVectorRef q,
                              ConstVectorRef v, ConstVectorRef a) {
  const Eigen::VectorXd gains = gainsOfDrives(tree);
  return driveTorques(tree, parameters, q, v, a).cwiseQuotient(gains);
}

Eigen::VectorXd accelerationsFromCurrents(const Tree& tree, const Parameters& parameters,
                                          ConstVectorRef q, ConstVectorRef v,
                                          ConstVectorRef currents) {
  requireSize("accelerationsFromCurrents", "currents", currents.size(), tree.velocityCount());
  const Eigen::VectorXd gains = gainsOfDrives(tree);
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(tree.velocityCount());
  Workspace workspace(tree);
  Eigen::MatrixXd M(tree.velocityCount(), tree.velocityCount());
  massMatrix(tree, compileParameters(tree, parameters), workspace, q, M);
  addCouplingInertia(tree, parameters, M);
  const Eigen::VectorXd rest =
      gains.cwiseProduct(currents) - driveTorques(tree, parameters, q, v, still);
  return solveSquare(M, rest);
}

Eigen::VectorXd sensorTorques(const Tree& tree, const Parameters& parameters, ConstVectorRef a,
                              ConstVectorRef currents, ConstVectorRef motor_friction) {
  requireSize("sensorTorques", "a", a.size(), tree.velocityCount());
  requireSize("sensorTorques", "currents", currents.size(), tree.velocityCount());
  requireSize("sensorTorques", "motor_friction", motor_friction.size(), tree.velocityCount());
  Eigen::VectorXd torques = gainsOfDrives(tree).cwiseProduct(currents) - motor_friction;
  const ParameterLayout& layout = *parameters.layout;
  for (int p = layout.inertialSize(); p < layout.size(); ++p) {
    if (layout[p].kind != ParameterKind::kRotorInertia) continue;
    const int i = tree.velocityIndex(layout[p].joint);
    if (i < 0) continue;
    const double ratio = tree.model().joints[static_cast<size_t>(layout[p].joint)].mimic_ratio;
    torques[i] -= ratio * ratio * parameters.values[static_cast<size_t>(p)] * a[i];
  }
  return torques;
}

ShaftState shaftState(const Drive& drive, double q, double v, double current) {
  if (drive.gear_ratio == 0.0)
    throw Error("a drive has the gear ratio 0; expected motor turns per turn of the joint");
  return {drive.gear_ratio * q, drive.gear_ratio * v, drive.gain * current / drive.gear_ratio};
}

}  // namespace proprio
