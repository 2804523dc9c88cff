// Whatever the bytes: reading them as a MATLAB file gives recordings or an Error, nothing else.

#include <cstdint>
#include <string_view>

#include "proprio/core/error.h"
#include "proprio/recording/mat.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> notes;
  try {
    for (const proprio::Recording& recording : proprio::readMatBytes(
             std::string_view(reinterpret_cast<const char*>(data), size), "f", &notes)) {
      proprio::requireValid(recording);
    }
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
