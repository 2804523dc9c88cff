#include "proprio/motion/motion_interpolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

struct AxisState {
  double q, v, a;
};

AxisState withConstantAcceleration(const AxisState& from, double seconds) {
  return {from.q + seconds * (from.v + 0.5 * seconds * from.a), from.v + seconds * from.a, from.a};
}

// The motion of one joint between two samples: a quintic, or constant accelerations with a jump.
struct Between {
  AxisState start, end;
  double seconds;
  std::optional<double> jump = std::nullopt;  // s after the start

  // left of the jump or right of it matters at the jump only
  AxisState at(double t, bool left) const {
    if (jump) {
      AxisState state = *jump < 0.5 * seconds ? withConstantAcceleration(start, *jump)
                                              : withConstantAcceleration(end, *jump - seconds);
      state.a = start.a;
      if (t < *jump || (t == *jump && left)) return withConstantAcceleration(state, t - *jump);
      state.a = end.a;
      return withConstantAcceleration(state, t - *jump);
    }
    const auto one = [](double x) { return VectorXd::Constant(1, x); };
    PiecewisePolynomial piece;
    piece.degree = 5;
    piece.knots = {0.0, seconds};
    piece.coefficients = quinticPiece(one(start.q), one(start.v), one(start.a), one(end.q),
                                      one(end.v), one(end.a), seconds);
    VectorXd q(1), v(1), a(1);
    piece.at(t, q, v, a);
    return {q[0], v[0], a[0]};
  }
};

// When the acceleration jumps from that of the start to that of the end, if both samples say so:
// the velocity tells when, and the position agrees. Of an acceleration that changes evenly it
// misses by a 24th of what the jump moves in a segment.
std::optional<double> jumpOf(const Between& segment) {
  constexpr double kAgrees = 1e-3;
  constexpr double kInside = 1e-6;  // of the segment, from its ends
  const auto& [start, end, h, unknown] = segment;
  const double jump = end.a - start.a, unit = jump * h * h;
  const double share = (end.a * h - (end.v - start.v)) / (jump * h);
  if (jump == 0.0 || !(share > kInside && share < 1.0 - kInside)) return std::nullopt;
  const double rest = 1.0 - share;
  const double q = start.q + h * (start.v + 0.5 * h * start.a) + 0.5 * rest * rest * unit;
  if (std::abs(end.q - q) > kAgrees * std::abs(unit)) return std::nullopt;
  return share * h;
}

// fifth degree between states; a piece more for every jump of an acceleration between samples
PiecewisePolynomial quinticWithJumps(const std::vector<double>& knots,
                                     const MotionSamples& samples) {
  constexpr double kSameJump = 1e-6;  // of the segment: joints that jump together
  const Index joints = samples.q.cols();
  PiecewisePolynomial motion;
  motion.degree = 5;
  motion.knots = {0.0};
  std::vector<MatrixXd> pieces;
  for (Index k = 0; k + 1 < samples.q.rows(); ++k) {
    const double begin = knots[static_cast<size_t>(k)];
    const double h = knots[static_cast<size_t>(k) + 1] - begin;
    std::vector<Between> segments;
    std::vector<double> cuts;
    for (Index i = 0; i < joints; ++i) {
      const auto state = [&](Index row) {
        return AxisState{samples.q(row, i), samples.v(row, i), samples.a(row, i)};
      };
      segments.push_back({state(k), state(k + 1), h});
      std::optional<double>& jump = segments.back().jump;
      jump = jumpOf(segments.back());
      if (!jump) continue;
      const auto known = std::find_if(cuts.begin(), cuts.end(), [&](double cut) {
        return std::abs(cut - *jump) < kSameJump * h;
      });
      if (known == cuts.end())
        cuts.push_back(*jump);
      else
        jump = *known;
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(h);
    double from = 0.0;
    for (const double to : cuts) {
      MatrixXd left(joints, 3), right(joints, 3);  // q, v, a at the ends of the piece
      for (Index i = 0; i < joints; ++i) {
        const Between& segment = segments[static_cast<size_t>(i)];
        const AxisState a = from == 0.0 ? segment.start : segment.at(from, false);
        const AxisState b = to == h ? segment.end : segment.at(to, true);
        left.row(i) << a.q, a.v, a.a;
        right.row(i) << b.q, b.v, b.a;
      }
      pieces.push_back(quinticPiece(left.col(0), left.col(1), left.col(2), right.col(0),
                                    right.col(1), right.col(2), to - from));
      motion.knots.push_back(to == h ? knots[static_cast<size_t>(k) + 1] : begin + to);
      from = to;
    }
  }
  motion.coefficients.resize(joints, 6 * static_cast<Index>(pieces.size()));
  for (size_t p = 0; p < pieces.size(); ++p)
    motion.coefficients.middleCols(6 * static_cast<Index>(p), 6) = pieces[p];
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
  if (given(samples.v) && given(samples.a)) return quinticWithJumps(knots, samples);
  if (q.rows() == 2) return cubic(knots, q, given(samples.v) ? samples.v : MatrixXd());
  return quinticSpline(times, q, {SplineEnd::kNatural, SplineEnd::kNatural});
}

}  // namespace proprio
