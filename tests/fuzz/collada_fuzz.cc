// Whatever the bytes: reading them as COLLADA gives triangles between vertices that exist, or an
// Error.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "proprio/core/error.h"
#include "proprio/geometry/collada.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const proprio::TriangleMesh mesh =
        proprio::readCollada(std::string(reinterpret_cast<const char*>(data), size), "fuzz.dae");
    const auto count = static_cast<int>(mesh.vertices.size());
    for (const auto& triangle : mesh.triangles) {
      for (const int corner : triangle) {
        if (corner < 0 || corner >= count) std::abort();
      }
    }
    proprio::meshSolid(mesh);
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
