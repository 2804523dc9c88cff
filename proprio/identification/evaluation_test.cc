#include "proprio/identification/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

using testing::noisyData;
using testing::treeOf;

// Claim: percent and rms are those of the definition, on the rows that count and no others.
TEST(Evaluation, FollowsItsDefinition) {
  MotionData data;
  data.name = "by hand";
  data.q = data.v = data.a = Eigen::MatrixXd::Zero(3, 2);
  data.tau = Eigen::MatrixXd::Zero(3, 2);
  data.tau.col(0) << 3.0, 4.0, 100.0;
  data.use = Mask::Constant(3, 2, true);
  data.use(2, 0) = false;
  Eigen::MatrixXd predicted = Eigen::MatrixXd::Zero(3, 2);
  predicted(0, 0) = 3.0;
  predicted(1, 0) = 3.0;
  predicted(2, 1) = 0.5;
  const Evaluation evaluation = evaluate("model", data, predicted);
  EXPECT_DOUBLE_EQ(evaluation.joints[0].percent, 20.0);  // |1| of |(3, 4)|
  EXPECT_DOUBLE_EQ(evaluation.joints[0].rms, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(evaluation.joints[0].peak, 1.0);
  EXPECT_EQ(evaluation.joints[0].rows, 2);
  EXPECT_TRUE(std::isnan(evaluation.joints[1].percent)) << "no torque: no percentage";
  EXPECT_DOUBLE_EQ(evaluation.overall.rms, std::sqrt(1.25 / 5.0));
}

// Claim: the true model beats what it has to beat, gravity alone explains a robot at rest, and
// zero leaves everything.
TEST(Evaluation, BaselinesAreOrdered) {
  const auto tree = treeOf("tx40");
  const ParameterLayout layout(tree->sharedModel());
  MotionData data = noisyData(*tree, 300, 0.0, 1);
  const Eigen::VectorXd declared = testing::declaredValues(*tree);
  std::vector<Evaluation> models = baselines(*tree, layout, declared, data);
  EXPECT_LT(models[0].overall.percent, 1e-9);
  EXPECT_GT(models[1].overall.percent, 1.0);
  EXPECT_DOUBLE_EQ(models[2].overall.percent, 100.0);
  data.v.setZero();
  data.a.setZero();
  data.tau = predictTorques(*tree, layout, declared, data);
  models = baselines(*tree, layout, declared, data);
  EXPECT_LT(models[1].overall.percent, 1e-9);
}

}  // namespace
}  // namespace proprio
