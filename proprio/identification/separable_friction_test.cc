#include "proprio/identification/separable_friction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/random.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

/// Two joints with the smooth non-linear friction of Ardiani 2023 eq. 1.15.
struct FrictionTruth {
  double scale[2] = {3.0, 6.5}, exponent[2] = {1.7, 2.3};
  double bend[2] = {1.2, 0.6}, nonlinear[2] = {0.4, 0.3};
};

std::shared_ptr<const Tree> frictionArm(const FrictionTruth& truth) {
  Model model = testing::treeOf("planar_2r")->model();
  int found = 0;
  for (Joint& joint : model.joints) {
    if (joint.velocity_index < 0) continue;
    joint.friction.smooth_sign = SmoothSign::kArctan;
    joint.friction.smooth_gain = 100.0;
    joint.friction.terms = {
        {FrictionTermKind::kCoulomb, "coulomb", 0.8, 1.0, 2.0},
        {FrictionTermKind::kViscous, "viscous", 0.5, 1.0, 2.0},
        {FrictionTermKind::kOffset, "offset", 0.1, 1.0, 2.0},
        {FrictionTermKind::kArctan, "arctan", truth.bend[found], truth.scale[found], 2.0},
        {FrictionTermKind::kPower, "power", truth.nonlinear[found], 1.0, truth.exponent[found]}};
    ++found;
  }
  return std::make_shared<const Tree>(std::make_shared<const Model>(std::move(model)));
}

/// Recordings of the true arm, in a problem whose constants are declared wrongly.
IdentificationProblem wrongProblem(const FrictionTruth& truth, double noise) {
  const auto real = frictionArm(truth);
  MotionData data = testing::smoothData(*real, 1500, 5);
  Eigen::VectorXd numbers(data.samples());
  for (Eigen::Index j = 0; j < 2; ++j) {
    normalNumbers(41, static_cast<std::uint64_t>(j), 0, static_cast<int>(numbers.size()),
                  numbers.data());
    data.tau.col(j) += noise * numbers;
  }
  FrictionTruth declared = truth;
  declared.scale[0] = declared.scale[1] = 1.0;
  declared.exponent[0] = declared.exponent[1] = 2.0;
  return identificationProblem(frictionArm(declared), {data});
}

Eigen::Vector4d trueValues(const FrictionTruth& truth) {
  return {truth.scale[0], truth.exponent[0], truth.scale[1], truth.exponent[1]};
}

Eigen::VectorXd foundValues(const SeparableFriction& found) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(found.constants.size()));
  for (size_t k = 0; k < found.constants.size(); ++k)
    values[static_cast<Eigen::Index>(k)] = found.constants[k].value;
  return values;
}

const Eigen::Vector2d kUnitNoise = Eigen::Vector2d::Ones();

/// Claim: the cost is the least-squares residual of the problem whose model has those constants,
/// by the stacked route, which knows nothing of projections (rounding, 1e-8).
TEST(SeparableFriction, CostIsTheResidualOfTheModelWithTheConstants) {
  const IdentificationProblem problem = wrongProblem({}, 0.05);
  std::vector<FrictionConstant> constants = frictionConstants(problem.tree->model());
  const FrictionCost cost(problem.tree->model(), frictionRows(problem, kUnitNoise, constants),
                          constants);
  const Eigen::Vector4d values(2.0, 1.6, 9.0, 2.6);
  for (size_t k = 0; k < 4; ++k) constants[k].value = values[static_cast<Eigen::Index>(k)];
  const auto tree = std::make_shared<const Tree>(
      std::make_shared<const Model>(withFrictionConstants(problem.tree->model(), constants)));
  const IdentificationProblem other = identificationProblem(tree, problem.data);
  const TriangularSystem system = weightedSystem(other.stacked, kUnitNoise);
  EXPECT_NEAR(cost(values), system.rest * system.rest, 1e-8 * system.b.squaredNorm());
}

/// Claim: constants are told by the keys of robot.yaml.
TEST(SeparableFriction, ConstantsHaveTheirKeys) {
  const IdentificationProblem problem = wrongProblem({}, 0.05);
  const Model& model = problem.tree->model();
  for (const FrictionConstant& constant : frictionConstants(model)) {
    const bool stribeck = frictionTerm(model, constant).kind == FrictionTermKind::kStribeck;
    const std::string key = constant.exponent ? "exponent" : stribeck ? "velocity" : "scale";
    EXPECT_EQ(constantText(model, constant).rfind(key + " of '", 0), 0u);
  }
}

/// Claim: the gradient is that of finite differences (1e-5), at several places.
TEST(SeparableFriction, GradientCheck) {
  const IdentificationProblem problem = wrongProblem({}, 0.05);
  const std::vector<FrictionConstant> constants = frictionConstants(problem.tree->model());
  const FrictionCost cost(problem.tree->model(), frictionRows(problem, kUnitNoise, constants),
                          constants);
  for (const Eigen::Vector4d& values :
       {Eigen::Vector4d(1.0, 2.0, 1.0, 2.0), Eigen::Vector4d(2.5, 1.5, 8.0, 2.8)}) {
    Eigen::VectorXd gradient;
    Eigen::MatrixXd normal;
    cost(values, &gradient, &normal);
    for (Eigen::Index k = 0; k < 4; ++k) {
      const double h = 1e-4;
      Eigen::VectorXd after = values, before = values;
      after[k] += h;
      before[k] -= h;
      const double numeric = (cost(after) - cost(before)) / (2.0 * h);
      EXPECT_NEAR(gradient[k], numeric, 1e-5 * gradient.norm()) << k;
      EXPECT_GT(normal(k, k), 0.0);
    }
  }
}

/// Claim: the same for scale and exponent of Stribeck terms, and both come back (1e-4) from a start
/// at twice the scale, also on a grid of which they are a node.
TEST(SeparableFriction, StribeckTerms) {
  Model model = frictionArm({})->model();
  for (Joint& joint : model.joints) {
    if (joint.velocity_index < 0) continue;
    joint.friction.terms.resize(3);
    joint.friction.terms.push_back({FrictionTermKind::kStribeck, "stribeck", 0.9, 0.3, 1.4});
  }
  const auto real = std::make_shared<const Tree>(std::make_shared<const Model>(model));
  std::vector<FrictionConstant> constants = frictionConstants(model);
  ASSERT_EQ(constants.size(), 4u);
  for (FrictionConstant& c : constants) c.value = c.exponent ? 2.0 : 0.6;
  const auto tree = std::make_shared<const Tree>(
      std::make_shared<const Model>(withFrictionConstants(model, constants)));
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::smoothData(*real, 1500, 5)});
  const FrictionCost cost(tree->model(), frictionRows(problem, kUnitNoise, constants), constants);
  const Eigen::Vector4d values(0.5, 1.8, 0.2, 1.1);
  Eigen::VectorXd gradient;
  cost(values, &gradient);
  for (Eigen::Index k = 0; k < 4; ++k) {
    const Eigen::Vector4d step = 1e-4 * Eigen::Vector4d::Unit(k);
    const double numeric = (cost(values + step) - cost(values - step)) / 2e-4;
    EXPECT_NEAR(gradient[k], numeric, 1e-5 * gradient.norm()) << k;
  }
  const Eigen::VectorXd found = foundValues(separableFriction(problem, kUnitNoise));
  EXPECT_LT((found - Eigen::Vector4d(0.3, 1.4, 0.3, 1.4)).cwiseAbs().maxCoeff(), 1e-4);
  // one node of the grid is the truth, which both joints share
  const SeparableFriction grid = sharedFrictionGrid(problem, kUnitNoise, 0.05, 0.1);
  EXPECT_LT((foundValues(grid) - Eigen::Vector4d(0.3, 1.4, 0.3, 1.4)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(grid.cost, 1e-6 * grid.cost_before);
}

/// Claim: without noise the constants of each joint come back (1e-5) from wrong declared ones.
TEST(SeparableFriction, IsExactWithoutNoise) {
  const FrictionTruth truth;
  const IdentificationProblem problem = wrongProblem(truth, 0.0);
  const SeparableFriction found = separableFriction(problem, kUnitNoise);
  EXPECT_LT((foundValues(found) - trueValues(truth)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT(found.cost, 1e-9 * found.cost_before);
  EXPECT_TRUE(found.notes.empty());
}

/// Claim: with noise the truth is within four of the deviations that are told; the cost is below
/// that of the shared grid, which is below that of the declared constants; the model with the
/// constants found gives wls that cost.
TEST(SeparableFriction, BeatsTheGrid) {
  const FrictionTruth truth;
  const IdentificationProblem problem = wrongProblem(truth, 0.02);
  const SeparableFriction found = separableFriction(problem, kUnitNoise);
  const SeparableFriction grid = sharedFrictionGrid(problem, kUnitNoise, 0.05, 0.05);
  EXPECT_LT(found.cost, grid.cost);
  EXPECT_LT(grid.cost, grid.cost_before);
  EXPECT_EQ(grid.constants[0].value, grid.constants[2].value);
  const Eigen::Vector4d values = trueValues(truth);
  for (size_t k = 0; k < 4; ++k) {
    const FrictionConstant& c = found.constants[k];
    EXPECT_LT(std::abs(c.value - values[static_cast<Eigen::Index>(k)]), 4.0 * c.sigma) << k;
    EXPECT_LT(c.sigma, 0.2 * c.value);
  }
}

/// Claim: the grid finds the node of least cost, as a plain loop over rebuilt models does.
TEST(SeparableFriction, GridReproducesTheCost) {
  const IdentificationProblem problem = wrongProblem({}, 0.02);
  const SeparableFriction grid = sharedFrictionGrid(problem, kUnitNoise, 2.0, 0.5);
  double best = 1e300, best_scale = 0.0, best_exponent = 2.0;
  const auto costOf = [&](double scale, double exponent) {
    std::vector<FrictionConstant> constants = frictionConstants(problem.tree->model());
    for (FrictionConstant& c : constants) c.value = c.exponent ? exponent : scale;
    const auto tree = std::make_shared<const Tree>(
        std::make_shared<const Model>(withFrictionConstants(problem.tree->model(), constants)));
    const TriangularSystem system =
        weightedSystem(identificationProblem(tree, problem.data).stacked, kUnitNoise);
    return system.rest * system.rest;
  };
  for (const double scale : {2.0, 4.0, 6.0, 8.0, 10.0}) {
    if (costOf(scale, 2.0) < best) best = costOf(best_scale = scale, 2.0);
  }
  for (const double exponent : {1.5, 2.0, 2.5}) {
    const double here = costOf(best_scale, exponent);
    if (here > best) continue;
    best = here;
    best_exponent = exponent;
  }
  EXPECT_EQ(grid.constants[0].value, best_scale);
  EXPECT_EQ(grid.constants[1].value, best_exponent);
  EXPECT_NEAR(grid.cost, best, 1e-8 * grid.cost_before);
}

/// Claim: where a term has no part its exponent stays inside the bounds, and is said to be told
/// hardly or to sit on a bound, instead of running to 35.
TEST(SeparableFriction, DegenerateExponentIsNamed) {
  FrictionTruth truth;
  truth.nonlinear[1] = 0.0;
  const IdentificationProblem problem = wrongProblem(truth, 0.05);
  const SeparableFriction found = separableFriction(problem, kUnitNoise);
  EXPECT_LE(found.constants[3].value, 3.0);
  EXPECT_GE(found.constants[3].value, 1.2);
  ASSERT_FALSE(found.notes.empty());
  EXPECT_NE(found.notes.back().find("exponent of 'power'"), std::string::npos)
      << found.notes.back();
}

/// Sweeps of one joint after the other at eight speeds both ways, the other at rest.
MotionData sweepData(const Tree& tree) {
  MotionData data = testing::smoothData(tree, 1600, 5);
  data.v.setZero();
  data.a.setZero();
  for (Eigen::Index i = 0; i < data.samples(); ++i) {
    const Eigen::Index j = i / 800, step = (i % 800) / 50;
    const double speed = 0.05 * std::pow(1.8, static_cast<double>(step / 2));
    data.v(i, j) = step % 2 == 0 ? speed : -speed;
    data.q(i, j) = 0.01 * data.v(i, j) * static_cast<double>(i % 50);
    data.q(i, 1 - j) = 0.3;
  }
  data.tau = predictTorques(tree, ParameterLayout(tree.sharedModel()),
                            testing::declaredValues(tree), data);
  return data;
}

/// Claim: on constant-speed sweeps with known inertial parameters each joint's constants come back
/// (1e-5 without noise), and a wrong torque of one joint does not change the other joint's.
TEST(SeparableFriction, SequentialPathRecoversTheTruth) {
  const FrictionTruth truth;
  const auto real = frictionArm(truth);
  FrictionTruth declared = truth;
  declared.scale[0] = declared.scale[1] = 1.0;
  declared.exponent[0] = declared.exponent[1] = 2.0;
  MotionData data = sweepData(*real);
  IdentificationProblem problem = identificationProblem(frictionArm(declared), {data});
  const Eigen::VectorXd chi = testing::declaredValues(*real);
  const SeparableFriction found = constantSpeedFriction(problem, chi);
  EXPECT_LT((foundValues(found) - trueValues(truth)).cwiseAbs().maxCoeff(), 1e-5);
  problem.data[0].tau.col(0).array() *= 1.3;
  const SeparableFriction other = constantSpeedFriction(problem, chi);
  EXPECT_EQ(other.constants[2].value, found.constants[2].value);
  problem.data[0].v.setConstant(1.0);
  EXPECT_THROW(constantSpeedFriction(problem, chi), Error);
}

/// Claim: a model without such terms is refused in words.
TEST(SeparableFriction, RefusesModelsWithoutConstants) {
  const auto tree = testing::treeOf("tx40");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 200, 0.1, 1)});
  EXPECT_THROW(separableFriction(problem, Eigen::VectorXd::Ones(6)), Error);
}

}  // namespace
}  // namespace proprio
