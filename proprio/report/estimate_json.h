#pragma once

/// estimate.json: the result of an identification for programs. Its fields are described by
/// docs/estimate.schema.json, which is estimateSchema() and is printed by `proprio schema
/// estimate`. Numbers that are not finite (an error without rows, a standard deviation of what the
/// data do not decide) are null.

#include <limits>
#include <string>
#include <vector>

#include "proprio/identification/identification_result.h"

namespace proprio {

std::string estimateJson(const IdentificationResult& result);

/// JSON Schema, draft 7.
std::string estimateSchema();

/// What another program, or a comparison, needs of an estimate.json; NaN where it says null.
struct EstimateSummary {
  struct Base {
    std::string name, grouping, unit;
    double value = 0.0, sigma = std::numeric_limits<double>::quiet_NaN();
  };
  struct Body {
    std::string name;
    double mass = 0.0, declared_mass = 0.0;
    Eigen::Vector3d com = Eigen::Vector3d::Zero();
    std::string mass_origin;
  };
  struct Joint {
    std::string name, unit;
    JointError training, validation;  ///< all recordings together
    JointError training_as_given, validation_as_given;
  };
  std::string path, robot, method, verdict;
  bool passed = false, consistent = false;
  double condition = 0.0, seconds = 0.0;
  std::vector<Base> base;
  std::vector<Body> links;
  std::vector<Joint> joints;
  JointError training, validation;  ///< all joints together
};

/// @param path  the file, or the folder that it is in
/// @throws Error that names the file and the field that is missing or of another kind.
EstimateSummary readEstimateJson(const std::string& path);

}  // namespace proprio
