// Designed motions: they keep every limit on a grid that is finer than the one they were designed
// on, they are better than what they started from, and impossible limits are told.

#include "proprio/motion/excitation_design.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/bundled_robot.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/collision_survey.h"
#include "proprio/motion/excitation_problem_internal.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Few unknowns and iterations: seconds instead of minutes. As many of them for every basis.
ExcitationOptions quick() {
  ExcitationOptions options;
  options.harmonics = 5;
  options.control_points = 14;
  options.stops = 9;
  options.rounds = 3;
  options.iterations = 25;
  return options;
}

/// Largest usage of the limits without margin, on 200 samples per shortest wave, by the model's own
/// friction.
double largestUsage(const std::shared_ptr<const Model>& model, const ExcitationDesign& design,
                    const ExcitationOptions& options) {
  ConstraintOptions all = options.constraints;
  all.joints = design.joints;
  all.limits.reset();
  const MotionConstraints constraints(std::make_shared<const Tree>(model),
                                      declaredParameters(model), all);
  const GridSamples s = onGrid(*design.motion, 4 * design.samples);
  const Eigen::MatrixXd usage = constraints.usage(s.q, s.v, s.a);
  double worst = 0.0;
  for (Eigen::Index c = 0; c < usage.cols(); ++c) {
    for (Eigen::Index k = 0; k < usage.rows(); ++k) {
      worst = std::max(worst, constraints.list()[static_cast<size_t>(c)].measure(usage(k, c)));
    }
  }
  return worst;
}

// A six-axis arm: the condition number falls a lot, every limit holds on a grid 20 times finer
// than the designed one, the end effector stays above its plane, both ends are at rest, and a seed
// gives the same bits again.
void armKeepsItsLimits(ExcitationBasis basis) {
  const auto model = sharedBundledRobot("tx40.yaml");
  ExcitationOptions options = quick();
  options.basis = basis;
  options.constraints.workspace = {workspaceLimitOf(*model, "flange z > 0.3")};
  const ExcitationDesign design = designExcitation(model, options);
  ASSERT_TRUE(design.feasible) << design.note;
  EXPECT_LT(design.criterion, 0.7 * design.start_criterion);
  EXPECT_NEAR(design.criterion, design.condition, 1e-9 * design.condition);
  EXPECT_LE(largestUsage(model, design, options), 1.0);
  EXPECT_FALSE(design.active.empty());
  Eigen::VectorXd q(6), v(6), a(6), end(6);
  design.motion->at(0.0, q, v, a);
  const double jump = basis == ExcitationBasis::kTrapezoid ? 0.0 : 1.0;  // of acceleration
  EXPECT_LT(v.norm() + jump * a.norm(), 1e-9);
  design.motion->at(options.seconds, end, v, a);
  EXPECT_LT((q - end).norm() + v.norm() + jump * a.norm(), 1e-9);
  const ExcitationDesign again = designExcitation(model, options);
  const GridSamples once = onGrid(*design.motion, 100), twice = onGrid(*again.motion, 100);
  EXPECT_EQ(once.q, twice.q);
  const bool fourier = dynamic_cast<const FourierSeries*>(design.motion.get()) != nullptr;
  const bool spline = dynamic_cast<const BSpline*>(design.motion.get()) != nullptr;
  EXPECT_EQ(fourier, basis == ExcitationBasis::kFourier);
  EXPECT_EQ(spline, basis == ExcitationBasis::kBSpline);
}
TEST(ExcitationDesign, ArmKeepsItsLimits) { armKeepsItsLimits(ExcitationBasis::kFourier); }
TEST(ExcitationDesign, ArmKeepsItsLimitsAlongSplines) {
  armKeepsItsLimits(ExcitationBasis::kBSpline);
}
TEST(ExcitationDesign, ArmKeepsItsLimitsAlongTrapezoids) {
  armKeepsItsLimits(ExcitationBasis::kTrapezoid);
}

// As many unknowns (39 per joint) bring the arm to a condition number of 30 by either basis within
// a motion of 10 s; what the design promises holds between its samples too, by an independent
// check.
TEST(ExcitationDesign, SplinesExciteAsWellAsSeries) {
  const auto model = sharedBundledRobot("tx40.yaml");
  for (const ExcitationBasis basis : {ExcitationBasis::kFourier, ExcitationBasis::kBSpline}) {
    ExcitationOptions options;
    options.basis = basis;
    options.target = 30.0;
    const ExcitationDesign design = designExcitation(model, options);
    ASSERT_TRUE(design.feasible) << design.note;
    EXPECT_LE(design.condition, 30.0);
    const MotionCheck check =
        checkMotion(Tree(model), declaredParameters(model), {design.joints, design.motion});
    for (const Violation& violation : check.violations) ADD_FAILURE() << sentence(violation);
  }
}

// The gradient of the program and the Jacobian of its constraints equal central differences.
void programDerivativesEqualDifferences(ExcitationBasis basis) {
  const auto model =
      std::make_shared<const Model>(withSmoothSigns(*sharedBundledRobot("tx40.yaml"), 10.0));
  ExcitationOptions options = quick();
  options.basis = basis;
  options.constraints.limits = internal::designLimits(*model, options);
  options.constraints.joints = options.constraints.limits->joints;
  options.constraints.workspace = {workspaceLimitOf(*model, "flange z > 0.3")};
  const auto tree = std::make_shared<const Tree>(model);
  const Parameters parameters = declaredParameters(model);
  const auto constraints =
      std::make_shared<const MotionConstraints>(tree, parameters, options.constraints);
  CriterionOptions criterion;
  criterion.columns = designExcitation(model,
                                       [&] {
                                         ExcitationOptions none = quick();
                                         none.rounds = 0;
                                         return none;
                                       }())
                          .columns;
  criterion.smoothing = 8.0;
  for (const Criterion kind : {Criterion::kCondition, Criterion::kD}) {
    criterion.criterion = kind;
    ExcitationCriterion excitation(tree, parameters.layout, criterion);
    internal::ExcitationProblem problem(internal::restBasis(options), *tree, constraints,
                                        &excitation);
    for (const double time : {0.0, 1.37, 4.2}) {
      for (size_t c = 0; c < constraints->list().size(); ++c) {
        EXPECT_TRUE(problem.watch(time, static_cast<int>(c)));
        EXPECT_FALSE(problem.watch(time, static_cast<int>(c)));
      }
    }
    const Eigen::Index n = problem.variables();
    Eigen::VectorXd x = 0.2 * Eigen::VectorXd::NullaryExpr(n, [](Eigen::Index i) {
                          return std::sin(1.7 * static_cast<double>(i + 1));
                        });
    const NonlinearProgram program = problem.program(x, 1.0);
    Eigen::VectorXd gradient(n), g_up(problem.watched()), g_down(problem.watched());
    program.gradient(x, gradient);
    Eigen::VectorXd entries(static_cast<Eigen::Index>(program.jacobian_rows.size()));
    program.jacobian(x, entries);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(problem.watched(), n);
    for (size_t e = 0; e < program.jacobian_rows.size(); ++e) {
      J(program.jacobian_rows[e], program.jacobian_columns[e]) +=
          entries[static_cast<Eigen::Index>(e)];
    }
    constexpr double kStep = 1e-6;
    for (Eigen::Index i = 0; i < n; i += 5) {
      const double keep = x[i];
      x[i] = keep + kStep;
      const double up = program.value(x);
      program.constraints(x, g_up);
      x[i] = keep - kStep;
      const double down = program.value(x);
      program.constraints(x, g_down);
      x[i] = keep;
      EXPECT_NEAR(gradient[i], (up - down) / (2 * kStep), 1e-5 * (1.0 + gradient.norm()));
      EXPECT_LT((J.col(i) - (g_up - g_down) / (2 * kStep)).norm(), 1e-5 * (1.0 + J.col(i).norm()));
    }
  }
}
TEST(ExcitationDesign, ProgramDerivativesEqualDifferences) {
  programDerivativesEqualDifferences(ExcitationBasis::kFourier);
}
TEST(ExcitationDesign, ProgramDerivativesOfTrapezoidsEqualDifferences) {
  programDerivativesEqualDifferences(ExcitationBasis::kTrapezoid);
}
TEST(ExcitationDesign, ProgramDerivativesOfSplinesEqualDifferences) {
  programDerivativesEqualDifferences(ExcitationBasis::kBSpline);
}

// A two-link arm without friction: the design is better than the best of 200 random motions made
// feasible in the same way.
TEST(ExcitationDesign, BeatsRandomMotions) {
  const auto model = sharedBundledRobot("planar_2r.yaml");
  ExcitationOptions options = quick();
  options.criterion.criterion = Criterion::kD;
  const ExcitationDesign design = designExcitation(model, options);
  ASSERT_TRUE(design.feasible) << design.note;
  options.rounds = 0;
  double best = 1e300;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    options.seed = seed;
    best = std::min(best, designExcitation(model, options).criterion);
  }
  EXPECT_LT(design.criterion, best);
}

// What earlier recordings determined needs no more excitation: with them, a design for joint 1
// alone tells all base parameters of the arm, which no motion of joint 1 does by itself. Its
// condition number is that of both motions' rows stacked, each at its rate.
TEST(ExcitationDesign, EarlierRecordingsCount) {
  const auto model = sharedBundledRobot("tx40.yaml");
  ExcitationOptions options = quick();
  options.rounds = 0;
  const ExcitationDesign first = designExcitation(model, options);
  ASSERT_TRUE(first.feasible);
  options.constraints.joints = {"joint_1"};
  const ExcitationDesign alone = designExcitation(model, options);
  EXPECT_LT(alone.base.count(), first.base.count());
  EXPECT_FALSE(alone.silent.empty());
  options.criterion.columns = first.columns;
  EXPECT_TRUE(std::isinf(designExcitation(model, options).criterion));
  options.criterion.columns.clear();
  const JointMotion executed = {first.joints, first.motion};
  options.earlier = {executed};
  const ExcitationDesign both = designExcitation(model, options);
  EXPECT_EQ(both.base.count(), first.base.count());
  EXPECT_TRUE(both.silent.empty());
  // the same from Gram matrices: 100 samples per second of the first motion, which count as many as
  // the design has in that time
  const auto tree = std::make_shared<const Tree>(model);
  const Parameters parameters = declaredParameters(model);
  CriterionOptions plain;
  plain.columns = both.columns;
  ExcitationCriterion criterion(tree, parameters.layout, plain);
  const MotionSamples s = sample(executed, 100.0);
  criterion.value(s.q, s.v, s.a);
  Eigen::MatrixXd gram = both.samples / (100.0 * options.seconds) * criterion.gram();
  const MotionConstraints held(tree, parameters, options.constraints);
  const GridSamples own = onGrid(*both.motion, both.samples);
  criterion.value(held.fullPositions(own.q), held.fullVelocities(own.v),
                  held.fullVelocities(own.a));
  gram += criterion.gram();
  const Eigen::VectorXd values = symmetricEigen(gram).values;
  // squares of the condition number lose half of the digits
  EXPECT_NEAR(both.condition, std::sqrt(values[values.size() - 1] / values[0]),
              1e-6 * both.condition);
}

// A motion too slow to excite anything (five millionths of the speed) is a bad start, with a
// condition number beyond what a gradient leads away from; the evolution strategy improves it
// without being asked, and the result still keeps the limits.
TEST(ExcitationDesign, PopulationRescuesBadStarts) {
  const auto model = sharedBundledRobot("planar_2r.yaml");
  ExcitationOptions options = quick();
  options.rounds = 0;
  options.speed = 0.000005;
  const ExcitationDesign design = designExcitation(model, options);
  ASSERT_TRUE(design.feasible);
  EXPECT_GT(design.start_criterion, 1e6);
  EXPECT_LT(design.criterion, design.start_criterion);
  EXPECT_LE(largestUsage(model, design, options), 1.0);
}

// Links keep their distance from each other and from a box, between the samples of the design's own
// grid too (peaks are found to 1e-3 of an interval of 40 ms, in which distances change by less than
// 1 m/s * 40 us = 0.04 mm). The motion uses the room up to there. Pairs that always touch are left
// out.
TEST(ExcitationDesign, KeepsDistancesFromLinksAndBoxes) {
  constexpr double kPeak = 4e-5, kNear = 0.02;  // m
  const auto model = sharedBundledRobot("tx40_urdf.yaml");
  const auto tree = std::make_shared<const Tree>(model);
  CollisionOptions pairs;
  ConstraintOptions all;
  all.collisions = std::make_shared<const RobotCollisions>(tree, pairs);
  for (const PermanentContact& contact : permanentContacts(*tree, all)) {
    const auto [a, b] = all.collisions->links(contact.pair);
    pairs.disabled.emplace_back(model->links[static_cast<size_t>(a)].name,
                                model->links[static_cast<size_t>(b)].name);
    EXPECT_GE(contact.share, 0.9);
  }
  EXPECT_EQ(pairs.disabled.size(), 2u);
  ExcitationOptions options = quick();
  options.constraints.collisions = std::make_shared<const RobotCollisions>(tree, pairs);
  pairs.environment = {{"post", {Matrix3d::Identity(), {0.42, 0.0, 0.6}}, {0.4, 0.5, 1.4}}};
  const auto with_box = std::make_shared<const RobotCollisions>(tree, pairs);
  options.constraints.collisions = with_box;
  const ExcitationDesign careful = designExcitation(model, options);
  ASSERT_TRUE(careful.feasible) << careful.note;
  const auto smallest = [&](const ExcitationDesign& design) {
    const GridSamples s = onGrid(*design.motion, 10 * design.samples);
    Kinematics kinematics(*tree);
    double least = 1e300;
    for (Eigen::Index k = 0; k < s.q.rows(); ++k) {
      computeKinematics(*tree, s.q.row(k).transpose(), kinematics);
      for (int pair = 0; pair < with_box->pairCount(); ++pair) {
        least = std::min(least, with_box->distance(kinematics, pair).distance);
      }
    }
    return least;
  };
  EXPECT_GE(smallest(careful), options.constraints.clearance - kPeak);
  EXPECT_LE(smallest(careful), options.constraints.clearance + kNear);
  EXPECT_LT(careful.criterion, careful.start_criterion);
}

// Thirty joints and several hundred pairs of links: the design is much better than its start, and
// every limit and all distances, computed exactly, hold on its grid. The first round ends far
// outside of the limits, and what is kept of it is 26 times better than the start; the second must
// go on from there and not from where the first ended.
TEST(ExcitationDesign, HumanoidKeepsItsDistances) {
  const auto model = sharedBundledRobot("humanoid.yaml");
  const auto tree = std::make_shared<const Tree>(model);
  CollisionOptions pairs;
  ExcitationOptions options = quick();
  options.harmonics = 3;
  options.rounds = 2;
  options.iterations = 40;
  options.constraints.collisions = std::make_shared<const RobotCollisions>(tree, pairs);
  for (const PermanentContact& contact : permanentContacts(*tree, options.constraints)) {
    const auto [a, b] = options.constraints.collisions->links(contact.pair);
    pairs.disabled.emplace_back(model->links[static_cast<size_t>(a)].name,
                                model->links[static_cast<size_t>(b)].name);
  }
  options.constraints.collisions = std::make_shared<const RobotCollisions>(tree, pairs);
  ASSERT_GT(options.constraints.collisions->pairCount(), 400);
  const ExcitationDesign design = designExcitation(model, options);
  ASSERT_TRUE(design.feasible) << design.note;
  EXPECT_LT(design.criterion, 0.02 * design.start_criterion);
  const MotionConstraints constraints(tree, declaredParameters(model), options.constraints);
  const GridSamples s = onGrid(*design.motion, design.samples);
  constexpr double kEveryDistance = -1000.0;
  const Eigen::MatrixXd usage = constraints.usage(s.q, s.v, s.a, kEveryDistance);
  for (Eigen::Index c = 0; c < usage.cols(); ++c) {
    const MotionConstraint& constraint = constraints.list()[static_cast<size_t>(c)];
    for (Eigen::Index k = 0; k < usage.rows(); ++k) {
      EXPECT_LE(constraint.measure(usage(k, c)), 1.0) << constraint.name << " at " << s.time[k];
    }
  }
}

// Limits that no posture keeps are named; options that make no sense are refused.
TEST(ExcitationDesign, SaysWhatCannotBe) {
  const auto model = sharedBundledRobot("tx40.yaml");
  ExcitationOptions options = quick();
  options.constraints.workspace = {workspaceLimitOf(*model, "flange z > 5")};
  const ExcitationDesign impossible = designExcitation(model, options);
  EXPECT_FALSE(impossible.feasible);
  EXPECT_NE(impossible.note.find("flange z > 5"), std::string::npos) << impossible.note;
  Model weak = *model;
  weak.joints[1].limits.effort = 1.0;
  weak.joints[1].name = "shoulder";
  const ExcitationDesign too_weak =
      designExcitation(std::make_shared<const Model>(finalize(weak)), quick());
  EXPECT_FALSE(too_weak.feasible);
  EXPECT_NE(too_weak.note.find("shoulder effort"), std::string::npos) << too_weak.note;
  Model unlimited = *model;
  unlimited.joints[0].limits.velocity = kNotStated;
  EXPECT_THROW(designExcitation(std::make_shared<const Model>(finalize(unlimited)), quick()),
               Error);
  for (const auto& change : std::vector<std::function<void(ExcitationOptions&)>>{
           [](ExcitationOptions& o) { o.harmonics = 1; },
           [](ExcitationOptions& o) { o.seconds = -1.0; },
           [](ExcitationOptions& o) {
             o.basis = ExcitationBasis::kBSpline;
             o.control_points = 6;
           },
           [](ExcitationOptions& o) {
             o.basis = ExcitationBasis::kBSpline;
             o.seconds = 0.0;
           },
           [](ExcitationOptions& o) { o.margin = 1.0; },
           [](ExcitationOptions& o) { o.speed = 0.0; },
           [](ExcitationOptions& o) { o.constraints.joints = {"elbow"}; }}) {
    ExcitationOptions bad = quick();
    change(bad);
    EXPECT_THROW(designExcitation(model, bad), Error);
  }
}

// Restarts go on where a search has settled: never worse than without them, better from some of
// three seeds, and over as soon as the target is reached.
TEST(ExcitationDesign, RestartsKeepTheBest) {
  const auto model = sharedBundledRobot("planar_2r.yaml");
  int better = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    ExcitationOptions options = quick();
    options.seed = seed;
    const ExcitationDesign one = designExcitation(model, options);
    options.restarts = 3;
    const ExcitationDesign many = designExcitation(model, options);
    ASSERT_TRUE(many.feasible) << many.note;
    EXPECT_EQ(many.starts, 4);
    EXPECT_GT(many.rounds, one.rounds);
    EXPECT_LE(many.criterion, one.criterion);
    better += many.criterion < 0.99 * one.criterion ? 1 : 0;
    options.target = 1.001 * one.criterion;
    EXPECT_EQ(designExcitation(model, options).starts, 1);
  }
  EXPECT_GT(better, 0);
}

}  // namespace
}  // namespace proprio
