#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <mutex>
#include <random>

#include "proprio/core/parallel.h"
#include "proprio/dynamics/body_regressor.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/identification/consistent_alternatives.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/identification/testing/own_command.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/testing/sdpa.h"
#include "proprio/signal/savitzky_golay.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using testing::KnownProblem;
using testing::knownProblem;
using testing::treeOf;

/// A problem of the same robot with other samples and another truth; analysed only once.
IdentificationProblem varied(const IdentificationProblem& robot, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  IdentificationProblem problem = robot;
  const Tree& tree = *robot.tree;
  // from two samples at rest to a rich motion, from clean to useless torques
  const auto samples = static_cast<Eigen::Index>(std::pow(10.0, 0.3 + 2.0 * uniform(random)));
  MotionData data = testing::noisyData(tree, samples, 0.0, seed);
  const double motion = uniform(random) < 0.3 ? 0.02 : uniform(random);
  data.q *= motion;
  data.v *= motion;
  data.a *= motion;
  const Eigen::VectorXd truth =
      testing::anotherRobot(tree, *robot.layout, robot.prior, uniform(random), seed + 7);
  data.tau = predictTorques(tree, *robot.layout, truth, data);
  std::normal_distribution<double> gaussian(0.0, std::pow(10.0, -3.0 + 4.5 * uniform(random)));
  data.tau += Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                           [&] { return gaussian(random); });
  problem.data = {data};
  problem.stacked = stack(tree, robot.layout, robot.base.independent, problem.data);
  problem.prior = testing::anotherRobot(tree, *robot.layout, robot.prior, 0.5, seed + 9);
  return problem;
}

struct ConsistencyCount {
  int estimates = 0, impossible = 0, below_margin = 0, negative = 0, not_converged = 0;
  std::string first_failure;
};

void countConsistency(const IdentificationProblem& problem, const std::string& name, unsigned seed,
                      std::mutex& mutex, ConsistencyCount& count) {
  MethodOptions options;
  const bool descent = name == "log-cholesky" || name == "manifold" || name == "pc-sqp";
  if (descent) options.max_iterations = 8;  // possible at any time
  if (name == "pc-sqp-published") options.max_iterations = 5;
  if (method(name).simulates) options.max_iterations = 2;
  const PriorKind kinds[] = {PriorKind::kPullback, PriorKind::kNone, PriorKind::kEntropic,
                             PriorKind::kEuclidean};
  options.prior.kind = kinds[seed % 4];
  const Estimate estimate = identify(name, problem, options);
  const double margin = testing::smallestMargin(problem, estimate.chi);
  bool negative = false;
  for (int i = problem.layout->inertialSize(); i < problem.layout->size(); ++i) {
    const ParameterInfo& info = (*problem.layout)[i];
    const bool must = info.kind == ParameterKind::kRotorInertia ||
                      info.name.find("viscous") != std::string::npos ||
                      info.name.find("coulomb") != std::string::npos;
    negative = negative || (must && estimate.chi[i] < -1e-12);
  }
  const std::scoped_lock lock(mutex);
  ++count.estimates;
  count.impossible += !(margin > 0.0);
  count.below_margin += !(margin > 0.49 * options.constraints.margin);
  count.negative += negative;
  count.not_converged += !descent && !estimate.converged;
  if ((!(margin > 0.0) || negative) && count.first_failure.empty())
    count.first_failure =
        name + " seed " + std::to_string(seed) + " margin " + std::to_string(margin);
}

/// Claim: every estimate of every consistent method is physically possible, with the margin that
/// was asked for and without negative rotors or friction: 1000 random problems of a small arm with
/// all methods, 20 of a six-joint arm, among them rank-deficient ones (two samples, hardly any
/// motion, useless torques), with all four priors, also where the iteration is cut short.
TEST(ConsistencyProof, EveryEstimateIsPossible) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.consistent && !method.simulates) names.emplace_back(method.name);
  }
  ASSERT_GE(names.size(), 8U);
  std::mutex mutex;
  ConsistencyCount count;
  for (const auto& [robot, problems] : {std::pair{"planar_2r", 1000}, {"tx40", 20}}) {
    const auto tree = treeOf(robot);
    const IdentificationProblem analysed =
        identificationProblem(tree, {testing::noisyData(*tree, 2, 0.0, 1)});
    parallelChunks(problems, 10, [&](std::ptrdiff_t start, std::ptrdiff_t number, int) {
      for (std::ptrdiff_t i = start; i < start + number; ++i) {
        const auto seed = static_cast<unsigned>(i + 1);
        const IdentificationProblem problem = varied(analysed, seed);
        for (const std::string& name : names) countConsistency(problem, name, seed, mutex, count);
      }
    });
  }
  EXPECT_EQ(count.impossible, 0) << "of " << count.estimates << ": " << count.first_failure;
  EXPECT_EQ(count.below_margin, 0);
  EXPECT_EQ(count.negative, 0);
  EXPECT_LE(count.not_converged, count.estimates / 50);
  RecordProperty("estimates", count.estimates);
  RecordProperty("not_converged", count.not_converged);
}

/// Claim: so is every estimate of the methods that simulate or use the commanded motion: 1000
/// random problems of a small arm, rank-deficient ones among them (two samples, hardly any motion),
/// with all four priors, cut short after two rounds.
TEST(ConsistencyProof, EverySimulatedEstimateIsPossible) {
  const auto tree = treeOf("planar_2r");
  const IdentificationProblem analysed =
      identificationProblem(tree, {testing::noisyData(*tree, 2, 0.0, 1)});
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.consistent && method.simulates) names.emplace_back(method.name);
  }
  ASSERT_GE(names.size(), 3U);
  constexpr int kProblems = 1000;
  std::mutex mutex;
  ConsistencyCount count;
  int deficient = 0;
  parallelChunks(kProblems, 10, [&](std::ptrdiff_t start, std::ptrdiff_t number, int) {
    for (std::ptrdiff_t i = start; i < start + number; ++i) {
      const auto seed = static_cast<unsigned>(i + 1);
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> uniform(0.0, 1.0);
      IdentificationProblem problem = analysed;
      const auto samples = static_cast<Eigen::Index>(std::pow(10.0, 0.31 + 1.4 * uniform(random)));
      MotionData data = testing::smoothData(*tree, samples, seed);
      const double motion = uniform(random) < 0.3 ? 0.02 : 1.0;
      data.q *= motion;
      data.v *= motion;
      data.a *= motion;
      testing::commandItself(*tree, &data);
      const Eigen::VectorXd truth = testing::anotherRobot(*tree, *problem.layout, problem.prior,
                                                          0.7 * uniform(random), seed + 7);
      data.tau = predictTorques(*tree, *problem.layout, truth, data);
      std::normal_distribution<double> gaussian(0.0, std::pow(10.0, -2.0 + 3.0 * uniform(random)));
      data.tau += Eigen::MatrixXd::NullaryExpr(data.tau.rows(), data.tau.cols(),
                                               [&] { return gaussian(random); });
      problem.data = {data};
      problem.stacked = stack(*tree, problem.layout, problem.base.independent, problem.data);
      problem.prior = testing::anotherRobot(*tree, *problem.layout, problem.prior, 0.3, seed + 9);
      for (const std::string& name : names) countConsistency(problem, name, seed, mutex, count);
      const std::scoped_lock lock(mutex);
      deficient += samples * tree->velocityCount() < problem.stacked.unknowns();
    }
  });
  EXPECT_EQ(count.estimates, kProblems * static_cast<int>(names.size()));
  EXPECT_GE(deficient, kProblems / 20);  // fewer rows than unknowns
  EXPECT_EQ(count.impossible, 0) << count.first_failure;
  EXPECT_EQ(count.below_margin, 0);
  EXPECT_EQ(count.negative, 0);
}

/// Claim: on identification problems, too, with the default prior (pull-back, trusted masses, doubt
/// where data contradict), the objective is that of an independent solver to 1e-6, and the own gap
/// is below 1e-8: arms of two and six joints, precise and noisy data, links on the boundary.
TEST(ConsistencyProof, ArmProblemsAgainstAnotherSolver) {
  if (!testing::haveSdpa()) GTEST_SKIP() << "sdpa is not installed (Debian package sdpa)";
  int compared = 0;
  for (const char* robot : {"planar_2r", "tx40", "rv2sq"}) {
    const auto tree = treeOf(robot);
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const KnownProblem known = knownProblem(
          tree, {.samples = 100, .noise = seed % 2 ? 0.3 : 3.0, .difference = 0.5, .seed = seed});
      const Eigen::VectorXd sigma = consistentNoise(known.problem);
      const TriangularSystem system = weightedSystem(known.problem.stacked, sigma);
      const PriorOptions prior = doubtingPrior(known.problem, system, {});
      const ConsistentProblem consistent = consistentProblem(known.problem, system, {}, prior);
      const Estimate estimate = solveConsistent(known.problem, system, {});
      EXPECT_LT(estimate.gap, 1e-8) << robot << seed;
      const LmiSolution own = solveLmiLeastSquares(consistent.lmi);
      const Eigen::VectorXd beta = consistent.base_map * own.x + consistent.base_offset;
      EXPECT_LT((beta - estimate.beta).norm(), 1e-4 * beta.norm()) << robot << seed;
      // without what no robot explains: the harder comparison; nothing is left where no
      // constraint acts
      const double objective = objectiveAt(withTriangularRows(consistent.lmi), own.x);
      if (objective < 1e-9 * own.objective) continue;
      const testing::SdpaAnswer other = testing::solveWithSdpa(consistent.lmi, objective);
      if (!other.optimal) continue;  // it does not always reach its own tolerance
      ++compared;
      EXPECT_NEAR(objective, other.objective, 1e-6 * other.objective) << robot << seed;
    }
  }
  EXPECT_GE(compared, 6);
}

// The arm experiment of Traversaro 2017, table 6.1: a three-joint shoulder carries a rigid body
// behind a force-torque sensor and moves to random targets, five times 60 s with movements of 10,
// 5, 2, 1 and 0.5 s.

struct ShoulderExperiment {
  Eigen::MatrixXd A;  // triangular factor of the stacked body regressors
  Eigen::VectorXd b;
};

constexpr const char* kShoulder = R"(<robot name="shoulder">
  <link name="base"/><link name="a"/><link name="b"/>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="10" effort="10"/></joint>
  <joint name="j2" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" velocity="10" effort="10"/></joint>
  <joint name="j3" type="revolute"><parent link="b"/><child link="arm"/>
    <origin xyz="0 0 -0.1"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="10" effort="10"/></joint>
</robot>)";

/// The body that the published experiment is about, possible in the strict sense.
InertialParameters publishedPayload() {
  Vector10d p;
  p << 1.844, .059, .004, .204, .037, .001, -.012, .039, 0, .010;
  return InertialParameters::fromVector(p);
}

ShoulderExperiment shoulderExperiment(double duration, int window, unsigned seed) {
  const Model model = readUrdfText(kShoulder);
  const Tree tree(std::make_shared<const Model>(model));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> target(-0.8, 0.8);
  std::normal_distribution<double> gaussian(0.0, 1.0);
  constexpr double kRate = 100.0, kStep = 1.0 / 2000.0;  // encoder step, rad
  const Eigen::Index samples = 6000;
  // minimum-jerk movements from target to target
  Eigen::MatrixXd q(samples, 3), v(samples, 3), a(samples, 3);
  Vector3d from = Vector3d::Zero(), to;
  int movement = -1;
  for (Eigen::Index i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / kRate;
    const int now = static_cast<int>(t / duration);
    if (now != movement) {
      from = movement < 0 ? Vector3d::Zero().eval() : to;
      for (double& x : to) x = target(random);
      movement = now;
    }
    const double s = t / duration - now;
    q.row(i) = from + (to - from) * (s * s * s * (10.0 - 15.0 * s + 6.0 * s * s));
    v.row(i) = (to - from) * (30.0 * s * s * (1.0 - s) * (1.0 - s)) / duration;
    a.row(i) = (to - from) * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)) / (duration * duration);
  }
  // what the encoders and filters leave of it
  Eigen::MatrixXd measured = (q / kStep).array().round() * kStep;
  const Eigen::MatrixXd mq = savitzkyGolay(measured, window, 2, 0, 1.0 / kRate);
  const Eigen::MatrixXd mv = savitzkyGolay(measured, window, 2, 1, 1.0 / kRate);
  const Eigen::MatrixXd ma = savitzkyGolay(measured, window, 2, 2, 1.0 / kRate);
  Kinematics kinematics(tree);
  const int arm = requireLink(model, "arm");
  const auto regressor = [&](const auto& position, const auto& velocity, const auto& acceleration) {
    computeKinematics(tree, position, velocity, acceleration, kinematics);
    return bodyRegressor(frameProperAcceleration(tree, kinematics, arm),
                         frameTwist(tree, kinematics, arm).angular);
  };
  Eigen::MatrixXd rows(6 * samples, 11);
  const Vector10d payload = publishedPayload().vector();
  for (Eigen::Index i = 0; i < samples; ++i) {
    const Vector3d qi = q.row(i), vi = v.row(i), ai = a.row(i);
    Vector6d wrench = regressor(qi, vi, ai) * payload;
    // noise, and what a calibration leaves of the sensor's offset
    for (int k = 0; k < 6; ++k)
      wrench[k] += k < 3 ? 0.1 + 0.2 * gaussian(random) : 0.01 + 0.007 * gaussian(random);
    const Vector3d qm = mq.row(i), vm = mv.row(i), am = ma.row(i);
    rows.block<6, 10>(6 * i, 0) = regressor(qm, vm, am);
    rows.block<6, 1>(6 * i, 10) = wrench;
  }
  const Eigen::MatrixXd R = triangularFactor(rows);
  return {R.topLeftCorner(10, 10), R.col(10).head(10)};
}

/// Claim: on the manifold every result and every iterate is possible, at all speeds, while plain
/// least squares returns impossible bodies for slow movements; mass and first moment agree between
/// the two; fast movements give the inertia.
TEST(ConsistencyProof, ArmExperimentWithFiveSpeeds) {
  const double durations[] = {10.0, 5.0, 2.0, 1.0, 0.5};
  const int windows[] = {499, 41, 21, 9, 7};
  const InertialParameters truth = publishedPayload();
  int impossible = 0;
  for (int i = 0; i < 5; ++i) {
    const ShoulderExperiment data =
        shoulderExperiment(durations[i], windows[i], static_cast<unsigned>(i + 1));
    const Vector10d plain = leastSquares(data.A, data.b);
    const bool possible =
        consistencyMargins(InertialParameters::fromVector(plain)).fullyConsistent();
    impossible += !possible;
    DescentOptions options;
    int iterates = 0;
    double worst = 1e300;
    options.visit = [&](const Eigen::VectorXd& x) {
      const auto margins = consistencyMargins(InertialParameters::fromVector(x.head<10>()));
      worst = std::min({worst, margins.mass, margins.triangle});
      ++iterates;
    };
    const DescentResult fit =
        fitBody(data.A, data.b, InertialParameters::fromVector(plain), options);
    EXPECT_TRUE(fit.converged) << durations[i];
    EXPECT_GT(iterates, possible ? 0 : 1) << durations[i];  // a possible start is the optimum
    EXPECT_GT(worst, -1e-12) << durations[i];               // bodies on the boundary are rounded
    EXPECT_LT((fit.x.head<4>() - plain.head<4>()).cwiseAbs().maxCoeff(), 0.01) << durations[i];
    EXPECT_NEAR(fit.x[0], truth.mass, 0.02 * truth.mass) << durations[i];
    if (durations[i] <= 0.5) {
      EXPECT_LT((fit.x.tail<6>() - truth.vector().tail<6>()).cwiseAbs().maxCoeff(), 0.01);
    }
  }
  EXPECT_GE(impossible, 2);
}

/// Claim: one body is found on the manifold without noise, from any start; cut short at any budget
/// the body is possible and no worse than the one before; the optimum is that of the convex solver.
TEST(ConsistencyProof, OneBodyOnTheManifold) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(30, 10, [&] { return normal(random); });
  const auto start = InertialParameters::fromCom(
      1.0, Vector3d(0.1, 0.0, 0.0), Vector3d(0.2, 0.3, 0.35).asDiagonal().toDenseMatrix());
  const Eigen::VectorXd exact = A * publishedPayload().vector();
  EXPECT_LT((fitBody(A, exact, start).x - publishedPayload().vector()).norm(), 1e-6);
  const Eigen::VectorXd noisy =
      exact + Eigen::VectorXd::NullaryExpr(30, [&] { return 0.5 * normal(random); });
  LmiProblem convex;
  convex.A = A;
  convex.b = noisy;
  PsdBlock block;
  for (int i = 0; i < 10; ++i) block.variables.push_back(i);
  block.map = pseudoInertiaJacobian();
  convex.blocks = {block};
  const double optimum = solveLmiLeastSquares(convex).objective;
  double before = 1e300;
  for (int budget = 0; budget <= 60; ++budget) {
    DescentOptions options;
    options.max_iterations = budget;
    const DescentResult cut = fitBody(A, noisy, start, options);
    const auto margins = consistencyMargins(InertialParameters::fromVector(cut.x.head<10>()));
    EXPECT_GT(margins.mass, 0.0);
    EXPECT_GT(margins.triangle, -1e-12);
    EXPECT_LE(cut.objective, before * (1.0 + 1e-12));
    before = cut.objective;
  }
  EXPECT_NEAR(before, optimum, 1e-4 * optimum);
}

}  // namespace
}  // namespace proprio
