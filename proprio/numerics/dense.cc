#include "proprio/numerics/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace proprio {

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

Eigen::MatrixXd inverseOf(const Eigen::MatrixXd& A) {
  return solveSquare(A, Eigen::MatrixXd::Identity(A.rows(), A.cols()));
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

Eigen::MatrixXd solveUpper(const Eigen::MatrixXd& R, const Eigen::MatrixXd& B) {
  return R.triangularView<Eigen::Upper>().solve(B);
}

Eigen::MatrixXd solveUpperTransposed(const Eigen::MatrixXd& R, const Eigen::MatrixXd& B) {
  return R.triangularView<Eigen::Upper>().transpose().solve(B);
}

Eigen::MatrixXd rangeBasis(const Eigen::MatrixXd& A, double threshold) {
  Eigen::VectorXd inverse = A.colwise().norm().transpose();
  for (double& length : inverse) length = length > 0.0 ? 1.0 / length : 0.0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A * inverse.asDiagonal());
  qr.setThreshold(threshold);
  return qr.householderQ() * Eigen::MatrixXd::Identity(A.rows(), qr.rank());
}

Eigen::MatrixXd nullBasis(const Eigen::MatrixXd& A, double threshold) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A.transpose());
  qr.setThreshold(threshold);
  const Eigen::MatrixXd Q = qr.householderQ();
  return Q.rightCols(A.cols() - qr.rank());
}

}  // namespace proprio
