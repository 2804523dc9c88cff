#pragma once

#include <string>

#include "proprio/model/model.h"

namespace proprio {

/// The file behind a mesh path of the model: "file://", absolute and relative (to the URDF) paths,
/// and "package://name/rest" through the model's package roots, the folders above the URDF, and the
/// environment (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH). Empty if there is no such file.
std::string findMesh(const Model& model, const std::string& mesh);

}  // namespace proprio
