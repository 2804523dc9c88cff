#pragma once

/// A robot with what the analyses of identifiability need, and the claim that they agree on it.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proprio/dynamics/regrouping_rules.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"

namespace proprio {

// Rounding of the sampled factor, amplified by the condition of the kept columns (below 1e5).
inline constexpr double kBaseTolerance = 1e-8;

struct RobotWithBase {
  explicit RobotWithBase(Model m)
      : model(std::make_shared<const Model>(std::move(m))),
        tree(model),
        layout(std::make_shared<const ParameterLayout>(model)) {}
  explicit RobotWithBase(std::shared_ptr<const Model> m)
      : model(std::move(m)), tree(model), layout(std::make_shared<const ParameterLayout>(model)) {}
  BaseParameters sampled(const Measurement& m = {}) const {
    return sampledBaseParameters(tree, layout, m);
  }
  BaseParameters exact(const Measurement& m = {}) const {
    return structuralBaseParameters(tree, layout, m);
  }
  std::shared_ptr<const Model> model;
  Tree tree;
  std::shared_ptr<const ParameterLayout> layout;
};

/// Count that all routes agree on; with equal groupings. -1 and a failure if they do not.
inline int agreedCount(const RobotWithBase& robot, bool rules) {
  const BaseParameters sampled = robot.sampled(), exact = robot.exact();
  EXPECT_EQ(sampled.count(), exact.count());
  EXPECT_LT(groupingDistance(sampled, exact), kBaseTolerance);
  if (rules) {
    std::string reason;
    const auto by_rules = regroupedBaseParameters(robot.tree, robot.layout, {}, &reason);
    if (!by_rules) {
      ADD_FAILURE() << reason;
      return -1;
    }
    EXPECT_EQ(by_rules->count(), exact.count());
    EXPECT_LT(groupingDistance(*by_rules, exact), kBaseTolerance);
  }
  return exact.count();
}

}  // namespace proprio
