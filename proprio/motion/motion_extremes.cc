#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/motion/motion_grid_internal.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/numerics/golden_section.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// at least so many steps over the whole motion, and so many in every smooth piece
constexpr int kSteps = 4000;
constexpr int kStepsOfPiece = 8;
// an extreme of a resolved curve is not further above its samples than this part of it
constexpr double kCandidate = 0.9;
constexpr int kRefinements = 60;
// a step between pieces that is above this part of the largest position range, or velocity, of the
// joint is a jump; below it is the rounding of files
constexpr double kJump = 1e-6;

struct Sample {
  double t = 0.0;
  VectorXd q, v, a;
};

void evaluate(const Trajectory& trajectory, double t, Sample& sample) {
  sample.t = t;
  trajectory.at(t, sample.q, sample.v, sample.a);
}

// takes a value into account: the extremes start as NaN
void raise(double value, double t, Index i, VectorXd& best, VectorXd& when) {
  if (!(value <= best[i])) {
    best[i] = value;
    when[i] = t;
  }
}

void takeSample(const Sample& sample, Index i, MotionExtremes& found) {
  if (!(sample.q[i] >= found.lowest[i])) {
    found.lowest[i] = sample.q[i];
    found.lowest_time[i] = sample.t;
  }
  raise(sample.q[i], sample.t, i, found.highest, found.highest_time);
  raise(std::abs(sample.v[i]), sample.t, i, found.velocity, found.velocity_time);
  raise(std::abs(sample.a[i]), sample.t, i, found.acceleration, found.acceleration_time);
}

// bisection for a sign change of v (derivative 0) or a (derivative 1) of joint i
void refineRoot(const Trajectory& trajectory, double low, double high, Index i, bool of_velocity,
                Sample& scratch, MotionExtremes& found) {
  const auto value = [&](double t) {
    evaluate(trajectory, t, scratch);
    return of_velocity ? scratch.v[i] : scratch.a[i];
  };
  const bool rising = value(low) < 0.0;
  for (int k = 0; k < kRefinements && high - low > 1e-15 * high; ++k) {
    const double middle = 0.5 * (low + high);
    ((value(middle) < 0.0) == rising ? low : high) = middle;
  }
  evaluate(trajectory, 0.5 * (low + high), scratch);
  takeSample(scratch, i, found);
}

// the largest |a| of joint i
void refineAcceleration(const Trajectory& trajectory, double low, double high, Index i,
                        Sample& scratch, MotionExtremes& found) {
  goldenMaximum(low, high, kRefinements / 2, [&](double t) {
    evaluate(trajectory, t, scratch);
    takeSample(scratch, i, found);
    return std::abs(scratch.a[i]);
  });
}

// between the samples of joint i around `here`, where the samples say that it may matter
void refine(const Trajectory& trajectory, const Sample& before, const Sample& here,
            const Sample* after, Index i, const MotionExtremes& sampled, Sample& scratch,
            MotionExtremes& found) {
  const double margin = (1.0 - kCandidate) * (sampled.highest[i] - sampled.lowest[i]);
  const bool high = here.q[i] > sampled.highest[i] - margin;
  const bool low = here.q[i] < sampled.lowest[i] + margin;
  if ((high || low) && before.v[i] * here.v[i] < 0.0)
    refineRoot(trajectory, before.t, here.t, i, true, scratch, found);
  const bool fast = std::abs(here.v[i]) > kCandidate * sampled.velocity[i];
  if (fast && before.a[i] * here.a[i] < 0.0)
    refineRoot(trajectory, before.t, here.t, i, false, scratch, found);
  const double a = std::abs(here.a[i]);
  if (after != nullptr && a > kCandidate * sampled.acceleration[i] && a > std::abs(before.a[i]) &&
      a >= std::abs(after->a[i]))
    refineAcceleration(trajectory, before.t, after->t, i, scratch, found);
}

// where one piece ends elsewhere, or with another velocity, than the next begins: a jump in
// position is an infinite velocity, a jump in velocity an infinite acceleration
void takeJumps(const Trajectory& trajectory, const std::vector<GridPiece>& grid,
               const MotionExtremes& sampled, Sample& left, Sample& right, MotionExtremes& found) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k + 1 < grid.size(); ++k) {
    evaluate(trajectory, grid[k].end, left);
    evaluate(trajectory, grid[k + 1].begin, right);
    const double gap = right.t - left.t;
    for (Index i = 0; i < left.q.size(); ++i) {
      const double range = sampled.highest[i] - sampled.lowest[i];
      const double way = gap * std::max(std::abs(left.v[i]), std::abs(right.v[i]));
      const double gain = gap * std::max(std::abs(left.a[i]), std::abs(right.a[i]));
      const double rounding = 1e-12 * (1.0 + std::abs(right.q[i]));
      const bool moved = std::abs(right.q[i] - left.q[i]) > kJump * range + 2.0 * way + rounding;
      const bool faster =
          std::abs(right.v[i] - left.v[i]) > kJump * sampled.velocity[i] + 2.0 * gain + rounding;
      if (moved) raise(kInfinite, right.t, i, found.velocity, found.velocity_time);
      if (moved || faster)
        raise(kInfinite, right.t, i, found.acceleration, found.acceleration_time);
    }
  }
}

}  // namespace

std::vector<GridPiece> motionGrid(const Trajectory& trajectory) {
  const std::vector<double> breaks = trajectory.breaks();
  std::vector<GridPiece> pieces;
  const double duration = trajectory.duration();
  for (size_t k = 0; k + 1 < breaks.size(); ++k) {
    const double length = breaks[k + 1] - breaks[k];
    if (!(length > 0)) continue;
    const bool last = k + 2 == breaks.size();
    GridPiece piece{breaks[k], breaks[k + 1], kStepsOfPiece};
    if (!last) piece.end -= std::max(1e-12 * length, 4e-16 * breaks[k + 1]);
    piece.steps = std::max(kStepsOfPiece, static_cast<int>(std::ceil(kSteps * length / duration)));
    pieces.push_back(piece);
  }
  if (pieces.empty()) pieces.push_back({0.0, 0.0, 1});  // a motion that takes no time
  return pieces;
}

MotionExtremes extremes(const Trajectory& trajectory) {
  const Index joints = trajectory.size();
  MotionExtremes found;
  for (VectorXd* vector :
       {&found.lowest, &found.highest, &found.velocity, &found.acceleration, &found.lowest_time,
        &found.highest_time, &found.velocity_time, &found.acceleration_time})
    *vector = VectorXd::Constant(joints, NAN);
  const VectorXd zero = VectorXd::Zero(joints);
  Sample scratch{0.0, zero, zero, zero}, before = scratch, here = scratch, after = scratch;
  const std::vector<GridPiece> grid = motionGrid(trajectory);
  for (const GridPiece& piece : grid) {
    for (int k = 0; k <= piece.steps; ++k) {
      evaluate(trajectory, piece.time(k), here);
      for (Index i = 0; i < joints; ++i) takeSample(here, i, found);
    }
  }
  // a second look at the samples that come close to the largest ones
  const MotionExtremes sampled = found;
  for (const GridPiece& piece : grid) {
    evaluate(trajectory, piece.time(0), before);
    evaluate(trajectory, piece.time(1), here);
    for (int k = 1; k <= piece.steps; ++k) {
      if (k < piece.steps) evaluate(trajectory, piece.time(k + 1), after);
      for (Index i = 0; i < joints; ++i)
        refine(trajectory, before, here, k < piece.steps ? &after : nullptr, i, sampled, scratch,
               found);
      std::swap(before, here);
      std::swap(here, after);
    }
  }
  takeJumps(trajectory, grid, sampled, before, here, found);
  return found;
}

}  // namespace proprio
