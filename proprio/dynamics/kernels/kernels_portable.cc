// Portable kernels: baseline x86-64 (two lanes) or whatever the compiler targets; and the dual
// numbers.
#define PROPRIO_ISA isa_portable
#define PROPRIO_LANES 2
#include "proprio/dynamics/kernels/instantiate.inl"

namespace proprio::kernels {

const Table kPortable = {
    "portable",
    PROPRIO_LANES,
    isa_portable::Entry<double, double, double, double>::functions(),
    isa_portable::Entry<isa_portable::Pack, double, double, double>::functions(),
    isa_portable::Entry<isa_portable::Pack, isa_portable::Pack, double, double>::functions(),
    isa_portable::treeFactorize,
    isa_portable::treeSolve,
    isa_portable::tanhMany};
const Functions<Dual, Dual> kDual = isa_portable::Entry<Dual, Dual, Dual, Dual>::functions();

}  // namespace proprio::kernels
