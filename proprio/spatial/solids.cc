#include "proprio/spatial/solids.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "proprio/core/error.h"

namespace proprio {
namespace {

void requireNonNegative(const char* solid, double mass, std::initializer_list<double> lengths) {
  if (!(mass >= 0.0) || !std::isfinite(mass)) {
    throw Error(fmt::format("{}: mass {} kg, expected a number >= 0", solid, mass));
  }
  for (double length : lengths) {
    if (!(length >= 0.0) || !std::isfinite(length)) {
      throw Error(fmt::format("{}: length {} m, expected a number >= 0", solid, length));
    }
  }
}

// I = tr(L) 1 - diag(L), about the centre.
InertialParameters fromSecondMoments(double mass, const Vector3d& L) {
  const Matrix3d inertia = (Vector3d::Constant(L.sum()) - L).asDiagonal();
  return {mass, Vector3d::Zero(), inertia};
}

}  // namespace

InertialParameters boxInertia(double mass, const Vector3d& size) {
  requireNonNegative("box", mass, {size.x(), size.y(), size.z()});
  return fromSecondMoments(mass, mass / 12.0 * size.cwiseAbs2());
}

InertialParameters ellipsoidInertia(double mass, const Vector3d& semi_axes) {
  requireNonNegative("ellipsoid", mass, {semi_axes.x(), semi_axes.y(), semi_axes.z()});
  return fromSecondMoments(mass, mass / 5.0 * semi_axes.cwiseAbs2());
}

InertialParameters sphereInertia(double mass, double radius) {
  requireNonNegative("sphere", mass, {radius});
  return ellipsoidInertia(mass, Vector3d::Constant(radius));
}

InertialParameters cylinderInertia(double mass, double radius, double length) {
  requireNonNegative("cylinder", mass, {radius, length});
  const double across = 0.25 * mass * radius * radius;
  return fromSecondMoments(mass, {across, across, mass * length * length / 12.0});
}

InertialParameters capsuleInertia(double mass, double radius, double length) {
  requireNonNegative("capsule", mass, {radius, length});
  // masses of cylinder and caps go as their volumes, pi r^2 l and 4/3 pi r^3
  const double total = length + 4.0 / 3.0 * radius;
  const double cylinder = total > 0.0 ? mass * length / total : mass;
  const double caps = mass - cylinder;
  const double r2 = radius * radius, l2 = length * length;
  const double across = cylinder * r2 / 4.0 + caps * r2 / 5.0;
  // a cap: points z above its base at l/2, with mean z = 3r/8 and mean z^2 = r^2/5
  const double along = cylinder * l2 / 12.0 +
                       caps * (r2 / 5.0 + 2.0 * (0.5 * length) * (0.375 * radius) + 0.25 * l2);
  return fromSecondMoments(mass, {across, across, along});
}

InertialParameters pointCloudInertia(const Eigen::Ref<const Eigen::VectorXd>& masses,
                                     const Eigen::Ref<const Eigen::Matrix3Xd>& points) {
  if (masses.size() != points.cols()) {
    throw Error(fmt::format("point cloud: {} masses for {} points, expected equal numbers",
                            masses.size(), points.cols()));
  }
  if (!masses.allFinite() || !points.allFinite() || (masses.array() < 0.0).any()) {
    throw Error("point cloud: a mass is negative or a number is not finite, expected masses >= 0");
  }
  if (masses.size() == 0) return {0.0, Vector3d::Zero(), Matrix3d::Zero()};
  const Eigen::Matrix3Xd weighted = points * masses.asDiagonal();
  const Matrix3d S = weighted * points.transpose();
  return {masses.sum(), weighted.rowwise().sum(), S.trace() * Matrix3d::Identity() - S};
}

}  // namespace proprio
