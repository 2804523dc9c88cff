#include "proprio/signal/savitzky_golay.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {

using Eigen::Index;

Eigen::VectorXd savitzkyGolayWeights(int window, int order, int derivative, double dt,
                                     int position) {
  if (window < 1 || order < 0 || order >= window || derivative < 0) {
    throw Error(fmt::format(
        "Savitzky-Golay: window {}, order {}, derivative {}; expected 0 <= order < window and "
        "derivative >= 0",
        window, order, derivative));
  }
  if (position < 0 || position >= window || !(dt > 0.0)) {
    throw Error(
        fmt::format("Savitzky-Golay: position {} in a window of {}, step {} s; expected a "
                    "position inside and a positive step",
                    position, window, dt));
  }
  if (derivative > order) return Eigen::VectorXd::Zero(window);
  // basis: monomials of s = (k - position) / scale, so that the derivative at s = 0 is one of them
  const double scale = std::max(1, window - 1);
  Eigen::MatrixXd V(window, order + 1);
  for (Index k = 0; k < window; ++k) {
    const double s = static_cast<double>(k - position) / scale;
    V(k, 0) = 1.0;
    for (Index i = 1; i <= order; ++i) V(k, i) = V(k, i - 1) * s;
  }
  // row `derivative` of the pseudo-inverse: V = B T with orthonormal columns B, V^+ = T^-1 B^T
  const Eigen::MatrixXd B = rangeBasis(V, 0.0);
  const Eigen::VectorXd selected =
      solveSquare(V.transpose() * B, Eigen::VectorXd::Unit(order + 1, derivative));
  const double factor = std::tgamma(derivative + 1.0) / std::pow(scale * dt, derivative);
  return factor * (B * selected);
}

Eigen::MatrixXd savitzkyGolay(const SignalColumns& x, int window, int order, int derivative,
                              double dt) {
  if (window % 2 == 0) {
    throw Error(
        fmt::format("Savitzky-Golay: the window has {} samples, expected an odd number", window));
  }
  const int half = window / 2;
  const Eigen::VectorXd weights = savitzkyGolayWeights(window, order, derivative, dt, half);
  if (x.rows() < window) {
    throw Error(
        fmt::format("Savitzky-Golay: there are {} samples, the window needs {}; take a shorter one",
                    x.rows(), window));
  }
  requireFinite(x, "Savitzky-Golay");
  const Index n = x.rows();
  Eigen::MatrixXd y(n, x.cols());
  Eigen::VectorXd column(n);
  for (Index c = 0; c < x.cols(); ++c) {
    column = x.col(c);
    for (Index k = half; k < n - half; ++k) {
      y(k, c) = weights.dot(column.segment(k - half, window));
    }
  }
  for (int k = 0; k < half; ++k) {
    const Eigen::VectorXd first = savitzkyGolayWeights(window, order, derivative, dt, k);
    const Eigen::VectorXd last =
        savitzkyGolayWeights(window, order, derivative, dt, window - 1 - k);
    for (Index c = 0; c < x.cols(); ++c) {
      y(k, c) = first.dot(x.col(c).head(window));
      y(n - 1 - k, c) = last.dot(x.col(c).tail(window));
    }
  }
  return y;
}

}  // namespace proprio
