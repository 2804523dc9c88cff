#pragma once

/// Recordings as named arrays, the way NumPy, MATLAB and HDF5 files hold them.
///
/// Reading: an array of n rows and m columns is m channels of n samples, "q[0]" ... "q[m-1]" (just
/// "q" if m = 1); one row is taken as one column. An array with one column whose name says so
/// (time_names_internal.h) is a time base. Arrays share a Recording if they have the same number of
/// rows and the same time base: the one of their own group or of the nearest group around it, or
/// the only one of that length. An array with as many columns as a time base has stamps lies on its
/// side and is turned, with a note; so is one that no time base fits and that has at least 100
/// columns, ten times its rows. Time bases with the same stamps are one. Dimensions of one element
/// do not count; single numbers, empty arrays and more than two dimensions are noted; where there
/// is no time base, a number called Ts, dt, sample_time, fs, rate ... gives one. A list of texts
/// called joint_names, names, elements_names or joints tells whose the columns of the arrays are
/// that lie in its group.
///
/// Tables of pandas in HDF5 (format "fixed") have channels called as their columns.
///
/// Arrays called y_train and y_test (train_y, y_val, ...) are taken as train.y and test.y: each
/// part is a group with its own time base.
///
/// The names of channels are relative to the group that holds all of the Recording's arrays, which
/// becomes its topic.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

using Notes = std::vector<std::string>;

/// The sizes of an array without dimensions of one element, as long as there are more than two:
/// 7 x 1 x 5000 is 7 x 5000. More than two are left where it is no table.
template <typename Size>
std::vector<Size> tableSizes(std::vector<Size> sizes) {
  for (size_t i = 0; i < sizes.size() && sizes.size() > 2;) {
    if (sizes[i] == 1) {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return sizes;
}

/// Adds a sentence if somebody listens.
void note(Notes* notes, std::string sentence);

struct NamedArray {
  std::string name;  ///< with the groups around it, "/arm/q" or "data.arm.q"
  Eigen::MatrixXd values;
  std::string unit;
  std::vector<std::string> texts = {};  ///< instead of values
};

/// The sampling period in s that a number of this name states: Ts, dt_ms, fs, sample_rate, ...; 0
/// if the name is another one.
double periodNamed(const std::string& name, double value);

/// Is this array the list of the joints?
bool isJointList(const NamedArray& array, char separator);

/// "frame/block0_values" for the list "frame/block0_items": pandas keeps the names and the numbers
/// of columns of one type in two arrays; empty for another array.
std::string blockOfItems(const NamedArray& array, char separator);

/// @param separator between groups in names: '/' or '.'
/// @param channels_json what channelsJson() gave when the file was written; may be empty
/// @throws Error if nothing is left that could be a signal.
std::vector<Recording> recordingsFromArrays(const std::string& file, std::vector<NamedArray> arrays,
                                            char separator, const std::string& channels_json,
                                            Notes* notes);

/// The other way: consecutive channels "q[0]" "q[1]" ... become one array; `time` is there unless
/// the recording has no time stamps. Several recordings go into groups named by their topics.
std::vector<NamedArray> arraysFromRecordings(const std::vector<Recording>& recordings);

/// What arrays cannot say of channels (quantity, role, side, joint, unit), as JSON text.
std::string channelsJson(const std::vector<Recording>& recordings);
/// Name under which the JSON text is stored.
inline constexpr char kChannelsJsonName[] = "proprio_channels.json";

}  // namespace proprio
