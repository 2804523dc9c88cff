// Sets of postures: better than random sets, and the best there is where all can be tried.

#include "proprio/motion/static_postures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

struct StillRobot {
  explicit StillRobot(const std::string& name)
      : model(std::make_shared<const Model>(
            readRobot(PROPRIO_SOURCE_DIR "/examples/robots/" + name + ".yaml", ReadOptions{}))),
        tree(std::make_shared<const Tree>(model)),
        parameters(declaredParameters(model)) {}
  double criterion(const std::vector<int>& columns, const Eigen::MatrixXd& q) const {
    CriterionOptions options;
    options.criterion = Criterion::kD;
    options.columns = columns;
    ExcitationCriterion criterion(tree, parameters.layout, options);
    const Eigen::MatrixXd still = Eigen::MatrixXd::Zero(q.rows(), tree->velocityCount());
    return criterion.value(q, still, still);
  }
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tree> tree;
  Parameters parameters;
};

// Of 12 candidates for a two-link arm the chosen 4 are among the best five of all 495 sets: no
// single exchange makes them better.
TEST(StaticPostures, IsAmongTheBestSetsWhereAllCanBeTried) {
  const StillRobot r("planar_2r");
  const MotionConstraints constraints(r.tree, r.parameters, {});
  const Eigen::MatrixXd candidates = candidatePostures(constraints, 12, 3);
  ASSERT_EQ(candidates.rows(), 12);
  const StaticPostures chosen = chooseStaticPostures(r.tree, r.parameters.layout, candidates, 4);
  // at rest: two first moments per link, the first link's combined with the mass beyond
  EXPECT_EQ(chosen.columns.size(), 4u);
  int better = 0;
  std::vector<bool> mask(12, false);
  std::fill(mask.begin(), mask.begin() + 4, true);
  do {
    Eigen::MatrixXd q(4, 2);
    int row = 0;
    for (int k = 0; k < 12; ++k) {
      if (mask[static_cast<size_t>(k)]) q.row(row++) = candidates.row(k);
    }
    if (r.criterion(chosen.columns, q) < chosen.criterion - 1e-9) ++better;
  } while (std::prev_permutation(mask.begin(), mask.end()));
  EXPECT_LT(better, 5);
}

// A standing humanoid with its base wrench measured: 40 chosen postures tell more than any of 30
// random sets of 40, keep the joint limits, and determine every static parameter.
TEST(StaticPostures, BeatsRandomSetsOnAHumanoid) {
  const StillRobot r("humanoid");
  ConstraintOptions options;
  options.posture = r.tree->neutralPosition();
  const MotionConstraints constraints(r.tree, r.parameters, options);
  const Eigen::MatrixXd candidates = candidatePostures(constraints, 90, 5);
  ASSERT_EQ(candidates.rows(), 90);
  const StaticPostures chosen = chooseStaticPostures(r.tree, r.parameters.layout, candidates, 40);
  EXPECT_TRUE(std::isfinite(chosen.criterion));
  EXPECT_TRUE(std::isfinite(chosen.condition));
  RandomModelSource random(2);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<int> order(90);
    for (int k = 0; k < 90; ++k) order[static_cast<size_t>(k)] = k;
    for (size_t k = 89; k > 0; --k) {
      std::swap(order[k],
                order[static_cast<size_t>(random.uniform(0.0, 1.0) * static_cast<double>(k + 1))]);
    }
    Eigen::MatrixXd q(40, candidates.cols());
    for (int m = 0; m < 40; ++m) q.row(m) = candidates.row(order[static_cast<size_t>(m)]);
    EXPECT_LT(chosen.criterion, r.criterion(chosen.columns, q));
  }
}

// Too few candidates, or a robot on which gravity does not act, are refused.
TEST(StaticPostures, RefusesWhatCannotBe) {
  const StillRobot r("planar_2r");
  const MotionConstraints constraints(r.tree, r.parameters, {});
  const Eigen::MatrixXd candidates = candidatePostures(constraints, 5, 3);
  EXPECT_THROW(chooseStaticPostures(r.tree, r.parameters.layout, candidates, 6), Error);
  EXPECT_THROW(chooseStaticPostures(r.tree, r.parameters.layout, candidates, 0), Error);
  Model weightless = *r.model;
  weightless.gravity.setZero();
  const auto model = std::make_shared<const Model>(weightless);
  const auto tree = std::make_shared<const Tree>(model);
  EXPECT_THROW(chooseStaticPostures(tree, declaredParameters(model).layout, candidates, 3), Error);
}

}  // namespace
}  // namespace proprio
