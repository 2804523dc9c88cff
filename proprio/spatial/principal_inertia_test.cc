#include "proprio/spatial/principal_inertia.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/spatial/solids.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::randomBody;

constexpr double kPrincipalRound = 1e-12;
constexpr double kPrincipalDifference = 1e-8;

// Body to principal form and back is the identity, and the axes form a rotation.
TEST(PrincipalInertia, RoundTrip) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const auto body = randomBody(rng);
    const auto principal = principalInertia(body);
    EXPECT_LT((fromPrincipal(principal).vector() - body.vector()).norm(), kPrincipalRound);
    const Matrix3d& Q = principal.rotation;
    EXPECT_LT((Q.transpose() * Q - Matrix3d::Identity()).norm(), kPrincipalRound);
    EXPECT_NEAR(Q.determinant(), 1.0, kPrincipalRound);
    const auto again = principalInertia(fromPrincipal(principal));
    EXPECT_LT((again.rotation - Q).norm(), 1e-9);
    EXPECT_LT((again.second_moments - principal.second_moments).norm(), kPrincipalRound);
  }
}

// Principal inertias are sums of two second moments: J = (L2 + L3, L1 + L3, L1 + L2).
TEST(PrincipalInertia, MomentsOfADiagonalBody) {
  const auto body =
      fromPrincipal({2.0, Vector3d::Zero(), Matrix3d::Identity(), Vector3d(0.1, 0.2, 0.4)});
  EXPECT_LT((body.inertia.diagonal() - Vector3d(0.6, 0.5, 0.3)).norm(), kPrincipalRound);
  EXPECT_LT((principalInertia(body).second_moments - Vector3d(0.1, 0.2, 0.4)).norm(),
            kPrincipalRound);
}

// An impossible body shows as a negative second moment and still makes the round trip.
TEST(PrincipalInertia, ImpossibleBody) {
  const Matrix3d I_C = Vector3d(0.1, 0.1, 0.3).asDiagonal();
  const auto body = InertialParameters::fromCom(1.0, {0.1, 0.2, 0.3}, I_C);
  const auto principal = principalInertia(body);
  EXPECT_NEAR(principal.second_moments[0], -0.05, kPrincipalRound);
  EXPECT_LT((fromPrincipal(principal).vector() - body.vector()).norm(), kPrincipalRound);
  EXPECT_THROW(equivalentBoxSize(principal), Error);
}

// The chart's Jacobian agrees with finite differences, at turned axes and with a far centre.
TEST(PrincipalInertia, Jacobian) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 10; ++trial) {
    const auto principal = principalInertia(randomBody(rng));
    const Matrix10d J = principalJacobian(principal);
    const auto numeric = testing::jacobian(
        [&](const Eigen::VectorXd& z) { return fromPrincipal(moved(principal, z)).vector(); },
        Vector10d::Zero());
    EXPECT_LT((J - numeric).norm(), kPrincipalDifference);
    const auto inverse = principalInverseJacobian(principal);
    ASSERT_TRUE(inverse.has_value());
    EXPECT_LT((J * *inverse - Matrix10d::Identity()).norm(), 1e-9);
  }
}

// Where two second moments are equal, or without mass, the inverse Jacobian does not exist.
TEST(PrincipalInertia, InverseJacobianDoesNotExist) {
  EXPECT_FALSE(principalInverseJacobian(principalInertia(sphereInertia(1.0, 0.2))).has_value());
  EXPECT_FALSE(principalInverseJacobian(principalInertia(cylinderInertia(1.0, 0.2, 1.0))));
  EXPECT_FALSE(principalInverseJacobian(PrincipalInertia{}).has_value());
  const PrincipalInertia massless{0.0, Vector3d::Zero(), Matrix3d::Identity(), {0.1, 0.2, 0.3}};
  EXPECT_FALSE(principalInverseJacobian(massless).has_value());
}

// The equivalent cuboid, placed at the centre with the principal axes, has the body's parameters.
TEST(PrincipalInertia, EquivalentBoxRealisesTheBody) {
  std::mt19937 rng(3);
  const auto body = randomBody(rng);
  const auto principal = principalInertia(body);
  const auto box = boxInertia(principal.mass, equivalentBoxSize(principal));
  const auto placed = transformed(Pose{principal.rotation, principal.com}, box);
  EXPECT_LT((placed.vector() - body.vector()).norm(), kPrincipalRound);
  const Vector3d size(0.1, 0.2, 0.5);
  EXPECT_LT((equivalentBoxSize(principalInertia(boxInertia(3.0, size))) - size).norm(),
            kPrincipalRound);
}

// Parameters that are not numbers are refused; a massless body sits at the origin.
TEST(PrincipalInertia, Edges) {
  InertialParameters nan;
  nan.inertia(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(principalInertia(nan), Error);
  const auto massless = principalInertia(InertialParameters{});
  EXPECT_EQ(massless.com, Vector3d::Zero());
  EXPECT_EQ(massless.second_moments, Vector3d::Zero());
  EXPECT_THROW(equivalentBoxSize(massless), Error);
}

}  // namespace
}  // namespace proprio
