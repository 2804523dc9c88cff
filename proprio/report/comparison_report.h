#pragma once

/// Results of several identifications side by side: errors per joint, masses, and base parameters
/// with how far apart they are in combined standard deviations, |a - b| / sqrt(sigma_a^2 +
/// sigma_b^2), against the first result. Standard parameters that data do not determine alone are
/// not judged: only combinations can be right or wrong.

#include <string>
#include <vector>

#include "proprio/report/chart.h"
#include "proprio/report/estimate_json.h"

namespace proprio {

struct BaseComparison {
  std::string grouping, unit;
  std::vector<double> values, sigmas;  ///< per result; NaN where it does not have this parameter
  std::vector<double> distances;       ///< from the first result, in combined standard deviations
};

struct Comparison {
  std::vector<std::string> names;  ///< of the results, all different
  std::vector<EstimateSummary> results;
  std::vector<std::string> joints, links;  ///< that any of them has, in order of appearance
  std::vector<BaseComparison> base;
  std::vector<int> shared, within_3;  ///< per result: base parameters that the first one has too,
                                      ///< and how many of these are within 3 standard deviations
};

/// Parameters are the same if their groupings read the same.
/// @throws Error for fewer than two results, or if they have no joint in common.
Comparison compareEstimates(const std::vector<EstimateSummary>& results);

std::string comparisonText(const Comparison& comparison, bool colour, int width = 100);
/// Keys: results (name, path, robot, method, passed, consistent, ...), joints, links,
/// base_parameters.
std::string comparisonJson(const Comparison& comparison);
std::vector<Figure> comparisonFigures(const Comparison& comparison);

}  // namespace proprio
