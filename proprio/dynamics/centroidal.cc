#include "proprio/dynamics/centroidal.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "proprio/dynamics/coriolis.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

struct Com {
  double mass = 0.0;
  Vector3d first_moment = Vector3d::Zero();  ///< about O, world axes
};

Vector3d firstMoment(const CompiledParameters& parameters, const Kinematics& k, size_t body) {
  const kernels::Inertia<double>& I = parameters.bodies[body];
  return k.X_WB[body].R * Vector3d(I.hx, I.hy, I.hz) + I.m * (k.X_WB[body].p - k.origin);
}

Com comAboutOrigin(const CompiledParameters& parameters, const Kinematics& k) {
  Com com;
  for (size_t b = 0; b < parameters.bodies.size(); ++b) {
    com.mass += parameters.bodies[b].m;
    com.first_moment += firstMoment(parameters, k, b);
  }
  return com;
}

/// Wrenches and momenta from O to the centre of mass at c from O.
Vector6d aboutCom(const Vector6d& h, const Vector3d& c) {
  Vector6d out = h;
  out.tail<3>() -= c.cross(Vector3d(h.head<3>()));
  return out;
}

bool onPath(const Tree& tree, int ancestor, int body) {
  return body >= ancestor && body < tree.bodies()[static_cast<size_t>(ancestor)].subtree_end;
}

}  // namespace

double totalMass(const CompiledParameters& parameters) {
  double mass = 0.0;
  for (const auto& body : parameters.bodies) mass += body.m;
  return mass;
}

Vector6d CentroidalState::averageTwist() const { return inertia.inverse() * momentum; }

CentroidalState centroidalState(const Tree& tree, const CompiledParameters& parameters,
                                const Kinematics& k) {
  CentroidalState state;
  Vector6d h = Vector6d::Zero(), rate = h, bias = h;
  Matrix6d locked = Matrix6d::Zero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const auto i = static_cast<size_t>(b);
    const Matrix6d M = inertiaAboutOrigin(parameters, k, b);
    const Vector6d momentum = M * k.V[i];
    const Vector6d gyroscopic = forceCross(k.V[i], momentum);
    locked += M;
    h += momentum;
    rate += M * k.A[i] + gyroscopic;
    bias += M * k.bias[i] + gyroscopic;
  }
  const Com com = comAboutOrigin(parameters, k);
  const Vector3d c = com.first_moment / com.mass;
  state.mass = com.mass;
  state.com = k.origin + c;
  state.com_velocity = h.head<3>() / com.mass;
  // c' is parallel to the linear momentum, so moving to the moving point adds nothing else
  state.momentum = aboutCom(h, c);
  state.momentum_rate = aboutCom(rate, c);
  state.momentum_bias = aboutCom(bias, c);
  state.inertia.topLeftCorner<3, 3>() = com.mass * Matrix3d::Identity();
  state.inertia.bottomRightCorner<3, 3>() =
      locked.bottomRightCorner<3, 3>() + com.mass * skew(c) * skew(c);
  return state;
}

SpatialMomentum spatialMomentum(const CentroidalState& state) {
  const Vector3d linear = state.momentum.head<3>();
  return {linear, Vector3d(state.momentum.tail<3>()) + state.com.cross(linear)};
}

InertialParameters lockedInertia(const Tree& tree, const CompiledParameters& parameters,
                                 const Kinematics& k) {
  Matrix6d locked = Matrix6d::Zero();
  for (int b = 0; b < tree.bodyCount(); ++b) locked += inertiaAboutOrigin(parameters, k, b);
  const Matrix6d X = velocityAdjoint({k.X_WB[0].R, Vector3d::Zero()});
  const Matrix6d M = X.transpose() * locked * X;
  InertialParameters out;
  out.mass = M(0, 0);
  out.first_moment = unskew(M.bottomLeftCorner<3, 3>());
  out.inertia = M.bottomRightCorner<3, 3>();
  return out;
}

void comJacobian(const Tree& tree, const CompiledParameters& parameters, const Kinematics& k,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> J) {
  requireSize("comJacobian", "columns of J", J.cols(), tree.velocityCount());
  const double mass = totalMass(parameters);
  J.setZero();
  for (int c = 0; c < tree.fullVelocityCount(); ++c) {
    const int first = k.body_of[static_cast<size_t>(c)];
    double m = 0.0;
    Vector3d moment = Vector3d::Zero();
    for (int b = first; b < tree.bodies()[static_cast<size_t>(first)].subtree_end; ++b) {
      m += parameters.bodies[static_cast<size_t>(b)].m;
      moment += firstMoment(parameters, k, static_cast<size_t>(b));
    }
    const Vector3d linear = k.S.col(c).head<3>(), angular = k.S.col(c).tail<3>();
    const auto i = static_cast<size_t>(c);
    J.col(tree.v_source[i]) += tree.v_ratio[i] / mass * (m * linear + angular.cross(moment));
  }
}

void centroidalMomentumMatrix(const Tree& tree, const CompiledParameters& parameters,
                              const Kinematics& k,
                              Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> A) {
  requireSize("centroidalMomentumMatrix", "columns of A", A.cols(), tree.velocityCount());
  const Com com = comAboutOrigin(parameters, k);
  const Vector3d centre = com.first_moment / com.mass;
  A.setZero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const Matrix6d M = inertiaAboutOrigin(parameters, k, b);
    for (int c = 0; c < tree.fullVelocityCount(); ++c) {
      const auto i = static_cast<size_t>(c);
      if (!onPath(tree, k.body_of[i], b)) continue;
      A.col(tree.v_source[i]) += tree.v_ratio[i] * aboutCom(M * k.S.col(c), centre);
    }
  }
}

void centroidalMomentumMatrixRate(const Tree& tree, const CompiledParameters& parameters,
                                  const Kinematics& k,
                                  Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> dA) {
  requireSize("centroidalMomentumMatrixRate", "columns of dA", dA.cols(), tree.velocityCount());
  const Com com = comAboutOrigin(parameters, k);
  const Vector3d centre = com.first_moment / com.mass;
  Vector3d centre_velocity = Vector3d::Zero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    centre_velocity +=
        (inertiaAboutOrigin(parameters, k, b) * k.V[static_cast<size_t>(b)]).head<3>() / com.mass;
  }
  dA.setZero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const Matrix6d M = inertiaAboutOrigin(parameters, k, b);
    const Vector6d& V = k.V[static_cast<size_t>(b)];
    for (int c = 0; c < tree.fullVelocityCount(); ++c) {
      const auto i = static_cast<size_t>(c);
      if (!onPath(tree, k.body_of[i], b)) continue;
      // M' = V xbar* M - M V x, S' = dS, and the reference point moves with the centre of mass
      const Vector6d momentum = M * k.S.col(c);
      Vector6d rate = forceCross(V, momentum) - M * motionCross(V, k.S.col(c)) + M * k.dS.col(c);
      rate = aboutCom(rate, centre);
      rate.tail<3>() -= centre_velocity.cross(Vector3d(momentum.head<3>()));
      dA.col(tree.v_source[i]) += tree.v_ratio[i] * rate;
    }
  }
}

double kineticEnergy(const Tree& tree, const CompiledParameters& parameters, const Kinematics& k,
                     ConstVectorRef v) {
  requireSize("kineticEnergy", "v", v.size(), tree.velocityCount());
  double energy = 0.0;
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const Vector6d& V = k.V[static_cast<size_t>(b)];
    energy += 0.5 * V.dot(inertiaAboutOrigin(parameters, k, b) * V);
  }
  for (size_t i = 0; parameters.has_rotor && i < parameters.rotor.size(); ++i) {
    const double rate = tree.v_ratio[i] * v[tree.v_source[i]];
    energy += 0.5 * parameters.rotor[i] * rate * rate;
  }
  return energy;
}

double potentialEnergy(const Tree& tree, const CompiledParameters& parameters,
                       const Kinematics& k) {
  const Com com = comAboutOrigin(parameters, k);
  return -tree.model().gravity.dot(com.first_moment + com.mass * k.origin);
}

}  // namespace proprio
