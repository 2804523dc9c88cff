#include "proprio/model/payload_file.h"

#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {

PayloadFile readPayloadText(const std::string& text, const std::string& file_name) {
  const YAML::Node node = parseYaml(text, file_name);
  checkFields(node, robotFieldTable("payload"), file_name);
  PayloadFile payload;
  payload.name = node["name"].Scalar();
  payload.link = node["link"].Scalar();
  payload.X_LP = readPose(node);
  payload.body = readInertia(node);
  payload.inertia_declared = node["inertia"] || node["inertia_at_com"];
  return payload;
}

PayloadFile readPayloadFile(const std::string& path) {
  return readPayloadText(readFile(path), path);
}

}  // namespace proprio
