#include "proprio/signal/filter_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// Below, the poles are so near to 1 that a double holds few digits of their distance from it.
constexpr double kLowestCutoff = 1e-5;

void requireDesignable(int order, double cutoff_hz, double rate_hz) {
  if (order < 1 || order > kMaxFilterOrder) {
    throw Error(fmt::format("low-pass filter: order {} was asked for, 1 to {} are possible", order,
                            kMaxFilterOrder));
  }
  if (!(rate_hz > 0.0) || !std::isfinite(rate_hz)) {
    throw Error(
        fmt::format("low-pass filter: the sampling rate is {} Hz, expected a positive "
                    "number",
                    rate_hz));
  }
  if (!(cutoff_hz > 0.0)) {
    throw Error(fmt::format("low-pass filter: the cut-off is {} Hz, expected a positive number",
                            cutoff_hz));
  }
  if (cutoff_hz >= 0.5 * rate_hz) {
    throw Error(fmt::format(
        "low-pass filter: the cut-off of {} Hz is not below half the sampling rate ({} Hz); choose "
        "a lower one or do not filter",
        cutoff_hz, 0.5 * rate_hz));
  }
  if (cutoff_hz < kLowestCutoff * rate_hz) {
    throw Error(fmt::format(
        "low-pass filter: the cut-off of {} Hz is too far below the sampling rate of {} Hz for "
        "double precision; decimate first",
        cutoff_hz, rate_hz));
  }
}

/// Section of the pole pair s^2 + c1 s + c0, gain 1 at zero frequency.
FilterSection pairSection(double c1, double c0) {
  FilterSection section;
  const double D = 1.0 + c1 + c0;
  section.a1 = 2.0 * (c0 - 1.0) / D;
  section.a2 = (1.0 - c1 + c0) / D;
  section.b0 = 0.25 * (1.0 + section.a1 + section.a2);
  section.b1 = 2.0 * section.b0;
  section.b2 = section.b0;
  return section;
}

/// Section of the single pole s + c, gain 1 at zero frequency.
FilterSection singleSection(double c) {
  FilterSection section;
  section.a1 = (c - 1.0) / (c + 1.0);
  section.b0 = 0.5 * (1.0 + section.a1);
  section.b1 = section.b0;
  return section;
}

/// Poles -r sin(theta_k) + i s cos(theta_k), theta_k = pi (2 k + 1) / (2 n): a circle for r = s.
DigitalFilter fromEllipse(int order, double r, double s) {
  DigitalFilter filter;
  filter.order = order;
  // from the most damped to the least damped pair
  if (order % 2 == 1) filter.sections.push_back(singleSection(r));
  for (int k = order / 2 - 1; k >= 0; --k) {
    const double theta = std::numbers::pi * (2.0 * k + 1.0) / (2.0 * order);
    const double re = r * std::sin(theta), im = s * std::cos(theta);
    filter.sections.push_back(pairSection(2.0 * re, re * re + im * im));
  }
  return filter;
}

}  // namespace

DigitalFilter butterworthLowpass(int order, double cutoff_hz, double rate_hz) {
  requireDesignable(order, cutoff_hz, rate_hz);
  const double K = std::tan(std::numbers::pi * cutoff_hz / rate_hz);
  return fromEllipse(order, K, K);
}

DigitalFilter chebyshevLowpass(int order, double ripple_db, double cutoff_hz, double rate_hz) {
  requireDesignable(order, cutoff_hz, rate_hz);
  if (!(ripple_db > 0.0) || !std::isfinite(ripple_db)) {
    throw Error(fmt::format("Chebyshev filter: the ripple is {} dB, expected a positive number",
                            ripple_db));
  }
  const double K = std::tan(std::numbers::pi * cutoff_hz / rate_hz);
  const double epsilon = std::sqrt(std::expm1(ripple_db * std::log(10.0) / 10.0));
  const double mu = std::asinh(1.0 / epsilon) / order;
  DigitalFilter filter = fromEllipse(order, K * std::sinh(mu), K * std::cosh(mu));
  if (order % 2 == 0) {
    const double gain = std::pow(10.0, -ripple_db / 20.0);
    FilterSection& first = filter.sections.front();
    first.b0 *= gain;
    first.b1 *= gain;
    first.b2 *= gain;
  }
  return filter;
}

std::complex<double> frequencyResponse(const DigitalFilter& filter, double frequency_hz,
                                       double rate_hz) {
  const std::complex<double> z1 = std::polar(1.0, -2.0 * std::numbers::pi * frequency_hz / rate_hz);
  std::complex<double> response = 1.0;
  for (const FilterSection& s : filter.sections) {
    response *= (s.b0 + z1 * (s.b1 + z1 * s.b2)) / (1.0 + z1 * (s.a1 + z1 * s.a2));
  }
  return response;
}

double poleRadius(const DigitalFilter& filter) {
  double radius = 0.0;
  for (const FilterSection& s : filter.sections) {
    // a real pole, or the square root of the product of a conjugate pair
    const double discriminant = s.a1 * s.a1 - 4.0 * s.a2;
    const double r =
        discriminant < 0.0 ? std::sqrt(s.a2) : 0.5 * (std::abs(s.a1) + std::sqrt(discriminant));
    radius = std::max(radius, r);
  }
  return radius;
}

}  // namespace proprio
