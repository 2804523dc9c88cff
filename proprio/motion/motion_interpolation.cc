#include "proprio/motion/motion_interpolation.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/motion/quintic_spline.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr MotionInterpolation kAll[] = {MotionInterpolation::kPrevious,
                                        MotionInterpolation::kNearest, MotionInterpolation::kLinear,
                                        MotionInterpolation::kCubic, MotionInterpolation::kQuintic};

bool given(const MatrixXd& values) { return values.rows() > 0; }

void checkSamples(const MotionSamples& samples) {
  const Index count = samples.q.rows(), joints = samples.q.cols();
  if (count == 0) throw Error("a motion without samples; expected at least one");
  if (samples.time.size() != count)
    throw Error(fmt::format("{} times for {} samples", samples.time.size(), count));
  for (const MatrixXd* values : {&samples.v, &samples.a}) {
    if (given(*values) && (values->rows() != count || values->cols() != joints))
      throw Error(
          fmt::format("positions of size {} x {} with velocities or accelerations of size "
                      "{} x {}",
                      count, joints, values->rows(), values->cols()));
  }
  for (Index k = 0; k < count; ++k) {
    if (!std::isfinite(samples.time[k]) || !samples.q.row(k).allFinite() ||
        (given(samples.v) && !samples.v.row(k).allFinite()) ||
        (given(samples.a) && !samples.a.row(k).allFinite()))
      throw Error(fmt::format("sample {} has a number that is not finite", k + 1));
  }
}

PiecewisePolynomial steps(const std::vector<double>& knots, const MatrixXd& q, bool nearest) {
  PiecewisePolynomial motion;
  motion.knots = {0.0};
  const auto count = static_cast<size_t>(q.rows());
  for (size_t k = 1; k < count; ++k)
    motion.knots.push_back(nearest ? 0.5 * (knots[k - 1] + knots[k]) : knots[k]);
  if (nearest) {
    motion.knots.push_back(knots.back());
    motion.coefficients = q.transpose();
    return motion;
  }
  // the last sample only says when the motion ends
  motion.coefficients = q.topRows(q.rows() - 1).transpose();
  return motion;
}

// third degree from positions and velocities; first degree where there are no velocities
PiecewisePolynomial cubic(const std::vector<double>& knots, const MatrixXd& q, const MatrixXd& v) {
  PiecewisePolynomial motion;
  motion.degree = given(v) ? 3 : 1;
  motion.knots = knots;
  const Index width = motion.degree + 1;
  motion.coefficients.resize(q.cols(), (q.rows() - 1) * width);
  for (Index k = 0; k + 1 < q.rows(); ++k) {
    const double h = knots[static_cast<size_t>(k) + 1] - knots[static_cast<size_t>(k)];
    const RowVectorXd slope = (q.row(k + 1) - q.row(k)) / h;
    auto c = motion.coefficients.middleCols(k * width, width);
    c.col(0) = q.row(k).transpose();
    if (motion.degree == 1) {
      c.col(1) = slope.transpose();
      continue;
    }
    c.col(1) = v.row(k).transpose();
    c.col(2) = (3.0 * slope - 2.0 * v.row(k) - v.row(k + 1)).transpose() / h;
    c.col(3) = (v.row(k) + v.row(k + 1) - 2.0 * slope).transpose() / (h * h);
  }
  return motion;
}

// the slope at a sample weighs the slopes before and after it; each counts more the straighter the
// curve is on its side
MatrixXd akimaSlopes(const std::vector<double>& knots, const MatrixXd& q) {
  const Index count = q.rows();
  MatrixXd v(count, q.cols());
  VectorXd slope(count + 3);  // slope[k + 2] of segment k, two more at either end
  for (Index i = 0; i < q.cols(); ++i) {
    for (Index k = 0; k + 1 < count; ++k) {
      const auto s = static_cast<size_t>(k);
      slope[k + 2] = (q(k + 1, i) - q(k, i)) / (knots[s + 1] - knots[s]);
    }
    const Index last = count;  // index of the last true slope
    slope[1] = count > 2 ? 2.0 * slope[2] - slope[3] : slope[2];
    slope[0] = 2.0 * slope[1] - slope[2];
    slope[last + 1] = count > 2 ? 2.0 * slope[last] - slope[last - 1] : slope[last];
    slope[last + 2] = 2.0 * slope[last + 1] - slope[last];
    for (Index k = 0; k < count; ++k) {
      const auto bend = [&](double one, double other) {
        return std::abs(one - other) + 0.5 * std::abs(one + other);
      };
      const double before = bend(slope[k + 3], slope[k + 2]), after = bend(slope[k + 1], slope[k]);
      const double sum = before + after;
      v(k, i) = sum > 0.0 ? (before * slope[k + 1] + after * slope[k + 2]) / sum : 0.0;
    }
  }
  return v;
}

}  // namespace

const char* toString(MotionInterpolation interpolation) {
  switch (interpolation) {
    case MotionInterpolation::kPrevious:
      return "previous";
    case MotionInterpolation::kNearest:
      return "nearest";
    case MotionInterpolation::kLinear:
      return "linear";
    case MotionInterpolation::kCubic:
      return "cubic";
    case MotionInterpolation::kQuintic:
      return "quintic";
  }
  return "";
}

std::optional<MotionInterpolation> motionInterpolationNamed(const std::string& name) {
  for (const MotionInterpolation interpolation : kAll) {
    if (name == toString(interpolation)) return interpolation;
  }
  return std::nullopt;
}

MotionInterpolation naturalInterpolation(const MotionSamples& samples) {
  return given(samples.v) && given(samples.a) ? MotionInterpolation::kQuintic
                                              : MotionInterpolation::kCubic;
}

PiecewisePolynomial interpolated(const MotionSamples& samples, MotionInterpolation interpolation) {
  checkSamples(samples);
  const MatrixXd& q = samples.q;
  if (q.rows() == 1) return standstill(q.row(0).transpose());
  const std::vector<double> times(samples.time.begin(), samples.time.end());
  const std::vector<double> knots = checkedTimes(times, q.rows(), "interpolation");
  switch (interpolation) {
    case MotionInterpolation::kPrevious:
    case MotionInterpolation::kNearest:
      return steps(knots, q, interpolation == MotionInterpolation::kNearest);
    case MotionInterpolation::kLinear:
      return cubic(knots, q, {});
    case MotionInterpolation::kCubic:
      return cubic(knots, q, given(samples.v) ? samples.v : akimaSlopes(knots, q));
    case MotionInterpolation::kQuintic:
      break;
  }
  if (given(samples.v) && given(samples.a)) return quinticHermite(times, q, samples.v, samples.a);
  if (q.rows() == 2) return cubic(knots, q, given(samples.v) ? samples.v : MatrixXd());
  return quinticSpline(times, q, {SplineEnd::kNatural, SplineEnd::kNatural});
}

}  // namespace proprio
