// Whatever the bytes: reading them as a robot.yaml gives a model or an Error, nothing else.

#include <cstdint>
#include <string>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    proprio::readRobotYamlText(text, "fuzz/robot.yaml");
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
