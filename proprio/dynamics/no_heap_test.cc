// Functions documented "real-time" do not allocate. The trap is malloc itself: this program's own
// definitions count the calls and hand over to glibc (operator new ends there too); under ASan,
// which owns malloc, its hook counts instead.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/coriolis.h"
#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/kinematics_batch.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/dynamics/momentum_regressor.h"
#include "proprio/dynamics/position_steps.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/dynamics/testing/bundled_robots.h"
#include "proprio/dynamics/testing/test_robot.h"
#include "proprio/dynamics/wrench_regressor.h"
#include "proprio/identification/recursive_least_squares.h"
#include "proprio/model/robot_reader.h"
#include "proprio/servo/computed_torque.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/signal/adaptive_window.h"
#include "proprio/signal/filtering.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROPRIO_TRAP_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PROPRIO_TRAP_ASAN
#endif
#if defined(__GLIBC__) && !defined(PROPRIO_TRAP_ASAN)
#define PROPRIO_TRAP_GLIBC
#endif

namespace {
thread_local int allocations = 0;
}

#if defined(PROPRIO_TRAP_ASAN)
// declared here because GCC does not install the header
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*,
                                                                           size_t),
                                                         void (*freed)(const volatile void*));
namespace {
const int hook = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, size_t) { ++allocations; }, [](const volatile void*) {});
}
#elif defined(PROPRIO_TRAP_GLIBC)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out != nullptr ? 0 : ENOMEM;
}
}
#endif

namespace proprio {
namespace {

bool trapWorks() {
  const int before = allocations;
  const auto probe = std::make_unique<volatile double>(0.0);
  *probe = 1.0;
  return allocations > before;
}

template <class F>
void expectNoHeap(const char* function, F&& call) {
  const int before = allocations;
  call();
  const int count = allocations - before;
  EXPECT_EQ(count, 0) << function << " allocated";
}

// The trap notices new, malloc and Eigen's own allocation; otherwise the tests below prove nothing.
TEST(NoHeap, TrapNotices) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  int before = allocations;
  std::free(std::malloc(10));
  EXPECT_GT(allocations, before);
  before = allocations;
  Eigen::VectorXd vector(100);
  vector.setZero();
  EXPECT_GT(allocations, before);
  before = allocations;
  const AlignedBuffer buffer(10);
  EXPECT_GT(allocations, before);
}

// One sample: no function allocates, for fixed, floating and mimic trees, with and without
// external wrenches.
TEST(NoHeap, OneSample) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const int nv = r.tree.velocityCount();
    const auto links = static_cast<Eigen::Index>(entry.model->links.size());
    const LinkWrenches wrenches = LinkWrenches::Random(6, links);
    Eigen::VectorXd out(nv);
    Eigen::MatrixXd M(nv, nv), Y(nv, 10 * links);
    Eigen::VectorXd moved_q(x.q.size());
    expectNoHeap("integratePosition", [&] { integratePosition(r.tree, x.q, x.v, moved_q); });
    expectNoHeap("positionRate", [&] { positionRate(r.tree, x.q, x.v, moved_q); });
    expectNoHeap("positionDifference", [&] { positionDifference(r.tree, x.q, moved_q, out); });
    for (const LinkWrenches* external : {static_cast<const LinkWrenches*>(nullptr), &wrenches}) {
      expectNoHeap("inverseDynamics", [&] {
        inverseDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, out, external);
      });
      expectNoHeap("biasTorque",
                   [&] { biasTorque(r.tree, r.compiled, r.workspace, x.q, x.v, out, external); });
      expectNoHeap("forwardDynamics", [&] {
        forwardDynamics(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, out, external);
      });
      expectNoHeap("forwardDynamicsByMassMatrix", [&] {
        forwardDynamicsByMassMatrix(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, out,
                                    external);
      });
      if (!r.tree.floating()) {
        expectNoHeap("baseReaction", [&] {
          baseReaction(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, external);
        });
      } else {
        const Eigen::VectorXd s = x.q.tail(x.q.size() - 7), sd = x.v.tail(nv - 6),
                              sdd = x.a.tail(nv - 6);
        expectNoHeap("inverseDynamicsFromImu", [&] {
          inverseDynamicsFromImu(r.tree, r.compiled, r.workspace, {}, s, sd, sdd, out, external);
        });
      }
    }
    expectNoHeap("gravityTorque",
                 [&] { gravityTorque(r.tree, r.compiled, r.workspace, x.q, out); });
    expectNoHeap("massMatrix", [&] { massMatrix(r.tree, r.compiled, r.workspace, x.q, M); });
    expectNoHeap("torqueRegressor",
                 [&] { torqueRegressor(r.tree, r.workspace, x.q, x.v, x.a, Y); });
    expectNoHeap("compileParameters",
                 [&] { compileParameters(r.tree, r.parameters, &r.compiled); });
  }
}

// Dual numbers neither, once the result has its size.
TEST(NoHeap, DualNumbers) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const ParametersOf<Dual> parameters = {
        r.parameters.layout, {r.parameters.values.begin(), r.parameters.values.end()}};
    const CompiledParametersOf<Dual> compiled = compileParameters(r.tree, parameters);
    const std::vector<Dual> q(x.q.begin(), x.q.end()), v(x.v.begin(), x.v.end()),
        external(6 * entry.model->links.size(), Dual(1.0, 2.0));
    std::vector<Dual> out(v.size());
    expectNoHeap("inverseDynamics",
                 [&] { inverseDynamics(r.tree, compiled, r.workspace, q, v, v, &out, &external); });
    expectNoHeap("forwardDynamics",
                 [&] { forwardDynamics(r.tree, compiled, r.workspace, q, v, v, &out, &external); });
  }
}

// Derivatives do not allocate, with and without external wrenches.
TEST(NoHeap, Derivatives) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const int nv = r.tree.velocityCount();
    const auto links = static_cast<Eigen::Index>(entry.model->links.size());
    const LinkWrenches wrenches = LinkWrenches::Random(6, links);
    Eigen::VectorXd a(nv), gq(nv), gv(nv), ga(nv);
    Eigen::MatrixXd dq(nv, nv), dv(nv, nv), dtau(nv, nv);
    Eigen::MatrixXd dpi(nv, 10 * links);
    const Eigen::MatrixXd weights = Eigen::MatrixXd::Random(nv, 10 * links);
    for (const LinkWrenches* external : {static_cast<const LinkWrenches*>(nullptr), &wrenches}) {
      expectNoHeap("inverseDynamicsDerivatives", [&] {
        inverseDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.a, dq, dv,
                                   external);
      });
      expectNoHeap("forwardDynamicsDerivatives", [&] {
        forwardDynamicsDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, a, dq, dv,
                                   dtau, external);
      });
      expectNoHeap("forwardDynamicsParameterDerivatives", [&] {
        forwardDynamicsParameterDerivatives(r.tree, r.compiled, r.workspace, x.q, x.v, x.tau, a,
                                            dpi, external);
      });
    }
    expectNoHeap("torqueRegressorGradient", [&] {
      torqueRegressorGradient(r.tree, r.workspace, x.q, x.v, x.a, weights, gq, gv, ga);
    });
  }
}

// Kinematics, momentum, energy and Coriolis matrices do not allocate.
TEST(NoHeap, Quantities) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const int nv = r.tree.velocityCount(), tip = static_cast<int>(entry.model->links.size()) - 1;
    Kinematics kinematics(r.tree);
    CoriolisWorkspace scratch(r.tree);
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv), S(6, entry.model->velocity_count);
    Eigen::Matrix<double, 3, Eigen::Dynamic> J_com(3, nv);
    Eigen::MatrixXd C(nv, nv);
    const Pose X_LF = Pose::fromXyzRpy({0.1, 0.2, 0.3}, {0.4, 0.5, 0.6});
    expectNoHeap("computeKinematics", [&] {
      computeKinematics(r.tree, x.q, kinematics);
      computeKinematics(r.tree, x.q, x.v, kinematics);
      computeKinematics(r.tree, x.q, x.v, x.a, kinematics);
    });
    expectNoHeap("frame functions", [&] {
      framePose(kinematics, tip, X_LF);
      frameTwist(r.tree, kinematics, tip, X_LF);
      frameAcceleration(r.tree, kinematics, tip, X_LF);
      frameProperAcceleration(r.tree, kinematics, tip, X_LF);
      relativePose(kinematics, 0, tip);
    });
    constexpr Representation kAll[] = {Representation::kBody, Representation::kSpatial,
                                       Representation::kMixed};
    for (const Representation of : kAll) {
      expectNoHeap("frameJacobian, frameBias, relativeJacobian", [&] {
        for (const Representation base : kAll) {
          frameJacobian(r.tree, kinematics, tip, X_LF, of, base, J);
          frameBias(r.tree, kinematics, tip, X_LF, of, base);
        }
        relativeJacobian(r.tree, kinematics, 0, tip, of, S);
      });
    }
    expectNoHeap("centroidalState", [&] { centroidalState(r.tree, r.compiled, kinematics); });
    expectNoHeap("lockedInertia", [&] { lockedInertia(r.tree, r.compiled, kinematics); });
    expectNoHeap("comJacobian", [&] { comJacobian(r.tree, r.compiled, kinematics, J_com); });
    expectNoHeap("centroidalMomentumMatrix",
                 [&] { centroidalMomentumMatrix(r.tree, r.compiled, kinematics, J); });
    expectNoHeap("centroidalMomentumMatrixRate",
                 [&] { centroidalMomentumMatrixRate(r.tree, r.compiled, kinematics, J); });
    expectNoHeap("energies", [&] {
      totalMass(r.compiled);
      kineticEnergy(r.tree, r.compiled, kinematics, x.v);
      potentialEnergy(r.tree, r.compiled, kinematics);
    });
    for (const auto factorisation :
         {CoriolisFactorisation::kBody, CoriolisFactorisation::kCentreOfMass}) {
      expectNoHeap("coriolisMatrix", [&] {
        coriolisMatrix(r.tree, r.compiled, kinematics, factorisation, scratch, C);
      });
    }
    std::vector<LinkMotion> motions(entry.model->links.size());
    expectNoHeap("linkMotions", [&] { linkMotions(r.tree, x.q, x.v, x.a, &motions); });
    Eigen::MatrixXd Y(6, 10 * (tip + 1));
    Eigen::RowVectorXd row(10 * (tip + 1));
    const std::vector<int> some = {0, tip};
    expectNoHeap("spatialMomentumRegressor",
                 [&] { spatialMomentumRegressor(motions, Vector3d::Ones(), Y); });
    expectNoHeap("wrenchRegressor", [&] { wrenchRegressor(motions, some, tip, Y); });
    if (velocityCount(entry.model->joints[0].type) == 1) {
      expectNoHeap("jointTorqueRegressor", [&] {
        jointTorqueRegressor(*entry.model, motions, 0, entry.model->joints[0].second, some, row);
      });
    }
  }
}

// Everything that a model declares at its joints, couplings included, is computed without heap.
TEST(NoHeap, JointEffects) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  std::vector<ZooEntry> zoo = bundledRobots();
  for (const bool floating : {false, true}) {
    RandomModelOptions options{.joints = 12,
                               .fixed = 0.1,
                               .planar = 0.1,
                               .mimic = 0.3,
                               .rotor = 0.5,
                               .friction = 0.5,
                               .spring = 0.5,
                               .floating = floating};
    zoo.push_back({"effects", std::make_shared<const Model>(randomModel(5, options))});
  }
  for (const ZooEntry& entry : zoo) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const RandomState x = randomState(r.tree, 1);
    const int nv = r.tree.velocityCount();
    const ParameterLayout& layout = *r.parameters.layout;
    Eigen::MatrixXd Y(nv, layout.size()), columns(nv, layout.size() - layout.inertialSize());
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(nv, nv);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(nv);
    expectNoHeap("addJointEffects",
                 [&] { addJointEffects(r.tree, r.parameters, x.q, x.v, x.a, tau); });
    expectNoHeap("addCouplingInertia", [&] { addCouplingInertia(r.tree, r.parameters, M); });
    expectNoHeap("jointEffectColumns",
                 [&] { jointEffectColumns(r.tree, layout, x.q, x.v, x.a, columns); });
    expectNoHeap("augmentedRegressor",
                 [&] { augmentedRegressor(r.tree, layout, r.workspace, x.q, x.v, x.a, Y); });
    expectNoHeap("generalisedMomentumRegressor",
                 [&] { generalisedMomentumRegressor(r.tree, layout, r.workspace, x.q, x.v, Y); });
    Eigen::RowVectorXd row(layout.size());
    expectNoHeap("kineticEnergyRegressor",
                 [&] { kineticEnergyRegressor(r.tree, layout, r.workspace, x.q, x.v, row); });
    expectNoHeap("potentialEnergyRegressor",
                 [&] { potentialEnergyRegressor(r.tree, layout, r.workspace, x.q, row); });
    expectNoHeap("dissipationRegressor",
                 [&] { dissipationRegressor(r.tree, layout, r.workspace, x.q, x.v, row); });
    expectNoHeap("powerRegressor",
                 [&] { powerRegressor(r.tree, layout, r.workspace, x.q, x.v, x.a, row); });
    expectNoHeap("fullTorque", [&] {
      fullTorque(r.tree, r.parameters, r.compiled, r.workspace, x.q, x.v, x.a, tau);
    });
    for (const Eigen::Index samples : {1, 6}) {
      const Eigen::MatrixXd q = x.q.transpose().replicate(samples, 1),
                            v = x.v.transpose().replicate(samples, 1),
                            a = x.a.transpose().replicate(samples, 1);
      RegressorBatch batch(r.tree, samples, layout.size());
      expectNoHeap("augmentedRegressorBatch",
                   [&] { augmentedRegressorBatch(r.tree, layout, r.workspace, q, v, a, batch); });
    }
  }
}

// Rows are taken into a recursive estimate without heap.
TEST(NoHeap, RecursiveLeastSquares) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  RecursiveLeastSquares online(Eigen::VectorXd::Ones(8), Eigen::VectorXd::Ones(8));
  const Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(3, 8);  // a row of it is not contiguous
  Eigen::VectorXd beta(8);
  expectNoHeap("add", [&] { online.add(rows.row(1), 2.0, 0.1); });
  expectNoHeap("forget", [&] { online.forget(0.99); });
  expectNoHeap("estimate", [&] { online.estimate(beta); });
}

// Batches: no function allocates, whatever the number of samples.
TEST(NoHeap, Batch) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  for (const ZooEntry& entry : wholeZoo()) {
    SCOPED_TRACE(entry.name);
    TestRobot r(entry.model);
    const int nv = r.tree.velocityCount();
    const auto columns = static_cast<Eigen::Index>(10 * entry.model->links.size());
    Kinematics kinematics(r.tree);
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv);
    for (const Eigen::Index samples : {1, 3, 8, 13}) {
      Eigen::MatrixXd q(samples, r.tree.positionCount()), v(samples, nv), a(samples, nv);
      for (Eigen::Index k = 0; k < samples; ++k) {
        const RandomState x = randomState(r.tree, static_cast<unsigned>(k));
        q.row(k) = x.q.transpose(), v.row(k) = x.v.transpose(), a.row(k) = x.a.transpose();
      }
      Eigen::MatrixXd out(samples, nv), M(samples, nv * nv);
      RegressorBatch regressor(r.tree, samples, columns);
      const std::vector<int> links = {0, static_cast<int>(columns) / 10 - 1};
      const Eigen::MatrixXd values = Eigen::MatrixXd::Random(samples, 12);
      const BatchWrenches external = {links, values};
      expectNoHeap("inverseDynamicsBatch",
                   [&] { inverseDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out); });
      expectNoHeap("forwardDynamicsBatch",
                   [&] { forwardDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out); });
      expectNoHeap("batches with external wrenches", [&] {
        inverseDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out, &external);
        forwardDynamicsBatch(r.tree, r.compiled, r.workspace, q, v, a, out, &external);
      });
      expectNoHeap("massMatrixBatch",
                   [&] { massMatrixBatch(r.tree, r.compiled, r.workspace, q, M); });
      expectNoHeap("torqueRegressorBatch",
                   [&] { torqueRegressorBatch(r.tree, r.workspace, q, v, a, regressor); });
      Eigen::MatrixXd poses(samples, 12 * columns / 10), gq(samples, nv), gv(samples, nv);
      expectNoHeap("linkPosesBatch", [&] { linkPosesBatch(r.tree, r.workspace, q, poses); });
      Eigen::MatrixXd motions(samples, 6 * columns / 10), jacobians(samples, 6 * nv);
      expectNoHeap("batches of kinematics", [&] {
        linkTwistsBatch(r.tree, r.workspace, kinematics, q, v, motions);
        linkProperAccelerationsBatch(r.tree, r.workspace, kinematics, q, v, a, motions);
        linkClassicalAccelerationsBatch(r.tree, r.workspace, kinematics, q, v, a, motions);
        frameJacobianBatch(r.tree, r.workspace, kinematics, q, links[1], {}, Representation::kMixed,
                           Representation::kBody, J, jacobians);
      });
      expectNoHeap("torqueRegressorGradientBatch", [&] {
        torqueRegressorGradientBatch(r.tree, r.workspace, q, v, a, regressor, gq, gv, out);
      });
    }
  }
}

// Filters and differentiators of a control loop do not allocate either.
TEST(NoHeap, StreamingSignals) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  StreamingFilter filter(butterworthLowpass(5, 20.0, 1000.0), 7);
  AdaptiveDifferentiator differentiator(1e-3, {.band = 1e-3, .max_window = 30, .degree = 2});
  const Eigen::VectorXd x = Eigen::VectorXd::Random(7);
  Eigen::VectorXd y(7);
  for (int k = 0; k < 3; ++k) {
    expectNoHeap("StreamingFilter::step", [&] { filter.step(x, y); });
    expectNoHeap("AdaptiveDifferentiator::step", [&] { differentiator.step(0.1 * k); });
  }
  expectNoHeap("StreamingFilter::reset", [&] { filter.reset(y); });
}

// Servos and computed torque do not allocate in the loop.
TEST(NoHeap, Servos) {
  if (!trapWorks()) GTEST_SKIP() << "no malloc trap for this C library";
  const auto model = std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/tx40.yaml"));
  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  ComputedTorque law(tree, parameters);
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(6, 0.3), zero = Eigen::VectorXd::Zero(6);
  Eigen::VectorXd command(6), tau(6);
  for (const ControlKind kind :
       {ControlKind::kPid, ControlKind::kCascade, ControlKind::kComputedTorque}) {
    Control control;
    control.kind = kind;
    const Servo servo = declaredServo(tree, parameters, control, q);
    ServoState state;
    resetServo(servo, q, zero, &state);
    expectNoHeap("servoStep", [&] {
      servoStep(servo, {q.data(), zero.data(), zero.data(), zero.data()}, zero, &state, command);
    });
    expectNoHeap("resetServo", [&] { resetServo(servo, q, zero, &state); });
  }
  expectNoHeap("ComputedTorque", [&] { law.torque(q, zero, zero, q, tau); });
}

}  // namespace
}  // namespace proprio
