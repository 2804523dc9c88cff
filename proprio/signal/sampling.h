#pragma once

/// The rate of a recording as its time stamps show it, and a uniform grid where they do not keep
/// one. Nothing is resampled unasked, and a gap is never bridged silently.
///
/// Interpolations: previous (a held value), nearest, linear, makima (modified Akima: piecewise
/// cubic without overshoot at steps and flats), cubic (the spline with continuous second
/// derivative, not-a-knot ends; the smoothest for clean signals, it rings at steps). The last two
/// agree with SciPy's Akima1DInterpolator(method='makima') and CubicSpline.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "proprio/signal/filtering.h"

namespace proprio {

struct Sampling {
  double step = 0.0;     ///< s, (last - first) / (samples - 1) for uniform stamps, else the median
  double rate_hz = 0.0;  ///< 1 / step
  double jitter = 0.0;   ///< largest |step - median| / median
  double largest = 0.0;  ///< longest step, s
  Eigen::Index largest_at = 0;  ///< row before the longest step
  bool uniform = false;         ///< jitter within the tolerance
};

/// Steps that differ by less than this from the median still count as uniform: what rounding of
/// stamps to microseconds or to single precision does.
inline constexpr double kUniformTolerance = 0.02;

/// @throws Error (row named) for fewer than two stamps, or stamps that repeat or run backwards.
Sampling analyseSampling(const Eigen::VectorXd& time, double tolerance = kUniformTolerance);

enum class Interpolation { kPrevious, kNearest, kLinear, kMakima, kCubic };
/// "previous", "nearest", "linear", "makima", "cubic".
const char* toString(Interpolation interpolation);
/// @throws Error with the names that there are.
Interpolation interpolationNamed(const std::string& name);

/// Values at the times `at`. @pre time increases, `at` increases and stays within it.
/// @throws Error otherwise, for fewer than two samples, for values that are not finite.
Eigen::MatrixXd interpolate(const Eigen::VectorXd& time, const SignalColumns& x,
                            const Eigen::VectorXd& at, Interpolation interpolation);

enum class GapPolicy { kRefuse, kSplit };

struct ResampleOptions {
  double rate_hz = 0.0;  ///< 0: that of the median step
  Interpolation interpolation = Interpolation::kMakima;
  double max_gap = 0.0;  ///< s; longer steps are gaps; 0: five median steps
  GapPolicy gaps = GapPolicy::kRefuse;
  bool merge_repeated = false;  ///< average rows with the same stamp instead of refusing them
};

struct UniformSignals {
  Eigen::VectorXd time;  ///< from the first stamp on, constant step
  Eigen::MatrixXd values;
};

/// One element, or one per stretch between gaps (GapPolicy::kSplit; stretches of a single sample
/// are left out). @throws Error (time and length of the gap named), and as above.
std::vector<UniformSignals> resample(const Eigen::VectorXd& time, const SignalColumns& x,
                                     const ResampleOptions& options = {});

}  // namespace proprio
