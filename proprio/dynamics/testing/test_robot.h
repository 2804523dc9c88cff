#pragma once

/// What nearly every test of the dynamics needs beside a model, and how deviations are measured.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "proprio/dynamics/testing/model_zoo.h"

namespace proprio {

/// A model compiled for one base with its declared parameters, and scratch.
struct TestRobot {
  explicit TestRobot(const std::shared_ptr<const Model>& model) : TestRobot(Tree(model)) {}
  explicit TestRobot(Tree compiled_tree)
      : tree(std::move(compiled_tree)),
        parameters(declaredParameters(tree.sharedModel())),
        compiled(compileParameters(tree, parameters)),
        workspace(tree) {}
  Tree tree;
  Parameters parameters;
  CompiledParameters compiled;
  Workspace workspace;
};

/// |a - b| / |b| in the Frobenius norm.
inline double relativeDeviation(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  constexpr double kTiny = 1e-12;
  return (a - b).norm() / std::max(kTiny, b.norm());
}

/// Worst deviation per quantity over all models of a test; printed when the test ends.
class Deviations {
 public:
  explicit Deviations(std::string oracle) : oracle_(std::move(oracle)) {}
  ~Deviations() {
    for (const auto& [quantity, worst] : worst_) {
      std::printf("%s\n", fmt::format("  {:<28} {:<34} {:.1e}  ({})", oracle_, quantity,
                                      worst.deviation, worst.model)
                              .c_str());
    }
  }
  Deviations(const Deviations&) = delete;
  Deviations& operator=(const Deviations&) = delete;

  /// Expects the relative deviation of `ours` from `theirs` to be at most `tolerance`.
  void expect(const std::string& quantity, const std::string& model, const Eigen::MatrixXd& ours,
              const Eigen::MatrixXd& theirs, double tolerance) {
    ASSERT_EQ(ours.rows(), theirs.rows()) << quantity << ", " << model;
    ASSERT_EQ(ours.cols(), theirs.cols()) << quantity << ", " << model;
    const double deviation = relativeDeviation(ours, theirs);
    EXPECT_LE(deviation, tolerance) << quantity << ", " << model;  // NaN fails too
    Worst& worst = worst_[quantity];
    if (!(deviation < worst.deviation)) worst = {deviation, model};
  }

 private:
  struct Worst {
    double deviation = 0.0;
    std::string model;
  };
  std::string oracle_;
  std::map<std::string, Worst> worst_;
};

}  // namespace proprio
