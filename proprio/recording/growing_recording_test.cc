#include "proprio/recording/growing_recording.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/recording/growing_recording_internal.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/testing/python_files.h"
#include "proprio/recording/zip_archive_internal.h"

namespace proprio {
namespace {

/// Joint states, an IMU and a channel of no kind; 5000 rows are several chunks of MCAP.
Recording growingSample(Eigen::Index rows) {
  Recording recording;
  recording.source = "sample";
  recording.time.setLinSpaced(rows, 1.0, 1.0 + 1e-3 * static_cast<double>(rows - 1));
  for (const char* name : {"q[0]", "q[1]", "tau_elbow", "temperature"}) {
    recording.channels.emplace_back();
    recording.channels.back().name = name;
  }
  recording.channels[2].quantity = Quantity::kTorque;
  recording.channels[2].of = "elbow";
  recording.channels[2].unit = "N m";
  recording.values.resize(rows, 4);
  for (Eigen::Index i = 0; i < recording.values.size(); ++i)
    recording.values(i) = std::sin(1.0 + static_cast<double>(i));
  recording.values(3, 1) = std::nan("");
  return recording;
}

Recording rowsOf(const Recording& whole, Eigen::Index start, Eigen::Index count) {
  Recording piece = whole;
  piece.time = whole.time.segment(start, count);
  piece.values = whole.values.middleRows(start, count);
  return piece;
}

void grow(const Recording& whole, const std::string& path, Eigen::Index announced) {
  const std::unique_ptr<GrowingRecording> file = growingRecording(path, announced);
  Eigen::Index size = 1;
  for (Eigen::Index at = 0; at < whole.samples(); at += size) {
    size = std::min(2 * size + 7, whole.samples() - at);
    file->append(rowsOf(whole, at, size));
  }
  file->finish();
}

// Claim: a file that grew by pieces of different sizes reads as one that was written at once; text
// and MCAP are the same bytes.
TEST(GrowingRecordingTest, sameAsWhole) {
  const testing::TempFolder folder;
  const Recording sample = growingSample(40000);
  for (const std::string name : {"a.csv", "a.mcap", "a.npz", "a.h5"}) {
    const std::string grown = folder.file("grown_" + name), whole = folder.file("whole_" + name);
    EXPECT_EQ(needsRowCount(grown), name == "a.npz" || name == "a.h5");
    grow(sample, grown, sample.samples());
    writeRecording(sample, whole);
    if (!needsRowCount(grown)) {
      EXPECT_EQ(readFile(grown), readFile(whole)) << name;
    }
    const std::vector<Recording> found = readRecordings(grown), expected = readRecordings(whole);
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (size_t r = 0; r < found.size(); ++r) {
      EXPECT_EQ(found[r].topic, expected[r].topic);
      EXPECT_EQ(found[r].time, expected[r].time) << name;
      EXPECT_TRUE(found[r].values.cwiseEqual(expected[r].values).count() >=
                  found[r].values.size() - 1)  // NaN
          << name;
      ASSERT_EQ(found[r].channels.size(), expected[r].channels.size()) << name;
      for (size_t c = 0; c < found[r].channels.size(); ++c) {
        EXPECT_EQ(found[r].channels[c].name, expected[r].channels[c].name) << name;
        EXPECT_EQ(found[r].channels[c].unit, expected[r].channels[c].unit) << name;
        EXPECT_EQ(found[r].channels[c].of, expected[r].channels[c].of) << name;
      }
    }
  }
}

// Claim: NumPy and h5py read archives that grew.
TEST(GrowingRecordingTest, readByOthers) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  const Recording sample = growingSample(1000);
  grow(sample, folder.file("a.npz"), 1000);
  grow(sample, folder.file("a.h5"), 1000);
  const std::string printed = runPython(folder, R"(
import h5py, numpy as np, zipfile
assert zipfile.ZipFile('a.npz').testzip() is None
for f in [np.load('a.npz'), h5py.File('a.h5')]:
  print(f['q'].shape, f['time'].shape, '%.17g %.17g' % (f['q'][999, 1], f['temperature'][7]))
)");
  std::ostringstream line;
  line.precision(17);
  line << "(1000, 2) (1000,) " << std::sin(2000.0) << " " << std::sin(3008.0) << "\n";
  EXPECT_EQ(printed, line.str() + line.str());
}

// Claim: rows that are missing or too many are an error, archives do not go to devices, and then
// nothing is left behind.
TEST(GrowingRecordingTest, refusals) {
  const testing::TempFolder folder;
  const Recording sample = growingSample(100);
  for (const char* name : {"a.npz", "a.h5"}) {
    EXPECT_THROW(grow(sample, folder.file(name), 99), Error);
    EXPECT_THROW(grow(sample, folder.file(name), 101), Error);
    EXPECT_TRUE(std::filesystem::is_empty(folder.file(""))) << name;
  }
  EXPECT_THROW(growingRecording(folder.file("a.mat"), 1), Error);
  std::filesystem::create_symlink("/dev/null", folder.file("null.npz"));
  EXPECT_NE(messageOf([&] { grow(sample, folder.file("null.npz"), 100); }).find("write .csv or"),
            std::string::npos);
  Recording early = sample;
  early.time[60] = -1.0;
  EXPECT_NE(messageOf([&] { grow(early, folder.file("a.mcap"), 100); }).find("of row 61"),
            std::string::npos);
}

// Claim: members beyond 4 GiB are found, by us and by Python (a sparse file of 5 GiB).
TEST(GrowingRecordingTest, largeZip) {
  PROPRIO_REQUIRE_PYTHON("zipfile");
  const testing::TempFolder folder;
  ZipPlaces places;
  GrowingFile file(folder.file("large.zip"));
  places.add("large", uint64_t{5} << 30);
  file.writeAt(places.add("small", 5), "hello");
  places.written(1, "hel");
  places.written(1, "lo");
  for (const auto& [offset, bytes] : places.headers()) file.writeAt(offset, bytes);
  file.finish();
  EXPECT_EQ(runPython(folder, R"(
import zipfile
z = zipfile.ZipFile('large.zip')
print(z.read('small').decode(), z.getinfo('large').file_size)
)"),
            "hello 5368709120\n");
}

}  // namespace
}  // namespace proprio
