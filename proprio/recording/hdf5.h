#pragma once

/// HDF5 files, and MATLAB files of level 7.3, which are HDF5. Numeric datasets of one or two
/// dimensions in any group, flags, and tables (compound types of numbers, a channel per field). How
/// they become channels is told in npy.h: the rules are the same, with "/" between groups. MATLAB
/// stores arrays on their side (attribute MATLAB_class); they are turned back, and names are dotted
/// as in mat.h. A text attribute `unit` or `units` is the unit of a dataset's channels. Datasets
/// come in the order in which they were made, where the group keeps it, else by name, numbers by
/// value. Filters are those of the installed library, and LZF.
///
/// The HDF5 library runs in a child process, because it may crash or hang on a damaged file; either
/// becomes an Error. Nothing of the library is initialised in the calling process.

#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

struct Hdf5Options {
  double time_limit_s = 60;  ///< for the library to deliver something; not for the whole file
};

/// @param notes if given, receives a sentence for everything in the file that was not read
/// @throws Error that names the file and the dataset or the library's reason.
std::vector<Recording> readHdf5(const std::string& path, const Hdf5Options& options = {},
                                std::vector<std::string>* notes = nullptr);

/// "time" and a dataset per channel, channels "q[0]" "q[1]" ... joined to a two-dimensional "q",
/// with units as attributes; several recordings in groups named by their topics.
/// @throws Error and writes nothing if the recordings are not valid.
void writeHdf5(const std::string& path, const std::vector<Recording>& recordings,
               const Hdf5Options& options = {});

}  // namespace proprio
