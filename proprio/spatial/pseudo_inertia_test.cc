#include "proprio/spatial/pseudo_inertia.h"

#include <gtest/gtest.h>

#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::randomBody;
using testing::randomPose;

constexpr double kPseudoRound = 1e-13;

// The pseudo-inertia is the second moment of the mass in homogeneous coordinates.
TEST(PseudoInertia, IsTheHomogeneousSecondMoment) {
  std::mt19937 rng(1);
  Eigen::Matrix4d expected = Eigen::Matrix4d::Zero();
  InertialParameters body;
  for (int k = 0; k < 8; ++k) {
    const double m = 0.1 * (k + 1);
    Eigen::Vector4d r;
    r << testing::randomVector(rng), 1.0;
    expected += m * r * r.transpose();
    body = body + InertialParameters::fromCom(m, r.head<3>(), Matrix3d::Zero());
  }
  EXPECT_LT((pseudoInertia(body) - expected).norm(), kPseudoRound * expected.norm());
}

// Parameters to pseudo-inertia and back is the identity, also for impossible bodies.
TEST(PseudoInertia, RoundTrip) {
  for (int k = 0; k < 10; ++k) {
    const Vector10d x = Vector10d::Random();
    const auto D = pseudoInertia(InertialParameters::fromVector(x));
    EXPECT_EQ(D, D.transpose());
    EXPECT_LT((fromPseudoInertia(D).vector() - x).norm(), kPseudoRound);
    EXPECT_EQ(symmetricFromLowerTriangle(lowerTriangle(D)), D);
  }
}

// Both maps are linear with constant Jacobians that are inverse to each other.
TEST(PseudoInertia, Jacobians) {
  const Vector10d x = Vector10d::Random();
  const auto D = pseudoInertia(InertialParameters::fromVector(x));
  EXPECT_LT((pseudoInertiaJacobian() * x - lowerTriangle(D)).norm(), kPseudoRound);
  EXPECT_LT((pseudoInertiaInverseJacobian() * lowerTriangle(D) - x).norm(), kPseudoRound);
  EXPECT_LT(
      (pseudoInertiaJacobian() * pseudoInertiaInverseJacobian() - Matrix10d::Identity()).norm(),
      kPseudoRound);
}

// A change of frame is the congruence H D H^T with the 4x4 pose.
TEST(PseudoInertia, TransformsByCongruence) {
  std::mt19937 rng(2);
  const auto body = randomBody(rng);
  const Pose X_AB = randomPose(rng);
  const Eigen::Matrix4d H = X_AB.matrix();
  const Eigen::Matrix4d expected = H * pseudoInertia(body) * H.transpose();
  EXPECT_LT((pseudoInertia(transformed(X_AB, body)) - expected).norm(), 100 * kPseudoRound);
}

// The central second moment is the Schur complement of the mass.
TEST(PseudoInertia, CentralSecondMomentIsTheSchurComplement) {
  std::mt19937 rng(3);
  const auto body = randomBody(rng);
  const Eigen::Matrix4d D = pseudoInertia(body);
  const Matrix3d schur =
      D.topLeftCorner<3, 3>() - D.topRightCorner<3, 1>() * D.bottomLeftCorner<1, 3>() / D(3, 3);
  EXPECT_LT((centralSecondMoment(body) - schur).norm(), kPseudoRound * D.norm());
  EXPECT_EQ(centralSecondMoment(InertialParameters{}), Matrix3d::Zero());
}

}  // namespace
}  // namespace proprio
