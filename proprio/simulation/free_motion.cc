#include "proprio/simulation/free_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/simulation/loop_internal.h"
#include "proprio/simulation/plant_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// steps times the fastest rate: well inside of the stable range, so that the balance holds, too
constexpr double kAccurateStep = 0.5;
constexpr double kUsualSpeed = 10.0;  // where no velocity limit is stated: for bristles
constexpr double kShortest = 1e-7;    // s: a motion that needs shorter steps takes for ever

/// A plant without drive torques and what happens to it.
class Fall {
 public:
  Fall(const Tree& tree, const Parameters& parameters, const VectorXd& q, const VectorXd& v,
       const FreeMotionOptions& options)
      : plant(tree, {&parameters}, options.sign_gain),
        options_(options),
        around_(internal::withSkins(tree.model(), options.surroundings)) {
    plant.state.head(q.size()) = q;
    plant.state.segment(q.size(), v.size()) = v;
    plant.alignMotors(0, VectorXd::Zero(v.size()));
    if (!around_.half_spaces.empty() || !around_.wrenches.empty()) plant.setSurroundings(&around_);
    plant.countWork();
    for (const PayloadChange& change : options.payloads) changes_.push_back(change.time);
    for (const AppliedWrench& push : around_.wrenches) {
      changes_.push_back(push.start);
      changes_.push_back(push.end);
    }
    std::sort(changes_.begin(), changes_.end());
    internal::requireStartOutside(tree, around_, q);
    chooseStep(tree);
    happen(0.0, true);
  }

  // to this time, with what begins and ends until then and at it
  void advanceTo(double time) {
    while (now_ < time) {
      const auto next = std::upper_bound(changes_.begin(), changes_.end(), now_);
      const double target = next == changes_.end() ? time : std::min(time, *next);
      const double steps = std::max(1.0, std::ceil((target - now_) / step - 1e-9));
      for (double k = 0; k < steps; ++k) {
        plant.evaluate();
        plant.advance((target - now_) / steps, Integrator::kRk4);
      }
      happen(target, false);
    }
  }

  internal::Plant plant;
  double carried = 0.0, step = 0.0;  // J, s

 private:
  // friction, drives and contacts at the start of the motion
  void chooseStep(const Tree& tree) {
    VectorXd speeds = VectorXd::Constant(tree.velocityCount(), kUsualSpeed);
    for (const auto& joint : tree.model().joints) {
      if (joint.limits.velocity > 0.0) speeds = speeds.cwiseMax(joint.limits.velocity);
    }
    const double fastest = plant.fastestRate(speeds);
    step = options_.step;
    if (fastest * step > kAccurateStep) step = kAccurateStep / fastest;
    if (step >= kShortest) return;
    throw Error(fmt::format(
        "the fastest motion inside the robot has a rate of {:.3g} 1/s and would need "
        "steps of {:.2g} s; check friction, drive stiffness, rotor inertia and contacts",
        fastest, step));
  }

  void happen(double time, bool first) {
    const auto begins = [&](double start) { return start <= time && (first || start > now_); };
    for (const PayloadChange& change : options_.payloads) {
      if (!begins(change.time)) continue;
      const internal::Plant::Energy before = plant.energy();
      plant.setPayload(0, change.link, change.payload);
      const internal::Plant::Energy after = plant.energy();
      carried += after.kinetic + after.potential - before.kinetic - before.potential;
    }
    plant.wrenches_now.clear();
    for (const AppliedWrench& push : around_.wrenches) {
      if (push.start <= time && push.end > time) plant.wrenches_now.push_back(&push);
    }
    now_ = time;
  }

  const FreeMotionOptions& options_;
  const Surroundings around_;
  std::vector<double> changes_;  // times at which something begins or ends
  double now_ = 0.0;
};

void requirePositive(const char* what, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw Error(fmt::format("the {} of the simulation is {} s; give a positive number", what, value));
}

void requireFinite(double time, double step, const VectorXd& state, const VectorXd& a) {
  if (state.allFinite() && a.allFinite()) return;
  throw Error(
      fmt::format("the motion is no longer finite at {:.4g} s; take a smaller step than {} s, or "
                  "check the model",
                  time, step));
}

}  // namespace

FreeMotion freeMotion(const Tree& tree, const Parameters& parameters, const VectorXd& q_start,
                      const VectorXd& v_start, const FreeMotionOptions& options) {
  requirePositive("duration", options.seconds);
  requirePositive("step", options.step);
  requirePositive("interval", options.interval);
  if (!(options.sign_gain > 0.0)) {
    throw Error(
        fmt::format("the gain of smooth signs is {}; give a positive number", options.sign_gain));
  }
  internal::checkSurroundings(tree, options.payloads, options.surroundings, options.seconds);
  const auto samples =
      static_cast<Index>(std::floor(options.seconds / options.interval + 1e-9)) + 1;
  const Index nq = tree.positionCount(), n = tree.velocityCount();

  Fall fall(tree, parameters, q_start, v_start, options);
  FreeMotion out;
  StateTable& states = out.states;
  states.q.resize(samples, nq);
  states.v.resize(samples, n);
  states.a.resize(samples, n);
  states.has_v = states.has_a = true;
  for (VectorXd* x : {&states.time, &out.energy, &out.lost, &out.outside, &out.carried})
    x->resize(samples);
  out.step = std::min(fall.step, options.interval);
  double start = 0.0;
  for (Index i = 0; i < samples; ++i) {
    const double time = static_cast<double>(i) * options.interval;
    fall.advanceTo(time);
    fall.plant.evaluate();
    const VectorXd a = Eigen::Map<const VectorXd>(fall.plant.accelerations(), n);
    requireFinite(time, out.step, fall.plant.state, a);
    states.time[i] = time;
    states.q.row(i) = fall.plant.state.head(nq).transpose();
    states.v.row(i) = fall.plant.state.segment(nq, n).transpose();
    states.a.row(i) = a.transpose();
    const internal::Plant::Energy energy = fall.plant.energy();
    out.energy[i] = energy.kinetic + energy.potential;
    out.lost[i] = fall.plant.lost();
    out.outside[i] = fall.plant.outside();
    out.carried[i] = fall.carried;
    const double balance = out.energy[i] + out.lost[i] - out.outside[i] - out.carried[i];
    if (i == 0) start = balance;
    out.largest_kinetic = std::max(out.largest_kinetic, energy.kinetic);
    out.largest_drift = std::max(out.largest_drift, std::abs(balance - start));
  }
  return out;
}

}  // namespace proprio
