/// The energy balance of a plant: what it has, what it loses, what is done to it.

#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/simulation/plant_internal.h"

namespace proprio::internal {

using Eigen::Index;
using ConstMap = Eigen::Map<const Eigen::VectorXd>;

// friction, and the damping of elastic drives: D (theta' - v)^2
double Plant::lostPower(const double* y) const {
  double power = friction_.dot(ConstMap(y + nq_, n_));
  const auto flexible = static_cast<Index>(flexible_.size());
  const double* omega = y + nq_ + n_ + flexible;
  for (Index k = 0; k < flexible; ++k) {
    const Index i = flexible_[static_cast<size_t>(k)];
    const double slip = omega[k] - y[nq_ + i];
    power += damping_[i] * slip * slip;
  }
  return power;
}

double Plant::inertialCouplingPower(const double* v, const double* a) const {
  if (!inertial_couplings_) return 0.0;
  Eigen::MatrixXd coupled = Eigen::MatrixXd::Zero(n_, n_);
  addCouplingInertia(tree_, lane_[0].actual, coupled);
  return ConstMap(v, n_).dot(coupled * ConstMap(a, n_));
}

double Plant::outsidePower() const {
  if (surroundings_ == nullptr) return 0.0;
  double power = 0.0;
  for (Index link = 0; link < wrenches_.cols(); ++link) {
    if (wrenches_.col(link).isZero(0.0)) continue;
    const BodyTwist twist = frameTwist(tree_, *kinematics_, static_cast<int>(link));
    power += wrenches_.col(link).head<3>().dot(twist.linear) +
             wrenches_.col(link).tail<3>().dot(twist.angular);
  }
  return power;
}

Plant::Energy Plant::energy() {
  const ConstMap at(q(), nq_), speed(v(), n_);
  updateKinematics(at, speed);
  const CompiledParameters& compiled = lane_[0].compiled;
  Energy out{kineticEnergy(tree_, compiled, *kinematics_, speed),
             potentialEnergy(tree_, compiled, *kinematics_)};
  for (Index i = 0; i < n_; ++i) {
    const double x = at[q_of_[static_cast<size_t>(i)]];
    out.potential += (0.5 * spring_[i] * x + preload_[i]) * x;
  }
  const double* theta = q() + nq_ + n_;
  const double* omega = theta + flexible_.size();
  for (size_t k = 0; k < flexible_.size(); ++k) {
    const Index i = flexible_[k];
    const double twist = theta[k] - position(i, 0);
    out.potential += 0.5 * stiffness_[i] * twist * twist;
    out.kinetic += 0.5 * rotor_[i] * omega[k] * omega[k];
  }
  return out;
}

}  // namespace proprio::internal
