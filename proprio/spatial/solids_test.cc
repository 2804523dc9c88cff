#include "proprio/spatial/solids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

constexpr double kSolidRound = 1e-13;

// The inertia of the points of a cube [-1, 1]^3 * half that lie inside, scaled to the mass.
InertialParameters monteCarlo(double mass, const Vector3d& half,
                              const std::function<bool(const Vector3d&)>& inside) {
  constexpr int kPoints = 200000;
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Eigen::Matrix3Xd points(3, kPoints);
  Eigen::Index count = 0;
  while (count < kPoints) {
    const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
    const Vector3d p = half.cwiseProduct(Vector3d(x, y, z));
    if (inside(p)) points.col(count++) = p;
  }
  return pointCloudInertia(Eigen::VectorXd::Constant(kPoints, mass / kPoints), points);
}

// The closed forms agree with uniformly sampled solids to the statistical error, 5/sqrt(N).
TEST(Solids, AgreeWithMonteCarlo) {
  const double m = 2.5, r = 0.3, l = 0.8, tolerance = 5.0 / std::sqrt(200000.0);
  const auto expectEqual = [&](const InertialParameters& solid, const InertialParameters& sample) {
    EXPECT_EQ(solid.first_moment, Vector3d::Zero());
    EXPECT_LT((solid.inertia - sample.inertia).norm(), tolerance * solid.inertia.norm());
    EXPECT_NEAR(solid.mass, sample.mass, 1e-9);
    EXPECT_TRUE(consistencyMargins(solid).fullyConsistent());
  };
  const Vector3d size(0.4, 0.7, 1.1);
  expectEqual(boxInertia(m, size), monteCarlo(m, 0.5 * size, [](const Vector3d&) { return true; }));
  expectEqual(ellipsoidInertia(m, size), monteCarlo(m, size, [&](const Vector3d& p) {
                return p.cwiseQuotient(size).norm() < 1.0;
              }));
  expectEqual(sphereInertia(m, r), monteCarlo(m, Vector3d::Constant(r),
                                              [&](const Vector3d& p) { return p.norm() < r; }));
  expectEqual(cylinderInertia(m, r, l), monteCarlo(m, {r, r, l / 2}, [&](const Vector3d& p) {
                return p.head<2>().norm() < r;
              }));
  expectEqual(capsuleInertia(m, r, l), monteCarlo(m, {r, r, l / 2 + r}, [&](const Vector3d& p) {
                const double beyond = std::max(0.0, std::abs(p.z()) - l / 2);
                return std::hypot(p.head<2>().norm(), beyond) < r;
              }));
}

// Textbook values: 2/5 m r^2, m r^2 / 2, m l^2 / 12, and the steel disc of Ardiani 2023 with its
// centre 0.169 m from the frame.
TEST(Solids, TextbookValues) {
  EXPECT_NEAR(sphereInertia(5.0, 2.0).inertia(0, 0), 8.0, kSolidRound);
  EXPECT_NEAR(cylinderInertia(2.0, 3.0, 1.0).inertia(2, 2), 9.0, kSolidRound);
  EXPECT_NEAR(cylinderInertia(12.0, 0.0, 2.0).inertia(0, 0), 4.0, kSolidRound);
  const auto disc = transformed(Pose{Matrix3d::Identity(), {0.0, 0.0, 0.152 + 0.017}},
                                cylinderInertia(4.092, 0.07, 0.034));
  EXPECT_NEAR(disc.first_moment.z(), 0.6915, 1e-4);
  EXPECT_NEAR(disc.inertia(0, 0), 0.1223, 1e-4);
  EXPECT_NEAR(disc.inertia(2, 2), 0.0100, 1e-4);
}

// A capsule without length is a sphere, without radius a rod, without both a point.
TEST(Solids, CapsuleLimits) {
  EXPECT_LT((capsuleInertia(2.0, 0.3, 0.0).vector() - sphereInertia(2.0, 0.3).vector()).norm(),
            kSolidRound);
  EXPECT_LT((capsuleInertia(2.0, 0.0, 0.5).vector() - boxInertia(2.0, {0, 0, 0.5}).vector()).norm(),
            kSolidRound);
  EXPECT_EQ(capsuleInertia(2.0, 0.0, 0.0).vector(), Vector10d(2.0 * Vector10d::Unit(0)));
}

// Two half boxes side by side are the whole box.
TEST(Solids, PartsAddUp) {
  const auto half = boxInertia(1.5, {0.2, 0.3, 0.4});
  const auto left = transformed(Pose{Matrix3d::Identity(), {-0.1, 0.0, 0.0}}, half);
  const auto right = transformed(Pose{Matrix3d::Identity(), {0.1, 0.0, 0.0}}, half);
  EXPECT_LT(((left + right).vector() - boxInertia(3.0, {0.4, 0.3, 0.4}).vector()).norm(),
            kSolidRound);
}

// A point cloud is the sum of its points; an empty one is nothing.
TEST(Solids, PointCloud) {
  const Eigen::Matrix3Xd points = Eigen::Matrix3Xd::Random(3, 20);
  const Eigen::VectorXd masses = Eigen::VectorXd::Random(20).cwiseAbs();
  InertialParameters sum;
  for (Eigen::Index k = 0; k < 20; ++k) {
    sum = sum + InertialParameters::fromCom(masses[k], points.col(k), Matrix3d::Zero());
  }
  EXPECT_LT((pointCloudInertia(masses, points).vector() - sum.vector()).norm(), 1e2 * kSolidRound);
  EXPECT_EQ(pointCloudInertia(Eigen::VectorXd(0), Eigen::Matrix3Xd(3, 0)).vector(),
            Vector10d::Zero());
}

// Negative, infinite and missing numbers are refused with a sentence.
TEST(Solids, BadInputIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(boxInertia(-1.0, Vector3d::Ones()), Error);
  EXPECT_THROW(boxInertia(1.0, {1.0, -1.0, 1.0}), Error);
  EXPECT_THROW(sphereInertia(nan, 1.0), Error);
  EXPECT_THROW(cylinderInertia(1.0, nan, 1.0), Error);
  EXPECT_THROW(capsuleInertia(1.0, 1.0, std::numeric_limits<double>::infinity()), Error);
  EXPECT_THROW(pointCloudInertia(Eigen::VectorXd::Ones(2), Eigen::Matrix3Xd::Ones(3, 3)), Error);
  EXPECT_THROW(pointCloudInertia(-Eigen::VectorXd::Ones(1), Eigen::Matrix3Xd::Ones(3, 1)), Error);
}

}  // namespace
}  // namespace proprio
