#include "proprio/report/motion_chart.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

MotionSamples motionOf(const Model& model) {
  MotionSamples motion;
  for (const Joint& joint : model.joints) {
    if (joint.velocity_index >= 0) motion.joints.push_back(joint.name);
  }
  motion.time = Eigen::VectorXd::LinSpaced(100, 0.0, 10.0);
  motion.q.setRandom(100, static_cast<Eigen::Index>(motion.joints.size()));
  motion.v = motion.a = motion.q;
  return motion;
}

// A row per joint with what is given as columns, in SI units and with the robot's limits.
TEST(MotionChart, JointsByQuantities) {
  const Model model = readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/tx40.yaml");
  const MotionSamples motion = motionOf(model);
  const Figure three = motionFigure(motion, model);
  EXPECT_EQ(three.columns, 3);
  EXPECT_EQ(three.panels.size(), 18u);
  EXPECT_EQ(three.subtitle, "motion of 10 s");
  EXPECT_EQ(three.panels[0].markers.size(), 2u);
  const Figure four = motionFigure(motion, model, motion.q);
  EXPECT_EQ(four.panels.size(), 24u);
  EXPECT_EQ(four.panels[3].y.unit, "N m");
  EXPECT_EQ(four.panels[4].series[0].y, motion.q.col(1));
  EXPECT_FALSE(svg(four).empty());
}

// Tables of another size are refused; a motion of no joints is an empty figure.
TEST(MotionChart, Refusals) {
  const Model model = readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/tx40.yaml");
  MotionSamples motion = motionOf(model);
  EXPECT_THROW(motionFigure(motion, model, motion.q.leftCols(2)), Error);
  motion.v.conservativeResize(5, Eigen::NoChange);
  EXPECT_THROW(motionFigure(motion, model), Error);
  EXPECT_TRUE(motionFigure(MotionSamples{}, model).panels.empty());
}

}  // namespace
}  // namespace proprio
