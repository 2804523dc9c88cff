#include "proprio/signal/filter_design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/core/testing/message_of.h"

namespace proprio {
namespace {

// Rounding of a few dozen operations.
constexpr double kDesignTolerance = 1e-12;
// Poles near 1: what rounding of a1 and a2 does to the gain, eps / K^2 for the slowest filter here.
constexpr double kSlowTolerance = 1e-9;

// The Butterworth response is 1 / (1 + (tan(pi f) / tan(pi f_c))^(2 n)) in power, for every order.
TEST(FilterDesign, ButterworthHasItsClosedFormResponse) {
  for (int order = 1; order <= kMaxFilterOrder; ++order) {
    for (const double cutoff : {0.02, 0.1, 0.25, 0.45}) {
      const DigitalFilter filter = butterworthLowpass(order, cutoff, 1.0);
      for (const double f : {0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.49}) {
        const double ratio = std::tan(std::numbers::pi * f) / std::tan(std::numbers::pi * cutoff);
        const double expected = 1.0 / (1.0 + std::pow(ratio, 2 * order));
        EXPECT_NEAR(std::norm(frequencyResponse(filter, f, 1.0)), expected, 1e-10)
            << order << " " << cutoff << " " << f;
      }
    }
  }
}

// The Chebyshev response is 1 / (1 + eps^2 T_n(w / w_c)^2) in power, for even and odd orders.
TEST(FilterDesign, ChebyshevHasItsClosedFormResponse) {
  const double ripple_db = 0.05, epsilon2 = std::pow(10.0, ripple_db / 10.0) - 1.0;
  for (const int order : {1, 2, 3, 5, 8, 11}) {
    const double cutoff = 0.1;
    const DigitalFilter filter = chebyshevLowpass(order, ripple_db, cutoff, 1.0);
    for (double f = 0.0; f < 0.5; f += 0.013) {
      const double w = std::tan(std::numbers::pi * f) / std::tan(std::numbers::pi * cutoff);
      const double T = w <= 1.0 ? std::cos(order * std::acos(w)) : std::cosh(order * std::acosh(w));
      EXPECT_NEAR(std::norm(frequencyResponse(filter, f, 1.0)), 1.0 / (1.0 + epsilon2 * T * T),
                  1e-10)
          << order << " " << f;
    }
  }
}

// Poles are those of SciPy 1.17.1: butter(5, 0.2), butter(8, 3.5, fs=5000), cheby1(8, 0.05, 0.2),
// output='sos'; the columns a1, a2 in its order.
TEST(FilterDesign, PolesAreThoseOfSciPy) {
  const auto compare = [](const DigitalFilter& filter,
                          const std::vector<std::pair<double, double>>& expected,
                          double total_gain) {
    ASSERT_EQ(filter.sections.size(), expected.size());
    double gain = 1.0;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(filter.sections[i].a1, expected[i].first, kDesignTolerance);
      EXPECT_NEAR(filter.sections[i].a2, expected[i].second, kDesignTolerance);
      gain *= filter.sections[i].b0;
    }
    EXPECT_NEAR(gain / total_gain, 1.0, kSlowTolerance);
  };
  compare(butterworthLowpass(5, 0.1, 1.0),
          {{-0.50952544949442879, 0.0},
           {-1.0965794655679617, 0.35544676217239052},
           {-1.3693171946832927, 0.69256913538786335}},
          0.0012825810789606851);
  compare(butterworthLowpass(8, 3.5, 5000.0),
          {{-1.9913903848338206, 0.99140964613967042},
           {-1.9926934105456604, 0.99271268445475314},
           {-1.9951055799491204, 0.99512487718941578},
           {-1.9982660448555549, 0.99828537266478423}},
          5.4087063535548415e-22);
  compare(chebyshevLowpass(8, 0.05, 0.1, 1.0),
          {{-1.56114551504306, 0.62088672041225712},
           {-1.5250458329054375, 0.67662019662438588},
           {-1.4921757093741046, 0.77921866552591768},
           {-1.5187459010488156, 0.91854046550316415}},
          4.0359292893478159e-06);
}

// A cut-off far below the rate leaves the gain at zero frequency exact and the poles inside.
TEST(FilterDesign, SlowFiltersPassConstants) {
  for (const double cutoff : {3.5, 0.5, 0.05}) {
    const DigitalFilter filter = butterworthLowpass(8, cutoff, 5000.0);
    EXPECT_NEAR(std::abs(frequencyResponse(filter, 0.0, 5000.0)), 1.0, kDesignTolerance);
    EXPECT_LT(poleRadius(filter), 1.0);
  }
  EXPECT_NEAR(poleRadius(butterworthLowpass(1, 0.1, 1.0)), 0.50952544949442879, kDesignTolerance);
}

std::string refusalOf(int order, double cutoff, double rate) {
  return messageOf([&] { butterworthLowpass(order, cutoff, rate); });
}

// Filters that do not exist are refused, with what was asked for and what is possible.
TEST(FilterDesign, RefusesWhatDoesNotExist) {
  EXPECT_NE(refusalOf(0, 1.0, 10.0).find("order 0"), std::string::npos);
  EXPECT_NE(refusalOf(1000000, 1.0, 10.0).find("order 1000000"), std::string::npos);
  EXPECT_NE(refusalOf(4, 5.0, 10.0).find("half the sampling rate (5 Hz)"), std::string::npos);
  EXPECT_NE(refusalOf(4, 50.0, 10.0).find("not below half"), std::string::npos);
  EXPECT_NE(refusalOf(4, 0.0, 10.0).find("expected a positive number"), std::string::npos);
  EXPECT_NE(refusalOf(4, NAN, 10.0).find("expected a positive number"), std::string::npos);
  EXPECT_NE(refusalOf(4, 1.0, NAN).find("sampling rate"), std::string::npos);
  EXPECT_NE(refusalOf(4, 1e-3, 5000.0).find("decimate first"), std::string::npos);
  EXPECT_THROW(chebyshevLowpass(4, 0.0, 1.0, 10.0), Error);
}

}  // namespace
}  // namespace proprio
