#include "plain_operators.h"

// Outside of namespace proprio these are Eigen's operators.
namespace {

template <class Result>
Result productOf(const auto& A, const auto& B) {
  return A * B;
}
template <class Result>
Result sumOf(const auto& A, const auto& B) {
  return A + B;
}
template <class Result>
Result differenceOf(const auto& A, const auto& B) {
  return A - B;
}
template <class Result>
Result multipleOf(const auto& A, double factor) {
  return A * factor;
}
template <class Result>
Result quotientOf(const auto& A, double divisor) {
  return A / divisor;
}

}  // namespace

namespace proprio::plain {

using Eigen::MatrixXd, Eigen::VectorXd;
using M = MatrixRef;
using V = VectorRef;

MatrixXd product(const M& A, const M& B) { return productOf<MatrixXd>(A, B); }
MatrixXd productWithTransposed(const M& A, const M& B) {
  return productOf<MatrixXd>(A, B.transpose());
}
MatrixXd productOfTransposed(const M& A, const M& B) {
  return productOf<MatrixXd>(A.transpose(), B);
}
MatrixXd productOfBothTransposed(const M& A, const M& B) {
  return productOf<MatrixXd>(A.transpose(), B.transpose());
}
VectorXd image(const M& A, const V& b) { return productOf<VectorXd>(A, b); }
VectorXd imageOfTransposed(const M& A, const V& b) { return productOf<VectorXd>(A.transpose(), b); }
MatrixXd sum(const M& A, const M& B) { return sumOf<MatrixXd>(A, B); }
VectorXd vectorSum(const V& a, const V& b) { return sumOf<VectorXd>(a, b); }
MatrixXd difference(const M& A, const M& B) { return differenceOf<MatrixXd>(A, B); }
VectorXd vectorDifference(const V& a, const V& b) { return differenceOf<VectorXd>(a, b); }
MatrixXd multiple(const M& A, double factor) { return multipleOf<MatrixXd>(A, factor); }
VectorXd vectorMultiple(const V& a, double factor) { return multipleOf<VectorXd>(a, factor); }
MatrixXd quotient(const M& A, double divisor) { return quotientOf<MatrixXd>(A, divisor); }
VectorXd vectorQuotient(const V& a, double divisor) { return quotientOf<VectorXd>(a, divisor); }

}  // namespace proprio::plain
