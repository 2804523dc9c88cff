#pragma once

#include <memory>
#include <string>

#include "proprio/model/robot_reader.h"

namespace proprio {

/// A robot of examples/robots, such as "tx40.yaml".
inline Model bundledRobot(const std::string& file) {
  return readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + file);
}

inline std::shared_ptr<const Model> sharedBundledRobot(const std::string& file) {
  return std::make_shared<const Model>(bundledRobot(file));
}

}  // namespace proprio
