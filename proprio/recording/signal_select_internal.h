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
/// are their derivative. A note tells it.
void guessDegrees(const Model& model, const std::vector<Recording>& raw,
                  std::vector<Selection>& selections, std::vector<std::string>& notes);

/// Seconds per unit of time stamps that are whole numbers in steps of 1 and more, as no log of a
/// robot has them in s: ms, us or ns by their size, unless recorded velocities contradict;
/// otherwise 1. A note tells it.
double guessTimeFactor(const Recording& recording, const std::vector<Selection>& selections,
                       std::vector<std::string>& notes);

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
