#include "proprio/recording/json_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/recording/read_recording.h"

namespace proprio {
namespace {

double cellAt(const Recording& recording, const std::string& channel, Eigen::Index row) {
  const int column = recording.column(channel);
  EXPECT_GE(column, 0) << channel;
  return column < 0 ? std::nan("") : recording.values(row, column);
}

std::string jsonMessage(const std::string& text) {
  try {
    readJsonLogText(text, "log.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The same three samples in each of the ways.
const char* const kRecords =
    R"([{"time": 0, "arm": {"q": [1, 2]}, "tau": [10, 20], "mode": "run"},
        {"time": 0.1, "arm": {"q": [3, 4]}, "tau": [30, 40], "mode": "run"},
        {"time": 0.2, "arm": {"q": [5, 6]}, "tau": [50, 60], "mode": "run"}])";
const char* const kJsonLines = R"({"time": 0, "arm": {"q": [1, 2]}, "tau": [10, 20]}
{"time": 0.1, "arm": {"q": [3, 4]}, "tau": [30, 40]}

{"time": 0.2, "arm": {"q": [5, 6]}, "tau": [50, 60]}
)";
const char* const kLists = R"({"robot": "arm", "log": {"time": [0, 0.1, 0.2],
    "arm": {"q": [[1, 2], [3, 4], [5, 6]]}, "tau": [[10, 20], [30, 40], [50, 60]]}})";

// A list of records, one record per line and an object of lists are the same recording.
TEST(JsonLog, ReadsRecordsLinesAndLists) {
  for (const char* text : {kRecords, kJsonLines, kLists}) {
    const std::vector<Recording> recordings = readJsonLogText(text, "log.json");
    ASSERT_EQ(recordings.size(), 1u) << text;
    ASSERT_EQ(recordings[0].samples(), 3) << text;
    EXPECT_EQ(recordings[0].channels.size(), 4u);
    EXPECT_EQ(recordings[0].time[1], 0.1);
    EXPECT_EQ(cellAt(recordings[0], "arm.q[1]", 2), 6.0);
    EXPECT_EQ(cellAt(recordings[0], "tau[0]", 1), 30.0);
  }
}

// A record that lacks a value has it missing; a list of names says whose the columns are.
TEST(JsonLog, KeepsWhatIsMissingAndNames) {
  const std::vector<Recording> recordings = readJsonLogText(
      R"([{"t": 0, "joint_names": ["elbow", "wrist"], "position": [1, 2], "current": 3},
          {"t": 1, "joint_names": ["elbow", "wrist"], "position": [4, null]}])",
      "log.json");
  ASSERT_EQ(recordings.size(), 1u);
  EXPECT_TRUE(std::isnan(cellAt(recordings[0], "current", 1)));
  EXPECT_TRUE(std::isnan(cellAt(recordings[0], "position[1]", 1)));
  EXPECT_EQ(recordings[0].channels[0].of, "elbow");
}

// Lists that change their length or their names, text that is no JSON, and JSON without numbers are
// refused with the record.
TEST(JsonLog, NamesTheRecord) {
  EXPECT_NE(jsonMessage(R"([{"q": [1, 2]}, {"q": [1, 2, 3]}])")
                .find("log.json: record 2: 'q' has 3 values, expected 2"),
            std::string::npos);
  EXPECT_NE(jsonMessage(R"([{"q": [1], "name": ["a"]}, {"q": [2], "name": ["b"]}])")
                .find("record 2: 'name' is another list"),
            std::string::npos);
  EXPECT_NE(jsonMessage("{\"q\": 1}\n{\"q\": ").find("log.json:2: is no JSON record"),
            std::string::npos);
  EXPECT_NE(jsonMessage("[1, 2").find("is neither JSON"), std::string::npos);
  EXPECT_NE(jsonMessage(R"({"a": "b"})"), "");
  const std::string deep = std::string(100, '[') + "1" + std::string(100, ']');
  EXPECT_NE(jsonMessage("[{\"q\": " + deep + "}]").find("nested deeper"), std::string::npos);
}

// Cells with lists, as pandas writes them with commas and NumPy with blanks and line ends, are that
// many columns; the numbers of the rows and text are left out.
TEST(JsonLog, ReadsListsInCells) {
  const testing::TempFolder folder;
  writeFileAtomically(folder.file("log.csv"),
                      ",timestamp,position,effort,mode\n"
                      "0,100.5,\"[1, 2]\",\"[10. 20.]\",run\n"
                      "1,100.6,\"[3, 4]\",\"[30.\n 40.]\",run\r\n"
                      "2,100.7,\"(5, 6)\",\"array([50., 60.])\",run\n");
  const std::vector<Recording> recordings = readRecordings(folder.file("log.csv"));
  ASSERT_EQ(recordings.size(), 1u);
  EXPECT_EQ(recordings[0].channels.size(), 4u);
  EXPECT_EQ(recordings[0].time[2], 100.7);
  EXPECT_EQ(cellAt(recordings[0], "position[0]", 2), 5.0);
  EXPECT_EQ(cellAt(recordings[0], "effort[1]", 1), 40.0);

  EXPECT_FALSE(hasListCells("t,q\n0,1\n"));
  EXPECT_FALSE(hasListCells("\"[s]\",\"[deg]\"\n0,1\n"));
  EXPECT_FALSE(hasListCells("t,\"q [rad]\"\n\"0\",\"1\"\n"));
  try {
    readListCellsText("t,q\n0,\"[1, 2]\"\n1,\"[1]\"\n", "log.csv");
    FAIL() << "a shorter list was read";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "log.csv: row 2: column 'q' has '[1]', expected 2 numbers as in the first row");
  }
}

// A column that lists the joints, as tables of JointState have it, says whose the numbers of the
// others are; a row with another order cannot be read by it.
TEST(JsonLog, ReadsListsOfJointsInCells) {
  const std::string table =
      "Time,name,position\n"
      "0,\"['wrist', 'elbow']\",\"(1.0, 2.0)\"\n"
      "1,\"[\"\"wrist\"\",\"\"elbow\"\"]\",\"tensor([3., 4.])\"\n";
  const std::vector<Recording> recordings = readListCellsText(table, "log.csv");
  ASSERT_EQ(recordings.size(), 1u);
  ASSERT_EQ(recordings[0].channels.size(), 2u);
  EXPECT_EQ(recordings[0].channels[0].of, "wrist");
  EXPECT_EQ(recordings[0].channels[1].of, "elbow");
  EXPECT_EQ(cellAt(recordings[0], "position[1]", 1), 4.0);
  try {
    readListCellsText(table + "2,\"['elbow', 'wrist']\",\"(1.0, 2.0)\"\n", "log.csv");
    FAIL() << "a row with the joints in another order was read";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "log.csv: row 3: column 'name' is another list than in the first row; expected the "
        "same joints in the same order");
  }
}

// JSON is known by its first byte, whatever the file is called; JSON beside other logs in a folder
// describes them.
TEST(JsonLog, IsFound) {
  const testing::TempFolder folder;
  writeFileAtomically(folder.file("log.txt"), kJsonLines);
  writeFileAtomically(folder.file("settings.json"), R"({"kp": [1, 2, 3]})");
  EXPECT_EQ(readRecordings(folder.file("log.txt"))[0].samples(), 3);
  EXPECT_EQ(logFilesIn(folder.path().string()).size(), 1u);
}

}  // namespace
}  // namespace proprio
