#include "proprio/dynamics/drive_chain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

/// Ramuzat's elbow: gravity torque g (MY sin q + MX cos q), identified values of Table 3.1 with
/// friction of motor and joint in one sum, 250 turns of a motor of 6.6e-6 kg m^2.
constexpr double kMx = -0.11, kMy = 1.1, kInertia = 0.33, kMotor = 250.0 * 250.0 * 6.6e-6;
constexpr double kViscous = 5.1 + 0.47, kCoulomb = 4.0 + 0.55, kOffset = 0.86 - 0.27;
constexpr double kGain = 12.5, kGravity = 9.81;

Tree elbow() {
  // z horizontal, x horizontal at q = 0: potential 9.81 (MX sin q + MY cos q), so that the first
  // moment along y is -MY of the source
  return Tree(std::make_shared<const Model>(readRobotYamlText(fmt::format(
      R"(version: 1
base: {{rpy: [pi/2, 0, 0]}}
dh:
  convention: modified
  joints: [{{name: elbow, a: 0, alpha: 0, d: 0}}]
  links:
    link_1: {{mass: 2, first_moment: [{}, {}, 0], inertia: [1, 0, 0, 1, 0, {}]}}
joints:
  elbow:
    drive: {{gear_ratio: 250, motor_inertia: 6.6e-6, gain: {}}}
    friction: {{viscous: {}, coulomb: {}, offset: {}}}
)",
      kMx, -kMy, kInertia, kGain, kViscous, kCoulomb, kOffset))));
}

// Eq. 3.1 to 3.5 with the rotor's inertia reflected by the square of the ratio (0.41 kg m^2): the
// current that moves the elbow, what its torque sensor feels, and the acceleration under a current
// are the closed forms.
TEST(DriveChain, ElbowInClosedForm) {
  const Tree tree = elbow();
  const Parameters parameters = declaredParameters(tree.sharedModel());
  EXPECT_NEAR(kMotor, 0.4125, 1e-12);
  for (const double q : {-1.7, -0.3, 0.0, 0.9}) {
    for (const double v : {-2.0, 0.4}) {
      for (const double a : {-5.0, 0.0, 3.0}) {
        const double gravity = kGravity * (kMy * std::sin(q) + kMx * std::cos(q));
        const double friction = kViscous * v + std::copysign(kCoulomb, v) + kOffset;
        const double motor = (kMotor + kInertia) * a + gravity + friction;
        const Eigen::VectorXd Q = Eigen::VectorXd::Constant(1, q),
                              V = Eigen::VectorXd::Constant(1, v),
                              A = Eigen::VectorXd::Constant(1, a);
        const Eigen::VectorXd current = driveCurrents(tree, parameters, Q, V, A);
        EXPECT_NEAR(current[0], motor / kGain, 1e-12 * (1.0 + std::abs(motor)));
        // friction of the motor alone acts before the sensor
        const double of_motor = 5.1 * v + std::copysign(4.0, v) + 0.86;
        const double joint = kInertia * a + gravity + friction - of_motor;
        EXPECT_NEAR(
            sensorTorques(tree, parameters, A, current, Eigen::VectorXd::Constant(1, of_motor))[0],
            joint, 1e-11);
        const double direct = (kGain * current[0] - friction - gravity) / (kMotor + kInertia);
        EXPECT_NEAR(accelerationsFromCurrents(tree, parameters, Q, V, current)[0], direct, 1e-10);
        EXPECT_NEAR(direct, a, 1e-10);
      }
    }
  }
}

// The rotor of a joint that follows another at three times its speed weighs nine times as much on
// the leader, before the sensor.
TEST(DriveChain, RotorOfAFollower) {
  Model model = readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/planar_2r.yaml");
  const double inertias[2] = {0.1, 0.5};
  for (size_t k = 0; k < 2; ++k) {
    model.joints[k].friction = {};
    model.joints[k].drive = {};
    model.joints[k].drive.declared = true;
    model.joints[k].drive.rotor_inertia = inertias[k];
  }
  model.joints[1].mimic = Mimic{model.joints[0].name, 3.0, 0.0};
  const auto shared = std::make_shared<const Model>(finalize(std::move(model)));
  const Tree tree(shared);
  const Parameters parameters = declaredParameters(shared);
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(1, 0.3),
                        a = Eigen::VectorXd::Constant(1, 2.0), zero = Eigen::VectorXd::Zero(1);
  const Eigen::VectorXd current = driveCurrents(tree, parameters, q, zero, a);
  EXPECT_NEAR(current[0] - sensorTorques(tree, parameters, a, current, zero)[0],
              (0.1 + 9.0 * 0.5) * 2.0, 1e-12);
  EXPECT_THROW(sensorTorques(tree, parameters, a, Eigen::VectorXd::Zero(0), zero), Error);
}

// A payload of 34 kg at 5 cm adds 16.67 N m of gravity torque, and nothing else at rest.
TEST(DriveChain, PayloadOfTheElbow) {
  const Tree tree = elbow();
  const Tree loaded(std::make_shared<const Model>(lumpFixedJoints(attachPayload(
      tree.model(), "load", "link_1", Pose::identity(),
      InertialParameters::fromCom(34.0, Vector3d(0.05, 0.0, 0.0), Matrix3d::Zero())))));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  const auto torque = [&](const Tree& of) {
    return kGain * driveCurrents(of, declaredParameters(of.sharedModel()), zero, zero, zero)[0];
  };
  EXPECT_NEAR(torque(loaded) - torque(tree), 16.67, 0.01);
}

// Torque times speed is the same at the motor's shaft and at the joint.
TEST(DriveChain, ShaftKeepsThePower) {
  Drive drive;
  drive.gear_ratio = -120.0;
  drive.gain = -9.0;
  const ShaftState shaft = shaftState(drive, 0.5, 1.5, 2.0);
  EXPECT_EQ(shaft.position, -60.0);
  EXPECT_NEAR(shaft.velocity * shaft.torque, 1.5 * -9.0 * 2.0, 1e-12);
  drive.gear_ratio = 0.0;
  EXPECT_THROW(shaftState(drive, 0.0, 0.0, 1.0), Error);
}

// Accelerations under the currents of a motion are those of the motion, for robots with coupled
// wrists, springs and friction.
TEST(DriveChain, DirectInvertsInverse) {
  for (const char* robot : {"tx40", "rv2sq", "iiwa14", "planar_2r"}) {
    const Tree tree(std::make_shared<const Model>(
        readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + robot + ".yaml")));
    const Parameters parameters = declaredParameters(tree.sharedModel());
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> number(-2.0, 2.0);
    const auto vector = [&](int size) -> Eigen::VectorXd {
      return Eigen::VectorXd::NullaryExpr(size, [&] { return number(random); });
    };
    const Eigen::VectorXd q = vector(tree.positionCount()), v = vector(tree.velocityCount()),
                          a = vector(tree.velocityCount());
    const Eigen::VectorXd currents = driveCurrents(tree, parameters, q, v, a);
    EXPECT_LT((accelerationsFromCurrents(tree, parameters, q, v, currents) - a).norm(), 1e-9)
        << robot;
  }
}

// A gain of zero and a free base are refused.
TEST(DriveChain, Refusals) {
  Model model = elbow().model();
  model.joints[0].drive.gain = 0.0;
  const Tree tree(std::make_shared<const Model>(model));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  EXPECT_THROW(driveCurrents(tree, declaredParameters(tree.sharedModel()), zero, zero, zero),
               Error);
  const Tree free(std::make_shared<const Model>(withBase(elbow().model(), "base_link", true)));
  EXPECT_THROW(driveCurrents(free, declaredParameters(free.sharedModel()), free.neutralPosition(),
                             Eigen::VectorXd::Zero(7), Eigen::VectorXd::Zero(7)),
               Error);
}

}  // namespace
}  // namespace proprio
