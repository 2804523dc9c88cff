#include "proprio/identification/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/identification/diagnosis.h"

namespace proprio {
namespace {

constexpr double kClearlyWorse = 1.2;              // error over that of a baseline
constexpr double kSmallPercent = 1.0;              // of the torque norm
constexpr double kClearPercent = 2.0;              // of the torque norm
constexpr double kHardlyBetter = 0.95;             // than zero
constexpr double kOverfit = 2.0;                   // held-out over training error
constexpr double kHarmless = 5.0;                  // percent
constexpr double kTolerable = 10.0;                // percent
constexpr double kMuchUnexplained = 50.0;          // percent, of a joint
constexpr double kRobotUnexplained = 100.0 / 3.0;  // percent, of all joints together
constexpr Eigen::Index kFewRows = 20;
constexpr double kNoSignal = 1e-3;   // torque relative to the largest of all joints
constexpr double kSlowRate = 100.0;  // Hz

const Evaluation* baselineOf(const std::vector<Evaluation>& baselines, const std::string& model,
                             const std::string& recording) {
  for (const Evaluation& baseline : baselines) {
    if (baseline.model == model && baseline.recording == recording) return &baseline;
  }
  return nullptr;
}

/// Two digits, or all before the point: "0.85", "8.9", "142".
std::string digits(double percent) {
  return percent < 99.5 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

/// Evaluations of one model on parts of one recording become one.
std::vector<Evaluation> byRecording(const std::vector<Evaluation>& evaluations) {
  std::vector<Evaluation> merged;
  std::vector<bool> done(evaluations.size(), false);
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (done[i]) continue;
    std::vector<Evaluation> parts;
    for (size_t k = i; k < evaluations.size(); ++k) {
      if (evaluations[k].model != evaluations[i].model ||
          evaluations[k].recording != evaluations[i].recording)
        continue;
      parts.push_back(evaluations[k]);
      done[k] = true;
    }
    merged.push_back(pooled(parts));
    merged.back().recording = evaluations[i].recording;
  }
  return merged;
}

/// Smallest and largest percentage of the joints that are judged: "3.1 to 8.9 %".
struct PercentRange {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  size_t worst = 0;

  void add(double percent, size_t joint) {
    low = std::min(low, percent);
    if (percent < high) return;
    high = percent;
    worst = joint;
  }
  std::string text() const {
    return high - low < 0.05 * high ? digits(high) + " %"
                                    : digits(low) + " to " + digits(high) + " %";
  }
};

/// Names with commas, each once.
std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> each;
  for (const std::string& name : names) {
    if (std::find(each.begin(), each.end(), name) == each.end()) each.push_back(name);
  }
  return fmt::format("{}", fmt::join(each, ", "));
}

constexpr char kNotThisRobot[] =
    "this is not what the robot did (order, signs or units of the joints, rows or time stamps, "
    "contact), or the motion shows nothing but noise.";

class Judge {
 public:
  Judge(const std::vector<std::string>& joints, const std::vector<Evaluation>& training,
        const std::vector<Evaluation>& baselines, const std::vector<Evaluation>& own_fits)
      : joints_(joints), training_(pooled(training)), baselines_(baselines), own_fits_(own_fits) {}

  void add(const Evaluation& held_out) {
    double largest = 0.0;
    for (size_t j = 0; j < held_out.joints.size(); ++j) {
      if (!isWrenchAxis(joints_[j])) largest = std::max(largest, held_out.joints[j].torque_rms);
    }
    for (size_t j = 0; j < held_out.joints.size(); ++j) {
      const JointError& joint = held_out.joints[j];
      const bool axis = isWrenchAxis(joints_[j]);
      if (axis && joint.rows < kFewRows) continue;  // of a part that touches something
      if (joint.rows < kFewRows || !(joint.torque_rms > (axis ? 0.0 : kNoSignal * largest))) {
        told_.push_back(
            joint.rows > 0 && joint.rows < kFewRows
                ? fmt::format("{} has {} rows on {}, too few to judge it (at least {}).",
                              joints_[j], joint.rows, held_out.recording, kFewRows)
                : fmt::format("{} has no torque signal on {}: it was not judged.", joints_[j],
                              held_out.recording));
        continue;
      }
      ++judged_;
      const bool explained = joint.percent <= kMuchUnexplained;
      (explained ? errors_ : unexplained_).add(joint.percent, j);
      if (!explained) unexplained_joints_.push_back(joints_[j]);
      // an axis of a wrench has the norm of all three
      const auto rows = static_cast<double>(joint.rows);
      squared_errors_ += rows * joint.rms * joint.rms;
      squared_torques_ += rows * joint.torque_rms * joint.torque_rms / (axis ? 3.0 : 1.0);
      compare(held_out, j);
      compareWithTraining(held_out, j);
    }
  }

  Verdict finish(const std::string& method, const std::vector<Evaluation>& validation) {
    Verdict verdict;
    std::string where = validation.front().recording;
    if (validation.size() > 1) where += fmt::format(" and {} more", validation.size() - 1);
    if (judged_ == 0) {
      verdict.passed = false;
      verdict.text = fmt::format(
          "Failed: no joint has a torque signal of at least {} rows on {}; nothing could be "
          "judged.",
          kFewRows, where);
      verdict.reasons = told_;
      return verdict;
    }
    judgeWhole();
    verdict.passed = failed_.empty();
    verdict.causes = failed_.size();
    verdict.reasons = failed_;
    verdict.reasons.insert(verdict.reasons.end(), told_.begin(), told_.end());
    const bool in_turn = validation.front().in_turn;
    verdict.measured = measuredText(method, where, in_turn, false);
    if (verdict.passed) {
      verdict.text = passedText(measuredText(method, where, in_turn, !unexplained_joints_.empty()));
    } else {
      verdict.text = fmt::format("Failed: {} {}", verdict.measured, failed_.front());
      if (failed_.size() > 1)
        verdict.text +=
            fmt::format(" There {} more like this.",
                        failed_.size() == 2 ? std::string("is one")
                                            : fmt::format("are {}", failed_.size() - 1));
    }
    return verdict;
  }

 private:
  /// Most of the joints, or most of the torque.
  void judgeWhole() {
    const double percent = 100.0 * std::sqrt(squared_errors_ / squared_torques_);
    const size_t unexplained = unexplained_joints_.size();
    if (2 * unexplained > judged_) {
      failed_.push_back(fmt::format(
          "{} more than half of the torque remains unexplained: {}",
          judged_ == 1
              ? "Of " + unexplained_joints_.front() + ", the only joint that can be judged,"
              : fmt::format("Of {} of {} joints", unexplained, judged_),
          kNotThisRobot));
    } else if (percent > kRobotUnexplained) {
      failed_.push_back(
          fmt::format("More than a third of the torque of all joints together ({} %) remains "
                      "unexplained: {}",
                      digits(percent), kNotThisRobot));
    }
  }

  /// "on b.csv, which it has not seen, wls predicts ... The model as given is off by 30 %."
  /// @param part  only joints that are explained
  std::string measuredText(const std::string& method, const std::string& where, bool in_turn,
                           bool part) const {
    PercentRange errors = errors_;
    if (!part && unexplained_.high > 0.0) {
      errors.add(unexplained_.low, unexplained_.worst);
      errors.add(unexplained_.high, unexplained_.worst);
    }
    const size_t count = part ? judged_ - unexplained_joints_.size() : judged_;
    std::string text = fmt::format(
        "on {}, {}, {} predicts the torques of {} {}joint{}{} within {} of their norm (worst: {}).",
        where, in_turn ? "each by a fit without it" : "which it has not seen", method, count,
        part ? "other " : "", count == 1 ? "" : "s",
        std::any_of(joints_.begin(), joints_.end(), isWrenchAxis) ? " and axes of sensors" : "",
        errors.text(), joints_[errors.worst]);
    if (given_.high > 0.0) text += fmt::format(" The model as given is off by {}.", given_.text());
    return text;
  }

  std::string passedText(const std::string& measured) const {
    std::string text = "Passed";
    if (!unexplained_joints_.empty())
      text += fmt::format(" except for {}, of whose torque {} remain unexplained",
                          listed(unexplained_joints_), unexplained_.text());
    text += fmt::format(": {} No joint is clearly worse than with {}zero", measured,
                        compared_ ? "the model as given, gravity alone or " : "");
    return text + (seen_.high > 0.0 ? fmt::format("; training errors are {}.", seen_.text()) : ".");
  }

  void compare(const Evaluation& held_out, size_t j) {
    const JointError& joint = held_out.joints[j];
    const bool compared = compareWithBaselines(held_out, j);
    if (joint.percent >= 100.0 * kHardlyBetter) {
      failed_.push_back(
          fmt::format("{} is predicted no better than by zero ({} % of its torque remain on {}).",
                      joints_[j], digits(joint.percent), held_out.recording));
    } else if (joint.percent > kMuchUnexplained && !compared) {
      told_.push_back(fmt::format(
          "{}: {} % of its torque on {} remain unexplained: check order, sign and unit of the "
          "joints.",
          joints_[j], digits(joint.percent), held_out.recording));
    }
  }

  /// True if one of them is better.
  bool compareWithBaselines(const Evaluation& held_out, size_t j) {
    const JointError& joint = held_out.joints[j];
    for (const std::string model : {"as given", "gravity only"}) {
      const Evaluation* baseline = baselineOf(baselines_, model, held_out.recording);
      if (baseline == nullptr) continue;
      compared_ = true;
      const JointError& before = baseline->joints[j];
      const bool given = model == "as given";
      if (given) given_.add(before.percent, j);
      if (joint.rms <= before.rms || joint.percent <= before.percent + kSmallPercent) continue;
      // fits without a block know less than the one that is written, and a description may have
      // been fitted to this very motion: so the model has to be worse where it has seen it, too
      const bool worse =
          clearlyWorse(joint, before) && (!held_out.in_turn || training_.joints.empty() ||
                                          clearlyWorse(training_.joints[j], before));
      (worse ? failed_ : told_)
          .push_back(fmt::format("{} is predicted {} by {} ({} against {} % of its torque on {}).",
                                 joints_[j], worse ? "worse than" : "no better than",
                                 given ? "the model as given" : "gravity alone",
                                 digits(joint.percent), digits(before.percent),
                                 held_out.recording));
      return true;
    }
    return false;
  }

  void compareWithTraining(const Evaluation& held_out, size_t j) {
    if (training_.joints.empty()) return;
    const JointError& joint = held_out.joints[j];
    const JointError& seen = training_.joints[j];
    if (seen.rows == 0 || !std::isfinite(seen.percent)) return;
    seen_.add(seen.percent, j);
    if (joint.percent <= kHarmless || joint.rms <= kOverfit * seen.rms ||
        joint.percent <= kOverfit * seen.percent)
      return;
    for (const Evaluation& own : own_fits_) {
      if (own.recording == held_out.recording && joint.rms <= kOverfit * own.joints[j].rms) return;
    }
    // an error that most users would be content with is no reason to throw the model away
    (joint.percent <= kTolerable ? told_ : failed_)
        .push_back(fmt::format(
            "{} has {} % error on {} but {} % on the training motion: the parameters fit one "
            "motion, not the robot (too little excitation, or conditions that changed).",
            joints_[j], digits(joint.percent), held_out.recording, digits(seen.percent)));
  }

  const std::vector<std::string>& joints_;
  const Evaluation training_;
  const std::vector<Evaluation>& baselines_;
  const std::vector<Evaluation>& own_fits_;
  std::vector<std::string> failed_, told_, unexplained_joints_;
  PercentRange errors_, unexplained_, given_, seen_;  // errors_: of joints that are explained
  double squared_errors_ = 0.0, squared_torques_ = 0.0;
  size_t judged_ = 0;
  bool compared_ = false;  // with a baseline besides zero
};

std::string withConsistency(const MethodFacts& facts, const char* method) {
  return facts.physical || facts.undecided ? std::string("pc-") + method : method;
}

}  // namespace

bool clearlyWorse(const JointError& joint, const JointError& before) {
  return joint.rms > kClearlyWorse * before.rms && joint.percent > before.percent + kClearPercent;
}

Verdict judge(const std::string& method, const std::vector<std::string>& joints,
              const std::vector<Evaluation>& training, const std::vector<Evaluation>& validation,
              const std::vector<Evaluation>& baselines, const std::vector<Evaluation>& own_fits) {
  for (const auto* evaluations : {&training, &validation, &baselines, &own_fits}) {
    for (const Evaluation& evaluation : *evaluations) {
      if (evaluation.joints.size() != joints.size())
        throw Error(fmt::format("{}: errors of {} joints, but there are {}", evaluation.recording,
                                evaluation.joints.size(), joints.size()));
    }
  }
  if (validation.empty()) {
    Verdict verdict;
    PercentRange errors;
    const Evaluation seen = pooled(training);
    for (size_t j = 0; j < seen.joints.size(); ++j) {
      if (seen.joints[j].rows > 0 && std::isfinite(seen.joints[j].percent))
        errors.add(seen.joints[j].percent, j);
    }
    verdict.text = fmt::format(
        "Not validated: {} explains its own training motion{}, but no recording was held out. Give "
        "another motion with --validate to learn whether the parameters hold beyond it.",
        method,
        errors.high > 0.0 ? fmt::format(" up to {} of the torque norm", errors.text()) : "");
    verdict.reasons.push_back("No recording was held out for validation.");
    return verdict;
  }
  const std::vector<Evaluation> held_out = byRecording(validation), before = byRecording(baselines),
                                own = byRecording(own_fits);
  Judge judgement(joints, training, before, own);
  for (const Evaluation& evaluation : held_out) judgement.add(evaluation);
  return judgement.finish(method, held_out);
}

MethodAdvice adviseMethod(const MethodFacts& facts) {
  const bool simulated = facts.controller_known && facts.gains_known;
  if (facts.online)
    return {"pc-sqp",
            "the estimate is needed while the robot moves: small consistent updates of a "
            "running factor are fast and never leave the possible robots"};
  const bool suspicious = facts.noise_bias || facts.rate_hz < kSlowRate;
  if (suspicious && simulated)
    return {withConsistency(facts, "iv"),
            facts.noise_bias
                ? "noise in the motion biases least squares, and the loop can be simulated for "
                  "instruments that do not know the noise"
                : "below 100 Hz accelerations from differences are poor, and the loop can be "
                  "simulated for instruments without them"};
  if (facts.noise_bias && facts.reference_recorded)
    return {withConsistency(facts, "iv-commanded"),
            "noise in the motion biases least squares; the commanded motion serves as instruments "
            "in one pass, without simulation"};
  if (suspicious && facts.controller_known)
    return {
        withConsistency(facts, "wls"),
        "the servo's structure is known but not its gains: identify them first and then use iv; "
        "until then weighted least squares on filtered signals"};
  if (simulated && !facts.bias_tested)
    return {withConsistency(facts, "iv"),
            "the servo is known and bias by noise could not be tested: simulated instruments are "
            "safe either way"};
  if (facts.outliers)
    return {withConsistency(facts, "irls"),
            "the torques have outliers, which robust weights take out"};
  if (suspicious)
    return {withConsistency(facts, "wls"),
            "least squares is likely to be biased by noise, but neither servo nor commanded motion "
            "is known: filter well, and record the commands next time"};
  return {
      withConsistency(facts, "wls"),
      facts.bias_tested
          ? "no bias by noise was found, so weighted least squares is as good as simulation and "
            "simpler"
          : "nothing is known of the servo, and whether noise biases least squares could not be "
            "tested: weighted least squares on filtered signals"};
}

}  // namespace proprio
