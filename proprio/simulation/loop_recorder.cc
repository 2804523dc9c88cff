#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/random.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/state_table.h"
#include "proprio/simulation/loop_recorder_internal.h"

namespace proprio::internal {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// streams of random numbers; 1 belongs to the encoders
constexpr std::uint64_t kTorqueStream = 2;
constexpr std::uint64_t kSensorStream = 16;
constexpr Index kBlock = 32;  // rows that are kept until they become parts of columns

Quantity quantityOf(const Sensor& sensor, size_t axis) {
  switch (sensor.kind) {
    case SensorKind::kForceTorque:
      return axis < 3 ? Quantity::kForce : Quantity::kMoment;
    case SensorKind::kAccelerometer:
      return Quantity::kLinearAcceleration;
    case SensorKind::kGyroscope:
      return Quantity::kAngularVelocity;
    case SensorKind::kMagnetometer:
      return Quantity::kMagneticField;
    case SensorKind::kOrientation:
      return Quantity::kOrientation;
    case SensorKind::kJointTorque:
      return Quantity::kTorque;
    default:
      return Quantity::kContact;
  }
}

std::string component(const Sensor& sensor, size_t axis) {
  constexpr const char* kNames[] = {"x", "y", "z", "w"};
  if (sensor.kind == SensorKind::kSkin) return std::to_string(axis + 1);
  if (sensor.kind == SensorKind::kJointTorque) return "";
  return kNames[sensor.kind == SensorKind::kForceTorque ? axis % 3 : axis];
}

struct Moments {
  double squares = 0.0, peak = 0.0;
  void add(double x) {
    squares += x * x;
    peak = std::max(peak, std::abs(x));
  }
  double rms(Index count) const {
    return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0;
  }
};

}  // namespace

LoopRecorder::LoopRecorder(const Tree& tree, const ClosedLoopRun& run, const Plant& plant,
                           Index samples)
    : tree_(tree), options_(run.options), axes_(servoAxes(tree)) {
  recording_.source = "simulation of " + tree.model().name;
  addChannels(plant);
  if (options_.sensors) {
    plans_ = planSensors(tree);
    addSensorChannels();
  }
  motions_.resize(tree.model().links.size());
  const auto columns = static_cast<Index>(recording_.channels.size());
  rows_.setZero(kBlock, columns);
  recording_.values.resize(samples, columns);
  recording_.time.setZero(samples);
  noise_.setZero((static_cast<Index>(axes_.size()) + 3) / 4 * 4);  // whole blocks
  q_.setZero(tree.positionCount());
  v_.setZero(tree.velocityCount());
  a_.setZero(tree.velocityCount());
  reading_.setZero(6);
}

void LoopRecorder::addChannel(Quantity quantity, Role role, const Joint& joint, const char* other) {
  Channel channel;
  channel.quantity = *other == '\0' ? quantity : Quantity::kOther;
  channel.name = *other == '\0' ? signalName(quantity, role, joint.name)
                                : fmt::format("{}_true_{}", other, joint.name);
  channel.role = role;
  channel.side = Side::kJoint;
  channel.of = joint.name;
  channel.unit = unitOf(quantity, joint.type == JointType::kPrismatic);
  channel.origin = recording_.source;
  recording_.channels.push_back(std::move(channel));
}

void LoopRecorder::addJointChannels(Quantity quantity, Role role, const char* other) {
  for (const Axis& axis : axes_)
    addChannel(quantity, role, tree_.model().joints[static_cast<size_t>(axis.joint)], other);
}

void LoopRecorder::addChannels(const Plant& plant) {
  for (const Role role : {Role::kMeasured, Role::kCommanded}) {
    for (const Quantity quantity : {Quantity::kPosition, Quantity::kVelocity, Quantity::kTorque})
      addJointChannels(quantity, role);
  }
  if (options_.truth) addTruthChannels(plant);
}

// all coordinates, base included; then torques, frictions and motors of the axes
void LoopRecorder::addTruthChannels(const Plant& plant) {
  // a free pose has one position coordinate more than velocities
  addCoordinates(positionNames(tree_), Quantity::kPosition);
  addCoordinates(velocityNames(tree_, 'v'), Quantity::kVelocity);
  addCoordinates(velocityNames(tree_, 'a'), Quantity::kAcceleration);
  addJointChannels(Quantity::kTorque, Role::kTruth);
  addJointChannels(Quantity::kTorque, Role::kTruth, "friction");
  for (const Axis& axis : axes_) {
    if (!plant.flexible(axis.coordinate)) continue;
    addChannel(Quantity::kPosition, Role::kTruth,
               tree_.model().joints[static_cast<size_t>(axis.joint)], "motor");
  }
}

void LoopRecorder::addCoordinates(const std::vector<std::string>& names, Quantity quantity) {
  for (size_t i = 0; i < names.size(); ++i) {
    const Joint* owner = nullptr;
    for (const Axis& axis : axes_) {
      const int index = quantity == Quantity::kPosition ? tree_.positionIndex(axis.joint)
                                                        : tree_.velocityIndex(axis.joint);
      if (index == static_cast<int>(i))
        owner = &tree_.model().joints[static_cast<size_t>(axis.joint)];
    }
    if (owner != nullptr) {
      addChannel(quantity, Role::kTruth, *owner);
    } else {
      recording_.channels.push_back({"true_" + names[i], Quantity::kOther, Role::kTruth,
                                     Side::kJoint, "", "", "", recording_.source});
    }
  }
}

void LoopRecorder::addSensorChannels() {
  for (const Sensor& sensor : tree_.model().sensors) {
    if (sensor.kind == SensorKind::kEncoder) continue;
    for (size_t k = 0; k < sensorAxes(sensor); ++k) {
      Channel channel;
      channel.quantity = quantityOf(sensor, k);
      channel.of = sensor.name;
      channel.component = component(sensor, k);
      channel.name = signalName(channel.quantity, Role::kMeasured, sensor.name, channel.component);
      channel.unit = unitOf(channel.quantity);
      channel.origin = recording_.source;
      recording_.channels.push_back(std::move(channel));
    }
  }
}

void LoopRecorder::record(Index sample, double time, Plant& plant, int lane, const LoopSample& x) {
  recording_.time[sample] = time;
  if (recorded_ > 0 && recorded_ % kBlock == 0) flush();
  recorded_ = sample + 1;
  double* out = rows_.row(sample % kBlock).data();
  const ptrdiff_t stride = x.stride;
  const auto width = static_cast<int>(noise_.size());
  if (options_.torque_noise > 0.0) {
    normalNumbers(options_.seed, kTorqueStream,
                  static_cast<std::uint64_t>(sample) * static_cast<std::uint64_t>(width),
                  static_cast<int>(axes_.size()), noise_.data());
  }
  for (const Axis& axis : axes_) *out++ = x.measured[axis.coordinate * stride];
  for (const Axis& axis : axes_) *out++ = x.velocity[axis.coordinate * stride];
  for (size_t k = 0; k < axes_.size(); ++k) {
    *out++ = plant.torque[axes_[k].coordinate * stride + lane] +
             options_.torque_noise * noise_[static_cast<Index>(k)];
  }
  for (const Axis& axis : axes_) *out++ = x.q_ref[axis.coordinate * stride];
  for (const Axis& axis : axes_) *out++ = x.v_ref[axis.coordinate * stride];
  for (const Axis& axis : axes_) *out++ = x.command[axis.coordinate * stride];
  const auto all = [&](const double* from, Index count) {
    for (Index i = 0; i < count; ++i) *out++ = from[i * stride + lane];
  };
  if (options_.truth) {
    all(plant.q(), tree_.positionCount());
    all(plant.v(), tree_.velocityCount());
    all(plant.accelerations(), tree_.velocityCount());
    for (const Axis& axis : axes_) *out++ = plant.torque[axis.coordinate * stride + lane];
    for (const Axis& axis : axes_) *out++ = plant.frictions()[axis.coordinate * stride + lane];
    for (const Axis& axis : axes_) {
      if (plant.flexible(axis.coordinate)) *out++ = plant.motorPosition(axis.coordinate, lane);
    }
  }
  if (options_.sensors && !tree_.model().sensors.empty()) recordSensors(sample, plant, lane, out);
}

double* LoopRecorder::recordSensors(Index sample, Plant& plant, int lane, double* out) {
  const ptrdiff_t stride = plant.lanes();
  for (Index i = 0; i < q_.size(); ++i) q_[i] = plant.q()[i * stride + lane];
  for (Index i = 0; i < v_.size(); ++i) {
    v_[i] = plant.v()[i * stride + lane];
    a_[i] = plant.accelerations()[i * stride + lane];
  }
  if (!plans_.empty()) linkMotions(tree_, q_, v_, a_, &motions_);
  const std::vector<Sensor>& sensors = tree_.model().sensors;
  size_t plan = 0;
  Index cell = plant.contactForces().size();
  for (const Sensor& sensor : sensors) {
    if (sensor.kind == SensorKind::kSkin) cell -= static_cast<Index>(sensorAxes(sensor));
  }
  for (size_t s = 0; s < sensors.size(); ++s) {
    const Sensor& sensor = sensors[s];
    if (sensor.kind == SensorKind::kEncoder) continue;
    const auto axes = static_cast<Index>(sensorAxes(sensor));
    reading_.setZero(axes);
    if (sensor.kind == SensorKind::kJointTorque) {
      reading_[0] = plant.linkTorque(tree_.velocityIndex(sensor.joint), lane);
    } else if (sensor.kind == SensorKind::kSkin) {
      // cells are the last contact points, in the order of the skins
      if (plant.contactForces().size() > 0) reading_ = plant.contactForces().segment(cell, axes);
      cell += axes;
    } else {
      idealReading(tree_, plant.parameters(lane), plans_[plan++], motions_, &plant.linkWrenches(),
                   options_.magnetic_field, reading_);
    }
    spoilReading(sensor, options_.seed, kSensorStream + s, static_cast<std::uint64_t>(sample),
                 reading_);
    out = std::copy(reading_.data(), reading_.data() + axes, out);
  }
  return out;
}

// the latest rows become parts of columns, while they are in the cache
void LoopRecorder::flush() {
  if (recorded_ == 0) return;
  const Index count = (recorded_ - 1) % kBlock + 1;
  for (Index c = 0; c < rows_.cols(); ++c)
    recording_.values.col(c).segment(recorded_ - count, count) = rows_.col(c).head(count);
}

ClosedLoopResult LoopRecorder::finish() {
  ClosedLoopResult result;
  flush();
  recording_.time.conservativeResize(recorded_);
  recording_.values.conservativeResize(recorded_, Eigen::NoChange);
  result.recording = std::move(recording_);
  if (options_.truth) summarise(&result);
  return result;
}

void LoopRecorder::summarise(ClosedLoopResult* result) const {
  const Recording& recording = result->recording;
  const auto column = [&](const std::string& name) {
    return recording.values.col(recording.column(name));
  };
  const Index count = recording.samples();
  for (const Axis& axis : axes_) {
    const std::string& name = tree_.model().joints[static_cast<size_t>(axis.joint)].name;
    const auto q_ref = column("q_des_" + name), q_true = column("q_true_" + name),
               tau = column("tau_" + name), tau_true = column("tau_true_" + name);
    Moments tracking, torque, torque_noise;
    for (Index i = 0; i < count; ++i) {
      tracking.add(q_ref[i] - q_true[i]);
      torque.add(tau_true[i]);
      torque_noise.add(tau[i] - tau_true[i]);
    }
    JointSummary joint;
    joint.joint = name;
    joint.tracking_rms = tracking.rms(count);
    joint.tracking_peak = tracking.peak;
    joint.torque_rms = torque.rms(count);
    joint.torque_peak = torque.peak;
    joint.torque_noise = torque_noise.rms(count);
    result->joints.push_back(joint);
  }
}

}  // namespace proprio::internal
