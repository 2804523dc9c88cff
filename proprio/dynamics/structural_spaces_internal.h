#pragma once

/// Inside the dynamics room: the small linear algebra that both exact analyses of identifiability
/// share (structural_identifiability.cc, mimic_conditions.cc). Twists are (linear, angular).

#include <algorithm>
#include <cmath>
#include <vector>

#include "proprio/dynamics/body_regressor.h"
#include "proprio/model/tree.h"

namespace proprio::internal {

/// Lengths are divided by the robot's size, so that all numbers are of the order of one; parts of a
/// vector below this are rounding.
inline constexpr double kStructuralRounding = 1e-9;
/// A direction that is seen with at least this part of a vector counts in full. One that is seen
/// with less comes from geometry that is special up to rounding (an angle written with seven
/// digits): it keeps its size, so that what only products of such parts would show stays below
/// kStructuralRounding, and so that rounding errors are not blown up with it.
inline constexpr double kFullySeen = 1e-5;

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// A subspace of R^N (N may be Eigen::Dynamic) with an orthogonal basis; the length of a basis
/// vector is one, or how much was seen of its direction if that is little (kFullySeen).
template <int N>
class Span {
 public:
  using Vector = Eigen::Matrix<double, N, 1>;
  /// True if the space grew, or something in it is seen better than before.
  bool add(const Vector& vector) {
    if (!(vector.norm() >= kStructuralRounding)) return false;
    // directions that were hardly seen and are in this vector: it goes first
    std::vector<Vector> hardly;
    for (size_t i = 0; i < units_.size();) {
      if (seen_[i] < 1.0 && std::abs(units_[i].dot(vector)) > 2.0 * seen_[i]) {
        hardly.push_back(seen_[i] * units_[i]);
        units_.erase(units_.begin() + static_cast<std::ptrdiff_t>(i));
        seen_.erase(seen_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    bool grew = append(vector);
    for (const Vector& old : hardly) grew = append(old) || grew;
    return grew;
  }
  void add(const Span& other) {
    for (size_t i = 0; i < other.size(); ++i) add(other.vector(i));
  }
  template <class Matrix>
  Span mapped(const Matrix& A) const {
    Span out;
    for (size_t i = 0; i < size(); ++i) out.add(Vector(A * vector(i)));
    return out;
  }
  /// Smallest space that contains this one and is invariant under the operators.
  template <class Matrix>
  Span invariant(const std::vector<Matrix>& operators) const {
    Span out = *this;
    out.close(operators.size(),
              [&](size_t k, const Vector& x) { return Vector(operators[k] * x); });
    return out;
  }
  /// Makes it invariant under `count` operators, x -> image(k, x).
  template <class Image>
  void close(size_t count, const Image& image) {
    std::vector<Vector> next = basis();
    while (!next.empty()) {
      std::vector<Vector> grown;
      for (const Vector& x : next) {
        for (size_t k = 0; k < count; ++k) {
          const size_t before = appended_;
          add(image(k, x));
          for (size_t i = size() - std::min(appended_ - before, size()); i < size(); ++i)
            grown.push_back(vector(i));
        }
      }
      next = std::move(grown);
    }
  }
  size_t size() const { return units_.size(); }
  Vector vector(size_t i) const { return seen_[i] * units_[i]; }
  std::vector<Vector> basis() const {
    std::vector<Vector> out;
    for (size_t i = 0; i < size(); ++i) out.push_back(vector(i));
    return out;
  }

 private:
  bool append(const Vector& vector) {
    Vector rest = vector;
    const double least = kStructuralRounding * std::max(1.0, vector.norm());
    double before = vector.norm(), after = before;
    // once more where much was cancelled; twice is enough (Kahan)
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& b : units_) rest -= b.dot(rest) * b;
      after = rest.norm();
      if (!(after >= least)) return false;
      if (after > 0.5 * before) break;
      before = after;
    }
    const double seen = after / std::max(1.0, vector.norm());
    units_.push_back(rest / after);
    seen_.push_back(seen < kFullySeen ? seen : 1.0);
    ++appended_;
    return true;
  }

  std::vector<Vector> units_;  ///< orthonormal
  std::vector<double> seen_;   ///< lengths of the basis vectors
  size_t appended_ = 0;        ///< so far, those that were replaced included
};

/// S x u for motions.
Matrix6d motionCross(const Vector6d& S);
/// d/dq of parameterTransform(exp(q S)) at zero.
Matrix10d parameterGenerator(const Vector6d& S);
/// S^T M(pi) u = row * pi, as a column.
Vector10d productRow(const Vector6d& S, const Vector6d& u);

/// Longest offset in the tree; one metre if there is none. The unit of length where every link is
/// seen from its neighbour.
double robotSize(const Tree& tree);
/// Longest sum of offsets from the root to a link; one metre if there is none. The unit where all
/// links are seen from the root: what a joint does to a link there grows with the square of the
/// distance, and with longer distances than one rounding grows from joint to joint.
double robotReach(const Tree& tree);
/// One of the ten parameters of a body of that size.
inline double parameterUnit(int component, double size) {
  return component == 0 ? 1.0 : component < 4 ? 1.0 / size : 1.0 / (size * size);
}
/// Twists of a body's joint in its own axes.
std::vector<Vector6d> jointTwists(BodyJoint joint);

}  // namespace proprio::internal
