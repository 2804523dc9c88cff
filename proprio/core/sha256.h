#pragma once

/// SHA-256 (FIPS 180-4) of bytes, as 64 hexadecimal digits: the fingerprint of an input file.

#include <string>
#include <string_view>

namespace proprio {

std::string sha256(std::string_view bytes);

}  // namespace proprio
