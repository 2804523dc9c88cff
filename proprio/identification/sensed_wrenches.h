#pragma once

/// Force-torque sensors and a free base as further rows of the same stacked problem.
///
/// The robot is cut at its force-torque sensors. With w_k the wrench that sensor k's joint puts on
/// what lies beyond it, every part of the robot that touches nothing else obeys
///
///   base of a free robot   Y_b psi = 0     - sum_k J_kb^T w_k
///   joint i                Y_i psi = tau_i - sum_k J_ki^T w_k
///   sensor l               Y_l psi = w_l   - sum_k J_kl^T w_k
///
/// over the sensors k beyond base, joint or sensor, with the columns of the links of that part
/// alone. No joint torque is needed, and contacts beyond a sensor do not matter (they are in w_k);
/// a part that is itself touched does not count. A constant offset of every sensor is identified
/// along: its columns are -J_k^T, and one in the sensor's own rows.
///
/// Made of what is there: the fixed joint of a sensor becomes one with six coordinates that stay
/// zero (Joint::sensed), so that batches, factors, methods and statistics see six rows more. The
/// motion of a free base comes from an IMU on one of its links, without pose or linear velocity:
/// turned upright and at rest at every instant, with what accelerometer and gyroscope read.
///
/// Limits: joints of closed loops and contacts inside a part are not modelled; the gyroscope is
/// differentiated. Source: Traversaro 2017 sections 4.5, 7.2-7.3 (T-48, T-73, T-78), Leboutet 2022
/// section 2.4 (L-42).

#include <string>
#include <vector>

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/identification/motion_data.h"

namespace proprio {

/// The robot with the force-torque sensors that all recordings have as rows, and with the link of
/// their IMU as base where it is free; unchanged if there are none. `told` gets a sentence.
/// @throws Error if the base is free and the recordings lack an IMU or every force-torque sensor.
Model withSensedWrenches(const Model& model, const std::vector<Recording>& recordings,
                         std::vector<std::string>* told);

/// The same robot as it was, its base but not its links' numbering included: joints fixed again,
/// offsets added to the sensors' biases.
Model withoutSensedWrenches(const Model& model, const Model& as_read);

bool hasSensedWrenches(const Model& model);

/// Names of the channels that such a model needs besides those of its joints
/// (JointSignalOptions::channels).
std::vector<std::string> sensedChannels(const Model& model);

/// Fills the rows of sensors and base, and takes what the sensors measure out of the others.
/// Parts with a link in `touching` do not count; if it is empty, nor do feet while they are loaded:
/// what lies beyond a sensor that carries a fifth of a free robot's weight at some time, while it
/// carries a twentieth, and 0.1 s before and after (`told`).
/// @param signals  with sensedChannels()
void addSensedWrenches(const Tree& tree, const JointSignals& signals,
                       const std::vector<std::string>& touching, MotionData* data,
                       std::vector<std::string>* told);

/// Columns of the sensors' offsets in the rows of samples [first, first + count).
void putWrenchOffsets(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                      Eigen::Index first, Eigen::Index count, RegressorBatch& batch);

/// For every parameter of an offset the sensor that it belongs to, else -1.
std::vector<int> sensorsOfOffsets(const ParameterLayout& layout);

/// Base parameters of the rows that count, by random states.
BaseParameters sensedBaseParameters(const Tree& tree,
                                    const std::shared_ptr<const ParameterLayout>& layout,
                                    const std::vector<MotionData>& data);

}  // namespace proprio
