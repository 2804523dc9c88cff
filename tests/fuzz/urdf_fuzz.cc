// Whatever the bytes: reading them as a URDF gives a model or an Error, and what was read can be
// written back.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "proprio/core/error.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/model/urdf_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  proprio::Model model;
  try {
    model = proprio::readUrdfText(text);
  } catch (const proprio::Error&) {
    return 0;
  }
  if (proprio::updatedUrdf(text, model) != text) std::abort();
  // new values everywhere: the result must be a URDF again
  for (proprio::Link& link : model.links) link.inertia.mass = 0.5 + 1.5 * link.inertia.mass;
  try {
    proprio::readUrdfText(proprio::updatedUrdf(text, proprio::lumpFixedJoints(model)));
  } catch (const proprio::Error&) {
    return 0;
  }
  return 0;
}
