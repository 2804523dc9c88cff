// The defaults on recordings of real robots: what least squares leaves of the torques after them.

#include <gtest/gtest.h>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/numerics/dense.h"
#include "proprio/recording/signal_map.h"
#include "proprio/signal/joint_signals.h"

namespace proprio {
namespace {

/// Percent of the torque norm, per joint, that the declared model cannot explain on moving samples
/// (least squares of minimal norm, every joint weighted by its torque).
Eigen::VectorXd unexplained(const std::shared_ptr<const Model>& model,
                            const JointSignals& signals) {
  const Tree tree(model);
  const Parameters theta = declaredParameters(model);
  Workspace workspace(tree);
  const Eigen::Index n = tree.velocityCount(), samples = signals.time.size();
  Eigen::MatrixXd W(n * samples, theta.layout->size()), Y(n, W.cols());
  Eigen::MatrixXd tau = signals.tau.array() * signals.moving.cast<double>();
  const Eigen::VectorXd norms = tau.colwise().norm();
  for (Eigen::Index k = 0; k < samples; ++k) {
    augmentedRegressor(tree, *theta.layout, workspace, signals.q.row(k).transpose(),
                       signals.v.row(k).transpose(), signals.a.row(k).transpose(), Y);
    for (Eigen::Index j = 0; j < n; ++j) {
      W.row(j * samples + k) = (signals.moving(k, j) ? 1.0 / norms[j] : 0.0) * Y.row(j);
    }
  }
  tau = (tau.array().rowwise() / norms.transpose().array()).eval();
  const Eigen::Map<const Eigen::VectorXd> y(tau.data(), tau.size());
  const Eigen::MatrixXd basis = rangeBasis(W, 1e-8);
  const Eigen::VectorXd error = y - basis * (basis.transpose() * y);
  return 100.0 * Eigen::Map<const Eigen::MatrixXd>(error.data(), samples, n).colwise().norm();
}

std::shared_ptr<const Model> robot(const std::string& name) {
  ::setenv("PROPRIO_DATA", dataFolder().c_str(), 0);
  return std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/real/" + name + ".yaml"));
}

// TX40: with every default the model explains the torques nearly as well as the published,
// hand-made treatment (4.5 4.4 7.5 7.1 10.5 8.9 %).
TEST(RealSignals, Tx40IsExplainedAsWellAsPublished) {
  PROPRIO_REQUIRE_DATA("tx40/motor_position.csv");
  const auto model = robot("tx40");
  JointSignalOptions options;
  options.joints = signalJoints(*model);
  const JointSignals signals =
      jointSignals(readRobotRecording(*model, (dataFolder() / "tx40").string()), options);
  const Eigen::VectorXd percent = unexplained(model, signals);
  const double published[] = {4.5, 4.4, 7.5, 7.1, 10.5, 8.9};
  for (Eigen::Index j = 0; j < 6; ++j) EXPECT_LT(percent[j], 1.3 * published[j]) << j;
}

// Panda: jittery stamps are refused; resampled, the chosen cut-offs leave no more of the torques
// than fixed ones between 2 and 50 Hz do (a quarter more at most).
TEST(RealSignals, PandaCutoffsAreNearlyTheBest) {
  PROPRIO_REQUIRE_DATA("panda/positions.txt");
  const auto model = robot("panda");
  const Recording recording = readRobotRecording(*model, (dataFolder() / "panda").string());
  JointSignalOptions options;
  options.joints = signalJoints(*model);
  options.resample = ResampleOptions{.rate_hz = 1000.0, .max_gap = 0.02};
  const Eigen::VectorXd chosen = unexplained(model, jointSignals(recording, options));
  options.decimated_rate_hz = 50.0;
  for (const double cutoff : {2.0, 10.0, 50.0}) {
    options.cutoff_hz = {cutoff};
    const Eigen::VectorXd fixed = unexplained(model, jointSignals(recording, options));
    EXPECT_LT(chosen.norm(), 1.25 * fixed.norm()) << cutoff;
  }
}

}  // namespace
}  // namespace proprio
