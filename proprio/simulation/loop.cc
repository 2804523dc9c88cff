#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/random.h"
#include "proprio/numerics/dense.h"
#include "proprio/simulation/loop_internal.h"
#include "proprio/simulation/loop_recorder_internal.h"
#include "proprio/simulation/saturation_watch_internal.h"

namespace proprio::internal {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::uint64_t kEncoderStream = 1, kMotorStream = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// what stops a run: velocity where no limit is stated, and how far limits may be left
constexpr double kAbsurdVelocity = 1000.0, kOvershoot = 0.1, kOverspeed = 2.0;

int delayOf(const char* what, double latency, double rate) {
  if (!(latency >= 0.0) || !(latency * rate < 1e6)) {
    throw Error(fmt::format("the {} latency is {} s; give a number of seconds of at least 0", what,
                            latency));
  }
  return static_cast<int>(std::lround(latency * rate));
}

/// Several runs of one shape, a lane each.
class Loop {
 public:
  /// The first `count` runs are wanted; the others fill the lanes.
  Loop(const Tree& tree, const std::vector<const ClosedLoopRun*>& runs, size_t count,
       const RunShape& shape)
      : tree_(tree),
        runs_(runs),
        count_(count),
        shape_(shape),
        lanes_(static_cast<Index>(runs.size())),
        n_(tree.velocityCount()),
        axes_(servoAxes(tree)),
        plant_(tree, plantsOf(runs), runs[0]->options.sign_gain),
        servo_(interleaved(servosOf(runs))) {
    setUp();
  }

  std::vector<ClosedLoopResult> run() {
    const double period = 1.0 / shape_.rate, h = period / shape_.substeps;
    for (Index k = 0; k < shape_.ticks; ++k) {
      plant_.time = static_cast<double>(k) * period;
      changePlant(k);
      readEncoders(k);
      control(k);
      plant_.evaluate();
      if (k == 0) requireAccelerations();
      if (k % shape_.sample_every == 0) record(k);
      if (k + 1 == shape_.ticks) break;
      for (int s = 0; s < shape_.substeps; ++s) {
        if (s > 0) plant_.evaluate();
        plant_.advance(h, runs_[0]->options.integrator);
      }
      if (!stopLostLanes(k + 1)) break;
    }
    std::vector<ClosedLoopResult> results;
    for (size_t r = 0; r < count_; ++r) {
      results.push_back(recorders_[r].finish());
      completeSummaries(r, &results.back());
      results.back().failure = failure_[r];
      results.back().physics_rate = shape_.rate * shape_.substeps;
    }
    return results;
  }

 private:
  static std::vector<const Parameters*> plantsOf(const std::vector<const ClosedLoopRun*>& runs) {
    std::vector<const Parameters*> plants;
    for (const ClosedLoopRun* run : runs) plants.push_back(&run->plant);
    return plants;
  }
  static std::vector<const Servo*> servosOf(const std::vector<const ClosedLoopRun*>& runs) {
    std::vector<const Servo*> servos;
    for (const ClosedLoopRun* run : runs) servos.push_back(&run->servo);
    return servos;
  }

  Index entry(Index i, Index lane) const { return i * lanes_ + lane; }
  const ClosedLoopOptions& options(Index lane) const {
    return runs_[static_cast<size_t>(lane)]->options;
  }
  const LoopReference& reference(Index lane) const {
    return *references_[static_cast<size_t>(lane)];
  }

  void setUp() {
    const Index size = n_ * lanes_;
    for (VectorXd* x : {&encoder_noise_, &quantum_, &bias_, &measured_, &exact_, &encoder_squares_,
                        &command_, &q_ref_, &v_ref_, &a_ref_, &torque_ref_})
      x->setZero(size);
    saturation_.setUp(size, shape_.rate);
    noise_.setZero((n_ + 3) / 4 * 4);  // whole blocks of random numbers
    for (VectorXd* x : {&q_one_, &v_one_, &v_ref_one_, &a_one_, &tau_one_}) x->setZero(n_);
    for (Index lane = 0; lane < lanes_; ++lane) {
      const ClosedLoopRun& run = *runs_[static_cast<size_t>(lane)];
      shareReference(lane);
      measurement_delay_.push_back(
          delayOf("measurement", run.options.measurement_latency, shape_.rate));
      command_delay_.push_back(delayOf("command", run.options.command_latency, shape_.rate));
      setEncoders(lane);
      startLane(lane);
      if (run.servo.kind == ControlKind::kComputedTorque)
        models_.push_back(
            std::make_unique<ComputedTorque>(tree_, run.servo.model, run.options.sign_gain));
    }
    const auto varies = [](const ClosedLoopRun* run) {
      return run->options.friction_factor != nullptr;
    };
    if (std::any_of(runs_.begin(), runs_.end(), varies)) {
      for (const ClosedLoopRun* run : runs_)
        plant_.friction_factors.push_back(varies(run) ? &run->options.friction_factor : nullptr);
    }
    start_ = plant_.state;
    setStops();
    setTransmission();
    failure_.resize(runs_.size());
    if (hasSurroundings(options(0)) && lanes_ == 1) {
      surroundings_ = withSkins(tree_.model(), options(0).surroundings);
      plant_.setSurroundings(&surroundings_);
    }
    const Index samples = (shape_.ticks - 1) / shape_.sample_every + 1;
    recorders_.reserve(count_);
    for (size_t r = 0; r < count_; ++r) recorders_.emplace_back(tree_, *runs_[r], plant_, samples);
    history_.setZero(size,
                     *std::max_element(measurement_delay_.begin(), measurement_delay_.end()) + 1);
    commands_.setZero(size, *std::max_element(command_delay_.begin(), command_delay_.end()) + 1);
  }

  // lanes with the same motion and no feed-forward of their own read the same table
  void shareReference(Index lane) {
    const ClosedLoopRun& run = *runs_[static_cast<size_t>(lane)];
    for (Index other = 0; other < lane; ++other) {
      const ClosedLoopRun& earlier = *runs_[static_cast<size_t>(other)];
      if (&earlier == &run ||
          (earlier.reference == run.reference && earlier.servo.feed_forward == FeedForward::kNone &&
           run.servo.feed_forward == FeedForward::kNone)) {
        references_.push_back(references_[static_cast<size_t>(other)]);
        return;
      }
    }
    references_.push_back(std::make_shared<const LoopReference>(loopReference(tree_, run)));
  }

  // of the options, or of the encoder that the model declares for the joint
  void setEncoders(Index lane) {
    for (const Axis& axis : axes_) {
      const Index i = entry(axis.coordinate, lane);
      encoder_noise_[i] = options(lane).encoder_noise;
      quantum_[i] = options(lane).quantisation;
      for (const Sensor& sensor : tree_.model().sensors) {
        if (sensor.kind != SensorKind::kEncoder || sensor.joint != axis.joint) continue;
        if (sensor.noise > 0.0) encoder_noise_[i] = sensor.noise;
        if (sensor.quantisation > 0.0) quantum_[i] = sensor.quantisation;
        if (!sensor.bias.empty()) bias_[i] = sensor.bias[0];
      }
      noisy_ = noisy_ || encoder_noise_[i] > 0.0;
    }
  }

  // on the reference, with its velocity; elastic drives hold the weight
  void startLane(Index lane) {
    const VectorXd neutral = tree_.neutralPosition();
    VectorXd q = neutral, v = VectorXd::Zero(n_), tau = VectorXd::Zero(n_);
    for (const Axis& axis : axes_) {
      q[tree_.positionIndex(axis.joint)] = reference(lane).q(0, axis.coordinate);
      v[axis.coordinate] = reference(lane).v(0, axis.coordinate);
    }
    for (Index i = 0; i < q.size(); ++i) plant_.q()[entry(i, lane)] = q[i];
    for (Index i = 0; i < n_; ++i) plant_.v()[entry(i, lane)] = v[i];
    ComputedTorque model(tree_, runs_[static_cast<size_t>(lane)]->plant, options(lane).sign_gain);
    model.torque(q, v, v, VectorXd::Zero(n_), tau);
    plant_.alignMotors(static_cast<int>(lane), tau);
  }

  void setStops() {
    lower_stop_.setConstant(n_, -kInfinity);
    upper_stop_.setConstant(n_, kInfinity);
    velocity_stop_.setConstant(n_, kAbsurdVelocity);
    for (const Axis& axis : axes_) {
      const JointLimits& limits = tree_.model().joints[static_cast<size_t>(axis.joint)].limits;
      const Index i = axis.coordinate;
      const double margin = kOvershoot * (limits.upper - limits.lower);
      if (!std::isnan(margin)) {
        lower_stop_[i] = limits.lower - margin;
        upper_stop_[i] = limits.upper + margin;
      }
      if (limits.velocity > 0.0) velocity_stop_[i] = kOverspeed * limits.velocity;
    }
    if (options(0).check_limits) return;
    lower_stop_.setConstant(-kInfinity);
    upper_stop_.setConstant(kInfinity);
    velocity_stop_.setConstant(kInfinity);
  }

  // joints behind a transmission are measured at the motors, q_motor = T q, unless an encoder of
  // their own is declared
  void setTransmission() {
    if (!tree_.model().transmission) return;
    const Transmission& transmission = *tree_.model().transmission;
    to_motors_ = transmission.matrix;
    const Eigen::MatrixXd normal = to_motors_.transpose() * to_motors_;
    to_joints_ = solveSymmetric(normal, to_motors_.transpose());
    for (int joint : transmission.joints) {
      geared_.push_back(tree_.velocityIndex(joint));
      const std::vector<Sensor>& sensors = tree_.model().sensors;
      own_encoder_.push_back(std::any_of(sensors.begin(), sensors.end(), [&](const Sensor& sensor) {
        return sensor.kind == SensorKind::kEncoder && sensor.joint == joint;
      }));
    }
    motor_q_.setZero(to_motors_.rows());
    geared_q_.setZero(to_motors_.cols());
    motor_noise_.setZero((to_motors_.rows() + 3) / 4 * 4);
  }

  void readMotors(Index k, Index lane) {
    const ClosedLoopOptions& own = options(lane);
    for (size_t j = 0; j < geared_.size(); ++j) {
      const auto one = static_cast<int>(lane);
      geared_q_[static_cast<Index>(j)] = own.encoders_on_links
                                             ? plant_.position(geared_[j], one)
                                             : plant_.motorPosition(geared_[j], one);
    }
    motor_q_.noalias() = to_motors_ * geared_q_;
    const auto width = static_cast<std::uint64_t>(motor_noise_.size());
    if (own.encoder_noise > 0.0) {
      normalNumbers(own.seed, kMotorStream, static_cast<std::uint64_t>(k) * width,
                    static_cast<int>(width), motor_noise_.data());
      motor_q_ += own.encoder_noise * motor_noise_.head(motor_q_.size());
    }
    if (own.quantisation > 0.0)
      motor_q_ = (motor_q_ / own.quantisation).array().round() * own.quantisation;
    geared_q_.noalias() = to_joints_ * motor_q_;
    for (size_t j = 0; j < geared_.size(); ++j) {
      if (!own_encoder_[j]) measured_[entry(geared_[j], lane)] = geared_q_[static_cast<Index>(j)];
    }
  }

  // payloads and wrenches that begin or end with this control period
  void changePlant(Index k) {
    const double now = static_cast<double>(k) / shape_.rate, half = 0.5 / shape_.rate;
    const auto begins = [&](double time) {
      return time <= now + half && (k == 0 || time > now - half);
    };
    for (Index lane = 0; lane < lanes_; ++lane) {
      for (const PayloadChange& change : options(lane).payloads) {
        if (begins(change.time))
          plant_.setPayload(static_cast<int>(lane), change.link, change.payload);
      }
    }
    plant_.wrenches_now.clear();
    for (const AppliedWrench& wrench : surroundings_.wrenches) {
      if (wrench.start <= now + half && wrench.end > now + half)
        plant_.wrenches_now.push_back(&wrench);
    }
  }

  void readEncoders(Index k) {
    const auto width = static_cast<std::uint64_t>(noise_.size());
    for (Index lane = 0; lane < lanes_; ++lane) {
      if (noisy_) {
        normalNumbers(options(lane).seed, kEncoderStream, static_cast<std::uint64_t>(k) * width,
                      static_cast<int>(n_), noise_.data());
      }
      const bool on_link = options(lane).encoders_on_links;
      for (const Axis& axis : axes_) {
        const Index i = entry(axis.coordinate, lane);
        const auto one = static_cast<int>(lane);
        double y = on_link ? plant_.position(axis.coordinate, one)
                           : plant_.motorPosition(axis.coordinate, one);
        exact_[i] = y;
        y += bias_[i] + encoder_noise_[i] * noise_[axis.coordinate];
        if (quantum_[i] > 0.0) y = std::round(y / quantum_[i]) * quantum_[i];
        measured_[i] = y;
      }
      if (!geared_.empty()) readMotors(k, lane);
    }
    encoder_squares_ += (measured_ - exact_).cwiseAbs2();
    ++readings_;
    delay(k, measurement_delay_, &history_, &measured_);
  }

  // x becomes what it was `delay` periods ago; before the first there was always the first
  void delay(Index k, const std::vector<int>& delays, Eigen::MatrixXd* history, VectorXd* x) const {
    const Index depth = history->cols();
    if (depth == 1) return;
    if (k == 0) *history = x->replicate(1, depth);
    history->col(k % depth) = *x;
    for (Index lane = 0; lane < lanes_; ++lane) {
      const Index slot = (k + depth - delays[static_cast<size_t>(lane)]) % depth;
      for (Index i = 0; i < n_; ++i) (*x)[entry(i, lane)] = (*history)(entry(i, lane), slot);
    }
  }

  void control(Index k) {
    for (Index lane = 0; lane < lanes_; ++lane) {
      const LoopReference& r = reference(lane);
      for (Index i = 0; i < n_; ++i) {
        q_ref_[entry(i, lane)] = r.q(k, i);
        v_ref_[entry(i, lane)] = r.v(k, i);
        a_ref_[entry(i, lane)] = r.a(k, i);
        torque_ref_[entry(i, lane)] = r.torque(k, i);
      }
    }
    if (k == 0) resetServo(servo_, measured_, v_ref_, &servo_state_);
    servoStep(servo_, {q_ref_.data(), v_ref_.data(), a_ref_.data(), torque_ref_.data()}, measured_,
              &servo_state_, command_);
    if (!models_.empty()) computeTorques();
    saturation_.note(command_, servo_.torque_limit);
    plant_.torque = command_;
    delay(k, command_delay_, &commands_, &plant_.torque);
  }

  void computeTorques() {
    for (Index lane = 0; lane < lanes_; ++lane) {
      for (Index i = 0; i < n_; ++i) {
        q_one_[i] = measured_[entry(i, lane)];
        v_one_[i] = servo_state_.velocity[entry(i, lane)];
        v_ref_one_[i] = v_ref_[entry(i, lane)];
        a_one_[i] = command_[entry(i, lane)];
      }
      models_[static_cast<size_t>(lane)]->torque(q_one_, v_one_, v_ref_one_, a_one_, tau_one_);
      for (Index i = 0; i < n_; ++i) {
        const double limit = servo_.torque_limit[entry(i, lane)];
        command_[entry(i, lane)] = std::clamp(tau_one_[i], -limit, limit);
      }
    }
  }

  void record(Index k) {
    const Index sample = k / shape_.sample_every;
    const double time = static_cast<double>(k) / shape_.rate;
    for (size_t r = 0; r < count_; ++r) {
      if (!failure_[r].empty()) continue;
      recorders_[r].record(sample, time, plant_, static_cast<int>(r),
                           {measured_.data() + r, servo_state_.velocity.data() + r,
                            command_.data() + r, q_ref_.data() + r, v_ref_.data() + r, lanes_});
    }
  }

  // what the log alone does not tell: errors of encoders without elasticity and latency, saturation
  // between the samples
  void completeSummaries(size_t run, ClosedLoopResult* result) const {
    for (size_t k = 0; k < result->joints.size(); ++k) {
      const Index i = entry(axes_[k].coordinate, static_cast<Index>(run));
      JointSummary& joint = result->joints[k];
      joint.position_noise = std::sqrt(encoder_squares_[i] / static_cast<double>(readings_));
      joint.saturated = saturation_.share(i);
      joint.reversals = saturation_.reversals(i);
    }
  }

  // no run can begin with a body that nothing holds and that has no inertia
  void requireAccelerations() const {
    const Eigen::Map<const VectorXd> a(plant_.accelerations(), n_ * lanes_);
    if (a.allFinite()) return;
    throw Error(
        "the equations of motion have no solution at the start: some body that is free to move has "
        "no mass or inertia; `proprio check` names links without, give them some");
  }

  // false when no run is left
  bool stopLostLanes(Index k) {
    bool bad = options(0).check_limits && saturation_.anyCycles();
    for (const Axis& axis : axes_) {
      const Index i = axis.coordinate;
      for (int lane = 0; lane < static_cast<int>(lanes_); ++lane) {
        const double q = plant_.position(i, lane), v = plant_.v()[entry(i, lane)];
        bad |= !(q >= lower_stop_[i] && q <= upper_stop_[i] && std::abs(v) <= velocity_stop_[i]);
      }
    }
    if (!bad && plant_.state.allFinite()) return true;
    for (Index lane = 0; lane < lanes_; ++lane) stopIfLost(lane, static_cast<double>(k));
    return std::any_of(failure_.begin(), failure_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [](const std::string& failure) { return failure.empty(); });
  }

  std::string cycleReason(const std::string& joint, Index i) const {
    return fmt::format(
        "joint '{}' swings between its torque limits of +-{:.4g}, {} times in the last {} s and at "
        "a limit in {:.0f} % of the control periods",
        joint, servo_.torque_limit[i], saturation_.lastReversals(i), SaturationWatch::kWindow,
        100.0 * saturation_.lastShare(i));
  }

  void stopIfLost(Index lane, double tick) {
    std::string reason;
    bool finite = true;
    for (Index i = lane; i < plant_.state.size(); i += lanes_)
      finite = finite && std::isfinite(plant_.state[i]);
    for (const Axis& axis : axes_) {
      const Index i = axis.coordinate;
      const double q = plant_.position(i, static_cast<int>(lane)), v = plant_.v()[entry(i, lane)];
      const std::string& name = tree_.model().joints[static_cast<size_t>(axis.joint)].name;
      if (!std::isfinite(q) || !std::isfinite(v)) {
        reason = fmt::format("joint '{}' has a position or velocity that is not finite", name);
      } else if (!(std::abs(v) <= velocity_stop_[i])) {
        reason = fmt::format("joint '{}' moves at {:.4g}, far beyond its velocity limit", name, v);
      } else if (!(q >= lower_stop_[i] && q <= upper_stop_[i])) {
        reason = fmt::format("joint '{}' is at {:.4g}, far beyond its position limits", name, q);
      } else if (options(lane).check_limits && saturation_.cycles(entry(i, lane))) {
        reason = cycleReason(name, entry(i, lane));
      }
      if (!reason.empty()) break;
    }
    if (reason.empty() && !finite) reason = "a state of friction, drive or base is not finite";
    if (reason.empty()) return;
    std::string& failure = failure_[static_cast<size_t>(lane)];
    if (failure.empty()) {
      failure = fmt::format(
          "the simulation stops at {:.4f} s: {}; the servo is unstable or too weak{}: lower its "
          "gains or latencies, or raise the rates",
          tick / shape_.rate, reason,
          hasSurroundings(options(lane)) ? " for what pushes the robot" : "");
    }
    // a lost lane starts again, so that it cannot slow down or disturb the others
    for (Index i = lane; i < plant_.state.size(); i += lanes_) plant_.state[i] = start_[i];
    for (Index i = lane; i < measured_.size(); i += lanes_)
      servo_state_.velocity[i] = servo_state_.integral[i] = 0.0;
  }

  const Tree& tree_;
  const std::vector<const ClosedLoopRun*> runs_;
  const size_t count_;
  const RunShape shape_;
  const Index lanes_, n_;
  const std::vector<Axis> axes_;
  Plant plant_;
  Servo servo_;
  ServoState servo_state_;
  std::vector<std::shared_ptr<const LoopReference>> references_;
  std::vector<std::unique_ptr<ComputedTorque>> models_;
  std::vector<LoopRecorder> recorders_;
  Surroundings surroundings_;
  SaturationWatch saturation_;
  VectorXd encoder_noise_, quantum_, bias_, measured_, exact_, encoder_squares_, command_, q_ref_,
      v_ref_, a_ref_, torque_ref_, noise_, start_;
  Index readings_ = 0;
  VectorXd lower_stop_, upper_stop_, velocity_stop_;
  VectorXd q_one_, v_one_, v_ref_one_, a_one_, tau_one_;
  Eigen::MatrixXd to_motors_, to_joints_;
  VectorXd motor_q_, geared_q_, motor_noise_;
  std::vector<Index> geared_;
  std::vector<bool> own_encoder_;  // of each geared joint
  bool noisy_ = false;
  std::vector<int> measurement_delay_, command_delay_;
  Eigen::MatrixXd history_, commands_;
  std::vector<std::string> failure_;
};

}  // namespace

Surroundings withSkins(const Model& model, Surroundings surroundings) {
  for (const Sensor& sensor : model.sensors) {
    if (sensor.kind != SensorKind::kSkin) continue;
    for (const Vector3d& p : sensor.cell_positions) surroundings.points.push_back({sensor.link, p});
  }
  return surroundings;
}

bool hasSurroundings(const ClosedLoopOptions& options) {
  return !options.surroundings.half_spaces.empty() || !options.surroundings.wrenches.empty();
}

std::vector<ClosedLoopResult> runLoop(const Tree& tree,
                                      const std::vector<const ClosedLoopRun*>& runs, size_t count,
                                      const RunShape& shape) {
  return Loop(tree, runs, count, shape).run();
}

}  // namespace proprio::internal
