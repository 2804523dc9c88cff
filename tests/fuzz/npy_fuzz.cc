// Whatever the bytes: reading them as .npy and as .npz gives recordings or an Error, nothing else.

#include <cstdint>
#include <string_view>

#include "proprio/core/error.h"
#include "proprio/recording/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> notes;
  try {
    const auto recordings = size > 0 && data[0] == 'P' ? proprio::readNpzBytes(bytes, "f", &notes)
                                                       : proprio::readNpyBytes(bytes, "f", &notes);
    for (const proprio::Recording& recording : recordings) proprio::requireValid(recording);
    proprio::readNpzBytes(proprio::npzBytes(recordings, true), "again");
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
