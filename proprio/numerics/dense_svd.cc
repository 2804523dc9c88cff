#include <Eigen/SVD>

#include "proprio/numerics/dense.h"

namespace proprio {

Svd svd(const Eigen::MatrixXd& A, bool full_v) {
  if (A.rows() == 0 || A.cols() == 0)
    return {Eigen::MatrixXd(A.rows(), 0),
            full_v ? Eigen::MatrixXd::Identity(A.cols(), A.cols()) : Eigen::MatrixXd(A.cols(), 0),
            Eigen::VectorXd()};
  const Eigen::BDCSVD<Eigen::MatrixXd> result(
      A, Eigen::ComputeThinU | (full_v ? Eigen::ComputeFullV : Eigen::ComputeThinV));
  return {result.matrixU(), result.matrixV(), result.singularValues()};
}

Eigen::VectorXd singularValues(const Eigen::MatrixXd& A) {
  return Eigen::BDCSVD<Eigen::MatrixXd>(A).singularValues();
}

}  // namespace proprio
