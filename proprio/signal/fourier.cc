#include "proprio/signal/fourier.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"

namespace proprio {
namespace {

using Eigen::Index;
using Complex = std::complex<double>;

/// Sums and differences of the transforms of the two halves of x, which hold the even and the odd
/// samples. roots[n / 2 + k] = exp(-2 pi i k / n), side by side for each length n.
void combineHalves(Complex* x, size_t n, const Complex* roots) {
  const size_t half = n / 2;
  Complex *low = x, *high = x + half;
  const Complex* w = roots + half;
  for (size_t k = 0; k < half; ++k) {
    // spelled out: the operator checks for infinities
    const double re = high[k].real() * w[k].real() - high[k].imag() * w[k].imag();
    const double im = high[k].real() * w[k].imag() + high[k].imag() * w[k].real();
    high[k] = {low[k].real() - re, low[k].imag() - im};
    low[k] = {low[k].real() + re, low[k].imag() + im};
  }
}

/// Of samples in bit-reversed order; one half after the other, so that parts which fit into a cache
/// are finished before the next is touched.
void transformReversed(Complex* x, size_t n, const Complex* roots) {
  constexpr size_t kFitsIntoCache = 1024;
  if (n > kFitsIntoCache) {
    transformReversed(x, n / 2, roots);
    transformReversed(x + n / 2, n / 2, roots);
    combineHalves(x, n, roots);
    return;
  }
  for (size_t length = 2; length <= n; length *= 2) {
    for (size_t start = 0; start < n; start += length) combineHalves(x + start, length, roots);
  }
}

/// In place, length a power of two.
void radix2(std::vector<Complex>& x) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {  // bit reversal
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  std::vector<Complex> roots(n);
  for (size_t k = 0; k < n / 2; ++k) {
    roots[n / 2 + k] =
        std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  }
  for (size_t i = n / 2; i-- > 1;) roots[i] = roots[2 * i];
  transformReversed(x.data(), n, roots.data());
}

/// x_k w_k convolved with 1 / w, times w again, with the chirp w_k = exp(-i pi k^2 / n).
void bluestein(std::vector<Complex>& x) {
  const size_t n = x.size();
  size_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  std::vector<Complex> chirp(n), a(m), b(m);
  for (size_t k = 0; k < n; ++k) {
    // k^2 modulo 2 n before it meets a double: the angle keeps its digits
    const unsigned long long square = static_cast<unsigned long long>(k) * k % (2 * n);
    chirp[k] =
        std::polar(1.0, -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n));
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[m - k] = b[k];
  }
  radix2(a);
  radix2(b);
  for (size_t k = 0; k < m; ++k) a[k] = std::conj(a[k] * b[k]);
  radix2(a);
  for (size_t k = 0; k < n; ++k) x[k] = chirp[k] * std::conj(a[k]) / static_cast<double>(m);
}

void requirePeriodic(const SignalColumns& x) {
  for (Index c = 0; c < x.cols(); ++c) {
    double step = 0.0;
    for (Index k = 1; k < x.rows(); ++k) step = std::max(step, std::abs(x(k, c) - x(k - 1, c)));
    const double jump = std::abs(x(0, c) - x(x.rows() - 1, c));
    if (jump > 2.0 * step) {
      throw Error(fmt::format(
          "Fourier differentiation: column {} jumps by {:.3g} from its last sample to its first, "
          "elsewhere by at most {:.3g}; cut the recording to whole periods",
          c + 1, jump, step));
    }
  }
}

}  // namespace

void fourierTransform(std::vector<Complex>& x) {
  const size_t n = x.size();
  if (n < 2) return;
  if ((n & (n - 1)) == 0) {
    radix2(x);
  } else {
    bluestein(x);
  }
}

void inverseFourierTransform(std::vector<Complex>& x) {
  for (Complex& value : x) value = std::conj(value);
  fourierTransform(x);
  for (Complex& value : x) value = std::conj(value) / static_cast<double>(x.size());
}

PeriodicDerivatives differentiatePeriodic(const SignalColumns& x, double rate_hz,
                                          double max_frequency_hz) {
  const Index n = x.rows();
  if (n < 3 || !(rate_hz > 0.0) || !(max_frequency_hz >= 0.0)) {
    throw Error(fmt::format(
        "Fourier differentiation: {} samples at {} Hz up to {} Hz; expected at least 3 samples, a "
        "positive rate and no negative frequency",
        n, rate_hz, max_frequency_hz));
  }
  requireFinite(x, "Fourier differentiation");
  requirePeriodic(x);
  const double limit = max_frequency_hz > 0.0 ? max_frequency_hz : rate_hz;
  PeriodicDerivatives d;
  d.value = d.first = d.second = Eigen::MatrixXd(n, x.cols());
  std::vector<Complex> spectrum(static_cast<size_t>(n)), part(spectrum.size());
  // two real columns at once, as real and imaginary part: differentiation keeps them apart
  for (Index c = 0; c < x.cols(); c += 2) {
    const bool pair = c + 1 < x.cols();
    for (Index k = 0; k < n; ++k) {
      spectrum[static_cast<size_t>(k)] = {x(k, c), pair ? x(k, c + 1) : 0.0};
    }
    fourierTransform(spectrum);
    Eigen::MatrixXd* const outputs[] = {&d.value, &d.first, &d.second};
    for (int order = 0; order < 3; ++order) {
      for (Index k = 0; k < n; ++k) {
        const Index harmonic = 2 * k <= n ? k : k - n;
        const double f = static_cast<double>(harmonic) * rate_hz / static_cast<double>(n);
        const double w = 2.0 * std::numbers::pi * f;
        // the harmonic at half the rate has no sign, hence no first derivative
        const bool half_rate = 2 * k == n;
        const Complex factor = order == 0   ? Complex(1.0)
                               : order == 1 ? Complex(0.0, half_rate ? 0.0 : w)
                                            : Complex(-w * w);
        const size_t i = static_cast<size_t>(k);
        part[i] = std::abs(f) <= limit * (1.0 + 1e-9) ? factor * spectrum[i] : Complex(0.0);
      }
      inverseFourierTransform(part);
      for (Index k = 0; k < n; ++k) {
        (*outputs[order])(k, c) = part[static_cast<size_t>(k)].real();
        if (pair) (*outputs[order])(k, c + 1) = part[static_cast<size_t>(k)].imag();
      }
    }
  }
  return d;
}

}  // namespace proprio
