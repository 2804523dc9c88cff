#pragma once

/// Dual numbers a + b eps, eps^2 = 0: exact first derivatives along one direction. The oracle for
/// the analytic derivatives, and a compiled scalar type of the dynamics kernels.

namespace proprio {

struct Dual {
  double value = 0.0;
  double derivative = 0.0;
  Dual() = default;
  Dual(double v) : value(v) {}  // implicit: constants have no derivative
  Dual(double v, double d) : value(v), derivative(d) {}
};

inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.derivative + b.derivative}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.derivative - b.derivative}; }
inline Dual operator-(Dual a) { return {-a.value, -a.derivative}; }
inline Dual operator*(Dual a, Dual b) {
  return {a.value * b.value, a.derivative * b.value + a.value * b.derivative};
}
inline Dual operator/(Dual a, Dual b) {
  const double q = a.value / b.value;
  return {q, (a.derivative - q * b.derivative) / b.value};
}
inline Dual& operator+=(Dual& a, Dual b) { return a = a + b; }
inline Dual& operator-=(Dual& a, Dual b) { return a = a - b; }

}  // namespace proprio
