// The recordings of real robots in PROPRIO_DATA load through examples/real/*.yaml without a line of
// code; skipped with a message where the folder is missing.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "proprio/model/parameters.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/quality.h"
#include "proprio/recording/signal_map.h"
#include "proprio/recording/state_quantities.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;
using Eigen::Index;
using Eigen::VectorXd;

class RealRecording : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PROPRIO_DATA");
    data_ = folder != nullptr ? fs::path(folder)
                              : fs::path(PROPRIO_SOURCE_DIR) / ".." / "shared" / "data";
    if (!fs::exists(data_ / "README.md")) {
      GTEST_SKIP() << "no recordings in " << data_ << "; set PROPRIO_DATA to their folder";
    }
    ::setenv("PROPRIO_DATA", data_.c_str(), 0);
  }

  void load(const std::string& robot, const std::string& log) {
    model_ = std::make_shared<const Model>(readRobot(
        (fs::path(PROPRIO_SOURCE_DIR) / "examples" / "real" / (robot + ".yaml")).string()));
    recording_ = readRobotRecording(*model_, (data_ / log).string());
    joints_ = signalJoints(*model_);
  }
  VectorXd channel(const std::string& name) const {
    const int column = recording_.column(name);
    EXPECT_GE(column, 0) << name;
    return column < 0 ? VectorXd() : VectorXd(recording_.values.col(column));
  }
  // central differences over the recorded stamps
  VectorXd derivative(const VectorXd& x, Index reach = 1) const {
    VectorXd d = VectorXd::Zero(x.size());
    for (Index i = reach; i + reach < x.size(); ++i)
      d[i] =
          (x[i + reach] - x[i - reach]) / (recording_.time[i + reach] - recording_.time[i - reach]);
    return d;
  }
  static double correlation(const VectorXd& a, const VectorXd& b) {
    const VectorXd x = a.array() - a.mean(), y = b.array() - b.mean();
    return x.dot(y) / (x.norm() * y.norm());
  }
  // torques that the description predicts for the recorded motion
  Eigen::MatrixXd predicted(const Eigen::MatrixXd& v, const Eigen::MatrixXd& a) const {
    const Tree tree(model_);
    StateTable states;
    states.q.resize(recording_.samples(), static_cast<Index>(joints_.size()));
    for (size_t j = 0; j < joints_.size(); ++j)
      states.q.col(static_cast<Index>(j)) = channel("q_" + joints_[j]);
    states.v = v;
    states.a = a;
    states.has_v = states.has_a = true;
    return stateQuantities(tree, declaredParameters(model_), states, {"tau"}).values;
  }

  fs::path data_;
  std::shared_ptr<const Model> model_;
  Recording recording_;
  std::vector<std::string> joints_;
};

// TX40: motor side, coupled wrist, two files without time. Starts at the zero posture, stays within
// the URDF's limits, and friction eats energy at every joint (which fixes the sign of each torque).
TEST_F(RealRecording, Tx40) {
  load("tx40", "tx40");
  ASSERT_EQ(recording_.samples(), 45000);
  ASSERT_EQ(recording_.channels.size(), 12u);
  EXPECT_NEAR(timeStatistics(recording_.time, 45000).rate_hz, 5000.0, 1e-6);
  for (const std::string& name : joints_) {
    const VectorXd q = channel("q_" + name), v = derivative(q, 25);
    const Joint& joint = model_->joints[static_cast<size_t>(model_->jointIndex(name))];
    EXPECT_NEAR(q[0], 0.0, 1e-4) << name;
    EXPECT_GT(q.minCoeff(), joint.limits.lower) << name;
    EXPECT_LT(q.maxCoeff(), joint.limits.upper) << name;
    // at its rated speed; the difference of five-digit positions adds a per cent
    EXPECT_LT(v.cwiseAbs().maxCoeff(), 1.02 * joint.limits.velocity) << name;
    EXPECT_GT(v.cwiseAbs().maxCoeff(), 0.5) << name;
    EXPECT_GT(channel("tau_" + name).dot(v), 0.0) << name;
  }
  const auto sibling = readRobotRecording(*model_, (data_ / "tx40" / "motor_torque.csv").string());
  EXPECT_EQ(sibling.values, recording_.values);
}

// Panda: one value per line in four files, jittering time; recorded velocities are the derivatives
// of recorded positions.
TEST_F(RealRecording, Panda) {
  load("panda", "panda");
  ASSERT_EQ(recording_.samples(), 20544);
  ASSERT_EQ(recording_.channels.size(), 21u);
  const Quality quality = assessQuality(recording_);
  EXPECT_NEAR(quality.time.duration, 21.0, 0.5);
  EXPECT_LT(quality.time.shortest_step, 0.0008);
  EXPECT_GT(quality.time.longest_step, 0.008);
  EXPECT_GT(quality.time.gaps, 0);
  for (const std::string& name : joints_) {
    const VectorXd q = channel("q_" + name), v = channel("v_" + name);
    const Joint& joint = model_->joints[static_cast<size_t>(model_->jointIndex(name))];
    EXPECT_GT(q.minCoeff(), joint.limits.lower) << name;
    EXPECT_LT(q.maxCoeff(), joint.limits.upper) << name;
    EXPECT_LT(channel("tau_" + name).cwiseAbs().maxCoeff(), joint.limits.effort) << name;
    EXPECT_GT(correlation(derivative(q, 10), v), 0.99) << name;
  }
}

// KUKA LWR4+: a NumPy archive; velocities and accelerations are derivatives, and the torque of the
// shoulder is what the description's weight predicts in sign and size.
TEST_F(RealRecording, KukaLwr4) {
  for (const char* log : {"kuka_lwr4/measurements_1.npz", "kuka_lwr4/measurements_2.npz"}) {
    load("kuka_lwr4", log);
    ASSERT_EQ(recording_.samples(), 5027);
    ASSERT_EQ(recording_.channels.size(), 28u);
    EXPECT_NEAR(timeStatistics(recording_.time, 5027).rate_hz, 200.0, 5.0);
    Eigen::MatrixXd v(5027, 7), a(5027, 7);
    for (size_t j = 0; j < 7; ++j) {
      v.col(static_cast<Index>(j)) = channel("v_" + joints_[j]);
      a.col(static_cast<Index>(j)) = channel("a_" + joints_[j]);
      EXPECT_GT(correlation(derivative(channel("q_" + joints_[j])), v.col(static_cast<Index>(j))),
                0.99)
          << joints_[j];
      EXPECT_GT(correlation(derivative(v.col(static_cast<Index>(j))), a.col(static_cast<Index>(j))),
                0.95)
          << joints_[j];
    }
    const Eigen::MatrixXd tau = predicted(v, a);
    EXPECT_GT(correlation(tau.col(1), channel("tau_" + joints_[1])), 0.9) << log;
    EXPECT_GT(correlation(tau.col(3), channel("tau_" + joints_[3])), 0.9) << log;
  }
}

// TIAGo: lift and arm in three files; torques are gains times currents, and the currents of the
// last three joints tell next to nothing.
TEST_F(RealRecording, Tiago) {
  load("tiago", "tiago");
  ASSERT_EQ(recording_.samples(), 6791 - 921 + 1);
  ASSERT_EQ(recording_.channels.size(), 30u);
  ASSERT_EQ(joints_.size(), 8u);
  EXPECT_NEAR(timeStatistics(recording_.time, 5871).rate_hz, 100.0, 2.0);
  for (const std::string& name : joints_) {
    const VectorXd v = channel("v_" + name);
    if (v.cwiseAbs().maxCoeff() < 0.1) continue;
    EXPECT_GT(correlation(derivative(channel("q_" + name), 3), v), 0.9) << name;
  }
  EXPECT_EQ(channel("tau_arm_3_joint"), -8.7 * channel("i_arm_3_joint"));
  EXPECT_LT(channel("i_arm_6_joint").cwiseAbs().maxCoeff(), 0.1);
  EXPECT_GT(channel("i_arm_2_joint").cwiseAbs().maxCoeff(), 1.0);
  // the weight of the arm shows in shoulder lift and elbow with the sign that the description
  // predicts; friction is the larger part
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(recording_.samples(), 8);
  const Eigen::MatrixXd tau = predicted(zero, zero);
  EXPECT_GT(correlation(tau.col(2), channel("tau_arm_2_joint")), 0.3);
  EXPECT_GT(correlation(tau.col(4), channel("tau_arm_4_joint")), 0.3);
}

// UR10: a bag with the commanded trajectory alone loads through the same robot.yaml; what is not in
// it is told.
TEST_F(RealRecording, CommandedBag) {
  load("ur10", "rosbag2/ur10_validation_trajectory.db3");
  ASSERT_EQ(recording_.samples(), 3441);
  EXPECT_EQ(recording_.channels.size(), 18u);
  for (const Channel& channel : recording_.channels) EXPECT_EQ(channel.role, Role::kCommanded);
  EXPECT_GE(recording_.notes.size(), 3u);
}

// UR10 and Panda: ROS 2 bags with JointState messages; velocities are derivatives of positions.
TEST_F(RealRecording, Bags) {
  load("ur10", "rosbag2/ur10_exciting_trajectory.db3");
  ASSERT_EQ(recording_.samples(), 3441);
  ASSERT_EQ(recording_.channels.size(), 18u);
  EXPECT_NEAR(timeStatistics(recording_.time, 3441).rate_hz, 125.0, 3.0);
  for (const std::string& name : joints_)
    EXPECT_GT(correlation(derivative(channel("q_" + name)), channel("v_" + name)), 0.95) << name;

  load("panda_bag", "rosbag2/panda_exciting_trajectory.db3");
  ASSERT_EQ(recording_.samples(), 727);
  EXPECT_NEAR(timeStatistics(recording_.time, 727).rate_hz, 30.0, 1.0);
  for (const std::string& name : joints_)
    EXPECT_GT(correlation(derivative(channel("q_" + name)), channel("v_" + name)), 0.9) << name;
}

}  // namespace
}  // namespace proprio
