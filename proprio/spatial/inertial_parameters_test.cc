#include "proprio/spatial/inertial_parameters.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace proprio {
namespace {

// A handful of operations on numbers of order one to ten.
constexpr double kParameterRound = 1e-13;

struct PointMass {
  double mass;
  Vector3d position;
};

// The defining sums over point masses: m, m r, -m r^ r^.
Vector10d bruteForce(const std::vector<PointMass>& points, const Pose& X_AB) {
  InertialParameters sum;
  for (const PointMass& point : points) {
    const Vector3d r = X_AB * point.position;
    sum.mass += point.mass;
    sum.first_moment += point.mass * r;
    sum.inertia -= point.mass * skew(r) * skew(r);
  }
  return sum.vector();
}

std::vector<PointMass> randomParameters(std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<PointMass> points;
  for (int k = 0; k < 6; ++k) {
    points.push_back({uniform(rng), Vector3d(uniform(rng), uniform(rng), uniform(rng))});
  }
  return points;
}

// The vector order is [m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz].
TEST(InertialParameters, VectorOrder) {
  Vector10d v;
  v << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
  const auto body = InertialParameters::fromVector(v);
  EXPECT_EQ(body.mass, 1);
  EXPECT_EQ(body.first_moment, Vector3d(2, 3, 4));
  EXPECT_EQ(body.inertia(0, 2), 7);
  EXPECT_EQ(body.inertia(1, 1), 8);
  EXPECT_EQ(body.inertia, body.inertia.transpose());
  EXPECT_EQ(body.vector(), v);
}

// Inertia about the centre of mass and about the origin differ by Huygens-Steiner.
TEST(InertialParameters, ComRoundTrip) {
  const Matrix3d I_C = Vector3d(0.3, 0.4, 0.5).asDiagonal();
  const Vector3d c(0.1, -0.2, 0.7);
  const auto body = InertialParameters::fromCom(2.0, c, I_C);
  EXPECT_LT((body.inertia - (I_C - 2.0 * skew(c) * skew(c))).norm(), kParameterRound);
  EXPECT_LT((body.com() - c).norm(), kParameterRound);
  EXPECT_LT((body.inertiaAtCom() - I_C).norm(), kParameterRound);
}

// A massless body has its centre of mass at the origin by convention, and no division by zero.
TEST(InertialParameters, ZeroMass) {
  const InertialParameters body;
  EXPECT_EQ(body.com(), Vector3d::Zero());
  EXPECT_EQ(body.inertiaAtCom(), Matrix3d::Zero());
}

// Moving a body to another frame equals summing its points in that frame, and is linear.
TEST(InertialParameters, TransformAgreesWithPointMasses) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const auto points = randomParameters(rng);
    const Pose X_AB{rotationExp(Vector3d::Random() * 3.0), Vector3d::Random()};
    const auto body = InertialParameters::fromVector(bruteForce(points, Pose::identity()));
    const Vector10d expected = bruteForce(points, X_AB);
    EXPECT_LT((transformed(X_AB, body).vector() - expected).norm(), kParameterRound);
    EXPECT_LT((parameterTransform(X_AB) * body.vector() - expected).norm(), kParameterRound);
  }
}

// The 6x6 matrix transforms with the force adjoint, so kinetic energy is the same in all frames.
TEST(InertialParameters, MatrixTransformsByAdjoint) {
  std::mt19937 rng(2);
  const auto body =
      InertialParameters::fromVector(bruteForce(randomParameters(rng), Pose::identity()));
  const Pose X_AB{rotationExp({0.4, 1.0, -2.0}), {0.3, -0.5, 0.9}};
  const Matrix6d expected = forceAdjoint(X_AB) * body.matrix() * velocityAdjoint(X_AB.inverse());
  EXPECT_LT((transformed(X_AB, body).matrix() - expected).norm(), kParameterRound);
}

// The operator [u] turns the product I u into one linear in the entries of I.
TEST(InertialParameters, InertiaOperator) {
  std::mt19937 rng(4);
  const auto body =
      InertialParameters::fromVector(bruteForce(randomParameters(rng), Pose::identity()));
  const Vector3d u(0.3, -1.0, 2.0);
  EXPECT_LT((inertiaOperator(u) * body.vector().tail<6>() - body.inertia * u).norm(),
            kParameterRound);
}

// Bodies add and subtract parameter by parameter.
TEST(InertialParameters, SumAndDifference) {
  std::mt19937 rng(3);
  const auto a =
      InertialParameters::fromVector(bruteForce(randomParameters(rng), Pose::identity()));
  const auto b =
      InertialParameters::fromVector(bruteForce(randomParameters(rng), Pose::identity()));
  EXPECT_LT(((a + b).vector() - a.vector() - b.vector()).norm(), kParameterRound);
  EXPECT_LT(((a + b - b).vector() - a.vector()).norm(), kParameterRound);
}

}  // namespace
}  // namespace proprio
