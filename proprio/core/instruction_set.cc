#include "proprio/core/instruction_set.h"

#include <cstdlib>
#include <cstring>
#include <optional>

namespace proprio {
namespace {

bool hasAvx2() {
#ifdef PROPRIO_HAVE_AVX2_KERNELS
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

std::optional<InstructionSet> choose(const char* name) {
  if (hasAvx2() && (name == nullptr || std::strcmp(name, "avx2") == 0)) {
    return InstructionSet::kAvx2;
  }
  if (name == nullptr || std::strcmp(name, "portable") == 0) return InstructionSet::kPortable;
  return std::nullopt;
}

InstructionSet initial() {
  const char* name = std::getenv("PROPRIO_ISA");
  const auto wanted = choose(name != nullptr && *name != '\0' ? name : nullptr);
  return wanted ? *wanted : *choose(nullptr);
}

InstructionSet& current() {
  static InstructionSet set = initial();
  return set;
}

}  // namespace

InstructionSet activeInstructionSet() { return current(); }

bool forceInstructionSet(const char* name) {
  const auto wanted = choose(name);
  if (wanted) current() = *wanted;
  return wanted.has_value();
}

}  // namespace proprio
