#include "proprio/motion/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// two motions meet where positions and velocities agree to this
constexpr double kSame = 1e-9;

struct State {
  VectorXd q, v, a;
};

State stateAt(const Trajectory& motion, double t) {
  const VectorXd zero = VectorXd::Zero(motion.size());
  State state{zero, zero, zero};
  motion.at(t, state.q, state.v, state.a);
  return state;
}

void checkJunction(const Trajectory& before, const Trajectory& after, size_t part) {
  const State end = stateAt(before, before.duration()), start = stateAt(after, 0.0);
  for (Index i = 0; i < end.q.size(); ++i) {
    const bool position = !(std::abs(end.q[i] - start.q[i]) <= kSame * (1 + std::abs(end.q[i])));
    const bool velocity = !(std::abs(end.v[i] - start.v[i]) <= kSame * (1 + std::abs(end.v[i])));
    if (!position && !velocity) continue;
    throw Error(
        fmt::format("part {} of a sequence starts joint {} with {} {:.10g}, part {} ends with "
                    "{:.10g}; expected the same",
                    part + 1, i + 1, position ? "position" : "velocity",
                    position ? start.q[i] : start.v[i], part, position ? end.q[i] : end.v[i]));
  }
}

}  // namespace

void Sequence::at(double t, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v,
                  Eigen::Ref<VectorXd> a) const {
  const auto next = std::upper_bound(starts.begin(), starts.end() - 1, t);
  const auto part = static_cast<size_t>(std::max<std::ptrdiff_t>(next - starts.begin() - 1, 0));
  const Trajectory& motion = *parts[part];
  // rounding must not end a part before its time
  const double local = t >= 0.0 && t <= starts.back()
                           ? std::clamp(t - starts[part], 0.0, motion.duration())
                           : t - starts[part];
  motion.at(local, q, v, a);
}

std::vector<double> Sequence::breaks() const {
  std::vector<double> times = {0.0};
  for (size_t k = 0; k < parts.size(); ++k) {
    std::vector<double> inner = parts[k]->breaks();
    inner.back() = starts[k + 1] - starts[k];
    for (const double t : inner) {
      if (starts[k] + t > times.back()) times.push_back(starts[k] + t);
    }
  }
  times.back() = duration();
  return times;
}

Sequence inSequence(std::vector<std::shared_ptr<const Trajectory>> parts) {
  if (parts.empty()) throw Error("a sequence without parts; expected at least one");
  Sequence sequence;
  sequence.starts = {0.0};
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] == nullptr) throw Error(fmt::format("part {} of a sequence is missing", k + 1));
    if (parts[k]->size() != parts[0]->size())
      throw Error(fmt::format("part {} of a sequence has {} joints, the first has {}", k + 1,
                              parts[k]->size(), parts[0]->size()));
    if (k > 0) checkJunction(*parts[k - 1], *parts[k], k);
    sequence.starts.push_back(sequence.starts.back() + parts[k]->duration());
  }
  sequence.parts = std::move(parts);
  return sequence;
}

void TimeScaled::at(double t, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v,
                    Eigen::Ref<VectorXd> a) const {
  // rounding must not end the motion before its time
  const bool inside = t >= 0.0 && t <= duration();
  motion->at(inside ? std::min(speed * t, motion->duration()) : speed * t, q, v, a);
  v *= speed;
  a *= speed * speed;
}

std::vector<double> TimeScaled::breaks() const {
  std::vector<double> times = motion->breaks();
  for (double& t : times) t /= speed;
  return times;
}

TimeScaled atSpeed(std::shared_ptr<const Trajectory> motion, double speed) {
  if (motion == nullptr) throw Error("atSpeed: there is no motion");
  if (!(speed > 0) || !std::isfinite(speed))
    throw Error(fmt::format("a motion at {} times its speed; expected a positive number", speed));
  TimeScaled scaled;
  scaled.motion = std::move(motion);
  scaled.speed = speed;
  return scaled;
}

Sequence withApproachAndReturn(const std::shared_ptr<const Trajectory>& motion,
                               const VectorXd& posture, const MotionLimits& limits,
                               Profile profile) {
  if (motion == nullptr) throw Error("withApproachAndReturn: there is no motion");
  const State start = stateAt(*motion, 0.0), end = stateAt(*motion, motion->duration());
  for (const State* state : {&start, &end}) {
    if (state->v.size() > 0 && !(state->v.cwiseAbs().maxCoeff() <= kSame)) {
      throw Error(fmt::format("a motion that {} with velocity {} cannot be approached from rest",
                              state == &start ? "starts" : "ends", state->v.cwiseAbs().maxCoeff()));
    }
  }
  return inSequence(
      {std::make_shared<PiecewisePolynomial>(pointToPoint(posture, start.q, limits, profile)),
       motion,
       std::make_shared<PiecewisePolynomial>(pointToPoint(end.q, posture, limits, profile))});
}

}  // namespace proprio
