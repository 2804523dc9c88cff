#include "proprio/simulation/sensor_readings.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "proprio/core/random.h"
#include "proprio/spatial/newton_euler.h"

namespace proprio {
namespace {

// wrench (f, n) of the links beyond a force-torque sensor, at its frame
Vector6d carriedWrench(const Parameters& parameters, const SensorPlan& plan,
                       const std::vector<LinkMotion>& motions, const Pose& X_WS,
                       const LinkWrenches* external) {
  Vector6d sum = Vector6d::Zero();
  for (int link : plan.links) {
    const LinkMotion& motion = motions[static_cast<size_t>(link)];
    Vector6d wrench =
        newtonEuler(linkInertia(parameters, link), motion.twist.angular, motion.acceleration)
            .vector();
    if (external != nullptr) wrench -= external->col(link);
    sum += forceAdjoint(X_WS.inverse() * motion.X_WL) * wrench;
  }
  return sum;
}

Vector3d accelerationAt(const LinkMotion& motion, const Pose& X_LS) {
  const Vector3d w = motion.twist.angular;
  return X_LS.R.transpose() *
         (motion.acceleration.linear + motion.acceleration.angular.cross(X_LS.p) +
          w.cross(w.cross(X_LS.p)));
}

}  // namespace

std::vector<SensorPlan> planSensors(const Tree& tree) {
  const Model& model = tree.model();
  const Traversal traversal = traverse(model, tree.baseLink());
  std::vector<SensorPlan> plans;
  for (int s = 0; s < static_cast<int>(model.sensors.size()); ++s) {
    const Sensor& sensor = model.sensors[static_cast<size_t>(s)];
    SensorPlan plan;
    plan.sensor = s;
    switch (sensor.kind) {
      case SensorKind::kEncoder:
      case SensorKind::kJointTorque:
      case SensorKind::kSkin:
        continue;
      case SensorKind::kForceTorque: {
        const Joint& joint = model.joints[static_cast<size_t>(sensor.joint)];
        const bool second_beyond =
            traversal.parent_joint[static_cast<size_t>(joint.second)] == sensor.joint;
        const int beyond = second_beyond ? joint.second : joint.first;
        plan.links = subtree(model, tree.baseLink(), beyond);
        plan.sign = sensor.link == beyond ? sensor.sign : -sensor.sign;
        break;
      }
      default:
        break;
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

void idealReading(const Tree& tree, const Parameters& parameters, const SensorPlan& plan,
                  const std::vector<LinkMotion>& motions, const LinkWrenches* external,
                  const Vector3d& field, VectorRef reading) {
  const Sensor& sensor = tree.model().sensors[static_cast<size_t>(plan.sensor)];
  const LinkMotion& motion = motions[static_cast<size_t>(sensor.link)];
  const Pose X_WS = motion.X_WL * sensor.X_LS;
  switch (sensor.kind) {
    case SensorKind::kForceTorque:
      reading = plan.sign * carriedWrench(parameters, plan, motions, X_WS, external);
      return;
    case SensorKind::kAccelerometer:
      reading = accelerationAt(motion, sensor.X_LS);
      return;
    case SensorKind::kGyroscope:
      reading = sensor.X_LS.R.transpose() * motion.twist.angular;
      return;
    case SensorKind::kMagnetometer:
      reading = X_WS.R.transpose() * field;
      return;
    case SensorKind::kOrientation:
      reading = quaternionFromRotation(X_WS.R);
      return;
    default:
      reading.setZero();
  }
}

void spoilReading(const Sensor& sensor, std::uint64_t seed, std::uint64_t stream,
                  std::uint64_t sample, VectorRef reading) {
  const Eigen::Index axes = reading.size();
  for (size_t i = 0; i < sensor.bias.size(); ++i)
    reading[static_cast<Eigen::Index>(i)] += sensor.bias[i];
  if (sensor.noise > 0.0 && sensor.kind == SensorKind::kOrientation) {
    Vector3d turn;
    normalNumbers(seed, stream, 4 * sample, 3, turn.data());
    const Eigen::Vector4d quaternion = reading;
    reading = quaternionFromRotation(rotationFromQuaternion(quaternion) *
                                     rotationExp(sensor.noise * turn));
  } else if (sensor.noise > 0.0) {
    constexpr int kAtOnce = 8;
    double noise[kAtOnce];
    const auto width = static_cast<std::uint64_t>((axes + kAtOnce - 1) / kAtOnce * kAtOnce);
    for (Eigen::Index i = 0; i < axes; i += kAtOnce) {
      normalNumbers(seed, stream, width * sample + static_cast<std::uint64_t>(i), kAtOnce, noise);
      for (Eigen::Index k = i; k < std::min(axes, i + kAtOnce); ++k)
        reading[k] += sensor.noise * noise[k - i];
    }
  }
  if (sensor.quantisation > 0.0) {
    for (Eigen::Index i = 0; i < axes; ++i)
      reading[i] = std::round(reading[i] / sensor.quantisation) * sensor.quantisation;
  }
}

}  // namespace proprio
