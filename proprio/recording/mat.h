#pragma once

/// MATLAB files of level 5 (`save -v6`, `-v7`): numeric arrays of every class, compressed or not,
/// either byte order, small elements; structs and arrays of structs recursively, with dotted names
/// ("data.arm.q", "run[2].q", counted from 0). How arrays become channels is told in npy.h: the
/// rules are the same. Cells, text, sparse, complex, objects and function handles are noted.
///
/// Level 7.3 is HDF5 (hdf5.h), read by readMat() too. Level 4 is not read.
///
/// Source: MAT-File Format, The MathWorks, R2023b.

#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// @param notes if given, receives a sentence for everything in the file that was not read
/// @throws Error that names the file and the byte offset or the array.
std::vector<Recording> readMat(const std::string& path, std::vector<std::string>* notes = nullptr);
/// Level 5 only.
std::vector<Recording> readMatBytes(std::string_view bytes, const std::string& file,
                                    std::vector<std::string>* notes = nullptr);

}  // namespace proprio
