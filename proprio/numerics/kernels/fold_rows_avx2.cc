#define PROPRIO_LANES 4
#include "proprio/numerics/kernels/fold_rows.h"

namespace proprio::isa_avx2 {
#include "proprio/numerics/kernels/fold_rows.inl"
}  // namespace proprio::isa_avx2

namespace proprio::kernels {
extern const FoldRows kFoldRowsAvx2 = isa_avx2::foldRows;
}  // namespace proprio::kernels
