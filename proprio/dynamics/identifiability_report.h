#pragma once

/// What can be identified, put together for people and programs: base parameters by all routes that
/// apply, whether they agree, groupings with their declared values, status of every parameter.

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/measurement.h"

namespace proprio {

struct IdentifiabilityReport {
  std::shared_ptr<const Model> model;       ///< with snapped geometry
  std::vector<std::string> snapped_joints;  ///< where that is not as declared
  BaseParameters base;                      ///< exact where possible, else sampled
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

/// More standard parameters than this are not analysed: matrices of their number squared, and time
/// with its cube, would be needed.
inline constexpr int kMostAnalysedParameters = 4000;

/// Told what is being done, and which share of all is done before it.
using AnalysisProgress = std::function<void(const std::string& step, double done)>;

/// Geometry is snapped first (withSnappedGeometry).
/// @param short_labels  XX2, Ia2, ... where the robot is a serial arm
/// @throws Error if the robot has more than kMostAnalysedParameters parameters.
IdentifiabilityReport analyseIdentifiability(const Model& model,
                                             const Measurement& measurement = {}, unsigned seed = 1,
                                             bool short_labels = true,
                                             const AnalysisProgress& progress = {});

/// Keys: robot, standard_count, count, rank_qr, rank_exact and rank_rules (null where the route
/// does not apply), agree, gap, snapped_joints, groupings, statuses.
std::string identifiabilityJson(const IdentifiabilityReport& report);
std::string identifiabilityText(const IdentifiabilityReport& report, bool colour, int width);

}  // namespace proprio
