// The evolution strategy on functions whose minimum is known.

#include "proprio/numerics/cma_es.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// An ellipsoid with axes 1 to 1000 and a curved valley are minimised to rounding of their values.
TEST(CmaEs, FindsKnownMinima) {
  CmaOptions options;
  options.generations = 2000;
  options.target = 1e-10;
  const auto ellipsoid = [](const Eigen::VectorXd& x) {
    double sum = 0.0;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      sum +=
          std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * x[i] * x[i];
    }
    return sum;
  };
  const CmaResult a = minimiseByCma(ellipsoid, Eigen::VectorXd::Constant(8, 2.0), 1.0, options);
  EXPECT_LE(a.value, 1e-10);
  const auto rosenbrock = [](const Eigen::VectorXd& x) {
    double sum = 0.0;
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      sum += 100.0 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1.0 - x[i], 2);
    }
    return sum;
  };
  const CmaResult b = minimiseByCma(rosenbrock, Eigen::VectorXd::Zero(6), 0.5, options);
  EXPECT_LE(b.value, 1e-10);
  EXPECT_LT((b.x - Eigen::VectorXd::Ones(6)).norm(), 1e-3);
}

// A function that is infinite in most places (also at the start) is no obstacle, a seed fixes the
// result, and the caller may stop the search.
TEST(CmaEs, InfinitiesSeedsAndStopping) {
  const auto wall = [](const Eigen::VectorXd& x) {
    return x[0] < 1.0 ? std::nan("") : x.squaredNorm();
  };
  CmaOptions options;
  options.generations = 300;
  const CmaResult a = minimiseByCma(wall, Eigen::VectorXd::Zero(4), 1.0, options);
  EXPECT_NEAR(a.value, 1.0, 1e-3);
  const CmaResult b = minimiseByCma(wall, Eigen::VectorXd::Zero(4), 1.0, options);
  EXPECT_EQ(a.x, b.x);
  int generations = 0;
  const CmaResult c = minimiseByCma(wall, Eigen::VectorXd::Zero(4), 1.0, options,
                                    [&] { return ++generations == 5; });
  EXPECT_EQ(c.generations, 5);
  EXPECT_THROW(minimiseByCma(wall, Eigen::VectorXd(), 1.0, options), Error);
}

}  // namespace
}  // namespace proprio
