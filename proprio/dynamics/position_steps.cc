#include "proprio/dynamics/position_steps.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

void requireStepSizes(const Tree& tree, const char* function, Eigen::Index positions,
                      Eigen::Index others, Eigen::Index velocities) {
  if (positions == tree.positionCount() && others == tree.positionCount() &&
      velocities == tree.velocityCount())
    return;
  throw Error(fmt::format(
      "{}: positions of {} and {} numbers and a step of {}; this tree has {} positions and {} "
      "velocities",
      function, positions, others, velocities, tree.positionCount(), tree.velocityCount()));
}

/// Calls free(first in q, first in v) for each pose and plain(in q, in v) for each other
/// coordinate.
template <class Free, class Plain>
void forEachPosition(const Tree& tree, const Free& free, const Plain& plain) {
  if (tree.floating()) free(0, 0);
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    if (joint.velocity_index < 0 || joint.mimic) continue;
    const int iq = tree.positionIndex(static_cast<int>(j));
    const int iv = tree.velocityIndex(static_cast<int>(j));
    if (joint.type == JointType::kFloating) {
      free(iq, iv);
    } else {
      for (int k = 0; k < velocityCount(joint.type); ++k) plain(iq + k, iv + k);
    }
  }
}

Pose poseInPosition(const ConstVectorRef& q, int first) {
  return {rotationFromQuaternion(q.segment<4>(first + 3)), q.segment<3>(first)};
}

/// The quaternion (u, s) turned by exp(w^) in its own frame, normalised.
Eigen::Vector4d turned(const Eigen::Vector4d& quaternion, const Vector3d& w) {
  const double angle = w.norm();
  // sin(angle / 2) / angle with its limit; the next term of the series is below rounding there
  const double half = angle < 1e-6 ? 0.5 : std::sin(0.5 * angle) / angle;
  const Vector3d u = quaternion.head<3>(), du = half * w;
  const double s = quaternion[3], ds = std::cos(0.5 * angle);
  Eigen::Vector4d out;
  out << s * du + ds * u + u.cross(du), s * ds - u.dot(du);
  return out / out.norm();
}

}  // namespace

void integratePosition(const Tree& tree, const ConstVectorRef& q, const ConstVectorRef& step,
                       VectorRef out) {
  requireStepSizes(tree, "integratePosition", q.size(), out.size(), step.size());
  forEachPosition(
      tree,
      [&](int iq, int iv) {
        const Vector6d x = step.segment<6>(iv);
        const Eigen::Vector4d quaternion = turned(q.segment<4>(iq + 3), x.tail<3>());
        const Pose next = poseInPosition(q, iq) * poseExp(x);
        out.segment<3>(iq) = next.p;
        out.segment<4>(iq + 3) = quaternion;
      },
      [&](int iq, int iv) { out[iq] = q[iq] + step[iv]; });
}

void positionRate(const Tree& tree, const ConstVectorRef& q, const ConstVectorRef& v,
                  VectorRef out) {
  requireStepSizes(tree, "positionRate", q.size(), out.size(), v.size());
  forEachPosition(
      tree,
      [&](int iq, int iv) {
        const Eigen::Vector4d quaternion = q.segment<4>(iq + 3);
        const Vector3d u = quaternion.head<3>(), w = v.segment<3>(iv + 3);
        out.segment<3>(iq) = rotationFromQuaternion(quaternion) * v.segment<3>(iv);
        out.segment<3>(iq + 3) = 0.5 * (quaternion[3] * w + u.cross(w));
        out[iq + 6] = -0.5 * u.dot(w);
      },
      [&](int iq, int iv) { out[iq] = v[iv]; });
}

void positionDifference(const Tree& tree, const ConstVectorRef& from, const ConstVectorRef& to,
                        VectorRef step) {
  requireStepSizes(tree, "positionDifference", from.size(), to.size(), step.size());
  forEachPosition(
      tree,
      [&](int iq, int iv) {
        step.segment<6>(iv) = poseLog(poseInPosition(from, iq).inverse() * poseInPosition(to, iq));
      },
      [&](int iq, int iv) { step[iv] = to[iq] - from[iq]; });
}

}  // namespace proprio
