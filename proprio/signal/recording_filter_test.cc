#include "proprio/signal/recording_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/testing/message_of.h"
#include "proprio/recording/signal_names.h"
#include "proprio/signal/filtering.h"

namespace proprio {
namespace {

/// Two joints with torques, a contact flag; 200 samples at 100 Hz.
Recording sample() {
  Recording recording;
  recording.source = "arm.csv";
  for (const char* name : {"q_a", "q_b", "tau_a", "contact_tip"}) {
    recording.channels.push_back(channelNamed(name));
  }
  recording.time = Eigen::VectorXd::LinSpaced(200, 0.0, 1.99);
  recording.values.resize(200, 4);
  for (Eigen::Index k = 0; k < 200; ++k) {
    const double t = recording.time[k];
    recording.values.row(k) << std::sin(9.0 * t), 0.2 * std::cos(5.0 * t), 3.0 * std::sin(9.0 * t),
        t < 1.0 ? 0.0 : 1.0;
  }
  return recording;
}

// Every written form of a filter is understood, everything else is refused with the list.
TEST(RecordingFilter, FormsAreParsed) {
  using Kind = RecordingFilter::Kind;
  EXPECT_EQ(parseRecordingFilter("lowpass").cutoff_hz, 0.0);
  EXPECT_EQ(parseRecordingFilter("lowpass:auto:6").order, 6);
  EXPECT_EQ(parseRecordingFilter("lowpass:12.5").cutoff_hz, 12.5);
  EXPECT_EQ(parseRecordingFilter("causal:20:2").kind, Kind::kCausal);
  EXPECT_EQ(parseRecordingFilter("savgol:31").window, 31);
  EXPECT_EQ(parseRecordingFilter("hampel").window, 7);
  EXPECT_EQ(parseRecordingFilter("hampel:9:3.5").deviations, 3.5);
  EXPECT_EQ(parseRecordingFilter("detrend:0").order, 0);
  for (const char* wrong : {"", "highpass:3", "savgol", "lowpass:20:4:1", "detrend:1:2"}) {
    EXPECT_NE(messageOf([&] { parseRecordingFilter(wrong); }).find("savgol:WINDOW"),
              std::string::npos)
        << wrong;
  }
  for (const char* wrong : {"lowpass:-3", "lowpass:x", "lowpass:20:1.5", "hampel:nan"}) {
    EXPECT_NE(messageOf([&] { parseRecordingFilter(wrong); }), "") << wrong;
  }
  EXPECT_EQ(parseResampling("auto").rate_hz, 0.0);
  const ResampleOptions options = parseResampling("250:linear:split");
  EXPECT_EQ(options.rate_hz, 250.0);
  EXPECT_EQ(options.interpolation, Interpolation::kLinear);
  EXPECT_EQ(options.gaps, GapPolicy::kSplit);
  EXPECT_THROW(parseResampling("-5"), Error);
  EXPECT_THROW(parseResampling("100:spline"), Error);
}

// A filter changes the chosen columns as the filter of the signal room does, and no others.
TEST(RecordingFilter, ChangesWhatWasChosen) {
  const Recording before = sample();
  Recording after = before;
  const std::vector<std::string> done = applyFilter(after, parseRecordingFilter("lowpass:8"), {2});
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0], "tau_a: zero-phase Butterworth of order 4 at 8 Hz (given)");
  EXPECT_EQ(after.values.col(0), before.values.col(0));
  EXPECT_LT((after.values.col(2) -
             filterZeroPhase(butterworthLowpass(4, 8.0, 100.0), before.values.col(2)))
                .cwiseAbs()
                .maxCoeff(),
            1e-9);
  for (const char* text : {"lowpass", "causal:10", "savgol:11", "hampel:5", "detrend"}) {
    after = before;
    EXPECT_EQ(applyFilter(after, parseRecordingFilter(text), {0, 1, 2}).size(), 3u) << text;
  }
}

// Missing values and jitter are refused with the channel, and nothing is changed then.
TEST(RecordingFilter, RefusesAndLeavesAlone) {
  Recording recording = sample();
  recording.values(20, 1) = NAN;
  const Eigen::MatrixXd before = recording.values;
  const std::string message =
      messageOf([&] { applyFilter(recording, parseRecordingFilter("detrend")); });
  EXPECT_NE(message.find("arm.csv: channel 'q_b'"), std::string::npos) << message;
  EXPECT_EQ(recording.values.col(0), before.col(0));
  EXPECT_NE(messageOf([&] { resampleRecording(recording); }).find("'q_b' is nan in row 21"),
            std::string::npos);
  recording = sample();
  recording.time[50] += 0.004;
  EXPECT_NE(messageOf([&] {
              applyFilter(recording, parseRecordingFilter("lowpass:5"));
            }).find("--resample"),
            std::string::npos);
  recording.time.resize(0);
  EXPECT_THROW(applyFilter(recording, parseRecordingFilter("lowpass:5")), Error);
  EXPECT_THROW(resampleRecording(recording), Error);
  EXPECT_THROW(applyFilter(recording, parseRecordingFilter("detrend"), {9}), Error);
}

// Resampling keeps the channels, interpolates numbers, and leaves flags what they are.
TEST(RecordingFilter, ResamplesRecordings) {
  const std::vector<Recording> parts = resampleRecording(sample(), parseResampling("333:cubic"));
  ASSERT_EQ(parts.size(), 1u);
  requireValid(parts[0]);
  for (Eigen::Index k = 0; k < parts[0].samples(); ++k) {
    EXPECT_NEAR(parts[0].values(k, 0), std::sin(9.0 * parts[0].time[k]), 1e-5);
    EXPECT_TRUE(parts[0].values(k, 3) == 0.0 || parts[0].values(k, 3) == 1.0);
  }
  Recording broken = sample();
  broken.time.tail(100).array() += 3.0;
  EXPECT_NE(messageOf([&] { resampleRecording(broken); }).find("arm.csv: there is a gap"),
            std::string::npos);
  EXPECT_EQ(resampleRecording(broken, parseResampling("auto:linear:split")).size(), 2u);
  // the message about repeated stamps names what helps; flags stay flags
  Recording repeated = sample();
  repeated.time[31] = repeated.time[30];
  const std::string message = messageOf([&] { resampleRecording(repeated); });
  EXPECT_NE(message.find("--resample auto:merge"), std::string::npos) << message;
  const Recording merged = resampleRecording(repeated, parseResampling("auto:merge")).at(0);
  for (Eigen::Index k = 0; k < merged.samples(); ++k) {
    EXPECT_TRUE(merged.values(k, 3) == 0.0 || merged.values(k, 3) == 1.0);
  }
}

// 390 Hz at 1 kHz would be 10 Hz at 100 Hz, with its full amplitude; it goes, 5 Hz stay, and the
// contact flag keeps its values. Single samples are taken where the user asks for that.
TEST(RecordingFilter, LowerRatesHaveNoAliases) {
  Recording fast;
  for (const char* name : {"q_a", "q_b", "contact_tip"})
    fast.channels.push_back(channelNamed(name));
  fast.time = Eigen::VectorXd::LinSpaced(3001, 0.0, 3.0);
  fast.values.resize(3001, 3);
  for (Eigen::Index k = 0; k < 3001; ++k) {
    const double t = fast.time[k];
    fast.values.row(k) << std::sin(2.0 * M_PI * 5.0 * t), std::sin(2.0 * M_PI * 390.0 * t),
        t < 1.0 ? 0.0 : 1.0;
  }
  std::vector<std::string> told;
  const Recording slow = resampleWithoutAliases(fast, parseResampling("100"), told).at(0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("low-passed at 40 Hz"), std::string::npos);
  ASSERT_NEAR(static_cast<double>(slow.samples()), 301.0, 1.0);
  for (Eigen::Index k = 20; k + 20 < slow.samples(); ++k) {
    EXPECT_NEAR(slow.values(k, 0), std::sin(2.0 * M_PI * 5.0 * slow.time[k]), 1e-3);
    EXPECT_NEAR(slow.values(k, 1), 0.0, 1e-3);
    EXPECT_TRUE(slow.values(k, 2) == 0.0 || slow.values(k, 2) == 1.0);
  }
  const Recording picked = resampleWithoutAliases(fast, parseResampling("100:nearest"), told).at(0);
  EXPECT_GT(picked.values.col(1).cwiseAbs().maxCoeff(), 0.9);
  EXPECT_NE(told.at(1).find("faster than 50 Hz"), std::string::npos);
  EXPECT_EQ(resampleWithoutAliases(fast, parseResampling("2000"), told).size(), 1u);
  EXPECT_EQ(told.size(), 2u);
}

}  // namespace
}  // namespace proprio
