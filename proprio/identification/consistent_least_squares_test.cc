#include "proprio/identification/consistent_least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/prior.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/spatial/inertia_metric.h"

namespace proprio {
namespace {

using testing::KnownProblem;
using testing::knownProblem;
using testing::KnownProblemOptions;
using testing::treeOf;

MethodOptions withoutPrior() {
  MethodOptions options;
  options.prior.kind = PriorKind::kNone;
  return options;
}

/// Weighted squared residual of base parameters.
double misfit(const IdentificationProblem& problem, const Estimate& estimate,
              const Eigen::VectorXd& sigma) {
  return squaredResiduals(problem.stacked, estimate.beta).cwiseQuotient(sigma.cwiseAbs2()).sum();
}

/// Claim: without noise and prior, consistent methods find the base parameters to 1e-6, also from a
/// CAD model that is 30 % wrong (so that constraints are active on the way).
TEST(ConsistentLeastSquares, IsExactWithoutNoise) {
  for (const char* robot : {"planar_2r", "tx40", "tx40_coupled", "rv2sq", "iiwa14"}) {
    for (const double difference : {0.3, 1.0}) {
      const KnownProblem known = knownProblem(treeOf(robot), {.difference = difference});
      for (const char* name : {"pc-ols", "pc-wls"}) {
        const Estimate estimate = identify(name, known.problem, withoutPrior());
        EXPECT_LT((estimate.beta - known.truth_beta).cwiseAbs().maxCoeff(),
                  1e-6 * known.truth_beta.cwiseAbs().maxCoeff())
            << robot << " " << name << " " << difference << " iterations " << estimate.iterations
            << " gap " << estimate.gap << " active " << estimate.active_links.size();
        EXPECT_GT(testing::smallestMargin(known.problem, estimate.chi), 0.0) << robot;
      }
    }
  }
}

/// Claim: so do the other exact methods, with budgets large enough for those that descend.
TEST(ConsistentLeastSquares, OthersAreExactWithoutNoise) {
  for (const char* robot : {"planar_2r", "tx40"}) {
    const KnownProblem known = knownProblem(treeOf(robot), {.samples = 300, .difference = 0.3});
    for (const char* name : {"pc-irls", "projection", "pc-sqp", "log-cholesky", "manifold"}) {
      MethodOptions options = withoutPrior();
      options.max_iterations = 500;
      const Estimate estimate = identify(name, known.problem, options);
      EXPECT_LT((estimate.beta - known.truth_beta).cwiseAbs().maxCoeff(),
                1e-6 * known.truth_beta.cwiseAbs().maxCoeff())
          << robot << " " << name << " iterations " << estimate.iterations;
      EXPECT_GT(testing::smallestMargin(known.problem, estimate.chi), 0.0) << robot << " " << name;
    }
  }
}

/// Claim: where the weighted least-squares solution is possible, the consistent one without prior
/// is the same.
TEST(ConsistentLeastSquares, IsWeightedLeastSquaresWhereThatIsPossible) {
  const KnownProblem known = knownProblem(treeOf("planar_2r"), {.noise = 0.01, .difference = 0.05});
  const Estimate unconstrained = identify("wls", known.problem);
  const Estimate consistent = identify("pc-wls", known.problem, withoutPrior());
  EXPECT_LT((consistent.beta - unconstrained.beta).norm(), 1e-9 * unconstrained.beta.norm());
  EXPECT_EQ(consistent.iterations, 1);
  EXPECT_TRUE(consistent.active_links.empty());
}

/// Claim: with noise the solution is an optimum: the gap certifies it, no mixture with another
/// possible robot has a smaller objective, and some links touch the boundary.
TEST(ConsistentLeastSquares, NoPossibleRobotIsBetter) {
  const auto tree = treeOf("tx40");
  const KnownProblem known =
      knownProblem(tree, {.samples = 300, .noise = 3.0, .difference = 0.5, .seed = 4});
  for (const PriorKind kind : {PriorKind::kPullback, PriorKind::kEntropic, PriorKind::kEuclidean}) {
    MethodOptions options;
    options.prior.kind = kind;
    options.prior.doubting = false;
    const Estimate estimate = identify("pc-wls", known.problem, options);
    EXPECT_TRUE(estimate.converged);
    EXPECT_LT(estimate.gap, 1e-8) << toString(kind);
    const TriangularSystem system = weightedSystem(known.problem.stacked, estimate.sigma);
    const auto objective = [&](const Eigen::VectorXd& chi) {
      const Eigen::VectorXd beta = baseMatrix(known.problem.base) * chi;
      double value = 0.5 * (system.A * beta - system.b).squaredNorm();
      const Eigen::VectorXd change = chi - known.problem.prior;
      for (Eigen::Index i = 10; i < known.problem.layout->inertialSize(); i += 10) {
        const auto body = InertialParameters::fromVector(chi.segment<10>(i));
        const auto prior = InertialParameters::fromVector(known.problem.prior.segment<10>(i));
        const Vector10d difference = change.segment<10>(i);
        if (kind == PriorKind::kEuclidean) value += 0.5 * difference.squaredNorm();
        if (kind == PriorKind::kPullback)
          value += 0.5 * difference.dot(pullbackMetric(prior) * difference);
        if (kind == PriorKind::kEntropic) value += inertiaDivergence(body, prior);
        if (kind != PriorKind::kEuclidean)
          value += 0.5 * std::pow(difference[0] / (options.prior.mass_trust * prior.mass), 2);
      }
      for (Eigen::Index i = known.problem.layout->inertialSize(); i < chi.size(); ++i) {
        value += 0.5 * std::pow(change[i] / std::max(std::abs(known.problem.prior[i]), 0.1), 2);
      }
      return value;
    };
    const double best = objective(estimate.chi);
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Eigen::VectorXd other =
          testing::anotherRobot(*tree, *known.problem.layout, known.problem.prior, 0.5, seed);
      for (const double step : {1e-3, 1e-2, 1.0}) {
        EXPECT_GE(objective((1.0 - step) * estimate.chi + step * other), best * (1.0 - 1e-9))
            << toString(kind) << " " << step;
      }
    }
  }
}

/// Claim: projecting in two steps never fits the data better than solving at once.
TEST(ConsistentLeastSquares, ProjectionIsNeverBetter) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const KnownProblem known = knownProblem(
        treeOf("rv2sq"), {.samples = 200, .noise = 2.0, .difference = 0.5, .seed = seed});
    MethodOptions options;
    options.prior.weight = 1e-6;
    const Estimate at_once = identify("pc-wls", known.problem, options);
    const Estimate projected = identify("projection", known.problem, options);
    EXPECT_GE(misfit(known.problem, projected, at_once.sigma),
              misfit(known.problem, at_once, at_once.sigma) * (1.0 - 1e-9));
    EXPECT_GT(testing::smallestMargin(known.problem, projected.chi), 0.0);
  }
}

/// Claim: geometric priors do not depend on units: with masses in grams the same robot comes out,
/// which a Euclidean prior does not give.
TEST(ConsistentLeastSquares, GeometricPriorsDoNotDependOnUnits) {
  KnownProblem known =
      knownProblem(treeOf("planar_2r"), {.samples = 30, .noise = 1.0, .difference = 0.5});
  const int inertial = known.problem.layout->inertialSize();
  known.problem.prior.tail(known.problem.prior.size() - inertial).setOnes();
  KnownProblem scaled = known;
  constexpr double kFactor = 1000.0;
  scaled.problem.prior *= kFactor;
  scaled.problem.data[0].tau *= kFactor;
  scaled.problem.stacked = stack(*scaled.problem.tree, scaled.problem.layout,
                                 scaled.problem.base.independent, scaled.problem.data);
  for (const PriorKind kind : {PriorKind::kPullback, PriorKind::kEntropic, PriorKind::kEuclidean}) {
    MethodOptions options;
    options.prior.kind = kind;
    const Eigen::VectorXd a = identify("pc-wls", known.problem, options).chi.head(inertial);
    const Eigen::VectorXd b = identify("pc-wls", scaled.problem, options).chi.head(inertial);
    const double difference = (b / kFactor - a).norm() / a.norm();
    if (kind == PriorKind::kEuclidean) {
      EXPECT_GT(difference, 1e-2);
    } else {
      EXPECT_LT(difference, 1e-5) << toString(kind);  // root of the solver's gap
    }
  }
}

/// Claim: one per cent of gross errors moves the robust estimate by less than a tenth of what it
/// moves the plain one.
TEST(ConsistentLeastSquares, RobustWeightsSurviveGrossErrors) {
  KnownProblem known = knownProblem(treeOf("planar_2r"), {.samples = 2000, .noise = 0.1});
  MotionData& data = known.problem.data[0];
  for (Eigen::Index i = 0; i < data.samples(); i += 100) data.tau.row(i).array() += 300.0;
  known.problem.stacked = stack(*known.problem.tree, known.problem.layout,
                                known.problem.base.independent, known.problem.data);
  const Estimate plain = identify("pc-wls", known.problem);
  const Estimate robust = identify("pc-irls", known.problem);
  EXPECT_TRUE(robust.converged);
  EXPECT_LT((robust.beta - known.truth_beta).norm(), 0.1 * (plain.beta - known.truth_beta).norm());
  EXPECT_GT(testing::smallestMargin(known.problem, robust.chi), 0.0);
}

/// Claim: a link that is ten times as heavy as described (a load that nobody declared) is estimated
/// without the pull of its description: every base parameter within five of its standard deviations
/// (4.5 for the largest of 52, and a little for what is left of the pull), and the link is named;
/// where the description is right nothing is doubted.
TEST(ConsistentLeastSquares, DoubtsADescriptionThatDataContradict) {
  KnownProblem known = knownProblem(treeOf("tx40"), {.samples = 2000, .noise = 0.2});
  EXPECT_TRUE(identify("pc-wls", known.problem).notes.empty());
  known.problem.prior.segment<10>(known.problem.layout->linkOffset(4)) *= 0.1;
  for (const char* method : {"pc-wls", "pc-sqp"}) {
    const Estimate estimate = identify(method, known.problem);
    const Eigen::ArrayXd z =
        (estimate.beta - known.truth_beta).array() / estimate.covariance.diagonal().array().sqrt();
    EXPECT_LT(z.abs().maxCoeff(), 5.0) << method;
    std::string told;
    for (const std::string& note : estimate.notes) told += note;
    EXPECT_NE(told.find("'link_4'"), std::string::npos) << method << ": " << told;
  }
}

/// Claim: the automatic weight trusts a right prior and distrusts a wrong one; every method uses it
/// and says so.
TEST(ConsistentLeastSquares, AutomaticWeight) {
  const auto tree = treeOf("tx40");
  KnownProblem right = knownProblem(tree, {.samples = 40, .noise = 2.0, .difference = 0.0});
  KnownProblem wrong = knownProblem(tree, {.samples = 2000, .noise = 0.5, .difference = 1.0});
  const MethodOptions options;
  EXPECT_GE(automaticPriorWeight(right.problem, consistentNoise(right.problem), options), 1.0);
  EXPECT_LE(automaticPriorWeight(wrong.problem, consistentNoise(wrong.problem), options), 1.0);
  MethodOptions automatic;
  automatic.prior.automatic = true;
  const KnownProblem small = knownProblem(treeOf("planar_2r"), {.samples = 40, .noise = 2.0});
  for (const Method& each : methods()) {
    if (!each.consistent || each.simulates) continue;
    const Estimate estimate = identify(each.name, small.problem, automatic);
    EXPECT_TRUE(std::any_of(estimate.notes.begin(), estimate.notes.end(),
                            [](const std::string& note) {
                              return note.find("weight of the prior") != std::string::npos;
                            }))
        << each.name;
  }
}

/// Claim: what the data do not decide is named, and the intervals of the prior remain there.
TEST(ConsistentLeastSquares, SaysWhatThePriorDecided) {
  const auto tree = treeOf("tx40");
  const KnownProblem rich = knownProblem(tree, {.samples = 2000, .noise = 1e-3});
  const KnownProblem poor = knownProblem(tree, {.samples = 20, .noise = 0.1, .motion = 0.05});
  EXPECT_TRUE(identify("pc-wls", rich.problem).undecided.empty());
  const Estimate estimate = identify("pc-wls", poor.problem);
  EXPECT_GT(estimate.undecided.size(), 10U);
  EXPECT_TRUE(estimate.covariance.allFinite());
  const std::set<std::string> different(estimate.undecided.begin(), estimate.undecided.end());
  EXPECT_EQ(different.size(), estimate.undecided.size());  // each in words of its own
  const std::vector<ParameterOrigin> origins = parameterOrigins(poor.problem, estimate);
  EXPECT_GT(std::count(origins.begin(), origins.end(), ParameterOrigin::kPrior), 10);
}

/// Claim: a base parameter that the data know little better than the prior is the prior's as long
/// as its value is, and the data's where it is farther from it than the prior believes possible.
TEST(ConsistentLeastSquares, ValuesFarFromThePriorAreNotThePriors) {
  const auto tree = treeOf("tx40");
  const KnownProblem known = knownProblem(tree, {.samples = 200, .noise = 0.1});
  const IdentificationProblem& problem = known.problem;
  const Eigen::MatrixXd B = baseMatrix(problem.base);
  const PriorMetric metric = priorMetric(*problem.layout, problem.prior, problem.sizes);
  const Eigen::VectorXd variance = (B * solveMetric(metric, B.transpose())).diagonal();
  Estimate estimate;
  estimate.beta = B * problem.prior;
  estimate.covariance = 0.5 * Eigen::MatrixXd(variance.asDiagonal());
  for (const ParameterOrigin origin : parameterOrigins(problem, estimate))
    EXPECT_EQ(origin, ParameterOrigin::kPrior);
  const Eigen::Index moved = estimate.beta.size() - 1;
  estimate.beta[moved] += 2.0 * std::sqrt(variance[moved]);
  EXPECT_NE(
      parameterOrigins(
          problem,
          estimate)[static_cast<size_t>(problem.base.independent[static_cast<size_t>(moved)])],
      ParameterOrigin::kPrior);
}

/// Claim: viscous friction that the data want to be negative is zero, not 1e-14, is said to be at
/// its bound, and base and standard parameters still agree.
TEST(ConsistentLeastSquares, BoundsAreReachedExactly) {
  const auto tree = treeOf("tx40");
  KnownProblem known = knownProblem(tree, {.samples = 500, .noise = 0.1});
  IdentificationProblem& problem = known.problem;
  const int viscous = problem.layout->index("joint_1.viscous");
  ASSERT_GE(viscous, 0);
  problem.data[0].tau.col(0) -= (problem.prior[viscous] + 5.0) * problem.data[0].v.col(0);
  problem.stacked = stack(*tree, problem.layout, problem.base.independent, problem.data);
  const Estimate estimate = identify("pc-wls", problem);
  EXPECT_EQ(estimate.chi[viscous], 0.0);
  EXPECT_NE(std::find(estimate.at_zero.begin(), estimate.at_zero.end(), viscous),
            estimate.at_zero.end());
  EXPECT_LT((baseMatrix(problem.base) * estimate.chi - estimate.beta).cwiseAbs().maxCoeff(),
            1e-9 * estimate.beta.cwiseAbs().maxCoeff());
}

/// The iiwa's published base parameters, in the order and with the names of the twin's.
Eigen::VectorXd publishedIiwa(const IdentificationProblem& problem) {
  std::map<std::string, double> values = {
      {"ZZ1", .0643},  {"XX2", 2.2711}, {"ZZ2", 2.3975}, {"MY2", -5.9099}, {"XX3", .0070},
      {"ZZ3", .0070},  {"MY3", -.0359}, {"XX4", .8110},  {"ZZ4", .8213},   {"MY4", 2.3750},
      {"XX5", .0094},  {"ZZ5", .0145},  {"MY5", -.0762}, {"XX6", .0145},   {"ZZ6", .0175},
      {"MY6", -.1166}, {"XX7", .0010},  {"MY7", .0008},  {"ZZ7", .0013}};
  const double direct[6][4] = {{-.0079, .0081, .0485, .0072},  {.0062, .0087, 0.0, .0142},
                               {-.0020, -.0026, .0039, .0012}, {-.0009, .0043, -.0045, .0004},
                               {.0016, -.0011, .0001, -.0008}, {0.0, -.0007, -.0002, -.0032}};
  for (int link = 2; link <= 7; ++link) {
    const char* names[] = {"XY", "XZ", "YZ", "MX"};
    for (int k = 0; k < 4; ++k) values[names[k] + std::to_string(link)] = direct[link - 2][k];
  }
  Eigen::VectorXd beta(problem.base.count());
  for (int i = 0; i < problem.base.count(); ++i)
    beta[i] = values.at(
        problem.labels[static_cast<size_t>(problem.base.independent[static_cast<size_t>(i)])]);
  return beta;
}

/// Claim: the published base parameters of the iiwa belong to no possible robot, because of
/// link 3, and are as far from one as another solver says; those of a possible robot do.
TEST(ConsistentLeastSquares, FeasibilityOfBaseParameters) {
  Model model = treeOf("iiwa14")->model();
  for (Joint& joint : model.joints) joint.friction.terms.clear();
  const auto tree = std::make_shared<const Tree>(std::make_shared<const Model>(finalize(model)));
  const KnownProblem known = knownProblem(tree, {.samples = 100});
  ASSERT_EQ(known.problem.base.count(), 43);
  const Eigen::MatrixXd W = Eigen::MatrixXd::Identity(43, 43);
  const BaseFeasibility published = baseFeasibility(known.problem, publishedIiwa(known.problem), W);
  EXPECT_FALSE(published.possible);
  // Clarabel through cvxpy 1.9.3: min |base(chi) - target| over positive semidefinite bodies, the
  // problem of examples/robots/generate/iiwa14.py without bounds; the infimum is at infinite masses
  constexpr double kReference = 0.006038;
  EXPECT_GT(published.distance, 0.999 * kReference);
  EXPECT_LT(published.distance, 1.02 * kReference);
  EXPECT_NE(std::find(published.links.begin(), published.links.end(),
                      requireLink(tree->model(), "link_3")),
            published.links.end());
  const BaseFeasibility true_one = baseFeasibility(known.problem, known.truth_beta, W);
  EXPECT_TRUE(true_one.possible) << true_one.distance;
  EXPECT_THROW(baseFeasibility(known.problem, Eigen::VectorXd::Zero(3), W), Error);
}

/// Claim: nonsense is refused with a sentence.
TEST(ConsistentLeastSquares, RefusesNonsense) {
  const KnownProblem known = knownProblem(treeOf("planar_2r"), {.samples = 50});
  MethodOptions options;
  options.prior.weight = -1.0;
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
  options = {};
  options.constraints.margin = 2.0;
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
  options = {};
  options.constraints.frozen = {"no_such_link"};
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
  options = {};
  options.constraints.total_mass_lower = 5.0;
  options.constraints.total_mass_upper = 4.0;
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
  options = {};
  options.constraints.total_mass_upper = 1e-9;  // less than what the margin leaves
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
}

}  // namespace
}  // namespace proprio
