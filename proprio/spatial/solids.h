#pragma once

#include <Eigen/Core>

#include "proprio/spatial/inertial_parameters.h"

/// Inertia of homogeneous solids and of point clouds, in closed form.
///
/// Solids are centred at the frame origin; move them with transformed() and add them with +.
/// With the second moments L_i = integral of x_i^2 dm (I = tr(L) 1 - diag(L)):
///   box         m/12 (a^2, b^2, c^2)            full side lengths
///   ellipsoid   m/5  (a^2, b^2, c^2)            semi-axes; a sphere has three equal ones
///   cylinder    m (r^2/4, r^2/4, l^2/12)        along z
///   capsule     cylinder of length l plus two half spheres of radius r, along z
/// Zero lengths (plates, rods, points) and zero mass are allowed.
///
/// @throws Error where a mass or length is negative or not finite.
namespace proprio {

InertialParameters boxInertia(double mass, const Vector3d& size);
InertialParameters ellipsoidInertia(double mass, const Vector3d& semi_axes);
InertialParameters sphereInertia(double mass, double radius);
InertialParameters cylinderInertia(double mass, double radius, double length);
/// length is that of the cylindrical part; the whole capsule is length + 2 radius long.
InertialParameters capsuleInertia(double mass, double radius, double length);

/// Point masses (kg) at the columns of points (m). A density is a point cloud of its cells.
/// @throws Error also where the numbers of masses and points differ.
InertialParameters pointCloudInertia(const Eigen::Ref<const Eigen::VectorXd>& masses,
                                     const Eigen::Ref<const Eigen::Matrix3Xd>& points);

}  // namespace proprio
