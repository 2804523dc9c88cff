// QR of [R; A] by panels of eight Householder reflectors in compact WY form. The part of a
// reflector that meets R is a unit vector, so V = [1; Y] and with Q = 1 - V T V^T
//   W = T^T (R_panel + Y^T A),  R_panel -= W,  A -= Y W
// for three trailing columns at a time: they stay in the first-level cache between the product Y^T A
// (tiles of 4 reflectors x 3 columns in registers) and the update.
// Included inside the ISA namespace, with PROPRIO_LANES defined. Sources: Schreiber and Van Loan
// 1989 (compact WY); Golub and Van Loan 2013, 5.2.

typedef double FoldVector __attribute__((vector_size(8 * PROPRIO_LANES), aligned(8 * PROPRIO_LANES)));
#define PROPRIO_INLINE inline __attribute__((always_inline))

constexpr int kPanel = 8;
// Sums of squares beyond these may have lost digits to overflow or underflow.
constexpr double kSmallSquare = 1e-280, kLargeSquare = 1e280;

static PROPRIO_INLINE FoldVector load(const double* p) { return *(const FoldVector*)p; }
static PROPRIO_INLINE void store(double* p, FoldVector x) { *(FoldVector*)p = x; }
static PROPRIO_INLINE double sum(FoldVector x) {
  double s = x[0];
  for (int i = 1; i < PROPRIO_LANES; ++i) s += x[i];
  return s;
}

/// out[i][j] = y_i . a_j for I reflectors and J columns.
template <int I, int J>
static PROPRIO_INLINE void products(const double* const* y, const double* const* a, int rows,
                                    double out[I][J]) {
  FoldVector s[I][J];
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) s[i][j] = FoldVector{};
  }
  for (int r = 0; r < rows; r += PROPRIO_LANES) {
    FoldVector x[J];
    for (int j = 0; j < J; ++j) x[j] = load(a[j] + r);
    for (int i = 0; i < I; ++i) {
      const FoldVector v = load(y[i] + r);
      for (int j = 0; j < J; ++j) s[i][j] += v * x[j];
    }
  }
  for (int i = 0; i < I; ++i) {
    for (int j = 0; j < J; ++j) out[i][j] = sum(s[i][j]);
  }
}

static double scaledNorm(const double* a, int rows) {
  double largest = 0.0;
  for (int r = 0; r < rows; ++r) {
    const double size = __builtin_fabs(a[r]);
    largest = size > largest ? size : largest;
  }
  if (largest == 0.0) return 0.0;
  double squares = 0.0;
  for (int r = 0; r < rows; ++r) squares += (a[r] / largest) * (a[r] / largest);
  return largest * __builtin_sqrt(squares);
}

static double columnNorm(const double* a, int rows) {
  FoldVector s[2] = {FoldVector{}, FoldVector{}};
  for (int r = 0; r < rows; r += 2 * PROPRIO_LANES) {
    s[0] += load(a + r) * load(a + r);
    s[1] += load(a + r + PROPRIO_LANES) * load(a + r + PROPRIO_LANES);
  }
  const double squares = sum(s[0] + s[1]);
  if (squares > kSmallSquare && squares < kLargeSquare) return __builtin_sqrt(squares);
  return scaledNorm(a, rows);
}

/// One reflector applied to J columns of its panel.
template <int J>
static PROPRIO_INLINE void reflect(const double* y, double tau, double* R, ptrdiff_t R_stride,
                                   double* A, ptrdiff_t A_stride, int rows) {
  const double* columns[J];
  for (int j = 0; j < J; ++j) columns[j] = A + j * A_stride;
  double w[1][J];
  products<1, J>(&y, columns, rows, w);
  for (int j = 0; j < J; ++j) {
    w[0][j] = tau * (w[0][j] + R[j * R_stride]);
    R[j * R_stride] -= w[0][j];
  }
  for (int r = 0; r < rows; r += PROPRIO_LANES) {
    const FoldVector v = load(y + r);
    for (int j = 0; j < J; ++j) {
      double* a = A + j * A_stride + r;
      store(a, load(a) - w[0][j] * v);
    }
  }
}

/// Reflectors of `width` columns; their lower parts replace the columns of A. T is upper triangular.
static void factorPanel(double* R, ptrdiff_t R_stride, double* A, ptrdiff_t A_stride, int rows,
                        int width, double T[kPanel][kPanel]) {
  for (int i = 0; i < width; ++i) {
    double* y = A + i * A_stride;
    double* head = R + i + i * R_stride;
    const double tail = columnNorm(y, rows);
    double tau = 0.0;
    if (tail != 0.0) {
      const double large = tail > __builtin_fabs(*head) ? tail : __builtin_fabs(*head);
      const double a = tail / large, b = *head / large;
      const double norm = large * __builtin_sqrt(a * a + b * b);
      const double diagonal = *head > 0.0 ? -norm : norm;
      tau = (diagonal - *head) / diagonal;
      const double divisor = *head - diagonal;
      for (int r = 0; r < rows; ++r) y[r] /= divisor;
      *head = diagonal;
      int j = i + 1;
      for (; j + 4 <= width; j += 4) {
        reflect<4>(y, tau, R + i + j * R_stride, R_stride, A + j * A_stride, A_stride, rows);
      }
      for (; j < width; ++j) {
        reflect<1>(y, tau, R + i + j * R_stride, R_stride, A + j * A_stride, A_stride, rows);
      }
    }
    double g[kPanel];
    for (int k = 0; k < i; ++k) {
      const double* other = A + k * A_stride;
      double product[1][1];
      products<1, 1>(&other, &y, rows, product);
      g[k] = product[0][0];
    }
    for (int k = 0; k < i; ++k) {
      double t = 0.0;
      for (int l = k; l < i; ++l) t += T[k][l] * g[l];
      T[k][i] = -tau * t;
    }
    T[i][i] = tau;
  }
}

/// The panel's reflectors applied to J columns behind it.
template <int J>
static PROPRIO_INLINE void applyPanel(const double* Y, ptrdiff_t A_stride,
                                      const double T[kPanel][kPanel], double* R, ptrdiff_t R_stride,
                                      double* A, int rows) {
  const double *y[kPanel], *columns[J];
  for (int i = 0; i < kPanel; ++i) y[i] = Y + i * A_stride;
  for (int j = 0; j < J; ++j) columns[j] = A + j * A_stride;
  double w[kPanel][J], x[kPanel][J];
  products<4, J>(y, columns, rows, w);
  products<4, J>(y + 4, columns, rows, w + 4);
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < kPanel; ++i) w[i][j] += R[i + j * R_stride];
    for (int i = 0; i < kPanel; ++i) {
      double t = 0.0;
      for (int k = 0; k <= i; ++k) t += T[k][i] * w[k][j];
      x[i][j] = t;
    }
    for (int i = 0; i < kPanel; ++i) R[i + j * R_stride] -= x[i][j];
  }
  for (int r = 0; r < rows; r += 2 * PROPRIO_LANES) {
    FoldVector a[2][J];
    for (int j = 0; j < J; ++j) {
      a[0][j] = load(A + j * A_stride + r);
      a[1][j] = load(A + j * A_stride + r + PROPRIO_LANES);
    }
    for (int i = 0; i < kPanel; ++i) {
      const FoldVector v0 = load(y[i] + r), v1 = load(y[i] + r + PROPRIO_LANES);
      for (int j = 0; j < J; ++j) {
        a[0][j] -= x[i][j] * v0;
        a[1][j] -= x[i][j] * v1;
      }
    }
    for (int j = 0; j < J; ++j) {
      store(A + j * A_stride + r, a[0][j]);
      store(A + j * A_stride + r + PROPRIO_LANES, a[1][j]);
    }
  }
}

static void foldRows(double* R, ptrdiff_t R_stride, double* A, ptrdiff_t A_stride, int rows,
                     int columns) {
  for (int first = 0; first < columns; first += kPanel) {
    const int width = columns - first < kPanel ? columns - first : kPanel;
    double T[kPanel][kPanel];
    double* panel = A + first * A_stride;
    factorPanel(R + first + first * R_stride, R_stride, panel, A_stride, rows, width, T);
    int j = first + width;
    for (; j + 3 <= columns; j += 3) {
      applyPanel<3>(panel, A_stride, T, R + first + j * R_stride, R_stride, A + j * A_stride, rows);
    }
    for (; j < columns; ++j) {
      applyPanel<1>(panel, A_stride, T, R + first + j * R_stride, R_stride, A + j * A_stride, rows);
    }
  }
}

#undef PROPRIO_INLINE
