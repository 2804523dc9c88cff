#include "proprio/numerics/distributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

/// From here on a distribution is its limit to more digits than a double has use for.
constexpr double kManyDegrees = 1e15;

void requireProbability(double p) {
  if (!(p > 0.0 && p < 1.0))
    throw Error(
        fmt::format("a quantile is asked for at {}; expected a probability between 0 and 1", p));
}

void requirePlace(double x) {
  if (std::isnan(x)) throw Error("a tail probability is asked for at a value that is not a number");
}

void requireDegrees(double degrees) {
  if (!(degrees > 0.0))
    throw Error(fmt::format("{} degrees of freedom; expected a positive number", degrees));
}

}  // namespace

double normalQuantile(double p) {
  requireProbability(p);
  return boost::math::quantile(boost::math::normal(), p);
}

double studentQuantile(double p, double degrees) {
  requireProbability(p);
  requireDegrees(degrees);
  if (degrees > kManyDegrees) return normalQuantile(p);
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

double chiSquareQuantile(double p, double degrees) {
  requireProbability(p);
  requireDegrees(degrees);
  return boost::math::quantile(boost::math::chi_squared(degrees), p);
}

double fisherQuantile(double p, double numerator_degrees, double denominator_degrees) {
  requireProbability(p);
  requireDegrees(numerator_degrees);
  requireDegrees(denominator_degrees);
  if (denominator_degrees > kManyDegrees)
    return chiSquareQuantile(p, numerator_degrees) / numerator_degrees;
  return boost::math::quantile(boost::math::fisher_f(numerator_degrees, denominator_degrees), p);
}

double normalTail(double x) {
  requirePlace(x);
  if (std::isinf(x)) return x > 0.0 ? 0.0 : 1.0;
  return boost::math::cdf(boost::math::complement(boost::math::normal(), x));
}

double studentTail(double x, double degrees) {
  requirePlace(x);
  requireDegrees(degrees);
  if (degrees > kManyDegrees || std::isinf(x)) return normalTail(x);
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), x));
}

double chiSquareTail(double x, double degrees) {
  requirePlace(x);
  requireDegrees(degrees);
  if (x <= 0.0) return 1.0;
  if (std::isinf(x)) return 0.0;
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(degrees), x));
}

double fisherTail(double x, double numerator_degrees, double denominator_degrees) {
  requirePlace(x);
  requireDegrees(numerator_degrees);
  requireDegrees(denominator_degrees);
  if (x <= 0.0) return 1.0;
  if (std::isinf(x)) return 0.0;
  if (denominator_degrees > kManyDegrees)
    return chiSquareTail(x * numerator_degrees, numerator_degrees);
  return boost::math::cdf(
      boost::math::complement(boost::math::fisher_f(numerator_degrees, denominator_degrees), x));
}

}  // namespace proprio
