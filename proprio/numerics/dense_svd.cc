#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "proprio/numerics/dense.h"

// Singular values by reflections to an upper bidiagonal matrix and QR steps on that, with the shift
// of Wilkinson (Golub, Reinsch 1970); accurate to rounding errors of the largest value. Plain loops
// over columns: Eigen's templates for it take as long to compile as half of this room.

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kStepsPerValue = 60;
/// Numbers are scaled to order one; below this they are zero, because their squares lose digits.
constexpr double kNothing = 1e-140;

double dotOf(const double* a, const double* b, Index n) {
  double even = 0.0, odd = 0.0;
  Index i = 0;
  for (; i + 1 < n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  return even + odd + (i < n ? a[i] * b[i] : 0.0);
}

void addTimes(double factor, const double* a, Index n, double* b) {
  for (Index i = 0; i < n; ++i) b[i] += factor * a[i];
}

/// Columns i and j of M become c M_i + s M_j and c M_j - s M_i.
void rotateColumns(MatrixXd& M, Index i, Index j, double c, double s) {
  double *a = M.data() + i * M.rows(), *b = M.data() + j * M.rows();
  for (Index k = 0; k < M.rows(); ++k) {
    const double x = a[k], y = b[k];
    a[k] = c * x + s * y;
    b[k] = c * y - s * x;
  }
}

struct Rotation {
  double c = 1.0, s = 0.0, length = 0.0;
};

/// c y + s z = length, c z - s y = 0.
Rotation rotationOf(double y, double z) {
  const double length = std::hypot(y, z);
  return length > kNothing ? Rotation{y / length, z / length, length} : Rotation{};
}

/// v becomes that of the reflection 1 - tau v v^T, v_0 = 1, which turns v into (value, 0 ... 0).
struct Reflection {
  double tau = 0.0, value = 0.0;
};

Reflection reflect(double* v, Index n) {
  const double rest = n > 1 ? dotOf(v + 1, v + 1, n - 1) : 0.0, first = v[0];
  v[0] = 1.0;
  if (rest < kNothing * kNothing) return {0.0, first};
  const double value = -std::copysign(std::sqrt(first * first + rest), first);
  for (Index i = 1; i < n; ++i) v[i] /= first - value;
  return {(value - first) / value, value};
}

/// (1 - tau v v^T) applied to rows from..end of columns first..end of M.
void applyReflection(double tau, const double* v, Index from, Index first, MatrixXd& M) {
  const Index n = M.rows() - from;
  for (Index j = first; j < M.cols() && tau != 0.0; ++j) {
    double* column = M.data() + j * M.rows() + from;
    addTimes(-tau * dotOf(v, column, n), v, n, column);
  }
}

/// Of a matrix with at least as many rows as columns, scaled to numbers of order one.
class TallSvd {
 public:
  TallSvd(MatrixXd A, bool vectors, bool square_u) : A_(std::move(A)), vectors_(vectors) {
    bidiagonalise();
    if (vectors_) accumulate(square_u);
    diagonalise();
  }

  Svd sorted() {
    const Index n = d_.size();
    std::vector<Index> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return std::abs(d_[a]) > std::abs(d_[b]); });
    Svd result;
    result.values.resize(n);
    if (vectors_) {
      result.U = U_;
      result.V.resize(n, n);
    }
    for (Index k = 0; k < n; ++k) {
      const Index from = order[static_cast<size_t>(k)];
      result.values[k] = std::abs(d_[from]);
      if (!vectors_) continue;
      const double sign = d_[from] < 0.0 ? -1.0 : 1.0;
      for (Index i = 0; i < n; ++i) result.V(i, k) = sign * V_(i, from);
      std::copy_n(U_.data() + from * U_.rows(), U_.rows(), result.U.data() + k * U_.rows());
    }
    return result;
  }

 private:
  void bidiagonalise();
  void accumulate(bool square_u);
  void diagonalise();
  void clearRow(Index i, Index high);
  void clearColumn(Index low, Index high);
  void step(Index low, Index high);
  void turnU(Index i, Index j, const Rotation& r) {
    if (vectors_) rotateColumns(U_, i, j, r.c, r.s);
  }
  void turnV(Index i, Index j, const Rotation& r) {
    if (vectors_) rotateColumns(V_, i, j, r.c, r.s);
  }

  MatrixXd A_, rows_, U_, V_;  // below the diagonal of A_ and in rows_: the reflections
  VectorXd d_, e_, tau_left_, tau_right_;
  bool vectors_;
};

void TallSvd::bidiagonalise() {
  const Index m = A_.rows(), n = A_.cols();
  d_ = e_ = tau_left_ = tau_right_ = VectorXd::Zero(n);
  rows_ = MatrixXd::Zero(n, n);
  VectorXd mixed(m);
  for (Index k = 0; k < n; ++k) {
    double* column = A_.data() + k * m + k;
    const Reflection left = reflect(column, m - k);
    d_[k] = left.value;
    tau_left_[k] = left.tau;
    applyReflection(left.tau, column, k, k + 1, A_);
    if (k + 1 == n) break;
    double* row = rows_.data() + k * n;  // from k + 1 on
    for (Index j = k + 1; j < n; ++j) row[j] = A_(k, j);
    const Reflection right = reflect(row + k + 1, n - k - 1);
    e_[k] = right.value;
    tau_right_[k] = right.tau;
    if (right.tau == 0.0) continue;
    const Index below = m - k - 1;
    std::fill_n(mixed.data(), below, 0.0);
    for (Index j = k + 1; j < n; ++j)
      addTimes(row[j], A_.data() + j * m + k + 1, below, mixed.data());
    for (Index j = k + 1; j < n; ++j)
      addTimes(-right.tau * row[j], mixed.data(), below, A_.data() + j * m + k + 1);
  }
}

void TallSvd::accumulate(bool square_u) {
  const Index m = A_.rows(), n = A_.cols();
  U_.setIdentity(m, square_u ? m : n);
  V_.setIdentity(n, n);
  for (Index k = n - 1; k >= 0; --k) applyReflection(tau_left_[k], A_.data() + k * m + k, k, k, U_);
  for (Index k = n - 2; k >= 0; --k)
    applyReflection(tau_right_[k], rows_.data() + k * n + k + 1, k + 1, k + 1, V_);
}

/// d_i is zero: e_i goes too, by turning row i with those below it.
void TallSvd::clearRow(Index i, Index high) {
  double f = e_[i];
  d_[i] = e_[i] = 0.0;
  for (Index j = i + 1; j <= high && f != 0.0; ++j) {
    const Rotation r = rotationOf(d_[j], f);
    d_[j] = r.length;
    f = -r.s * e_[j];
    e_[j] *= r.c;
    turnU(j, i, r);
  }
}

/// d_high is zero: e_high-1 goes too, by turning column `high` with those before it.
void TallSvd::clearColumn(Index low, Index high) {
  double f = e_[high - 1];
  d_[high] = e_[high - 1] = 0.0;
  for (Index j = high - 1; j >= low && f != 0.0; --j) {
    const Rotation r = rotationOf(d_[j], f);
    d_[j] = r.length;
    if (j > low) {
      f = -r.s * e_[j - 1];
      e_[j - 1] *= r.c;
    }
    turnV(j, high, r);
  }
}

/// One QR step of B^T B without forming it, shifted by the eigenvalue of its last 2x2 block that is
/// nearer to its last element.
void TallSvd::step(Index low, Index high) {
  const double before = high - 1 > low ? e_[high - 2] : 0.0;
  const double a = d_[high - 1] * d_[high - 1] + before * before;
  const double b = d_[high - 1] * e_[high - 1];
  const double c = d_[high] * d_[high] + e_[high - 1] * e_[high - 1];
  const double half = 0.5 * (a - c), root = half + std::copysign(std::hypot(half, b), half);
  const double shift = root != 0.0 ? c - b * b / root : c;
  double y = d_[low] * d_[low] - shift, z = d_[low] * e_[low];
  for (Index k = low; k < high; ++k) {
    const Rotation right = rotationOf(y, z);
    if (k > low) e_[k - 1] = right.length;
    y = right.c * d_[k] + right.s * e_[k];
    e_[k] = right.c * e_[k] - right.s * d_[k];
    z = right.s * d_[k + 1];
    d_[k + 1] *= right.c;
    turnV(k, k + 1, right);
    const Rotation left = rotationOf(y, z);
    d_[k] = left.length;
    y = left.c * e_[k] + left.s * d_[k + 1];
    d_[k + 1] = left.c * d_[k + 1] - left.s * e_[k];
    z = left.s * e_[k + 1];
    if (k + 1 < high) e_[k + 1] *= left.c;
    turnU(k, k + 1, left);
  }
  e_[high - 1] = y;
}

void TallSvd::diagonalise() {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const Index n = d_.size();
  double norm = 0.0;
  for (Index i = 0; i < n; ++i) norm = std::max(norm, std::abs(d_[i]) + std::abs(e_[i]));
  const auto splits = [&](Index i) {  // between i and i + 1
    if (std::abs(e_[i]) > kEpsilon * (std::abs(d_[i]) + std::abs(d_[i + 1]))) return false;
    e_[i] = 0.0;
    return true;
  };
  Index high = n - 1;
  for (Index steps = 0; high > 0 && steps < kStepsPerValue * n; ++steps) {
    if (splits(high - 1)) {
      --high;
      continue;
    }
    Index low = high - 1;
    while (low > 0 && !splits(low - 1)) --low;
    Index zero = low;
    while (zero <= high && std::abs(d_[zero]) > kEpsilon * norm) ++zero;
    if (zero == high) {
      clearColumn(low, high);
    } else if (zero < high) {
      clearRow(zero, high);
    } else {
      step(low, high);
    }
  }
}

/// All numbers of the right shape, none of them a number.
Svd undefined(const MatrixXd& A, bool full_v) {
  const Index count = std::min(A.rows(), A.cols());
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {MatrixXd::Constant(A.rows(), count, kNone),
          MatrixXd::Constant(A.cols(), full_v ? A.cols() : count, kNone),
          VectorXd::Constant(count, kNone)};
}

Svd decompose(const MatrixXd& A, bool vectors, bool full_v) {
  const bool tall = A.rows() >= A.cols();
  double size = 0.0;
  for (Index i = 0; i < A.size(); ++i) {
    if (!std::isfinite(A.data()[i])) return undefined(A, full_v);
    size = std::max(size, std::abs(A.data()[i]));
  }
  if (size == 0.0) size = 1.0;
  MatrixXd scaled = tall ? A : A.transpose();
  for (Index i = 0; i < scaled.size(); ++i) scaled.data()[i] /= size;
  Svd result = TallSvd(std::move(scaled), vectors, full_v && !tall).sorted();
  if (!tall) result.U.swap(result.V);
  for (Index i = 0; i < result.values.size(); ++i) result.values[i] *= size;
  return result;
}

}  // namespace

Svd svd(const MatrixXd& A, bool full_v) {
  if (A.rows() == 0 || A.cols() == 0)
    return {MatrixXd(A.rows(), 0),
            full_v ? MatrixXd::Identity(A.cols(), A.cols()) : MatrixXd(A.cols(), 0), VectorXd()};
  return decompose(A, true, full_v);
}

VectorXd singularValues(const MatrixXd& A) {
  return A.size() == 0 ? VectorXd() : decompose(A, false, false).values;
}

}  // namespace proprio
