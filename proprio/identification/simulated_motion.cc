#include "proprio/identification/simulated_motion.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "proprio/core/text.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio {
namespace {

/// A simulated robot is at least so inert, as a share of the prior, in every direction.
constexpr double kLeastInertia = 0.02;
/// Configurations per recording at which that is looked at.
constexpr Eigen::Index kInertiaSamples = 100;
/// Halvings of the way to the estimate before a simulation is given up.
constexpr int kHalvings = 3;
/// A time stamp this near to a control period (in periods) is in it: stamps in files are rounded.
constexpr double kSamePeriod = 0.02;
/// Below this speed times its gain the smooth sign of the simulator is no sign.
constexpr double kSmoothSignEnd = 3.0;

bool dissipates(const FrictionTerm& term) {
  return term.kind != FrictionTermKind::kOffset && term.kind != FrictionTermKind::kStribeck &&
         term.kind != FrictionTermKind::kPower && term.kind != FrictionTermKind::kArctan;
}

/// Columns of the reference in the coordinates of the tree.
Eigen::MatrixXd inTreeOrder(const Tree& tree, const MotionSamples& motion,
                            const Eigen::MatrixXd& columns) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(columns.rows(), tree.velocityCount());
  for (size_t c = 0; c < motion.joints.size(); ++c)
    out.col(tree.velocityIndex(requireJoint(tree.model(), motion.joints[c]))) =
        columns.col(static_cast<Eigen::Index>(c));
  return out;
}

std::vector<int> drivenCoordinates(const Tree& tree, const std::vector<std::string>& joints) {
  std::vector<int> coordinates;
  for (const std::string& joint : joints)
    coordinates.push_back(tree.velocityIndex(requireJoint(tree.model(), joint)));
  return coordinates;
}

struct Spot {
  Eigen::Index row = 0;  // sample before
  double fraction = 0.0;
};

/// Value and two derivatives of the quintic through the samples at both ends of a step h.
void quinticBetween(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v, const Eigen::MatrixXd& a,
                    const Spot& spot, double h, Eigen::Index column, double out[3]) {
  const Eigen::Index i = spot.row;
  const double s = spot.fraction;
  if (s == 0.0) {
    out[0] = q(i, column);
    out[1] = v(i, column);
    out[2] = a(i, column);
    return;
  }
  const double d = q(i + 1, column) - q(i, column), v0 = v(i, column) * h,
               v1 = v(i + 1, column) * h, a0 = a(i, column) * h * h, a1 = a(i + 1, column) * h * h;
  const double c2 = 0.5 * a0, c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
               c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
               c5 = 6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1;
  out[0] = q(i, column) + s * (v0 + s * (c2 + s * (c3 + s * (c4 + s * c5))));
  out[1] = (v0 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h;
  out[2] = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h);
}

/// The model without sensors (encoders would add their declared noise), in a tree of its own.
struct NoiseFree {
  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const ParameterLayout> layout;
};
NoiseFree noiseFree(const IdentificationProblem& problem) {
  if (problem.tree->model().sensors.empty()) return {problem.tree, problem.layout};
  Model model = problem.tree->model();
  model.sensors.clear();
  const auto shared = std::make_shared<const Model>(std::move(model));
  return {std::make_shared<const Tree>(shared, problem.tree->baseLink(), false,
                                       problem.tree->mounting()),
          std::make_shared<const ParameterLayout>(shared)};
}

Parameters parametersOf(const std::shared_ptr<const ParameterLayout>& layout,
                        const Eigen::VectorXd& chi) {
  return {layout, std::vector<double>(chi.data(), chi.data() + chi.size())};
}

/// Smallest eigenvalue of M_prior^-1 M(chi) along the commanded motions.
double leastInertia(const IdentificationProblem& problem, const Eigen::VectorXd& chi) {
  const Tree& tree = *problem.tree;
  Workspace workspace(tree);
  const CompiledParameters now = compileParameters(tree, parametersOf(problem.layout, chi));
  const CompiledParameters before =
      compileParameters(tree, parametersOf(problem.layout, problem.prior));
  const Eigen::Index n = tree.velocityCount();
  Eigen::MatrixXd M(n, n), M_prior(n, n);
  double least = std::numeric_limits<double>::infinity();
  for (const MotionData& data : problem.data) {
    const Eigen::MatrixXd q = inTreeOrder(tree, *data.reference, data.reference->q);
    const Eigen::Index step = std::max<Eigen::Index>(1, q.rows() / kInertiaSamples);
    for (Eigen::Index i = 0; i < q.rows(); i += step) {
      massMatrix(tree, now, workspace, q.row(i).transpose(), M);
      massMatrix(tree, before, workspace, q.row(i).transpose(), M_prior);
      const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(
          M, M_prior, Eigen::EigenvaluesOnly);
      least = std::min(least, solver.eigenvalues()[0]);
    }
  }
  return least;
}

/// M is affine in chi, so its smallest eigenvalue against the prior's is at least affine in the
/// share.
double possibleShare(const IdentificationProblem& problem, const Eigen::VectorXd& chi) {
  const double least = leastInertia(problem, chi);
  return least >= kLeastInertia ? 1.0 : (1.0 - kLeastInertia) / (1.0 - least);
}

Eigen::VectorXd towards(const IdentificationProblem& problem, const Eigen::VectorXd& chi,
                        double share) {
  Eigen::VectorXd out = chi;
  if (share < 1.0) out += (1.0 - share) * (problem.prior - chi);
  for (int p = 0; p < problem.layout->size(); ++p) {
    const ParameterInfo& info = (*problem.layout)[p];
    if (info.kind != ParameterKind::kFriction) continue;
    const Joint& joint = problem.tree->model().joints[static_cast<size_t>(info.joint)];
    if (dissipates(joint.friction.terms[static_cast<size_t>(info.component)]))
      out[p] = std::max(out[p], 0.0);
  }
  return out;
}

/// The servo that the model declares, with the gains of the simulated robot where it declares none.
Servo simulatedServo(const NoiseFree& robot, const Parameters& prior, const Parameters& plant,
                     const Eigen::VectorXd& start, bool rescale) {
  const Tree& tree = *robot.tree;
  const Control& control = tree.model().control;
  Servo servo = declaredServo(tree, prior, control, start);
  const Servo own = declaredServo(tree, plant, control, start);
  std::vector<bool> automatic(static_cast<size_t>(tree.velocityCount()), false);
  for (const std::string& name : servo.automatic)
    automatic[static_cast<size_t>(tree.velocityIndex(requireJoint(tree.model(), name)))] = true;
  Workspace workspace(tree);
  const Eigen::Index n = tree.velocityCount();
  Eigen::MatrixXd M(n, n), M_prior(n, n);
  massMatrix(tree, compileParameters(tree, plant), workspace, start, M);
  massMatrix(tree, compileParameters(tree, prior), workspace, start, M_prior);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (automatic[static_cast<size_t>(i)]) {
      servo.kp[i] = own.kp[i];
      servo.ki[i] = own.ki[i];
      servo.kd[i] = own.kd[i];
    } else if (rescale && servo.kind != ControlKind::kComputedTorque) {
      // gains that make torques; the outer one of a cascade makes velocities
      const double ratio = M(i, i) / M_prior(i, i);
      if (servo.kind != ControlKind::kCascade) servo.kp[i] *= ratio;
      servo.ki[i] *= ratio;
      servo.kd[i] *= ratio;
    }
  }
  return servo;
}

/// The times at which a recorded motion is needed from a simulation, and which of them are its
/// rows: all samples of the recording where they were filtered.
struct NeededTimes {
  Eigen::VectorXd times;
  std::vector<Eigen::Index> rows;
};

NeededTimes neededTimes(const MotionData& data) {
  NeededTimes needed;
  if (!data.treatment || data.samples() == 0) {
    needed.times = data.time;
    return needed;
  }
  const Eigen::VectorXd& command = data.reference->time;
  const double rate = data.recorded_rate_hz;
  const auto before = static_cast<Eigen::Index>(
      std::max(0.0, std::floor((data.time[0] - command[0]) * rate + kSamePeriod)));
  const double start = data.time[0] - static_cast<double>(before) / rate,
               end = std::max(command.tail(1)[0], data.time.tail(1)[0]);
  const auto steps = static_cast<Eigen::Index>(std::floor((end - start) * rate + kSamePeriod));
  needed.times =
      Eigen::VectorXd::LinSpaced(steps + 1, start, start + static_cast<double>(steps) / rate);
  for (const double time : data.time)
    needed.rows.push_back(
        std::min<Eigen::Index>(before + std::lround((time - data.time[0]) * rate), steps));
  return needed;
}

/// Control periods between the samples that are needed: every time stamp is one, or all are kept.
int samplePeriods(const MotionData& data, double rate) {
  long common = 0;
  for (const double time : neededTimes(data).times) {
    const double period = (time - data.reference->time[0]) * rate;
    if (std::abs(period - std::round(period)) > kSamePeriod) return 1;
    common = std::gcd(common, std::lround(period));
  }
  return static_cast<int>(std::max(common, 1L));
}

ClosedLoopRun runOf(const NoiseFree& robot, const Parameters& prior, const Parameters& plant,
                    const MotionData& data, bool rescale) {
  ClosedLoopRun run;
  const Eigen::VectorXd start =
      inTreeOrder(*robot.tree, *data.reference, data.reference->q.topRows(1)).row(0).transpose();
  run.plant = plant;
  run.servo = simulatedServo(robot, prior, plant, start, rescale);
  run.reference = data.reference;
  run.options.sample_rate = run.servo.rate / samplePeriods(data, run.servo.rate);
  run.options.sensors = false;
  run.options.check_limits = false;  // it happened
  return run;
}

/// Where the times that are needed are among the samples of the run.
std::vector<Spot> spotsOf(const Eigen::VectorXd& times, double start, const ClosedLoopRun& run,
                          Eigen::Index last) {
  const double h = 1.0 / run.options.sample_rate;
  std::vector<Spot> spots;
  for (const double time : times) {
    const double place = std::clamp((time - start) / h, 0.0, static_cast<double>(last));
    const double nearest = std::round(place);
    if (std::abs(place - nearest) * run.servo.rate * h <= kSamePeriod) {
      spots.push_back({static_cast<Eigen::Index>(nearest), 0.0});
    } else {
      const auto row = static_cast<Eigen::Index>(std::floor(place));
      spots.push_back({row, place - static_cast<double>(row)});
    }
  }
  return spots;
}

/// The run at the times that are needed; torques are held between samples.
struct SampledRun {
  Eigen::MatrixXd q, v, a, tau;  ///< column = joint of the reference
};

SampledRun sampledRun(const std::vector<Spot>& spots, const std::vector<std::string>& joints,
                      double h, const Recording& simulation) {
  SampledRun out;
  const auto samples = static_cast<Eigen::Index>(spots.size());
  out.q = out.v = out.a = out.tau =
      Eigen::MatrixXd(samples, static_cast<Eigen::Index>(joints.size()));
  for (size_t c = 0; c < joints.size(); ++c) {
    const auto column = [&](Quantity quantity) -> Eigen::MatrixXd {
      return simulation.values.col(simulation.column(quantity, Role::kTruth, joints[c]));
    };
    const Eigen::MatrixXd q = column(Quantity::kPosition), v = column(Quantity::kVelocity),
                          a = column(Quantity::kAcceleration), tau = column(Quantity::kTorque);
    const auto joint = static_cast<Eigen::Index>(c);
    for (Eigen::Index i = 0; i < samples; ++i) {
      const Spot& spot = spots[static_cast<size_t>(i)];
      double x[3];
      quinticBetween(q, v, a, spot, h, 0, x);
      out.q(i, joint) = x[0];
      out.v(i, joint) = x[1];
      out.a(i, joint) = x[2];
      out.tau(i, joint) = tau(spot.row, 0);
    }
  }
  return out;
}

/// What was done to the recording's signals, for these joints.
JointSignalOptions treatmentOf(const JointSignalOptions& all,
                               const std::vector<std::string>& joints) {
  JointSignalOptions options = all;
  options.joints = joints;
  options.role = Role::kTruth;
  options.cutoff_hz.clear();
  options.low_speed.clear();
  for (const std::string& joint : joints) {
    const auto place = static_cast<size_t>(std::find(all.joints.begin(), all.joints.end(), joint) -
                                           all.joints.begin());
    options.cutoff_hz.push_back(all.cutoff_hz.at(place));
    options.low_speed.push_back(all.low_speed.at(place));
  }
  return options;
}

/// The run as a recording that went through the filters of the real one.
MotionData treatedRun(const Tree& tree, const MotionData& recorded, const SampledRun& run,
                      const Eigen::VectorXd& times) {
  const std::vector<std::string>& joints = recorded.reference->joints;
  Recording recording;
  recording.source = recorded.name;
  recording.time = times;
  recording.values.resize(times.size(), 3 * run.q.cols());
  recording.values << run.q, run.v, run.tau;
  for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity, Quantity::kTorque}) {
    for (const std::string& joint : joints) {
      Channel channel;
      channel.name = fmt::format("{} {}", toString(quantity), joint);
      channel.quantity = quantity;
      channel.role = Role::kTruth;
      channel.of = joint;
      recording.channels.push_back(std::move(channel));
    }
  }
  return motionData(tree, jointSignals(recording, treatmentOf(*recorded.treatment, joints)));
}

/// Signs of the simulated motion turn as late as those of the recording.
void takeTreated(const MotionData& treated, const std::vector<Eigen::Index>& rows,
                 MotionData* out) {
  const MotionData chosen = chosenSamples(treated, rows);
  out->q = chosen.q;
  out->v = chosen.v;
  out->a = chosen.a;
  out->sign = chosen.sign;
  for (Eigen::Index j = 0; j < out->late_shares.size() && out->sign.cols() > 0; ++j)
    out->sign.col(j) += out->late_shares[j] * chosen.late.col(j);
  out->late.resize(0, 0);
  out->mixed.resize(0, 0);
  out->use = out->use && chosen.use;
}

void takeUntreated(const Tree& tree, const SampledRun& run, double sign_gain, MotionData* out) {
  out->sign.resize(0, 0);  // of the recorded motion
  for (size_t c = 0; c < out->reference->joints.size(); ++c) {
    const int joint = requireJoint(tree.model(), out->reference->joints[c]);
    const Eigen::Index velocity = tree.velocityIndex(joint);
    const auto column = static_cast<Eigen::Index>(c);
    out->q.col(tree.positionIndex(joint)) = run.q.col(column);
    out->v.col(velocity) = run.v.col(column);
    out->a.col(velocity) = run.a.col(column);
    const Joint& declared = tree.model().joints[static_cast<size_t>(joint)];
    if (!jumpsAtRest(declared.friction)) continue;
    const double slow = kSmoothSignEnd / signGain(declared.type, sign_gain);
    out->use.col(velocity) = out->use.col(velocity) && run.v.col(column).array().abs() >= slow;
  }
}

/// The samples of the run at the time stamps of the recording.
void addRun(const Tree& tree, const MotionData& recorded, const ClosedLoopRun& run,
            const Recording& simulation, SimulatedMotions* motions) {
  const NeededTimes needed = neededTimes(recorded);
  const std::vector<std::string>& joints = recorded.reference->joints;
  const SampledRun sampled =
      sampledRun(spotsOf(needed.times, recorded.reference->time[0], run, simulation.samples() - 1),
                 joints, 1.0 / run.options.sample_rate, simulation);
  MotionData out = recorded;
  Eigen::MatrixXd torques = Eigen::MatrixXd::Zero(recorded.samples(), recorded.tau.cols());
  if (recorded.treatment) {
    const MotionData treated = treatedRun(tree, recorded, sampled, needed.times);
    takeTreated(treated, needed.rows, &out);
    torques = treated.tau(needed.rows, Eigen::all);
  } else {
    takeUntreated(tree, sampled, run.options.sign_gain, &out);
    torques(Eigen::all, drivenCoordinates(tree, joints)) = sampled.tau;
  }
  motions->data.push_back(std::move(out));
  motions->torques.push_back(std::move(torques));
}

}  // namespace

void requireReferences(const IdentificationProblem& problem) {
  for (const MotionData& data : problem.data) {
    if (!data.reference)
      throw Error(data.name +
                  ": the commanded motion is not complete (q_des of every moving joint with time "
                  "stamps, without gaps), which this method follows; record it, or take a method "
                  "that needs none, such as wls");
    const Eigen::VectorXd& time = data.reference->time;
    const double slack = 1e-6 + 0.5 / std::max(data.rate_hz, 1.0);
    if (data.samples() > 0 &&
        (data.time[0] < time[0] - slack || data.time.tail(1)[0] > time.tail(1)[0] + slack))
      throw Error(fmt::format(
          "{}: its samples reach from {} to {} s, its commanded motion from {} to {} s; both must "
          "be of one recording",
          data.name, data.time[0], data.time.tail(1)[0], time[0], time.tail(1)[0]));
  }
}

std::vector<std::string> jointsWithoutGains(const IdentificationProblem& problem) {
  const Tree& tree = *problem.tree;
  return declaredServo(tree, parametersOf(problem.layout, problem.prior), tree.model().control,
                       tree.neutralPosition())
      .automatic;
}

std::vector<SimulatedMotions> simulateMotionsOf(const IdentificationProblem& problem,
                                                const std::vector<Eigen::VectorXd>& chis,
                                                bool rescale) {
  requireReferences(problem);
  const NoiseFree robot = noiseFree(problem);
  const Parameters prior = parametersOf(robot.layout, problem.prior);
  std::vector<ClosedLoopRun> runs;
  for (const Eigen::VectorXd& chi : chis) {
    const Parameters plant = parametersOf(robot.layout, chi);
    for (const MotionData& data : problem.data)
      runs.push_back(runOf(robot, prior, plant, data, rescale));
  }
  std::vector<SimulatedMotions> all(chis.size());
  std::vector<ClosedLoopResult> results;
  try {
    results = simulateClosedLoops(*robot.tree, runs);
  } catch (const Error& error) {
    if (chis.size() == 1) {
      all.front().failure = error.what();
      return all;
    }
    for (size_t k = 0; k < chis.size(); ++k)  // one of them cannot be simulated
      all[k] = std::move(simulateMotionsOf(problem, {chis[k]}, rescale).front());
    return all;
  }
  const size_t recordings = problem.data.size();
  for (size_t k = 0; k < runs.size(); ++k) {
    SimulatedMotions& motions = all[k / recordings];
    const MotionData& recorded = problem.data[k % recordings];
    if (!motions.failure.empty()) continue;
    if (results[k].failure.empty()) {
      addRun(*robot.tree, recorded, runs[k], results[k].recording, &motions);
    } else {
      motions = {};
      motions.failure = recorded.name + ": " + results[k].failure;
    }
  }
  return all;
}

SimulatedMotions simulateMotions(const IdentificationProblem& problem, const Eigen::VectorXd& chi,
                                 bool rescale) {
  requireReferences(problem);
  double share = possibleShare(problem, chi);
  for (int halving = 0;; ++halving) {
    SimulatedMotions motions =
        simulateMotionsOf(problem, {towards(problem, chi, share)}, rescale).front();
    motions.share = share;
    if (motions.failure.empty() || halving == kHalvings) return motions;
    share *= halving + 1 < kHalvings ? 0.5 : 0.0;
  }
}

std::vector<MotionData> commandedMotions(const IdentificationProblem& problem) {
  requireReferences(problem);
  const Tree& tree = *problem.tree;
  std::vector<MotionData> motions;
  for (const MotionData& recorded : problem.data) {
    const MotionSamples& command = *recorded.reference;
    MotionData out = recorded;
    out.sign.resize(0, 0);  // of the recorded motion
    Eigen::Index row = 0;
    const Eigen::Index last = command.samples() - 1;
    for (Eigen::Index i = 0; i < recorded.samples(); ++i) {
      const double time = std::clamp(recorded.time[i], command.time[0], command.time[last]);
      while (row + 1 < last && command.time[row + 1] <= time) ++row;
      const double h = last > 0 ? command.time[row + 1] - command.time[row] : 1.0;
      const Spot spot = {row, last > 0 ? (time - command.time[row]) / h : 0.0};
      for (size_t c = 0; c < command.joints.size(); ++c) {
        const int joint = requireJoint(tree.model(), command.joints[c]);
        double x[3];
        quinticBetween(command.q, command.v, command.a, spot, h, static_cast<Eigen::Index>(c), x);
        out.q(i, tree.positionIndex(joint)) = x[0];
        out.v(i, tree.velocityIndex(joint)) = x[1];
        out.a(i, tree.velocityIndex(joint)) = x[2];
      }
    }
    motions.push_back(std::move(out));
  }
  return motions;
}

}  // namespace proprio
