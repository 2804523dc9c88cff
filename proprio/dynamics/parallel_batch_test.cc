#include "proprio/dynamics/parallel_batch.h"

#include <gtest/gtest.h>

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/testing/model_zoo.h"

namespace proprio {
namespace {

// Torques of many samples on all cores are bit for bit those of one thread.
TEST(ParallelBatch, EqualsOneThread) {
  const auto model = std::make_shared<const Model>(sevenAxisArm());
  const Tree tree(model);
  const CompiledParameters parameters = compileParameters(tree, declaredParameters(model));
  const Eigen::Index samples = 5003;
  RandomModelSource random(1);
  const auto matrix = [&] {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(samples, 7, [&] { return random.uniform(-2.0, 2.0); }));
  };
  const Eigen::MatrixXd q = matrix(), v = matrix(), a = matrix();
  Eigen::MatrixXd one(samples, 7), many(samples, 7);
  Workspace workspace(tree);
  inverseDynamicsBatch(tree, parameters, workspace, q, v, a, one);
  WorkspacePool pool(tree);
  pool.forSamples(samples, [&](Workspace& scratch, Eigen::Index start, Eigen::Index count) {
    inverseDynamicsBatch(tree, parameters, scratch, q.middleRows(start, count),
                         v.middleRows(start, count), a.middleRows(start, count),
                         many.middleRows(start, count));
  });
  EXPECT_TRUE(one == many);
}

}  // namespace
}  // namespace proprio
