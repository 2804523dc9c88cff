// Delay between torques and positions, by the lag at which a linear model of the torques fits best.

#include <algorithm>
#include <cmath>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/model/parameters.h"
#include "proprio/numerics/dense.h"
#include "proprio/recording/quality.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kMostRows = 2000;    // of the fit; a longer recording is thinned
constexpr double kWiderRange = 5.0;  // where most joints are far out
constexpr double kClearGain = 2.0;   // of a long delay
constexpr double kAnyGain = 1.3;     // of any: sticking moves the best lag, but explains nothing
constexpr double kSmoothing = 0.02;  // s, half width of the local fits
constexpr double kRank = 1e-8;       // pivots of the regressor below this are zero
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
// phase, so that it cannot shift anything. RowIndices without a full window stay zero.
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
  const MatrixXd weights = leastSquares(powers, MatrixXd::Identity(width, width));
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

using RowIndices = std::vector<Index>;

// [qdd, sin q, cos q of all joints, qd and sign(qd) of its own, 1]
MatrixXd smallRegressor(const std::vector<Track>& tracks, const Track& own,
                        const RowIndices& rows) {
  const auto n = static_cast<Index>(tracks.size());
  MatrixXd W(static_cast<Index>(rows.size()), 3 * n + 3);
  for (Index r = 0; r < W.rows(); ++r) {
    const Index i = rows[static_cast<size_t>(r)];
    for (Index j = 0; j < n; ++j) {
      const Smoothed& q = tracks[static_cast<size_t>(j)].q;
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

// The regressor of the robot, a matrix per track; empty unless every coordinate of it is recorded.
std::vector<MatrixXd> robotRegressors(const std::shared_ptr<const Model>& model,
                                      const std::vector<Track>& tracks, const RowIndices& rows) {
  if (model == nullptr || model->floating || model->velocity_count != model->position_count)
    return {};
  std::vector<int> of(static_cast<size_t>(model->velocity_count), -1);
  std::vector<Index> coordinate(tracks.size(), -1);
  for (size_t k = 0; k < tracks.size(); ++k) {
    const int joint = model->jointIndex(tracks[k].name);
    if (joint < 0) continue;
    coordinate[k] = model->joints[static_cast<size_t>(joint)].velocity_index;
    if (coordinate[k] >= 0) of[static_cast<size_t>(coordinate[k])] = static_cast<int>(k);
  }
  if (of.empty() || std::find(of.begin(), of.end(), -1) != of.end()) return {};

  const Tree tree(model);
  const Parameters parameters = declaredParameters(model);
  Workspace workspace(tree);
  const Index n = tree.velocityCount(), width = parameters.layout->size();
  std::vector<MatrixXd> W(tracks.size(),
                          MatrixXd::Ones(static_cast<Index>(rows.size()), width + 1));
  VectorXd q(n), v(n), a(n);
  MatrixXd Y(n, width);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (Index c = 0; c < n; ++c) {
      const Smoothed& track = tracks[static_cast<size_t>(of[static_cast<size_t>(c)])].q;
      q[c] = track.x[rows[r]];
      v[c] = track.v[rows[r]];
      a[c] = track.a[rows[r]];
    }
    augmentedRegressor(tree, *parameters.layout, workspace, q, v, a, Y);
    for (size_t k = 0; k < tracks.size(); ++k) {
      if (coordinate[k] >= 0) W[k].row(static_cast<Index>(r)).head(width) = Y.row(coordinate[k]);
    }
  }
  return W;
}

// x_i - rho x_(i-1): errors that remember the sample before by rho become independent
MatrixXd whitened(const MatrixXd& x, double rho) {
  return x.bottomRows(x.rows() - 1) - rho * x.topRows(x.rows() - 1);
}

// correlation of residuals that are `gap` rows apart
double neighbours(const VectorXd& residual, Index gap) {
  const Index n = residual.size() - gap;
  if (n < 1 || !(residual.squaredNorm() > 0.0)) return 0.0;
  return std::min(0.99, residual.head(n).dot(residual.tail(n)) / residual.squaredNorm());
}

// How much of a residual is still there a row later, from what is left after `gap` rows, beyond the
// reach of the smoothing: 0 for noise, near 1 for what the model leaves out.
double memory(const VectorXd& residual, Index gap) {
  const double left = neighbours(residual, gap);
  return left > 0.0 ? std::pow(left, 1.0 / static_cast<double>(gap)) : 0.0;
}

// `gap`: rows that the smoothing spans
DelayEstimate estimate(const MatrixXd& W, const Track& own, const RowIndices& rows, Index most,
                       Index gap, double step) {
  const auto torque = [&](Index lag) {
    VectorXd y(static_cast<Index>(rows.size()));
    for (Index r = 0; r < y.size(); ++r) y[r] = own.torque[rows[static_cast<size_t>(r)] + lag];
    return y;
  };
  const auto residualOf = [](const MatrixXd& Q, const VectorXd& y) -> VectorXd {
    return y - Q * (Q.transpose() * y);
  };
  DelayEstimate d;
  d.joint = own.name;
  const MatrixXd Q_plain = rangeBasis(W, kRank);
  // what the model leaves out is smooth; after whitening it weighs little (Cochrane and Orcutt
  // 1949)
  const double rho = memory(residualOf(Q_plain, torque(0)), gap);
  const MatrixXd Q = rangeBasis(whitened(W, rho), kRank);
  VectorXd share(2 * most + 1);
  VectorXd residual;
  for (Index lag = -most; lag <= most; ++lag) {
    const VectorXd white = whitened(torque(lag), rho), left = residualOf(Q, white);
    // relative to what there is to explain, because other samples enter at each lag
    const double all = white.squaredNorm();
    share[lag + most] = all > 0.0 ? left.squaredNorm() / all : 1.0;
    if (share[lag + most] <= share.head(lag + most + 1).minCoeff()) residual = left;
  }
  Index best = 0;
  const double least = share.minCoeff(&best);
  d.delay = static_cast<double>(best - most) * step;
  const auto unexplained = [&](Index lag) {
    const VectorXd y = torque(lag);
    const double total = (y.array() - y.mean()).square().sum();
    return total > 0.0 ? residualOf(Q_plain, y).squaredNorm() / total : 1.0;
  };
  d.explained = 1.0 - unexplained(best - most);
  d.gain = unexplained(0) / std::max(1.0 - d.explained, 1e-300);
  if (best == 0 || best == 2 * most) return d;
  const double curvature = share[best - 1] - 2.0 * least + share[best + 1];  // per sample squared
  if (!(curvature > 0.0)) return d;
  d.delay += 0.5 * (share[best - 1] - share[best + 1]) / curvature * step;
  // one more parameter of the fit: variance = 2 s^2 / S'' with S the sum of squares; samples count
  // less where neighbouring residuals are alike
  const double alike = std::max(0.0, neighbours(residual, 1));
  const double freedom = static_cast<double>(Q.rows() - Q.cols()) * (1.0 - alike) / (1.0 + alike);
  d.standard_error = std::sqrt(2.0 * least / std::max(1.0, freedom) / curvature) * step;
  const bool matters = d.gain > kAnyGain || std::abs(d.delay) < step + 3.0 * d.standard_error;
  d.reliable = matters && d.explained > kExplained &&
               d.standard_error < 0.1 * static_cast<double>(most) * step;
  return d;
}

std::vector<DelayEstimate> delaysWithin(const Recording& recording,
                                        const std::shared_ptr<const Model>& model, double range) {
  const TimeStatistics t = timeStatistics(recording.time, recording.samples());
  if (t.rate_hz == 0.0 || t.repeated + t.reversed > 0) return {};
  const double step = t.median_step;
  const auto count = static_cast<Index>(std::floor(t.duration / step)) + 1;
  const Index half = std::max<Index>(2, static_cast<Index>(std::lround(kSmoothing / step)));
  const Index most = std::max<Index>(3, static_cast<Index>(std::lround(range / step)));
  constexpr Index kLeastRows = 100;
  if (count > 100 * recording.samples() || count < kLeastRows + 2 * (half + most)) return {};

  std::vector<Track> tracks;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity != Quantity::kPosition || channel.role != Role::kMeasured) continue;
    const int q = recording.column(channel.name);
    const int tau = recording.column(Quantity::kTorque, Role::kMeasured, channel.of);
    if (!recording.values.col(q).allFinite() ||
        (tau >= 0 && !recording.values.col(tau).allFinite()))
      continue;
    Track track;
    track.name = channel.of;
    track.q = smoothed(onGrid(recording.time, recording.values.col(q), step, count), half, step);
    // filtered alike, so that the two sides keep their relation
    if (tau >= 0) {
      track.torque =
          smoothed(onGrid(recording.time, recording.values.col(tau), step, count), half, step).x;
    }
    tracks.push_back(std::move(track));
  }
  RowIndices rows;
  const Index usable = count - 2 * (half + most);
  const Index stride = std::max<Index>(1, usable / kMostRows);
  for (Index i = half + most; i < count - half - most; i += stride) rows.push_back(i);
  const Index gap = 1 + 2 * half / stride;
  const std::vector<MatrixXd> full = robotRegressors(model, tracks, rows);
  std::vector<DelayEstimate> delays;
  for (size_t k = 0; k < tracks.size(); ++k) {
    if (tracks[k].torque.size() == 0) continue;
    const MatrixXd W = full.empty() ? smallRegressor(tracks, tracks[k], rows) : full[k];
    if (W.rows() > 3 * W.cols()) delays.push_back(estimate(W, tracks[k], rows, most, gap, step));
  }
  return delays;
}

}  // namespace

std::vector<DelayEstimate> estimateDelays(const Recording& recording,
                                          const std::shared_ptr<const Model>& model, double range) {
  std::vector<DelayEstimate> delays = delaysWithin(recording, model, range);
  const auto far = std::count_if(delays.begin(), delays.end(),
                                 [&](const auto& d) { return std::abs(d.delay) > 0.5 * range; });
  if (2 * far <= static_cast<std::ptrdiff_t>(delays.size())) return delays;
  // a long delay has to make a difference: friction alone moves the best lag by a little
  std::vector<DelayEstimate> wide = delaysWithin(recording, model, kWiderRange * range);
  std::size_t clear = 0;
  for (DelayEstimate& d : wide) {
    d.reliable = d.reliable && d.gain > kClearGain;
    clear += d.reliable;
  }
  if (2 * clear < wide.size()) {
    for (DelayEstimate& d : wide) d.reliable = false;
  }
  return wide.empty() ? delays : wide;
}

}  // namespace proprio
