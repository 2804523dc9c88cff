#pragma once

/// Recordings that lie in several files with one signal each, columns = joints: run1_pos.dat,
/// run1_vel.dat, run1_trq.dat, and perhaps run1_time.dat. The names of the files say what they hold
/// (guess_signals_internal.h) and, without the quantity, which belong together.
///
/// Columns without names are the joints in order; one more than there are joints, at the beginning
/// and growing, is the time. Files with as many samples and no other time stamps become one
/// recording with channels position_1, ..., torque_6 (or position_elbow); others stay apart.
///
/// Files of one column each whose names differ in a number besides (theta1.txt ... theta6.txt,
/// torque1.txt ... torque6.txt) hold one joint each, if the numbers run from 0 or 1 over at least
/// half of the joints, the same for every signal.

#include <string>
#include <vector>

#include "proprio/recording/read_recording.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// The recording that a folder holds in such files. @throws Error if there is none, or several.
std::vector<Recording> readSplitFolder(const std::string& folder,
                                       const std::vector<std::string>& joints,
                                       const RecordingOptions& options);

/// `recordings` as read from `path`, or, if this is one of several such files, all of them.
std::vector<Recording> withSplitFiles(const std::string& path, std::vector<Recording> recordings,
                                      const std::vector<std::string>& joints,
                                      const RecordingOptions& options);

}  // namespace proprio
