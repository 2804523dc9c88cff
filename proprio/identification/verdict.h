#pragma once

/// Is the identified model good? Judged per joint on recordings it has not seen, against what was
/// there before. A joint fails
///   - if it is predicted clearly worse than by the model as given or by gravity alone (error 1.2
///     times as large, and by two percent of the torque norm; less is told, but may be chance: the
///     description may be as good as the data), or no better than by zero;
///   - if its held-out error is more than twice the training error, in N m and in percent, and
///     above 5 %: the parameters describe one motion, not the robot.
/// The robot fails too if more than half of the torque (in percent of its norm) of most joints, or
/// a third of the torque of all joints together, remains unexplained, whatever was there before.
/// Single joints of which more than half remains, weak ones then, are exempted from the verdict and
/// named in its first line.
///
/// Where blocks of the training recordings are left out in turn, baselines are those of the same
/// rows. Fits without a block know less than the model that is written, while the description may
/// have been identified from this very motion: a joint fails against a baseline only if it is
/// clearly worse on left-out blocks and on the rows that it has seen.
///
/// Joints without a torque signal are not judged and named. Parts of one recording are taken
/// together. Limit: torques of all joints together mix N m and N.
/// References; peers 9.11.

#include <string>
#include <vector>

#include "proprio/identification/evaluation.h"

namespace proprio {

struct Verdict {
  bool passed = true;
  std::string text;                  ///< one paragraph in plain words
  std::string measured;              ///< the part of it that tells the errors, without an opinion
  std::vector<std::string> reasons;  ///< why it failed, then what else was seen; a sentence each
  size_t causes = 0;                 ///< so many reasons, the first, are why it failed
};

/// @param joints      names, in the order of the velocity coordinates
/// @param training    of the method, one per recording
/// @param validation  the same on held-out recordings; none: passed, but the text says what is
/// missing
/// @param baselines   of the validation recordings, as baselines() returns them
/// @param own_fits    of least squares on each validation recording itself, where known: what its
/// noise and the model's structure leave, whatever the parameters are
Verdict judge(const std::string& method, const std::vector<std::string>& joints,
              const std::vector<Evaluation>& training, const std::vector<Evaluation>& validation,
              const std::vector<Evaluation>& baselines,
              const std::vector<Evaluation>& own_fits = {});

/// Is this error clearly larger, by the measures above?
bool clearlyWorse(const JointError& joint, const JointError& before);

/// What is known about a robot and its data before a method is chosen.
struct MethodFacts {
  bool controller_known = false;    ///< structure of the servo, so that the loop can be simulated
  bool gains_known = false;         ///< and its gains
  bool reference_recorded = false;  ///< the commanded motion
  bool online = false;              ///< the estimate is needed while the robot moves
  bool physical = true;             ///< the result shall be simulated, exported or inverted
  bool undecided = false;           ///< the motion leaves base parameters open
  bool outliers = false;            ///< spikes in the torques, or a contact
  bool noise_bias = false;          ///< found by testNoiseBias
  bool bias_tested = false;         ///< ... which had something to say
  double rate_hz = 1000.0;          ///< of the samples
};

struct MethodAdvice {
  std::string method;
  std::string reason;  ///< one sentence
};

/// Leboutet 2022 fig. 43 as a function (L-76), with the test for noise bias in place of a guess.
MethodAdvice adviseMethod(const MethodFacts& facts);

}  // namespace proprio
