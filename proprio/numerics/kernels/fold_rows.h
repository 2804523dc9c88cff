#pragma once

/// The inner loops of StreamingQr, compiled once per instruction set (core/instruction_set.h).

#include <stddef.h>

namespace proprio::kernels {

/// Rows of a block are padded with zeros to a multiple of this.
constexpr int kFoldRows = 8;

/// R becomes the triangular factor of [R; A]; A is destroyed.
/// @param R  columns x columns, column-major, upper triangle read and written
/// @param A  rows x columns, column-major, 64-byte aligned columns, rows a multiple of kFoldRows
using FoldRows = void (*)(double* R, ptrdiff_t R_stride, double* A, ptrdiff_t A_stride, int rows,
                          int columns);

extern const FoldRows kFoldRowsPortable;
extern const FoldRows kFoldRowsAvx2;

}  // namespace proprio::kernels
