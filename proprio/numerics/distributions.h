#pragma once

/// Quantiles x with P(X <= x) = p, and tail probabilities P(X > x), of the distributions that tests
/// and intervals need. Tails keep their digits far out (1e-300). Degrees of freedom are positive
/// and need not be whole; infinite ones are the limit (Student -> normal, Fisher -> chi-square).

namespace proprio {

/// All quantiles: @throws Error unless 0 < p < 1 and the degrees of freedom are positive.
double normalQuantile(double p);
double studentQuantile(double p, double degrees);
double chiSquareQuantile(double p, double degrees);
double fisherQuantile(double p, double numerator_degrees, double denominator_degrees);

/// All tails: @throws Error for x that is not a number or degrees of freedom that are not positive.
double normalTail(double x);
double studentTail(double x, double degrees);
double chiSquareTail(double x, double degrees);
double fisherTail(double x, double numerator_degrees, double denominator_degrees);

}  // namespace proprio
