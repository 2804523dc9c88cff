#pragma once

/// Joint-space mass matrix M(q) (composite rigid bodies), rotor inertias on the diagonal.
/// Source: Featherstone 2008 ch. 6. Real-time.

#include "proprio/dynamics/workspace.h"

namespace proprio {

/// @param M  velocityCount() square; filled whole (symmetric).
void massMatrix(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                ConstVectorRef q, MatrixRef M);

/// Many samples: entry (i, j) of sample s at out(s, i + j * velocityCount()). Large matrices are
/// faster in blocks that stay in the cache and whose outer stride is no power of two.
void massMatrixBatch(const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
                     ConstMatrixRef q, MatrixRef out);

}  // namespace proprio
