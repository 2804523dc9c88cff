#include <initializer_list>

#include "proprio/core/instruction_set.h"
#include "proprio/dynamics/kernels/kernels.h"

namespace proprio::kernels {

const Table& active() {
#ifdef PROPRIO_HAVE_AVX2_KERNELS
  if (activeInstructionSet() == InstructionSet::kAvx2) return kAvx2;
#endif
  return kPortable;
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
  const auto positions = static_cast<size_t>(tree.nq);
  return most + 2 * ((positions + kPostureRound - 1) / kPostureRound * kPostureRound);
}

}  // namespace proprio::kernels
