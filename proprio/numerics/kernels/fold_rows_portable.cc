#define PROPRIO_LANES 2
#include "proprio/numerics/kernels/fold_rows.h"

namespace proprio::isa_portable {
#include "proprio/numerics/kernels/fold_rows.inl"
}  // namespace proprio::isa_portable

namespace proprio::kernels {
extern const FoldRows kFoldRowsPortable = isa_portable::foldRows;
}  // namespace proprio::kernels
