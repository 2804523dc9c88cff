#include "proprio/identification/undeclared_springs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

/// A smooth motion with noise that remembers half of the sample before, and a spring at one joint.
std::vector<UndeclaredSpring> springsOf(const std::string& robot, int joint, double stiffness,
                                        unsigned seed) {
  constexpr Eigen::Index kSamples = 800;
  constexpr double kNoise = 0.3, kMemory = 0.5;
  const auto tree = testing::treeOf(robot);
  MotionData data = testing::smoothData(*tree, kSamples, seed);
  std::mt19937_64 random(seed + 100);
  std::normal_distribution<double> gaussian(0.0, kNoise);
  Eigen::RowVectorXd noise = Eigen::RowVectorXd::Zero(data.tau.cols());
  for (Eigen::Index i = 0; i < kSamples; ++i) {
    for (double& e : noise) e = kMemory * e + gaussian(random);
    data.tau.row(i) += noise;
  }
  data.tau.col(joint) += stiffness * (data.q.col(joint).array() - 0.2).matrix();
  const IdentificationProblem problem = identificationProblem(tree, {data});
  return findSprings(problem, weightedLeastSquares(problem, {}));
}

/// Claim: a spring that nobody has declared is found at its joint and at no other, its stiffness to
/// five of its deviations (8 runs: a chance of 5e-6), and the sentence has what to declare.
TEST(UndeclaredSprings, FindsThem) {
  struct Case {
    const char* robot;
    int joint;
    double stiffness;
  };
  // gravity of the lower arm explains all but a hundredth of a spring there in this motion
  const Case cases[] = {
      {"planar_2r", 0, 300.0}, {"planar_2r", 1, 60.0}, {"tx40", 0, 60.0}, {"tx40", 3, 60.0}};
  for (const unsigned seed : {1u, 2u}) {
    for (const Case& one : cases) {
      const std::vector<UndeclaredSpring> found =
          springsOf(one.robot, one.joint, one.stiffness, seed);
      ASSERT_EQ(found.size(), 1u) << one.robot << one.joint;
      const auto tree = testing::treeOf(one.robot);
      const Model& model = tree->model();
      EXPECT_EQ(model.joints[static_cast<size_t>(found[0].joint)].velocity_index, one.joint);
      EXPECT_NEAR(found[0].stiffness, one.stiffness, 5.0 * found[0].deviation)
          << one.robot << one.joint;
      EXPECT_NE(springText(model, found[0]).find("spring: {stiffness: "), std::string::npos);
    }
  }
}

/// Claim: where there is no spring none is found, and none that pushes away from its rest; per
/// joint the chance is 1e-4 by significance alone.
TEST(UndeclaredSprings, FindsNothingElse) {
  for (unsigned seed = 0; seed < 30; ++seed)
    EXPECT_TRUE(springsOf("planar_2r", 0, 0.0, seed).empty()) << seed;
  for (unsigned seed = 0; seed < 6; ++seed)
    EXPECT_TRUE(springsOf("tx40", 0, 0.0, seed).empty()) << seed;
  EXPECT_TRUE(springsOf("planar_2r", 1, -60.0, 1).empty());
}

}  // namespace
}  // namespace proprio
