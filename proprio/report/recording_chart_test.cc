#include "proprio/report/recording_chart.h"

#include <gtest/gtest.h>

#include "proprio/model/urdf_reader.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

Recording recordedChannels(const std::vector<std::string>& names, double start = 0.0) {
  Recording recording;
  recording.source = "folder/log.csv";
  recording.time = Eigen::VectorXd::LinSpaced(50, start, start + 5.0);
  recording.values.setRandom(50, static_cast<Eigen::Index>(names.size()));
  for (const std::string& name : names) {
    recording.channels.push_back(channelNamed(name));
    Channel& channel = recording.channels.back();
    channel.unit = unitOf(channel.quantity);
  }
  return recording;
}

// Joints are rows, what was recorded of them columns; commanded and measured share a panel, and a
// joint without a channel keeps its place.
TEST(RecordingChart, JointsByQuantities) {
  const Recording recording =
      recordedChannels({"q_shoulder", "q_des_shoulder", "tau_shoulder", "q_elbow", "speed"});
  const std::vector<Figure> figures = recordingFigures(recording);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].title, "log.csv");
  EXPECT_EQ(figures[0].columns, 2);
  ASSERT_EQ(figures[0].panels.size(), 4u);
  EXPECT_EQ(figures[0].panels[0].title, "shoulder");
  EXPECT_EQ(figures[0].panels[0].series.size(), 2u);
  EXPECT_EQ(figures[0].panels[0].y.unit, "rad");
  EXPECT_EQ(figures[0].panels[1].y.label, "torque");
  EXPECT_TRUE(figures[0].panels[3].series.empty());
  ASSERT_EQ(figures[1].panels.size(), 1u);
  EXPECT_EQ(figures[1].panels[0].title, "speed");
  EXPECT_EQ(figures[0].panels[0].series[1].y, recording.values.col(1));
  for (const Figure& figure : figures) EXPECT_FALSE(svg(figure).empty());
}

// Components of a sensor share a panel.
TEST(RecordingChart, Sensors) {
  const std::vector<Figure> figures =
      recordingFigures(recordedChannels({"f_wrist_x", "f_wrist_y", "f_wrist_z", "m_wrist_x"}));
  ASSERT_EQ(figures.size(), 1u);
  ASSERT_EQ(figures[0].panels.size(), 2u);
  EXPECT_EQ(figures[0].panels[0].series.size(), 3u);
  EXPECT_EQ(figures[0].panels[0].series[2].label, "z");
}

// Limits appear where unit and joint agree with the model, and only there.
TEST(RecordingChart, Limits) {
  const Model model = readUrdfText(
      "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' "
      "ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link><joint name='elbow' "
      "type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/><limit lower='-1' "
      "upper='2' velocity='3' effort='4'/></joint></robot>");
  Recording recording = recordedChannels({"q_elbow", "v_elbow", "a_elbow", "tau_elbow"});
  std::vector<Panel> panels = recordingFigures(recording, &model)[0].panels;
  ASSERT_EQ(panels[0].markers.size(), 2u);
  EXPECT_EQ(panels[0].markers[0].at, -1.0);
  EXPECT_EQ(panels[0].markers[1].at, 2.0);
  EXPECT_EQ(panels[1].markers[0].at, -3.0);
  EXPECT_TRUE(panels[2].markers.empty());
  EXPECT_EQ(panels[3].markers[1].at, 4.0);
  recording.channels[0].unit = "deg";
  recording.channels[3].side = Side::kMotor;
  panels = recordingFigures(recording, &model)[0].panels;
  EXPECT_TRUE(panels[0].markers.empty());
  EXPECT_TRUE(panels[3].markers.empty());
}

// Clock times become seconds since the start; without stamps x counts samples; nothing makes none.
TEST(RecordingChart, TimeAxis) {
  Recording recording = recordedChannels({"q_a"}, 1.6e9);
  const Figure clock = recordingFigures(recording)[0];
  EXPECT_EQ(clock.panels[0].series[0].x[0], 0.0);
  EXPECT_NEAR(clock.panels[0].series[0].x[49], 5.0, 1e-6);
  recording.time.resize(0);
  const Figure counted = recordingFigures(recording)[0];
  EXPECT_EQ(counted.x.label, "sample");
  EXPECT_EQ(counted.panels[0].series[0].x[49], 49.0);
  EXPECT_TRUE(recordingFigures(Recording{}).empty());
  recording.values.resize(0, 1);
  EXPECT_NE(svg(recordingFigures(recording)[0]).find("no data"), std::string::npos);
}

}  // namespace
}  // namespace proprio
