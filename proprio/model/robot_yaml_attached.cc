// Frames, sensors, couplings and the transmission of a robot.yaml.

#include <fmt/format.h>

#include "proprio/core/text.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

using YAML::Node;

CouplingTerm readCouplingTerm(const Node& node, const std::string& file_name, const Model& model) {
  CouplingTerm term;
  term.joint = jointNamed(model, node["joint"], file_name);
  constexpr std::pair<const char*, Signal> kSignals[] = {{"acceleration", Signal::kAcceleration},
                                                         {"velocity", Signal::kVelocity},
                                                         {"sign_velocity", Signal::kSignVelocity},
                                                         {"position", Signal::kPosition},
                                                         {"one", Signal::kOne}};
  for (const auto& [name, signal] : kSignals) {
    if (node["signal"].Scalar() == name) term.signal = signal;
  }
  const Node of = node["of"];
  if (!of && term.signal != Signal::kOne) {
    throw errorAt(
        yamlLocation(node, file_name),
        fmt::format(
            "a coupling term of joint {} has no key 'of', expected a joint to take the {} of",
            inQuotes(node["joint"].Scalar()), node["signal"].Scalar()));
  }
  if (of && of.IsMap()) {
    for (const auto& entry : of) {
      term.joints.push_back(jointNamed(model, entry.first, file_name));
      term.weights.push_back(readNumber(entry.second));
    }
  } else if (of) {
    term.joints = {jointNamed(model, of, file_name)};
    term.weights = {1.0};
  }
  return term;
}

Transmission readTransmission(const Node& node, const std::string& file_name, const Model& model) {
  Transmission transmission;
  for (const Node& joint : node["joints"])
    transmission.joints.push_back(jointNamed(model, joint, file_name));
  const Node matrix = node["matrix"];
  if (matrix[0].size() != transmission.joints.size()) {
    throw errorAt(yamlLocation(matrix, file_name),
                  fmt::format("transmission.matrix has {} columns, expected {}, one for each joint",
                              matrix[0].size(), transmission.joints.size()));
  }
  transmission.matrix.resize(static_cast<int>(matrix.size()), static_cast<int>(matrix[0].size()));
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[i].size(); ++j) {
      transmission.matrix(static_cast<int>(i), static_cast<int>(j)) = readNumber(matrix[i][j]);
    }
  }
  return transmission;
}

SensorKind sensorKind(const std::string& type) {
  for (int i = 0; i <= static_cast<int>(SensorKind::kSkin); ++i) {
    const auto kind = static_cast<SensorKind>(i);
    if (type == toString(kind)) return kind;
  }
  return SensorKind::kAccelerometer;
}

void checkSensorKeys(const Node& node, const std::string& file_name) {
  const std::string& type = node["type"].Scalar();
  const FieldTable& table = robotFieldTable("sensor");
  const FieldCase& keys = *caseOf(table, type);
  const std::string owner =
      fmt::format("sensor {} of type {}", inQuotes(node["name"].Scalar()), type);
  for (const char* key : keys.required) {
    if (!node[key]) {
      throw errorAt(yamlLocation(node, file_name),
                    fmt::format("{} has no key '{}'; add it", owner, key));
    }
  }
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (belongs(table, keys, key)) continue;
    const bool part = type == "imu" && belongs(table, *caseOf(table, "gyroscope"), key);
    throw errorAt(
        yamlLocation(entry.first, file_name),
        fmt::format("{} has the key '{}', which has no meaning for this type; {}", owner, key,
                    part ? "its parts have different units: declare an accelerometer and a "
                           "gyroscope instead"
                         : "remove it"));
  }
}

Control readControl(const Node& node) {
  Control control;
  for (ControlKind kind : {ControlKind::kCascade, ControlKind::kComputedTorque}) {
    if (node["kind"] && node["kind"].Scalar() == toString(kind)) control.kind = kind;
  }
  for (FeedForward kind : {FeedForward::kGravity, FeedForward::kModel}) {
    if (node["feed_forward"] && node["feed_forward"].Scalar() == toString(kind))
      control.feed_forward = kind;
  }
  control.rate = readNumber(node["rate"], control.rate);
  control.velocity_filter = readNumber(node["velocity_filter"], control.velocity_filter);
  control.bandwidth = readNumber(node["bandwidth"], control.bandwidth);
  return control;
}

// as many numbers as the sensor has axes
std::vector<double> readBias(const Node& node, const Sensor& sensor, const std::string& file_name) {
  if (!node) return {};
  std::vector<double> bias;
  for (const Node& number : node) bias.push_back(readNumber(number));
  const size_t axes = sensorAxes(sensor);
  if (bias.size() == axes) return bias;
  throw errorAt(yamlLocation(node, file_name),
                fmt::format("the bias of sensor {} has {} numbers, expected {}",
                            inQuotes(sensor.name), bias.size(), axes));
}

void readSensor(const Node& node, const std::string& file_name, Model& model) {
  checkSensorKeys(node, file_name);
  const std::string& type = node["type"].Scalar();
  Sensor sensor;
  sensor.name = node["name"].Scalar();
  sensor.location = yamlLocation(node, file_name);
  sensor.kind = sensorKind(type);
  sensor.X_LS = readPose(node);
  sensor.sign = readNumber(node["sign"], 1.0);
  sensor.noise = readNumber(node["noise"]);
  if (node["joint"]) sensor.joint = jointNamed(model, node["joint"], file_name);
  if (node["link"]) {
    sensor.link = linkNamed(model, node["link"], file_name);
  } else if (sensor.kind == SensorKind::kForceTorque) {
    sensor.link = model.joints[static_cast<size_t>(sensor.joint)].second;
  }
  for (const Node& cell : node["cells"]) {
    sensor.cell_positions.emplace_back(readNumber(cell[0]), readNumber(cell[1]),
                                       readNumber(cell[2]));
    sensor.cell_normals.emplace_back(readNumber(cell[3]), readNumber(cell[4]), readNumber(cell[5]));
    if (sensor.cell_normals.back().isZero(0.0)) {
      throw errorAt(yamlLocation(cell, file_name),
                    fmt::format("cell {} of sensor {} has the normal 0 0 0, expected the direction "
                                "out of the surface",
                                sensor.cell_normals.size(), inQuotes(sensor.name)));
    }
  }
  sensor.quantisation = readNumber(node["quantisation"]);
  if (type != "imu") {
    sensor.bias = readBias(node["bias"], sensor, file_name);
    model.sensors.push_back(std::move(sensor));
    return;
  }
  std::vector<std::string> parts = {"accelerometer", "gyroscope"};
  if (node["parts"]) {
    parts.clear();
    for (const Node& part : node["parts"]) parts.push_back(part.Scalar());
  }
  for (const std::string& part : parts) {
    model.sensors.push_back(sensor);
    model.sensors.back().name += "." + part;
    model.sensors.back().kind = sensorKind(part);
  }
}

}  // namespace

void readAttached(const Node& robot, const std::string& file_name, Model& model) {
  for (const Node& node : robot["frames"]) {
    model.frames.push_back({node["name"].Scalar(), linkNamed(model, node["link"], file_name),
                            readPose(node), yamlLocation(node, file_name)});
  }
  for (const Node& node : robot["sensors"]) readSensor(node, file_name, model);
  for (const Node& node : robot["couplings"]) {
    CouplingColumn column;
    column.name = node["name"].Scalar();
    if (node["unit"]) column.unit = node["unit"].Scalar();
    column.value = readNumber(node["value"]);
    column.location = yamlLocation(node, file_name);
    if (node["terms"].size() == 0) {
      throw errorAt(yamlLocation(node["terms"], file_name),
                    fmt::format("coupling {} has no terms, so that nothing could be known about "
                                "it; give at least one, or remove it",
                                inQuotes(column.name)));
    }
    for (const Node& term : node["terms"])
      column.terms.push_back(readCouplingTerm(term, file_name, model));
    model.couplings.push_back(std::move(column));
  }
  if (robot["control"]) model.control = readControl(robot["control"]);
  if (robot["transmission"])
    model.transmission = readTransmission(robot["transmission"], file_name, model);
}

}  // namespace proprio
