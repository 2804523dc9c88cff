// M X = B for a mass matrix with the sparsity of the tree: M = L^T D L with L zero between branches
// (Featherstone 2008, 6.5), so that a column costs two passes over the pairs (coordinate,
// ancestor). SIMD lanes over the columns of B.

constexpr int kSolveBlock = 4;
PROPRIO_INLINE Pack loadPack(const double* row, int g) {
  return Memory<Pack>::load(row + g * PROPRIO_LANES);
}
PROPRIO_INLINE void storePack(double* row, int g, Pack x) {
  Memory<Pack>::store(row + g * PROPRIO_LANES, x);
}

PROPRIO_INLINE bool isZero(const Pack x[kSolveBlock]) {
  auto zero = x[0].v == PackVector{};
  for (int g = 1; g < kSolveBlock; ++g) zero &= x[g].v == PackVector{};
  bool all = true;
  for (int l = 0; l < PROPRIO_LANES; ++l) all &= zero[l] != 0;
  return all;
}

/// H: M, row by row; entries (k, ancestor of k) are overwritten by the unit L, the diagonal by 1/D.
/// `order`: the coordinates, parents first; `up`: the next coordinate towards the root, -1 at the
/// root.
inline void treeFactorize(int n, const int* order, const int* up, double* H) {
  for (int p = n - 1; p >= 0; --p) {
    const int k = order[p];
    const double inverse = 1.0 / H[k * n + k];
    for (int i = up[k]; i >= 0; i = up[i]) {
      const double a = H[k * n + i] * inverse;
      for (int j = i; j >= 0; j = up[j]) H[i * n + j] -= a * H[k * n + j];
      H[k * n + i] = a;
    }
    H[k * n + k] = inverse;
  }
}

/// B: n rows, `stride` doubles apart, of `columns` (rounded up to the block) doubles, aligned,
/// overwritten by X.
inline void treeSolve(int n, const int* order, const int* up, const double* H, double* B,
                      ptrdiff_t columns, ptrdiff_t stride) {
  // several packs of columns at a time, so that their chains of operations overlap
  for (ptrdiff_t c = 0; c < columns; c += kSolveBlock * PROPRIO_LANES) {
    double* b = B + c;
    for (int p = n - 1; p >= 0; --p) {
      const int i = order[p];
      Pack x[kSolveBlock];
      for (int g = 0; g < kSolveBlock; ++g) x[g] = loadPack(b + i * stride, g);
      if (isZero(x)) continue;  // columns of other branches
      for (int j = up[i]; j >= 0; j = up[j]) {
        const Pack l = Pack(H[i * n + j]);
        double* row = b + j * stride;
        for (int g = 0; g < kSolveBlock; ++g) storePack(row, g, loadPack(row, g) - l * x[g]);
      }
    }
    for (int p = 0; p < n; ++p) {
      const int i = order[p];
      const Pack inverse = Pack(H[i * n + i]);
      Pack x[kSolveBlock];
      for (int g = 0; g < kSolveBlock; ++g) x[g] = loadPack(b + i * stride, g) * inverse;
      for (int j = up[i]; j >= 0; j = up[j]) {
        const Pack l = Pack(H[i * n + j]);
        for (int g = 0; g < kSolveBlock; ++g) x[g] -= l * loadPack(b + j * stride, g);
      }
      for (int g = 0; g < kSolveBlock; ++g) storePack(b + i * stride, g, x[g]);
    }
  }
}
