// Whatever the bytes: reading them as MCAP gives recordings or an Error, also when asked to recover
// what is whole.

#include <cstdint>
#include <string_view>

#include "proprio/core/error.h"
#include "proprio/recording/mcap.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool recover : {false, true}) {
    std::vector<std::string> notes;
    try {
      for (const proprio::Recording& recording :
           proprio::readMcapBytes(bytes, "f", {recover}, &notes)) {
        proprio::requireValid(recording);
      }
    } catch (const proprio::Error&) {
      continue;
    }
  }
  return 0;
}
