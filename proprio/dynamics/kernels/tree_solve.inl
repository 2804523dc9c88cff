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

/// Coordinates in depth-first order: entry (i, j) of M for positions i, j at H[i * n + j], lower
/// part used and overwritten by L (unit) and D. `up`: position of the next coordinate towards the
/// root, -1 at the root. B: n rows of `columns` (a multiple of lanes) doubles, aligned, overwritten
/// by X.
inline void treeSolve(int n, const int* up, double* H, double* B, ptrdiff_t columns) {
  for (int k = n - 1; k >= 0; --k) {
    const double inverse = 1.0 / H[k * n + k];
    for (int i = up[k]; i >= 0; i = up[i]) {
      const double a = H[k * n + i] * inverse;
      for (int j = i; j >= 0; j = up[j]) H[i * n + j] -= a * H[k * n + j];
      H[k * n + i] = a;
    }
  }
  // several packs of columns at a time, so that their chains of operations overlap
  for (ptrdiff_t c = 0; c < columns; c += kSolveBlock * PROPRIO_LANES) {
    double* b = B + c;
    for (int i = n - 1; i >= 0; --i) {
      Pack x[kSolveBlock];
      for (int g = 0; g < kSolveBlock; ++g) x[g] = loadPack(b + i * columns, g);
      for (int j = up[i]; j >= 0; j = up[j]) {
        const Pack l = Pack(H[i * n + j]);
        double* row = b + j * columns;
        for (int g = 0; g < kSolveBlock; ++g) storePack(row, g, loadPack(row, g) - l * x[g]);
      }
    }
    for (int i = 0; i < n; ++i) {
      const Pack inverse = Pack(1.0 / H[i * n + i]);
      Pack x[kSolveBlock];
      for (int g = 0; g < kSolveBlock; ++g) x[g] = loadPack(b + i * columns, g) * inverse;
      for (int j = up[i]; j >= 0; j = up[j]) {
        const Pack l = Pack(H[i * n + j]);
        for (int g = 0; g < kSolveBlock; ++g) x[g] -= l * loadPack(b + j * columns, g);
      }
      for (int g = 0; g < kSolveBlock; ++g) storePack(b + i * columns, g, x[g]);
    }
  }
}
