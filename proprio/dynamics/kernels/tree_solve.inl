// M X = B for a mass matrix with the sparsity of the tree: M = L^T D L with L zero between branches
// (Featherstone 2008, 6.5), so that a column costs two passes over the pairs (coordinate,
// ancestor). SIMD lanes over the columns of B.

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
  for (ptrdiff_t c = 0; c < columns; c += PROPRIO_LANES) {
    double* b = B + c;
    for (int i = n - 1; i >= 0; --i) {
      const Pack x = Memory<Pack>::load(b + i * columns);
      for (int j = up[i]; j >= 0; j = up[j]) {
        Memory<Pack>::store(b + j * columns,
                            Memory<Pack>::load(b + j * columns) - Pack(H[i * n + j]) * x);
      }
    }
    for (int i = 0; i < n; ++i) {
      Pack x = Memory<Pack>::load(b + i * columns) / Pack(H[i * n + i]);
      for (int j = up[i]; j >= 0; j = up[j])
        x -= Pack(H[i * n + j]) * Memory<Pack>::load(b + j * columns);
      Memory<Pack>::store(b + i * columns, x);
    }
  }
}
