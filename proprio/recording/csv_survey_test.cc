#include "proprio/recording/csv_survey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "proprio/core/testing/message_of.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/cut.h"

namespace proprio {
namespace {

constexpr double kSums = 1e-9;  // rounding of 1e5 additions, relative

/// 60 000 rows at 1 kHz in several chunks: a gap, a repeated stamp, missing cells, a standstill.
std::string longTable(const testing::TempFolder& folder) {
  const std::string path = folder.file("long.csv");
  std::ofstream file(path);
  file.precision(12);
  file << "time [s],q_a [rad],tau_a [N m],flag\n";
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  double t = 100.0;
  for (int i = 0; i < 60000; ++i) {
    t += i == 30000 ? 0.5 : i == 40000 ? 0.0 : 0.001;
    const double q = i > 20000 && i < 26000 ? 1.5 : std::sin(0.001 * i);
    file << t << ',' << q << ',';
    if (i % 100 != 7) file << 5.0 + normal(random);
    file << ",1\n";
  }
  return path;
}

// In constant memory as in memory: everything that the header calls exact.
TEST(CsvSurvey, AgreesWithTheWholeInMemory) {
  const testing::TempFolder folder;
  const std::string path = longTable(folder);
  const CsvSurvey survey = surveyCsv(path, {});
  const Recording whole = readCsvRecording(path);
  const Quality expected = assessQuality(whole);
  const TimeStatistics &t = survey.quality.time, &u = expected.time;
  EXPECT_EQ(t.samples, u.samples);
  EXPECT_EQ(t.duration, u.duration);
  EXPECT_EQ(t.gaps, u.gaps);
  EXPECT_EQ(t.repeated, u.repeated);
  EXPECT_EQ(t.reversed, u.reversed);
  EXPECT_EQ(t.longest_step, u.longest_step);
  EXPECT_EQ(t.longest_step_at, u.longest_step_at);
  EXPECT_EQ(t.shortest_step, u.shortest_step);
  EXPECT_EQ(t.first_disorder, u.first_disorder);
  EXPECT_NEAR(t.rate_hz, u.rate_hz, 1e-6);
  EXPECT_NEAR(t.jitter, u.jitter, 1e-6);
  ASSERT_EQ(survey.quality.channels.size(), expected.channels.size());
  for (size_t c = 0; c < expected.channels.size(); ++c) {
    const ChannelStatistics &s = survey.quality.channels[c], &e = expected.channels[c];
    EXPECT_EQ(s.name, e.name);
    EXPECT_EQ(s.smallest, e.smallest);
    EXPECT_EQ(s.largest, e.largest);
    EXPECT_NEAR(s.mean, e.mean, kSums * (1.0 + std::abs(e.mean)));
    EXPECT_NEAR(s.deviation, e.deviation, kSums);
    EXPECT_EQ(s.missing, e.missing);
    EXPECT_EQ(s.longest_frozen, e.longest_frozen) << e.name;
    EXPECT_EQ(s.frozen_at, e.frozen_at) << e.name;
  }
  // the preview: samples of the whole, evenly spread, few
  EXPECT_LE(survey.preview.samples(), 4096);
  EXPECT_GT(survey.preview.samples(), 2000);
  const Eigen::Index n = whole.samples() / survey.preview.samples();
  const Eigen::Index last = survey.preview.samples() - 1;
  EXPECT_EQ(survey.preview.values(last, 0), whole.values(last * n, 0));
}

// A stretch is what a cut of the whole is.
TEST(CsvSurvey, StretchesAreCuts) {
  const testing::TempFolder folder;
  const std::string path = longTable(folder);
  const Recording stretch = readCsvStretch(path, {}, 9.5, 31.0);
  const Recording whole = readCsvRecording(path);
  const Recording cut = cutByTime(whole, whole.time[0] + 9.5, whole.time[0] + 31.0);
  EXPECT_EQ(stretch.time, cut.time);
  ASSERT_EQ(stretch.values.rows(), cut.values.rows());
  EXPECT_EQ(stretch.values.col(0), cut.values.col(0));
  EXPECT_NE(messageOf([&] { readCsvStretch(path, {}, 1e6, 2e6); }).find("none of its samples"),
            std::string::npos);
  const std::string untimed = folder.file("untimed.csv");
  std::ofstream(untimed) << "a,b\n1,2\n3,4\n";
  EXPECT_NE(messageOf([&] { readCsvStretch(untimed, {}, 0.0, 1.0); }).find("no time stamps"),
            std::string::npos);
}

// Few rows, one row, no rows.
TEST(CsvSurvey, SmallTables) {
  const testing::TempFolder folder;
  const std::string path = folder.file("small.csv");
  std::ofstream(path) << "t,q\n0,1\n0.5,2\n1,4\n";
  const CsvSurvey three = surveyCsv(path, {});
  EXPECT_EQ(three.preview.samples(), 3);
  EXPECT_EQ(three.quality.time.rate_hz, 2.0);
  std::ofstream(path) << "t,q\n0,1\n";
  EXPECT_EQ(surveyCsv(path, {}).quality.time.samples, 1);
  std::ofstream(path) << "t,q\n";
  EXPECT_EQ(surveyCsv(path, {}).quality.time.samples, 0);
  EXPECT_THROW(surveyCsv(path + ".missing", {}), Error);
}

}  // namespace
}  // namespace proprio
