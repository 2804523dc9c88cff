#include "proprio/recording/csv_survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <random>

#include "proprio/core/testing/message_of.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/signal_map.h"

namespace proprio {
namespace {

constexpr double kSums = 1e-9;  // rounding of 1e5 additions, relative

PieceOptions between(double from, double to) {
  PieceOptions options;
  options.from = from;
  options.to = to;
  return options;
}

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
  EXPECT_EQ(t.first_repeated, u.first_repeated);
  EXPECT_EQ(t.first_repeated, 40000);
  EXPECT_EQ(t.first_reversed, u.first_reversed);
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
    EXPECT_EQ(s.first_missing, e.first_missing);
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
  const Recording stretch = *readCsvStretch(path, between(9.5, 31.0));
  const Recording whole = readCsvRecording(path);
  const Recording cut = cutByTime(whole, whole.time[0] + 9.5, whole.time[0] + 31.0);
  EXPECT_EQ(stretch.time, cut.time);
  ASSERT_EQ(stretch.values.rows(), cut.values.rows());
  EXPECT_EQ(stretch.values.col(0), cut.values.col(0));
  EXPECT_NE(messageOf([&] { readCsvStretch(path, between(1e6, 2e6)); }).find("none of its samples"),
            std::string::npos);
  const std::string untimed = folder.file("untimed.csv");
  std::ofstream(untimed) << "a,b\n1,2\n3,4\n";
  EXPECT_NE(messageOf([&] { readCsvStretch(untimed, between(0.0, 1.0)); }).find("no time stamps"),
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

/// Two joints in degrees, which only their limits say, and so many other columns that more rows
/// come than what the columns mean is judged by.
std::string wideTable(const testing::TempFolder& folder) {
  const std::string path = folder.file("wide.csv");
  std::ofstream file(path);
  file << "time,q1,q2,tau1,tau2";
  for (int c = 0; c < 70; ++c) file << ",x" << c;
  file << '\n';
  for (int i = 0; i < 40000; ++i) {
    const double t = 0.001 * i;
    file << t << ',' << 80.0 * std::sin(t) << ',' << 60.0 * std::cos(t) << ',' << i % 7 << ',';
    if (i != 35000) file << i % 11;
    for (int c = 0; c < 70; ++c) file << ",0";
    file << '\n';
  }
  return path;
}

Model twoJoints(const std::string& more = "") {
  return readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints: [{name: a, a: 1, lower: -2, upper: 2}, {name: b, a: 1, lower: -2, upper: 2}]
)" + more,
                           "robot.yaml");
}

// Pieces that are mapped are those of the whole that is mapped, with its names, units and notes.
TEST(CsvSurvey, MapsInPieces) {
  const testing::TempFolder folder;
  const std::string path = wideTable(folder);
  const Model model = twoJoints();
  PieceOptions options;
  options.model = &model;
  int pieces = 0;
  const CsvSurvey survey = surveyCsv(path, options, [&](const Recording&) { ++pieces; });
  EXPECT_GT(pieces, 10);
  const Recording expected = readRobotRecording(model, path);
  const std::optional<Recording> whole = readCsvStretch(path, options);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->time, expected.time);
  ASSERT_EQ(whole->values.rows(), expected.values.rows());
  ASSERT_EQ(whole->values.cols(), expected.values.cols());
  for (Eigen::Index c = 0; c < expected.values.cols(); ++c) {
    const auto k = static_cast<size_t>(c);
    EXPECT_EQ(whole->channels[k].name, expected.channels[k].name);
    EXPECT_EQ(whole->channels[k].unit, expected.channels[k].unit);
    EXPECT_TRUE(whole->values.col(c).isApprox(expected.values.col(c), 0.0) ||
                expected.channels[k].name == "tau_b");
    EXPECT_EQ(survey.quality.channels[k].largest, assessQuality(expected).channels[k].largest);
  }
  EXPECT_EQ(whole->notes, expected.notes);
  const int late = expected.column("tau_b");
  ASSERT_GE(late, 0);
  EXPECT_EQ(survey.quality.channels[static_cast<size_t>(late)].first_missing, 35000);
  // more than there may be is none
  EXPECT_FALSE(readCsvStretch(path, options, 1000));
  options.from = 10.0;
  options.to = 12.0;
  options.channels = {"q_*"};
  const std::optional<Recording> cut = readCsvStretch(path, options, 10000);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->values.cols(), 2);
  EXPECT_EQ(cut->values.col(0), cutByTime(expected, 10.0, 12.0).values.col(0));
}

// A declared rate counts on from piece to piece; a declared delay needs the whole.
TEST(CsvSurvey, DeclaredRatesAndDelays) {
  const testing::TempFolder folder;
  const std::string path = folder.file("untimed.csv");
  {
    std::ofstream file(path);
    file << "q_a,q_b\n";
    for (int i = 0; i < 1100000; ++i) file << i % 9 << ",1\n";
  }
  const Model model = twoJoints("recording: {rate: 500, signals: [{quantity: position}]}\n");
  PieceOptions options;
  options.model = &model;
  const CsvSurvey survey = surveyCsv(path, options);
  EXPECT_EQ(survey.quality.time.reversed + survey.quality.time.repeated, 0);
  EXPECT_NEAR(survey.quality.time.duration, 1099999 / 500.0, 1e-9);
  const Model late =
      twoJoints("recording: {rate: 500, signals: [{quantity: position, delay: 0.002}]}\n");
  options.model = &late;
  EXPECT_NE(messageOf([&] { surveyCsv(path, options); }).find("declares a delay"),
            std::string::npos);
}

// A clock that starts again is several recordings, as in memory; a single wrong stamp is an error.
TEST(CsvSurvey, RestartsAreNoErrors) {
  const testing::TempFolder folder;
  const std::string path = folder.file("twice.csv");
  {
    std::ofstream file(path);
    file << "time,x\n";
    for (int i = 0; i < 6000; ++i) file << 0.001 * (i % 3000) << ',' << i << '\n';
  }
  const Quality quality = surveyCsv(path, {}).quality;
  const Quality expected = assessQuality(readCsvRecording(path));
  EXPECT_EQ(quality.time.restarts, 1);
  ASSERT_FALSE(quality.findings.empty());
  EXPECT_EQ(quality.findings[0].severity, Severity::kWarning);
  EXPECT_EQ(expected.time.restarts, 1);
  EXPECT_NE(quality.findings[0].sentence.find("first at row 3001"), std::string::npos);
}

// The picture of many samples has the extremes of every stretch: no spike is lost, whatever the
// number of samples, and missing values stay missing.
TEST(CsvSurvey, EnvelopesKeepExtremes) {
  Recording all;
  constexpr Eigen::Index kCount = 100000;
  all.channels.resize(2);
  all.channels[0].name = "x";
  all.channels[1].name = "y";
  all.time = Eigen::VectorXd::LinSpaced(kCount, 0.0, kCount - 1.0);
  all.values.setZero(kCount, 2);
  for (Eigen::Index i = 0; i < kCount; ++i)
    all.values(i, 0) = std::sin(1e-3 * static_cast<double>(i));
  all.values.col(1).setConstant(NAN);
  all.values(77777, 0) = 5.0;
  all.values(33333, 0) = -5.0;
  Envelope envelope;
  for (Eigen::Index first = 0; first < kCount; first += 777)
    envelope.add(cutByRows(all, first, std::min<Eigen::Index>(777, kCount - first)));
  const Recording shown = envelope.finished();
  EXPECT_EQ(envelope.samples(), kCount);
  EXPECT_LE(shown.samples(), 2 * 8192);
  EXPECT_GE(shown.samples(), 8192);
  Eigen::Index high = 0, low = 0;
  EXPECT_EQ(shown.values.col(0).maxCoeff(&high), 5.0);
  EXPECT_EQ(shown.values.col(0).minCoeff(&low), -5.0);
  const double stretch = 2.0 * static_cast<double>(kCount) / static_cast<double>(shown.samples());
  EXPECT_NEAR(shown.time[high], 77777.0, stretch + 1.0);
  EXPECT_NEAR(shown.time[low], 33333.0, stretch + 1.0);
  EXPECT_TRUE(shown.values.col(1).array().isNaN().all());
  for (Eigen::Index i = 1; i < shown.samples(); ++i) EXPECT_GT(shown.time[i], shown.time[i - 1]);
}

}  // namespace
}  // namespace proprio
