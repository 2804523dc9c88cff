// Same numbers always: batches do not depend on how samples are grouped, and the instruction sets
// agree to rounding. Accuracy of the kernels' sine and cosine.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "proprio/core/instruction_set.h"
#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/test_robot.h"

namespace proprio {
namespace {

/// Runs with the named instruction set while in scope.
class WithKernels {
 public:
  explicit WithKernels(const char* name)
      : before_(kernels::active().name), possible_(forceInstructionSet(name)) {}
  ~WithKernels() { forceInstructionSet(before_); }
  WithKernels(const WithKernels&) = delete;
  WithKernels& operator=(const WithKernels&) = delete;
  bool possible() const { return possible_; }

 private:
  const char* before_;
  bool possible_;
};

struct Batch {
  Eigen::MatrixXd q, v, a, wrenches;  // on the last link
  Batch(const Tree& tree, Eigen::Index samples)
      : q(samples, tree.positionCount()),
        v(samples, tree.velocityCount()),
        a(samples, tree.velocityCount()),
        wrenches(samples, 6) {}
  void set(Eigen::Index row, const RandomState& x) {
    q.row(row) = x.q.transpose(), v.row(row) = x.v.transpose(), a.row(row) = x.a.transpose();
    wrenches.row(row) = x.tau.sum() * Eigen::RowVectorXd::LinSpaced(6, -1.0, 2.0);
  }
};

/// All batch results side by side, one row per sample.
Eigen::MatrixXd results(TestRobot& r, const Batch& in) {
  const Eigen::Index samples = in.q.rows(), nv = in.v.cols();
  const auto links = static_cast<Eigen::Index>(r.tree.model().links.size());
  Eigen::MatrixXd tau(samples, nv), pushed(samples, nv), acc(samples, nv), M(samples, nv * nv),
      Y(samples, nv * 10 * links);
  Eigen::MatrixXd poses(samples, 12 * links), gradient(samples, 3 * nv);
  RegressorBatch regressor(r.tree, samples, 10 * links);
  inverseDynamicsBatch(r.tree, r.compiled, r.workspace, in.q, in.v, in.a, tau);
  const std::vector<int> last = {static_cast<int>(links) - 1};
  const BatchWrenches external = {last, in.wrenches};
  inverseDynamicsBatch(r.tree, r.compiled, r.workspace, in.q, in.v, in.a, pushed, &external);
  forwardDynamicsBatch(r.tree, r.compiled, r.workspace, in.q, in.v, in.a, acc, &external);
  massMatrixBatch(r.tree, r.compiled, r.workspace, in.q, M);
  torqueRegressorBatch(r.tree, r.workspace, in.q, in.v, in.a, regressor);
  linkPosesBatch(r.tree, r.workspace, in.q, poses);
  torqueRegressorGradientBatch(r.tree, r.workspace, in.q, in.v, in.a, regressor,
                               gradient.leftCols(nv), gradient.middleCols(nv, nv),
                               gradient.rightCols(nv));
  for (Eigen::Index j = 0; j < nv; ++j)
    Y.middleCols(j * 10 * links, 10 * links) = regressor.rows(j, samples);
  Eigen::MatrixXd out(samples, 3 * nv + M.cols() + Y.cols() + poses.cols() + gradient.cols());
  out << tau, acc, pushed, M, Y, poses, gradient;
  return out;
}

/// Equal to the last bit, apart from the sign of zero. Empty if so, else the first difference.
std::string difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      if (a(i, j) == b(i, j) || (std::isnan(a(i, j)) && std::isnan(b(i, j)))) continue;
      return fmt::format("column {} of {}: {:.17g} and {:.17g}", j, a.cols(), a(i, j), b(i, j));
    }
  }
  return "";
}

// A sample's results are the same bits wherever it stands in a batch of whatever size, whoever its
// neighbours are: also where they are so large, infinite or NaN that they take the slow path.
TEST(Determinism, BatchResultsDoNotDependOnTheBatch) {
  for (const char* isa : {"portable", "avx2"}) {
    const WithKernels with(isa);
    if (!with.possible()) continue;
    for (const ZooEntry& entry : modelZoo()) {
      if (entry.model->links.size() > 20) continue;
      SCOPED_TRACE(entry.name + ", " + isa);
      TestRobot r(entry.model);
      const RandomState x = randomState(r.tree, 1);
      Batch alone(r.tree, 1);
      alone.set(0, x);
      const Eigen::RowVectorXd expected = results(r, alone);
      for (const Eigen::Index samples : {2, 3, 4, 5, 8, 11}) {
        for (Eigen::Index place = 0; place < samples; ++place) {
          Batch batch(r.tree, samples);
          for (Eigen::Index k = 0; k < samples; ++k) {
            RandomState other = randomState(r.tree, 50 + static_cast<unsigned>(k));
            if (k % 3 == 1) other.q.tail(1) *= 1e7;
            if (k % 5 == 2) other.q.tail(1).setConstant(NAN);
            if (k % 7 == 3) other.q.tail(1).setConstant(INFINITY);
            batch.set(k, k == place ? x : other);
          }
          ASSERT_EQ(difference(results(r, batch).row(place), expected), "")
              << "sample " << place << " of " << samples;
        }
      }
    }
  }
}

// The same input gives the same bits when asked again.
TEST(Determinism, RepeatedCallsGiveTheSameBits) {
  for (const ZooEntry& entry : modelZoo()) {
    TestRobot r(entry.model), again(entry.model);
    Batch batch(r.tree, 5);
    for (unsigned k = 0; k < 5; ++k) batch.set(k, randomState(r.tree, k));
    const Eigen::MatrixXd first = results(r, batch);
    results(r, batch);
    EXPECT_EQ(difference(first, results(r, batch)), "");
    EXPECT_EQ(difference(first, results(again, batch)), "");
  }
}

// Portable and AVX2 kernels differ by rounding only; accelerations by rounding times the condition
// number of M, so they are compared through M.
TEST(Determinism, InstructionSetsAgree) {
  constexpr double kTolerance = 1e-12;
  {
    const WithKernels with("avx2");
    if (!with.possible()) GTEST_SKIP() << "this machine has no AVX2";
  }
  Deviations deviations("portable against AVX2");
  for (const ZooEntry& entry : modelZoo()) {
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 2);
    const Eigen::Index nv = x.v.size();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    Eigen::VectorXd tau[2], acc[2];
    Eigen::MatrixXd M[2], Y[2], batch[2];
    Batch in(r.tree, 9);
    for (unsigned k = 0; k < 9; ++k) in.set(k, randomState(r.tree, k));
    for (const int i : {0, 1}) {
      const WithKernels with(i == 0 ? "portable" : "avx2");
      tau[i].setConstant(nv, NAN), acc[i] = tau[i];
      M[i].setConstant(nv, nv, NAN), Y[i].setConstant(nv, columns, NAN);
      inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, tau[i]);
      forwardDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, acc[i]);
      massMatrix(r.tree, r.compiled, r.workspace, x.q, M[i]);
      torqueRegressor(r.tree, r.workspace, x.q, x.v, x.a, Y[i]);
      batch[i] = results(r, in);
    }
    deviations.expect("inverse dynamics", entry.name, tau[0], tau[1], kTolerance);
    deviations.expect("mass matrix", entry.name, M[0], M[1], kTolerance);
    deviations.expect("regressor", entry.name, Y[0], Y[1], kTolerance);
    deviations.expect("forward dynamics", entry.name, M[0] * acc[0], M[0] * acc[1], kTolerance);
    deviations.expect("batch inverse dynamics", entry.name, batch[0].leftCols(nv),
                      batch[1].leftCols(nv), kTolerance);
    const Eigen::Index rest = batch[0].cols() - 2 * nv;
    deviations.expect("other batches", entry.name, batch[0].rightCols(rest),
                      batch[1].rightCols(rest), kTolerance);
  }
}

/// Sine and cosine as a kernel computes them: entries of the pose of a link that turns about z.
struct SinCos {
  double sine, cosine;
};
SinCos kernelSinCos(TestRobot& robot, double x, bool pack) {
  const kernels::Table& table = kernels::active();
  const auto lanes = static_cast<Eigen::Index>(pack ? table.lanes : 1);
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(lanes, x);
  Eigen::VectorXd poses(24 * lanes);
  (pack ? table.pack : table.one)
      .link_poses(robot.workspace.kernelTree(), robot.workspace.scratch(), {q.data(), lanes},
                  {poses.data(), lanes});
  return {poses[(12 + 3) * lanes], poses[12 * lanes]};
}

Model turntable() {
  Model model;
  model.links = {makeLink("ground", 1.0, Vector3d::Zero(), Vector3d::Ones()),
                 makeLink("table", 1.0, Vector3d::Zero(), Vector3d::Ones())};
  model.joints = {
      makeJoint("turn", JointType::kContinuous, 0, 1, Vector3d::UnitZ(), Vector3d::Zero())};
  return finalize(model);
}

// Sine and cosine of the kernels have an absolute error of at most 2 units in the last place of 1
// for angles up to 1e8, also next to multiples of pi/2 and on both sides of the limit from which
// libm takes over.
TEST(KernelMath, SineAndCosineAreAccurate) {
  constexpr double kTolerance = 2.0 * std::numeric_limits<double>::epsilon();
  TestRobot robot(std::make_shared<const Model>(turntable()));
  std::vector<double> angles = {0.0, -0.0, 1e-300, 1e-8, 1e6, std::nextafter(1e6, 2e6), 1e8};
  RandomModelSource random(3);
  for (int i = 0; i < 20000; ++i) {
    angles.push_back(std::exp(random.uniform(std::log(1e-6), std::log(1e8))));
    const double quarter = std::floor(std::exp(random.uniform(0.0, std::log(6e7))));
    angles.push_back(quarter * std::numbers::pi / 2);
    angles.push_back((quarter + 0.5) * std::numbers::pi / 2);
  }
  for (const char* isa : {"portable", "avx2"}) {
    const WithKernels with(isa);
    if (!with.possible()) continue;
    double worst = 0.0;
    for (const double angle : angles) {
      for (const double x : {angle, -angle}) {
        for (const bool pack : {false, true}) {
          const SinCos found = kernelSinCos(robot, x, pack);
          worst = std::max(
              {worst, std::abs(found.sine - std::sin(x)), std::abs(found.cosine - std::cos(x))});
        }
      }
    }
    EXPECT_LE(worst, kTolerance) << isa;
  }
}

// Angles that are no numbers give results that are none: nothing is hidden.
TEST(KernelMath, NotANumberPropagates) {
  TestRobot robot(std::make_shared<const Model>(turntable()));
  for (const char* isa : {"portable", "avx2"}) {
    const WithKernels with(isa);
    if (!with.possible()) continue;
    for (const double x : {double{NAN}, double{INFINITY}, -double{INFINITY}}) {
      for (const bool pack : {false, true}) {
        const SinCos found = kernelSinCos(robot, x, pack);
        EXPECT_TRUE(std::isnan(found.sine) && std::isnan(found.cosine)) << isa << " " << x;
      }
    }
  }
  // through to the torques: here all of them depend on the first angle
  TestRobot chain(std::make_shared<const Model>(serialChain(3)));
  RandomState x = randomState(chain.tree, 1);
  x.q[1] = NAN;
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(3);
  inverseDynamics(chain.tree, chain.compiled, chain.workspace, x.q, x.v, x.a, tau);
  EXPECT_TRUE(tau.array().isNaN().all()) << tau.transpose();
}

}  // namespace
}  // namespace proprio
