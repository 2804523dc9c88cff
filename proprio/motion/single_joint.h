#pragma once

/// Motions of one joint at a time, the others at rest: each shows one phenomenon alone.
///   friction sweep   over the joint's range and back at one constant speed after the other;
///                    torque on the plateaus is friction plus gravity, and the mean of both
///                    directions at the same place cancels gravity
///   inertia strokes  back and forth with the full acceleration and no cruise
///   Fourier          a random series per joint
/// All start and end at rest at `start`.
/// Source: Ardiani 2023 section 1.10, sequential excitation.

#include "proprio/motion/random_motion.h"
#include "proprio/motion/sequence.h"

namespace proprio {

/// A joint at constant speed.
struct Plateau {
  int joint = 0;                   ///< index into the limits
  double speed = 0.0;              ///< rad/s or m/s, with sign
  double begin = 0.0, end = 0.0;   ///< s
  double from = 0.0, until = 0.0;  ///< position at these times
};

struct FrictionSweep {
  PiecewisePolynomial motion;
  std::vector<Plateau> plateaus;
};

struct FrictionSweepOptions {
  std::vector<int> joints;     ///< which ones, in this order; empty: all
  std::vector<double> speeds;  ///< rad/s or m/s, positive; empty: chosen for each joint
  int speed_count = 6;    ///< where chosen: so many, evenly in logarithm, up to the fastest one
  double slowest = 0.05;  ///< where chosen: from this part of the velocity limit
  double least_plateau = 0.5;             ///< plateaus cover at least this part of the stroke
  double dwell = 0.2;                     ///< s at rest at the ends of the range
  Profile profile = Profile::kTrapezoid;  ///< of the ends; kMinimumJerk has no plateau
};

/// @throws Error that names joint and speed where the speed is above the limit or the range too
/// short for it, with the fastest speed possible; and for limits that are missing.
FrictionSweep frictionSweep(const Eigen::VectorXd& start, const MotionLimits& limits,
                            const FrictionSweepOptions& options = {});

struct InertiaStrokesOptions {
  std::vector<int> joints;  ///< which ones, in this order; empty: all
  /// Lengths as parts of the longest stroke that does not reach the velocity limit.
  std::vector<double> lengths = {0.25, 0.5, 1.0};
  int repeats = 2;  ///< strokes there and back of each length
  Profile profile = Profile::kDoubleS;
};

PiecewisePolynomial inertiaStrokes(const Eigen::VectorXd& start, const MotionLimits& limits,
                                   const InertiaStrokesOptions& options = {});

/// One period per joint (all of them where `joints` is empty), one after the other.
Sequence singleJointFourier(const Eigen::VectorXd& start, int harmonics, double period,
                            uint64_t seed, const MotionLimits& limits,
                            const std::vector<int>& joints = {});

}  // namespace proprio
