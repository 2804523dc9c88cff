#pragma once

/// From logs as they are to signals of a robot: channels named as in signal_names.h, SI units,
/// joint side, one time base. What is where is declared under `recording` in robot.yaml
/// (model/signal_declaration.h). For every signal, in this order:
///
///   1. channels: those named, else those that the log itself attributes to the joints (JointState
///      messages, names such as q_elbow), else all of the part that `file` and `topic` choose
///   2. x_SI = factor x + offset of the unit that is declared or that the file states (an error if
///      the two contradict each other), times `scale`
///   3. motor side: q = R^-1 q_motor (least squares where R has more rows), the same for velocity
///      and acceleration, tau = R^T tau_motor, with R the model's transmission, or else the
///      diagonal of the gear ratios
///   4. plus `offset`, per joint
///   5. currents stay, and give torques tau = drive.gain i unless torques are recorded, too
///   6. `delay` > 0: the value at time t is the one recorded at t + delay. By whole samples, and
///      rows without a partner are cut off; interpolated if `join` is linear
///
/// Time: stamps of the file, else those that `time` names, else multiples of 1/rate, else none.
/// Signals whose stamps differ from those of the first signal are refused unless `join` says how
/// they come together; where no sample is within its limit the value is NaN and a note counts them.
/// `rows` then chooses samples. Without a `recording` section a log that names the joints is mapped
/// by these names, one with other usual names (q1, joint_2_pos, effort_3) by those, with a note, in
/// degrees if they say so or if the joints' limits do; parts with other time stamps than the
/// positions are left out with a note. So is a log that was mapped before (q_J with SI units) and
/// lacks the files, topics or channels declared.

#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// @throws Error that names the signal's line in robot.yaml, or the log, and what is missing or
/// does not fit.
Recording mapRecording(const Model& model, const std::vector<Recording>& raw);

/// The parts of a log as they are. `path` is a file; or a folder, of which the files that the
/// declared signals name are read; or one of these files, then the others lie beside it. Where
/// nothing is declared, the names of files say which belong together and what they hold
/// (run1_pos.dat, run1_torque.dat).
std::vector<Recording> readRobotLog(const Model& model, const std::string& path,
                                    const RecordingOptions& options = {});

/// Both in one call. The notes say what was ignored.
Recording readRobotRecording(const Model& model, const std::string& path,
                             const RecordingOptions& options = {});

/// Joints with one coordinate of their own, in the order of the model: those that signals are for.
std::vector<std::string> signalJoints(const Model& model);

}  // namespace proprio
