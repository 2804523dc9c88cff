#include "proprio/numerics/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace proprio {

Svd svd(const Eigen::MatrixXd& A, bool full_v) {
  const Eigen::BDCSVD<Eigen::MatrixXd> result(
      A, Eigen::ComputeThinU | (full_v ? Eigen::ComputeFullV : Eigen::ComputeThinV));
  return {result.matrixU(), result.matrixV(), result.singularValues()};
}

Eigen::VectorXd singularValues(const Eigen::MatrixXd& A) {
  return Eigen::BDCSVD<Eigen::MatrixXd>(A).singularValues();
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> result(A);
  return {result.eigenvalues(), result.eigenvectors()};
}

std::optional<Eigen::MatrixXd> choleskyFactor(const Eigen::MatrixXd& A) {
  const Eigen::LLT<Eigen::MatrixXd> result(A);
  if (result.info() != Eigen::Success) return std::nullopt;
  return Eigen::MatrixXd(result.matrixL());
}

Eigen::MatrixXd solveSymmetric(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.ldlt().solve(B);
}

Eigen::MatrixXd solveSquare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.partialPivLu().solve(B);
}

Eigen::MatrixXd leastSquares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.completeOrthogonalDecomposition().solve(B);
}

Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& A) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> result(A);
  const Eigen::Index rows = std::min(A.rows(), A.cols());
  return result.matrixQR().topRows(rows).triangularView<Eigen::Upper>();
}

Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> result(A);
  const Eigen::Index rows = std::min(A.rows(), A.cols());
  Eigen::VectorXd right = b;
  right.applyOnTheLeft(result.householderQ().adjoint());
  Eigen::MatrixXd out(rows, A.cols() + 1);
  out.leftCols(A.cols()) = result.matrixQR().topRows(rows).triangularView<Eigen::Upper>();
  out.col(A.cols()) = right.head(rows);
  return out;
}

}  // namespace proprio
