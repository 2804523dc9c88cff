#pragma once

/// Mass, centre of mass, momentum, energy and centroidal quantities of the whole robot.
/// G denotes the frame at the centre of mass with world axes. With M_L the inertia of a link about
/// O and S the columns of kinematics.h:  h = sum M_L V_L,  A_G = G_X^O [sum over the subtree of k
/// of M_L] S_k,  h_G = A_G v. Average velocity: v_G = I_G^-1 h_G = (com velocity, w_G); w_G has no
/// orientation it is the derivative of. Sources: Traversaro 2017, 3.9 (T-20, T-30, T-31), Orin et
/// al. 2013. Real-time unless a function returns a matrix.

#include "proprio/dynamics/kinematics.h"

namespace proprio {

double totalMass(const CompiledParameters& parameters);

/// Needs kinematics with velocities (and accelerations for the momentum rate).
struct CentroidalState {
  double mass = 0.0;
  Vector3d com = Vector3d::Zero();  ///< in the world
  Vector3d com_velocity = Vector3d::Zero();
  Vector6d momentum =
      Vector6d::Zero();  ///< h_G (linear, angular) about the centre of mass, world axes
  Vector6d momentum_rate = Vector6d::Zero();  ///< d/dt h_G for the kinematics' accelerations
  Vector6d momentum_bias =
      Vector6d::Zero();  ///< the same at zero generalised acceleration: Adot_G v
  Matrix6d inertia =
      Matrix6d::Zero();           ///< I_G = blkdiag(m 1, rotational inertia of the locked robot)
  Vector6d averageTwist() const;  ///< I_G^-1 h_G, mixed, at the centre of mass
};
CentroidalState centroidalState(const Tree& tree, const CompiledParameters& parameters,
                                const Kinematics& kinematics);

/// Momentum about the world origin (spatial).
SpatialMomentum spatialMomentum(const CentroidalState& state);

/// Locked inertia of the whole robot in the frame of the base link.
InertialParameters lockedInertia(const Tree& tree, const CompiledParameters& parameters,
                                 const Kinematics& kinematics);

/// 3 x velocityCount(): velocity of the centre of mass = J v (body twist of the base).
void comJacobian(const Tree& tree, const CompiledParameters& parameters,
                 const Kinematics& kinematics,
                 Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> J);

/// Centroidal momentum matrix A_G, 6 x velocityCount(), and its time derivative.
void centroidalMomentumMatrix(const Tree& tree, const CompiledParameters& parameters,
                              const Kinematics& kinematics,
                              Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> A);
void centroidalMomentumMatrixRate(const Tree& tree, const CompiledParameters& parameters,
                                  const Kinematics& kinematics,
                                  Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> dA);

/// Kinetic energy with rotor inertia; potential energy with zero at the world origin.
double kineticEnergy(const Tree& tree, const CompiledParameters& parameters,
                     const Kinematics& kinematics, ConstVectorRef v);
double potentialEnergy(const Tree& tree, const CompiledParameters& parameters,
                       const Kinematics& kinematics);

}  // namespace proprio
