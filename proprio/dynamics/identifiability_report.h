#pragma once

/// What can be identified, put together for people and programs: base parameters by all routes that
/// apply, whether they agree, groupings with their declared values, status of every parameter.

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/measurement.h"

namespace proprio {

struct IdentifiabilityReport {
  std::shared_ptr<const Model> model;
  BaseParameters base;  ///< exact where possible, else sampled
  int rank_sampled = 0;
  double smallest_kept = 1.0;  ///< of the sampled route, see BaseParameters
  double largest_dropped = 0.0;
  std::optional<int> rank_exact;
  std::optional<int> rank_rules;
  std::string exact_obstacle;  ///< why a route does not apply; empty if it does
  std::string rules_obstacle;
  bool agree = true;  ///< counts and groupings are the same by all routes that apply
  std::vector<std::string> labels;
  Eigen::VectorXd beta;  ///< base parameters of the declared values
};

/// Geometry is snapped first (withSnappedGeometry).
/// @param short_labels  XX2, Ia2, ... where the robot is a serial arm
IdentifiabilityReport analyseIdentifiability(const Model& model,
                                             const Measurement& measurement = {}, unsigned seed = 1,
                                             bool short_labels = true);

/// Keys: robot, standard_count, count, rank_qr, rank_exact and rank_rules (null where the route
/// does not apply), agree, gap, groupings, statuses.
std::string identifiabilityJson(const IdentifiabilityReport& report);
std::string identifiabilityText(const IdentifiabilityReport& report, bool colour, int width);

}  // namespace proprio
