#include "proprio/signal/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr std::array<const char*, 5> kMethodNames = {"previous", "nearest", "linear", "makima",
                                                     "cubic"};
// A stamp at which rounding puts the end of the grid just outside still counts as inside.
constexpr double kEndTolerance = 1e-6;
// More samples than this from one recording are a mistake in the rate.
constexpr double kMostSamples = 1e9;

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void requireIncreasing(const Eigen::VectorXd& time) {
  if (time.size() < 2) {
    throw Error(fmt::format("there are {} time stamps, expected at least 2", time.size()));
  }
  if (!std::isfinite(time[0])) throw Error("the time stamp of row 1 is not a finite number");
  for (Index k = 1; k < time.size(); ++k) {
    if (time[k] > time[k - 1] && std::isfinite(time[k])) continue;
    const char* what = time[k] == time[k - 1] ? "repeats the stamp" : "does not follow the stamp";
    throw Error(fmt::format(
        "the time stamp {} s of row {} {} {} s of the row before; expected increasing stamps "
        "(repeated ones become their mean with --resample auto:merge)",
        time[k], k + 1, what, time[k - 1]));
  }
}

/// Slopes of the cubic pieces at their ends.
Eigen::VectorXd makimaSlopes(const Eigen::VectorXd& t, const Eigen::VectorXd& y) {
  const Index n = t.size();
  // slopes of the pieces, continued linearly by two at both ends
  Eigen::VectorXd m(n + 3);
  for (Index k = 0; k + 1 < n; ++k) m[k + 2] = (y[k + 1] - y[k]) / (t[k + 1] - t[k]);
  m[1] = 2.0 * m[2] - m[3];
  m[0] = 2.0 * m[1] - m[2];
  m[n + 1] = 2.0 * m[n] - m[n - 1];
  m[n + 2] = 2.0 * m[n + 1] - m[n];
  Eigen::VectorXd slopes(n);
  for (Index k = 0; k < n; ++k) {
    const double w1 = std::abs(m[k + 3] - m[k + 2]) + 0.5 * std::abs(m[k + 3] + m[k + 2]);
    const double w2 = std::abs(m[k + 1] - m[k]) + 0.5 * std::abs(m[k + 1] + m[k]);
    slopes[k] = w1 + w2 > 0.0 ? (w1 * m[k + 1] + w2 * m[k + 2]) / (w1 + w2) : 0.0;
  }
  return slopes;
}

/// Slopes of the twice continuous spline with not-a-knot ends, by elimination in a band of three.
Eigen::VectorXd splineSlopes(const Eigen::VectorXd& t, const Eigen::VectorXd& y) {
  const Index n = t.size();
  const auto h = [&](Index k) { return t[k + 1] - t[k]; };
  const auto d = [&](Index k) { return (y[k + 1] - y[k]) / h(k); };
  if (n == 3) {  // the parabola through all
    const double c = (d(1) - d(0)) / (h(0) + h(1));
    return Eigen::Vector3d(d(0) - c * h(0), d(0) + c * h(0), d(1) + c * h(1));
  }
  Eigen::VectorXd lower(n), diagonal(n), upper(n), right(n);
  for (Index k = 1; k + 1 < n; ++k) {
    lower[k] = h(k);
    diagonal[k] = 2.0 * (h(k - 1) + h(k));
    upper[k] = h(k - 1);
    right[k] = 3.0 * (h(k) * d(k - 1) + h(k - 1) * d(k));
  }
  const double first = h(0) + h(1), last = h(n - 3) + h(n - 2);
  diagonal[0] = h(1);
  upper[0] = first;
  right[0] = ((h(0) + 2.0 * first) * h(1) * d(0) + h(0) * h(0) * d(1)) / first;
  diagonal[n - 1] = h(n - 3);
  lower[n - 1] = last;
  right[n - 1] =
      (h(n - 2) * h(n - 2) * d(n - 3) + (2.0 * last + h(n - 2)) * h(n - 3) * d(n - 2)) / last;
  for (Index k = 1; k < n; ++k) {
    const double factor = lower[k] / diagonal[k - 1];
    diagonal[k] -= factor * upper[k - 1];
    right[k] -= factor * right[k - 1];
  }
  Eigen::VectorXd slopes(n);
  slopes[n - 1] = right[n - 1] / diagonal[n - 1];
  for (Index k = n - 2; k >= 0; --k) {
    slopes[k] = (right[k] - upper[k] * slopes[k + 1]) / diagonal[k];
  }
  return slopes;
}

double cubicPiece(double h, double s, double y0, double y1, double m0, double m1) {
  const double d = (y1 - y0) / h, c = (3.0 * d - 2.0 * m0 - m1) / h,
               b = (m0 + m1 - 2.0 * d) / (h * h);
  return y0 + s * (m0 + s * (c + s * b));
}

/// Rows with equal stamps become their average.
void mergeRepeated(Eigen::VectorXd& time, Eigen::MatrixXd& x) {
  Index kept = 0;
  for (Index k = 0; k < time.size();) {
    Index end = k + 1;
    while (end < time.size() && time[end] == time[k]) ++end;
    time[kept] = time[k];
    x.row(kept) = x.middleRows(k, end - k).colwise().mean().eval();
    ++kept;
    k = end;
  }
  time.conservativeResize(kept);
  x.conservativeResize(kept, Eigen::NoChange);
}

UniformSignals onGrid(const Eigen::VectorXd& time, const SignalColumns& x, double rate_hz,
                      Interpolation interpolation) {
  const double duration = time[time.size() - 1] - time[0];
  const double steps = std::floor(duration * rate_hz + kEndTolerance);
  if (steps > kMostSamples) {
    throw Error(fmt::format("resampling {} s at {} Hz would give {:.0f} samples", duration, rate_hz,
                            steps));
  }
  UniformSignals uniform;
  uniform.time.resize(static_cast<Index>(steps) + 1);
  for (Index k = 0; k < uniform.time.size(); ++k) {
    uniform.time[k] = std::min(time[0] + static_cast<double>(k) / rate_hz, time[time.size() - 1]);
  }
  uniform.values = interpolate(time, x, uniform.time, interpolation);
  return uniform;
}

}  // namespace

Sampling analyseSampling(const Eigen::VectorXd& time, double tolerance) {
  requireIncreasing(time);
  const Index n = time.size();
  std::vector<double> steps(static_cast<size_t>(n - 1));
  for (Index k = 0; k + 1 < n; ++k) steps[static_cast<size_t>(k)] = time[k + 1] - time[k];
  const double median = medianOf(steps);
  Sampling sampling;
  for (Index k = 0; k + 1 < n; ++k) {
    const double step = steps[static_cast<size_t>(k)];
    sampling.jitter = std::max(sampling.jitter, std::abs(step - median) / median);
    if (step > sampling.largest) {
      sampling.largest = step;
      sampling.largest_at = k;
    }
  }
  sampling.uniform = sampling.jitter <= tolerance;
  sampling.step = sampling.uniform ? (time[n - 1] - time[0]) / static_cast<double>(n - 1) : median;
  sampling.rate_hz = 1.0 / sampling.step;
  return sampling;
}

const char* toString(Interpolation interpolation) {
  return kMethodNames[static_cast<size_t>(interpolation)];
}

Interpolation interpolationNamed(const std::string& name) {
  for (size_t i = 0; i < kMethodNames.size(); ++i) {
    if (name == kMethodNames[i]) return static_cast<Interpolation>(i);
  }
  throw Error(
      fmt::format("unknown interpolation {}; there are previous, nearest, linear, makima, "
                  "cubic",
                  inQuotes(name)));
}

Eigen::MatrixXd interpolate(const Eigen::VectorXd& time, const SignalColumns& x,
                            const Eigen::VectorXd& at, Interpolation interpolation) {
  requireIncreasing(time);
  requireFinite(x, "interpolation");
  const Index n = time.size();
  if (x.rows() != n) {
    throw Error(fmt::format("interpolation: {} time stamps for {} samples", n, x.rows()));
  }
  for (Index k = 0; k < at.size(); ++k) {
    if (at[k] >= time[0] && at[k] <= time[n - 1] && (k == 0 || at[k] >= at[k - 1])) continue;
    throw Error(fmt::format(
        "interpolation: {} s was asked for; expected increasing times from {} s to {} s", at[k],
        time[0], time[n - 1]));
  }
  // two samples hold no more than a line
  if (n == 2 && interpolation > Interpolation::kLinear) interpolation = Interpolation::kLinear;
  Eigen::MatrixXd y(at.size(), x.cols());
  Eigen::VectorXd column, slopes;
  for (Index c = 0; c < x.cols(); ++c) {
    column = x.col(c);
    if (interpolation == Interpolation::kMakima) slopes = makimaSlopes(time, column);
    if (interpolation == Interpolation::kCubic) slopes = splineSlopes(time, column);
    Index k = 0;
    for (Index i = 0; i < at.size(); ++i) {
      while (k + 2 < n && time[k + 1] <= at[i]) ++k;
      const double h = time[k + 1] - time[k], s = at[i] - time[k];
      switch (interpolation) {
        case Interpolation::kPrevious:
          y(i, c) = s < h ? column[k] : column[k + 1];
          break;
        case Interpolation::kNearest:
          y(i, c) = s <= 0.5 * h ? column[k] : column[k + 1];
          break;
        case Interpolation::kLinear:
          y(i, c) = column[k] + s / h * (column[k + 1] - column[k]);
          break;
        case Interpolation::kMakima:
        case Interpolation::kCubic:
          y(i, c) = cubicPiece(h, s, column[k], column[k + 1], slopes[k], slopes[k + 1]);
          break;
      }
    }
  }
  return y;
}

std::vector<UniformSignals> resample(const Eigen::VectorXd& time, const SignalColumns& x,
                                     const ResampleOptions& options) {
  if (options.merge_repeated && time.size() > 0) {
    Eigen::VectorXd merged_time = time;
    Eigen::MatrixXd merged = x;
    mergeRepeated(merged_time, merged);
    ResampleOptions rest = options;
    rest.merge_repeated = false;
    return resample(merged_time, merged, rest);
  }
  if (!(options.rate_hz >= 0.0) || !(options.max_gap >= 0.0)) {
    throw Error(fmt::format("resampling to {} Hz with gaps above {} s; expected positive numbers",
                            options.rate_hz, options.max_gap));
  }
  const Sampling sampling = analyseSampling(time);
  const double rate = options.rate_hz > 0.0 ? options.rate_hz : sampling.rate_hz;
  const double limit = options.max_gap > 0.0 ? options.max_gap : 5.0 * sampling.step;
  if (sampling.largest > limit && options.gaps == GapPolicy::kRefuse) {
    throw Error(
        fmt::format("there is a gap of {:.4g} s at {:.6g} s (row {}), longer than {:.4g} s; "
                    "nothing is invented "
                    "there: split the recording at gaps or allow longer ones",
                    sampling.largest, time[sampling.largest_at], sampling.largest_at + 1, limit));
  }
  std::vector<UniformSignals> parts;
  const Index n = time.size();
  for (Index start = 0; start < n;) {
    Index end = start + 1;
    while (end < n && time[end] - time[end - 1] <= limit) ++end;
    if (end - start >= 2) {
      parts.push_back(onGrid(time.segment(start, end - start), x.middleRows(start, end - start),
                             rate, options.interpolation));
    }
    start = end;
  }
  if (parts.empty()) throw Error(fmt::format("no two samples are within {:.4g} s", limit));
  return parts;
}

}  // namespace proprio
