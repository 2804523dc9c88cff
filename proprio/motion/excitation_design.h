#pragma once

/// Designs motions from which parameters can be identified well: finite Fourier series, B-splines
/// or trapezoids per joint whose coefficients minimise a criterion of the regressor
/// (excitation_criterion.h) under everything that motion_constraints.h knows, at rest at both ends,
/// which are at the same posture.
///
/// How: all kinds of motion are linear in their coefficients, and what does not rest at both ends
/// is eliminated, x = (start, 0) + N z; a random start is scaled until it keeps every limit; then
/// rounds of
///   1. Ipopt on log(criterion) with true gradients, constraints at chosen times,
///   2. all constraints on a grid of 50 samples per shortest wave, at least 50 per second, and
///      between its samples (constraint_peaks.h); peaks beyond a limit become new constraint times,
///   3. what is still beyond is scaled back towards the starting posture, or moved back towards the
///      best motion so far, and the result kept if it is better; where most of what was gained is
///      lost in this way, the nearest motion that keeps the watched limits is looked for first.
/// A round goes on from where the one before ended or, where that is worse than the best motion so
/// far or breaks limits too far, from the best motion.
/// What is returned therefore keeps its limits on that grid and between its samples, with the
/// model's own (not smoothed) friction. A start from which a gradient leads nowhere (criterion
/// infinite or beyond 1e6) is improved by an evolution strategy first.
///
/// Deterministic for a seed, unless the time limit ends the search.
///
/// Base coordinates of a floating robot, and joints that are not named, stay at the posture; the
/// parameters are those that the moving joints can tell (excitable_parameters.h), together with the
/// motions that were recorded earlier.
/// Sources: Swevers et al. 1997; Leboutet 2022 section 5.2.2 (L-13, L-14), Ardiani 2023
/// section 1.10, Ramuzat 2022 section 3.3.

#include <cstdint>
#include <functional>
#include <limits>

#include "proprio/motion/excitable_parameters.h"
#include "proprio/motion/excitation_criterion.h"
#include "proprio/motion/motion_constraints.h"
#include "proprio/motion/trajectory.h"

namespace proprio {

struct ExcitationProgress {
  int round = 0;
  int iteration = 0;
  double seconds = 0.0;
  double criterion = 0.0;  ///< smoothed, at the current iterate, which may break limits
};

/// Motions among which the design chooses. Fourier series have a limited band; B-splines (degree 5,
/// equal distances between knots) change by parts; trapezoids stop at postures, with accelerations
/// that jump: what simple controllers can do.
enum class ExcitationBasis { kFourier, kBSpline, kTrapezoid };

struct ExcitationOptions {
  ExcitationBasis basis = ExcitationBasis::kFourier;
  int harmonics = 20;  ///< of Fourier series; 2 harmonics - 1 unknowns per joint
  /// Of B-splines, the three that rest at either end included; 5 unknowns less per joint. Waves as
  /// short as two intervals between knots: by default as many and as short as by harmonics.
  int control_points = 44;
  int stops = 20;  ///< of trapezoids: postures in equal times, as many unknowns per joint
  double seconds = 10.0;
  /// `columns` empty: the base parameters. `smoothing` is that of the search (0: 8); results are
  /// exact. `earlier` is set from the motions below, at the rate of the design's own samples.
  CriterionOptions criterion;
  std::vector<JointMotion> earlier;  ///< motions already recorded: learn what they left open
  ConstraintOptions constraints;
  double margin = 0.05;  ///< part of every joint limit that is left free
  double speed = 1.0;    ///< velocities up to this part of their limits, accelerations its square
  uint64_t seed = 1;
  int rounds = 6;
  int iterations = 60;  ///< of Ipopt, per round
  int generations = 0;  ///< of the evolution strategy, first; 0: only for bad starts
  /// Other random starts (of the same seed) after a search has settled, as long as there is time
  /// and the target is not reached; the best motion is returned.
  int restarts = 0;
  double target = 0.0;  ///< stop when the criterion is not above this
  double time_limit = std::numeric_limits<double>::infinity();  ///< s
  double sign_gain = 30.0;  ///< s/rad: sign(v) is tanh(gain v) during the search
  std::function<void(const ExcitationProgress&)> progress;
};

/// A constraint that the motion uses to more than 97 %.
struct ActiveConstraint {
  std::string name;
  double usage = 0.0;  ///< of the limit without margin for joints; 1 = at the limit
  double time = 0.0;   ///< s
};

struct ExcitationDesign {
  bool feasible = false;  ///< there is a motion, and it keeps every limit
  std::string note;       ///< why not; or what ended the search
  std::vector<std::string> joints;
  std::shared_ptr<const Trajectory> motion;  ///< a FourierSeries, a BSpline, or polynomials
  int samples = 0;                           ///< of the grid on which every limit holds: onGrid()
  double start_criterion = 0.0;              ///< of the random start, made feasible
  double criterion = 0.0;                    ///< of the motion
  double condition = 0.0;           ///< s_1 / s_n with the criterion's row and column scales
  Eigen::VectorXd singular_values;  ///< of W / sqrt(samples)
  std::vector<ActiveConstraint> active;
  BaseParameters base;             ///< of what these joints can tell
  std::vector<int> columns;        ///< that the criterion saw
  std::vector<int> silent;         ///< parameters that act only when the held coordinates move too
  int rounds = 0, iterations = 0;  ///< of all starts
  int starts = 1;                  ///< that were searched from
  double elapsed = 0.0;            ///< s
};

/// @throws Error for options that make no sense. Limits that no motion keeps are a result, not an
/// error: see `feasible` and `note`.
ExcitationDesign designExcitation(const std::shared_ptr<const Model>& model,
                                  const ExcitationOptions& options);

/// The robot as the design sees it: what moves, what is held, what was recorded.
HeldRobot heldRobot(const std::shared_ptr<const Tree>& tree,
                    const std::shared_ptr<const ParameterLayout>& layout,
                    const ExcitationOptions& options);

/// Samples of a motion, evenly spaced from 0, without its end.
struct GridSamples {
  Eigen::VectorXd time;
  Eigen::MatrixXd q, v, a;  ///< samples x moving joints
};
GridSamples onGrid(const Trajectory& motion, int samples);

}  // namespace proprio
