#include "proprio/model/dh_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/model/testing/naive_kinematics.h"

namespace proprio {
namespace {

constexpr double kDhRounding = 1e-14;

// The 4x4 matrix of a row, written out element by element as in the textbooks (Khalil & Dombre;
// Spong).
Eigen::Matrix4d textbook(DhConvention convention, double alpha, double a, double d, double theta) {
  const double ca = std::cos(alpha), sa = std::sin(alpha), ct = std::cos(theta),
               st = std::sin(theta);
  Eigen::Matrix4d T;
  if (convention == DhConvention::kModified) {
    T << ct, -st, 0, a, ca * st, ca * ct, -sa, -d * sa, sa * st, sa * ct, ca, d * ca, 0, 0, 0, 1;
  } else {
    T << ct, -st * ca, st * sa, a * ct, st, ct * ca, -ct * sa, a * st, 0, sa, ca, d, 0, 0, 0, 1;
  }
  return T;
}

// Rows of both conventions and both joint types equal the textbook matrices.
TEST(DhTable, RowsEqualTextbookMatrices) {
  const double alpha = 0.3, a = 0.4, d = -0.2, theta = 1.1, q = 0.7;
  for (DhConvention convention : {DhConvention::kModified, DhConvention::kClassic}) {
    const DhRow turning{"j", "l", JointType::kRevolute, alpha, a, d, theta};
    const DhRow sliding{"j", "l", JointType::kPrismatic, alpha, a, d, theta};
    EXPECT_NEAR(
        (dhPose(convention, turning, q).matrix() - textbook(convention, alpha, a, d, theta + q))
            .norm(),
        0.0, kDhRounding);
    EXPECT_NEAR(
        (dhPose(convention, sliding, q).matrix() - textbook(convention, alpha, a, d + q, theta))
            .norm(),
        0.0, kDhRounding);
  }
}

// The model made from a table has the kinematics of the product of its rows, also from the tip back
// to the base.
TEST(DhTable, ChainsEqualProductsOfRows) {
  const Pose X_B0 = Pose::fromXyzRpy({0.1, 0.2, 0.3}, {0.4, -0.5, 0.6});
  const std::vector<DhRow> rows = {{"j1", "l1", JointType::kRevolute, 0.1, 0.2, 0.3, 0.4},
                                   {"j2", "l2", JointType::kPrismatic, M_PI / 2, 0.0, 0.5, -1.0},
                                   {"j3", "l3", JointType::kContinuous, -M_PI / 2, 0.3, 0.0, 2.0}};
  const Eigen::Vector3d q(0.3, -0.2, 2.5);
  for (DhConvention convention : {DhConvention::kModified, DhConvention::kClassic}) {
    const Model model = finalize(dhChain(convention, rows, "base_link", X_B0));
    ASSERT_EQ(model.velocity_count, 3);
    Pose expected = X_B0;
    for (int i = 0; i < 3; ++i)
      expected = expected * dhPose(convention, rows[static_cast<size_t>(i)], q[i]);
    const std::vector<Pose> X = naiveLinkPoses(model, 0, {}, q);
    EXPECT_NEAR((X[3].matrix() - expected.matrix()).norm(), 0.0, kDhRounding);
    EXPECT_NEAR(((X[3] * X[3].inverse()).matrix() - Eigen::Matrix4d::Identity()).norm(), 0.0,
                kDhRounding);
  }
}

// A planar 2R arm in either convention reaches the closed-form tip l1 (c1, s1) + l2 (c12, s12).
TEST(DhTable, PlanarArmHasItsClosedForm) {
  const double l1 = 0.4, l2 = 0.3, q1 = 0.7, q2 = -1.2;
  const Vector3d tip(l1 * std::cos(q1) + l2 * std::cos(q1 + q2),
                     l1 * std::sin(q1) + l2 * std::sin(q1 + q2), 0.0);
  const auto at = [&](DhConvention convention, double a1, double a2, const Vector3d& p_tip) {
    const Model model = finalize(dhChain(convention,
                                         {{"j1", "l1", JointType::kRevolute, 0.0, a1, 0.0, 0.0},
                                          {"j2", "l2", JointType::kRevolute, 0.0, a2, 0.0, 0.0}},
                                         "base", {}));
    return Vector3d(naiveLinkPoses(model, 0, {}, Eigen::Vector2d(q1, q2))[2] * p_tip);
  };
  EXPECT_NEAR((at(DhConvention::kModified, 0.0, l1, {l2, 0, 0}) - tip).norm(), 0.0, kDhRounding);
  EXPECT_NEAR((at(DhConvention::kClassic, l1, l2, {0, 0, 0}) - tip).norm(), 0.0, kDhRounding);
}

}  // namespace
}  // namespace proprio
