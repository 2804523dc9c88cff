#include "proprio/motion/fourier_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/motion/uniform_internal.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// (1, 2, .., L): v(0) = 0 asks a to be orthogonal to ones, acceleration(0) = 0 asks b to be
// orthogonal to this
VectorXd orders(Index harmonics) {
  return VectorXd::LinSpaced(harmonics, 1.0, static_cast<double>(harmonics));
}

// orthonormal columns that span what is orthogonal to u: the reflection that takes u to the first
// axis, without its first column
MatrixXd orthogonalTo(const VectorXd& u) {
  VectorXd w = u.normalized();
  w[0] += w[0] < 0 ? -1.0 : 1.0;
  const Index n = u.size();
  const MatrixXd reflection =
      MatrixXd::Identity(n, n) - (2.0 / w.squaredNorm()) * w * w.transpose();
  return reflection.rightCols(n - 1);
}

void requirePositive(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(
        fmt::format("the {} of a Fourier series is {}; expected a positive number", what, value));
}

void requireHarmonics(int harmonics) {
  if (harmonics < 1)
    throw Error(fmt::format("a Fourier series of {} harmonics; expected at least one", harmonics));
}

}  // namespace

FourierSeries::FourierSeries(int joints, int harmonics, double period_seconds)
    : period(period_seconds),
      offset(VectorXd::Zero(std::max(joints, 0))),
      a(MatrixXd::Zero(std::max(joints, 0), std::max(harmonics, 0))),
      b(a) {
  requireHarmonics(harmonics);
  checkSeries(*this);
}

double FourierSeries::baseFrequency() const { return 2.0 * std::numbers::pi / period; }

void FourierSeries::at(double t, Eigen::Ref<VectorXd> q, Eigen::Ref<VectorXd> v,
                       Eigen::Ref<VectorXd> acceleration) const {
  const bool outside = t < 0.0 || t > duration();
  // the phase from the place within the period: a long motion keeps the accuracy of the first one
  const double place = std::clamp(t, 0.0, duration()) / period;
  const double phase = 2.0 * std::numbers::pi * (place - std::floor(place));
  const double w = baseFrequency();
  q = offset;
  v.setZero();
  acceleration.setZero();
  for (Index l = 0; l < a.cols(); ++l) {
    const double order = static_cast<double>(l + 1);
    const double sine = std::sin(order * phase), cosine = std::cos(order * phase);
    const double wl = w * order;
    q += (sine / wl) * a.col(l) - (cosine / wl) * b.col(l);
    v += cosine * a.col(l) + sine * b.col(l);
    acceleration += (-wl * sine) * a.col(l) + (wl * cosine) * b.col(l);
  }
  if (outside) {
    v.setZero();
    acceleration.setZero();
  }
}

std::vector<double> FourierSeries::breaks() const {
  const int pieces = repeats * std::max(harmonics(), 1);
  std::vector<double> times(static_cast<size_t>(pieces) + 1);
  for (int k = 0; k <= pieces; ++k) times[static_cast<size_t>(k)] = duration() * k / pieces;
  return times;
}

MatrixXd FourierSeries::coefficients() const {
  MatrixXd columns(2 * a.cols() + 1, offset.size());
  columns << offset.transpose(), a.transpose(), b.transpose();
  return columns;
}

FourierSeries FourierSeries::fromCoefficients(const Eigen::Ref<const MatrixXd>& columns,
                                              double period) {
  if (columns.rows() % 2 == 0 || columns.rows() < 3) {
    throw Error(
        fmt::format("{} coefficients per joint for a Fourier series; expected an odd "
                    "number of at least 3: offset, a_1 .. a_L, b_1 .. b_L",
                    columns.rows()));
  }
  const Index harmonics = (columns.rows() - 1) / 2;
  FourierSeries series;
  series.period = period;
  series.offset = columns.row(0).transpose();
  series.a = columns.middleRows(1, harmonics).transpose();
  series.b = columns.bottomRows(harmonics).transpose();
  checkSeries(series);
  return series;
}

void checkSeries(const FourierSeries& series) {
  requirePositive("period", series.period);
  if (series.repeats < 1)
    throw Error(
        fmt::format("a Fourier series of {} periods; expected at least one", series.repeats));
  const Index joints = series.offset.size();
  if (series.a.rows() != joints || series.b.rows() != joints ||
      series.a.cols() != series.b.cols()) {
    throw Error(
        fmt::format("a Fourier series of {} offsets has coefficients a of size {} x {} and "
                    "b of size {} x {}; expected joints x harmonics",
                    joints, series.a.rows(), series.a.cols(), series.b.rows(), series.b.cols()));
  }
  if (!series.offset.allFinite() || !series.a.allFinite() || !series.b.allFinite())
    throw Error("a Fourier series has a coefficient that is not a finite number");
}

MotionBasis fourierBasis(double period, int harmonics, const VectorXd& times) {
  requirePositive("period", period);
  requireHarmonics(harmonics);
  const Index L = harmonics;
  MotionBasis basis;
  basis.q.resize(times.size(), 2 * L + 1);
  basis.q.col(0).setOnes();
  basis.v = MatrixXd::Zero(times.size(), 2 * L + 1);
  basis.a = basis.v;
  const double w = 2.0 * std::numbers::pi / period;
  for (Index l = 1; l <= L; ++l) {
    const double wl = w * static_cast<double>(l);
    for (Index k = 0; k < times.size(); ++k) {
      const double sine = std::sin(wl * times[k]), cosine = std::cos(wl * times[k]);
      basis.q(k, l) = sine / wl;
      basis.v(k, l) = cosine;
      basis.a(k, l) = -wl * sine;
      basis.q(k, L + l) = -cosine / wl;
      basis.v(k, L + l) = sine;
      basis.a(k, L + l) = wl * cosine;
    }
  }
  return basis;
}

MatrixXd fourierRestBasis(double period, int harmonics) {
  requirePositive("period", period);
  requireHarmonics(harmonics);
  const Index L = harmonics;
  const double w = 2.0 * std::numbers::pi / period;
  MatrixXd basis = MatrixXd::Zero(2 * L + 1, 2 * L - 2);
  if (L == 1) return basis;  // one harmonic alone cannot rest at its start
  basis.block(1, 0, L, L - 1) = orthogonalTo(VectorXd::Ones(L));
  basis.block(L + 1, L - 1, L, L - 1) = orthogonalTo(orders(L));
  // the offset that keeps the start where it is
  basis.row(0) = (w * orders(L)).cwiseInverse().transpose() * basis.bottomRows(L);
  return basis;
}

FourierRestEquations fourierRestEquations(double period, int harmonics, double start) {
  requirePositive("period", period);
  requireHarmonics(harmonics);
  const Index L = harmonics;
  const double w = 2.0 * std::numbers::pi / period;
  FourierRestEquations equations;
  equations.matrix = MatrixXd::Zero(3, 2 * L + 1);
  equations.matrix(0, 0) = 1.0;
  equations.matrix.row(0).tail(L) = -(w * orders(L)).cwiseInverse().transpose();
  equations.matrix.row(1).segment(1, L).setOnes();
  equations.matrix.row(2).tail(L) = orders(L).transpose();
  equations.right_side = Eigen::Vector3d(start, 0.0, 0.0);
  return equations;
}

FourierSeries startingAtRest(FourierSeries series, const VectorXd& start) {
  checkSeries(series);
  if (start.size() != series.size())
    throw Error(fmt::format("{} start positions for a Fourier series of {} joints", start.size(),
                            series.size()));
  const VectorXd order = orders(series.harmonics());
  series.a.colwise() -= series.a.rowwise().mean().eval();
  series.b -= (series.b * order / order.squaredNorm()).eval() * order.transpose();
  series.offset = start + series.b * (series.baseFrequency() * order).cwiseInverse();
  checkSeries(series);
  return series;
}

FourierSeries randomFourierSeries(const VectorXd& start, int harmonics, double period,
                                  uint64_t seed, double amplitude) {
  if (harmonics < 2) {
    throw Error(
        fmt::format("a Fourier series of {} harmonics cannot start at rest and move; "
                    "expected at least two",
                    harmonics));
  }
  FourierSeries series(static_cast<int>(start.size()), harmonics, period);
  Uniform uniform(seed);
  for (Index i = 0; i < series.a.rows(); ++i) {
    for (Index l = 0; l < series.a.cols(); ++l) {
      series.a(i, l) = uniform(-amplitude, amplitude);
      series.b(i, l) = uniform(-amplitude, amplitude);
    }
  }
  return startingAtRest(std::move(series), start);
}

}  // namespace proprio
