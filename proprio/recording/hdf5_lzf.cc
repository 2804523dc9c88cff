#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proprio/recording/hdf5_lzf_internal.h"

namespace proprio {
namespace {

constexpr H5Z_filter_t kLzfNumber = 32000;
constexpr size_t kLargestLzf = size_t{1} << 32;  // of HDF5

/// LibLZF's format: a byte c < 32 is followed by c + 1 bytes as they are; otherwise c >> 5 is the
/// length less 2 of a repetition (7: the next byte adds to it), and the other five bits with the
/// next byte say how far back it begins, less 1. Empty if the bytes are damaged.
std::string lzfContent(std::string_view bytes) {
  std::string out;
  size_t at = 0;
  const auto next = [&]() { return static_cast<uint8_t>(bytes[at++]); };
  while (at < bytes.size() && out.size() < kLargestLzf) {
    const size_t control = next();
    if (control < 32) {
      if (control + 1 > bytes.size() - at) return "";
      out += bytes.substr(at, control + 1);
      at += control + 1;
      continue;
    }
    size_t length = (control >> 5) + 2;
    if (bytes.size() - at < (length == 9 ? 2u : 1u)) return "";
    if (length == 9) length += next();
    const size_t back = ((control & 0x1f) << 8) + next() + 1;
    if (back > out.size()) return "";
    for (; length > 0; --length) out += out[out.size() - back];  // may overlap itself
  }
  return out;
}

// called by the library; 0 means that it failed
size_t lzfFilter(unsigned flags, size_t, const unsigned*, size_t size, size_t* room,
                 void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;  // nothing is written with it
  const std::string content = lzfContent({static_cast<const char*>(*buffer), size});
  void* replaced = content.empty() ? nullptr : H5allocate_memory(content.size(), false);
  if (replaced == nullptr) return 0;
  content.copy(static_cast<char*>(replaced), content.size());
  H5free_memory(*buffer);
  *buffer = replaced;
  *room = content.size();
  return content.size();
}

}  // namespace

void registerLzf() {
  H5Z_class2_t filter = {};
  filter.version = H5Z_CLASS_T_VERS;
  filter.id = kLzfNumber;
  filter.decoder_present = 1;
  filter.name = "lzf";
  filter.filter = lzfFilter;
  H5Zregister(&filter);
}

}  // namespace proprio
