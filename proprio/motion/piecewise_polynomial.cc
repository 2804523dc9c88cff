#include "proprio/motion/piecewise_polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void PiecewisePolynomial::at(double t, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v,
                             Eigen::Ref<VectorXd> a) const {
  const bool outside = t < 0.0 || t > duration();
  t = std::clamp(t, 0.0, duration());
  // the last piece whose start is not after t
  const auto next = std::upper_bound(knots.begin(), knots.end(), t);
  const Index last = std::max<Index>(static_cast<Index>(knots.size()) - 2, 0);
  const Index piece = std::clamp<Index>(next - knots.begin() - 1, 0, last);
  const double s = t - knots[static_cast<size_t>(piece)];
  const Index first = piece * (degree + 1);
  // Horner's scheme for value, derivative and half the second derivative
  q = coefficients.col(first + degree);
  v.setZero();
  a.setZero();
  for (Index p = degree - 1; p >= 0; --p) {
    a = a * s + v;
    v = v * s + q;
    q = q * s + coefficients.col(first + p);
  }
  a *= 2.0;
  if (outside) {
    v.setZero();
    a.setZero();
  }
}

void checkPolynomial(const PiecewisePolynomial& polynomial) {
  const auto& knots = polynomial.knots;
  if (polynomial.degree < 0 || knots.empty() || knots.front() != 0.0)
    throw Error("a piecewise polynomial needs a degree that is not negative and knots from 0");
  for (size_t k = 1; k < knots.size(); ++k) {
    if (!(knots[k] > knots[k - 1]) || !std::isfinite(knots[k])) {
      throw Error(
          fmt::format("knot {} of a piecewise polynomial is {} s after {} s; expected "
                      "ascending times",
                      k, knots[k], knots[k - 1]));
    }
  }
  // a single knot still holds the position there
  const Index pieces = std::max<Index>(polynomial.pieces(), 1);
  if (polynomial.coefficients.cols() != pieces * (polynomial.degree + 1)) {
    throw Error(
        fmt::format("a piecewise polynomial of degree {} with {} pieces has {} "
                    "coefficients per joint; expected {}",
                    polynomial.degree, pieces, polynomial.coefficients.cols(),
                    pieces * (polynomial.degree + 1)));
  }
  if (!polynomial.coefficients.allFinite())
    throw Error("a piecewise polynomial has a coefficient that is not a finite number");
}

PiecewisePolynomial standstill(const VectorXd& q) { return standstill(q, 0.0); }

PiecewisePolynomial standstill(const VectorXd& q, double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds))
    throw Error(
        fmt::format("a standstill of {} s; expected a duration that is not negative", seconds));
  PiecewisePolynomial rest;
  rest.knots = {0.0};
  if (seconds > 0) rest.knots.push_back(seconds);
  rest.coefficients = q;
  checkPolynomial(rest);
  return rest;
}

MatrixXd quinticPiece(const VectorXd& q0, const VectorXd& v0, const VectorXd& a0,
                      const VectorXd& q1, const VectorXd& v1, const VectorXd& a1, double seconds) {
  const double h = seconds;
  // what the quadratic start leaves for the end to correct, in units of the piece's length
  const VectorXd dq = q1 - q0 - h * v0 - 0.5 * h * h * a0;
  const VectorXd dv = h * (v1 - v0 - h * a0);
  const VectorXd da = h * h * (a1 - a0);
  MatrixXd c(q0.size(), 6);
  c.col(0) = q0;
  c.col(1) = v0;
  c.col(2) = 0.5 * a0;
  c.col(3) = (10.0 * dq - 4.0 * dv + 0.5 * da) / (h * h * h);
  c.col(4) = (-15.0 * dq + 7.0 * dv - da) / (h * h * h * h);
  c.col(5) = (6.0 * dq - 3.0 * dv + 0.5 * da) / (h * h * h * h * h);
  return c;
}

}  // namespace proprio
