#include "proprio/numerics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "proprio/core/error.h"

namespace proprio {
namespace {

/// Claim: quantiles and tails are SciPy's (1.17.1: norm, t, chi2, f with ppf and sf) to 1e-12.
TEST(Distributions, AgreeWithScipy) {
  const auto expectNear = [](double value, double reference) {
    EXPECT_NEAR(value, reference, 1e-12 * std::abs(reference));
  };
  expectNear(normalQuantile(0.975), 1.959963984540054);
  expectNear(normalQuantile(1e-12), -7.034483825301131);
  expectNear(normalTail(3.0), 0.0013498980316300933);
  expectNear(normalTail(-1.0), 0.8413447460685429);
  expectNear(studentQuantile(0.975, 7.0), 2.364624251592784);
  expectNear(studentQuantile(0.995, 1.5), 17.820310514462804);
  expectNear(studentTail(2.5, 7.0), 0.020496109292876444);
  expectNear(studentTail(10.0, 300.0), 8.279313675556287e-21);
  expectNear(chiSquareQuantile(0.95, 20.0), 31.410432844230918);
  expectNear(chiSquareQuantile(0.01, 3.0), 0.11483180189911707);
  expectNear(chiSquareTail(31.4, 20.0), 0.0501264153534208);
  expectNear(chiSquareTail(200.0, 60.0), 5.893259698661661e-17);
  expectNear(fisherQuantile(0.95, 4.0, 120.0), 2.447236511469298);
  expectNear(fisherTail(2.7, 4.0, 120.0), 0.033824261437060556);
  expectNear(fisherQuantile(0.99, 1.0, 1e6), 6.634921929465655);
  expectNear(fisherTail(1.3, 50.0, 3000.0), 0.07755139688603413);
}

/// Claim: the tail at a quantile is what the quantile left over, and infinite degrees of freedom
/// are the limits.
TEST(Distributions, TailsInvertQuantiles) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double p : {1e-9, 0.01, 0.3, 0.5, 0.9, 0.999}) {
    EXPECT_NEAR(normalTail(normalQuantile(p)), 1.0 - p, 1e-12);
    EXPECT_NEAR(studentTail(studentQuantile(p, 4.5), 4.5), 1.0 - p, 1e-10);
    EXPECT_NEAR(chiSquareTail(chiSquareQuantile(p, 11.0), 11.0), 1.0 - p, 1e-10);
    EXPECT_NEAR(fisherTail(fisherQuantile(p, 3.0, 17.0), 3.0, 17.0), 1.0 - p, 1e-10);
    EXPECT_EQ(studentQuantile(p, infinity), normalQuantile(p));
    EXPECT_EQ(fisherQuantile(p, 3.0, infinity), chiSquareQuantile(p, 3.0) / 3.0);
  }
  EXPECT_EQ(chiSquareTail(infinity, 2.0), 0.0);
  EXPECT_EQ(chiSquareTail(-1.0, 2.0), 1.0);
}

/// Claim: what is no probability or no number of degrees of freedom is refused in words.
TEST(Distributions, RefuseWhatIsNoProbability) {
  EXPECT_THROW(normalQuantile(1.0), Error);
  EXPECT_THROW(normalQuantile(std::nan("")), Error);
  EXPECT_THROW(normalTail(std::nan("")), Error);
  EXPECT_THROW(chiSquareQuantile(0.5, 0.0), Error);
  EXPECT_THROW(fisherTail(1.0, 3.0, -1.0), Error);
}

}  // namespace
}  // namespace proprio
