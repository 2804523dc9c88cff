#pragma once

/// Inside the dynamics room: the small linear algebra that both exact analyses of identifiability
/// share (structural_identifiability.cc, mimic_conditions.cc). Twists are (linear, angular).

#include <vector>

#include "proprio/dynamics/body_regressor.h"
#include "proprio/model/tree.h"

namespace proprio::internal {

/// Lengths are divided by the robot's size, so that all numbers are of the order of one; parts of a
/// vector below this are rounding.
inline constexpr double kStructuralRounding = 1e-9;

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// A subspace of R^N (N may be Eigen::Dynamic) with an orthonormal basis.
template <int N>
class Span {
 public:
  using Vector = Eigen::Matrix<double, N, 1>;
  /// True if the space grew.
  bool add(const Vector& vector) {
    const double norm = vector.norm();
    if (norm < kStructuralRounding) return false;
    Vector rest = vector / norm;
    // twice is enough (Kahan)
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& b : basis_) rest -= b.dot(rest) * b;
    }
    if (rest.norm() < kStructuralRounding) return false;
    basis_.push_back(rest.normalized());
    return true;
  }
  void add(const Span& other) {
    for (const Vector& b : other.basis_) add(b);
  }
  template <class Matrix>
  Span mapped(const Matrix& A) const {
    Span out;
    for (const Vector& b : basis_) out.add(A * b);
    return out;
  }
  /// Smallest space that contains this one and is invariant under the operators.
  template <class Matrix>
  Span invariant(const std::vector<Matrix>& operators) const {
    Span out = *this;
    for (size_t k = 0; k < out.basis_.size(); ++k) {
      for (const Matrix& A : operators) out.add(Vector(A * out.basis_[k]));
    }
    return out;
  }
  const std::vector<Vector>& basis() const { return basis_; }

 private:
  std::vector<Vector> basis_;
};

/// S x u for motions.
Matrix6d motionCross(const Vector6d& S);
/// d/dq of parameterTransform(exp(q S)) at zero.
Matrix10d parameterGenerator(const Vector6d& S);
/// S^T M(pi) u = row * pi, as a column.
Vector10d productRow(const Vector6d& S, const Vector6d& u);

/// Longest offset in the tree; one metre if there is none.
double robotSize(const Tree& tree);
/// One of the ten parameters of a body of that size.
inline double parameterUnit(int component, double size) {
  return component == 0 ? 1.0 : component < 4 ? 1.0 / size : 1.0 / (size * size);
}
/// Twists of a body's joint in its own axes.
std::vector<Vector6d> jointTwists(BodyJoint joint);

}  // namespace proprio::internal
