#pragma once

#include <string>

namespace proprio {

/// Of this library: "0.1.0".
std::string libraryVersion();

}  // namespace proprio
