#pragma once

/// The robots of examples/robots, for tests that run over all of them.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/model/robot_reader.h"

namespace proprio {

/// Every robot.yaml: mounted with fixed joints lumped, and floating with all of them kept. A
/// floating base without mass stands on a pedestal: otherwise nothing resists turning it about its
/// joint.
inline std::vector<ZooEntry> bundledRobots() {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(PROPRIO_SOURCE_DIR "/examples/robots"))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  std::vector<ZooEntry> robots;
  for (const auto& file : files) {
    for (const bool floating : {false, true}) {
      ReadOptions options;
      options.floating = floating;
      options.lump_fixed = !floating;
      Model model = readRobot(file.string(), options);
      Link& base = model.links[static_cast<size_t>(model.base)];
      if (floating && base.inertia.mass <= 0.0) {
        base.inertia = InertialParameters::fromCom(20.0, {0.0, 0.01, -0.2},
                                                   Vector3d(0.6, 0.5, 0.3).asDiagonal());
      }
      robots.push_back({file.stem().string() + (floating ? " floating" : " fixed"),
                        std::make_shared<const Model>(finalize(model))});
    }
  }
  return robots;
}

}  // namespace proprio
