#pragma once

/// Which of the compiled kernels the machine runs: chosen once, at the first use. The environment
/// variable PROPRIO_ISA=portable forces the portable ones (for tests and for bug hunting).

namespace proprio {

enum class InstructionSet {
  kPortable,  ///< any processor of the architecture
  kAvx2       ///< x86-64 with AVX2 and FMA
};

InstructionSet activeInstructionSet();

/// Called by tests: "portable", "avx2", or null for the machine's best. False if the machine cannot
/// run it.
bool forceInstructionSet(const char* name);

}  // namespace proprio
