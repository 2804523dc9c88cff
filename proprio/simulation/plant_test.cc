// The physics between two control periods: elasticity, friction with states, contacts, wrenches.

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/core/instruction_set.h"
#include "proprio/dynamics/kernels/kernels.h"
#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using namespace testing_loop;
using Eigen::VectorXd;

constexpr double kRate = 5000.0;

AppliedWrench turn(double moment, double start = 0.0) {
  AppliedWrench wrench;
  wrench.start = start;
  wrench.link = 1;
  wrench.moment = Vector3d(0.0, 0.0, moment);
  return wrench;
}

// tanh of the kernels agrees with the library's to 4 units in the last place, and is odd, bounded
// and NaN where it must be.
TEST(Tanh, AgreesWithTheLibrary) {
  std::vector<double> x, y;
  for (double v = -25.0; v <= 25.0; v += 0.00391) x.push_back(v);
  for (double v = 1e-300; v < 10.0; v *= 1.7) x.push_back(v);
  for (double v : {0.0, -0.0, 0.625, -0.625, 1e308, -1e308, std::nan("")}) x.push_back(v);
  while (x.size() % 8 != 0) x.push_back(0.0);
  y.resize(x.size());
  for (const char* isa : {"portable", "avx2"}) {
    if (!forceInstructionSet(isa)) continue;
    kernels::active().tanh(x.data(), y.data(), static_cast<ptrdiff_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::tanh(x[i]);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(y[i]));
        continue;
      }
      EXPECT_NEAR(y[i], expected, 9e-16 * std::abs(expected)) << x[i] << " " << isa;
      EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << x[i];
    }
  }
  forceInstructionSet(nullptr);
}

Model flexibleWheel(double link, double rotor, double stiffness, double damping = 0.0) {
  Model model = oneJoint(link);
  model.joints[0].drive.declared = true;
  model.joints[0].drive.rotor_inertia = rotor;
  model.joints[0].drive.stiffness = stiffness;
  model.joints[0].drive.damping = damping;
  return model;
}

// A moment on the link of a free flexible joint lets it swing against its rotor with
// w^2 = K (1/I_link + 1/I_rotor): theta - q = -(m / (I_link w^2)) (1 - cos(w t)).
TEST(Plant, FlexibleJointSwingsWithItsFrequency) {
  const double link = 0.4, rotor = 0.1, K = 300.0, moment = 2.0;
  const Tree tree(finished(flexibleWheel(link, rotor, K)));
  ClosedLoopRun run = idleRun(tree, restMotion(tree, 0.2, 1.0, 1000.0), kRate);
  run.options.surroundings.wrenches = {turn(moment)};
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd q = column(result, "q_true_joint"), motor = column(result, "motor_true_joint");
  const double w2 = K * (1.0 / link + 1.0 / rotor);
  for (Eigen::Index i = 0; i < q.size(); i += 50) {
    const double t = result.recording.time[i];
    EXPECT_NEAR(motor[i] - q[i], -moment / (link * w2) * (1.0 - std::cos(std::sqrt(w2) * t)), 1e-9);
  }
  // the encoder sits on the motor
  EXPECT_EQ(column(result, "q_joint"), motor);
  run.options.encoders_on_links = true;
  EXPECT_EQ(column(simulateClosedLoop(tree, run), "q_joint"), q);
}

// The stiffer the drives, the closer the flexible arm to the rigid one: the difference is
// proportional to 1/K.
TEST(Plant, StiffLimitIsTheRigidRobot) {
  Model model = *bundled("planar_2r.yaml");
  for (Joint& joint : model.joints) {
    joint.drive.declared = true;
    joint.drive.rotor_inertia = 0.05;
  }
  const auto run = [&](double stiffness) {
    Model flexible = model;
    for (Joint& joint : flexible.joints) {
      joint.drive.stiffness = stiffness;
      joint.drive.damping = std::isnan(stiffness) ? 0.0 : 1e-3 * stiffness;
    }
    const Tree tree(finished(flexible));
    const ClosedLoopResult result =
        simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.3, 1.0, 0.5, 1000.0)));
    return VectorXd(column(result, "q_true_elbow"));
  };
  const VectorXd rigid = run(kNotStated);
  const double soft = (run(1e4) - rigid).cwiseAbs().maxCoeff();
  const double hard = (run(1e5) - rigid).cwiseAbs().maxCoeff();
  EXPECT_LT(hard, 2e-3);
  EXPECT_NEAR(soft / hard, 10.0, 1.5);
}

// A stiffness without a rotor has nothing to swing against.
TEST(Plant, FlexibleJointNeedsARotor) {
  Model model = flexibleWheel(0.4, 0.1, 300.0);
  model.joints[0].drive.declared = false;
  const Tree tree(finished(model));
  EXPECT_THROW(simulateClosedLoop(tree, idleRun(tree, restMotion(tree, 0.0, 0.1, 1000.0), kRate)),
               Error);
}

Model bristledWheel(DynamicFriction law) {
  Model model = oneJoint(0.2);
  model.joints[0].friction.dynamic = law;
  return model;
}
DynamicFriction stribeckLaw(DynamicFrictionKind kind) {
  return {kind, 2000.0, 3.0, 0.4, 1.0, 1.6, 0.1, 2.0};
}

class Bristled : public testing::TestWithParam<DynamicFrictionKind> {};
INSTANTIATE_TEST_SUITE_P(Plant, Bristled,
                         testing::Values(DynamicFrictionKind::kLuGre, DynamicFrictionKind::kLeuven),
                         [](const auto& tested) { return dynamicFrictionName(tested.param); });

// At constant speed the friction is the Stribeck curve plus the viscous term.
TEST_P(Bristled, SteadyStateIsTheStribeckCurve) {
  const Tree tree(finished(bristledWheel(stribeckLaw(GetParam()))));
  for (const double speed : {-0.5, 0.02, 0.08, 0.3, 2.0}) {
    MotionSamples motion = restMotion(tree, 0.0, 0.5, 1000.0);
    motion.q.col(0) = speed * motion.time;
    motion.v.setConstant(speed);
    ClosedLoopRun run = runOf(tree, motion);
    run.servo.kp *= 100.0;
    run.servo.kd *= 10.0;
    const ClosedLoopResult result = simulateClosedLoop(tree, run);
    const double v = column(result, "v_true_joint")[500];
    const double g = 1.0 + 0.6 * std::exp(-std::pow(v / 0.1, 2.0));
    EXPECT_NEAR(v, speed, 1e-4);
    // Leuven elements lag: by the steepest slope of the curve (5.2) times how far v may be off
    const double lag = GetParam() == DynamicFrictionKind::kLeuven ? 5.2e-4 : 1e-5;
    EXPECT_NEAR(column(result, "friction_true_joint")[500], g * (v > 0 ? 1 : -1) + 0.4 * v, lag);
  }
}

// Below break-away a moment bends the bristles, by at least moment / sigma0 and by no more than the
// logarithm of the approach to break-away (LuGre; the parabola of Leuven lies below it), and then
// the joint stays; above it the joint runs away.
TEST_P(Bristled, BreakAway) {
  const Tree tree(finished(bristledWheel(stribeckLaw(GetParam()))));
  ClosedLoopRun run = idleRun(tree, restMotion(tree, 0.0, 3.0, 1000.0), kRate);
  run.options.sample_rate = 1000.0;
  run.options.surroundings.wrenches = {turn(0.5)};
  const VectorXd stuck = column(simulateClosedLoop(tree, run), "q_true_joint");
  EXPECT_GT(stuck[3000], 0.5 / 2000.0);
  EXPECT_LT(stuck[3000], 1.6 / 2000.0 * -std::log(1.0 - 1.0 / 1.6));  // the swing reaches 1.0
  EXPECT_NEAR(stuck[3000], stuck[1500], 1e-6);
  run.options.surroundings.wrenches = {turn(1.8)};
  const VectorXd slides = column(simulateClosedLoop(tree, run), "q_true_joint");
  EXPECT_GT(slides[3000], 1.0);
}

// Dahl friction over the way: F = Fc - (Fc - F0) exp(-sigma0 (q - q0) / Fc) forwards, and its
// mirror image backwards; the loop encloses the lost work.
TEST(Plant, DahlHysteresis) {
  const double fc = 1.0, sigma = 50.0;
  const Tree tree(
      finished(bristledWheel({DynamicFrictionKind::kDahl, sigma, 0.0, 0.0, fc, fc, 1.0, 2.0})));
  ClosedLoopRun run = runOf(tree, sineMotion(tree, 0.05, 1.0, 1.0, kRate));
  run.options.sample_rate = kRate;
  run.servo.kp *= 25.0;
  run.servo.kd *= 5.0;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const VectorXd q = column(result, "q_true_joint"), v = column(result, "v_true_joint"),
                 friction = column(result, "friction_true_joint");
  double q0 = q[0], f0 = 0.0, direction = 1.0, work = 0.0;
  for (Eigen::Index i = 1; i < q.size(); ++i) {
    work += 0.5 * (friction[i] + friction[i - 1]) * (q[i] - q[i - 1]);
    if (v[i] * direction < 0.0) {
      q0 = q[i];
      f0 = friction[i];
      direction = -direction;
    }
    const double expected =
        direction * fc + (f0 - direction * fc) * std::exp(-sigma * std::abs(q[i] - q0) / fc);
    ASSERT_NEAR(friction[i], expected, 2e-3) << i;
  }
  EXPECT_GT(work, 0.1);
}

// Without sliding the Leuven model is a sum of stop operators of the way: each element's deflection
// is the way, cut off at its strength (integration overshoots by at most a step). A small loop in
// the middle of a stroke therefore closes: back at its beginning the torque is what it was. Dahl's
// is not.
TEST(Plant, LeuvenClosesSmallLoops) {
  const double strength = 1.0, stiffness = 50.0;
  double drift[2];
  for (const bool leuven : {true, false}) {
    const Tree tree(
        finished(bristledWheel({leuven ? DynamicFrictionKind::kLeuven : DynamicFrictionKind::kDahl,
                                stiffness, 0.0, 0.0, strength, strength, 1.0, 2.0})));
    MotionSamples motion = sineMotion(tree, 0.0, 1.0, 2.0, kRate);
    // forwards to 15 mrad, back to 9, forwards to 20: the loop closes at 15
    const auto stroke = [](double from, double to, double share) {
      const double s = std::clamp(share, 0.0, 1.0);
      return from + (to - from) * 0.5 * (1.0 - std::cos(M_PI * s));
    };
    for (Eigen::Index i = 0; i < motion.time.size(); ++i) {
      const double t = motion.time[i] * 1.5;
      motion.q(i, 0) = t < 1.0   ? stroke(0.0, 0.015, t)
                       : t < 2.0 ? stroke(0.015, 0.009, t - 1.0)
                                 : stroke(0.009, 0.020, t - 2.0);
    }
    ClosedLoopRun run = runOf(tree, motion);
    run.options.sample_rate = kRate;
    run.servo.kp *= 25.0;
    run.servo.kd *= 5.0;
    const ClosedLoopResult result = simulateClosedLoop(tree, run);
    const VectorXd q = column(result, "q_true_joint"),
                   friction = column(result, "friction_true_joint");
    const int n = 6;
    double z[n] = {}, fastest = 0.0;
    Eigen::Index turn = 0, back = 0;
    for (Eigen::Index i = 1; i < q.size(); ++i) {
      fastest = std::max(fastest, std::abs(q[i] - q[i - 1]));
      double expected = 0.0;
      for (int j = 0; j < n; ++j) {
        const double limit = (2 * j + 1) * strength / (n * stiffness);
        z[j] = std::clamp(z[j] + q[i] - q[i - 1], -limit, limit);
        expected += stiffness / n * z[j];
      }
      if (leuven) {
        ASSERT_NEAR(friction[i], expected, 2.0 * stiffness * fastest) << i;
      }
      if (motion.time[i] < 1.2 && q[i] > q[turn]) turn = i;
    }
    for (back = q.size() / 2; back + 1 < q.size() && q[back] < q[turn];) ++back;
    ASSERT_GE(q[back], q[turn]);
    drift[leuven ? 0 : 1] = std::abs(friction[back] - friction[turn]);
    if (leuven) {
      EXPECT_LT(drift[0], 2.0 * stiffness * fastest);
    }
  }
  EXPECT_GT(drift[1], 10.0 * drift[0]);
}

// Stiff bristles raise the physics rate by themselves; the run stays finite and keeps the friction
// within its bounds.
TEST(Plant, StiffBristlesAreSubstepped) {
  DynamicFriction law = stribeckLaw(DynamicFrictionKind::kLuGre);
  law.sigma0 = 1e5;
  law.sigma1 = 300.0;
  const Tree tree(finished(bristledWheel(law)));
  const ClosedLoopResult result =
      simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.3, 1.0, 0.3, 1000.0)));
  EXPECT_GT(result.physics_rate, 20000.0);
  EXPECT_LT(column(result, "friction_true_joint").cwiseAbs().maxCoeff(), 3.0);
}

// Every static friction law acts as declared: constant speed needs its torque.
TEST(Plant, EveryFrictionTerm) {
  Model model = oneJoint(0.3);
  FrictionModel& friction = model.joints[0].friction;
  friction.smooth_sign = SmoothSign::kTanh;
  friction.smooth_gain = 40.0;
  double coefficient = 0.5;
  for (int kind = 0; kind <= static_cast<int>(FrictionTermKind::kStribeck); ++kind) {
    friction.terms.push_back({static_cast<FrictionTermKind>(kind), "", coefficient, 0.3, 1.5});
    coefficient *= 1.1;
  }
  const Tree tree(finished(model));
  for (const double speed : {-0.7, 0.4}) {
    MotionSamples motion = restMotion(tree, 0.0, 0.5, 1000.0);
    motion.q.col(0) = speed * motion.time;
    motion.v.setConstant(speed);
    const ClosedLoopResult result = simulateClosedLoop(tree, runOf(tree, motion));
    const double v = column(result, "v_true_joint")[400];
    EXPECT_NEAR(column(result, "friction_true_joint")[400],
                frictionTorque(tree.model().joints[0].friction, v), 1e-12);
  }
}

// A wrench accelerates the link as force over mass, from its start until its end.
TEST(Plant, WrenchSchedule) {
  const Tree tree(finished(oneJoint(0.5)));
  ClosedLoopRun run = idleRun(tree, restMotion(tree, 0.0, 0.3, 1000.0), 1000.0);
  AppliedWrench push = turn(0.0, 0.1);
  push.end = 0.2;
  push.p_L = Vector3d(0.2, 0.0, 0.0);
  push.force = Vector3d(0.0, 3.0, 0.0);
  push.in_link_axes = true;
  run.options.surroundings.wrenches = {push};
  const VectorXd a = column(simulateClosedLoop(tree, run), "a_true_joint");
  for (Eigen::Index i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], i >= 100 && i < 200 ? 0.6 / 0.5 : 0.0, 1e-12) << i;
  // a force that stays in the world loses its arm as the link turns
  run.options.surroundings.wrenches[0].in_link_axes = false;
  const ClosedLoopResult world = simulateClosedLoop(tree, run);
  const VectorXd q = column(world, "q_true_joint"), aw = column(world, "a_true_joint");
  for (Eigen::Index i = 100; i < 200; ++i) EXPECT_NEAR(aw[i], 1.2 * std::cos(q[i]), 1e-12);
}

// A weight on a floor sinks by weight over stiffness, and its skin feels the weight.
TEST(Plant, WeightRestsOnTheFloor) {
  Model model = oneJoint(2.0, JointType::kPrismatic);
  Sensor skin;
  skin.name = "skin";
  skin.kind = SensorKind::kSkin;
  skin.link = 1;
  skin.cell_positions = {Vector3d(0.1, 0.0, -0.05), Vector3d(-0.1, 0.0, -0.05),
                         Vector3d(0.0, 0.0, 0.05)};
  skin.cell_normals = {-Vector3d::UnitZ(), -Vector3d::UnitZ(), Vector3d::UnitZ()};
  model.sensors = {skin};
  const Tree tree(finished(model));
  ClosedLoopRun run = idleRun(tree, restMotion(tree, 0.1, 1.0, 1000.0), 1000.0);
  HalfSpace floor;
  floor.stiffness = 2e4;
  floor.damping = 200.0;
  run.options.surroundings.half_spaces = {floor};
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const Eigen::Index last = result.recording.samples() - 1;
  EXPECT_NEAR(column(result, "q_true_joint")[last], 0.05 - 2.0 * 9.81 / (2.0 * 2e4), 1e-9);
  EXPECT_NEAR(column(result, "contact_skin_1")[last], 9.81, 1e-6);
  EXPECT_NEAR(column(result, "contact_skin_2")[last], 9.81, 1e-6);
  EXPECT_EQ(column(result, "contact_skin_3")[last], 0.0);
  // falling: not yet touched
  EXPECT_EQ(column(result, "contact_skin_1")[50], 0.0);
  EXPECT_NEAR(column(result, "q_true_joint")[50], 0.1 - 0.5 * 9.81 * 0.05 * 0.05, 1e-9);
}

// Friction of a half-space holds a mass on a slope below its cone and lets it slide above.
TEST(Plant, FrictionOnASlope) {
  const double angle = 0.3;
  Model model = oneJoint(1.0, JointType::kPrismatic);
  // the joint runs along the slope, pressed against it by a constant force
  model.joints[0].axis = Vector3d::UnitX();
  const Tree tree(finished(model));
  ClosedLoopRun run = idleRun(tree, restMotion(tree, 0.0, 0.5, 1000.0), 1000.0);
  HalfSpace floor;
  floor.point = Vector3d(0.0, 0.0, 0.001);
  floor.stiffness = 1e4;
  floor.damping = 0.0;
  AppliedWrench pull;
  pull.link = 1;
  pull.force = Vector3d(10.0 * std::tan(angle), 0.0, 0.0);  // normal force is 10 N
  run.options.surroundings.wrenches = {pull};
  run.options.surroundings.points = {{1, Vector3d::Zero()}};
  floor.friction = 1.5 * std::tan(angle);
  run.options.surroundings.half_spaces = {floor};
  EXPECT_LT(column(simulateClosedLoop(tree, run), "q_true_joint")[500], 2e-3);
  run.options.surroundings.half_spaces[0].friction = 0.5 * std::tan(angle);
  const double expected = 0.5 * (10.0 * std::tan(angle) * 0.5) * 0.25;
  EXPECT_NEAR(column(simulateClosedLoop(tree, run), "q_true_joint")[500], expected, 1e-3);
}

// A free robot falls while its servos hold the joints.
TEST(Plant, FreeBaseFalls) {
  const auto model = bundled("humanoid.yaml");
  const Tree tree(model);
  ASSERT_TRUE(tree.floating());
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.0, 0.2, 1000.0));
  run.options.check_limits = false;
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  // nothing but gravity acts, so joints and orientation stay
  const Eigen::Index last = result.recording.samples() - 1;
  EXPECT_NEAR(column(result, "true_base_z")[last], -0.5 * 9.81 * 0.04, 1e-6);
  EXPECT_NEAR(column(result, "true_base_qw")[last], 1.0, 1e-9);
}

}  // namespace
}  // namespace proprio
