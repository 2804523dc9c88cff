// Delay between torques and positions, by the lag at which a small linear model fits best.

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "proprio/recording/quality.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMostRows = 4000;    // of the fit; a longer recording is thinned
constexpr double kSmoothing = 0.02;  // s, half width of the local fits
constexpr double kExplained = 0.7;   // least share of the torque for a reliable estimate

// Values at equal steps, between the stamps by linear interpolation.
VectorXd onGrid(const VectorXd& time, const Eigen::Ref<const VectorXd>& values, double step,
                Index count) {
  VectorXd out(count);
  Index next = 1;
  for (Index i = 0; i < count; ++i) {
    const double t = time[0] + static_cast<double>(i) * step;
    while (next + 1 < time.size() && time[next] < t) ++next;
    const double s = (t - time[next - 1]) / (time[next] - time[next - 1]);
    out[i] = (1.0 - s) * values[next - 1] + s * values[next];
  }
  return out;
}

// Value and derivatives of a cubic fitted over 2 half + 1 samples (Savitzky and Golay 1964); zero
// phase, so that it cannot shift anything. Rows without a full window stay zero.
struct Smoothed {
  VectorXd x, v, a;
};
Smoothed smoothed(const VectorXd& values, Index half, double step) {
  const Index width = 2 * half + 1;
  MatrixXd powers(width, 4);
  for (Index k = 0; k < width; ++k) {
    const double s = static_cast<double>(k - half) / static_cast<double>(half);
    powers.row(k) << 1.0, s, s * s, s * s * s;
  }
  // rows: weights of the samples for each coefficient
  const MatrixXd weights =
      powers.householderQr().solve(MatrixXd::Identity(width, width)).topRows(4);
  const double unit = step * static_cast<double>(half);
  Smoothed s;
  s.x.setZero(values.size());
  s.v.setZero(values.size());
  s.a.setZero(values.size());
  for (Index i = half; i + half < values.size(); ++i) {
    const Eigen::Vector4d c = weights * values.segment(i - half, width);
    s.x[i] = c[0];
    s.v[i] = c[1] / unit;
    s.a[i] = 2.0 * c[2] / (unit * unit);
  }
  return s;
}

struct Track {
  std::string name;
  Smoothed q;
  VectorXd torque;
};

// residual variances at lags -most ... most, in samples
struct Scan {
  VectorXd squares;
  double variance = 0.0;  // of the torque
  VectorXd residual;      // at the best lag
  Index rows = 0, columns = 0;
};

MatrixXd regressor(const std::vector<Track>& joints, const Track& own,
                   const std::vector<Index>& rows) {
  const auto n = static_cast<Index>(joints.size());
  MatrixXd W(static_cast<Index>(rows.size()), 3 * n + 3);
  for (Index r = 0; r < W.rows(); ++r) {
    const Index i = rows[static_cast<size_t>(r)];
    for (Index j = 0; j < n; ++j) {
      const Smoothed& q = joints[static_cast<size_t>(j)].q;
      W(r, 3 * j) = q.a[i];
      W(r, 3 * j + 1) = std::sin(q.x[i]);
      W(r, 3 * j + 2) = std::cos(q.x[i]);
    }
    const double v = own.q.v[i];
    W(r, 3 * n) = v;
    W(r, 3 * n + 1) = v > 0.0 ? 1.0 : v < 0.0 ? -1.0 : 0.0;
    W(r, 3 * n + 2) = 1.0;
  }
  return W;
}

Scan scanLags(const std::vector<Track>& joints, const Track& own, const std::vector<Index>& rows,
              Index most) {
  const MatrixXd W = regressor(joints, own, rows);
  Eigen::ColPivHouseholderQR<MatrixXd> qr(W);
  qr.setThreshold(1e-9);
  const Index rank = qr.rank();
  const MatrixXd Q = qr.householderQ() * MatrixXd::Identity(W.rows(), rank);
  Scan scan;
  scan.rows = W.rows();
  scan.columns = rank;
  scan.squares.resize(2 * most + 1);
  VectorXd y(W.rows());
  double best = -1.0;
  for (Index lag = -most; lag <= most; ++lag) {
    for (Index r = 0; r < y.size(); ++r) y[r] = own.torque[rows[static_cast<size_t>(r)] + lag];
    const VectorXd residual = y - Q * (Q.transpose() * y);
    // relative to what there is to explain at this lag, because other samples enter at each
    const double total = (y.array() - y.mean()).square().sum();
    const double share = total > 0.0 ? residual.squaredNorm() / total : 1.0;
    scan.squares[lag + most] = share;
    if (best < 0.0 || share < best) {
      best = share;
      scan.residual = residual;
      scan.variance = total;
    }
  }
  return scan;
}

// (1 + rho) / (1 - rho) times fewer samples count as independent
double correlationFactor(const VectorXd& residual) {
  const Index n = residual.size();
  const double rho = std::clamp(
      residual.head(n - 1).dot(residual.tail(n - 1)) / std::max(residual.squaredNorm(), 1e-300),
      0.0, 0.99);
  return (1.0 + rho) / (1.0 - rho);
}

DelayEstimate estimate(const std::vector<Track>& joints, const Track& own,
                       const std::vector<Index>& rows, Index most, double step) {
  const Scan scan = scanLags(joints, own, rows, most);
  Index best = 0;
  const double least = scan.squares.minCoeff(&best);
  DelayEstimate d;
  d.joint = own.name;
  d.explained = 1.0 - least;
  d.delay = static_cast<double>(best - most) * step;
  if (best == 0 || best == 2 * most) return d;
  const double before = scan.squares[best - 1], after = scan.squares[best + 1];
  const double curvature = before - 2.0 * least + after;  // per sample squared
  if (!(curvature > 0.0)) return d;
  d.delay += 0.5 * (before - after) / curvature * step;
  // one more parameter of the fit: variance = 2 s^2 / S'' with S the sum of squares
  const double freedom =
      static_cast<double>(scan.rows - scan.columns) / correlationFactor(scan.residual);
  d.standard_error = std::sqrt(2.0 * least / std::max(1.0, freedom) / curvature) * step;
  d.reliable =
      d.explained > kExplained && d.standard_error < 0.1 * static_cast<double>(most) * step;
  return d;
}

}  // namespace

std::vector<DelayEstimate> estimateDelays(const Recording& recording, double range) {
  const TimeStatistics t = timeStatistics(recording.time, recording.samples());
  if (t.rate_hz == 0.0 || t.repeated + t.reversed > 0) return {};
  const double step = t.median_step;
  const auto count = static_cast<Index>(std::floor(t.duration / step)) + 1;
  const Index half = std::max<Index>(2, static_cast<Index>(std::lround(kSmoothing / step)));
  const Index most = std::max<Index>(3, static_cast<Index>(std::lround(range / step)));
  constexpr Index kLeastRows = 100;
  if (count > 100 * recording.samples() || count < kLeastRows + 2 * (half + most)) return {};

  std::vector<Track> joints;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity != Quantity::kPosition || channel.role != Role::kMeasured) continue;
    const int q = recording.column(channel.name);
    const int tau = recording.column(Quantity::kTorque, Role::kMeasured, channel.of);
    if (!recording.values.col(q).allFinite() ||
        (tau >= 0 && !recording.values.col(tau).allFinite()))
      continue;
    Track joint;
    joint.name = channel.of;
    joint.q = smoothed(onGrid(recording.time, recording.values.col(q), step, count), half, step);
    // filtered alike, so that the two sides keep their relation
    if (tau >= 0) {
      joint.torque =
          smoothed(onGrid(recording.time, recording.values.col(tau), step, count), half, step).x;
    }
    joints.push_back(std::move(joint));
  }
  std::vector<Index> rows;
  const Index usable = count - 2 * (half + most);
  const Index stride = std::max<Index>(1, usable / kMostRows);
  for (Index i = half + most; i < count - half - most; i += stride) rows.push_back(i);
  const auto columns = static_cast<Index>(3 * joints.size() + 3);
  std::vector<DelayEstimate> delays;
  if (static_cast<Index>(rows.size()) < 3 * columns) return {};
  for (const Track& joint : joints) {
    if (joint.torque.size() > 0) delays.push_back(estimate(joints, joint, rows, most, step));
  }
  return delays;
}

}  // namespace proprio
