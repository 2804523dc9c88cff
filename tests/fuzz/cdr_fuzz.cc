// Whatever the bytes: decoding them as each message gives the message or an Error; what was decoded
// and encoded again decodes to the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proprio/core/error.h"
#include "proprio/recording/cdr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  proprio::JointStateMessage joints, again;
  proprio::ImuMessage imu;
  proprio::WrenchMessage wrench;
  proprio::JointTrajectoryMessage trajectory;
  try {
    switch (data[0] % 5) {
      case 0:
        proprio::decodeCdr(bytes, "f", joints);
        proprio::decodeCdr(proprio::encodeCdr(joints), "again", again);
        if (again.name != joints.name || again.position.size() != joints.position.size()) {
          std::abort();
        }
        break;
      case 1:
        proprio::decodeCdr(bytes, "f", imu);
        break;
      case 2:
        proprio::decodeCdr(bytes, "f", true, wrench);
        break;
      case 3:
        proprio::decodeCdr(bytes, "f", false, wrench);
        break;
      default:
        proprio::decodeCdr(bytes, "f", trajectory);
    }
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
