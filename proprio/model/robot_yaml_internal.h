#pragma once

/// From checked YAML nodes (yaml_checks_internal.h) to parts of a Model. Includes yaml-cpp; not a
/// public header.

#include <yaml-cpp/yaml.h>

#include <string>

#include "proprio/model/model.h"

namespace proprio {

/// @throws Error unless the file states version 1.
void checkVersion(const YAML::Node& robot, const std::string& file_name);

// values; a missing (undefined) node gives the default
double readNumber(const YAML::Node& node, double otherwise = 0.0);
double readAngle(const YAML::Node& node, double otherwise = 0.0);
Vector3d readVector3(const YAML::Node& node);
Pose readPose(const YAML::Node& object);                 ///< of its xyz and rpy
InertialParameters readInertia(const YAML::Node& body);  ///< of mass, com, first_moment, ...

/// Index of the link or joint that a node names. @throws Error with the line and similar names.
int linkNamed(const Model& model, const YAML::Node& node, const std::string& file_name);
int jointNamed(const Model& model, const YAML::Node& node, const std::string& file_name);

Model readDhTable(const YAML::Node& dh, const std::string& file_name);
void readJoints(const YAML::Node& joints, const std::string& file_name, Model& model);
/// frames, sensors, couplings, transmission
void readAttached(const YAML::Node& robot, const std::string& file_name, Model& model);
/// after readAttached(), because it refers to sensors
RecordingDeclaration readRecordingDeclaration(const YAML::Node& node, const std::string& file_name,
                                              const Model& model);

}  // namespace proprio
