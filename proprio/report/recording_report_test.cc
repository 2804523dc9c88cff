#include "proprio/report/recording_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

Recording recordedRun() {
  Recording recording;
  recording.source = "log.csv";
  recording.topic = "/joint_states";
  recording.time = Eigen::VectorXd::LinSpaced(101, 0.0, 1.0);
  recording.values.resize(101, 2);
  recording.values.col(0) = recording.time.array().sin();
  recording.values.col(1).setConstant(std::numeric_limits<double>::quiet_NaN());
  for (const char* name : {"q_elbow", "tau_des_elbow"})
    recording.channels.push_back(channelNamed(name));
  recording.channels[0].unit = "rad";
  return recording;
}

// The text names source, rate, every channel with its meaning and unit, and every finding; a
// channel without values has no range.
TEST(RecordingReport, TextTellsAll) {
  const Recording recording = recordedRun();
  const Quality quality = assessQuality(recording);
  const std::string text = recordingText(recording, quality, false);
  for (const char* part : {"log.csv  /joint_states", "101 samples over 1 s, 100 Hz, steady",
                           "position of elbow", "commanded torque of elbow", "rad"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  ASSERT_GT(countOf(quality.findings, Severity::kError), 0);
  EXPECT_NE(text.find("✗ tau_des_elbow"), std::string::npos) << text;
}

// JSON holds the same; strings that are not UTF-8 do not break it; an empty recording is told too.
TEST(RecordingReport, Json) {
  Recording recording = recordedRun();
  recording.source = "\xff.csv";
  const auto json = nlohmann::json::parse(recordingJson(recording, assessQuality(recording)));
  EXPECT_EQ(json["samples"], 101);
  EXPECT_EQ(json["channels"][1]["missing"], 101);
  EXPECT_EQ(json["channels"][1]["role"], "commanded");
  EXPECT_FALSE(json["findings"].empty());
  const Recording empty;
  const Quality nothing = assessQuality(empty);
  EXPECT_EQ(nlohmann::json::parse(recordingJson(empty, nothing))["samples"], 0);
  EXPECT_NE(recordingText(empty, nothing, false).find("0 samples"), std::string::npos);
}

}  // namespace
}  // namespace proprio
