#include "proprio/identification/body_program.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "proprio/core/error.h"
#include "proprio/numerics/testing/random_matrices.h"
#include "proprio/spatial/physical_consistency.h"

namespace proprio {
namespace {

constexpr RotationUnknowns kBothWays[] = {RotationUnknowns::kQuaternion,
                                          RotationUnknowns::kRotationMatrix};

InertialParameters tiltedBox() {
  const Matrix3d Q =
      (Eigen::AngleAxisd(0.7, Vector3d::UnitX()) * Eigen::AngleAxisd(-0.4, Vector3d::UnitY()))
          .toRotationMatrix();
  const Vector3d L(0.02, 0.05, 0.11);
  const Matrix3d second = Q * L.asDiagonal() * Q.transpose();
  return InertialParameters::fromCom(2.0, Vector3d(0.05, -0.1, 0.2),
                                     second.trace() * Matrix3d::Identity() - second);
}

InertialParameters farStart() {
  return InertialParameters::fromCom(1.0, Vector3d(0.1, 0.0, 0.0),
                                     Vector3d(0.2, 0.3, 0.35).asDiagonal().toDenseMatrix());
}

// Claim: without noise both formulations find the body from a start far away, to the square root of
// what the solver leaves of the optimality conditions (1e-9) times the condition of A.
TEST(BodyProgram, FindsTheBody) {
  std::mt19937 random(3);
  const Eigen::MatrixXd A = testing::normalMatrix(random, 30, 10);
  const Vector10d truth = tiltedBox().vector();
  for (const RotationUnknowns unknowns : kBothWays) {
    const DescentResult fit = fitBodyByProgram(A, A * truth, farStart(), unknowns);
    EXPECT_TRUE(fit.converged);
    EXPECT_LT((fit.x - truth).norm(), 1e-4 * truth.norm());
  }
}

// Claim: with noise so large that the best body lies on the boundary, both formulations find the
// same optimum, up to what the barrier leaves (1e-9 per bound), and possible bodies. The descent on
// the manifold, which is of first order where residuals are large, comes near it and never below.
TEST(BodyProgram, AgreesWithTheManifold) {
  std::mt19937 random(4);
  for (int run = 0; run < 20; ++run) {
    const Eigen::MatrixXd A = testing::normalMatrix(random, 30, 10);
    const Eigen::VectorXd b = A * tiltedBox().vector() + 0.5 * testing::normalMatrix(random, 30, 1);
    const DescentResult manifold = fitBody(A, b, farStart());
    double objective[2];
    for (const RotationUnknowns unknowns : kBothWays) {
      const DescentResult fit = fitBodyByProgram(A, b, farStart(), unknowns);
      EXPECT_TRUE(fit.converged) << run;
      const ConsistencyMargins margins =
          consistencyMargins(InertialParameters::fromVector(fit.x.head<10>()));
      EXPECT_GT(margins.mass, 0.0) << run;
      EXPECT_GT(margins.triangle, -1e-6) << run;
      objective[unknowns == RotationUnknowns::kQuaternion ? 0 : 1] = fit.objective;
    }
    EXPECT_NEAR(objective[0], objective[1], 1e-8 * objective[0]) << run;
    EXPECT_GT(manifold.objective, (1.0 - 1e-8) * objective[0]) << run;
    EXPECT_LT(manifold.objective, (1.0 + 1e-4) * objective[0]) << run;
  }
}

// Claim: wrong sizes are refused.
TEST(BodyProgram, RefusesWrongSizes) {
  EXPECT_THROW(fitBodyByProgram(Eigen::MatrixXd::Zero(5, 9), Eigen::VectorXd::Zero(5), farStart(),
                                RotationUnknowns::kQuaternion),
               Error);
  EXPECT_THROW(fitBodyByProgram(Eigen::MatrixXd::Zero(5, 10), Eigen::VectorXd::Zero(4), farStart(),
                                RotationUnknowns::kQuaternion),
               Error);
}

}  // namespace
}  // namespace proprio
