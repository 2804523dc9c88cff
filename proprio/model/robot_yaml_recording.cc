// The `recording` section of a robot.yaml: how the robot's logs are laid out.

#include <fmt/format.h>

#include "proprio/core/text.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

using YAML::Node;

std::string text(const Node& node, const char* otherwise = "") {
  return node ? node.Scalar() : otherwise;
}

std::vector<std::string> texts(const Node& node) {
  if (!node) return {};
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> result;
  for (const Node& entry : node) result.push_back(entry.Scalar());
  return result;
}

std::vector<double> numbers(const Node& node) {
  if (!node) return {};
  if (node.IsScalar()) return {readAngle(node)};
  std::vector<double> result;
  for (const Node& entry : node) result.push_back(readAngle(entry));
  return result;
}

int wholeNumber(const Node& node, const char* what, const std::string& file_name) {
  const double value = readNumber(node);
  if (value < 1.0 || value > 2e9 || value != static_cast<double>(static_cast<int>(value))) {
    throw errorAt(yamlLocation(node, file_name),
                  fmt::format("{} is {}, expected a whole number from 1", what, describe(node)));
  }
  return static_cast<int>(value);
}

bool belongsToSensor(const std::string& quantity) {
  for (const char* name : {"wrench", "force", "moment", "linear_acceleration", "angular_velocity",
                           "magnetic_field", "orientation", "contact"}) {
    if (quantity == name) return true;
  }
  return false;
}

void checkOwner(const SignalDeclaration& signal, const Node& node, const std::string& file_name,
                const Model& model) {
  for (const Node& joint : node["joints"]) jointNamed(model, joint, file_name);
  if (!belongsToSensor(signal.quantity)) {
    if (!signal.sensor.empty()) {
      throw errorAt(yamlLocation(node["sensor"], file_name),
                    fmt::format("a signal of quantity {} belongs to joints, not to a sensor; "
                                "remove `sensor`",
                                signal.quantity));
    }
    return;
  }
  if (signal.sensor.empty() || !signal.joints.empty()) {
    throw errorAt(yamlLocation(node, file_name),
                  fmt::format("a signal of quantity {} belongs to a sensor; name it with `sensor` "
                              "and leave out `joints`",
                              signal.quantity));
  }
  std::vector<std::string> names;
  for (const Sensor& sensor : model.sensors) {
    names.push_back(sensor.name);
    // an IMU is declared as a whole and stands for its parts
    if (sensor.name == signal.sensor || sensor.name.rfind(signal.sensor + ".", 0) == 0) return;
  }
  throw errorAt(yamlLocation(node["sensor"], file_name),
                fmt::format("there is no sensor {}{}", inQuotes(signal.sensor),
                            didYouMean(signal.sensor, names)));
}

SignalDeclaration readSignal(const Node& node, const std::string& file_name, const Model& model) {
  SignalDeclaration signal;
  signal.quantity = node["quantity"].Scalar();
  signal.role = text(node["role"], "measured");
  signal.side = text(node["side"], "joint");
  signal.file = text(node["file"]);
  signal.topic = text(node["topic"]);
  signal.channels = texts(node["channels"]);
  signal.joints = texts(node["joints"]);
  signal.sensor = text(node["sensor"]);
  signal.unit = text(node["unit"]);
  signal.scale = numbers(node["scale"]);
  signal.offset = numbers(node["offset"]);
  signal.delay = readNumber(node["delay"]);
  if (node["columns"]) signal.columns = wholeNumber(node["columns"], "columns", file_name);
  signal.location = yamlLocation(node, file_name);
  checkOwner(signal, node, file_name, model);
  return signal;
}

}  // namespace

RecordingDeclaration readRecordingDeclaration(const Node& node, const std::string& file_name,
                                              const Model& model) {
  RecordingDeclaration declaration;
  declaration.location = yamlLocation(node, file_name);
  declaration.rate_hz = readNumber(node["rate"]);
  if (const Node time = node["time"]) {
    declaration.time = {text(time["file"]), text(time["topic"]), text(time["channel"]),
                        text(time["unit"]), 0};
    if (time["columns"])
      declaration.time.columns = wholeNumber(time["columns"], "columns", file_name);
  }
  if (const Node join = node["join"])
    declaration.join = {join["method"].Scalar(), readNumber(join["limit"])};
  if (const Node rows = node["rows"]) {
    declaration.first_row = wholeNumber(rows[0], "rows[0]", file_name);
    declaration.last_row = wholeNumber(rows[1], "rows[1]", file_name);
    if (declaration.last_row < declaration.first_row) {
      throw errorAt(yamlLocation(rows, file_name),
                    fmt::format("rows end at {}, before they begin at {}", declaration.last_row,
                                declaration.first_row));
    }
  }
  for (const Node& signal : node["signals"])
    declaration.signals.push_back(readSignal(signal, file_name, model));
  return declaration;
}

}  // namespace proprio
