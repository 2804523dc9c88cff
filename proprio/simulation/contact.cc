#include "proprio/simulation/contact.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace proprio {
namespace {

constexpr double kSlip = 1e-3;  // m/s

// a force at a point, in link axes
void addForce(const Vector3d& p_L, const Vector3d& f_L, Eigen::Index link, LinkWrenches* wrenches) {
  wrenches->col(link).head<3>() += f_L;
  wrenches->col(link).tail<3>() += p_L.cross(f_L);
}

}  // namespace

void addContactWrenches(const Tree& tree, const Kinematics& kinematics,
                        const std::vector<HalfSpace>& half_spaces,
                        const std::vector<ContactPoint>& points, LinkWrenches* wrenches,
                        Eigen::Ref<Eigen::VectorXd> forces) {
  forces.setZero();
  for (size_t i = 0; i < points.size(); ++i) {
    const ContactPoint& point = points[i];
    const Pose& X_WL = kinematics.X_WL[static_cast<size_t>(point.link)];
    const Vector3d p_W = X_WL * point.p_L;
    for (const HalfSpace& space : half_spaces) {
      const double depth = space.normal.dot(space.point - p_W);
      if (!(depth > 0.0)) continue;
      const BodyTwist twist = frameTwist(tree, kinematics, point.link);
      const Vector3d u = X_WL.R * (twist.linear + twist.angular.cross(point.p_L));
      const double across = space.normal.dot(u);
      const double normal = std::max(0.0, space.stiffness * depth - space.damping * across);
      const Vector3d slide = u - across * space.normal;
      const double friction =
          space.friction * normal / std::sqrt(slide.squaredNorm() + kSlip * kSlip);
      addForce(point.p_L, X_WL.R.transpose() * (normal * space.normal - friction * slide),
               point.link, wrenches);
      forces[static_cast<Eigen::Index>(i)] += normal;
    }
  }
}

void addAppliedWrench(const Kinematics& kinematics, const AppliedWrench& applied,
                      LinkWrenches* wrenches) {
  Matrix3d R_LA = Matrix3d::Identity();
  if (!applied.in_link_axes)
    R_LA = kinematics.X_WL[static_cast<size_t>(applied.link)].R.transpose();
  addForce(applied.p_L, R_LA * applied.force, applied.link, wrenches);
  wrenches->col(applied.link).tail<3>() += R_LA * applied.moment;
}

}  // namespace proprio
