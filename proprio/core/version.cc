#include "proprio/core/version.h"

#include <Eigen/Core>

namespace proprio {

std::string libraryVersion() { return PROPRIO_VERSION; }

std::string compilerVersion() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string eigenVersion() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

}  // namespace proprio
