#include "proprio/signal/differences.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;

void requireThree(const SignalColumns& x) {
  if (x.rows() < 3) {
    throw Error(fmt::format("differences: there are {} samples, expected at least 3", x.rows()));
  }
}

void requireStep(double dt) {
  if (!(dt > 0.0) || !std::isfinite(dt)) {
    throw Error(fmt::format("differences: the time step is {} s, expected a positive number", dt));
  }
}

void requireIncreasingStamps(const SignalColumns& x, const Eigen::VectorXd& time) {
  if (time.size() != x.rows()) {
    throw Error(
        fmt::format("differences: there are {} time stamps for {} samples", time.size(), x.rows()));
  }
  for (Index k = 1; k < time.size(); ++k) {
    if (!(time[k] > time[k - 1])) {
      throw Error(fmt::format(
          "differences: the time stamp of row {} is {} s after {} s in the row before; expected "
          "increasing ones",
          k + 1, time[k], time[k - 1]));
    }
  }
}

/// Steps from a constant dt or from time stamps: h(k) leads from row k to row k + 1.
template <typename Step>
Derivatives central(const SignalColumns& x, const Step& h) {
  const Index n = x.rows();
  Derivatives d{Eigen::MatrixXd(n, x.cols()), Eigen::MatrixXd(n, x.cols())};
  for (Index c = 0; c < x.cols(); ++c) {
    for (Index k = 1; k + 1 < n; ++k) {
      const double h1 = h(k - 1), h2 = h(k);
      const double before = (x(k, c) - x(k - 1, c)) / h1, after = (x(k + 1, c) - x(k, c)) / h2;
      d.first(k, c) = (h1 * after + h2 * before) / (h1 + h2);
      d.second(k, c) = 2.0 * (after - before) / (h1 + h2);
    }
    // the same parabolas at their outer points
    d.first(0, c) = d.first(1, c) - h(0) * d.second(1, c);
    d.second(0, c) = d.second(1, c);
    d.first(n - 1, c) = d.first(n - 2, c) + h(n - 2) * d.second(n - 2, c);
    d.second(n - 1, c) = d.second(n - 2, c);
  }
  return d;
}

template <typename Step>
Derivatives backward(const SignalColumns& x, const Step& h) {
  const Index n = x.rows();
  Derivatives d{Eigen::MatrixXd(n, x.cols()), Eigen::MatrixXd(n, x.cols())};
  for (Index c = 0; c < x.cols(); ++c) {
    for (Index k = 1; k < n; ++k) d.first(k, c) = (x(k, c) - x(k - 1, c)) / h(k - 1);
    d.first(0, c) = d.first(1, c);
    for (Index k = 2; k < n; ++k) {
      d.second(k, c) = 2.0 * (d.first(k, c) - d.first(k - 1, c)) / (h(k - 2) + h(k - 1));
    }
    d.second(0, c) = d.second(1, c) = d.second(2, c);
  }
  return d;
}

}  // namespace

Derivatives centralDifferences(const SignalColumns& x, double dt) {
  requireThree(x);
  requireStep(dt);
  return central(x, [dt](Index) { return dt; });
}

Derivatives backwardDifferences(const SignalColumns& x, double dt) {
  requireThree(x);
  requireStep(dt);
  return backward(x, [dt](Index) { return dt; });
}

Derivatives centralDifferences(const SignalColumns& x, const Eigen::VectorXd& time) {
  requireThree(x);
  requireIncreasingStamps(x, time);
  return central(x, [&time](Index k) { return time[k + 1] - time[k]; });
}

Derivatives backwardDifferences(const SignalColumns& x, const Eigen::VectorXd& time) {
  requireThree(x);
  requireIncreasingStamps(x, time);
  return backward(x, [&time](Index k) { return time[k + 1] - time[k]; });
}

}  // namespace proprio
