#include "proprio/recording/recorded_velocities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr double kLateVelocity = 0.02;  // s, as filters of drives are

/// Two joints that swing, at 250 Hz for 20 s: encoders of 1e-4 rad, velocities with noise that come
/// late, and one position in a hundred somewhere else.
Recording swinging() {
  Recording recording;
  recording.source = "test";
  for (const char* name : {"q_elbow", "q_wrist", "v_elbow", "v_wrist"})
    recording.channels.push_back(channelNamed(name));
  const Index samples = 5000;
  recording.time = Eigen::VectorXd::LinSpaced(samples, 0.0, 0.004 * (samples - 1));
  recording.values.resize(samples, 4);
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0.0, 1.0);
  for (Index i = 0; i < samples; ++i) {
    for (Index j = 0; j < 2; ++j) {
      const double omega = 2.0 + static_cast<double>(j), t = recording.time[i];
      const double q = std::sin(omega * t) + (i % 97 == 50 ? 0.3 : 0.0);
      recording.values(i, j) = 1e-4 * std::round(1e4 * q);
      recording.values(i, 2 + j) =
          omega * std::cos(omega * (t - kLateVelocity)) + 0.02 * noise(random);
    }
  }
  return recording;
}

// Positions with steps, velocities that come late, noise and outliers: still one motion. The factor
// is that of the amplitudes, 1, within the tenth by which a delay of omega d = 0.06 moves ratios.
TEST(RecordedVelocities, OneMotion) {
  const std::vector<VelocityFactor> factors = velocityFactors(swinging());
  ASSERT_EQ(factors.size(), 2u);
  for (const VelocityFactor& factor : factors) EXPECT_NEAR(factor.factor, 1.0, 0.1);
  EXPECT_TRUE(judgeVelocities(swinging()).empty());
}

// Stamps that say twice the rate make every derivative twice as large.
TEST(RecordedVelocities, WrongRate) {
  Recording recording = swinging();
  recording.time *= 0.5;
  const std::vector<QualityFinding> findings = judgeVelocities(recording);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_NE(findings[0].sentence.find("the time stamps or the rate are wrong (25"),
            std::string::npos)
      << findings[0].sentence;
  EXPECT_NE(findings[0].sentence.find("they say 500)"), std::string::npos) << findings[0].sentence;
  // and as an error of the recording
  EXPECT_EQ(assessQuality(recording).findings[0].sentence, findings[0].sentence);
}

// The factor of degrees says which of the two has them; a unit that is stated counts.
TEST(RecordedVelocities, Degrees) {
  Recording recording = swinging();
  recording.values.rightCols(2) *= 180.0 / M_PI;
  ASSERT_EQ(judgeVelocities(recording).size(), 1u);
  EXPECT_EQ(judgeVelocities(recording)[0].severity, Severity::kWarning);
  EXPECT_NE(judgeVelocities(recording)[0].sentence.find("unit: deg/s"), std::string::npos);
  for (Index c = 2; c < 4; ++c) recording.channels[static_cast<size_t>(c)].unit = "deg/s";
  EXPECT_TRUE(judgeVelocities(recording).empty());

  recording = swinging();
  recording.values.leftCols(2) *= 180.0 / M_PI;
  ASSERT_EQ(judgeVelocities(recording).size(), 1u);
  EXPECT_EQ(judgeVelocities(recording)[0].severity, Severity::kError);
}

// One joint of which one of both is the other way round is named.
TEST(RecordedVelocities, OneJoint) {
  Recording recording = swinging();
  recording.values.col(0) *= -1.0;
  const std::vector<QualityFinding> findings = judgeVelocities(recording);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].about, "elbow");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

// Velocities say the rate of a recording without time stamps: 250 Hz, to a tenth.
TEST(RecordedVelocities, RateWithoutStamps) {
  Recording untimed = swinging();
  untimed.time.resize(0);
  EXPECT_TRUE(velocityFactors(untimed).empty());
  const std::string told = rateByVelocities(untimed);
  ASSERT_EQ(told.rfind(" (recorded velocities say about 2", 0), 0u) << told;
  EXPECT_NEAR(std::stod(told.substr(told.find("about ") + 6)), 250.0, 25.0);
  EXPECT_NE(assessQuality(untimed).findings[0].sentence.find(told), std::string::npos);
  EXPECT_EQ(rateByVelocities(swinging()), "");
}

// Joints that hold still, velocities of something else and gaps in every window say nothing.
TEST(RecordedVelocities, NothingToSay) {
  Recording still = swinging();
  still.values.leftCols(2) *= 1e-4;
  EXPECT_TRUE(velocityFactors(still).empty());

  Recording other = swinging();
  other.values.col(2).swap(other.values.col(3));
  EXPECT_TRUE(velocityFactors(other).empty());

  Recording missing = swinging();
  for (Index i = 0; i < missing.samples(); i += 20) missing.values(i, 2) = std::nan("");
  EXPECT_EQ(velocityFactors(missing).size(), 1u);
}

}  // namespace
}  // namespace proprio
