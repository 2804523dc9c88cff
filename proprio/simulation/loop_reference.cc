#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/simulation/loop_reference_internal.h"

namespace proprio::internal {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kSameTime = 1e-9;       // s
constexpr double kLimitRounding = 1e-6;  // limits in files are rounded (3.14159)

void requireShape(const MotionSamples& motion) {
  const Index rows = motion.q.rows(), columns = static_cast<Index>(motion.joints.size());
  if (rows == 0 || columns == 0)
    throw Error("the reference motion has no samples or no joints; give at least one of each");
  for (const Eigen::MatrixXd* x : {&motion.q, &motion.v, &motion.a}) {
    if (x->rows() == rows && x->cols() == columns) continue;
    throw Error(fmt::format(
        "the reference motion has {} x {} numbers in q, v or a, expected {} samples x {} joints",
        x->rows(), x->cols(), rows, columns));
  }
  if (motion.time.size() != rows) {
    throw Error(
        fmt::format("the reference motion has {} times for {} samples", motion.time.size(), rows));
  }
  // column by column, as they lie in memory; the row is looked for only if there is something wrong
  const bool all_finite = motion.time.allFinite() && motion.q.allFinite() && motion.v.allFinite() &&
                          motion.a.allFinite();
  for (Index i = 0; i < rows; ++i) {
    if (!all_finite && !(std::isfinite(motion.time[i]) && motion.q.row(i).allFinite() &&
                         motion.v.row(i).allFinite() && motion.a.row(i).allFinite()))
      throw Error(fmt::format("sample {} of the reference motion is not finite", i + 1));
    if (i > 0 && !(motion.time[i] > motion.time[i - 1])) {
      throw Error(
          fmt::format("sample {} of the reference motion is at {} s, after one at {} s; "
                      "times must increase",
                      i + 1, motion.time[i], motion.time[i - 1]));
    }
  }
}

Index coordinateOf(const Tree& tree, const std::vector<Axis>& axes, const std::string& name) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    names.push_back(tree.model().joints[static_cast<size_t>(axis.joint)].name);
    if (names.back() == name) return axis.coordinate;
  }
  throw Error(fmt::format("the reference motion names the joint {}, which no servo drives{}",
                          inQuotes(name), didYouMean(name, names)));
}

void checkLimits(const Tree& tree, const std::vector<Axis>& axes, const MotionSamples& motion) {
  for (size_t c = 0; c < motion.joints.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const Index coordinate = coordinateOf(tree, axes, motion.joints[c]);
    const auto axis = std::find_if(axes.begin(), axes.end(),
                                   [&](const Axis& a) { return a.coordinate == coordinate; });
    const JointLimits& limits = tree.model().joints[static_cast<size_t>(axis->joint)].limits;
    const auto refuse = [&](Index i, const char* what, double value, double limit) {
      throw Error(fmt::format(
          "the reference of joint '{}' has a {} of {:.6g} at {:.4g} s, beyond its limit "
          "{:.6g}; scale or move the motion, or correct the limit",
          motion.joints[c], what, value, motion.time[i], limit));
    };
    for (Index i = 0; i < motion.samples(); ++i) {
      const double q = motion.q(i, column), v = motion.v(i, column);
      const double slack = kLimitRounding * (1.0 + std::abs(q));
      if (q < limits.lower - slack) refuse(i, "position", q, limits.lower);
      if (q > limits.upper + slack) refuse(i, "position", q, limits.upper);
      if (std::abs(v) > limits.velocity * (1.0 + kLimitRounding))
        refuse(i, "velocity", v, limits.velocity);
    }
  }
}

// quintic through position, velocity and acceleration at both ends; s in [0, 1], h the duration
struct Quintic {
  double q, v, a;
};
Quintic quintic(const Quintic& x0, const Quintic& x1, double s, double h) {
  const double d = x1.q - x0.q, v0 = x0.v * h, v1 = x1.v * h, a0 = x0.a * h * h, a1 = x1.a * h * h;
  const double c2 = 0.5 * a0;
  const double c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1;
  const double c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1;
  const double c5 = 6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1;
  return {x0.q + s * (v0 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
          (v0 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h,
          (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)};
}

void interpolate(const MotionSamples& motion, const std::vector<Index>& coordinates, double rate,
                 LoopReference* reference) {
  Index i = 0;
  const Index last = motion.samples() - 1;
  for (Index k = 0; k < reference->q.rows(); ++k) {
    const double t = motion.time[0] + static_cast<double>(k) / rate;
    while (i < last && motion.time[i + 1] <= t + kSameTime) ++i;
    const bool exact = i == last || std::abs(motion.time[i] - t) <= kSameTime;
    for (size_t c = 0; c < coordinates.size(); ++c) {
      const auto column = static_cast<Index>(c);
      Quintic x = {motion.q(i, column), motion.v(i, column), motion.a(i, column)};
      if (!exact) {
        const double h = motion.time[i + 1] - motion.time[i];
        x = quintic(x, {motion.q(i + 1, column), motion.v(i + 1, column), motion.a(i + 1, column)},
                    (t - motion.time[i]) / h, h);
      }
      reference->q(k, coordinates[c]) = x.q;
      reference->v(k, coordinates[c]) = x.v;
      reference->a(k, coordinates[c]) = x.a;
    }
  }
}

void addFeedForward(const Tree& tree, const ClosedLoopRun& run, LoopReference* reference) {
  if (run.servo.feed_forward == FeedForward::kNone) return;
  ComputedTorque model(tree, run.servo.model, run.options.sign_gain);
  VectorXd q, v, a, tau(tree.velocityCount());
  for (Index k = 0; k < reference->q.rows(); ++k) {
    q = reference->q.row(k);
    v = reference->v.row(k);
    a = reference->a.row(k);
    if (run.servo.feed_forward == FeedForward::kGravity) {
      model.gravity(q, tau);
    } else {
      model.torque(q, v, v, a, tau);
    }
    reference->torque.row(k) = tau.transpose();
  }
}

}  // namespace

std::vector<Axis> servoAxes(const Tree& tree) {
  std::vector<Axis> axes;
  for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
    const Joint& joint = tree.model().joints[static_cast<size_t>(j)];
    if (!joint.mimic && velocityCount(joint.type) == 1) axes.push_back({j, tree.velocityIndex(j)});
  }
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.coordinate < b.coordinate; });
  return axes;
}

void checkReference(const Tree& tree, const ClosedLoopRun& run) {
  if (!run.reference) throw Error("the run has no reference motion; give one");
  requireShape(*run.reference);
  const std::vector<Axis> axes = servoAxes(tree);
  for (const std::string& name : run.reference->joints) coordinateOf(tree, axes, name);
  if (run.options.check_limits) checkLimits(tree, axes, *run.reference);
}

LoopReference loopReference(const Tree& tree, const ClosedLoopRun& run) {
  const MotionSamples& motion = *run.reference;
  const std::vector<Axis> axes = servoAxes(tree);
  std::vector<Index> coordinates;
  for (const std::string& name : motion.joints)
    coordinates.push_back(coordinateOf(tree, axes, name));

  LoopReference reference;
  const double duration = motion.time[motion.samples() - 1] - motion.time[0];
  const auto rows = static_cast<Index>(std::floor(duration * run.servo.rate + 1e-6)) + 1;
  for (RowMatrix* x : {&reference.q, &reference.v, &reference.a, &reference.torque})
    x->setZero(rows, tree.velocityCount());
  for (const Axis& axis : axes) {
    const JointLimits& limits = tree.model().joints[static_cast<size_t>(axis.joint)].limits;
    double rest = 0.0;
    if (limits.lower > 0.0) rest = limits.lower;
    if (limits.upper < 0.0) rest = limits.upper;
    reference.q.col(axis.coordinate).setConstant(rest);
  }
  interpolate(motion, coordinates, run.servo.rate, &reference);
  addFeedForward(tree, run, &reference);
  return reference;
}

}  // namespace proprio::internal
