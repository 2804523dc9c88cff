#pragma once

#include <Eigen/Core>

#include "proprio/spatial/pose.h"

namespace proprio {

using Vector10d = Eigen::Matrix<double, 10, 1>;
using Matrix10d = Eigen::Matrix<double, 10, 10>;

/// The ten inertial parameters of a rigid body in a frame B: mass, first moment m c, and rotational
/// inertia about the **origin of B** (not about the centre of mass). Linear in everything dynamic.
struct InertialParameters {
  double mass = 0.0;                         ///< kg
  Vector3d first_moment = Vector3d::Zero();  ///< m c, kg m
  Matrix3d inertia = Matrix3d::Zero();       ///< about the frame origin, kg m^2

  /// From the centre of mass and the inertia about it (both in B's axes): Huygens-Steiner.
  static InertialParameters fromCom(double mass, const Vector3d& com,
                                    const Matrix3d& inertia_at_com);
  /// Order [m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz].
  static InertialParameters fromVector(const Eigen::Ref<const Vector10d>& vector);
  Vector10d vector() const;

  /// Centre of mass; zero for a massless body.
  Vector3d com() const;
  /// I_C = I_B + m c^ c^.
  Matrix3d inertiaAtCom() const;
  /// 6x6 matrix [m 1, -(mc)^; (mc)^, I] for twists (v, w) of B in B.
  Matrix6d matrix() const;
};

InertialParameters operator+(const InertialParameters& a, const InertialParameters& b);
InertialParameters operator-(const InertialParameters& a, const InertialParameters& b);

/// The same body seen from frame A, where X_AB is the pose of B in A.
InertialParameters transformed(const Pose& X_AB, const InertialParameters& body_in_B);
/// The 3x6 matrix [u] with I u = [u] (Ixx, Ixy, Ixz, Iyy, Iyz, Izz).
Eigen::Matrix<double, 3, 6> inertiaOperator(const Vector3d& u);
/// The 10x10 matrix T with transformed(X_AB, b).vector() == T b.vector().
Matrix10d parameterTransform(const Pose& X_AB);

}  // namespace proprio
