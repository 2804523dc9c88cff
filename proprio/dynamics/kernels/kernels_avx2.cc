// Kernels for processors with AVX2 and FMA: four lanes. This file alone is compiled with -mavx2
// -mfma.
#define PROPRIO_ISA isa_avx2
#define PROPRIO_LANES 4
#include "proprio/dynamics/kernels/instantiate.inl"

namespace proprio::kernels {

extern const Table kAvx2 = {
    "avx2",
    PROPRIO_LANES,
    isa_avx2::Entry<double, double, double, double>::functions(),
    isa_avx2::Entry<isa_avx2::Pack, double, double, double>::functions(),
    isa_avx2::Entry<isa_avx2::Pack, isa_avx2::Pack, double, double>::functions(),
    isa_avx2::treeFactorize,
    isa_avx2::treeSolve,
    isa_avx2::tanhMany};

}  // namespace proprio::kernels
