#include "proprio/identification/sensed_wrenches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "proprio/core/text.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/identification/stacked_problem.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

using Eigen::Index;
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

/// A part beyond a sensor that at times carries more of a free robot's weight than this is a
/// foot...
constexpr double kCarries = 0.2;
/// ... which may touch the ground where it carries more than this (feet themselves weigh less), ...
constexpr double kLoaded = 0.05;
/// ... and this long before and after, in s: light touches, and what filters smear.
constexpr double kLoadedMargin = 0.1;
/// Random states per parameter and row of a state, for base parameters.
constexpr Index kStatesPerParameter = 4, kFewestStates = 120;

constexpr std::array<const char*, 6> kAxes = {"fx", "fy", "fz", "mx", "my", "mz"};

std::string offsetName(const Sensor& sensor, size_t axis) {
  return fmt::format("{}.offset_{}", sensor.name, kAxes[axis]);
}

std::vector<std::string> channelsOf(const Sensor& sensor) {
  const auto all = [&](Quantity quantity, std::vector<std::string>* names) {
    for (const std::string& component : componentsOf(quantity))
      names->push_back(signalName(quantity, Role::kMeasured, sensor.name, component));
  };
  std::vector<std::string> names;
  switch (sensor.kind) {
    case SensorKind::kForceTorque:
      all(Quantity::kForce, &names);
      all(Quantity::kMoment, &names);
      break;
    case SensorKind::kAccelerometer:
      all(Quantity::kLinearAcceleration, &names);
      break;
    case SensorKind::kGyroscope:
      all(Quantity::kAngularVelocity, &names);
      break;
    default:
      break;
  }
  return names;
}

bool isRecorded(const Sensor& sensor, const std::vector<Recording>& recordings) {
  const std::vector<std::string> names = channelsOf(sensor);
  return !names.empty() &&
         std::all_of(recordings.begin(), recordings.end(), [&](const Recording& recording) {
           return std::all_of(names.begin(), names.end(),
                              [&](const std::string& name) { return recording.column(name) >= 0; });
         });
}

/// Sensors of that kind on that link (any link: -1); the first one.
int sensorOn(const Model& model, SensorKind kind, int link) {
  for (size_t s = 0; s < model.sensors.size(); ++s) {
    if (model.sensors[s].kind == kind && (link < 0 || model.sensors[s].link == link))
      return static_cast<int>(s);
  }
  return -1;
}

/// The link that carries a recorded accelerometer and gyroscope; -1 if none does.
int imuLink(const Model& model, const std::vector<Recording>& recordings) {
  for (const Sensor& gyroscope : model.sensors) {
    if (gyroscope.kind != SensorKind::kGyroscope || !isRecorded(gyroscope, recordings)) continue;
    const int other = sensorOn(model, SensorKind::kAccelerometer, gyroscope.link);
    if (other >= 0 && isRecorded(model.sensors[static_cast<size_t>(other)], recordings))
      return gyroscope.link;
  }
  return -1;
}

/// Sensors whose joints are rows.
std::vector<int> sensedSensors(const Model& model) {
  std::vector<int> sensors;
  for (size_t s = 0; s < model.sensors.size(); ++s) {
    const Sensor& sensor = model.sensors[s];
    if (sensor.kind == SensorKind::kForceTorque &&
        model.joints[static_cast<size_t>(sensor.joint)].sensed)
      sensors.push_back(static_cast<int>(s));
  }
  return sensors;
}

/// From a reading to the wrench on the link beyond the joint, in its axes about its origin.
Matrix6d readingToWrench(const Model& model, const Sensor& sensor) {
  const Joint& joint = model.joints[static_cast<size_t>(sensor.joint)];
  const bool beyond = sensor.link == joint.second;
  const Pose X = beyond ? sensor.X_LS : joint.X_FJ.inverse() * sensor.X_LS;
  const double sign = beyond ? sensor.sign : -sensor.sign;
  return sign * forceTransform(Representation::kSpatial, Representation::kBody, X);
}

/// The joint as one with six coordinates, from the base outwards; the link beyond has its frame.
void makeSensed(const Traversal& traversal, Joint* joint) {
  Pose X_first_second = joint->X_FJ * joint->X_JS;
  if (traversal.parent[static_cast<size_t>(joint->first)] == joint->second) {
    std::swap(joint->first, joint->second);
    X_first_second = X_first_second.inverse();
  }
  joint->X_FJ = X_first_second;
  joint->X_JS = Pose::identity();
  joint->type = JointType::kFloating;
  joint->sensed = true;
}

/// Number of the part that each link belongs to: 0 that of the base, k + 1 that just beyond
/// sensors[k].
std::vector<size_t> partsOf(const Tree& tree, const std::vector<int>& sensors) {
  const Model& model = tree.model();
  const Traversal traversal = traverse(model, tree.baseLink());
  std::vector<size_t> part(model.links.size(), 0);
  for (const int link : traversal.order) {
    const int joint = traversal.parent_joint[static_cast<size_t>(link)];
    if (joint < 0) continue;
    const auto own = std::find_if(sensors.begin(), sensors.end(), [&](int s) {
      return model.sensors[static_cast<size_t>(s)].joint == joint;
    });
    part[static_cast<size_t>(link)] =
        own != sensors.end()
            ? static_cast<size_t>(own - sensors.begin()) + 1
            : part[static_cast<size_t>(traversal.parent[static_cast<size_t>(link)])];
  }
  return part;
}

/// A link by its own name, or that of a link which was merged into it.
int linkNamed(const Model& model, const std::string& name) {
  const int frame = model.frameIndex(name);
  return model.linkIndex(name) < 0 && frame >= 0 ? model.frames[static_cast<size_t>(frame)].link
                                                 : requireLink(model, name);
}

/// Jacobian (body form) of the link beyond each sensor, its own six columns zero.
class SensorJacobians {
 public:
  explicit SensorJacobians(const Tree& tree)
      : tree_(tree), kinematics_(tree), J_(6, tree.velocityCount()) {}

  void moveTo(ConstVectorRef q) { computeKinematics(tree_, q, kinematics_); }

  const Jacobian& at(const Sensor& sensor) {
    const Joint& joint = tree_.model().joints[static_cast<size_t>(sensor.joint)];
    frameJacobian(tree_, kinematics_, joint.second, Pose::identity(), Representation::kBody,
                  Representation::kBody, J_);
    J_.middleCols<6>(tree_.velocityIndex(sensor.joint)).setZero();
    return J_;
  }

 private:
  const Tree& tree_;
  Kinematics kinematics_;
  Jacobian J_;
};

/// Sample by sample: gyroscope and accelerometer as the motion of an upright base at rest.
void putBaseMotion(const Tree& tree, const JointSignals& signals, Index imu, MotionData* data) {
  const Model& model = tree.model();
  const int base = tree.baseLink();
  const Sensor& accelerometer =
      model.sensors[static_cast<size_t>(sensorOn(model, SensorKind::kAccelerometer, base))];
  const Sensor& gyroscope =
      model.sensors[static_cast<size_t>(sensorOn(model, SensorKind::kGyroscope, base))];
  const Vector3d& p = accelerometer.X_LS.p;
  data->q.col(6).setOnes();
  for (Index k = 0; k < data->samples(); ++k) {
    const Vector3d reading = signals.channels.row(k).segment<3>(imu).transpose();
    const Vector3d w = gyroscope.X_LS.R * signals.channels.row(k).segment<3>(imu + 3).transpose();
    const Vector3d dw =
        gyroscope.X_LS.R * signals.channel_rates.row(k).segment<3>(imu + 3).transpose();
    const Vector3d proper = accelerometer.X_LS.R * reading - dw.cross(p) - w.cross(w.cross(p));
    data->v.row(k).segment<3>(3) = w.transpose();
    data->a.row(k).head<3>() = (proper + model.gravity).transpose();
    data->a.row(k).segment<3>(3) = dw.transpose();
  }
}

/// True at every sample that is within `reach` samples of one where `loaded` is.
Eigen::Array<bool, Eigen::Dynamic, 1> widened(const Eigen::Array<bool, Eigen::Dynamic, 1>& loaded,
                                              Index reach) {
  Eigen::Array<bool, Eigen::Dynamic, 1> wide = loaded;
  for (Index k = 0; k < loaded.size(); ++k) {
    if (!loaded[k]) continue;
    const Index first = std::max<Index>(0, k - reach);
    wide.segment(first, std::min(loaded.size(), k + reach + 1) - first).setConstant(true);
  }
  return wide;
}

/// When each part (column) touches something: named ones always, those beyond a foot's sensor while
/// it is loaded.
Mask touchedParts(const Tree& tree, const JointSignals& signals, const std::vector<int>& sensors,
                  const std::vector<std::string>& touching, std::vector<std::string>* told) {
  const Model& model = tree.model();
  const Index samples = signals.q.rows();
  Mask touched = Mask::Constant(samples, static_cast<Index>(sensors.size()) + 1, false);
  const std::vector<size_t> part = partsOf(tree, sensors);
  for (const std::string& name : touching)
    touched.col(static_cast<Index>(part[static_cast<size_t>(linkNamed(model, name))]))
        .setConstant(true);
  if (!touching.empty() || !tree.floating() || samples == 0) return touched;
  double mass = 0.0;
  for (const Link& link : model.links) mass += link.inertia.mass;
  const double weight = mass * model.gravity.norm();
  const auto reach = static_cast<Index>(std::ceil(kLoadedMargin * signals.rate_hz));
  for (size_t k = 0; k < sensors.size(); ++k) {
    const Eigen::ArrayXd force =
        signals.channels.middleCols<3>(static_cast<Index>(6 * k)).rowwise().norm();
    if (!(force > kCarries * weight).any()) continue;
    auto when = touched.col(static_cast<Index>(k) + 1);
    when = widened(force > kLoaded * weight, reach);
    told->push_back(fmt::format(
        "'{}' measures up to {:.3g} N: what lies beyond it stands on something in {:.0f} % of the "
        "samples, in which only what is above it is identified (--touching names such links)",
        model.sensors[static_cast<size_t>(sensors[k])].name, force.maxCoeff(),
        100.0 * static_cast<double>(when.count()) / static_cast<double>(samples)));
  }
  return touched;
}

/// Which rows count: those of parts that touch nothing.
void leaveOutTouched(const Tree& tree, const std::vector<int>& sensors, const Mask& touched,
                     MotionData* data) {
  const Model& model = tree.model();
  const Traversal traversal = traverse(model, tree.baseLink());
  const std::vector<size_t> part = partsOf(tree, sensors);
  const auto useWhileFree = [&](int first, int count, size_t its_part) {
    data->use.middleCols(first, count) =
        (!touched.col(static_cast<Index>(its_part))).replicate(1, count);
  };
  if (tree.floating()) useWhileFree(0, 6, 0);
  for (size_t k = 0; k < sensors.size(); ++k)
    useWhileFree(tree.velocityIndex(model.sensors[static_cast<size_t>(sensors[k])].joint), 6,
                 k + 1);
  for (size_t link = 0; link < model.links.size(); ++link) {
    const int joint = traversal.parent_joint[link];
    if (joint < 0 || model.joints[static_cast<size_t>(joint)].sensed) continue;
    const int first = tree.velocityIndex(joint);
    if (first < 0) continue;
    for (int i = 0; i < velocityCount(model.joints[static_cast<size_t>(joint)].type); ++i)
      data->use.col(first + i) =
          data->use.col(first + i) && !touched.col(static_cast<Index>(part[link]));
  }
}

}  // namespace

bool hasSensedWrenches(const Model& model) {
  return std::any_of(model.joints.begin(), model.joints.end(),
                     [](const Joint& joint) { return joint.sensed; });
}

Model withSensedWrenches(const Model& model, const std::vector<Recording>& recordings,
                         std::vector<std::string>* told) {
  std::vector<int> sensors;
  std::vector<std::string> names;
  for (size_t s = 0; s < model.sensors.size(); ++s) {
    const Sensor& sensor = model.sensors[s];
    if (sensor.kind != SensorKind::kForceTorque || !isRecorded(sensor, recordings)) continue;
    sensors.push_back(static_cast<int>(s));
    names.push_back(inQuotes(sensor.name));
  }
  const int imu = imuLink(model, recordings);
  if (model.floating && (imu < 0 || sensors.empty()))
    throw Error(fmt::format(
        "{}: its base floats; record its force-torque sensors and an IMU (accelerometer and "
        "gyroscope of one link, f_NAME_x m_NAME_x acc_NAME_x gyro_NAME_x ...), of which {} missing "
        "or not declared in robot.yaml, or identify it on a fixed base (--fixed)",
        model.name,
        imu < 0 && sensors.empty() ? "both are"
        : imu < 0                  ? "the IMU is"
                                   : "the force-torque sensors are"));
  if (sensors.empty()) return model;
  Model result = model;
  if (model.floating) result.base = imu;
  const Traversal traversal = traverse(model, result.base);
  for (const int s : sensors) {
    const Sensor& sensor = result.sensors[static_cast<size_t>(s)];
    makeSensed(traversal, &result.joints[static_cast<size_t>(sensor.joint)]);
    for (size_t axis = 0; axis < kAxes.size(); ++axis)
      result.couplings.push_back({offsetName(sensor, axis), axis < 3 ? "N" : "N m", 0.0, {}});
  }
  told->push_back(fmt::format(
      "wrenches of {} are used too, each with an unknown constant offset{}", fmt::join(names, ", "),
      model.floating ? fmt::format("; the IMU on '{}' gives the motion",
                                   result.links[static_cast<size_t>(imu)].name)
                     : ""));
  return finalize(std::move(result));
}

Model withoutSensedWrenches(const Model& model, const Model& as_read) {
  if (!hasSensedWrenches(model)) return model;
  Model result = model;
  for (const int s : sensedSensors(model)) {
    Sensor& sensor = result.sensors[static_cast<size_t>(s)];
    sensor.bias.resize(kAxes.size(), 0.0);
    for (size_t axis = 0; axis < kAxes.size(); ++axis) {
      const auto column = std::find_if(
          result.couplings.begin(), result.couplings.end(),
          [&](const CouplingColumn& other) { return other.name == offsetName(sensor, axis); });
      if (column == result.couplings.end()) continue;
      sensor.bias[axis] += column->value;
      result.couplings.erase(column);
    }
  }
  for (Joint& joint : result.joints) {
    if (!joint.sensed) continue;
    joint.sensed = false;
    joint.type = JointType::kFixed;
  }
  if (as_read.floating)
    result.base = requireLink(result, as_read.links[static_cast<size_t>(as_read.base)].name);
  return finalize(std::move(result));
}

std::vector<std::string> sensedChannels(const Model& model) {
  std::vector<std::string> names;
  const auto add = [&](int sensor) {
    const std::vector<std::string> own = channelsOf(model.sensors[static_cast<size_t>(sensor)]);
    names.insert(names.end(), own.begin(), own.end());
  };
  if (!hasSensedWrenches(model)) return names;
  for (const int s : sensedSensors(model)) add(s);
  if (!model.floating) return names;
  add(sensorOn(model, SensorKind::kAccelerometer, model.base));
  add(sensorOn(model, SensorKind::kGyroscope, model.base));
  return names;
}

void addSensedWrenches(const Tree& tree, const JointSignals& signals,
                       const std::vector<std::string>& touching, MotionData* data,
                       std::vector<std::string>* told) {
  const Model& model = tree.model();
  const std::vector<int> sensors = sensedSensors(model);
  if (sensors.empty()) return;
  if (tree.floating()) putBaseMotion(tree, signals, static_cast<Index>(6 * sensors.size()), data);
  std::vector<Matrix6d> to_wrench;
  for (const int s : sensors) {
    const Sensor& sensor = model.sensors[static_cast<size_t>(s)];
    to_wrench.push_back(readingToWrench(model, sensor));
    data->q.col(tree.positionIndex(sensor.joint) + 6).setOnes();
  }
  SensorJacobians jacobians(tree);
  for (Index sample = 0; sample < data->samples(); ++sample) {
    jacobians.moveTo(data->q.row(sample).transpose());
    for (size_t k = 0; k < sensors.size(); ++k) {
      const Sensor& sensor = model.sensors[static_cast<size_t>(sensors[k])];
      Vector6d reading = signals.channels.row(sample).segment<6>(static_cast<Index>(6 * k));
      for (size_t axis = 0; axis < sensor.bias.size(); ++axis)
        reading[static_cast<Index>(axis)] -= sensor.bias[axis];
      const Vector6d wrench = to_wrench[k] * reading;
      data->tau.row(sample) -= (jacobians.at(sensor).transpose() * wrench).transpose();
      data->tau.row(sample).segment<6>(tree.velocityIndex(sensor.joint)) += wrench.transpose();
    }
  }
  leaveOutTouched(tree, sensors, touchedParts(tree, signals, sensors, touching, told), data);
}

std::vector<int> sensorsOfOffsets(const ParameterLayout& layout) {
  std::vector<int> sensors(static_cast<size_t>(layout.size()), -1);
  for (const int s : sensedSensors(layout.model())) {
    for (size_t axis = 0; axis < kAxes.size(); ++axis) {
      const int at = layout.index(offsetName(layout.model().sensors[static_cast<size_t>(s)], axis));
      if (at >= 0) sensors[static_cast<size_t>(at)] = s;
    }
  }
  return sensors;
}

void putWrenchOffsets(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                      Index first, Index count, RegressorBatch& batch) {
  struct Offset {
    const Sensor& sensor;
    int column, own;
    Matrix6d to_wrench;
  };
  const Model& model = tree.model();
  std::vector<Offset> offsets;
  for (const int s : sensedSensors(model)) {
    const Sensor& sensor = model.sensors[static_cast<size_t>(s)];
    const int column = layout.index(offsetName(sensor, 0));
    if (column >= 0)
      offsets.push_back(
          {sensor, column, tree.velocityIndex(sensor.joint), readingToWrench(model, sensor)});
  }
  if (offsets.empty()) return;
  SensorJacobians jacobians(tree);
  Eigen::Matrix<double, Eigen::Dynamic, 6> columns(tree.velocityCount(), 6);
  for (Index k = 0; k < count; ++k) {
    jacobians.moveTo(data.q.row(first + k).transpose());
    for (const Offset& offset : offsets) {
      columns.noalias() = -jacobians.at(offset.sensor).transpose() * offset.to_wrench;
      columns.middleRows<6>(offset.own) += offset.to_wrench;
      for (Index row = 0; row < columns.rows(); ++row)
        batch.rows(row, count).row(k).segment<6>(offset.column) = columns.row(row);
    }
  }
}

BaseParameters sensedBaseParameters(const Tree& tree,
                                    const std::shared_ptr<const ParameterLayout>& layout,
                                    const std::vector<MotionData>& data) {
  MotionData random;
  random.name = "random states";
  Eigen::Array<bool, 1, Eigen::Dynamic> counts =
      Eigen::Array<bool, 1, Eigen::Dynamic>::Constant(tree.velocityCount(), false);
  for (const MotionData& motion : data) counts = counts || motion.use.colwise().any();
  const Index rows = std::max<Index>(1, counts.count());
  const Index samples = kFewestStates + kStatesPerParameter * layout->size() / rows;
  RandomStates states = randomStates(tree, samples, 1);
  random.q = std::move(states.q);
  random.v = std::move(states.v);
  random.a = std::move(states.a);
  random.tau = Eigen::MatrixXd::Zero(samples, tree.velocityCount());
  random.use = counts.replicate(samples, 1);
  std::vector<int> all(static_cast<size_t>(layout->size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const StackedProblem stacked = stack(tree, layout, all, {random});
  const TriangularSystem system =
      weightedSystem(stacked, Eigen::VectorXd::Ones(tree.velocityCount()));
  return baseParametersOfFactor(tree, layout, system.A, samples);
}

}  // namespace proprio
