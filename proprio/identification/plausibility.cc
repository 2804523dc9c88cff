#include "proprio/identification/plausibility.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/identification/stacked_problem.h"

namespace proprio {
namespace {

/// Correlations beyond these are told: opposite, certainly negative, and two that are each other's.
constexpr double kOpposite = -0.6, kNegative = -0.9, kAlike = 0.8, kUnlike = 0.5;
/// Torques off by more than this factor are another unit or ratio.
constexpr double kAnotherUnit = 8.0;
/// Of a range of motion: as far outside the limits is no overshoot.
constexpr double kOutside = 0.5;
/// Below this the joint stands still: rad, m.
constexpr double kAtRest = 1e-3;
/// Fewer rows do not tell anything.
constexpr Eigen::Index kFewestRows = 30;

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
  PlausibilityCheck(const Tree& tree, const MotionData& data, Eigen::MatrixXd predicted)
      : model_(tree.model()), data_(data), predicted_(std::move(predicted)) {
    for (size_t joint = 0; joint < model_.joints.size(); ++joint) {
      const int i = tree.velocityIndex(static_cast<int>(joint));
      const Joint& declared = model_.joints[joint];
      if (i < 0 || declared.mimic || velocityCount(declared.type) != 1) continue;
      checkMotion(declared, data.q.col(tree.positionIndex(static_cast<int>(joint))));
      if (data.use.col(i).count() >= kFewestRows) joints_.push_back({static_cast<int>(joint), i});
    }
  }

  Plausibility run() {
    for (const Row& row : joints_) checkTorque(row);
    return std::move(result_);
  }

 private:
  struct Row {
    int joint;
    Eigen::Index coordinate;
  };

  void add(Severity severity, const std::string& joint, std::string sentence) {
    result_.findings.push_back({severity, joint, std::move(sentence)});
  }

  void checkMotion(const Joint& joint, const Eigen::VectorXd& q) {
    if (q.size() == 0) return;
    const double low = q.minCoeff(), high = q.maxCoeff();
    if (high - low < kAtRest)
      add(Severity::kWarning, joint.name,
          fmt::format(
              "joint '{}' does not move (less than {:g}): its inertia and friction cannot be "
              "learned from this recording",
              joint.name, kAtRest));
    const double lower = joint.limits.lower, upper = joint.limits.upper;
    if (!(upper > lower)) return;
    const double beyond = std::max(lower - low, high - upper);
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
  const Joint* swappedWith(const Row& row) const {
    for (const Row& other : joints_) {
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

  void checkTorque(const Row& row) {
    const Joint& joint = model_.joints[static_cast<size_t>(row.joint)];
    const Comparison own = compareTorques(data_, predicted_, row.coordinate, row.coordinate);
    if (own.gain > 0.0 && own.gain < 1.0 / kAnotherUnit) return distrust(row, own.gain);
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
      add(own.correlation < kNegative ? Severity::kError : Severity::kWarning, joint.name,
          fmt::format("the torque of joint '{}' is the negative of what its description predicts "
                      "(correlation {:.2f}): check its sign, or that of the position",
                      joint.name, own.correlation));
      return;
    }
    if (own.gain > kAnotherUnit) distrust(row, own.gain);
  }

  void distrust(const Row& row, double gain) {
    const Joint& joint = model_.joints[static_cast<size_t>(row.joint)];
    result_.distrusted.push_back(static_cast<int>(row.coordinate));
    add(Severity::kWarning, joint.name,
        fmt::format("the torque of joint '{}' is {:.3g} times what its description predicts: check "
                    "unit, gear ratio and drive gain",
                    joint.name, gain));
  }

  const Model& model_;
  const MotionData& data_;
  Eigen::MatrixXd predicted_;
  std::vector<Row> joints_;
  Plausibility result_;
};

}  // namespace

Plausibility checkPlausibility(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data) {
  return PlausibilityCheck(tree, data, predictTorques(tree, layout, chi, data)).run();
}

}  // namespace proprio
