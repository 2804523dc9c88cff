#include "proprio/recording/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_number_internal.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

std::string csvMessage(const std::string& text) {
  try {
    readCsvText(text, "t.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string recordingMessageOf(const std::string& text, const CsvOptions& options = {}) {
  try {
    readCsvRecordingText(text, "t.csv", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> namesOf(const Recording& recording) {
  std::vector<std::string> names;
  for (const Channel& channel : recording.channels) names.push_back(channel.name);
  return names;
}

using Names = std::vector<std::string>;

// Separators, quotes, CRLF, CR alone, byte order mark, comments and empty lines do not change the
// numbers.
TEST(Csv, ReadsDialects) {
  for (const std::string text :
       {"a,b\n1,2\n3,-4e-3\n",
        "\xef\xbb\xbf"
        "a,b\r\n1,2\r\n\r\n3,-4e-3",
        "a;b\n1;2\n3;-4e-3\n", "# made by hand\n\"a\"\t b \n1\t2\n3\t -4e-3 \n",
        "a|b\n1|2\n3|-.4E-2\n", "a  b\n 1 2\n3\t-4e-3 \n", "a,b,\n1,2,\n3,-4e-3,\n",
        "a;b\n1;2\n3;-0,004\n", "% a b\na b\n1 2\n3 -0004e-3\n", "a,b\r1,2\r3,-4e-3\r",
        "# c\ra;b\r1;2\r\r3;-0,004"}) {
    const CsvTable table = readCsvText(text);
    EXPECT_EQ(table.names, (Names{"a", "b"})) << text;
    ASSERT_EQ(table.values.rows(), 2) << text;
    EXPECT_EQ(table.values(1, 1), -0.004) << text;
    EXPECT_EQ(table.column("b"), 1);
    EXPECT_EQ(table.column("c"), -1);
  }
  EXPECT_EQ(readCsvText("a,b\n").values.rows(), 0);
  EXPECT_EQ(readCsvText("a,b\n").values.cols(), 2);
}

// In a name in quotes, a quote is written twice (RFC 4180).
TEST(Csv, QuotesWithinQuotes) {
  const CsvTable table = readCsvText("\"q_j\"\"2\",\"\"\"a\"\", b\",c\n1,2,3\n4,5,6\n");
  EXPECT_EQ(table.names, (Names{"q_j\"2", "\"a\", b", "c"}));
  EXPECT_EQ(readCsvText(csvText(table)).names, table.names);
}

// CR alone ends lines in every block of a long table, and rows are counted by it.
TEST(Csv, CarriageReturnsInLongTables) {
  std::string text = "a,b\r";
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + ",0.25\r";
  ASSERT_GT(text.size(), size_t{3} << 20);
  EXPECT_EQ(readCsvText(text).values(299999, 0), 299999.0);
  EXPECT_EQ(csvMessage(text + "x,1\r").rfind("t.csv:300002:1: ", 0), 0u);
}

// Every bad cell is named by row and column.
TEST(Csv, BadCells) {
  EXPECT_EQ(csvMessage("a,b\n1,2\n3,x\n"),
            "t.csv:3:2: column 'b' has 'x', expected a finite number");
  EXPECT_EQ(csvMessage("a,b\n1,\n").rfind("t.csv:2:2: ", 0), 0u);
  EXPECT_EQ(
      csvMessage("a,b\n1.5,\"0,5\"\n"),
      "t.csv:2:2: column 'b' has '0,5', expected a number; write a decimal point, or separate "
      "cells by semicolons");
  EXPECT_EQ(csvMessage("a,b\n1,nan\n").rfind("t.csv:2:2: ", 0), 0u);
  EXPECT_EQ(csvMessage("a,b\ninf,1\n").rfind("t.csv:2:1: ", 0), 0u);
  EXPECT_EQ(csvMessage("a,b\n1\n").rfind("t.csv:2: this row has 1 cell, expected 2", 0), 0u);
  EXPECT_EQ(csvMessage("a,b\n1,2,3\n").rfind("t.csv:2: ", 0), 0u);
  EXPECT_EQ(csvMessage("a,a\n1,2\n").rfind("t.csv:1:2: ", 0), 0u);
  EXPECT_EQ(csvMessage("a,\n1,2\n").rfind("t.csv:1:2: ", 0), 0u);
  EXPECT_EQ(csvMessage("1,2\n3,4\n").rfind("t.csv:1:1: ", 0), 0u);
  EXPECT_EQ(csvMessage("").rfind("t.csv: the file is empty", 0), 0u);
}

// What is written reads back as exactly the same numbers.
TEST(Csv, RoundTrip) {
  CsvTable table;
  table.names = {"x", "y"};
  table.values.resize(2, 2);
  table.values << 0.1, 1.0 / 3.0, -1e-300, 12345678.9;
  const CsvTable again = readCsvText(csvText(table));
  EXPECT_EQ(again.names, table.names);
  EXPECT_EQ(again.values, table.values);
}

// ---- numbers ----

// The number at the start of a text, as the reader scans it; NaN if it does not take all of it.
double scanned(const std::string& text, char decimal = '.') {
  const std::string padded = text + std::string(1 + csv::kPadding, '\n');
  double value = 0.0;
  bool ignored = false;
  const char* behind = csv::scanNumber(padded.data(), decimal, value, ignored);
  return behind == padded.data() + text.size() ? value : std::nan("");
}

void expectLikeStrtod(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr), found = scanned(text);
  EXPECT_EQ(std::memcmp(&expected, &found, sizeof found), 0)
      << text << ": " << formatNumber(found) << ", strtod says " << formatNumber(expected);
}

// The scanner rounds like strtod, bit by bit: random doubles printed with 1 to 25 digits in fixed
// and in exponent notation, of every magnitude.
TEST(CsvNumbers, RandomDoublesAreExact) {
  std::mt19937_64 random(7);
  char text[512];
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    if (i % 2 == 0)  // as measured
      value = std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -63 + i % 12);
    if (!std::isfinite(value)) continue;
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(random() % 25), value);
    expectLikeStrtod(text);
    if (std::abs(value) > 1e30) continue;
    std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random() % 28), value);
    expectLikeStrtod(text);
  }
}

// Digits and exponents around the limits of each way of rounding, and numbers that lie at or next
// to the middle between two doubles.
TEST(CsvNumbers, HardCasesAreExact) {
  for (const char* text : {"0",
                           "0.0",
                           "1",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740995",
                           "9007199254740993.0",
                           "900719925474099.3",
                           "18446744073709551615",
                           "9999999999999999999",
                           "0.9999999999999999999",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "123456789e-27",
                           "1e-27",
                           "1e-28",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "0.500000000000000166533453693773481063544750213623046875",
                           "1.00000000000000011102230246251565404236316680908203125",
                           "1.00000000000000011102230246251565",
                           "1.00000000000000011102230246251566",
                           "5e-1",
                           "00012.500",
                           "8.5",
                           "1.",
                           ".5",
                           "3.14159265358979323846264338327950288",
                           "0.000000000000000000000000000123",
                           "1E+5",
                           "6929495644600919.5",
                           "3.7455744005952583e15",
                           "9214843084008499.0",
                           "30078505129381147446200",
                           "1777820000000000000001",
                           "0.30000000000000004"}) {
    expectLikeStrtod(text);
    expectLikeStrtod("-" + std::string(text));
  }
  // exact halves of neighbours, and one digit more or less
  std::mt19937_64 random(3);
  char text[64];
  for (int i = 0; i < 20000; ++i) {
    const uint64_t odd = (random() % (uint64_t{1} << 53)) | (uint64_t{1} << 53) | 1;  // 54 bits
    const int decimals = static_cast<int>(random() % 3);
    for (const int more : {-1, 0, 1}) {
      const uint64_t digits = odd * (decimals == 0   ? 1
                                     : decimals == 1 ? 10
                                                     : 100) +
                              static_cast<uint64_t>(more + 1) - 1;
      std::snprintf(text, sizeof text, "%llue-%d", static_cast<unsigned long long>(digits),
                    decimals);
      expectLikeStrtod(text);
    }
  }
}

// What is no number, or too large for one, is refused; a decimal comma is one if told.
TEST(CsvNumbers, Refusals) {
  for (const char* text : {"", "-", "+", ".", "e5", "1e", "1e+", "--1", "+-1", "1e400", "-1e999999",
                           "0x10", "1_0", "nan"})
    EXPECT_TRUE(std::isnan(scanned(text))) << text;
  EXPECT_EQ(scanned("1e-400"), 0.0);
  EXPECT_EQ(scanned("0e99999"), 0.0);
  EXPECT_EQ(scanned("-3,25", ','), -3.25);
  EXPECT_EQ(scanned("3,141592653589793238462", ','), 3.141592653589793238462);
}

// ---- recordings ----

// A file without names is read from its first line; units, time columns and missing cells are
// understood.
TEST(CsvRecording, NamesUnitsAndTime) {
  const Recording plain = readCsvRecordingText("1,2\n3,\nnan,4\n", "t.csv");
  EXPECT_EQ(namesOf(plain), (Names{"column_1", "column_2"}));
  EXPECT_EQ(plain.samples(), 3);
  EXPECT_EQ(plain.time.size(), 0);
  EXPECT_TRUE(std::isnan(plain.values(1, 1)) && std::isnan(plain.values(2, 0)));

  const Recording named = readCsvRecordingText(
      "q_a [deg];Time (ms);x[0];tau_des_a [N m]\n1;1000;5;true\n2;2000;6;-inf\n", "t.csv");
  EXPECT_EQ(namesOf(named), (Names{"q_a", "x[0]", "tau_des_a"}));
  EXPECT_EQ(named.channels[0].unit, "deg");
  EXPECT_EQ(named.channels[0].quantity, Quantity::kPosition);
  EXPECT_EQ(named.channels[0].of, "a");
  EXPECT_EQ(named.channels[1].unit, "");
  EXPECT_EQ(named.channels[2].role, Role::kCommanded);
  EXPECT_EQ(named.channels[2].unit, "N m");
  EXPECT_EQ(named.channels[2].origin, "t.csv, column 4");
  EXPECT_EQ(named.time[1], 2.0);
  EXPECT_EQ(named.values(0, 2), 1.0);
  EXPECT_TRUE(std::isinf(named.values(1, 2)));

  const Recording numpy = readCsvRecordingText("# t q1 q2\n0 1 2\n1 3 4\n", "t.csv");
  EXPECT_EQ(namesOf(numpy), (Names{"q1", "q2"}));
  EXPECT_EQ(numpy.time[1], 1.0);
  const Recording numbered = readCsvRecordingText("t,1,2\n0,5,6\n", "t.csv");
  EXPECT_EQ(namesOf(numbered), (Names{"1", "2"}));
  const Recording pandas = readCsvRecordingText(",a\n0,5\n", "t.csv");
  EXPECT_EQ(namesOf(pandas), (Names{"column_1", "a"}));
  const Recording both = readCsvRecordingText("q [rad],q [deg]\n0,5\n", "t.csv");
  EXPECT_EQ(namesOf(both), (Names{"q [rad]", "q [deg]"}));
}

// Time stamps of a clock are scaled by their size, and a note says so.
TEST(CsvRecording, EpochStamps) {
  const Recording ros = readCsvRecordingText("%time,x\n1689184412981349966,1\n", "t.csv");
  EXPECT_NEAR(ros.time[0], 1689184412.981349966, 1e-6);
  ASSERT_EQ(ros.notes.size(), 1u);
  EXPECT_NE(ros.notes[0].find("ns since 1970"), std::string::npos);
  EXPECT_EQ(readCsvRecordingText("timestamp,x\n1689184412981,1\n", "t").time[0], 1689184412.981);
  EXPECT_EQ(readCsvRecordingText("time_us,x\n1500,1\n", "t").time[0], 1500 * 1e-6);
  EXPECT_TRUE(readCsvRecordingText("time,x\n1689184412.5,1\n", "t").notes.empty());
}

// A decimal comma is understood where it cannot be a separator, from wherever it first appears; a
// file that mixes commas and points is refused.
TEST(CsvRecording, DecimalComma) {
  const Recording comma = readCsvRecordingText("1;2\n1,5;-2,5e1\n0,25;7\n", "t.csv");
  EXPECT_EQ(comma.values(1, 0), 1.5);
  EXPECT_EQ(comma.values(1, 1), -25.0);
  EXPECT_EQ(comma.values(2, 0), 0.25);
  EXPECT_EQ(readCsvRecordingText("1,5\t2\n", "t").values(0, 0), 1.5);
  EXPECT_EQ(recordingMessageOf("a;b\n1.5;2\n1;2,5\n"),
            "t.csv:3:2: column 'b' has '2,5', expected a number");
  EXPECT_NE(recordingMessageOf("a;b\n1,5;2\n1;2.5\n"), "");
  EXPECT_NE(recordingMessageOf("a;b\n1.234,5;2\n"), "");
}

// Damage is an error with its place; if asked, the rows are dropped and a note counts them.
TEST(CsvRecording, BadRows) {
  const std::string text = "a,b\n1,2\n3,x\n4\n5,6\n7";
  EXPECT_EQ(recordingMessageOf(text), "t.csv:3:2: column 'b' has 'x', expected a number");
  EXPECT_EQ(recordingMessageOf("a,b\n1,2\n3"),
            "t.csv:3: the last row is cut off: it has 1 cell, expected 2");
  EXPECT_EQ(recordingMessageOf("1.5,2\n1,2,3\n"),
            "t.csv:2: this row has 3 cells, expected 2, one per column");
  EXPECT_EQ(
      recordingMessageOf("1.5,x\n1,2\n").rfind("t.csv:1:2: the first line has numbers and", 0), 0u);
  CsvOptions options;
  options.drop_bad_rows = true;
  const Recording kept = readCsvRecordingText(text, "t.csv", options);
  EXPECT_EQ(kept.samples(), 2);
  EXPECT_EQ(kept.values(1, 1), 6.0);
  ASSERT_EQ(kept.notes.size(), 1u);
  EXPECT_EQ(kept.notes[0],
            "3 bad rows dropped, the last one because it is cut off; the first: t.csv:3:2: column "
            "'b' has 'x', expected a number");
  EXPECT_EQ(recordingMessageOf("a,b\na\n1,2\n").rfind("t.csv:2: ", 0), 0u);
  EXPECT_EQ(recordingMessageOf(std::string("a\0b\n", 4)).rfind("t.csv: is a binary file", 0), 0u);
  EXPECT_EQ(recordingMessageOf("\xff\xfe").rfind("t.csv: is UTF-16", 0), 0u);
  EXPECT_EQ(recordingMessageOf("# only\n% comments\n\n").rfind("t.csv: the file is empty", 0), 0u);
  EXPECT_EQ(recordingMessageOf("a,b,a\n").rfind("t.csv:1:3: the column name 'a' is used", 0), 0u);
}

// Separator and names can be given instead of found.
TEST(CsvRecording, GivenDialect) {
  CsvOptions options;
  options.separator = ':';
  EXPECT_EQ(readCsvRecordingText("1:2\n", "t", options).values.cols(), 2);
  options.separator = ',';
  options.names = CsvNames::kNone;
  EXPECT_NE(recordingMessageOf("a,b\n1,2\n", options), "");
  EXPECT_EQ(readCsvRecordingText("1,2\n", "t", options).samples(), 1);
}

// One value per line gives rows of the width that is told; a rest is an error or, if asked,
// dropped.
TEST(CsvRecording, ValueList) {
  const Recording list = readValueListText("1\n2\n3\n4\n5\n6\n", "p.txt", 3);
  ASSERT_EQ(list.values.rows(), 2);
  EXPECT_EQ(list.values(1, 0), 4.0);
  EXPECT_EQ(list.channels[2].origin, "p.txt, value 3 of 3");
  EXPECT_THROW(readValueListText("1\n2\n3\n", "p.txt", 2), Error);
  CsvOptions options;
  options.drop_bad_rows = true;
  const Recording cut = readValueListText("1\n2\n3\n", "p.txt", 2, options);
  EXPECT_EQ(cut.samples(), 1);
  EXPECT_EQ(cut.notes.size(), 1u);
  EXPECT_THROW(readValueListText("1\nx\n", "p.txt", 2, options), Error);
  EXPECT_THROW(readValueListText("1,2\n3,4\n", "p.txt", 2), Error);
  EXPECT_THROW(readValueListText("1\n", "p.txt", 0), Error);
}

// A recording that is written reads back the same: names, units, meaning, time, values, NaN.
TEST(CsvRecording, RoundTrip) {
  Recording recording;
  for (const char* name : {"q_a", "tau_des_b", "f_hand_z", "joint 1, speed", "17", "q_\"b\",2"})
    recording.channels.push_back(channelNamed(name));
  recording.channels[0].unit = "rad";
  recording.channels[3].unit = "deg/s";
  recording.time = Eigen::Vector3d(0.0, 0.1, 0.30000000000000004);
  recording.values = Eigen::MatrixXd::Random(3, 6);
  recording.values(1, 2) = std::nan("");
  recording.values(2, 0) = -0.0;
  recording.values(0, 0) = std::numeric_limits<double>::denorm_min();
  const Recording again = readCsvRecordingText(csvText(recording), "t.csv");
  ASSERT_EQ(again.channels.size(), 6u);
  for (size_t c = 0; c < 6; ++c) {
    EXPECT_EQ(again.channels[c].name, recording.channels[c].name);
    EXPECT_EQ(again.channels[c].unit, recording.channels[c].unit);
    EXPECT_EQ(again.channels[c].quantity, recording.channels[c].quantity);
    EXPECT_EQ(again.channels[c].role, recording.channels[c].role);
    EXPECT_EQ(again.channels[c].of, recording.channels[c].of);
    EXPECT_EQ(again.channels[c].component, recording.channels[c].component);
  }
  EXPECT_EQ(again.time, recording.time);
  EXPECT_TRUE(std::isnan(again.values(1, 2)));
  recording.values(1, 2) = 0.0;
  Eigen::MatrixXd values = again.values;
  values(1, 2) = 0.0;
  EXPECT_EQ(values, recording.values);
  EXPECT_TRUE(std::signbit(again.values(2, 0)));

  // a missing value alone in its line
  Recording single;
  single.channels.push_back(channelNamed("x"));
  single.values = Eigen::Vector3d(1.0, std::nan(""), 3.0);
  EXPECT_EQ(readCsvRecordingText(csvText(single), "t.csv").samples(), 3);
}

// ---- files as vendors and laboratories write them ----

// Lines before the table are skipped and told, whatever separates them; the table is the same as
// without them.
TEST(CsvDialects, LinesBeforeTheTable) {
  const std::string table = "Time;J1;J2\n0,0;1,5;2\n0,1;1,75;3\n";
  for (const std::string before :
       {"Robot;KR6 R900\nController;KRC4\n\nSample time;0,004\n", "Robot: TX40\nRate: 250 Hz\n",
        "# a comment\n% another\nABB log\n", "Delta_X\t0.001\t0.001\t0.001\n",
        "Program;a;b;c;d;e\nUser;x\n"}) {
    const Recording r = readCsvRecordingText(before + table, "t.csv");
    EXPECT_EQ(namesOf(r), (Names{"J1", "J2"})) << before;
    ASSERT_EQ(r.samples(), 2) << before;
    EXPECT_EQ(r.time[1], 0.1);
    EXPECT_EQ(r.values(1, 0), 1.75);
    ASSERT_EQ(r.notes.size(), 1u) << before;
    EXPECT_NE(r.notes[0].find("before the table"), std::string::npos) << r.notes[0];
  }
  // names may be separated otherwise than rows, or underlined; rows need no names
  EXPECT_EQ(namesOf(readCsvRecordingText("t [s] q1 [deg] q2 [deg]\n0 1 2\n1 3 4\n", "t")),
            (Names{"q1", "q2"}));
  EXPECT_EQ(namesOf(readCsvRecordingText("t,q1,q2\n0 1 2\n1 3 4\n", "t")), (Names{"q1", "q2"}));
  EXPECT_EQ(namesOf(readCsvRecordingText("t | q1\n--|---\n0 | 1\n1 | 2\n", "t")), (Names{"q1"}));
  EXPECT_EQ(readCsvRecordingText("TX40 run 3\n0 1 2\n1 3 4\n", "t").samples(), 2);
}

// A line of units below the names counts as units in the names; unknown ones stay in the names.
TEST(CsvDialects, LineOfUnits) {
  for (const std::string units : {"[s],[deg],[Nm]", "s,deg,Nm", "(s),(deg),(Nm)", "s,DEG,N m"}) {
    const Recording r = readCsvRecordingText("t,q1,tau1\n" + units + "\n0,1,2\n1,3,4\n", "t.csv");
    ASSERT_EQ(r.channels.size(), 2u) << units;
    ASSERT_EQ(r.samples(), 2) << units;
    EXPECT_EQ(r.channels[0].name, "q1");
    EXPECT_EQ(r.channels[0].unit.substr(0, 1), units.find("DEG") == std::string::npos ? "d" : "D");
    EXPECT_NE(r.channels[1].unit, "");
    ASSERT_EQ(r.notes.size(), 1u);
    EXPECT_EQ(r.notes[0], "line 2 holds the units of the columns");
  }
  const Recording ms = readCsvRecordingText("t;load\n[ms];[%]\n0;1\n5;2\n", "t.csv");
  EXPECT_EQ(ms.time[1], 0.005);
  EXPECT_EQ(ms.channels[0].name, "load [%]");
  // Latin-1, as instruments write degrees
  const Recording latin = readCsvRecordingText("t;q1 [\xb0]\n0;1\n1;2\n", "t.csv");
  EXPECT_EQ(latin.channels[0].unit, "\xc2\xb0");
}

// Columns of text are left out and told, flags are 0 and 1; numbers beside them are read the same.
TEST(CsvDialects, TextColumns) {
  const Recording r = readCsvRecordingText(
      "time,mode,moving,q1,word,frame,remark\n0.0,AUTO,TRUE,1.5,0x1F,base,\n"
      "0.1,AUTO,False,2.5,0x2F,\"a,b\",stop\n0.2,,TRUE,,0x1F,base,\n",
      "t.csv");
  EXPECT_EQ(namesOf(r), (Names{"moving", "q1"}));
  ASSERT_EQ(r.samples(), 3);
  EXPECT_EQ(r.values(0, 0), 1.0);
  EXPECT_EQ(r.values(1, 0), 0.0);
  EXPECT_EQ(r.values(1, 1), 2.5);
  EXPECT_TRUE(std::isnan(r.values(2, 1)));
  EXPECT_EQ(r.channels[1].origin, "t.csv, column 4");
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_EQ(r.notes[0],
            "columns with text were left out: 'mode' ('AUTO'), 'word' ('0x1F'), 'frame' ('base'), "
            "'remark' ('')");
  // a remark after a long time without one
  std::string late = "x,remark\n";
  for (int i = 0; i < 300; ++i) late += i == 290 ? "1,crash\n" : "1,\n";
  const Recording remarks = readCsvRecordingText(late, "t.csv");
  EXPECT_EQ(remarks.samples(), 300);
  ASSERT_EQ(remarks.notes.size(), 1u);
  EXPECT_EQ(remarks.notes[0],
            "1 cell with text in columns that are empty at first was read as missing");
  // what looks like a damaged number is none of these, nor is a word among numbers
  EXPECT_EQ(recordingMessageOf("a,b\n1,2.3.4\n2,2.3.5\n").rfind("t.csv:2:2: ", 0), 0u);
  EXPECT_EQ(recordingMessageOf("a,b\n1,2\n2,x\n3,4\n").rfind("t.csv:3:2: ", 0), 0u);
  EXPECT_EQ(recordingMessageOf("a,b\nx,y\nz,u\n").rfind("t.csv:2:1: ", 0), 0u);
}

// Dates with time and times of day are seconds; those of calendar dates are what POSIX says.
TEST(CsvDialects, DatesAndTimes) {
  const std::pair<const char*, double> cases[] = {
      {"1970-01-01T00:00:00Z", 0.0},
      {"2024-03-01T12:00:00.250Z", 1709294400.25},  // date -u -d 2024-03-01T12:00:00 +%s
      {"2024-03-01 12:00:00.250", 1709294400.25},
      {"2024/03/01 12:00:00,25", 1709294400.25},
      {"01.03.2024 12:00:00.25", 1709294400.25},
      {"2024-03-01T14:00:00.250+02:00", 1709294400.25},
      {"2024-03-01T10:30:00.250-0130", 1709294400.25},
      {"1969-12-31T23:59:59.5Z", -0.5},
      {"12:00:00.5", 43200.5}};
  for (const auto& [text, seconds] : cases) {
    const Recording r =
        readCsvRecordingText(std::string("stamp;x\n") + text + ";1\n" + text + ";2\n", "t.csv");
    ASSERT_EQ(r.time.size(), 2) << text;
    EXPECT_EQ(r.time[0], seconds) << text;
    ASSERT_EQ(r.notes.size(), 1u) << text;
    EXPECT_NE(r.notes[0].find("read as seconds since"), std::string::npos) << r.notes[0];
  }
  const Recording duration = readCsvRecordingText("t,x\n0.5 sec,1\n1 sec,2\n", "t.csv");
  EXPECT_EQ(duration.time[0], 0.5);
  EXPECT_EQ(duration.notes.at(0),
            "column 't' holds times with a unit ('0.5 sec'): read as seconds");
  // the name need not say that it is time; a date alone is text
  EXPECT_EQ(readCsvRecordingText("When,x\n2024-03-01T12:00:00Z,1\n", "t").time.size(), 1);
  EXPECT_EQ(readCsvRecordingText("Date Time x\n2024-03-01 12:00:01 1\n", "t").time[0], 43201.0);
  EXPECT_EQ(recordingMessageOf("stamp,x\n2024-03-01T12:00:00Z,1\n2024-03-01T12:00:01Z,2\n"
                               "2024-13-01T12:00:00Z,3\n"),
            "t.csv:4:1: column 'stamp' has '2024-13-01T12:00:00Z', expected a date and time like "
            "those before");
}

// Time in two columns, and under the names that ROS tools give it; the header's stamp comes before
// the time of receipt.
TEST(CsvDialects, NamesOfTime) {
  // a duration is the time if it grows and nothing else is
  EXPECT_EQ(readCsvRecordingText("duration,q1\n0,1\n0.5,2\n", "log.csv").time[1], 0.5);
  EXPECT_EQ(readCsvRecordingText("duration,q1\n2,1\n2,2\n", "log.csv").time.size(), 0);
  EXPECT_EQ(readCsvRecordingText("duration,t,q1\n0,5,1\n1,7,2\n", "log.csv").time[1], 7.0);
  const Recording pair = readCsvRecordingText(
      "header.stamp.sec,header.stamp.nanosec,x\n1709294400,250000000,1\n1709294401,0,2\n", "t");
  EXPECT_EQ(pair.time[0], 1709294400.25);
  EXPECT_EQ(namesOf(pair), (Names{"x"}));
  EXPECT_EQ(pair.notes.at(0), "the time is 'header.stamp.sec' plus 'header.stamp.nanosec' ns");
  EXPECT_EQ(readCsvRecordingText("secs nsecs x\n5 500000000 1\n6 0 1\n", "t").time[0], 5.5);
  // two full clocks are none such
  EXPECT_EQ(readCsvRecordingText("time_s,time_ns,x\n2,2000000000,1\n", "t").time[0], 2.0);
  const Recording header = readCsvRecordingText(
      "%time,field.header.stamp,x\n1709294400900000000,1709294400250000000,1\n"
      "1709294401900000000,1709294401250000000,1\n",
      "t");
  EXPECT_NEAR(header.time[0], 1709294400.25, 1e-6);
  EXPECT_EQ(namesOf(header), (Names{"time", "x"}));
  EXPECT_EQ(readCsvRecordingText("__time,x\n5,1\n", "t").time[0], 5.0);
  EXPECT_EQ(readCsvRecordingText("rosbagTimestamp,x\n5,1\n", "t").time[0], 5.0);
  EXPECT_EQ(readCsvRecordingText("Timestamp[ms];x\n5;1\n", "t").time[0], 0.005);
}

// Titles above names that repeat, units behind a stroke, the first line of Excel.
TEST(CsvDialects, OtherHeaders) {
  const Recording titled = readCsvRecordingText(
      "Trace 7\nTime;Position;;Torque;\n;A1;A2;A1;A2\ns;deg;deg;Nm;Nm\n0;1;2;3;4\n1;1;2;3;4\n",
      "t.csv");
  EXPECT_EQ(namesOf(titled), (Names{"Position A1", "Position A2", "Torque A1", "Torque A2"}));
  EXPECT_EQ(titled.channels[3].unit, "Nm");
  EXPECT_EQ(titled.time[1], 1.0);
  const Recording stroke =
      readCsvRecordingText("sep=;\nZeit / ms;q1 / deg;M1 in Nm;a/b\n5;1;2;3\n6;1;2;3\n", "t.csv");
  EXPECT_EQ(namesOf(stroke), (Names{"q1", "M1", "a/b"}));
  EXPECT_EQ(stroke.channels[1].unit, "Nm");
  EXPECT_EQ(stroke.time[0], 0.005);
}

// Columns of several levels as pandas writes them: a line for each, then the name of the index.
TEST(CsvDialects, LevelsOfPandas) {
  for (const std::string head :
       {",position,position,effort,effort\n,elbow,wrist,elbow,wrist\ntime,,,,\n",
        "quantity,position,position,effort,effort\njoint,elbow,wrist,elbow,wrist\ntime,,,,\n",
        "Run 7\n,position,,effort,\n,elbow,wrist,elbow,wrist\ntime,,,,\n"}) {
    const Recording r = readCsvRecordingText(head + "0,1,2,3,4\n0.5,5,6,7,8\n", "t.csv");
    EXPECT_EQ(namesOf(r),
              (Names{"position elbow", "position wrist", "effort elbow", "effort wrist"}))
        << head;
    EXPECT_EQ(r.time[1], 0.5) << head;
    EXPECT_EQ(r.values(1, 3), 8.0) << head;
  }
  const Recording three = readCsvRecordingText(
      ",q,q,v,v\n,l,r,l,r\n,x,x,x,x\ntime,,,,\n0,1,2,3,4\n1,1,2,3,4\n", "t.csv");
  EXPECT_EQ(namesOf(three), (Names{"q l x", "q r x", "v l x", "v r x"}));
}

// An index without a name is the time if it grows, not if it counts rows or goes back.
TEST(CsvDialects, NamelessIndex) {
  const Recording timed = readCsvRecordingText(",q\n0,1\n0.5,2\n1.25,3\n", "t.csv");
  EXPECT_EQ(timed.time, Eigen::Vector3d(0.0, 0.5, 1.25));
  EXPECT_EQ(timed.notes.at(0), "the first column has no name and grows: read as time in s");
  EXPECT_EQ(readCsvRecordingText(",q\n0,1\n1,2\n2,3\n", "t.csv").time.size(), 0);
  EXPECT_EQ(readCsvRecordingText(",q\n0,1\n0.5,2\n0.25,3\n", "t.csv").time.size(), 0);
  EXPECT_EQ(readCsvRecordingText("0,1\n0.5,2\n0.75,3\n", "t.csv").time.size(), 0);
}

// Tables put together with their headers and units: the same lines again are no rows.
TEST(CsvDialects, HeaderAgain) {
  const std::string head = "time,q\ns,deg\n";
  const Recording r = readCsvRecordingText(head + "0,1\n1,2\n" + head + "2,3\n" + head, "t.csv");
  ASSERT_EQ(r.samples(), 3);
  EXPECT_EQ(r.values(2, 0), 3.0);
  EXPECT_EQ(r.notes.at(1), "4 lines that repeat the names of the columns were skipped");
}

// Exponents of Fortran are those of everybody else, on the quick and on the slow way to a number.
TEST(CsvNumbers, ExponentsOfFortran) {
  std::string text = "time x\n", other = text;
  for (const char* number : {"1.25D+00", "-3.5d-07", "1.7976931348623157D308", "2D3",
                             "0.123456789012345678901234567890d-5"}) {
    text += fmt::format("{} {}\n", number, number);
    std::string plain = number;
    for (char& c : plain) c = c == 'd' || c == 'D' ? 'e' : c;
    other += fmt::format("{} {}\n", plain, plain);
  }
  EXPECT_EQ(readCsvRecordingText(text, "t").values, readCsvRecordingText(other, "t").values);
  EXPECT_EQ(readCsvRecordingText("a;b\n1,5D1;\"2,5d-1\"\n", "t").values(0, 0), 15.0);
  EXPECT_NE(recordingMessageOf("a,b\n1,2\n3,4D\n"), "");
}

// Between commas, decimal commas are in quotes: told, and refused beside decimal points.
TEST(CsvRecording, DecimalCommasInQuotes) {
  const Recording r = readCsvRecordingText("a,b\n\"0\",\"1,25\"\n3,\"-2,5\"\n4,5\n", "t.csv");
  EXPECT_EQ(r.values, (Eigen::MatrixXd(3, 2) << 0, 1.25, 3, -2.5, 4, 5).finished());
  EXPECT_EQ(r.notes.at(0), "commas in quotes were read as decimal commas");
  EXPECT_NE(recordingMessageOf("a,b\n\"0,5\",\"1,25\"\n\"0.5\",\"1\"\n"), "");
  EXPECT_NE(recordingMessageOf("a,b\n1,\"1,234,567\"\n2,\"1,234,568\"\n3,4\n"), "");
}

// Lines of text below the table are skipped; above further rows they are damage.
TEST(CsvDialects, LinesBelowTheTable) {
  const Recording r = readCsvRecordingText("a,b\n1,2\n3,4\n\nEnd of log\nOperator: me\n", "t.csv");
  EXPECT_EQ(r.samples(), 2);
  EXPECT_EQ(r.notes.at(0), "2 lines of text below the table were skipped");
  EXPECT_EQ(recordingMessageOf("a,b\n1,2\noops\n3,4\n"),
            "t.csv:3: this row has 1 cell, expected 2, one per column name");
  EXPECT_EQ(recordingMessageOf("a,b\n1,2\n3"),
            "t.csv:3: the last row is cut off: it has 1 cell, expected 2");
}

// Messages as ros2 topic echo --csv prints them.
TEST(CsvDialects, JointStatesWithoutNames) {
  const Recording r = readCsvRecordingText(
      "5,500000000,,elbow,wrist,1,2,3,4,5,6\n6,0,,elbow,wrist,1,2,3,4,5,6\n", "t.csv");
  EXPECT_EQ(r.time[0], 5.5);
  ASSERT_GE(r.column("velocity[1]"), 0);
  EXPECT_EQ(r.values(0, r.column("velocity[1]")), 4.0);
  EXPECT_EQ(r.channels[static_cast<size_t>(r.column("effort[0]"))].of, "elbow");
  // other numbers of columns are left alone
  EXPECT_LT(readCsvRecordingText("5,0,,elbow,wrist,1,2,3,4\n", "t.csv").column("position[0]"), 0);
}

// Columns of text that list the joints say whose the numbered columns are.
TEST(CsvDialects, NamesOfJointsInText) {
  const Recording r = readCsvRecordingText(
      "%time,field.name0,field.name1,field.position0,field.position1,field.seq\n"
      "0,elbow,wrist,1.5,2.5,0\n1,elbow,wrist,1.5,2.5,1\n",
      "t.csv");
  EXPECT_EQ(namesOf(r), (Names{"field.position0", "field.position1", "field.seq"}));
  EXPECT_EQ(r.channels[0].of, "elbow");
  EXPECT_EQ(r.channels[1].of, "wrist");
  EXPECT_EQ(r.channels[2].of, "");
}

// A row of other joints, or in another order, is none of the table: messages of several publishers
// would be taken for one robot.
TEST(CsvDialects, OtherJointsBetween) {
  const std::string head = "%time,field.name0,field.name1,field.position0,field.position1\n";
  const std::string rows = "0,elbow,wrist,1,2\n1,\"elbow\", wrist ,3,4\n";
  EXPECT_EQ(readCsvRecordingText(head + rows, "t.csv").samples(), 2);
  const std::string mixed = head + rows + "2,wrist,elbow,5,6\n3,elbow,wrist,7,8\n";
  const std::string message = recordingMessageOf(mixed);
  EXPECT_EQ(message.rfind("t.csv:4:2: names the joint 'wrist' where the first row has 'elbow'", 0),
            0u)
      << message;
  CsvOptions options;
  options.drop_bad_rows = true;
  const Recording kept = readCsvRecordingText(mixed, "t.csv", options);
  ASSERT_EQ(kept.samples(), 3);
  EXPECT_EQ(kept.values(2, 0), 7.0);
  // without names, as ros2 topic echo --csv prints them
  EXPECT_NE(
      recordingMessageOf("5,0,,elbow,wrist,1,2,3,4,5,6\n6,0,,left_elbow,left_wrist,1,2,3,4,5,6\n")
          .find("names the joint 'left_elbow'"),
      std::string::npos);
}

// A column of dates beside one called time, and no row that can be read: no samples, no time.
TEST(CsvRecording, DatesBesideATimeWithoutRows) {
  CsvOptions options;
  options.drop_bad_rows = true;
  const Recording recording =
      readCsvRecordingText("t,date,q\n0,2026-01-01 10:00:00\n", "t.csv", options);
  EXPECT_EQ(recording.samples(), 0);
  EXPECT_LE(recording.channels.size(), 2u);
}

// A file of many blocks gives the same rows in the same order as in one piece, wherever the blocks
// end, and never more than a chunk at a time.
TEST(CsvStream, BlocksAndChunks) {
  const testing::TempFolder folder;
  const std::string path = folder.file("blocks.csv");
  constexpr int kRows = 200000;
  {
    std::ofstream file(path);
    file.precision(12);
    file << "n,half,name\n";
    for (int i = 0; i < kRows; ++i)
      file << i << ',' << i + 0.5 << ',' << (i % 1000 == 7 ? "" : "1")
           << (i % 3 == 0 ? "\r\n" : "\n");
  }
  int next = 0;
  size_t calls = 0;
  const CsvSummary summary = streamCsv(path, {}, [&](const CsvLayout& layout, const CsvRows& rows) {
    EXPECT_EQ(layout.columns.size(), 3u);
    EXPECT_LE(rows.size(), 1 << 16);
    ++calls;
    for (Eigen::Index r = 0; r < rows.rows(); ++r, ++next) {
      ASSERT_EQ(rows(r, 0), next);
      ASSERT_EQ(rows(r, 1), next + 0.5);
      ASSERT_EQ(std::isnan(rows(r, 2)), next % 1000 == 7);
    }
  });
  EXPECT_EQ(next, kRows);
  EXPECT_EQ(summary.rows, kRows);
  EXPECT_GT(calls, 2u);
  EXPECT_THROW(streamCsv(path + ".missing", {}, [](const auto&, const auto&) {}), Error);
  EXPECT_THROW(streamCsv(::testing::TempDir(), {}, [](const auto&, const auto&) {}), Error);
}

// A last row without line end is told; more so if it ends with fewer digits than all rows before,
// as where a file is cut off inside of a number.
TEST(CsvRecording, LastRowWithoutLineEnd) {
  std::string table = "time,x\n";
  for (int i = 0; i < 300; ++i)
    table += std::to_string(i) + ",-0.5734" + std::to_string(i + 100) + "\n";
  const auto notes = [](const std::string& text) {
    std::string all;
    for (const std::string& note : readCsvRecordingText(text, "t.csv").notes) all += note;
    return all;
  };
  EXPECT_EQ(notes(table), "");
  const std::string whole = notes(table + "300,-0.5734400"), cut = notes(table + "300,-0.57");
  EXPECT_NE(whole.find("no line end: if the file was cut off"), std::string::npos) << whole;
  EXPECT_NE(cut.find("this number is not whole"), std::string::npos) << cut;
  EXPECT_NE(cut.find("shorter number"), std::string::npos) << cut;
}

// A table of names only has no samples, also where a duration would have to grow.
TEST(CsvTest, durationWithoutRows) {
  const Recording recording = readCsvRecordingText("duration,q1\n", "t.csv", {});
  EXPECT_EQ(recording.samples(), 0);
  EXPECT_EQ(namesOf(recording), std::vector<std::string>{"q1"});
}

}  // namespace
}  // namespace proprio
