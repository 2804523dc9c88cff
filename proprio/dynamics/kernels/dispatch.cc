#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "proprio/dynamics/kernels/kernels.h"

namespace proprio::kernels {
namespace {

bool hasAvx2() {
#ifdef PROPRIO_HAVE_AVX2_KERNELS
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const Table* choose(const char* name) {
#ifdef PROPRIO_HAVE_AVX2_KERNELS
  if (hasAvx2() && (name == nullptr || std::strcmp(name, "avx2") == 0)) return &kAvx2;
#endif
  if (name == nullptr || std::strcmp(name, "portable") == 0) return &kPortable;
  return nullptr;
}

const Table* initial() {
  const char* name = std::getenv("PROPRIO_ISA");
  const Table* table = choose(name != nullptr && *name != '\0' ? name : nullptr);
  return table != nullptr ? table : choose(nullptr);
}

const Table*& current() {
  static const Table* table = initial();
  return table;
}

}  // namespace

const Table& active() { return *current(); }

bool force(const char* name) {
  const Table* table = choose(name);
  if (table != nullptr) current() = table;
  return table != nullptr;
}

size_t scratchSize(const Tree& tree) {
  const auto bodies = static_cast<size_t>(tree.count);
  const size_t dynamics = kForwardDynamicsScratch * bodies + static_cast<size_t>(tree.nv);
  const size_t regressor =
      kMotionSize * bodies + 6 * static_cast<size_t>(tree.levels * (tree.max_axes + 8)) + 8;
  const size_t derivatives =
      kDerivativeNodeScratch * bodies + kDerivativeColumnScratch * static_cast<size_t>(tree.nv);
  const size_t adjoint =
      2 * kMotionSize * bodies + 12 * bodies * static_cast<size_t>(tree.max_axes);
  size_t most = dynamics;
  for (const size_t size : {regressor, derivatives, adjoint}) most = size > most ? size : most;
  return most;
}

}  // namespace proprio::kernels
