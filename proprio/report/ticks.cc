#include "proprio/report/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace proprio {
namespace {

constexpr double kOnTick = 1e-9;         // of a step: rounding, not a place beyond the axis
constexpr double kSharedDigits = 1e-6;   // step over number below which labels get an offset
constexpr double kLargestPlain = 1e5;    // beyond, labels get a factor
constexpr double kSmallestPlain = 1e-2;  // below, too

std::string withMinus(std::string text) {
  if (!text.empty() && text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::string powerOfTen(int exponent) {
  static const char* const kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

// smallest of 1, 2, 5 times a power of ten with at most `most` multiples in the axis, or the one
// before it if that has none or a single one
double niceStep(double low, double high, int most) {
  const double decade = std::pow(10.0, std::floor(std::log10((high - low) / most)) - 1.0);
  double before = decade;
  for (double power = decade;; power *= 10.0) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = factor * power;
      const double first = std::ceil(low / step - kOnTick);
      const double last = std::floor(high / step + kOnTick);
      if (last - first + 1.0 <= most) return last > first ? step : before;
      before = step;
    }
  }
}

}  // namespace

Ticks linearTicks(double low, double high, int most) {
  Ticks ticks;
  const double step = niceStep(low, high, std::max(most, 2));
  double offset = 0.0, factor = 1.0;
  double largest = std::max(std::abs(low), std::abs(high));
  if (step < kSharedDigits * largest) {
    const double decade = std::pow(10.0, std::ceil(std::log10(high - low)));
    offset = std::round(0.5 * (low + high) / decade) * decade;
    const int digits = std::max(0, static_cast<int>(std::lround(-std::log10(decade))));
    ticks.note = fmt::format("{}{:.{}f}", offset < 0.0 ? "−" : "+", std::abs(offset), digits);
    largest = std::max(std::abs(low - offset), std::abs(high - offset));
  }
  if (largest >= kLargestPlain || largest < kSmallestPlain) {
    const int exponent = 3 * static_cast<int>(std::floor(std::log10(largest) / 3.0 + kOnTick));
    factor = std::pow(10.0, exponent);
    ticks.note = "×" + powerOfTen(exponent) + (ticks.note.empty() ? "" : " ") + ticks.note;
  }
  const int decimals =
      std::max(0, static_cast<int>(-std::floor(std::log10(step / factor) + kOnTick)));
  const double last = std::floor(high / step + kOnTick);
  for (double k = std::ceil(low / step - kOnTick); k <= last; k += 1.0) {
    const double value = std::clamp(k * step, low, high);
    const double shown = (k * step - offset) / factor;
    ticks.values.push_back(value);
    const bool zero = std::abs(shown) < 0.5 * step / factor;  // no "-0.0"
    ticks.labels.push_back(withMinus(fmt::format("{:.{}f}", zero ? 0.0 : shown, decimals)));
  }
  return ticks;
}

Ticks logTicks(double low, double high, int most) {
  Ticks ticks;
  const int first = static_cast<int>(std::ceil(std::log10(low) - kOnTick));
  const int last = static_cast<int>(std::floor(std::log10(high) + kOnTick));
  const int stride = std::max(1, (last - first + std::max(most, 2)) / std::max(most, 2));
  const auto inside = [&](double value) {
    return value >= low * (1.0 - kOnTick) && value <= high * (1.0 + kOnTick);
  };
  if (last - first < 1) {  // less than a decade or two: linear numbers, or 1 2 5
    for (int e = first - 1; e <= last; ++e) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10.0, e);
        if (inside(value)) ticks.values.push_back(std::clamp(value, low, high));
      }
    }
    if (ticks.values.size() < 2) return linearTicks(low, high, most);
    while (static_cast<int>(ticks.values.size()) > std::max(most, 2)) ticks.values.pop_back();
    for (const double value : ticks.values) {
      const bool plain = value < kLargestPlain && value >= 1e-3;
      ticks.labels.push_back(plain ? fmt::format("{:.3g}", value) : fmt::format("{:.0e}", value));
    }
    return ticks;
  }
  const bool plain = first >= -2 && last <= 4;
  for (int e = first; e <= last; e += stride) {
    const double value = std::pow(10.0, e);
    ticks.values.push_back(std::clamp(value, low, high));
    ticks.labels.push_back(plain ? fmt::format("{:.{}f}", value, std::max(0, -e)) : powerOfTen(e));
  }
  for (int e = first - 1; e <= last; ++e) {
    for (int k = 2; k < 10 && stride == 1 && last - first < 6; ++k) {
      const double value = k * std::pow(10.0, e);
      if (inside(value)) ticks.minor.push_back(value);
    }
  }
  return ticks;
}

}  // namespace proprio
