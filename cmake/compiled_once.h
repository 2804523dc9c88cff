#pragma once

// Part of the precompiled headers, only to shorten the build: what is declared here is compiled in
// compiled_once_*.cc and nowhere else. Without it each file that takes the eigenvalues of a 4x4
// matrix, or a QR decomposition, compiles them anew, six seconds each. No source of the
// library includes this file, and the code is the same without it.

#include <Eigen/Dense>

#ifndef PROPRIO_ONCE_EIGENVALUES
#define PROPRIO_ONCE_EIGENVALUES extern
#endif
#ifndef PROPRIO_ONCE_QR
#define PROPRIO_ONCE_QR extern
#endif
#ifndef PROPRIO_ONCE_CHOLESKY
#define PROPRIO_ONCE_CHOLESKY extern
#endif

namespace Eigen {

// clang-format off
PROPRIO_ONCE_EIGENVALUES template class SelfAdjointEigenSolver<Matrix3d>;
PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<Matrix3d>& SelfAdjointEigenSolver<Matrix3d>::compute(const EigenBase<Matrix3d>&, int);
PROPRIO_ONCE_EIGENVALUES template class SelfAdjointEigenSolver<Matrix4d>;
PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<Matrix4d>& SelfAdjointEigenSolver<Matrix4d>::compute(const EigenBase<Matrix4d>&, int);
PROPRIO_ONCE_EIGENVALUES template class SelfAdjointEigenSolver<MatrixXd>;
PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, int);

PROPRIO_ONCE_QR template class HouseholderQR<MatrixXd>;
PROPRIO_ONCE_QR template void HouseholderQR<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_QR template class ColPivHouseholderQR<MatrixXd>;
PROPRIO_ONCE_QR template void ColPivHouseholderQR<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_QR template void ColPivHouseholderQR<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;

PROPRIO_ONCE_CHOLESKY template class LLT<Matrix4d>;
PROPRIO_ONCE_CHOLESKY template LLT<Matrix4d>& LLT<Matrix4d>::compute(const EigenBase<Matrix4d>&);
PROPRIO_ONCE_CHOLESKY template class LLT<MatrixXd>;
PROPRIO_ONCE_CHOLESKY template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
PROPRIO_ONCE_CHOLESKY template void LLT<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void LLT<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;
PROPRIO_ONCE_CHOLESKY template class LDLT<MatrixXd>;
PROPRIO_ONCE_CHOLESKY template LDLT<MatrixXd>& LDLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
PROPRIO_ONCE_CHOLESKY template void LDLT<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void LDLT<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;
PROPRIO_ONCE_CHOLESKY template class PartialPivLU<MatrixXd>;
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;
// clang-format on

}  // namespace Eigen
