#include "proprio/identification/wrong_mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "proprio/identification/least_squares.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Fewer rows do not tell anything.
constexpr Eigen::Index kRowsThatTell = 30;
/// Another mapping is believed if it leaves less than this share of what the given one leaves.
constexpr double kFarBetter = 0.5;
/// Another mounting, of which there are many, if it leaves less than this share of that.
constexpr double kMounted = 0.5;
/// A description that leaves less than this share is read rightly.
constexpr double kWellExplained = 0.05;
/// Torques of which friction leaves less than this share tell nothing about mappings.
constexpr double kWorthLooking = 0.005;
/// Share of the rows in either direction that it takes to tell friction.
constexpr double kBothWays = 0.1;
/// Samples that are looked at where robots are fitted, of which there are many.
constexpr Eigen::Index kFittedSamples = 300;
/// Of the torques' squares: a robot that leaves less is one, and what no robot leaves is looked at.
constexpr double kNoRobot = 0.05;
/// Another mapping of which the description knows nothing, if it leaves less than this share.
constexpr double kFoundMapping = 0.25;
/// Of the torques' squares: where the best robot leaves less, joints are in order.
constexpr double kFitsWell = 0.01;
/// Smallest pivot, relative to the largest, of parameters that are told apart.
constexpr double kToldApart = 1e-8;
/// An exchange helps if it leaves less than this share; of limbs that are built alike, which only
/// rough descriptions tell apart, a later one must leave clearly less than an earlier one.
constexpr double kHelps = 0.9, kHelpsMore = 0.7;
/// Steps (rad) by which a direction of gravity is made better.
constexpr double kFirstTilt = 0.4, kLastTilt = 0.02;

ExplainedTorque explainedBy(const MotionData& data, const Eigen::VectorXd& predicted,
                            Eigen::Index i) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index k = 0; k < data.samples(); ++k) {
    if (data.use(k, i)) rows.push_back(k);
  }
  ExplainedTorque out;
  if (static_cast<Eigen::Index>(rows.size()) < kRowsThatTell) return out;
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
  const Eigen::VectorXd fit = leastSquares(X, y);
  const Eigen::VectorXd friction = X.leftCols(2) * fit.topRows(2);
  if (both && friction.dot(X.col(0)) < 0.0)
    out.driven = (leftBeside(X.rightCols(3)).squaredNorm() - with.squaredNorm()) / y.squaredNorm();
  // a prediction that would have to be turned round explains nothing
  if (without.dot(X.col(4)) > 0.0) out.remains = with.squaredNorm() / without.squaredNorm();
  out.gain = fit[4];
  return out;
}

double meanRemainder(const std::vector<ExplainedTorque>& joints) {
  double sum = 0.0;
  for (const ExplainedTorque& joint : joints) sum += joint.remains;
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

/// Joints that stand for each other: one pair, or those of two limbs in order.
using Exchange = std::vector<std::pair<int, int>>;

class MappingSearch {
 public:
  MappingSearch(const Tree& tree, const ParameterLayout& layout, const Eigen::VectorXd& chi,
                const MotionData& data, const std::vector<MeasuredJoint>& joints)
      : tree_(tree),
        layout_(layout),
        believed_(chi),
        chi_(chi),
        model_(tree.model()),
        data_(data),
        joints_(joints) {
    for (int k = 0; k < layout.size(); ++k) {
      if (layout[k].kind == ParameterKind::kFriction) chi_[k] = 0.0;
    }
    std::vector<Eigen::Index> all;
    for (const MeasuredJoint& joint : joints) all.push_back(joint.coordinate);
    const std::vector<ExplainedTorque> given = explainTorques(tree, layout, chi_, data, all);
    std::vector<ExplainedTorque> told;
    for (size_t k = 0; k < all.size(); ++k) {
      if (given[k].friction_leaves < kWorthLooking) continue;
      rows_.push_back(all[k]);
      told.push_back(given[k]);
    }
    given_ = meanRemainder(told);
  }

  WrongMapping run() const {
    WrongMapping found;
    if (given_ > kWellExplained) found = betterMapping(kFarBetter * given_);
    if (!found.sentence.empty())
      found.sentence =
          "the description explains the torques far better " + found.sentence +
          (found.another_body ? " (a tool or load that the description lacks, or that hangs to "
                                "another side, would look the same)"
                              : "");
    if (!found.sentence.empty() && !found.another_body) return found;
    std::string other = betterAsDeclared();
    if (other.empty()) other = betterFit();
    return other.empty() ? found : WrongMapping{other};
  }

 private:
  double remainder(const MotionData& data, const std::vector<Eigen::Index>& rows) const {
    return meanRemainder(explainTorques(tree_, layout_, chi_, data, rows));
  }

  const std::string& name(int joint) const {
    return model_.joints[static_cast<size_t>(joint)].name;
  }

  /// A joint beyond which nothing else moves: to shift its zero is to turn the body there.
  bool isLast(int joint) const {
    const auto& bodies = tree_.bodies();
    for (size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].v == tree_.fullVelocityIndex(joint))
        return bodies[b].subtree_end == static_cast<int>(b) + 1;
    }
    return false;
  }

  MotionData turned(const MeasuredJoint& row) const {
    MotionData data = data_;
    data.q.col(tree_.positionIndex(row.joint)) *= -1.0;
    for (Eigen::MatrixXd* signal : {&data.v, &data.a, &data.tau})
      signal->col(row.coordinate) *= -1.0;
    if (data.sign.cols() > 0) data.sign.col(row.coordinate) *= -1.0;
    return data;
  }

  /// The mapping that leaves least of the torques, if that is less than `least`. A simple one that
  /// explains them is not refined by others.
  WrongMapping betterMapping(double least) const {
    WrongMapping best;
    const auto consider = [&](const MotionData& data, WrongMapping mapping) {
      const double remains = remainder(data, rows_);
      if (remains >= least) return;
      least = remains;
      best = std::move(mapping);
    };
    MotionData opposite = data_;
    opposite.tau *= -1.0;
    consider(opposite, {"if all of them had the other sign: check the sign of torques ('scale: "
                        "-1'), or that of positions",
                        false, true});
    if (best.all_signs) return best;
    for (const MeasuredJoint& row : joints_) {
      consider(turned(row), {fmt::format("if joint '{}' turned the other way: check the sign of "
                                         "its position and torque",
                                         name(row.joint))});
      if (model_.joints[static_cast<size_t>(row.joint)].type == JointType::kPrismatic) continue;
      for (const double degrees : {90.0, -90.0, 180.0}) {
        MotionData shifted = data_;
        shifted.q.col(tree_.positionIndex(row.joint)).array() += degrees * M_PI / 180.0;
        consider(shifted, {fmt::format("if the zero of joint '{}' were {:g} degrees away: check "
                                       "the offset of its position",
                                       name(row.joint), degrees),
                           isLast(row.joint)});
      }
    }
    if (const auto exchanged = betterOrder(&least)) best = {*exchanged};
    if (const auto mounted = betterMounting(&least)) best = {*mounted};
    return best;
  }

  // ---- exchanged joints ----

  /// Joints of the subtree that begins with a body, in the tree's order.
  std::vector<int> limb(int body) const {
    std::vector<int> joints;
    for (int b = body; b < tree_.bodies()[static_cast<size_t>(body)].subtree_end; ++b) {
      for (const MeasuredJoint& row : joints_) {
        if (tree_.fullVelocityIndex(row.joint) == tree_.bodies()[static_cast<size_t>(b)].v)
          joints.push_back(row.joint);
      }
    }
    return joints;
  }

  bool alike(int joint, int other) const {
    return (model_.joints[static_cast<size_t>(joint)].type == JointType::kPrismatic) ==
           (model_.joints[static_cast<size_t>(other)].type == JointType::kPrismatic);
  }

  /// Whole limbs of one parent and the same structure, and single joints.
  std::vector<Exchange> exchanges() const {
    std::vector<Exchange> found;
    const auto& bodies = tree_.bodies();
    for (int a = 0; a < static_cast<int>(bodies.size()); ++a) {
      for (int b = a + 1; b < static_cast<int>(bodies.size()); ++b) {
        if (bodies[static_cast<size_t>(a)].parent != bodies[static_cast<size_t>(b)].parent)
          continue;
        const std::vector<int> one = limb(a), other = limb(b);
        if (one.size() < 2 || one.size() != other.size() ||
            !std::equal(one.begin(), one.end(), other.begin(),
                        [&](int x, int y) { return alike(x, y); }))
          continue;
        Exchange pairs;
        for (size_t k = 0; k < one.size(); ++k) pairs.emplace_back(one[k], other[k]);
        found.push_back(std::move(pairs));
      }
    }
    for (size_t a = 0; a < joints_.size(); ++a) {
      for (size_t b = a + 1; b < joints_.size(); ++b) {
        if (alike(joints_[a].joint, joints_[b].joint))
          found.push_back({{joints_[a].joint, joints_[b].joint}});
      }
    }
    return found;
  }

  MotionData exchanged(MotionData data, const Exchange& pairs) const {
    for (const auto& [joint, other] : pairs) data = withExchanged(tree_, data, joint, other);
    return data;
  }

  /// Do positions stay within limits, as far as they did before?
  bool keepsLimits(const Exchange& pairs) const {
    const auto beyond = [&](int joint, int recorded) {
      const JointLimits& limits = model_.joints[static_cast<size_t>(joint)].limits;
      const auto q = data_.q.col(tree_.positionIndex(recorded));
      const double range = limits.upper - limits.lower;
      return range > 0.0 &&
             std::max(limits.lower - q.minCoeff(), q.maxCoeff() - limits.upper) > 0.1 * range;
    };
    return std::none_of(pairs.begin(), pairs.end(), [&](const std::pair<int, int>& pair) {
      return beyond(pair.first, pair.second) || beyond(pair.second, pair.first);
    });
  }

  std::string orderSentence(const std::vector<Exchange>& taken) const {
    std::vector<std::string> texts;
    for (const Exchange& pairs : taken) {
      std::vector<std::string> one, other;
      for (const auto& [a, b] : pairs) {
        one.push_back("'" + name(a) + "'");
        other.push_back("'" + name(b) + "'");
      }
      texts.push_back(fmt::format("{} and {}{}", fmt::join(one, " "), fmt::join(other, " "),
                                  pairs.size() > 1 ? " (or limbs built like them)" : ""));
    }
    return fmt::format("if {} were exchanged: check the order of the joints",
                       fmt::join(texts, ", "));
  }

  /// Exchanges that leave less than `least`, taken one after the other while each of them helps; of
  /// those that help as much, as between limbs that are built alike, the first.
  std::optional<std::string> betterOrder(double* least) const {
    const std::vector<Exchange> candidates = exchanges();
    std::vector<Exchange> taken;
    MotionData data = data_;
    double left = given_;
    while (taken.size() < joints_.size()) {
      const Exchange* best = nullptr;
      double best_left = left;
      for (const Exchange& candidate : candidates) {
        if (!keepsLimits(candidate)) continue;
        const double remains = remainder(exchanged(data, candidate), rows_);
        const double needed = best == nullptr ? kHelps : candidate.size() > 1 ? kHelpsMore : 1.0;
        if (remains >= needed * best_left) continue;
        best_left = remains;
        best = &candidate;
      }
      if (best == nullptr) break;
      data = exchanged(data, *best);
      left = best_left;
      taken.push_back(*best);
    }
    if (taken.empty() || left >= *least) return std::nullopt;
    *least = left;
    return orderSentence(taken);
  }

  /// Mean share of the squares of these joints' torques that the whole description leaves.
  double leftAsDeclared(const MotionData& data, const std::pair<int, int>& pair) const {
    const Eigen::MatrixXd predicted = predictTorques(tree_, layout_, believed_, data);
    return 0.5 * (shareLeft(data, predicted, tree_.velocityIndex(pair.first)) +
                  shareLeft(data, predicted, tree_.velocityIndex(pair.second)));
  }

  /// Two joints of which the whole description explains little as they were read, and nearly all if
  /// they are exchanged.
  std::string betterAsDeclared() const {
    for (const Exchange& candidate : exchanges()) {
      if (candidate.size() > 1 || !keepsLimits(candidate)) continue;
      const double given = leftAsDeclared(data_, candidate[0]);
      if (given < kWellExplained) continue;
      const double left = leftAsDeclared(exchanged(data_, candidate), candidate[0]);
      if (left < std::min(kWellExplained, kFoundMapping * given))
        return "the description explains the torques far better " + orderSentence({candidate});
    }
    return "";
  }

  // ---- mounting ----

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

  /// The direction of gravity of which least is left, and how much, if that is less than `least`:
  /// the best of those half a right angle apart, made better by smaller and smaller tilts.
  template <class Left>
  std::optional<std::pair<Vector3d, double>> bestDirection(const Left& left, double least) const {
    std::optional<Vector3d> best;
    const auto tryDirection = [&](const Vector3d& direction) {
      const double remains = left(model_.gravity.norm() * direction);
      if (remains >= least) return false;
      least = remains;
      best = direction;
      return true;
    };
    for (const Vector3d& direction : otherMountings()) tryDirection(direction);
    if (!best) return std::nullopt;
    for (double tilt = kFirstTilt; tilt > kLastTilt;) {
      const Vector3d from = *best;
      bool better = false;
      for (const Vector3d& axis :
           {Vector3d::UnitX().eval(), Vector3d::UnitY().eval(), Vector3d::UnitZ().eval()}) {
        for (const double side : {-1.0, 1.0})
          better = tryDirection((from + side * tilt * axis).normalized()) || better;
      }
      if (!better) tilt *= 0.5;
    }
    return std::make_pair(*best, least);
  }

  std::optional<std::string> betterMounting(double* least) const {
    std::optional<std::string> best;
    const auto remainderWith = [&](const Vector3d& gravity) {
      return meanRemainder(explainTorques(*treeWith(gravity), layout_, chi_, data_, rows_));
    };
    const auto found = bestDirection(remainderWith, given_);
    if (found && found->second < kMounted * *least) {
      *least = found->second;
      best = mountedAlong(found->first);
    }
    if (remainderWith(Vector3d::Zero()) < *least)
      best =
          "without gravity: if the drive reports torques less those of gravity, declare 'gravity: "
          "[0, 0, 0]'";
    return best;
  }

  // ---- where the description is too rough to tell ----

  /// Exchanged joints, or another mounting, with which some robot explains the torques far better
  /// than any does as they were read.
  std::string betterFit() const {
    const auto layout = std::make_shared<const ParameterLayout>(layout_);
    const MotionData data =
        everyNth(data_, std::max<Eigen::Index>(1, data_.samples() / kFittedSamples));
    const double given = leftByAnyRobot(tree_, layout, data);
    if (given < kFitsWell) return "";
    const Exchange* best = nullptr;
    double least = kFoundMapping * given;
    const std::vector<Exchange> candidates = exchanges();
    for (const Exchange& candidate : candidates) {
      if (!keepsLimits(candidate)) continue;
      const double left = leftByAnyRobot(tree_, layout, exchanged(data, candidate));
      if (left >= least) continue;
      least = left;
      best = &candidate;
    }
    if (best != nullptr) return "a robot explains the torques far better " + orderSentence({*best});
    if (given < kNoRobot) return "";
    const auto leftWith = [&](const Vector3d& gravity) {
      return leftByAnyRobot(*treeWith(gravity), layout, data);
    };
    const auto found = bestDirection(leftWith, given);
    if (!found || found->second > std::min(kFoundMapping * given, kNoRobot)) return "";
    return "no robot explains the torques as they were read, but one does " +
           mountedAlong(found->first);
  }

  const Tree& tree_;
  const ParameterLayout& layout_;
  const Eigen::VectorXd& believed_;
  Eigen::VectorXd chi_;  // what is believed, but for friction
  const Model& model_;
  const MotionData& data_;
  const std::vector<MeasuredJoint>& joints_;
  std::vector<Eigen::Index> rows_;  // coordinates whose torques tell something
  double given_ = 0.0;              // mean remainder as it was read
};

}  // namespace

std::vector<ExplainedTorque> explainTorques(const Tree& tree, const ParameterLayout& layout,
                                            const Eigen::VectorXd& chi, const MotionData& data,
                                            const std::vector<Eigen::Index>& coordinates) {
  const Eigen::MatrixXd predicted = predictTorques(tree, layout, chi, data);
  std::vector<ExplainedTorque> out;
  for (const Eigen::Index i : coordinates) out.push_back(explainedBy(data, predicted.col(i), i));
  return out;
}

double shareLeft(const MotionData& data, const Eigen::MatrixXd& predicted,
                 Eigen::Index coordinate) {
  double left = 0.0, all = 0.0;
  for (Eigen::Index k = 0; k < data.samples(); ++k) {
    if (!data.use(k, coordinate)) continue;
    const double torque = data.tau(k, coordinate), difference = torque - predicted(k, coordinate);
    left += difference * difference;
    all += torque * torque;
  }
  return all > 0.0 ? left / all : 0.0;
}

MotionData withExchanged(const Tree& tree, const MotionData& data, int joint, int other) {
  MotionData out = data;
  out.q.col(tree.positionIndex(joint)).swap(out.q.col(tree.positionIndex(other)));
  const int i = tree.velocityIndex(joint), j = tree.velocityIndex(other);
  for (Eigen::MatrixXd* signal : {&out.v, &out.a, &out.tau}) signal->col(i).swap(signal->col(j));
  if (out.sign.cols() > 0) out.sign.col(i).swap(out.sign.col(j));
  out.use.col(i).swap(out.use.col(j));
  return out;
}

WrongMapping findWrongMapping(const Tree& tree, const ParameterLayout& layout,
                              const Eigen::VectorXd& chi, const MotionData& data,
                              const std::vector<MeasuredJoint>& joints) {
  return MappingSearch(tree, layout, chi, data, joints).run();
}

}  // namespace proprio
