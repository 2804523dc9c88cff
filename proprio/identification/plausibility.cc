#include "proprio/identification/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Correlations beyond these are told: opposite, certainly negative, and two that are each other's.
constexpr double kOpposite = -0.6, kNegative = -0.9, kAlike = 0.8, kUnlike = 0.5;
/// Torques off by more than this factor are another unit or ratio.
constexpr double kAnotherUnit = 8.0;
/// Of a range of motion: as far outside the limits is no overshoot.
constexpr double kOutside = 0.5;
/// Fewer rows do not tell anything.
constexpr Eigen::Index kFewestRows = 30;
/// Another mapping is believed if it leaves less than this share of what the given one leaves.
constexpr double kFarBetter = 0.5;
/// Another mounting, of which there are many, if it leaves less than this share of that.
constexpr double kMounted = 0.5;
/// A description that leaves less than this share is read rightly.
constexpr double kWellExplained = 0.05;
/// A prediction that leaves more than this share of what friction leaves says little; if friction
/// leaves less than the other share of the torque, there is nothing to say.
constexpr double kSaysLittle = 0.5, kFrictionLeaves = 0.1;
/// Torques of which friction leaves less than this share tell nothing about mappings.
constexpr double kWorthLooking = 0.005;
/// Friction that drives is no friction, if it is more than this share of the torque's squares.
constexpr double kDriven = 0.25;
/// Share of the rows in either direction that it takes to tell.
constexpr double kBothWays = 0.1;
/// Samples that are looked at for each mapping.
constexpr Eigen::Index kMappingSamples = 600;
/// Of the torques' squares: a robot that leaves less is one, and what no robot leaves is looked at.
constexpr double kNoRobot = 0.05;
/// Another mounting of which the description knows nothing, if it leaves less than this share.
constexpr double kFoundMounting = 0.25;
/// Smallest pivot, relative to the largest, of parameters that are told apart.
constexpr double kToldApart = 1e-8;
/// Steps (rad) by which a direction of gravity is made better.
constexpr double kFirstTilt = 0.4, kLastTilt = 0.05;
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

/// Which share of what friction and own inertia leave of a torque remains beside the prediction.
struct Explained {
  double driven = 0.0;  ///< share of the torque's squares in "friction" that drives the motion
  double friction_leaves = 0.0;  ///< of the torque's squares
  double remains = 1.0;          ///< of what friction leaves
};

Explained explainedBy(const MotionData& data, const Eigen::VectorXd& predicted, Eigen::Index i) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index k = 0; k < data.samples(); ++k) {
    if (data.use(k, i)) rows.push_back(k);
  }
  Explained out;
  if (static_cast<Eigen::Index>(rows.size()) < kFewestRows) return out;
  Eigen::MatrixXd X(static_cast<Eigen::Index>(rows.size()), 5);
  Eigen::VectorXd y(X.rows());
  for (Eigen::Index r = 0; r < X.rows(); ++r) {
    const Eigen::Index k = rows[static_cast<size_t>(r)];
    const double v = data.v(k, i);
    X.row(r) << v, (v > 0.0) - (v < 0.0), data.a(k, i), 1.0, predicted[k];
    y[r] = data.tau(k, i);
  }
  const auto leftBeside = [&](const Eigen::MatrixXd& columns) {
    const Eigen::MatrixXd Q = rangeBasis(columns, 1e-9);
    return (y - Q * (Q.transpose() * y)).eval();
  };
  const Eigen::VectorXd without = leftBeside(X.leftCols(4)), with = leftBeside(X);
  if (!(without.squaredNorm() > 0.0)) return out;
  out.friction_leaves = without.squaredNorm() / y.squaredNorm();
  // one direction alone does not tell friction from gravity
  const auto forward = static_cast<double>((X.col(0).array() > 0.0).count());
  const bool both = std::min(forward, static_cast<double>(X.rows()) - forward) >
                    kBothWays * static_cast<double>(X.rows());
  const Eigen::VectorXd friction = X.leftCols(2) * leastSquares(X, y).topRows(2);
  if (both && friction.dot(X.col(0)) < 0.0)
    out.driven = (leftBeside(X.rightCols(3)).squaredNorm() - with.squaredNorm()) / y.squaredNorm();
  // a prediction that would have to be turned round explains nothing
  if (without.dot(X.col(4)) > 0.0) out.remains = with.squaredNorm() / without.squaredNorm();
  return out;
}

/// What remains of each torque beside the description's prediction, joints of `rows` only.
std::vector<Explained> explainedTorques(const Tree& tree, const ParameterLayout& layout,
                                        const Eigen::VectorXd& chi, const MotionData& data,
                                        const std::vector<Eigen::Index>& rows) {
  const Eigen::MatrixXd predicted = predictTorques(tree, layout, chi, data);
  std::vector<Explained> out;
  for (const Eigen::Index i : rows) out.push_back(explainedBy(data, predicted.col(i), i));
  return out;
}

double meanRemainder(const std::vector<Explained>& joints) {
  double sum = 0.0;
  for (const Explained& joint : joints) sum += joint.remains;
  return sum / static_cast<double>(std::max<size_t>(joints.size(), 1));
}

/// Mean share of the torques' squares that no choice of the parameters explains: what remains is
/// not the description's fault. Each joint counts the same.
double leftByAnyRobot(const Tree& tree, const std::shared_ptr<const ParameterLayout>& layout,
                      const MotionData& data) {
  std::vector<int> columns(static_cast<size_t>(layout->size()));
  std::iota(columns.begin(), columns.end(), 0);
  StackOptions options;
  options.blocks = 1;
  const StackedProblem problem = stack(tree, layout, columns, {data}, options);
  const Eigen::VectorXd squares = squaredTorques(problem);
  const auto joints = static_cast<double>((squares.array() > 0.0).count());
  if (joints == 0.0) return 0.0;
  const Eigen::VectorXd sigma = (squares.array() > 0.0).select(squares.array().sqrt(), 1.0);
  const TriangularSystem system = weightedSystem(problem, sigma);
  const Eigen::MatrixXd Q = rangeBasis(system.A, kToldApart);
  const double left = (system.b - Q * (Q.transpose() * system.b)).squaredNorm();
  return (left + system.rest * system.rest) / joints;
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
    for (const Row& row : joints_) checkTorque(row);
    checkMapping();
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
    if (high - low < kStandstill)
      add(Severity::kWarning, joint.name,
          fmt::format(
              "joint '{}' does not move (less than {:g}): its inertia and friction cannot be "
              "learned from this recording",
              joint.name, kStandstill));
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
      add(own.correlation < kNegative ? Severity::kError : Severity::kWarning, joint.name,
          fmt::format("the torque of joint '{}' is the negative of what its description predicts "
                      "(correlation {:.2f}): check its sign, or that of the position",
                      joint.name, own.correlation));
      return;
    }
    if (own.gain > kAnotherUnit) suspect(row, own.gain);
  }

  void suspect(const Row& row, double gain) {
    result_.suspects.push_back({static_cast<int>(row.coordinate), gain});
  }

  /// The same recording as another mapping would read it.
  struct Mapping {
    MotionData data;
    std::string sentence;
    bool another_body = false;  ///< the given mapping with another last body gives the same torques
  };

  /// A joint beyond which nothing else moves: to shift its zero is to turn the body there.
  bool isLast(int joint) const {
    const auto& bodies = tree_.bodies();
    for (size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].v == tree_.fullVelocityIndex(joint))
        return bodies[b].subtree_end == static_cast<int>(b) + 1;
    }
    return false;
  }

  std::vector<Mapping> otherMappings(const MotionData& data) const {
    std::vector<Mapping> mappings;
    for (const Row& row : joints_) {
      const Joint& joint = model_.joints[static_cast<size_t>(row.joint)];
      const Eigen::Index p = tree_.positionIndex(row.joint), i = row.coordinate;
      Mapping turned = {data, fmt::format("if joint '{}' turned the other way: check the sign of "
                                          "its position and torque",
                                          joint.name)};
      turned.data.q.col(p) *= -1.0;
      turned.data.v.col(i) *= -1.0;
      turned.data.a.col(i) *= -1.0;
      turned.data.tau.col(i) *= -1.0;
      if (turned.data.sign.cols() > 0) turned.data.sign.col(i) *= -1.0;
      mappings.push_back(std::move(turned));
      if (joint.type == JointType::kPrismatic) continue;
      for (const double degrees : {90.0, -90.0, 180.0}) {
        Mapping shifted = {data,
                           fmt::format("if the zero of joint '{}' were {:g} degrees away: "
                                       "check the offset of its position",
                                       joint.name, degrees),
                           isLast(row.joint)};
        shifted.data.q.col(p).array() += degrees * M_PI / 180.0;
        mappings.push_back(std::move(shifted));
      }
    }
    return mappings;
  }

  void checkMapping() {
    std::vector<Eigen::Index> rows, telling;
    for (const Row& row : joints_) rows.push_back(row.coordinate);
    const MotionData data =
        everyNth(data_, std::max<Eigen::Index>(1, data_.samples() / kMappingSamples));
    const std::vector<Explained> given =
        explainedTorques(tree_, layout_, frictionless_, data, rows);
    std::vector<Explained> told;
    for (size_t k = 0; k < rows.size(); ++k) {
      if (given[k].friction_leaves < kWorthLooking) continue;
      telling.push_back(rows[k]);
      told.push_back(given[k]);
    }
    // what sensors measure was taken out of the torques along this mapping
    if (!hasSensedWrenches(model_)) {
      const double remains = meanRemainder(told);
      const Better better =
          remains > kWellExplained ? betterMapping(data, telling, kFarBetter * remains) : Better{};
      if (!better.sentence.empty()) {
        add(better.another_body ? Severity::kWarning : Severity::kError, "",
            "the description explains the torques far better " + better.sentence +
                (better.another_body ? " (a tool or load that the description lacks, or that hangs "
                                       "to another side, would look the same)"
                                     : ""));
        if (!better.another_body) return;
      }
      if (findMounting(data)) return;
    }
    for (size_t k = 0; k < given.size(); ++k) checkExplained(joints_[k], given[k]);
  }

  /// A mapping with which the description explains more.
  struct Better {
    std::string sentence;
    bool another_body = false;
  };

  /// Gravity that points another way than the description believes, where no robot explains the
  /// torques as they were read, however rough the description is.
  bool findMounting(const MotionData& data) {
    const std::vector<Vector3d> directions = otherMountings();
    if (directions.empty()) return false;
    const auto layout = std::make_shared<const ParameterLayout>(layout_);
    const double given = leftByAnyRobot(tree_, layout, data);
    if (given < kNoRobot) return false;
    const auto leftWith = [&](const Vector3d& direction) {
      return leftByAnyRobot(*treeWith(model_.gravity.norm() * direction), layout, data);
    };
    Vector3d best = model_.gravity.normalized();
    double least = given;
    const auto tryDirection = [&](const Vector3d& direction) {
      const double left = leftWith(direction);
      if (left >= least) return false;
      least = left;
      best = direction;
      return true;
    };
    for (const Vector3d& direction : directions) tryDirection(direction);
    for (double tilt = kFirstTilt; tilt > kLastTilt;) {
      const Vector3d from = best;
      bool better = false;
      for (const Vector3d& axis :
           {Vector3d::UnitX().eval(), Vector3d::UnitY().eval(), Vector3d::UnitZ().eval()}) {
        for (const double side : {-1.0, 1.0})
          better = tryDirection((from + side * tilt * axis).normalized()) || better;
      }
      if (!better) tilt *= 0.5;
    }
    if (least > kFoundMounting * given || least > kNoRobot) return false;
    add(Severity::kError, "",
        fmt::format("no robot explains the torques as they were read, but one does {}",
                    mountedAlong(best)));
    return true;
  }

  std::shared_ptr<const Tree> treeWith(const Vector3d& gravity) const {
    Model other = model_;
    other.gravity = gravity;
    return std::make_shared<const Tree>(std::make_shared<const Model>(std::move(other)),
                                        tree_.baseLink(), false, tree_.mounting());
  }

  static std::string mountedAlong(const Vector3d& direction) {
    return fmt::format(
        "if gravity pointed along ({:.2g}, {:.2g}, {:.2g}) of the world, as on a wall, a ceiling "
        "or a tilted mount: declare how the robot is mounted, 'base: {{rpy: [...]}}', or 'gravity'",
        direction[0], direction[1], direction[2]);
  }

  /// The mapping that leaves least of the torques of those rows, if that is less than `least`.
  Better betterMapping(const MotionData& data, const std::vector<Eigen::Index>& rows,
                       double least) const {
    Better best;
    for (const Mapping& mapping : otherMappings(data)) {
      const double remains =
          meanRemainder(explainedTorques(tree_, layout_, frictionless_, mapping.data, rows));
      if (remains >= least) continue;
      least = remains;
      best = {mapping.sentence, mapping.another_body};
    }
    const auto remainderWith = [&](const Vector3d& gravity) {
      return meanRemainder(
          explainedTorques(*treeWith(gravity), layout_, frictionless_, data, rows));
    };
    double least_mounted = kMounted * least;
    for (const Vector3d& direction : otherMountings()) {
      const Vector3d gravity = model_.gravity.norm() * direction;
      const double remains = remainderWith(gravity);
      if (remains >= least_mounted) continue;
      least_mounted = remains;
      least = remains;
      best = {mountedAlong(direction)};
    }
    if (remainderWith(Vector3d::Zero()) < least)
      best = {
          "without gravity: if the drive reports torques less those of gravity, declare 'gravity: "
          "[0, 0, 0]'"};
    return best;
  }

  /// Directions of gravity half a right angle apart, but for the one declared.
  std::vector<Vector3d> otherMountings() const {
    std::vector<Vector3d> directions;
    if (!(model_.gravity.norm() > 0.0) || tree_.floating()) return directions;
    for (const double x : {0.0, 1.0, -1.0}) {
      for (const double y : {0.0, 1.0, -1.0}) {
        for (const double z : {0.0, 1.0, -1.0}) {
          const Vector3d direction = Vector3d(x, y, z).normalized();
          const bool one_or_two = x * x + y * y + z * z < 2.5 && x * x + y * y + z * z > 0.5;
          if (one_or_two && direction.dot(model_.gravity.normalized()) < 0.99)
            directions.push_back(direction);
        }
      }
    }
    return directions;
  }

  void checkExplained(const Row& row, const Explained& explained) {
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
    if (little || (describesFriction(row.joint) && leftAsGiven(row.coordinate) > kSaysLittle))
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

  /// Share of the torque's squares that the whole description leaves.
  double leftAsGiven(Eigen::Index i) const {
    double left = 0.0, all = 0.0;
    for (Eigen::Index k = 0; k < data_.samples(); ++k) {
      if (!data_.use(k, i)) continue;
      const double difference = data_.tau(k, i) - predicted_(k, i);
      left += difference * difference;
      all += data_.tau(k, i) * data_.tau(k, i);
    }
    return all > 0.0 ? left / all : 0.0;
  }

  const Tree& tree_;
  const ParameterLayout& layout_;
  const Eigen::VectorXd& believed_;
  Eigen::VectorXd frictionless_;  // what is believed, but for friction
  const Model& model_;
  const MotionData& data_;
  Eigen::MatrixXd predicted_;
  std::vector<Row> joints_;
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
  const Eigen::VectorXd noise = weightedLeastSquares(problem, {}).sigma;
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
