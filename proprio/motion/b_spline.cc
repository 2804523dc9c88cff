#include "proprio/motion/b_spline.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// basis functions that are not zero at t and their first two derivatives, [derivative][function]
struct LocalBasis {
  Index first = 0;  ///< index of the first of the degree + 1 functions
  std::array<std::array<double, kLargestSplineDegree + 1>, 3> value{};
};

// index k of the knot interval [knots[k], knots[k + 1]) with t in it; the last one at the end
size_t interval(const std::vector<double>& knots, int degree, double t) {
  const auto p = static_cast<std::ptrdiff_t>(degree);
  const auto first = knots.begin() + p, last = knots.end() - p - 1;
  auto next = std::upper_bound(first, last, t);
  // at the end, back to the last interval that has a length
  if (next == last) next = std::lower_bound(first, last, *last);
  return static_cast<size_t>(next - knots.begin()) - 1;
}

// Cox-de Boor triangle; the basis of lower degree on the way gives the derivatives:
// N'_{i,p} = p (N_{i,p-1} / (u_{i+p} - u_i) - N_{i+1,p-1} / (u_{i+p+1} - u_{i+1}))
LocalBasis localBasis(const std::vector<double>& knots, int degree, double t) {
  const size_t k = interval(knots, degree, t);
  const auto p = static_cast<size_t>(degree);
  // level[d][j] = N_{k-d+j, d}
  std::array<std::array<double, kLargestSplineDegree + 1>, kLargestSplineDegree + 1> level{};
  level[0][0] = 1.0;
  for (size_t d = 1; d <= p; ++d) {
    for (size_t j = 0; j < d; ++j) {
      const double left = knots[k - d + 1 + j], right = knots[k + 1 + j];
      const double share = level[d - 1][j] / (right - left);
      level[d][j] += (right - t) * share;
      level[d][j + 1] += (t - left) * share;
    }
  }
  // one derivative of a combination of level d - 1: each N_{i,d-1} / (u_{i+d} - u_i) * d enters
  // N_{i,d} with +, N_{i-1,d} with -
  const auto raise = [&](const auto& lower, size_t d) {
    std::array<double, kLargestSplineDegree + 1> derivative{};
    for (size_t j = 0; j < d; ++j) {
      const double left = knots[k - d + 1 + j], right = knots[k + 1 + j];
      const double share = static_cast<double>(d) * lower[j] / (right - left);
      derivative[j] -= share;
      derivative[j + 1] += share;
    }
    return derivative;
  };
  LocalBasis basis;
  basis.first = static_cast<Index>(k - p);
  basis.value[0] = level[p];
  if (p >= 1) basis.value[1] = raise(level[p - 1], p);
  if (p >= 2) basis.value[2] = raise(raise(level[p - 2], p - 1), p);
  return basis;
}

void checkDegree(int degree) {
  if (degree < 1 || degree > kLargestSplineDegree)
    throw Error(
        fmt::format("a B-spline of degree {}; expected 1 to {}", degree, kLargestSplineDegree));
}

void checkShape(int control_points, int degree, double seconds) {
  checkDegree(degree);
  if (control_points <= degree)
    throw Error(fmt::format("a B-spline of degree {} with {} control points; expected at least {}",
                            degree, control_points, degree + 1));
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw Error(fmt::format("a B-spline of {} s; expected a positive duration", seconds));
}

void checkKnots(const std::vector<double>& knots, int degree) {
  checkDegree(degree);
  const auto p = static_cast<size_t>(degree);
  if (knots.size() < 2 * p + 2)
    throw Error(fmt::format("a B-spline of degree {} with {} knots; expected at least {}", degree,
                            knots.size(), 2 * p + 2));
  for (size_t k = 0; k < knots.size(); ++k) {
    if (!std::isfinite(knots[k]) || (k > 0 && knots[k] < knots[k - 1]))
      throw Error(
          fmt::format("knot {} of a B-spline is {}; expected finite numbers that do not "
                      "descend",
                      k + 1, knots[k]));
  }
  if (knots[p] != 0.0 || !(knots[knots.size() - 1 - p] > 0))
    throw Error("a B-spline starts at its knot number degree + 1, which must be 0, and must last");
  for (size_t k = 1; k + p + 1 < knots.size(); ++k) {
    // continuous inside: no knot more than `degree` times; a function of no extent at the ends
    if (knots[k + p] == knots[k] && knots[k] > 0 && knots[k] < knots[knots.size() - 1 - p])
      throw Error(
          fmt::format("the knot {} of a B-spline of degree {} is there {} times; expected "
                      "at most {}",
                      knots[k], degree, degree + 1, degree));
  }
}

}  // namespace

double BSpline::duration() const {
  return knots.empty() ? 0.0 : knots[knots.size() - 1 - static_cast<size_t>(degree)];
}

void BSpline::at(double t, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v,
                 Eigen::Ref<VectorXd> a) const {
  const bool outside = t < 0.0 || t > duration();
  const LocalBasis basis = localBasis(knots, degree, std::clamp(t, 0.0, duration()));
  q.setZero();
  v.setZero();
  a.setZero();
  for (Index j = 0; j <= degree; ++j) {
    const auto point = control_points.col(basis.first + j);
    const auto i = static_cast<size_t>(j);
    q += basis.value[0][i] * point;
    if (outside) continue;
    v += basis.value[1][i] * point;
    a += basis.value[2][i] * point;
  }
}

std::vector<double> BSpline::breaks() const {
  const auto p = static_cast<std::ptrdiff_t>(degree);
  std::vector<double> times(knots.begin() + p, knots.end() - p);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

void checkSpline(const BSpline& spline) {
  checkKnots(spline.knots, spline.degree);
  const auto expected = static_cast<Index>(spline.knots.size()) - spline.degree - 1;
  if (spline.control_points.cols() != expected)
    throw Error(
        fmt::format("a B-spline of degree {} with {} knots has {} control points; "
                    "expected {}",
                    spline.degree, spline.knots.size(), spline.control_points.cols(), expected));
  if (!spline.control_points.allFinite())
    throw Error("a B-spline has a control point that is not a finite number");
}

std::vector<double> clampedKnots(int control_points, int degree, double seconds) {
  checkShape(control_points, degree, seconds);
  const int pieces = control_points - degree;
  std::vector<double> knots(static_cast<size_t>(degree), 0.0);
  for (int k = 0; k <= pieces; ++k) knots.push_back(seconds * k / pieces);
  knots.insert(knots.end(), static_cast<size_t>(degree), seconds);
  return knots;
}

std::vector<double> uniformKnots(int control_points, int degree, double seconds) {
  checkShape(control_points, degree, seconds);
  const int pieces = control_points - degree;
  std::vector<double> knots;
  for (int k = -degree; k <= pieces + degree; ++k) knots.push_back(seconds * k / pieces);
  return knots;
}

MotionBasis bSplineBasis(const std::vector<double>& knots, int degree, const VectorXd& times) {
  checkKnots(knots, degree);
  const double end = knots[knots.size() - 1 - static_cast<size_t>(degree)];
  const auto columns = static_cast<Index>(knots.size()) - degree - 1;
  MotionBasis basis;
  basis.q = basis.v = basis.a = MatrixXd::Zero(times.size(), columns);
  for (Index k = 0; k < times.size(); ++k) {
    if (!(times[k] >= 0 && times[k] <= end))
      throw Error(
          fmt::format("the time {} s is outside the B-spline, which lasts {} s", times[k], end));
    const LocalBasis local = localBasis(knots, degree, times[k]);
    for (Index j = 0; j <= degree; ++j) {
      const auto i = static_cast<size_t>(j);
      basis.q(k, local.first + j) = local.value[0][i];
      basis.v(k, local.first + j) = local.value[1][i];
      basis.a(k, local.first + j) = local.value[2][i];
    }
  }
  return basis;
}

BSpline restToRestSpline(const VectorXd& start, const MatrixXd& inner, const VectorXd& end,
                         int degree, double seconds) {
  if (start.size() != end.size() || (inner.cols() > 0 && inner.rows() != start.size()))
    throw Error(fmt::format("a B-spline from {} to {} joints with inner control points of {}",
                            start.size(), end.size(), inner.rows()));
  if (degree < 3)
    throw Error(
        fmt::format("a B-spline of degree {} cannot start at rest; expected at least 3", degree));
  BSpline spline;
  spline.degree = degree;
  spline.control_points.resize(start.size(), inner.cols() + 6);
  spline.control_points.leftCols(3) = start.replicate(1, 3);
  if (inner.cols() > 0) spline.control_points.middleCols(3, inner.cols()) = inner;
  spline.control_points.rightCols(3) = end.replicate(1, 3);
  spline.knots = clampedKnots(static_cast<int>(spline.control_points.cols()), degree, seconds);
  checkSpline(spline);
  return spline;
}

BSpline fitBSpline(const MotionSamples& samples, int control_points, int degree) {
  if (samples.samples() < control_points)
    throw Error(fmt::format("{} samples do not determine {} control points of a B-spline",
                            samples.samples(), control_points));
  BSpline spline;
  spline.degree = degree;
  const VectorXd times = samples.time.array() - samples.time[0];
  spline.knots = clampedKnots(control_points, degree, times[times.size() - 1]);
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(bSplineBasis(spline.knots, degree, times).q);
  if (qr.rank() < control_points)
    throw Error(
        fmt::format("the samples determine only {} of {} control points of a B-spline: "
                    "some knot intervals have too few of them",
                    qr.rank(), control_points));
  spline.control_points = qr.solve(samples.q).transpose();
  checkSpline(spline);
  return spline;
}

}  // namespace proprio
