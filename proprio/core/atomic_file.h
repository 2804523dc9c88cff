#pragma once

/// Whole files in and out. A file is written under a temporary name beside its final place and
/// renamed, so that a reader (or a full disk) never sees half of it.

#include <string>

namespace proprio {

/// The bytes of a file. @throws Error that names the file and the system's reason, also when it is
/// a directory or larger than `largest` bytes.
std::string readFile(const std::string& path, size_t largest = size_t{1} << 30);

/// Replaces the file by `content`, keeping the permissions of a file that is already there; a
/// symbolic link keeps pointing to the (new) file. @throws Error that names the file and the
/// system's reason; then nothing changed.
void writeFileAtomically(const std::string& path, const std::string& content);

}  // namespace proprio
