#pragma once

// Part of the precompiled headers of the plain half, the command and the tests, only to shorten the
// build. Every expression of Eigen is a type of its own that costs the compiler some 40 ms, every
// product of expressions half a second. Here sums, differences, multiples and products of dynamic
// matrices and vectors, of blocks of them and of transposed matrices call functions that are
// compiled once (plain_operators.cc) and return the value. The results are the same; what is new is
// a temporary, so the half of the library that runs once per sample does without. As ever with
// Eigen, no `auto` for a view of an expression, such as (a - b).array(): it would outlive what it
// views.

#include <Eigen/Dense>
#include <type_traits>

namespace proprio {
namespace plain {

using MatrixRef = Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

Eigen::MatrixXd product(const MatrixRef& A, const MatrixRef& B);
Eigen::MatrixXd productWithTransposed(const MatrixRef& A, const MatrixRef& B);    // A B^T
Eigen::MatrixXd productOfTransposed(const MatrixRef& A, const MatrixRef& B);      // A^T B
Eigen::MatrixXd productOfBothTransposed(const MatrixRef& A, const MatrixRef& B);  // A^T B^T
Eigen::VectorXd image(const MatrixRef& A, const VectorRef& b);                    // A b
Eigen::VectorXd imageOfTransposed(const MatrixRef& A, const VectorRef& b);        // A^T b
Eigen::MatrixXd sum(const MatrixRef& A, const MatrixRef& B);
Eigen::VectorXd vectorSum(const VectorRef& a, const VectorRef& b);
Eigen::MatrixXd difference(const MatrixRef& A, const MatrixRef& B);
Eigen::VectorXd vectorDifference(const VectorRef& a, const VectorRef& b);
Eigen::MatrixXd multiple(const MatrixRef& A, double factor);
Eigen::VectorXd vectorMultiple(const VectorRef& a, double factor);
Eigen::MatrixXd quotient(const MatrixRef& A, double divisor);
Eigen::VectorXd vectorQuotient(const VectorRef& a, double divisor);

enum class Kind { kOther, kMatrix, kVector, kTransposed };

template <class T>
inline constexpr Kind kKind = Kind::kOther;
template <>
inline constexpr Kind kKind<Eigen::MatrixXd> = Kind::kMatrix;
template <>
inline constexpr Kind kKind<MatrixRef> = Kind::kMatrix;
template <>
inline constexpr Kind kKind<Eigen::Ref<Eigen::MatrixXd>> = Kind::kMatrix;
template <bool kColumns>
inline constexpr Kind kKind<Eigen::Block<Eigen::MatrixXd, -1, -1, kColumns>> = Kind::kMatrix;
template <bool kColumns>
inline constexpr Kind kKind<Eigen::Block<const Eigen::MatrixXd, -1, -1, kColumns>> = Kind::kMatrix;
template <>
inline constexpr Kind kKind<Eigen::VectorXd> = Kind::kVector;
template <>
inline constexpr Kind kKind<VectorRef> = Kind::kVector;
template <>
inline constexpr Kind kKind<Eigen::Ref<Eigen::VectorXd>> = Kind::kVector;
template <>
inline constexpr Kind kKind<Eigen::Block<Eigen::MatrixXd, -1, 1, true>> = Kind::kVector;
template <>
inline constexpr Kind kKind<Eigen::Block<const Eigen::MatrixXd, -1, 1, true>> = Kind::kVector;
template <>
inline constexpr Kind kKind<Eigen::VectorBlock<Eigen::VectorXd>> = Kind::kVector;
template <>
inline constexpr Kind kKind<Eigen::VectorBlock<const Eigen::VectorXd>> = Kind::kVector;
template <class T>
inline constexpr Kind kKind<Eigen::Transpose<T>> =
    kKind<std::remove_const_t<T>> == Kind::kMatrix ? Kind::kTransposed : Kind::kOther;

template <class T>
concept Matrix = kKind<T>
== Kind::kMatrix;
template <class T>
concept Vector = kKind<T>
== Kind::kVector;
template <class T>
concept Transposed = kKind<T>
== Kind::kTransposed;
template <class T>
concept Number = std::is_arithmetic_v<T>;

}  // namespace plain

// clang-format off
template <plain::Matrix A, plain::Matrix B> Eigen::MatrixXd operator*(const A& a, const B& b) { return plain::product(a, b); }
template <plain::Matrix A, plain::Transposed B> Eigen::MatrixXd operator*(const A& a, const B& b) { return plain::productWithTransposed(a, b.nestedExpression()); }
template <plain::Transposed A, plain::Matrix B> Eigen::MatrixXd operator*(const A& a, const B& b) { return plain::productOfTransposed(a.nestedExpression(), b); }
template <plain::Transposed A, plain::Transposed B> Eigen::MatrixXd operator*(const A& a, const B& b) { return plain::productOfBothTransposed(a.nestedExpression(), b.nestedExpression()); }
template <plain::Matrix A, plain::Vector B> Eigen::VectorXd operator*(const A& a, const B& b) { return plain::image(a, b); }
template <plain::Transposed A, plain::Vector B> Eigen::VectorXd operator*(const A& a, const B& b) { return plain::imageOfTransposed(a.nestedExpression(), b); }

template <plain::Matrix A, plain::Matrix B> Eigen::MatrixXd operator+(const A& a, const B& b) { return plain::sum(a, b); }
template <plain::Vector A, plain::Vector B> Eigen::VectorXd operator+(const A& a, const B& b) { return plain::vectorSum(a, b); }
template <plain::Matrix A, plain::Matrix B> Eigen::MatrixXd operator-(const A& a, const B& b) { return plain::difference(a, b); }
template <plain::Vector A, plain::Vector B> Eigen::VectorXd operator-(const A& a, const B& b) { return plain::vectorDifference(a, b); }

template <plain::Matrix A, plain::Number S> Eigen::MatrixXd operator*(const A& a, S s) { return plain::multiple(a, static_cast<double>(s)); }
template <plain::Vector A, plain::Number S> Eigen::VectorXd operator*(const A& a, S s) { return plain::vectorMultiple(a, static_cast<double>(s)); }
template <plain::Number S, plain::Matrix A> Eigen::MatrixXd operator*(S s, const A& a) { return plain::multiple(a, static_cast<double>(s)); }
template <plain::Number S, plain::Vector A> Eigen::VectorXd operator*(S s, const A& a) { return plain::vectorMultiple(a, static_cast<double>(s)); }
template <plain::Matrix A, plain::Number S> Eigen::MatrixXd operator/(const A& a, S s) { return plain::quotient(a, static_cast<double>(s)); }
template <plain::Vector A, plain::Number S> Eigen::VectorXd operator/(const A& a, S s) { return plain::vectorQuotient(a, static_cast<double>(s)); }
template <plain::Matrix A> Eigen::MatrixXd operator-(const A& a) { return plain::multiple(a, -1.0); }
template <plain::Vector A> Eigen::VectorXd operator-(const A& a) { return plain::vectorMultiple(a, -1.0); }
// clang-format on

}  // namespace proprio
