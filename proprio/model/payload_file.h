#pragma once

/// A payload in a file of its own: the mapping that an entry of `payloads` in robot.yaml is.
///
///   name: disc
///   link: tool0
///   mass: 2.1
///   com: [0, 0, 0.04]
///   inertia_at_com: [0.003, 0, 0, 0.003, 0, 0.005]

#include <string>

#include "proprio/model/model.h"

namespace proprio {

struct PayloadFile {
  std::string name, link;
  Pose X_LP;                     ///< of its frame on the link
  InertialParameters body;       ///< in that frame
  bool inertia_declared = true;  ///< false: mass and centre only
};

/// @throws Error that names file, line and key.
PayloadFile readPayloadFile(const std::string& path);
PayloadFile readPayloadText(const std::string& text, const std::string& file_name = "payload.yaml");

}  // namespace proprio
