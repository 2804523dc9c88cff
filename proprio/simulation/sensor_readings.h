#pragma once

/// What the sensors of a model read: ideal readings from the motion, and what a real sensor makes
/// of them.
///   force-torque   y = sign * S_X^L (wrench on `link` across the joint): with the links beyond the
///                  joint, sum of S_X^L (phi_L - f_ext,L), phi the Newton-Euler wrench
///   accelerometer  y = S_R_W (acceleration of S - g): +g upwards at rest
///   gyroscope      y = S_w_WS
///   magnetometer   y = S_R_W field
///   orientation    quaternion (x, y, z, w) of W_R_S
///   skin           normal force on each cell
/// Encoders and joint torque sensors belong to the servo's signals (closed_loop.h).
/// Source: Traversaro 2017, 4.3 (T-35 to T-41).

#include <cstdint>

#include "proprio/dynamics/link_motion.h"

namespace proprio {

/// A sensor with the links that it carries (force-torque).
struct SensorPlan {
  int sensor = -1;
  std::vector<int> links;  ///< beyond the joint, seen from the base
  double sign = 1.0;       ///< of their wrench
};
/// Of sensors with a frame on a link: force-torque and IMU parts.
std::vector<SensorPlan> planSensors(const Tree& tree);

/// @param external  wrenches on the links, or null
/// @param reading   sensorAxes() entries
void idealReading(const Tree& tree, const Parameters& parameters, const SensorPlan& plan,
                  const std::vector<LinkMotion>& motions, const LinkWrenches* external,
                  const Vector3d& field, VectorRef reading);

/// Bias, normal noise of (seed, stream, sample) and quantisation, in this order. The noise of an
/// orientation turns it by a small random rotation.
void spoilReading(const Sensor& sensor, std::uint64_t seed, std::uint64_t stream,
                  std::uint64_t sample, VectorRef reading);

}  // namespace proprio
