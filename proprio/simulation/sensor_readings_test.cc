#include "proprio/simulation/sensor_readings.h"

#include <gtest/gtest.h>

#include "proprio/simulation/testing/loop_robots.h"

namespace proprio {
namespace {

using namespace testing_loop;
using Eigen::VectorXd;

// a turntable (joint about z) with a hand fixed to it that carries a force-torque sensor
Model turntable() {
  Model model = oneJoint(0.5);
  Link hand;
  hand.name = "hand";
  hand.has_inertial = true;
  hand.inertia = InertialParameters::fromCom(3.0, Vector3d(0.0, 0.1, 0.2),
                                             Vector3d(0.02, 0.03, 0.01).asDiagonal());
  model.links.push_back(hand);
  Joint wrist;
  wrist.name = "wrist";
  wrist.first = 1;
  wrist.second = 2;
  wrist.X_FJ.p = Vector3d(0.4, 0.0, 0.0);
  model.joints.push_back(wrist);
  return model;
}

Sensor sensorOf(SensorKind kind, const std::string& name, int link) {
  Sensor sensor;
  sensor.name = name;
  sensor.kind = kind;
  sensor.link = link;
  return sensor;
}

// the last reading, from the channels of these names (and _x _y _z)
VectorXd lastOf(const ClosedLoopResult& result, const std::vector<std::string>& names) {
  std::vector<double> row;
  for (const std::string& name : names) {
    for (const char* axis : {"_x", "_y", "_z", "_w"}) {
      if (result.recording.column(name + axis) >= 0)
        row.push_back(column(result, name + axis).tail(1)[0]);
    }
  }
  return Eigen::Map<VectorXd>(row.data(), static_cast<Eigen::Index>(row.size()));
}
Vector3d vectorOf(const ClosedLoopResult& result, const std::string& name) {
  return lastOf(result, {name});
}
Vector6d wrenchOf(const ClosedLoopResult& result, const std::string& sensor) {
  return lastOf(result, {"f_" + sensor, "m_" + sensor});
}

// At rest an accelerometer reads +g upwards, a gyroscope nothing, a magnetometer the field in its
// axes, and a force-torque sensor the weight of the hand with its moment; from the other side, or
// with the other sign, its opposite.
TEST(SensorReadings, AtRest) {
  Model model = turntable();
  Sensor imu = sensorOf(SensorKind::kAccelerometer, "acc", 2);
  imu.X_LS.R = rotationFromRpy(Vector3d(std::numbers::pi / 2.0, 0.0, 0.0));  // y up
  Sensor gyro = imu, magnetometer = imu, orientation = imu;
  gyro.kind = SensorKind::kGyroscope;
  gyro.name = "gyro";
  magnetometer.kind = SensorKind::kMagnetometer;
  magnetometer.name = "mag";
  orientation.kind = SensorKind::kOrientation;
  orientation.name = "ori";
  Sensor ft = sensorOf(SensorKind::kForceTorque, "ft", 2);
  ft.joint = 1;
  Sensor opposite = ft;
  opposite.name = "opposite";
  opposite.sign = -1.0;
  Sensor table = ft;
  table.name = "table";
  table.link = 1;
  table.X_LS.p = Vector3d(0.4, 0.0, 0.0);
  model.sensors = {imu, gyro, magnetometer, orientation, ft, opposite, table};
  const Tree tree(finished(model));
  const ClosedLoopRun run = runOf(tree, restMotion(tree, 0.0, 0.01, 1000.0));
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  EXPECT_LT((vectorOf(result, "acc_acc") - Vector3d(0.0, 9.81, 0.0)).norm(), 1e-9);
  EXPECT_LT(vectorOf(result, "gyro_gyro").norm(), 1e-9);
  EXPECT_LT((vectorOf(result, "mag_mag") - Vector3d(2.0e-5, -4.4e-5, 0.0)).norm(), 1e-15);
  const double s = std::sqrt(0.5);
  EXPECT_LT((lastOf(result, {"quat_ori"}) - Eigen::Vector4d(s, 0, 0, s)).norm(), 1e-9);
  Vector6d weight;
  weight << 0.0, 0.0, 3.0 * 9.81, 0.1 * 3.0 * 9.81, 0.0, 0.0;
  EXPECT_LT((wrenchOf(result, "ft") - weight).norm(), 1e-9);
  EXPECT_LT((wrenchOf(result, "opposite") + weight).norm(), 1e-9);
  EXPECT_LT((wrenchOf(result, "table") + weight).norm(), 1e-9);
}

// On a turntable at constant speed w a sensor at radius r reads w and the centripetal w^2 r, and
// the hand pulls with m w^2 r.
TEST(SensorReadings, Turntable) {
  Model model = turntable();
  model.links[2].inertia =
      InertialParameters::fromCom(3.0, Vector3d::Zero(), 0.01 * Matrix3d::Identity());
  Sensor ft = sensorOf(SensorKind::kForceTorque, "ft", 2);
  ft.joint = 1;
  Sensor acc = sensorOf(SensorKind::kAccelerometer, "acc", 1);
  acc.X_LS.p = Vector3d(0.3, 0.0, 0.0);
  model.sensors = {ft, sensorOf(SensorKind::kGyroscope, "gyro", 2), acc};
  const Tree tree(finished(model));
  MotionSamples motion = restMotion(tree, 0.0, 0.3, 1000.0);
  motion.q.col(0) = 4.0 * motion.time;
  motion.v.setConstant(4.0);
  const ClosedLoopResult result = simulateClosedLoop(tree, runOf(tree, motion));
  EXPECT_LT((vectorOf(result, "gyro_gyro") - Vector3d(0.0, 0.0, 4.0)).norm(), 1e-6);
  EXPECT_LT((vectorOf(result, "acc_acc") - Vector3d(-16.0 * 0.3, 0.0, 9.81)).norm(), 1e-5);
  Vector6d pull = Vector6d::Zero();
  pull[0] = -3.0 * 16.0 * 0.4;
  pull[2] = 3.0 * 9.81;
  EXPECT_LT((wrenchOf(result, "ft") - pull).norm(), 1e-4);
}

// A push on the hand appears in the force-torque sensor that carries it, and a payload does.
TEST(SensorReadings, PushAndPayload) {
  Model model = turntable();
  Sensor ft = sensorOf(SensorKind::kForceTorque, "ft", 2);
  ft.joint = 1;
  model.sensors = {ft};
  const Tree tree(finished(model));
  ClosedLoopRun run = runOf(tree, restMotion(tree, 0.0, 0.01, 1000.0));
  AppliedWrench push;
  push.link = 2;
  push.force = Vector3d(0.0, 0.0, 5.0);
  run.options.surroundings.wrenches = {push};
  run.options.payloads = {
      {0.005, 2, InertialParameters::fromCom(1.5, Vector3d::Zero(), Matrix3d::Zero())}};
  const VectorXd fz = column(simulateClosedLoop(tree, run), "f_ft_z");
  EXPECT_NEAR(fz[4], 3.0 * 9.81 - 5.0, 1e-9);
  EXPECT_NEAR(fz[5], 4.5 * 9.81 - 5.0, 1e-9);
}

// Noise has mean (bias) and standard deviation as stated, tested at 5 standard errors of 4000
// samples; readings are multiples of the quantum.
TEST(SensorReadings, NoiseBiasAndQuantisation) {
  Sensor sensor = sensorOf(SensorKind::kAccelerometer, "acc", 0);
  sensor.noise = 0.2;
  sensor.bias = {0.5, -1.0, 2.0};
  const int n = 4000;
  Eigen::MatrixXd noise(n, 3);
  for (int i = 0; i < n; ++i) {
    VectorXd reading = VectorXd::Constant(3, 9.0);
    spoilReading(sensor, 3, 17, static_cast<std::uint64_t>(i), reading);
    noise.row(i) = reading.transpose();
  }
  const double error = 5.0 * 0.2 / std::sqrt(n);
  for (int k = 0; k < 3; ++k) {
    const double mean = noise.col(k).mean();
    EXPECT_NEAR(mean, 9.0 + sensor.bias[static_cast<size_t>(k)], error);
    const double variance = (noise.col(k).array() - mean).square().sum() / (n - 1);
    EXPECT_NEAR(std::sqrt(variance), 0.2, error / std::sqrt(2.0));
  }
  EXPECT_NEAR(noise.col(0).dot(noise.col(1)) / n - noise.col(0).mean() * noise.col(1).mean(), 0.0,
              5.0 * 0.04 / std::sqrt(n));
  sensor.quantisation = 0.25;
  VectorXd reading = VectorXd::Constant(3, 9.1);
  spoilReading(sensor, 3, 17, 0, reading);
  for (double x : reading) EXPECT_EQ(x / 0.25, std::round(x / 0.25));
}

// The noise of an orientation is a rotation of the stated size about each axis.
TEST(SensorReadings, OrientationNoise) {
  Sensor sensor = sensorOf(SensorKind::kOrientation, "ori", 0);
  sensor.noise = 0.01;
  const int n = 2000;
  double squares = 0.0;
  for (int i = 0; i < n; ++i) {
    VectorXd reading = Eigen::Vector4d(0.0, 0.0, 0.0, 1.0);
    spoilReading(sensor, 1, 1, static_cast<std::uint64_t>(i), reading);
    EXPECT_NEAR(reading.norm(), 1.0, 1e-12);
    const Eigen::Vector4d quaternion = reading;
    squares += rotationLog(rotationFromQuaternion(quaternion)).squaredNorm() / (3.0 * n);
  }
  EXPECT_NEAR(std::sqrt(squares), 0.01, 5.0 * 0.01 / std::sqrt(6.0 * n));
}

// Joint torque sensors read what the rotor leaves for the link, encoders their own noise.
TEST(SensorReadings, JointSensors) {
  Model model = turntable();
  model.joints[0].drive.declared = true;
  model.joints[0].drive.rotor_inertia = 0.3;
  Sensor torque = sensorOf(SensorKind::kJointTorque, "torque", -1);
  torque.joint = 0;
  Sensor encoder = sensorOf(SensorKind::kEncoder, "encoder", -1);
  encoder.joint = 0;
  encoder.quantisation = 1e-3;
  encoder.bias = {0.25};
  model.sensors = {torque, encoder};
  const Tree tree(finished(model));
  const ClosedLoopResult result =
      simulateClosedLoop(tree, runOf(tree, sineMotion(tree, 0.2, 1.0, 0.2, 1000.0)));
  const VectorXd tau = column(result, "tau_true_joint"), a = column(result, "a_true_joint"),
                 read = column(result, "tau_torque"), q = column(result, "q_joint"),
                 q_true = column(result, "q_true_joint");
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    EXPECT_NEAR(read[i], tau[i] - 0.3 * a[i], 1e-9);
    EXPECT_LE(std::abs(q[i] - 0.25 - q_true[i]), 0.5e-3 + 1e-12);
  }
}

}  // namespace
}  // namespace proprio
