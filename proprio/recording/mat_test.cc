#include "proprio/recording/mat.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

// A file by hand: one double array `name` of rows x columns counted from 1, column by column.
std::string matOf(const std::string& name, int rows, int columns, bool big, int classes = 6) {
  std::string out = "MATLAB 5.0 MAT-file";
  out.resize(124, ' ');
  const auto put = [&](std::string& to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big ? bytes - 1 - i : i);
      to += static_cast<char>((value >> shift) & 0xff);
    }
  };
  const auto pad = [](std::string& to) { to.append((8 - to.size() % 8) % 8, '\0'); };
  put(out, 0x0100, 2);
  out += big ? "MI" : "IM";
  std::string array;
  put(array, 6, 4);  // flags
  put(array, 8, 4);
  put(array, static_cast<uint64_t>(classes), 4);
  put(array, 0, 4);
  put(array, 5, 4);  // dimensions
  put(array, 8, 4);
  put(array, static_cast<uint64_t>(rows), 4);
  put(array, static_cast<uint64_t>(columns), 4);
  put(array, name.size() << 16 | 1, 4);  // a small element
  array += name;
  pad(array);
  put(array, 3, 4);  // numbers stored as int16, the smallest type that holds them
  put(array, static_cast<uint64_t>(2 * rows * columns), 4);
  for (int i = 0; i < rows * columns; ++i) put(array, static_cast<uint64_t>(i + 1), 2);
  pad(array);
  put(out, 14, 4);
  put(out, array.size(), 4);
  return out + array;
}

// Claim: a file laid out by hand from the format's description is read in both byte orders.
TEST(MatTest, bytesByHand) {
  for (const bool big : {false, true}) {
    const Recording recording = readMatBytes(matOf("q", 5, 2, big), "hand.mat").at(0);
    ASSERT_EQ(recording.samples(), 5);
    EXPECT_EQ(recording.values(4, 0), 5);
    EXPECT_EQ(recording.values(4, 1), 10);
    EXPECT_EQ(recording.channels[1].name, "q[1]");
  }
}

// Claim: cells of structs and of arrays, cells within cells, and Simulink's structures with labels
// give the numbers that SciPy put there.
TEST(MatTest, cellsFromSciPy) {
  PROPRIO_REQUIRE_PYTHON("scipy.io");
  const testing::TempFolder folder;
  runPython(folder, R"(
import numpy as np, scipy.io
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2.])
def cell(items):
  c = np.empty((1, len(items)), dtype=object)
  for i, x in enumerate(items): c[0, i] = x
  return c
one, two = {'time': t, 'q': q}, {'time': t + 5, 'q': q * 3}
scipy.io.savemat('runs.mat', {'data': cell([one, two])})
scipy.io.savemat('one.mat', {'data': cell([one])}, do_compression=True)
scipy.io.savemat('joints.mat', {'time': t, 'q': cell([t * 2, t * 3, cell([t * 4, 'text'])])})
scipy.io.savemat('out.mat', {'out': {'time': t, 'signals': {'values': q, 'label': 'speed'}}})
)");
  const auto runs = readMat(folder.file("runs.mat"));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].topic, "data[1]");
  EXPECT_EQ(runs[1].time[0], 5);
  EXPECT_EQ(runs[1].values(10, runs[1].column("q[1]")), 6);
  EXPECT_EQ(readMat(folder.file("one.mat")).at(0).topic, "data");
  const Recording joints = readMat(folder.file("joints.mat")).at(0);
  EXPECT_EQ(joints.values(10, joints.column("q[1]")), 3);
  EXPECT_EQ(joints.values(10, joints.column("q[2][0]")), 4);
  const Recording labelled = readMat(folder.file("out.mat")).at(0);
  EXPECT_EQ(labelled.values(10, labelled.column("speed[1]")), 2);
}

// Claim: SciPy's files, compressed and not, give every numeric class, structs with dotted names and
// arrays of structs; what is not numeric is noted.
TEST(MatTest, filesFromSciPy) {
  PROPRIO_REQUIRE_PYTHON("scipy.io");
  const testing::TempFolder folder;
  runPython(folder, R"(
import numpy as np, scipy.io, scipy.sparse
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2., 3.])
kinds = ['f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8']
data = {'k_' + k: (np.arange(11) + 1).astype(k) for k in kinds}
run = np.zeros((1, 2), dtype=[('q', object)])
for i in range(2): run[0, i]['q'] = q + i
data.update(time=t, q=q, flat=q.T, arm={'load': {'w': q * 2}, 'note': 'text'}, run=run, on=t > .5,
            word='hello', cells=np.array(['a', 1], dtype=object), z=q + 1j,
            sparse=scipy.sparse.eye(3).tocsc(), cube=np.zeros((2, 2, 2)), gain=2.5)
for compress in (False, True):
  scipy.io.savemat('c%d.mat' % compress, data, do_compression=compress)
scipy.io.savemat('groups.mat', {'a': {'time': t, 'q': q}, 'b': {'time': t + 5, 'q': q}})
)");
  for (const char* name : {"c0.mat", "c1.mat"}) {
    std::vector<std::string> notes;
    const auto recordings = readMat(folder.file(name), &notes);
    ASSERT_EQ(recordings.size(), 1u);
    const Recording& recording = recordings[0];
    const auto last = [&](const char* channel) {
      const int column = recording.column(channel);
      EXPECT_GE(column, 0) << channel;
      return column < 0 ? -1 : recording.values(10, column);
    };
    EXPECT_EQ(recording.time.size(), 11);
    EXPECT_EQ(recording.time[10], 1);
    for (const char* kind : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
      EXPECT_EQ(last(fmt::format("k_{}", kind).c_str()), 11);
    EXPECT_EQ(last("q[2]"), 3);
    EXPECT_EQ(last("flat[1]"), 2);
    EXPECT_EQ(last("arm.load.w[2]"), 6);
    EXPECT_EQ(last("run[1].q[0]"), 2);
    EXPECT_EQ(last("on"), 1);
    for (const char* piece :
         {"'word' is text", "'arm.note' is text", "'cells[0]' is text", "'z' is complex",
          "'sparse' is sparse", "'cube' has 3 dimensions", "'gain' is a single number (2.5)"}) {
      EXPECT_TRUE(mentions(notes, piece)) << piece << "\n"
                                          << fmt::format("{}", fmt::join(notes, "\n"));
    }
  }
  const auto groups = readMat(folder.file("groups.mat"));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1].topic, "b");
  EXPECT_EQ(groups[1].time[0], 5);
  EXPECT_EQ(groups[1].column("q[0]"), 0);
}

// Claim: a file cut off inside its array is refused at every byte, and damaged bytes never crash.
TEST(MatTest, damagedFiles) {
  const std::string bytes = matOf("q", 5, 2, false);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(readMatBytes(std::string_view(bytes).substr(0, size), "cut.mat"), Error) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      try {
        readMatBytes(damaged, "damaged.mat");
      } catch (const Error&) {
      }
    }
  }
}

// Claim: each kind of bad file has its own message with the byte.
TEST(MatTest, messages) {
  const auto message = [](const std::string& bytes) {
    return messageOf([&] { readMatBytes(bytes, "f.mat"); });
  };
  EXPECT_NE(message("short").find("this is not a MATLAB file: 5 bytes"), std::string::npos);
  EXPECT_NE(message(std::string(200, 'x')).find("at byte 126"), std::string::npos);
  std::string version = matOf("q", 2, 2, false);
  version[125] = '\2';
  EXPECT_NE(message(version).find("version 0200"), std::string::npos);
  std::string shape = matOf("q", 5, 2, false);
  shape[160] = '\x7f';  // rows
  EXPECT_NE(message(shape).find("array 'q' of 127 x 2 needs 254 numbers, found 20 bytes"),
            std::string::npos)
      << message(shape);
  EXPECT_NE(message(matOf("q", 2, 2, false, 4)).find("no array in it is a signal"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
