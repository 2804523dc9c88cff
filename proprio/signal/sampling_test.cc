#include "proprio/signal/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/testing/message_of.h"
#include "proprio/signal/testing/reference_signal.h"

namespace proprio {
namespace {

Eigen::VectorXd vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// The numbers of SciPy 1.17.1 for t, y = sin(t) + 0.1 t^2 at tn:
// Akima1DInterpolator(t, y, method='makima')(tn), CubicSpline(t, y)(tn), numpy.interp(tn, t, y),
// CubicSpline(t[:3], y[:3])([0.3, 1.5]).
TEST(Sampling, InterpolationsAreThoseOfSciPy) {
  const Eigen::VectorXd t = vector({0, 0.9, 2.1, 3.0, 4.2, 5.0, 5.8, 7.1, 8.0});
  const Eigen::VectorXd y = t.unaryExpr([](double s) { return std::sin(s) + 0.1 * s * s; });
  const Eigen::VectorXd tn = vector({0, 0.5, 1.0, 2.5, 4.0, 5.5, 7.0, 7.5, 8.0});
  const std::vector<Eigen::Index> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  expectAt(interpolate(t, y, tn, Interpolation::kMakima), rows,
           {0, 0.55337408253409981, 0.91849141800554635, 1.2001635330664908, 0.89476495223437957,
            2.320845618016476, 5.566445017278598, 6.5366438832148708, 7.3893582466233827},
           1e-12);
  expectAt(interpolate(t, y, tn, Interpolation::kCubic), rows,
           {0, 0.52511384659854909, 0.9360815508518362, 1.2247043735843464, 0.84456875810538923,
            2.321821357817516, 5.553976482963523, 6.576383533984262, 7.3893582466233818},
           1e-12);
  expectAt(interpolate(t, y, tn, Interpolation::kLinear), rows,
           {0, 0.48018161645971302, 0.90098378104593269, 1.1872807628315374, 0.91720685766532128,
            2.3900270348677251, 5.5491558693920595, 6.4896975763469902, 7.3893582466233818},
           1e-12);
  expectAt(interpolate(t.head(3), y.head(3), vector({0.3, 1.5}), Interpolation::kCubic), {0, 1},
           {0.33900564291025082, 1.1860614842070243}, 1e-12);
}

// Previous holds the last value, nearest takes the closer one; stamps themselves give their values
// in every interpolation; two samples are joined by a line.
TEST(Sampling, HeldAndNearestValues) {
  const Eigen::VectorXd t = vector({0, 1, 3}), y = vector({10, 20, 40});
  expectAt(interpolate(t, y, vector({0, 0.9, 1, 2.9, 3}), Interpolation::kPrevious),
           {0, 1, 2, 3, 4}, {10, 10, 20, 20, 40}, 0.0);
  expectAt(interpolate(t, y, vector({0, 0.4, 0.6, 1.9, 2.1, 3}), Interpolation::kNearest),
           {0, 1, 2, 3, 4, 5}, {10, 10, 20, 20, 40, 40}, 0.0);
  for (const char* name : {"previous", "nearest", "linear", "makima", "cubic"}) {
    const Interpolation interpolation = interpolationNamed(name);
    EXPECT_STREQ(toString(interpolation), name);
    EXPECT_LT((interpolate(t, y, t, interpolation) - y).norm(), 1e-12);
  }
  expectAt(interpolate(t.head(2), y.head(2), vector({0.5}), Interpolation::kCubic), {0}, {15},
           1e-12);
  EXPECT_NE(messageOf([] { interpolationNamed("spline"); }).find("makima"), std::string::npos);
}

// Jitter, the longest step and its row are found; stamps rounded to microseconds are uniform.
TEST(Sampling, AnalysisFindsJitterAndGaps) {
  Eigen::VectorXd time(1000);
  for (Eigen::Index k = 0; k < 1000; ++k) time[k] = 5.0 + 0.005 * static_cast<double>(k);
  EXPECT_TRUE(analyseSampling(time).uniform);
  EXPECT_NEAR(analyseSampling(time).rate_hz, 200.0, 1e-9);
  const Eigen::VectorXd rounded = (time * 1e6).array().round() * 1e-6 + 1e-7;
  EXPECT_TRUE(analyseSampling(rounded).uniform);
  time.tail(500).array() += 0.02;
  const Sampling sampling = analyseSampling(time);
  EXPECT_FALSE(sampling.uniform);
  EXPECT_NEAR(sampling.largest, 0.025, 1e-9);
  EXPECT_EQ(sampling.largest_at, 499);
  EXPECT_NEAR(sampling.jitter, 4.0, 1e-9);
  EXPECT_NEAR(sampling.step, 0.005, 1e-9);
}

// A jittery sine comes back on a uniform grid within the error of cubic interpolation.
TEST(Sampling, ResamplesJitteryData) {
  Eigen::VectorXd time(500);
  for (Eigen::Index k = 0; k < 500; ++k) {
    time[k] = 1.0 + 0.01 * static_cast<double>(k) + 0.003 * std::sin(7.0 * static_cast<double>(k));
  }
  const Eigen::VectorXd x = time.unaryExpr([](double t) { return std::sin(3.0 * t); });
  ResampleOptions options;
  options.interpolation = Interpolation::kCubic;
  const std::vector<UniformSignals> parts = resample(time, x, options);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(analyseSampling(parts[0].time, 1e-9).uniform);
  EXPECT_EQ(parts[0].time[0], time[0]);
  const Eigen::VectorXd truth = parts[0].time.unaryExpr([](double t) { return std::sin(3.0 * t); });
  // h^4 max|f''''| / 384 inside, more at the ends
  EXPECT_LT((parts[0].values - truth).cwiseAbs().maxCoeff(), 1e-5);
  options.rate_hz = 37.0;
  EXPECT_EQ(resample(time, x, options)[0].time.size(),
            static_cast<Eigen::Index>(std::floor((time[499] - time[0]) * 37.0)) + 1);
}

// A gap is refused with its place and length, or splits the signal; nothing is invented inside.
TEST(Sampling, GapsAreNotBridged) {
  Eigen::VectorXd time(300);
  for (Eigen::Index k = 0; k < 300; ++k) {
    time[k] = 0.01 * static_cast<double>(k) + (k >= 100 ? 1.0 : 0.0) + (k >= 101 ? 1.0 : 0.0);
  }
  const Eigen::VectorXd x = Eigen::VectorXd::Ones(300);
  EXPECT_NE(messageOf([&] { resample(time, x); }).find("gap of 1.01 s at 0.99 s (row 100)"),
            std::string::npos)
      << messageOf([&] { resample(time, x); });
  ResampleOptions options;
  options.gaps = GapPolicy::kSplit;
  const std::vector<UniformSignals> parts = resample(time, x, options);
  ASSERT_EQ(parts.size(), 2u);  // the single sample between the gaps is left out
  EXPECT_NEAR(parts[0].time[parts[0].time.size() - 1], 0.99, 1e-9);
  EXPECT_NEAR(parts[1].time[0], 3.01, 1e-9);
  options.gaps = GapPolicy::kRefuse;
  options.max_gap = 2.0;
  EXPECT_EQ(resample(time, x, options).size(), 1u);
}

// Repeated stamps are merged only if asked; reversed ones, NaN and too few samples are refused.
TEST(Sampling, RefusesBadStamps) {
  Eigen::VectorXd time = vector({0, 1, 1, 2}), x = vector({0, 1, 3, 4});
  EXPECT_NE(messageOf([&] { resample(time, x); }).find("row 3 repeats"), std::string::npos);
  ResampleOptions options;
  options.merge_repeated = true;
  options.interpolation = Interpolation::kLinear;
  expectAt(resample(time, x, options)[0].values, {0, 1, 2}, {0, 2, 4}, 1e-12);
  time[2] = 0.5;
  EXPECT_NE(messageOf([&] { resample(time, x, options); }).find("row 3 does not follow"),
            std::string::npos);
  time[2] = NAN;
  EXPECT_THROW(analyseSampling(time), Error);
  EXPECT_THROW(analyseSampling(vector({1})), Error);
  EXPECT_THROW(analyseSampling(Eigen::VectorXd()), Error);
  EXPECT_THROW(resample(Eigen::VectorXd(), Eigen::MatrixXd(0, 2), options), Error);
  time = vector({0, 1, 2, 3});
  EXPECT_THROW(interpolate(time, x, vector({-1}), Interpolation::kLinear), Error);
  EXPECT_THROW(interpolate(time, x, vector({2, 1}), Interpolation::kLinear), Error);
  EXPECT_THROW(interpolate(time, x.head(3), vector({1}), Interpolation::kLinear), Error);
  x[1] = NAN;
  EXPECT_THROW(interpolate(time, x, vector({1}), Interpolation::kLinear), Error);
  options.rate_hz = 1e12;
  EXPECT_THROW(resample(time, vector({0, 1, 2, 3}), options), Error);
  options.rate_hz = NAN;
  EXPECT_THROW(resample(time, vector({0, 1, 2, 3}), options), Error);
}

}  // namespace
}  // namespace proprio
