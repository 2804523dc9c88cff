// Derivatives of what acts at the joints against central differences.

#include "proprio/dynamics/joint_effect_derivatives.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/testing/bundled_robots.h"

namespace proprio {
namespace {

// The torque of friction, springs and couplings changes with q, v and a as the matrices say; signs
// are smoothed so that they have a slope. Differences err by h^2 and rounding / h.
TEST(JointEffectDerivatives, EqualDifferencesOfTheTorque) {
  constexpr double kStep = 1e-6, kTolerance = 1e-6;
  for (const ZooEntry& entry : bundledRobots()) {
    SCOPED_TRACE(entry.name);
    Model smooth = *entry.model;
    for (Joint& joint : smooth.joints) {
      joint.friction.smooth_sign = SmoothSign::kTanh;
      joint.friction.smooth_gain = 5.0;
    }
    const auto model = std::make_shared<const Model>(smooth);
    const Tree tree(model);
    const Parameters parameters = declaredParameters(model);
    const RandomState x = randomState(tree, 4, 1.0);
    const int nv = tree.velocityCount(), first = tree.positionCount() - model->position_count;
    std::vector<JointEffectDerivative> list;
    jointEffectDerivatives(tree, *parameters.layout, x.v, &list);
    Eigen::MatrixXd d[3];
    for (Eigen::MatrixXd& m : d) m = Eigen::MatrixXd::Zero(nv, nv);
    addJointEffectDerivatives(parameters, list, d[0], d[1], d[2]);
    const auto torque = [&](int what, int j, double step) {
      RandomState y = x;
      const int base = nv - model->velocity_count;
      if (what == 0) y.q[first + j - base] += step;
      if (what == 1) y.v[j] += step;
      if (what == 2) y.a[j] += step;
      Eigen::VectorXd tau = Eigen::VectorXd::Zero(nv);
      addJointEffects(tree, parameters, y.q, y.v, y.a, tau);
      return tau;
    };
    const double size = 1.0 + torque(0, nv - 1, 0.0).norm();
    for (int what = 0; what < 3; ++what) {
      for (int j = nv - model->velocity_count; j < nv; ++j) {
        const Eigen::VectorXd difference =
            (torque(what, j, kStep) - torque(what, j, -kStep)) / (2 * kStep);
        EXPECT_LT((d[what].col(j) - difference).norm(), kTolerance * size) << what << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace proprio
