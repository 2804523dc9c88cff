#include "proprio/identification/parameter_words.h"

#include <gtest/gtest.h>

#include <set>

#include "proprio/identification/least_squares.h"
#include "proprio/identification/testing/synthetic_data.h"

namespace proprio {
namespace {

// Claim: every parameter of an arm with drives, friction and couplings has words of its own, which
// name its link or joint.
TEST(ParameterWords, NameEveryParameter) {
  const auto tree = testing::treeOf("tx40_coupled");
  const ParameterLayout layout(tree->sharedModel());
  std::set<std::string> all;
  for (int i = 0; i < layout.size(); ++i) all.insert(parameterWords(layout, i));
  EXPECT_EQ(all.size(), static_cast<size_t>(layout.size()));
  EXPECT_EQ(parameterWords(layout, layout.index("link_3.m")), "mass of link_3");
  EXPECT_EQ(parameterWords(layout, layout.index("link_2.mcx")), "first moment x of link_2");
  EXPECT_EQ(parameterWords(layout, layout.index("link_6.Iyz")), "inertia yz of link_6");
  EXPECT_EQ(parameterWords(layout, layout.index("joint_4.rotor_inertia")),
            "rotor inertia of joint_4");
  EXPECT_EQ(parameterWords(layout, layout.index("joint_4.viscous")), "viscous friction of joint_4");
}

// Claim: a direction is told in words, the largest share first.
TEST(ParameterWords, NameDirections) {
  const auto tree = testing::treeOf("planar_2r");
  const IdentificationProblem problem =
      identificationProblem(tree, {testing::noisyData(*tree, 50, 0.0, 1)});
  Eigen::VectorXd direction = Eigen::VectorXd::Zero(problem.base.count());
  direction[0] = 1e-6;
  direction[1] = -1.0;
  const auto words = [&](int i) {
    return parameterWords(*problem.layout, problem.base.independent[static_cast<size_t>(i)]);
  };
  EXPECT_EQ(directionText(problem, direction), words(1));
  direction[0] = 1.0;
  const std::string text = directionText(problem, direction);
  const std::string either = words(0) + " against " + words(1);
  EXPECT_TRUE(text == either || text == words(1) + " against " + words(0)) << text;
}

}  // namespace
}  // namespace proprio
