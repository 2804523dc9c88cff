#pragma once

#include <string>

namespace proprio {

/// Of this library: "0.1.0".
std::string libraryVersion();
/// Of the compiler that built it, "GCC 12.2.0", and of Eigen, "3.4.0": they decide the last digits
/// of a result.
std::string compilerVersion();
std::string eigenVersion();

}  // namespace proprio
