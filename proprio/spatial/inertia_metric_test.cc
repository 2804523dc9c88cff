#include "proprio/spatial/inertia_metric.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/spd_geometry.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::randomBody;
using testing::randomPose;

constexpr double kMetricRound = 1e-9;

// The metric is tr(D0^-1 V_i D0^-1 V_k): its quadratic form is tr((D0^-1 dD)^2), without a half.
TEST(InertiaMetric, PullbackIsTheMetricOfThePseudoInertia) {
  std::mt19937 rng(1);
  const auto reference = randomBody(rng);
  const Matrix10d G = pullbackMetric(reference);
  const Eigen::Matrix4d D0 = pseudoInertia(reference);
  for (int trial = 0; trial < 10; ++trial) {
    const Vector10d dx = Vector10d::Random();
    const Eigen::Matrix4d dD = pseudoInertia(InertialParameters::fromVector(dx));
    const double expected = spdInnerProduct(D0, dD, dD);
    EXPECT_NEAR(dx.dot(G * dx), expected, kMetricRound * expected);
  }
  EXPECT_GT(symmetricEigen(G).values[0], 0.0);
}

// Close to the reference, distance squared = pull-back form = twice the divergence.
TEST(InertiaMetric, ThreeMeasuresAgreeToSecondOrder) {
  std::mt19937 rng(2);
  const auto reference = randomBody(rng);
  const Vector10d dx = 1e-6 * Vector10d::Random();
  const auto near = InertialParameters::fromVector(reference.vector() + dx);
  const double form = dx.dot(pullbackMetric(reference) * dx);
  EXPECT_NEAR(std::pow(inertiaDistance(near, reference), 2) / form, 1.0, 1e-2);
  EXPECT_NEAR(2.0 * inertiaDivergence(near, reference) / form, 1.0, 1e-2);
}

// All measures are the same in every frame and unit of length.
TEST(InertiaMetric, IndependentOfFrameAndUnit) {
  std::mt19937 rng(3);
  const auto a = randomBody(rng), b = randomBody(rng);
  const Pose X = randomPose(rng);
  const auto a_moved = transformed(X, a), b_moved = transformed(X, b);
  const double d = inertiaDistance(a, b), entropy = inertiaDivergence(a, b);
  EXPECT_NEAR(inertiaDistance(a_moved, b_moved), d, kMetricRound * d);
  EXPECT_NEAR(inertiaDivergence(a_moved, b_moved), entropy, kMetricRound * entropy);
  const Vector10d dx = a.vector() - b.vector(), dx_moved = a_moved.vector() - b_moved.vector();
  const double form = dx.dot(pullbackMetric(b) * dx);
  EXPECT_NEAR(dx_moved.dot(pullbackMetric(b_moved) * dx_moved), form, kMetricRound * form);
  // millimetres: first moments times 1e3, inertias times 1e6
  Vector10d unit;
  unit << 1.0, Vector3d::Constant(1e3), Vector6d::Constant(1e6);
  const auto inMillimetres = [&](const InertialParameters& body) {
    return InertialParameters::fromVector(body.vector().cwiseProduct(unit));
  };
  EXPECT_NEAR(inertiaDistance(inMillimetres(a), inMillimetres(b)), d, 1e2 * kMetricRound * d);
}

// The gradient of the divergence agrees with differences, and its Hessian is the metric at the
// body.
TEST(InertiaMetric, DivergenceDerivatives) {
  std::mt19937 rng(4);
  const auto body = randomBody(rng), reference = randomBody(rng);
  const auto value = [&](const Eigen::VectorXd& x) {
    return Eigen::VectorXd::Constant(
        1, inertiaDivergence(InertialParameters::fromVector(x), reference));
  };
  const auto gradient = [&](const Eigen::VectorXd& x) {
    return Eigen::VectorXd(inertiaDivergenceGradient(InertialParameters::fromVector(x), reference));
  };
  // the step must stay inside the cone of possible bodies
  const double step = 1e-4;
  const Vector10d g = inertiaDivergenceGradient(body, reference);
  EXPECT_LT((testing::jacobian(value, body.vector(), step).transpose() - g).norm(),
            1e-6 * g.norm());
  const Matrix10d G = pullbackMetric(body);
  EXPECT_LT((testing::jacobian(gradient, body.vector(), step) - G).norm(), 1e-6 * G.norm());
  EXPECT_LT(inertiaDivergenceGradient(reference, reference).norm(), kMetricRound);
}

// The distance of two robots is the root of the sum of squares over their links.
TEST(InertiaMetric, RobotDistance) {
  std::mt19937 rng(5);
  const std::array a = {randomBody(rng), randomBody(rng)}, b = {randomBody(rng), randomBody(rng)};
  EXPECT_NEAR(inertiaDistance(a, b),
              std::hypot(inertiaDistance(a[0], b[0]), inertiaDistance(a[1], b[1])), kMetricRound);
  EXPECT_EQ(inertiaDistance(a, a), 0.0);
  const std::array shorter = {randomBody(rng)};
  EXPECT_THROW(inertiaDistance(a, shorter), Error);
}

// Impossible references are refused.
TEST(InertiaMetric, ImpossibleBodiesAreRefused) {
  std::mt19937 rng(6);
  const auto body = randomBody(rng);
  EXPECT_THROW(pullbackMetric(InertialParameters{}), Error);
  EXPECT_THROW(inertiaDistance(body, InertialParameters{}), Error);
  EXPECT_THROW(inertiaDivergence(body, InertialParameters{}), Error);
  EXPECT_THROW(inertiaDivergenceGradient(InertialParameters{}, body), Error);
}

}  // namespace
}  // namespace proprio
