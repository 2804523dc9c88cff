#pragma once

/// Decompositions of dense matrices of any size, compiled once: Eigen's templates take ten seconds
/// per file that names them, and these functions one. For fixed small sizes and for code that must
/// not allocate, use Eigen directly.

#include <Eigen/Core>
#include <optional>

namespace proprio {

/// A = U diag(values) V^T with values descending; U and V have as many columns as values (thin),
/// or V is square, with the null space of A in its last columns (full_v). Not a number throughout
/// where A has numbers that are not finite.
struct Svd {
  Eigen::MatrixXd U, V;
  Eigen::VectorXd values;
};
Svd svd(const Eigen::MatrixXd& A, bool full_v = false);
/// Descending.
Eigen::VectorXd singularValues(const Eigen::MatrixXd& A);

/// A = vectors diag(values) vectors^T, values ascending; reads the lower triangle.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen symmetricEigen(const Eigen::MatrixXd& A);

/// L with A = L L^T; nothing unless A is positive definite. Reads the lower triangle.
std::optional<Eigen::MatrixXd> choleskyFactor(const Eigen::MatrixXd& A);
/// A^-1 B for a symmetric A that is positive definite, or nearly so (pivoted L D L^T).
Eigen::MatrixXd solveSymmetric(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// A^-1 B for a square A (LU with partial pivoting).
Eigen::MatrixXd solveSquare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
Eigen::MatrixXd inverseOf(const Eigen::MatrixXd& A);

/// The X that minimises |A X - B|, of minimal norm where A has not full rank (pivoted QR).
Eigen::MatrixXd leastSquares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// R of A = Q R, min(rows, columns) x columns, upper triangular.
Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& A);
/// [R, Q^T b], of the same number of rows.
Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// R^-1 B and R^-T B for an upper triangular R; what is below its diagonal is not read.
Eigen::MatrixXd solveUpper(const Eigen::MatrixXd& R, const Eigen::MatrixXd& B);
Eigen::MatrixXd solveUpperTransposed(const Eigen::MatrixXd& R, const Eigen::MatrixXd& B);

/// Orthonormal columns that span those of A, whatever their lengths (pivoted QR of A with columns
/// of length 1; pivots below `threshold` of the largest are zero).
Eigen::MatrixXd rangeBasis(const Eigen::MatrixXd& A, double threshold);
/// Orthonormal columns that span what A maps to zero (pivoted QR of A^T, the same rule).
Eigen::MatrixXd nullBasis(const Eigen::MatrixXd& A, double threshold);

}  // namespace proprio
