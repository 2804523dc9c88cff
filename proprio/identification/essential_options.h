#pragma once

/// Which rule chooses essential parameters, and its numbers (essential_parameters.h has the rules).

#include <string>

namespace proprio {

struct TriangularSystem;

enum class EssentialRule { kThreshold, kTimesBest, kRatio, kStepwise, kFisher, kTriangle };
/// "threshold", "times-best", "ratio", "stepwise", "fisher", "triangle".
const char* toString(EssentialRule rule);

struct EssentialOptions {
  EssentialRule rule = EssentialRule::kFisher;
  double percent = 20.0;    ///< kThreshold, kStepwise
  double times = 10.0;      ///< kTimesBest
  double ratio = 30.0;      ///< kRatio
  double loss = 0.01;       ///< kStepwise: relative growth of the residual norm that is accepted
  double level = 0.05;      ///< of the F-test
  double tolerance = 1e-3;  ///< kTriangle: |R_jj| relative to the length of its column
  double inflation = 1.0;   ///< rows that tell as much as one independent row
  /// kStepwise: rows to predict; null: those that are fitted.
  const TriangularSystem* held_out = nullptr;
};

/// "fisher", or with its number "fisher:0.01": threshold:PERCENT, times-best:TIMES, ratio:RATIO,
/// stepwise:LOSS, fisher:LEVEL, triangle:TOLERANCE.
/// @throws Error with the nearest name, or for a number that is none or out of range.
EssentialOptions essentialOptions(const std::string& text);

}  // namespace proprio
