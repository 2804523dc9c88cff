#include "proprio/signal/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/signal/fourier.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr Index kFewestSamples = 64;
constexpr double kLongestSegment = 20.0;   // s: a resolution of 0.05 Hz is fine enough
constexpr Index kMostInSegment = 1 << 17;  // samples, bounds the work
constexpr double kBandRatio = 1.0718;      // a tenth of an octave
constexpr double kAboveFloor = 3.0;        // false alarms of averaged noise are rare beyond
constexpr double kPositionEnergy = 0.999, kSpeedEnergy = 0.99;
constexpr double kLowest = 1.5, kUsual = 5.0, kHighest = 10.0;  // times the bandwidth
constexpr double kRigid = 10.0;         // Hz: rigid motion reaches so far, however slow it is
constexpr double kNoiseRange = 5.0;     // noise is looked for from there to so many times that
constexpr double kOfRate = 0.4;         // 0.8 of half the rate
constexpr double kRestingCutoff = 5.0;  // Hz, if no joint moves
constexpr double kMovement = 4.0;       // a moving joint leaves the noise by at least this factor

/// Neighbouring bins of the spectrum, averaged.
struct Band {
  double f = 0.0, df = 0.0;  ///< Hz: centre, width
  double density = 0.0;      ///< S_q, unit^2 per Hz
};

/// S_q at multiples of rate / length, from index 1 on (0 is left zero).
Eigen::VectorXd positionDensity(const Eigen::VectorXd& x, double rate, Index length) {
  const Index n = x.size() - 1;
  Eigen::VectorXd window(length);
  for (Index k = 0; k < length; ++k) {
    const double s =
        std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(length));
    window[k] = s * s;
  }
  Eigen::VectorXd density = Eigen::VectorXd::Zero(length / 2 + 1);
  std::vector<std::complex<double>> segment(static_cast<size_t>(length));
  // half overlapping segments, the last one aligned with the end
  const Index count = n == length ? 1 : 1 + (n - length + length / 2 - 1) / (length / 2);
  for (Index i = 0; i < count; ++i) {
    const Index start = std::min(i * (length / 2), n - length);
    const double mean = (x[start + length] - x[start]) / static_cast<double>(length);
    for (Index k = 0; k < length; ++k) {
      segment[static_cast<size_t>(k)] = window[k] * (x[start + k + 1] - x[start + k] - mean);
    }
    fourierTransform(segment);
    for (Index k = 1; k < density.size(); ++k) {
      density[k] += std::norm(segment[static_cast<size_t>(k)]);
    }
  }
  density *= 2.0 / (rate * window.squaredNorm() * static_cast<double>(count));
  for (Index k = 1; k < density.size(); ++k) {
    const double gain =
        2.0 * std::sin(std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
    density[k] /= gain * gain;
  }
  return density;
}

double medianBand(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Band> bandsOf(const Eigen::VectorXd& x, double rate) {
  const Index length = std::max(
      kFewestSamples / 2,
      std::min({(x.size() - 1) / 2, kMostInSegment, static_cast<Index>(kLongestSegment * rate)}));
  const Eigen::VectorXd density = positionDensity(x, rate, length);
  const double df = rate / static_cast<double>(length);
  std::vector<Band> bands;
  for (Index k = 1; k < density.size();) {
    const Index wide = static_cast<Index>(std::ceil(static_cast<double>(k) * kBandRatio));
    const Index end = std::min(density.size(), std::max(k + 1, wide));
    bands.push_back({0.5 * static_cast<double>(k + end - 1) * df, static_cast<double>(end - k) * df,
                     density.segment(k, end - k).mean()});
    k = end;
  }
  return bands;
}

/// Upper end of the band that holds `share` of the sum of energy(band).
template <typename Energy>
double bandHolding(const std::vector<Band>& bands, double share, const Energy& energy) {
  double total = 0.0, sum = 0.0;
  for (const Band& band : bands) total += energy(band);
  for (const Band& band : bands) {
    sum += energy(band);
    if (total > 0.0 && sum >= share * total) return band.f + 0.5 * band.df;
  }
  return 0.0;
}

double highestUseful(double bandwidth) { return std::max(kHighest * bandwidth, kRigid); }

/// N: the median above the motion, or of the upper half of the spectrum where that is above it.
double noiseDensity(const std::vector<Band>& bands, double rate, double bandwidth) {
  const double from = std::min(highestUseful(bandwidth), 0.25 * rate);
  const double to = std::min(kNoiseRange * from, 0.5 * rate);
  std::vector<double> densities;
  for (const Band& band : bands) {
    if (band.f >= from && band.f <= to) densities.push_back(band.density);
  }
  return densities.empty() ? 0.0 : medianBand(densities);
}

/// What rises above the noise.
double signalDensity(const Band& band, double noise, double limit) {
  return band.f <= limit && band.density > kAboveFloor * noise ? band.density - noise : 0.0;
}

/// B, and N that goes with it.
double bandwidthOf(const std::vector<Band>& bands, double rate, double& noise) {
  const double start =
      bandHolding(bands, kPositionEnergy, [](const Band& band) { return band.density * band.df; });
  noise = noiseDensity(bands, rate, start);
  const double B = bandHolding(bands, kSpeedEnergy, [&](const Band& band) {
    return band.f * band.f * signalDensity(band, noise, highestUseful(start)) * band.df;
  });
  if (B > 0.0) noise = noiseDensity(bands, rate, B);
  return B;
}

/// E(f_c) above.
double expectedError(const std::vector<Band>& bands, double rate, double noise, double limit,
                     double cutoff, int order) {
  double error = 0.0;
  for (const Band& band : bands) {
    const double ratio = std::tan(std::numbers::pi * std::min(band.f / rate, 0.4999)) /
                         std::tan(std::numbers::pi * cutoff / rate);
    const double G = 1.0 / (1.0 + std::pow(ratio, 2.0 * order));
    const double signal = signalDensity(band, noise, limit);
    error += std::pow(band.f, 4.0) * band.df * ((1.0 - G) * (1.0 - G) * signal + G * G * noise);
  }
  return error;
}

CutoffChoice chooseOne(const Eigen::VectorXd& x, double rate, int order) {
  CutoffChoice choice;
  const std::vector<Band> bands = bandsOf(x, rate);
  double noise_density = 0.0;
  const double B = bandwidthOf(bands, rate, noise_density);
  choice.noise = std::sqrt(0.5 * noise_density * rate);
  const double excursion = 0.5 * (x.maxCoeff() - x.minCoeff());
  // a range of six deviations is what noise alone reaches
  if (!(B > 0.0) || excursion < kMovement * choice.noise ||
      excursion < 1e-9 * x.cwiseAbs().maxCoeff()) {
    choice.reason = "the joint does not move";
    return choice;
  }
  choice.moves = true;
  choice.bandwidth_hz = B;
  const double top = kOfRate * rate, low = std::min(kLowest * B, top),
               high = std::min(highestUseful(B), top);
  constexpr int kSteps = 60;
  double least = 0.0;
  for (int i = 0; i <= kSteps; ++i) {
    const double cutoff = low * std::pow(high / low, static_cast<double>(i) / kSteps);
    const double error = expectedError(bands, rate, noise_density, highestUseful(B), cutoff, order);
    if (i > 0 && !(error < least)) continue;
    least = error;
    choice.cutoff_hz = cutoff;
  }
  std::string limit;
  if (choice.cutoff_hz > 0.999 * top) {
    limit = "as high as the rate allows";
  } else if (choice.cutoff_hz > 0.999 * high) {
    limit = kHighest * B >= kRigid ? fmt::format("{:g} times that", kHighest)
                                   : "as far as rigid motion reaches";
  } else if (choice.cutoff_hz < kUsual * B) {
    limit = fmt::format("only {:.1f} times that, because noise would spoil the acceleration beyond",
                        choice.cutoff_hz / B);
  } else {
    limit = fmt::format("{:.1f} times that, where the acceleration is expected to be wrong least",
                        choice.cutoff_hz / B);
  }
  choice.reason =
      fmt::format("99 % of the speed's energy above the noise ({:.2g}) is below {:.3g} Hz; {}",
                  choice.noise, B, limit);
  return choice;
}

}  // namespace

std::vector<CutoffChoice> chooseCutoffs(const SignalColumns& positions, double rate_hz, int order) {
  if (!(rate_hz > 0.0) || !std::isfinite(rate_hz) || order < 1) {
    throw Error(fmt::format("choice of a cut-off: rate {} Hz, order {}; expected positive numbers",
                            rate_hz, order));
  }
  if (positions.rows() < kFewestSamples) {
    throw Error(fmt::format(
        "choice of a cut-off: {} samples are too few to see a spectrum, expected at least {}; give "
        "the cut-off",
        positions.rows(), kFewestSamples));
  }
  requireFinite(positions, "choice of a cut-off");
  std::vector<CutoffChoice> choices;
  double lowest = 0.0;
  for (Index c = 0; c < positions.cols(); ++c) {
    choices.push_back(chooseOne(positions.col(c), rate_hz, order));
    const double cutoff = choices.back().cutoff_hz;
    if (choices.back().moves && (lowest == 0.0 || cutoff < lowest)) lowest = cutoff;
  }
  for (CutoffChoice& choice : choices) {
    if (choice.moves) continue;
    choice.cutoff_hz = lowest > 0.0 ? lowest : std::min(kRestingCutoff, kOfRate * rate_hz);
    choice.reason += lowest > 0.0 ? "; the lowest cut-off of the others" : "; a default";
  }
  return choices;
}

}  // namespace proprio
