#pragma once

/// Which columns of a raw log a declared signal means.

#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// What one column of a signal is.
struct SignalColumn {
  Quantity quantity = Quantity::kOther;
  std::string of;         ///< joint or sensor
  std::string component;  ///< of a sensor's vector
};

/// A declared signal with what it is made of.
struct Selection {
  SignalDeclaration declaration;
  Role role = Role::kMeasured;
  std::vector<SignalColumn> columns;  ///< as recorded: one per joint (motor) or component
  size_t recording = 0;               ///< index of the raw recording
  std::vector<Eigen::Index> from;     ///< its columns
};

/// How a log becomes signals of a robot, decided by looking at its parts or at the first rows of
/// them.
struct SignalPlan {
  std::vector<Selection> selections;
  bool declared = false;     ///< by robot.yaml; otherwise the names say what is what
  double time_factor = 1.0;  ///< s per unit of the stamps
  std::vector<std::string> notes;
};

/// The two halves of mapRecording().
SignalPlan planSignals(const Model& model, const std::vector<Recording>& raw);
Recording mappedBy(const SignalPlan& plan, const Model& model, const std::vector<Recording>& given);

/// Selections for all declared signals. A log that has the parts of one role only (a commanded
/// trajectory without the states that followed) is taken for these, which a note tells.
/// @throws Error with the line of the signal.
std::vector<Selection> selectDeclared(const Model& model, const std::vector<Recording>& raw,
                                      std::vector<std::string>& notes);

/// What the log says by itself, for models without a declaration: by the names of the convention,
/// and where positions or torques have none, by other usual ones (guess_signals_internal.h), which
/// a note tells. @throws Error if no channel of the model's joints is in it.
std::vector<Selection> selectByNames(const Model& model, const std::vector<Recording>& raw,
                                     std::vector<std::string>& notes);

/// Positions that were taken by other names than ours and state no unit are in degrees where they
/// leave the limits of the joints as radians and keep them as degrees; with them velocities that
/// are their derivative. Where limits of positions say nothing, those of velocities do, by the
/// differences of positions over `time` (s; may be empty), and so do steps of a turn in degrees. A
/// note tells it.
void guessDegrees(const Model& model, const std::vector<Recording>& raw,
                  const Eigen::VectorXd& time, std::vector<Selection>& selections,
                  std::vector<std::string>& notes);

/// What to multiply time stamps (s) with that nobody declares and that make no log of a robot: with
/// steps of 1 s and more, or of 10 us and less. One factor of a thousand, a million or a milliard
/// makes it one of 10 Hz to 10 kHz. It is taken if recorded velocities are the differences of
/// positions then; without velocities if the joints then keep their limits of velocity, and use
/// some of them. Otherwise 1. A note tells it.
/// @throws Error if it contradicts the unit that the file states.
double guessTimeFactor(const Model& model, const Recording& recording, const Eigen::VectorXd& time,
                       const std::vector<Selection>& selections, std::vector<std::string>& notes);

/// Least squares factor between recorded velocities and the differences of positions over the time
/// stamps, over all joints of both; 0 if they do not move.
double velocityFactor(const Recording& recording, const Eigen::VectorXd& time,
                      const Selection& positions, const Selection& velocities);

/// A speed that all but a tenth of the steps keep, in the unit of the channel per s: spikes, and
/// angles that begin a new turn, are faster.
double usualSpeed(const Eigen::VectorXd& time, const Eigen::Ref<const Eigen::VectorXd>& q);

/// Was it chosen by a name that is not ours, and does nothing state its unit?
bool isUnitless(const Selection& s, const Recording& recording);

/// Nothing in the log names a joint of the model. @throws Error with the channels found, the joints
/// wanted and the lines for robot.yaml.
[[noreturn]] void refuseLog(const Model& model, const std::vector<std::string>& joints,
                            const std::vector<Recording>& raw);

/// Notes the joints in the chosen parts of the log that the model does not have.
void noteStrangers(const Model& model, const std::vector<Recording>& raw,
                   const std::vector<Selection>& selections, std::vector<std::string>& notes);

/// Notes the channels that no selection took, but for those of such joints.
void noteLeftOut(const Model& model, const std::vector<Recording>& raw,
                 const std::vector<Selection>& selections, std::vector<std::string>& notes);

/// "log.db3, topic /joint_states": for messages.
std::string placeOf(const Recording& recording);

/// Do the file's name and the topic fit the (possibly empty) patterns?
bool isAt(const Recording& recording, const std::string& file, const std::string& topic);

/// Column of a name, or of a number from 1; -1 if there is none.
Eigen::Index columnOf(const Recording& recording, const std::string& name);

}  // namespace proprio
