#pragma once

/// NumPy files. `.npy`: one array, format versions 1 to 3, C and Fortran order, either byte order,
/// f2 f4 f8, i1 to i8, u1 to u8, bool. `.npz`: a zip archive of such arrays, stored or deflated,
/// checksums verified. How arrays become channels: one or two dimensions, "q[3]" is column 3 (from
/// 0) of the array "q", an array called time, times, t, stamp or timestamp is the time base, and
/// arrays of equal length share a Recording. The fields of a structured array are arrays of their
/// own, "log/q" of the array "log".
///
/// Not read: arrays of Python objects (pickle could run any code), text, complex numbers, long
/// floats, fields within fields. In an archive they are noted and the rest is read.
///
/// Format: NumPy Enhancement Proposal 1; zip: PKWARE APPNOTE 6.3.

#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// @param notes if given, receives a sentence for everything in the file that was not read
/// @throws Error that names the file and the byte offset or the array.
std::vector<Recording> readNpy(const std::string& path, std::vector<std::string>* notes = nullptr);
std::vector<Recording> readNpyBytes(std::string_view bytes, const std::string& file,
                                    std::vector<std::string>* notes = nullptr);
std::vector<Recording> readNpz(const std::string& path, std::vector<std::string>* notes = nullptr);
std::vector<Recording> readNpzBytes(std::string_view bytes, const std::string& file,
                                    std::vector<std::string>* notes = nullptr);

/// Archive for numpy.load: "time" and an array per channel, channels "q[0]" "q[1]" ... joined to a
/// two-dimensional "q"; several recordings in groups named by their topics ("joint_states/time").
/// What arrays cannot say (quantity, unit, joint) is in a member that only proprio reads.
/// @throws Error and writes nothing if the recordings are not valid.
void writeNpz(const std::string& path, const std::vector<Recording>& recordings,
              bool compress = false);
std::string npzBytes(const std::vector<Recording>& recordings, bool compress = false);

}  // namespace proprio
