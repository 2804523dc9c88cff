#pragma once

// Part of the precompiled headers, only to shorten the build: what is declared here is compiled in
// compiled_once_*.cc and nowhere else. Without it each file that takes the eigenvalues of a 4x4
// matrix, multiplies matrices or reads JSON compiles that anew, up to six seconds each. No source
// of the library includes this file, and the code is the same without it.

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#ifndef PROPRIO_ONCE_EIGENVALUES
#define PROPRIO_ONCE_EIGENVALUES extern
#endif
#ifndef PROPRIO_ONCE_QR
#define PROPRIO_ONCE_QR extern
#endif
#ifndef PROPRIO_ONCE_CHOLESKY
#define PROPRIO_ONCE_CHOLESKY extern
#endif
#ifndef PROPRIO_ONCE_PRODUCTS
#define PROPRIO_ONCE_PRODUCTS extern
#endif
#ifndef PROPRIO_ONCE_JSON
#define PROPRIO_ONCE_JSON extern
#endif

// clang-format off
namespace Eigen {

PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<Matrix3d>& SelfAdjointEigenSolver<Matrix3d>::compute(const EigenBase<Matrix3d>&, int);
PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<Matrix4d>& SelfAdjointEigenSolver<Matrix4d>::compute(const EigenBase<Matrix4d>&, int);
PROPRIO_ONCE_EIGENVALUES template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, int);

PROPRIO_ONCE_QR template void HouseholderQR<MatrixXd>::computeInPlace();
PROPRIO_ONCE_QR template void HouseholderQR<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_QR template void ColPivHouseholderQR<MatrixXd>::computeInPlace();
PROPRIO_ONCE_QR template void ColPivHouseholderQR<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_QR template void ColPivHouseholderQR<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;

PROPRIO_ONCE_CHOLESKY template LLT<Matrix4d>& LLT<Matrix4d>::compute(const EigenBase<Matrix4d>&);
PROPRIO_ONCE_CHOLESKY template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
PROPRIO_ONCE_CHOLESKY template void LLT<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void LLT<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;
PROPRIO_ONCE_CHOLESKY template LLT<Ref<MatrixXd>>& LLT<Ref<MatrixXd>>::compute(const EigenBase<MatrixXd>&);
PROPRIO_ONCE_CHOLESKY template LDLT<MatrixXd>& LDLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
PROPRIO_ONCE_CHOLESKY template void LDLT<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void LDLT<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<MatrixXd>::compute();
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<Matrix<double, 6, 6>>::compute();
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<Matrix<double, 10, 10>>::compute();
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;
PROPRIO_ONCE_CHOLESKY template void PartialPivLU<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;

namespace internal {
using ColumnsOnce = const_blas_data_mapper<double, Index, ColMajor>;
using RowsOnce = const_blas_data_mapper<double, Index, RowMajor>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_vector_product<Index, double, ColumnsOnce, ColMajor, false, double, ColumnsOnce, false>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_vector_product<Index, double, ColumnsOnce, ColMajor, false, double, RowsOnce, false>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_vector_product<Index, double, RowsOnce, RowMajor, false, double, ColumnsOnce, false>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_vector_product<Index, double, RowsOnce, RowMajor, false, double, RowsOnce, false>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, ColMajor, false, ColMajor, 1>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_matrix_product<Index, double, RowMajor, false, double, ColMajor, false, ColMajor, 1>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, RowMajor, false, ColMajor, 1>;
PROPRIO_ONCE_PRODUCTS template struct general_matrix_matrix_product<Index, double, RowMajor, false, double, RowMajor, false, ColMajor, 1>;
PROPRIO_ONCE_PRODUCTS template void evaluateProductBlockingSizesHeuristic<double, double, 1, Index>(Index&, Index&, Index&, Index);
PROPRIO_ONCE_PRODUCTS template void evaluateProductBlockingSizesHeuristic<double, double, 4, Index>(Index&, Index&, Index&, Index);
}  // namespace internal
}  // namespace Eigen

namespace nlohmann::detail {
using LettersOnce = iterator_input_adapter<std::string::const_iterator>;
PROPRIO_ONCE_JSON template class serializer<json>;
PROPRIO_ONCE_JSON template class serializer<ordered_json>;
PROPRIO_ONCE_JSON template class lexer<json, LettersOnce>;
PROPRIO_ONCE_JSON template class lexer<ordered_json, LettersOnce>;
PROPRIO_ONCE_JSON template class parser<json, LettersOnce>;
PROPRIO_ONCE_JSON template class parser<ordered_json, LettersOnce>;
PROPRIO_ONCE_JSON template class json_sax_dom_parser<json>;
PROPRIO_ONCE_JSON template class json_sax_dom_parser<ordered_json>;
PROPRIO_ONCE_JSON template class json_sax_dom_callback_parser<json>;
PROPRIO_ONCE_JSON template class json_sax_dom_callback_parser<ordered_json>;
PROPRIO_ONCE_JSON template bool parser<json, LettersOnce>::sax_parse_internal(json_sax_dom_parser<json>*);
PROPRIO_ONCE_JSON template bool parser<json, LettersOnce>::sax_parse_internal(json_sax_dom_callback_parser<json>*);
PROPRIO_ONCE_JSON template bool parser<ordered_json, LettersOnce>::sax_parse_internal(json_sax_dom_parser<ordered_json>*);
PROPRIO_ONCE_JSON template bool parser<ordered_json, LettersOnce>::sax_parse_internal(json_sax_dom_callback_parser<ordered_json>*);
}  // namespace nlohmann::detail
// clang-format on
