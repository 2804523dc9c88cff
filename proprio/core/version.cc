#include "proprio/core/version.h"

namespace proprio {

std::string libraryVersion() { return PROPRIO_VERSION; }

}  // namespace proprio
