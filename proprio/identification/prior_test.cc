#include "proprio/identification/prior.h"

#include <gtest/gtest.h>

#include "proprio/identification/testing/synthetic_data.h"
#include "proprio/spatial/physical_consistency.h"

namespace proprio {
namespace {

using testing::treeOf;

InertialParameters linkOf(const Eigen::VectorXd& chi, int link) {
  return InertialParameters::fromVector(chi.segment<10>(10 * link));
}

std::shared_ptr<const Tree> treeOfModel(const Model& model) {
  return std::make_shared<const Tree>(std::make_shared<const Model>(model));
}

// Claim: possible inertias are believed as they are.
TEST(Prior, KeepsWhatIsPossible) {
  const auto tree = treeOf("humanoid");
  const ParameterLayout layout(tree->sharedModel());
  const Prior prior = priorParameters(*tree, layout);
  EXPECT_EQ(prior.chi, testing::declaredValues(*tree));
  EXPECT_TRUE(prior.repaired.empty());
  EXPECT_TRUE(prior.guessed.empty());
}

// Claim: an impossible inertia becomes a possible one with the same mass and centre; a link without
// mass gets one that a link of that length can have.
TEST(Prior, RepairsAndGuesses) {
  Model model = treeOf("iiwa14")->model();
  InertialParameters& flat = model.links[3].inertia;
  flat = InertialParameters::fromCom(2.0, Vector3d(0.0, 0.1, 0.0),
                                     Vector3d(0.1, 0.01, 0.01).asDiagonal());
  model.links[5].inertia = InertialParameters();
  const auto tree = treeOfModel(finalize(model));
  const ParameterLayout layout(tree->sharedModel());
  const Prior prior = priorParameters(*tree, layout);
  EXPECT_EQ(prior.repaired, std::vector<int>{3});
  EXPECT_EQ(prior.guessed, std::vector<int>{5});
  const InertialParameters repaired = linkOf(prior.chi, 3);
  EXPECT_DOUBLE_EQ(repaired.mass, 2.0);
  EXPECT_LT((repaired.com() - Vector3d(0.0, 0.1, 0.0)).norm(), 1e-12);
  for (int link = 1; link < 8; ++link)
    EXPECT_TRUE(consistencyMargins(linkOf(prior.chi, link)).fullyConsistent()) << link;
  EXPECT_GT(linkOf(prior.chi, 5).mass, 0.5);
  EXPECT_LT(linkOf(prior.chi, 5).mass, 20.0);
}

// Claim: what is not declared may be as large as the torques allow: a rotor that moved by itself
// would take all of the varying torque, and an offset a tenth of it; declared values keep their
// size, and joints at rest the usual one.
TEST(Prior, SizesFollowTheTorques) {
  const auto tree = treeOf("tx40");
  Parameters parameters = declaredParameters(tree->sharedModel());
  const ParameterLayout& layout = *parameters.layout;
  Eigen::VectorXd prior = priorParameters(*tree, layout).chi;
  prior.tail(layout.size() - layout.inertialSize()).setZero();
  const int declared = layout.jointOffset(requireJoint(tree->model(), "joint_2"));
  prior[declared] = 0.7;
  MotionData data = testing::noisyData(*tree, 500, 0.0, 1);
  const Eigen::VectorXd sizes = parameterSizes(*tree, layout, prior, {data});
  for (int p = layout.inertialSize(); p < layout.size(); ++p) {
    const ParameterInfo& info = layout[p];
    const int i = tree->velocityIndex(info.joint);
    const Eigen::ArrayXd tau = data.tau.col(i).array() - data.tau.col(i).mean();
    const double size = sizes[p - layout.inertialSize()];
    if (p == declared) {
      EXPECT_EQ(size, 0.7);
    } else if (info.kind == ParameterKind::kRotorInertia) {
      EXPECT_NEAR(size, std::sqrt(tau.square().sum() / data.a.col(i).squaredNorm()), 1e-9 * size);
    } else if (info.name.ends_with("viscous")) {
      EXPECT_NEAR(size, std::sqrt(tau.square().sum() / data.v.col(i).squaredNorm()), 1e-9 * size);
    }
  }
  data.v.setZero();
  data.a.setZero();
  EXPECT_EQ(parameterSizes(*tree, layout, prior,
                           {data})[layout.jointOffset(requireJoint(tree->model(), "joint_1")) -
                                   layout.inertialSize()],
            1.0);
  EXPECT_EQ(parameterSizes(*tree, layout, prior, {}).size(), layout.size() - layout.inertialSize());
}

// Claim: solveMetric is the inverse of the block-diagonal metric.
TEST(Prior, MetricIsInverted) {
  const auto tree = treeOf("tx40");
  const ParameterLayout layout(tree->sharedModel());
  const Eigen::VectorXd sizes =
      Eigen::VectorXd::LinSpaced(layout.size() - layout.inertialSize(), 0.5, 2.0);
  const PriorMetric metric = priorMetric(layout, priorParameters(*tree, layout).chi, sizes);
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(layout.size(), layout.size());
  for (size_t link = 0; link < metric.links.size(); ++link) {
    const auto first = static_cast<Eigen::Index>(10 * link);
    G.block<10, 10>(first, first) = metric.links[link];
  }
  G.diagonal().tail(metric.others.size()) = metric.others;
  const Eigen::MatrixXd X = Eigen::MatrixXd::Random(layout.size(), 3);
  EXPECT_LT((solveMetric(metric, G * X) - X).cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace proprio
