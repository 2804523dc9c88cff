// Delay between torques and positions, by the lag at which a linear model of the torques fits best.

#include <algorithm>
#include <array>
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

constexpr Index kStretches = 30;     // of time, spread over the recording; errors remember within
constexpr Index kMostRows = 100;     // of the fit in each of them
constexpr double kWiderRange = 5.0;  // where a long delay is looked for, which must be clear
constexpr double kClearGain = 2.0;   // of a long delay
// s, half widths of means in time, 12 to 3 Hz: the first that is long enough is taken
constexpr std::array<double, 4> kSmoothings = {0.03, 0.05, 0.08, 0.12};
// of the acceleration, the most that noise may be: it weakens the inertia in the fit by the square
// of that, and a delay would make up for it
constexpr double kNoiseShare = 0.01;
constexpr double kRank = 1e-8;       // pivots of the regressor below this are zero
constexpr double kExplained = 0.7;   // least share of the torque for a reliable estimate
constexpr double kSlowRow = 0.05;    // of the joint's largest speed: friction is not modelled below
constexpr double kExcursion = 0.01;  // rad, m: a joint that moves less is held by its friction
constexpr double kSureShare = 0.1;   // of range or delay: the largest standard error of use
constexpr double kCoarse = 0.2;      // of the range: steps in which it is searched first

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

// Values in the mean of 2 half + 1 samples with the weights cos^2, and its derivatives; zero phase,
// so that it cannot shift anything. All three went through one kernel, as torques do: what is
// linear between them stays as it was. Rows without a full window stay zero.
struct Smoothed {
  VectorXd x, v, a;
};

VectorXd kernelOf(Index half) {
  VectorXd weights(2 * half + 1);
  for (Index k = -half; k <= half; ++k)
    weights[k + half] = std::pow(
        std::cos(0.5 * M_PI * static_cast<double>(k) / static_cast<double>(half + 1)), 2.0);
  return weights / weights.sum();
}

Smoothed smoothed(const VectorXd& values, Index half, double step) {
  const VectorXd weights = kernelOf(half);
  Smoothed s;
  s.x.setZero(values.size());
  s.v.setZero(values.size());
  s.a.setZero(values.size());
  for (Index i = half; i + half < values.size(); ++i)
    s.x[i] = weights.dot(values.segment(i - half, 2 * half + 1));
  for (Index i = half + 1; i + half + 1 < values.size(); ++i) {
    s.v[i] = (s.x[i + 1] - s.x[i - 1]) / (2.0 * step);
    s.a[i] = (s.x[i + 1] - 2.0 * s.x[i] + s.x[i - 1]) / (step * step);
  }
  return s;
}

// The most of the acceleration that white noise of the positions is after smoothing. Fourth
// differences of a motion vanish beside those of noise, which have 70 times its variance.
double accelerationNoise(const VectorXd& values, const Smoothed& smooth, Index half, double step) {
  VectorXd fourth = values;
  for (int i = 0; i < 4; ++i) {
    const Index n = fourth.size() - 1;
    fourth = (fourth.tail(n) - fourth.head(n)).eval();
  }
  const double noise =
      std::sqrt(fourth.squaredNorm() / (70.0 * static_cast<double>(fourth.size())));
  VectorXd padded = VectorXd::Zero(2 * half + 5);
  padded.segment(2, 2 * half + 1) = kernelOf(half);
  const Index n = padded.size() - 2;
  const VectorXd second = padded.head(n) - 2.0 * padded.segment(1, n) + padded.tail(n);
  const double all = std::sqrt(smooth.a.squaredNorm() / static_cast<double>(smooth.a.size()));
  return all > 0.0 ? noise * second.norm() / (step * step * all) : 0.0;
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
// Joints that stand for force-torque sensors stay where they are.
std::vector<MatrixXd> robotRegressors(const std::shared_ptr<const Model>& model,
                                      const std::vector<Track>& tracks, const RowIndices& rows) {
  if (model == nullptr) return {};
  constexpr int kStill = -2, kMissing = -1;
  std::vector<int> of(static_cast<size_t>(model->velocity_count), kMissing);
  for (const Joint& joint : model->joints) {
    if (joint.sensed) std::fill_n(of.begin() + joint.velocity_index, 6, kStill);
  }
  std::vector<Index> coordinate(tracks.size(), -1);
  for (size_t k = 0; k < tracks.size(); ++k) {
    const int joint = model->jointIndex(tracks[k].name);
    if (joint < 0) continue;
    coordinate[k] = model->joints[static_cast<size_t>(joint)].velocity_index;
    if (coordinate[k] >= 0) of[static_cast<size_t>(coordinate[k])] = static_cast<int>(k);
  }
  if (of.empty() || std::find(of.begin(), of.end(), kMissing) != of.end()) return {};

  const Tree tree(model);
  std::vector<int> position(of.size(), -1);
  for (const Joint& joint : model->joints) {
    if (joint.velocity_index < 0 || joint.sensed) continue;
    position[static_cast<size_t>(joint.velocity_index)] = joint.position_index;
  }
  const Parameters parameters = declaredParameters(model);
  Workspace workspace(tree);
  const Index n = tree.velocityCount(), width = parameters.layout->size();
  // friction and rotor, which few descriptions mention, and an offset besides
  std::vector<MatrixXd> W(tracks.size(),
                          MatrixXd::Ones(static_cast<Index>(rows.size()), width + 4));
  VectorXd q = tree.neutralPosition(), v = VectorXd::Zero(n), a = v;
  MatrixXd Y(n, width);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (Index c = 0; c < n; ++c) {
      const int k = of[static_cast<size_t>(c)];
      if (k == kStill) continue;
      const Smoothed& track = tracks[static_cast<size_t>(k)].q;
      q[position[static_cast<size_t>(c)]] = track.x[rows[r]];
      v[c] = track.v[rows[r]];
      a[c] = track.a[rows[r]];
    }
    augmentedRegressor(tree, *parameters.layout, workspace, q, v, a, Y);
    for (size_t k = 0; k < tracks.size(); ++k) {
      auto row = W[k].row(static_cast<Index>(r));
      const double speed = tracks[k].q.v[rows[r]];
      row.head(width).setZero();
      if (coordinate[k] >= 0) row.head(width) = Y.row(coordinate[k]);
      row.segment(width, 3) << tracks[k].q.a[rows[r]], speed, speed > 0.0 ? 1.0 : -1.0;
    }
  }
  return W;
}

// The speeds at whose zero the torque of a joint jumps: its own, and sums that a declared column of
// it has (a coupled wrist).
std::vector<VectorXd> turningSpeeds(const Model* model, const std::vector<Track>& tracks,
                                    const Track& own) {
  std::vector<VectorXd> speeds = {own.q.v};
  if (model == nullptr) return speeds;
  for (const CouplingColumn& column : model->couplings) {
    for (const CouplingTerm& term : column.terms) {
      if (term.joint != model->jointIndex(own.name)) continue;
      VectorXd sum = VectorXd::Zero(own.q.v.size());
      for (const Track& track : tracks) {
        for (size_t k = 0; k < term.joints.size(); ++k) {
          if (term.joints[k] == model->jointIndex(track.name)) sum += term.weights[k] * track.q.v;
        }
      }
      speeds.push_back(std::move(sum));
    }
  }
  return speeds;
}

// Rows in which friction is what the model says: throughout the window of the smoothing, which
// spreads jumps, the joint moves one way. Where exactly friction turns so does not matter.
RowIndices steadyRows(const std::vector<VectorXd>& speeds, const RowIndices& rows, Index half) {
  RowIndices kept = rows;
  for (const VectorXd& v : speeds) {
    const double slow = kSlowRow * v.cwiseAbs().maxCoeff();
    const auto turns = [&](Index i) {
      const double sign = v[i] > 0.0 ? 1.0 : -1.0;
      return sign * v[i - half] < slow || sign * v[i] < slow || sign * v[i + half] < slow;
    };
    kept.erase(std::remove_if(kept.begin(), kept.end(), turns), kept.end());
  }
  return kept;
}

// What a fit of the torque `lag` samples later leaves, over what there is to explain.
struct Residual {
  VectorXd left;
  double share = 1.0;
};
Residual residualAt(const MatrixXd& Q, const VectorXd& torque, const RowIndices& rows, Index lag) {
  VectorXd y(static_cast<Index>(rows.size()));
  for (Index r = 0; r < y.size(); ++r) y[r] = torque[rows[static_cast<size_t>(r)] + lag];
  Residual out;
  const double total = (y.array() - y.mean()).square().sum();
  out.left = y - Q * (Q.transpose() * y);
  out.share = total > 0.0 ? out.left.squaredNorm() / total : 1.0;
  return out;
}

// Of the lag where |residual|^2 = S is least, in samples: var = sum over stretches of time of
// (r . dr/dlag)^2 / (S''/2)^2 allows for errors that remember within them (Liang and Zeger 1986).
double lagError(const VectorXd& residual, const VectorXd& slope, double half_curvature) {
  const Index n = residual.size();
  double sum = 0.0;
  for (Index b = 0; b < kStretches; ++b) {
    const Index from = b * n / kStretches, count = (b + 1) * n / kStretches - from;
    sum += std::pow(residual.segment(from, count).dot(slope.segment(from, count)), 2.0);
  }
  return std::sqrt(sum) / half_curvature;
}

// The lag of least residual, in samples: by coarse steps, far out only if that is clearly better,
// then one by one.
Index bestLag(const MatrixXd& Q, const Track& own, const RowIndices& rows, Index near, Index far) {
  const Index coarse = std::max<Index>(1, std::lround(kCoarse * static_cast<double>(near)));
  const auto shareAt = [&](Index lag) { return residualAt(Q, own.torque, rows, lag).share; };
  Index best = 0;
  const double without = shareAt(0);
  double least = without;
  for (Index lag = coarse; lag <= far; lag += coarse) {
    if (lag > near) least = std::min(least, without / kClearGain);
    for (const Index side : {lag, -lag}) {
      const double share = shareAt(side);
      if (share >= least) continue;
      least = share;
      best = side;
    }
  }
  const Index from = std::max(best - coarse, -far), to = std::min(best + coarse, far);
  least = shareAt(best);
  for (Index lag = from; lag <= to; ++lag) {
    const double share = shareAt(lag);
    if (share >= least) continue;
    least = share;
    best = lag;
  }
  return best;
}

DelayEstimate estimate(const MatrixXd& W, const Track& own, const RowIndices& rows, double range,
                       Index far, double step) {
  DelayEstimate d;
  d.joint = own.name;
  const MatrixXd Q = rangeBasis(W, kRank);
  const auto near = static_cast<Index>(std::lround(range / step));
  const Index best = bestLag(Q, own, rows, near, far);
  const Residual now = residualAt(Q, own.torque, rows, best);
  d.delay = static_cast<double>(best) * step;
  d.explained = 1.0 - now.share;
  d.gain = residualAt(Q, own.torque, rows, 0).share / std::max(now.share, 1e-300);
  if (std::abs(best) >= far) return d;
  const Residual before = residualAt(Q, own.torque, rows, best - 1),
                 after = residualAt(Q, own.torque, rows, best + 1);
  const double curvature = before.share - 2.0 * now.share + after.share;  // per sample squared
  if (!(curvature > 0.0)) return d;
  const double beyond = 0.5 * (before.share - after.share) / curvature;
  if (std::abs(beyond) > 1.0) return d;  // no minimum
  d.delay += beyond * step;
  const VectorXd slope = 0.5 * (after.left - before.left);
  const double total = now.left.squaredNorm() / std::max(now.share, 1e-300);
  d.standard_error = lagError(now.left + beyond * slope, slope, 0.5 * curvature * total) * step;
  d.reliable = d.explained > kExplained &&
               d.standard_error < kSureShare * std::max(range, std::abs(d.delay));
  return d;
}

// At most kMostRows in each stretch, `stride` samples apart: so close, smoothed noise is as strong
// in them at every lag.
RowIndices rowsOfStretches(Index begin, Index end, Index stride) {
  RowIndices rows;
  stride = std::max<Index>(1, stride);
  for (Index b = 0; b < kStretches; ++b) {
    const Index from = begin + b * (end - begin) / kStretches,
                to = begin + (b + 1) * (end - begin) / kStretches;
    for (Index i = from, k = 0; i < to && k < kMostRows; i += stride, ++k) rows.push_back(i);
  }
  return rows;
}

MatrixXd chosenRows(const MatrixXd& x, const RowIndices& all, const RowIndices& chosen) {
  MatrixXd out(static_cast<Index>(chosen.size()), x.cols());
  Index next = 0;
  for (size_t r = 0; r < all.size() && next < out.rows(); ++r) {
    if (all[r] == chosen[static_cast<size_t>(next)]) out.row(next++) = x.row(static_cast<Index>(r));
  }
  return out;
}

// Positions and torques on a uniform grid, smoothed; `noisy` tells that the acceleration of a
// moving joint has more noise than it may.
std::vector<Track> tracksOf(const Recording& recording, double step, Index count, Index half,
                            bool* noisy) {
  std::vector<Track> tracks;
  *noisy = false;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity != Quantity::kPosition || channel.role != Role::kMeasured) continue;
    const int q = recording.column(channel.name);
    const int tau = recording.column(Quantity::kTorque, Role::kMeasured, channel.of);
    if (!recording.values.col(q).allFinite() ||
        (tau >= 0 && !recording.values.col(tau).allFinite()))
      continue;
    Track track;
    track.name = channel.of;
    const VectorXd positions = onGrid(recording.time, recording.values.col(q), step, count);
    track.q = smoothed(positions, half, step);
    const bool moves = positions.maxCoeff() - positions.minCoeff() > kExcursion;
    *noisy = *noisy || (moves && accelerationNoise(positions, track.q, half, step) > kNoiseShare);
    // filtered alike, so that the two sides keep their relation
    if (tau >= 0) {
      track.torque =
          smoothed(onGrid(recording.time, recording.values.col(tau), step, count), half, step).x;
    }
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace

std::vector<DelayEstimate> estimateDelays(const Recording& recording,
                                          const std::shared_ptr<const Model>& model, double range) {
  const TimeStatistics t = timeStatistics(recording.time, recording.samples());
  if (t.rate_hz == 0.0 || t.repeated + t.reversed > 0) return {};
  if (model != nullptr && model->floating) return {};
  const double step = t.median_step;
  const auto count = static_cast<Index>(std::floor(t.duration / step)) + 1;
  constexpr Index kLeastRows = 100;
  if (count > 100 * recording.samples()) return {};
  std::vector<Track> tracks;
  Index half = 0, far = 0;
  bool noisy = true;
  for (size_t k = 0; k < kSmoothings.size() && noisy; ++k) {
    half = std::max<Index>(2, static_cast<Index>(std::lround(kSmoothings[k] / step)));
    // a short recording leaves less room to search
    const Index room = (count - kLeastRows) / 4 - 2 * half - 1;
    far = std::min(room, static_cast<Index>(std::lround(kWiderRange * range / step)));
    if (far < std::max<Index>(3, std::lround(range / step))) return {};
    tracks = tracksOf(recording, step, count, half, &noisy);
  }
  const RowIndices rows = rowsOfStretches(2 * half + far + 1, count - 2 * half - far - 1, half / 3);
  const std::vector<MatrixXd> full = robotRegressors(model, tracks, rows);
  std::vector<DelayEstimate> delays;
  for (const Track& track : tracks) {
    if (track.torque.size() == 0) continue;
    const auto within = [&](const RowIndices& chosen) {
      DelayEstimate d;
      d.joint = track.name;
      const MatrixXd W =
          full.empty()
              ? smallRegressor(tracks, track, chosen)
              : chosenRows(full[static_cast<size_t>(&track - tracks.data())], rows, chosen);
      const bool enough = W.rows() > std::max(3 * W.cols(), kLeastRows);
      return enough ? estimate(W, track, chosen, range, far, step) : d;
    };
    const auto inner = track.q.x.segment(half, count - 2 * half);
    DelayEstimate d;
    d.joint = track.name;
    if (inner.maxCoeff() - inner.minCoeff() > kExcursion) {
      d = within(steadyRows(turningSpeeds(model.get(), tracks, track), rows, half));
      // beside a long delay it does not matter where exactly friction turns, but that it does
      if (std::abs(d.delay) > range) d = within(rows);
    }
    d.reliable = d.reliable && !noisy;
    delays.push_back(std::move(d));
  }
  return delays;
}

}  // namespace proprio
