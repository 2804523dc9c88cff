#include "proprio/identification/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/identification/wrong_mapping.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Correlations beyond these are told: opposite, certainly negative, and two that are each other's.
constexpr double kOpposite = -0.6, kNegative = -0.9, kAlike = 0.8, kUnlike = 0.5;
/// Torques off by more than this factor are another unit or ratio.
constexpr double kAnotherUnit = 8.0;
/// All torques as many times as large are in another unit; so near to 1000 (as a power of ten) it
/// is mN m.
constexpr double kUnitApart = 30.0, kAboutThousand = 0.9;
/// Gains that differ by less agree, and one that all share is told beyond this factor. Only joints
/// count of whose torque the prediction leaves less than the share.
constexpr double kAgree = 1.5, kOneFactor = 2.0, kSaysMuch = 0.3;
/// Of a range of motion: as far outside the limits is no overshoot.
constexpr double kOutside = 0.5;
/// Share of the positions at either end that may be wrong for other reasons.
constexpr double kOutliers = 0.01;
/// Fewer rows do not tell anything.
constexpr Eigen::Index kFewestRows = 30;
/// A prediction that leaves more than this share of what friction leaves says little; if friction
/// leaves less than the other share of the torque, there is nothing to say.
constexpr double kSaysLittle = 0.5, kFrictionLeaves = 0.1;
/// Friction that drives is no friction, if it is more than this share of the torque's squares.
constexpr double kDriven = 0.25;
/// Samples that are looked at for each mapping.
constexpr Eigen::Index kMappingSamples = 600;
/// A sliding joint's force at rest above this share of its weight is along gravity; a measured one
/// below that share of the weight holds nothing.
constexpr double kAlongGravity = 0.9, kHoldsWeight = 0.2;
/// Without its torques another joint's error is smaller by this factor: a contradiction.
constexpr double kContradicts = 1.2;

/// Where joint i's rows count, its measured torque beside the prediction for joint j.
struct Comparison {
  double correlation = 0.0;  ///< of the parts that vary
  double gain = 0.0;         ///< measured over predicted, least squares
};

Comparison compareTorques(const MotionData& data, const Eigen::MatrixXd& predicted, Eigen::Index i,
                          Eigen::Index j) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (Eigen::Index k = 0; k < data.samples(); ++k) {
    if (!data.use(k, i)) continue;
    const double a = predicted(k, j), b = data.tau(k, i);
    n += 1.0, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  Comparison result;
  if (n < static_cast<double>(kFewestRows) || !(xx > 0.0) || !(yy > 0.0)) return result;
  const double vx = xx - x * x / n, vy = yy - y * y / n, c = xy - x * y / n;
  if (vx > 1e-12 * xx && vy > 1e-12 * yy) result.correlation = c / std::sqrt(vx * vy);
  result.gain = xy / xx;
  return result;
}

class PlausibilityCheck {
 public:
  PlausibilityCheck(const Tree& tree, const ParameterLayout& layout, const Eigen::VectorXd& chi,
                    const MotionData& data)
      : tree_(tree),
        layout_(layout),
        believed_(chi),
        frictionless_(chi),
        model_(tree.model()),
        data_(data),
        predicted_(predictTorques(tree, layout, chi, data)) {
    for (int k = 0; k < layout.size(); ++k) {
      if (layout[k].kind == ParameterKind::kFriction) frictionless_[k] = 0.0;
    }
    for (size_t joint = 0; joint < model_.joints.size(); ++joint) {
      const int i = tree.velocityIndex(static_cast<int>(joint));
      const Joint& declared = model_.joints[joint];
      if (i < 0 || declared.mimic || velocityCount(declared.type) != 1) continue;
      checkMotion(declared, data.q.col(tree.positionIndex(static_cast<int>(joint))));
      if (data.use.col(i).count() >= kFewestRows) joints_.push_back({static_cast<int>(joint), i});
    }
  }

  Plausibility run() {
    const MotionData data =
        everyNth(data_, std::max<Eigen::Index>(1, data_.samples() / kMappingSamples));
    // what sensors measure was taken out of the torques along this mapping
    const WrongMapping wrong = hasSensedWrenches(model_)
                                   ? WrongMapping{}
                                   : findWrongMapping(tree_, layout_, believed_, data, joints_);
    for (const MeasuredJoint& row : joints_) checkTorque(row, wrong.all_signs);
    if (!wrong.sentence.empty())
      add(wrong.another_body ? Severity::kWarning : Severity::kError, "", wrong.sentence);
    if (wrong.sentence.empty() || wrong.another_body) checkExplained(data);
    return std::move(result_);
  }

 private:
  void add(Severity severity, const std::string& joint, std::string sentence) {
    result_.findings.push_back({severity, joint, std::move(sentence)});
  }

  void checkMotion(const Joint& joint, const Eigen::VectorXd& q) {
    if (q.size() == 0) return;
    const double low = q.minCoeff(), high = q.maxCoeff();
    if (high - low < kStandstill)
      add(Severity::kWarning, joint.name,
          fmt::format(
              "joint '{}' does not move (less than {:g}): its inertia and friction cannot be "
              "learned from this recording",
              joint.name, kStandstill));
    const double lower = joint.limits.lower, upper = joint.limits.upper;
    if (!(upper > lower)) return;
    // outliers are not another unit
    std::vector<double> sorted(q.begin(), q.end());
    std::sort(sorted.begin(), sorted.end());
    const auto few = static_cast<size_t>(kOutliers * static_cast<double>(sorted.size()));
    const double beyond = std::max(lower - sorted[few], sorted[sorted.size() - 1 - few] - upper);
    if (beyond <= kOutside * (upper - lower)) return;
    const bool degrees = high <= 1.2 * upper * 180.0 / M_PI && low >= 1.2 * lower * 180.0 / M_PI;
    add(Severity::kError, joint.name,
        fmt::format(
            "joint '{}' is recorded between {:.4g} and {:.4g}, far outside its limits of {:.4g} "
            "to {:.4g}{}",
            joint.name, low, high, lower, upper,
            degrees ? ": it looks like degrees; declare 'unit: deg'"
                    : ": check unit, offset and order of the joints"));
  }

  /// Another joint whose prediction looks like this torque while its own torque looks like this
  /// joint's prediction.
  const Joint* swappedWith(const MeasuredJoint& row) const {
    for (const MeasuredJoint& other : joints_) {
      if (other.joint == row.joint) continue;
      const double there =
          compareTorques(data_, predicted_, row.coordinate, other.coordinate).correlation;
      const double back =
          compareTorques(data_, predicted_, other.coordinate, row.coordinate).correlation;
      if (std::abs(there) > kAlike && std::abs(back) > kAlike)
        return &model_.joints[static_cast<size_t>(other.joint)];
    }
    return nullptr;
  }

  void checkTorque(const MeasuredJoint& row, bool all_signs) {
    const Joint& joint = model_.joints[static_cast<size_t>(row.joint)];
    const Comparison own = compareTorques(data_, predicted_, row.coordinate, row.coordinate);
    if (own.gain > 0.0 && own.gain < 1.0 / kAnotherUnit) return suspect(row, own.gain);
    if (own.correlation == 0.0) return;
    if (std::abs(own.correlation) < kUnlike) {
      if (const Joint* other = swappedWith(row))
        add(Severity::kError, joint.name,
            fmt::format("the torque of joint '{}' looks like that of '{}' and the other way round: "
                        "check the order of the joints",
                        joint.name, other->name));
      return;
    }
    if (own.correlation < kOpposite) {
      if (all_signs) return;  // told once for all
      add(own.correlation < kNegative ? Severity::kError : Severity::kWarning, joint.name,
          fmt::format("the torque of joint '{}' is the negative of what its description predicts "
                      "(correlation {:.2f}): check its sign, or that of the position",
                      joint.name, own.correlation));
      return;
    }
    if (own.gain > kAnotherUnit) suspect(row, own.gain);
  }

  void suspect(const MeasuredJoint& row, double gain) {
    result_.suspects.push_back({static_cast<int>(row.coordinate), gain});
  }

  /// Measured over predicted, root mean squares of the rows that count.
  double sizeRatio(Eigen::Index i) const {
    double measured = 0.0, predicted = 0.0;
    for (Eigen::Index k = 0; k < data_.samples(); ++k) {
      if (!data_.use(k, i)) continue;
      measured += data_.tau(k, i) * data_.tau(k, i);
      predicted += predicted_(k, i) * predicted_(k, i);
    }
    return predicted > 0.0 ? std::sqrt(measured / predicted) : 0.0;
  }

  /// One factor between all torques and what the description predicts. Of sizes, because a joint
  /// that mostly rubs is not like its prediction; smaller factors only of gains that agree.
  void checkCommonScale(const std::vector<ExplainedTorque>& given) {
    std::vector<double> sizes, gains;
    for (size_t k = 0; k < given.size(); ++k) {
      const double ratio = sizeRatio(joints_[k].coordinate);
      if (ratio > 0.0) sizes.push_back(ratio);
      if (given[k].remains < kSaysMuch && given[k].gain > 0.0) gains.push_back(given[k].gain);
    }
    std::sort(sizes.begin(), sizes.end());
    std::sort(gains.begin(), gains.end());
    const double size = sizes.size() < 2 ? 1.0 : sizes[sizes.size() / 2];
    if ((size > kUnitApart && sizes.front() > kAnotherUnit) ||
        (size < 1.0 / kUnitApart && sizes.back() < 1.0 / kAnotherUnit)) {
      const bool milli = std::abs(std::log10(size) - 3.0) < kAboutThousand;
      add(Severity::kError, "",
          fmt::format("the torques of all joints are about {:.1g} times as large as the "
                      "description predicts: check their unit{}, gear ratios and drive gains",
                      size, milli ? " (mN m or N mm? declare 'unit: mNm')" : ""));
      return;
    }
    if (gains.size() < 2 || 2 * gains.size() < given.size()) return;
    const double gain = gains[gains.size() / 2];
    if (std::max(gain, 1.0 / gain) < kOneFactor || gains.back() > kAgree * gain ||
        gains.front() < gain / kAgree)
      return;
    add(Severity::kWarning, "",
        fmt::format("the torques of all joints are about {:.2g} times what the description "
                    "predicts: check gear ratios, drive gains and unit, else all masses are as "
                    "wrong",
                    gain));
  }

  void checkExplained(const MotionData& data) {
    std::vector<Eigen::Index> rows;
    for (const MeasuredJoint& row : joints_) rows.push_back(row.coordinate);
    const std::vector<ExplainedTorque> given =
        explainTorques(tree_, layout_, frictionless_, data, rows);
    checkCommonScale(given);
    for (size_t k = 0; k < given.size(); ++k) checkExplained(joints_[k], given[k]);
  }

  void checkExplained(const MeasuredJoint& row, const ExplainedTorque& explained) {
    const std::string& joint = model_.joints[static_cast<size_t>(row.joint)].name;
    if (explained.driven > kDriven) {
      add(Severity::kError, joint,
          fmt::format("the torque of joint '{}' pushes along with its motion, where friction "
                      "should brake: check the sign of its torque, or that of its position",
                      joint));
      return;
    }
    const bool little =
        explained.remains > kSaysLittle && explained.friction_leaves > kFrictionLeaves;
    if (little || (describesFriction(row.joint) &&
                   shareLeft(data_, predicted_, row.coordinate) > kSaysLittle))
      add(Severity::kWarning, joint,
          fmt::format("the description explains little of the torque of joint '{}': unless it is a "
                      "rough one, this is another robot or another order of the joints",
                      joint));
  }

  bool describesFriction(int joint) const {
    for (int k = 0; k < layout_.size(); ++k) {
      if (layout_[k].joint == joint && layout_[k].kind == ParameterKind::kFriction &&
          believed_[k] != 0.0)
        return true;
    }
    return false;
  }

  const Tree& tree_;
  const ParameterLayout& layout_;
  const Eigen::VectorXd& believed_;
  Eigen::VectorXd frictionless_;  // what is believed, but for friction
  const Model& model_;
  const MotionData& data_;
  Eigen::MatrixXd predicted_;
  std::vector<MeasuredJoint> joints_;
  Plausibility result_;
};

}  // namespace

Plausibility checkPlausibility(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data) {
  return PlausibilityCheck(tree, layout, chi, data).run();
}

std::vector<QualityFinding> checkWeights(const Tree& tree, const ParameterLayout& layout,
                                         const Eigen::VectorXd& chi, const MotionData& data) {
  std::vector<QualityFinding> findings;
  const Model& model = tree.model();
  const double g = model.gravity.norm();
  if (data.samples() < kFewestRows || !(g > 0.0)) return findings;
  for (size_t joint = 0; joint < model.joints.size(); ++joint) {
    const int i = tree.velocityIndex(static_cast<int>(joint));
    if (i < 0 || model.joints[joint].type != JointType::kPrismatic || model.joints[joint].mimic)
      continue;
    // believed force at rest, and at rest with this joint accelerated by g: that of its weight
    // again
    MotionData rest = everyNth(data, data.samples());
    rest.sign.resize(0, 0);
    rest.v.setZero();
    rest.a.setZero();
    const double weight = predictTorques(tree, layout, chi, rest)(0, i);
    rest.a(0, i) = g;
    const double inertia = predictTorques(tree, layout, chi, rest)(0, i) - weight;
    if (std::abs(weight) < kAlongGravity * inertia) continue;
    std::vector<Eigen::Index> rows;
    for (Eigen::Index k = 0; k < data.samples(); ++k)
      if (data.use(k, i)) rows.push_back(k);
    if (static_cast<Eigen::Index>(rows.size()) < kFewestRows) continue;
    Eigen::MatrixXd X(static_cast<Eigen::Index>(rows.size()), 4);
    Eigen::VectorXd y(X.rows());
    for (Eigen::Index r = 0; r < X.rows(); ++r) {
      const Eigen::Index k = rows[static_cast<size_t>(r)];
      const double v = data.v(k, i);
      X.row(r) << data.a(k, i), v, (v > 0.0) - (v < 0.0), 1.0;
      y[r] = data.tau(k, i);
    }
    const Eigen::VectorXd fit = leastSquares(X, y);
    if (!(fit[0] > 0.0) || std::abs(fit[3]) > kHoldsWeight * fit[0] * g) continue;
    findings.push_back(
        {Severity::kWarning, model.joints[joint].name,
         fmt::format(
             "joint '{}' slides along gravity, but its mean force of {:.3g} N does not hold "
             "the {:.3g} kg that it accelerates: if the axis lies level, declare 'gravity: "
             "[0, 0, 0]' or how the robot is mounted, 'base: {{rpy: [...]}}'; if it is "
             "balanced, this is right",
             model.joints[joint].name, fit[3], fit[0])});
  }
  return findings;
}

std::vector<int> contradicting(const IdentificationProblem& problem,
                               const std::vector<int>& suspects) {
  const StackedProblem& stacked = problem.stacked;
  // as plain least squares leaves it: weights found in rounds would hide who contradicts whom
  const Eigen::VectorXd noise = jointNoise(stacked, ordinaryLeastSquares(problem, {}).beta);
  const auto squaresBeside = [&](const std::vector<int>& left_out) {
    Eigen::VectorXd sigma = noise;
    for (const int j : left_out) sigma[j] = std::numeric_limits<double>::infinity();
    const Estimate fit = solveSystem(problem, weightedSystem(stacked, sigma), {}, sigma);
    return squaredResiduals(stacked, fit.beta);
  };
  const Eigen::VectorXd without = squaresBeside(suspects);
  std::vector<int> found;
  for (const int suspect : suspects) {
    std::vector<int> others = suspects;
    std::erase(others, suspect);
    const Eigen::VectorXd with = squaresBeside(others);
    for (int j = 0; j < stacked.coordinates(); ++j) {
      if (std::find(suspects.begin(), suspects.end(), j) != suspects.end()) continue;
      if (with[j] <= kContradicts * kContradicts * without[j]) continue;
      found.push_back(suspect);
      break;
    }
  }
  return found;
}

}  // namespace proprio
