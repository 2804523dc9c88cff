#pragma once

/// The compiled kernels behind plain function pointers: one table per instruction set, chosen at
/// run time (core/instruction_set.h).
///
/// "pack" entries work on `lanes` samples at once: coordinate i of sample s is data[i * stride +
/// s], scratch must be 64-byte aligned and holds `lanes` doubles per scalar. "lanes" entries also
/// take one set of inertias per lane.

#include <stddef.h>

#include "proprio/dynamics/dual.h"
#include "proprio/dynamics/kernels/kernel_tree.h"

namespace proprio::kernels {

template <class E>
struct View {
  const E* data;
  ptrdiff_t stride;
};
template <class E>
struct MutableView {
  E* data;
  ptrdiff_t stride;
};
template <class E>
struct MatrixView {
  E* data;
  ptrdiff_t row_stride, column_stride;
};

/// Functions for one scalar type in memory (E) and one type of inertia numbers (P).
template <class E, class P>
struct Functions {
  void (*inverse_dynamics)(const Tree&, const Inertia<P>*, const P* rotor, E* scratch, View<E> q,
                           View<E> v, View<E> a, const E* external, MutableView<E> tau, E* base);
  void (*mass_matrix)(const Tree&, const Inertia<P>*, const P* rotor, E* scratch, View<E> q,
                      MatrixView<E> M);
  void (*forward_dynamics)(const Tree&, const Inertia<P>*, const P* rotor, E* scratch, View<E> q,
                           View<E> v, View<E> tau, const E* external, MutableView<E> a);
  void (*regressor)(const Tree&, E* scratch, const int* row_of, View<E> q, View<E> v, View<E> a,
                    MatrixView<E> Y);
  void (*regressor_adjoint)(const Tree&, E* scratch, const int* row_of, View<E> q, View<E> v,
                            View<E> a, MatrixView<E> weights, MutableView<E> gradient_q,
                            MutableView<E> gradient_v, MutableView<E> gradient_a);
  void (*inverse_dynamics_derivatives)(const Tree&, const Inertia<P>*, E* scratch,
                                       const int* row_of, View<E> q, View<E> v, View<E> a,
                                       const E* external, MatrixView<E> dq, MatrixView<E> dv);
  void (*link_poses)(const Tree&, E* scratch, View<E> q, MutableView<E> poses);
};

struct Table {
  const char* name;
  int lanes;
  Functions<double, double> one;   ///< one sample
  Functions<double, double> pack;  ///< `lanes` samples, the same inertias for all
  Functions<double, double>
      lane;  ///< `lanes` samples, Inertia and rotor hold `lanes` doubles per number
  /// M X = B with the tree's sparsity in two steps, see tree_solve.inl.
  void (*tree_factorize)(int n, const int* order, const int* up, double* H);
  void (*tree_solve)(int n, const int* order, const int* up, const double* H, double* B,
                     ptrdiff_t columns, ptrdiff_t stride);
  /// y[i] = tanh(x[i]) within 2 units in the last place, for i < count rounded up to `lanes`.
  void (*tanh)(const double* x, double* y, ptrdiff_t count);
};

/// Scalars of scratch that any kernel needs for this tree (times lanes for packs).
size_t scratchSize(const Tree& tree);

extern const Table kPortable;
extern const Table kAvx2;
extern const Functions<Dual, Dual> kDual;

/// The table in use.
const Table& active();

}  // namespace proprio::kernels
