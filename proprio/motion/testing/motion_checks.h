#pragma once

/// What every trajectory must satisfy, whatever its type.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/testing/message_of.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

struct StateAt {
  Eigen::VectorXd q, v, a;
};

inline StateAt stateAt(const Trajectory& trajectory, double t) {
  const Eigen::VectorXd poison = Eigen::VectorXd::Constant(trajectory.size(), NAN);
  StateAt state{poison, poison, poison};
  trajectory.at(t, state.q, state.v, state.a);
  return state;
}

/// v and a are the derivatives of q and v: central differences at points inside every smooth
/// piece. The tolerance is relative to the largest velocity and acceleration; the error of the
/// difference is of order step^2 times the next derivatives.
inline void expectDerivativesAgree(const Trajectory& trajectory, double tolerance = 1e-6) {
  const std::vector<double> breaks = trajectory.breaks();
  ASSERT_GE(breaks.size(), 2u);
  EXPECT_EQ(breaks.front(), 0.0);
  EXPECT_EQ(breaks.back(), trajectory.duration());
  double largest_v = 1e-12, largest_a = 1e-12, error_v = 0.0, error_a = 0.0;
  for (size_t k = 0; k + 1 < breaks.size(); ++k) {
    const double length = breaks[k + 1] - breaks[k];
    ASSERT_GT(length, 0.0);
    const double h = 1e-5 * length;
    for (int i = 1; i < 24; ++i) {
      const double t = breaks[k] + length * i / 24.0;
      const StateAt before = stateAt(trajectory, t - h), after = stateAt(trajectory, t + h),
                    here = stateAt(trajectory, t);
      ASSERT_TRUE(here.q.allFinite() && here.v.allFinite() && here.a.allFinite()) << t;
      const double dt = (t + h) - (t - h);
      largest_v = std::max(largest_v, here.v.lpNorm<Eigen::Infinity>());
      largest_a = std::max(largest_a, here.a.lpNorm<Eigen::Infinity>());
      error_v = std::max(error_v, ((after.q - before.q) / dt - here.v).lpNorm<Eigen::Infinity>());
      error_a = std::max(error_a, ((after.v - before.v) / dt - here.a).lpNorm<Eigen::Infinity>());
    }
  }
  EXPECT_LT(error_v, tolerance * largest_v);
  EXPECT_LT(error_a, tolerance * largest_a);
}

/// Largest jump of q, v and a at the inner breaks.
struct Jumps {
  double q = 0.0, v = 0.0, a = 0.0;
};
inline Jumps jumpsAtBreaks(const Trajectory& trajectory) {
  const std::vector<double> breaks = trajectory.breaks();
  Jumps jumps;
  for (size_t k = 1; k + 1 < breaks.size(); ++k) {
    // the left limit, extrapolated from two points with one derivative less of error
    const double h = 1e-7 * (breaks[k] - breaks[k - 1]);
    const StateAt left = stateAt(trajectory, breaks[k] - h), right = stateAt(trajectory, breaks[k]);
    const StateAt further = stateAt(trajectory, breaks[k] - 2 * h);
    const auto jump = [](const Eigen::VectorXd& near, const Eigen::VectorXd& far,
                         const Eigen::VectorXd& value) {
      return (2.0 * near - far - value).lpNorm<Eigen::Infinity>();
    };
    jumps.q = std::max(jumps.q, jump(left.q, further.q, right.q));
    jumps.v = std::max(jumps.v, jump(left.v, further.v, right.v));
    jumps.a = std::max(jumps.a, jump(left.a, further.a, right.a));
  }
  return jumps;
}

inline void expectRestAtBothEnds(const Trajectory& trajectory, double tolerance = 1e-9) {
  for (const double t : {0.0, trajectory.duration()}) {
    const StateAt end = stateAt(trajectory, t);
    EXPECT_LT(end.v.lpNorm<Eigen::Infinity>(), tolerance) << t;
    EXPECT_LT(end.a.lpNorm<Eigen::Infinity>(), tolerance) << t;
  }
}

}  // namespace proprio
