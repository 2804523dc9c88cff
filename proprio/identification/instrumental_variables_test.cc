#include "proprio/identification/instrumental_variables.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/simulated_motion.h"
#include "proprio/identification/testing/simulated_recordings.h"
#include "proprio/numerics/dense.h"
#include "proprio/signal/differences.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {
namespace {

using testing::cascadeTwin;
using testing::closedLoopOf;
using testing::declaredValues;
using testing::excitingMotion;
using testing::truthOf;
using testing::wrongDrawings;

/// tanh(100 v) is sign(v) to 1e-10 from here on, rad/s.
constexpr double kSignIsSign = 0.12;

Estimate startAtPrior(const IdentificationProblem& problem) {
  Estimate start;
  start.chi = problem.prior;
  start.beta = baseMatrix(problem.base) * problem.prior;
  start.covariance = Eigen::MatrixXd::Zero(start.beta.size(), start.beta.size());
  start.sigma = Eigen::VectorXd::Ones(problem.stacked.coordinates());
  return start;
}

/// Claim: without noise, with the true motion and the simulator that made it, iv and didim return
/// the base parameters to 1e-8 of the largest, from drawings that are 20 % wrong: iv after one
/// round, since without noise any instruments are exact, didim after twelve, each of which takes a
/// share of the error that the sensitivity of the loop sets. Under physical consistency, without a
/// prior, they do to 1e-6.
TEST(InstrumentalVariables, AreExactWithoutNoise) {
  const auto twin = cascadeTwin("tx40", 10.0);
  const auto motion = excitingMotion(*twin, 3.0, 5000.0, 3);
  const ClosedLoopResult run = simulateClosedLoop(*twin, closedLoopOf(*twin, motion, 100.0));
  const auto tree = wrongDrawings(*twin);
  const IdentificationProblem problem =
      identificationProblem(tree, {truthOf(*tree, run.recording, motion, kSignIsSign)});
  const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*twin);
  MethodOptions options;
  options.tolerance = 1e-12;
  for (const bool instruments : {true, false}) {
    options.max_iterations = instruments ? 1 : 12;
    const Estimate estimate =
        simulateAndSolve(problem, options, {instruments, false}, {startAtPrior(problem)});
    EXPECT_TRUE(estimate.undecided.empty());
    EXPECT_LT((estimate.beta - truth).cwiseAbs().maxCoeff(), 1e-8 * truth.cwiseAbs().maxCoeff())
        << (instruments ? "iv" : "didim") << " after " << estimate.iterations << " rounds";
  }
  // one pass along the commanded motion is exact as well: any instruments are, without noise
  const Estimate commanded = identify("iv-commanded", problem);
  EXPECT_LT((commanded.beta - truth).cwiseAbs().maxCoeff(), 1e-8 * truth.cwiseAbs().maxCoeff());
  MethodOptions without;
  without.prior.kind = PriorKind::kNone;
  for (const char* name : {"pc-iv-commanded", "pc-iv", "pc-didim"}) {
    const Estimate consistent = identify(name, problem, without);
    EXPECT_LT((consistent.beta - truth).cwiseAbs().maxCoeff(), 1e-6 * truth.cwiseAbs().maxCoeff())
        << name << " after " << consistent.iterations << " rounds";
  }
}

/// Claim: the small problem is (Z^T S^-1 W)^-1 Z^T S^-1 y with the covariance of that formula, as
/// dense matrices give it; and with Z = W it is weighted least squares.
TEST(InstrumentalVariables, AgreesWithTheDenseFormula) {
  const auto tree = testing::treeOf("planar_2r");
  MotionData data = testing::noisyData(*tree, 400, 0.2, 1);
  data.use.col(1).head(37).setConstant(false);
  const IdentificationProblem problem = identificationProblem(tree, {data});
  MotionData other = data;
  std::mt19937_64 random(5);
  std::normal_distribution<double> gaussian(0.0, 0.3);
  for (Eigen::MatrixXd* x : {&other.q, &other.v, &other.a}) {
    for (double& value : x->reshaped()) value += gaussian(random);
  }
  other.use.col(0).tail(11).setConstant(false);
  const Eigen::Vector2d sigma(0.7, 0.2);

  const Eigen::Index n = problem.stacked.unknowns();
  Eigen::MatrixXd ZW = Eigen::MatrixXd::Zero(n, n), ZZ = ZW;
  Eigen::VectorXd Zy = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(problem.layout->size());
  std::vector<Eigen::MatrixXd> W(2, Eigen::MatrixXd(400, n)), Z = W;
  for (Eigen::Index c = 0; c < n; ++c) {
    unit.setZero();
    unit[problem.base.independent[static_cast<size_t>(c)]] = 1.0;
    const Eigen::MatrixXd w = predictTorques(*tree, *problem.layout, unit, data);
    const Eigen::MatrixXd z = predictTorques(*tree, *problem.layout, unit, other);
    for (Eigen::Index j = 0; j < 2; ++j) {
      W[static_cast<size_t>(j)].col(c) = w.col(j);
      Z[static_cast<size_t>(j)].col(c) = z.col(j);
    }
  }
  for (Eigen::Index j = 0; j < 2; ++j) {
    for (Eigen::Index i = 0; i < 400; ++i) {
      if (!data.use(i, j) || !other.use(i, j)) continue;
      const Eigen::VectorXd w = W[static_cast<size_t>(j)].row(i).transpose() / sigma[j],
                            z = Z[static_cast<size_t>(j)].row(i).transpose() / sigma[j];
      ZW += z * w.transpose();
      ZZ += z * z.transpose();
      Zy += z * data.tau(i, j) / sigma[j];
    }
  }
  const TriangularSystem system = instrumentSystem(problem, {other}, sigma);
  const RankedSolution solution = solveRanked(system.A, system.b, Eigen::VectorXd::Zero(n));
  const Eigen::VectorXd expected = solveSquare(ZW, Zy);
  EXPECT_LT((solution.x - expected).norm(), 1e-9 * expected.norm());
  const Eigen::MatrixXd inverse = inverseOf(ZW);
  const Eigen::MatrixXd covariance = inverse * ZZ * inverse.transpose();
  EXPECT_LT((solution.covariance - covariance).norm(), 1e-8 * covariance.norm());

  const TriangularSystem same = instrumentSystem(problem, {data}, sigma);
  const TriangularSystem least = weightedSystem(problem.stacked, sigma);
  EXPECT_LT((same.A.transpose() * same.A - least.A.transpose() * least.A).norm(),
            1e-10 * (least.A.transpose() * least.A).norm());
}

/// Claim: the slope of simulated torques by base parameters, found by finite differences of whole
/// simulations, is the regressor along the simulated motion up to the sensitivity of the loop: for
/// a cascade (s / (s + 2 w))^2, which at the motion's fastest 2 Hz and w of 10 Hz is 1 %; 5 %
/// allowed.
TEST(InstrumentalVariables, DirectAndInverseFollowsTheTorqueSlope) {
  const auto twin = cascadeTwin("planar_2r", 10.0);
  const auto motion = excitingMotion(*twin, 2.0, 5000.0, 3);
  const ClosedLoopResult run = simulateClosedLoop(*twin, closedLoopOf(*twin, motion, 100.0));
  const IdentificationProblem problem =
      identificationProblem(twin, {truthOf(*twin, run.recording, motion, 0.0)});
  const MotionData at = simulateMotions(problem, problem.prior).data[0];
  const Eigen::MatrixXd torque = predictTorques(*twin, *problem.layout, problem.prior, at);
  EXPECT_LT((torque - problem.data[0].tau).cwiseAbs().maxCoeff(), 1e-9);
  const Eigen::VectorXd beta = baseMatrix(problem.base) * problem.prior;
  constexpr double kStep = 1e-4;
  for (Eigen::Index c = 0; c < beta.size(); ++c) {
    Eigen::VectorXd moved = beta, unit = Eigen::VectorXd::Zero(problem.layout->size());
    moved[c] += kStep;
    unit[problem.base.independent[static_cast<size_t>(c)]] = 1.0;
    const Eigen::VectorXd chi = standardFromBase(problem, moved);
    const MotionData there = simulateMotions(problem, chi).data[0];
    const Eigen::MatrixXd use = at.use.cast<double>();
    const Eigen::MatrixXd slope =
        (predictTorques(*twin, *problem.layout, chi, there) - torque).cwiseProduct(use) / kStep;
    const Eigen::MatrixXd regressor =
        predictTorques(*twin, *problem.layout, unit, at).cwiseProduct(use);
    EXPECT_LT((slope - regressor).norm(), 0.05 * regressor.norm()) << c;
  }
}

/// Claim: samples between the control periods of the simulation are interpolated to the error of
/// its quintic, and parameters that no robot can have are simulated as near to them as one can.
TEST(SimulatedMotion, KeepsTimeStampsAndPossibleRobots) {
  const auto twin = cascadeTwin("planar_2r", 10.0);
  const auto motion = excitingMotion(*twin, 1.0, 5000.0, 3);
  const ClosedLoopResult run = simulateClosedLoop(*twin, closedLoopOf(*twin, motion, 5000.0));
  const MotionData all = truthOf(*twin, run.recording, motion, 0.0);
  MotionData data = middleSamples(all, 0, 300);
  data.time.setLinSpaced(300, 0.1, 0.9);  // no multiples of a period
  const IdentificationProblem problem = identificationProblem(twin, {data});
  const SimulatedMotions between = simulateMotions(problem, problem.prior);
  ASSERT_TRUE(between.failure.empty()) << between.failure;
  EXPECT_EQ(between.share, 1.0);
  for (Eigen::Index i = 0; i < 300; ++i) {
    const auto near = static_cast<Eigen::Index>(std::lround(data.time[i] * 5000.0));
    const double dt = data.time[i] - all.time[near];
    // Taylor about the nearest period; stamps within 2 % of a period (4 us) count as in it
    const Eigen::RowVectorXd q = all.q.row(near) + dt * all.v.row(near);
    EXPECT_LT((between.data[0].q.row(i) - q).cwiseAbs().maxCoeff(), 2e-5);
  }
  const SimulatedMotions impossible = simulateMotions(problem, -problem.prior);
  EXPECT_TRUE(impossible.failure.empty()) << impossible.failure;
  EXPECT_GT(impossible.share, 0.3);
  EXPECT_LT(impossible.share, 0.5);  // beyond half of the way the mass matrix is negative
}

/// Claim: of a filtered recording without noise, the simulated motion of the same robot went
/// through the same filters: positions, speeds, accelerations, smoothed signs, torques and rows
/// that count are those of the recording, to rounding of the differences (1e-12 rad times the
/// squared rate).
TEST(SimulatedMotion, GoesThroughTheFiltersOfTheRecording) {
  const auto twin = cascadeTwin("tx40", 10.0);
  const auto motion = excitingMotion(*twin, 3.0, 5000.0, 3);
  const ClosedLoopResult run = simulateClosedLoop(*twin, closedLoopOf(*twin, motion, 1000.0));
  JointSignalOptions options;
  options.joints = motion->joints;
  options.cutoff_hz = {20.0, 15.0, 20.0, 25.0, 20.0, 20.0};
  MotionData data = motionData(*twin, jointSignals(run.recording, options));
  data.reference = motion;
  const MotionData part = middleSamples(data, 5, data.samples() - 9);
  const IdentificationProblem problem = identificationProblem(twin, {part});
  const SimulatedMotions simulated = simulateMotions(problem, problem.prior);
  ASSERT_TRUE(simulated.failure.empty()) << simulated.failure;
  const MotionData& found = simulated.data[0];
  ASSERT_EQ(found.samples(), part.samples());
  EXPECT_LT((found.q - part.q).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((found.v - part.v).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((found.a - part.a).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((found.sign - part.sign).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((simulated.torques[0] - part.tau).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_TRUE((found.use == part.use).all());
}

/// Claim: with gains that grow with the inertia, a robot of twice the masses moves as before, since
/// all terms of its equations of motion double; without, it does not.
TEST(SimulatedMotion, RescaledGainsKeepTheBandwidth) {
  const auto twin = cascadeTwin("planar_2r", 10.0);
  const auto motion = excitingMotion(*twin, 0.5, 5000.0, 3);
  const ClosedLoopResult run = simulateClosedLoop(*twin, closedLoopOf(*twin, motion, 100.0));
  const IdentificationProblem problem =
      identificationProblem(twin, {truthOf(*twin, run.recording, motion, 0.0)});
  const Eigen::VectorXd heavy = 2.0 * problem.prior;
  const Eigen::MatrixXd scaled = simulateMotions(problem, heavy, true).data[0].q;
  const Eigen::MatrixXd unscaled = simulateMotions(problem, heavy, false).data[0].q;
  EXPECT_LT((scaled - problem.data[0].q).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_GT((unscaled - problem.data[0].q).cwiseAbs().maxCoeff(), 1e-4);
}

/// Claim: instruments that do not move decide nothing, and the estimate says so instead of failing.
TEST(InstrumentalVariables, InstrumentsAtRestDecideNothing) {
  const auto tree = testing::treeOf("planar_2r");
  const MotionData data = testing::noisyData(*tree, 300, 0.1, 1);
  const IdentificationProblem problem = identificationProblem(tree, {data});
  MotionData rest = data;
  rest.q.setZero();
  rest.v.setZero();
  rest.a.setZero();
  const TriangularSystem system = instrumentSystem(problem, {rest}, Eigen::Vector2d(1.0, 1.0));
  const RankedSolution solution =
      solveRanked(system.A, system.b, Eigen::VectorXd::Zero(system.A.cols()));
  EXPECT_GT(solution.silent.cols(), 2);
  EXPECT_TRUE(solution.x.allFinite());
}

/// Claim: a recording without its commanded motion is refused in a sentence that names it.
TEST(InstrumentalVariables, RefuseARecordingWithoutCommands) {
  const auto tree = testing::treeOf("planar_2r");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 100, 0.1, 1)});
  for (const char* name : {"iv", "iv-commanded", "didim", "pc-iv", "pc-iv-commanded", "pc-didim"}) {
    try {
      identify(name, problem);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("synthetic: the commanded motion is not complete"),
                std::string::npos)
          << error.what();
    }
  }
}

/// Positions of an encoder at 1 kHz differentiated twice, every twentieth sample, torques with
/// noise: what an unfiltered recording is.
MotionData unfiltered(const Tree& tree, const Recording& recording,
                      const std::shared_ptr<const MotionSamples>& motion) {
  MotionData data;
  data.name = "unfiltered";
  data.reference = motion;
  data.rate_hz = 50.0;
  constexpr Eigen::Index kEvery = 20;
  const Eigen::Index rows = recording.samples() / kEvery - 2;
  const auto keep = [&](const Eigen::VectorXd& x) {
    Eigen::VectorXd kept(rows);
    for (Eigen::Index i = 0; i < rows; ++i) kept[i] = x[(i + 1) * kEvery];
    return kept;
  };
  data.time = keep(recording.time);
  data.q.resize(rows, tree.positionCount());
  data.v.resize(rows, tree.velocityCount());
  data.a = data.tau = data.v;
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    const int i = tree.velocityIndex(static_cast<int>(j));
    if (i < 0) continue;
    const Eigen::MatrixXd q =
        recording.values.col(recording.column(Quantity::kPosition, Role::kMeasured, joint.name));
    const Eigen::MatrixXd v = centralDifferences(q, 1e-3).first;
    data.q.col(i) = keep(q);
    data.v.col(i) = keep(v);
    data.a.col(i) = keep(centralDifferences(v, 1e-3).first);
    data.tau.col(i) = keep(
        recording.values.col(recording.column(Quantity::kTorque, Role::kMeasured, joint.name)));
  }
  data.use = Mask::Constant(rows, tree.velocityCount(), true);
  return data;
}

struct MonteCarlo {
  Eigen::VectorXd mean_error;  ///< in standard deviations of the mean
  double normalised = 0.0;     ///< mean of error^T cov^-1 error / size
  double rounds = 0.0;         ///< mean
};

/// Claim: under encoder noise inside the loop (1e-5 rad, differentiated twice) least squares is
/// biased by many standard deviations, iv, iv-commanded and didim are not, and the covariance of
/// the first two is true, over 48 seeded runs. Four deviations of the statistics are allowed, and 5
/// % for the half control period between a torque and the acceleration that follows it.
TEST(InstrumentalVariables, AreUnbiasedWithTrueCovariance) {
  Model model = testing::treeOf("planar_2r")->model();
  model.control.rate = 2000.0;
  const auto tree = std::make_shared<const Tree>(std::make_shared<const Model>(model));
  const auto motion = excitingMotion(*tree, 4.0, 2000.0, 8);
  constexpr int kRuns = 48;
  std::vector<ClosedLoopRun> runs(kRuns, closedLoopOf(*tree, motion, 1000.0));
  for (size_t r = 0; r < runs.size(); ++r) {
    runs[r].options.encoder_noise = 1e-5;
    runs[r].options.torque_noise = 0.2;
    runs[r].options.seed = 100 + r;
  }
  const std::vector<ClosedLoopResult> results = simulateClosedLoops(*tree, runs);
  const auto campaign = [&](const char* method) {
    MonteCarlo out;
    Eigen::MatrixXd spread;
    for (const ClosedLoopResult& result : results) {
      const IdentificationProblem problem =
          identificationProblem(tree, {unfiltered(*tree, result.recording, motion)});
      const Eigen::VectorXd truth = baseMatrix(problem.base) * declaredValues(*tree);
      const Estimate estimate = identify(method, problem);
      EXPECT_TRUE(estimate.converged) << method;
      out.rounds += static_cast<double>(estimate.iterations) / kRuns;
      const Eigen::VectorXd error = estimate.beta - truth;
      if (out.mean_error.size() == 0) {
        out.mean_error = Eigen::VectorXd::Zero(error.size());
        spread = Eigen::MatrixXd::Zero(error.size(), error.size());
      }
      out.mean_error += error / kRuns;
      spread += estimate.covariance / kRuns;
      out.normalised += error.dot(solveSymmetric(estimate.covariance, error).col(0)) /
                        static_cast<double>(error.size() * kRuns);
    }
    out.mean_error = out.mean_error.cwiseQuotient((spread.diagonal() / kRuns).cwiseSqrt());
    return out;
  };
  const MonteCarlo least = campaign("wls");
  EXPECT_GT(least.mean_error.cwiseAbs().maxCoeff(), 20.0);
  EXPECT_GT(least.normalised, 5.0);
  for (const char* method : {"iv", "iv-commanded"}) {
    const MonteCarlo instruments = campaign(method);
    EXPECT_LE(instruments.rounds, 4.0) << method;
    EXPECT_LT(instruments.mean_error.cwiseAbs().maxCoeff(), 4.0) << method;
    EXPECT_NEAR(instruments.normalised, 1.0, 0.05 + 4.0 * std::sqrt(2.0 / (6.0 * kRuns))) << method;
  }
  EXPECT_LT(campaign("didim").mean_error.cwiseAbs().maxCoeff(), 4.0);
}

}  // namespace
}  // namespace proprio
