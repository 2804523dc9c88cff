#include "proprio/recording/npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

// A .npy file by hand: magic, version, header, then the bytes.
std::string npyFile(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  out += static_cast<char>(dictionary.size());
  out += '\0';
  if (version > 1) out.append(2, '\0');
  return out + dictionary + data;
}

Recording npySample() {
  Recording recording;
  recording.source = "sample";
  recording.time.setLinSpaced(5, 10, 10.4);
  for (const char* name : {"q[0]", "q[1]", "tau_elbow", "single[0]"}) {
    Channel channel;
    channel.name = name;
    recording.channels.push_back(channel);
  }
  recording.channels[2].quantity = Quantity::kTorque;
  recording.channels[2].role = Role::kCommanded;
  recording.channels[2].side = Side::kMotor;
  recording.channels[2].of = "elbow";
  recording.channels[2].unit = "N m";
  recording.values.resize(5, 4);
  for (Eigen::Index i = 0; i < 20; ++i) recording.values(i) = std::sin(1.0 + double(i));
  recording.values(3, 1) = std::numeric_limits<double>::quiet_NaN();
  recording.values(4, 1) = std::numeric_limits<double>::infinity();
  return recording;
}

void expectSame(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.topic, b.topic);
  EXPECT_EQ(a.time, b.time);
  ASSERT_EQ(a.channels.size(), b.channels.size());
  for (size_t c = 0; c < a.channels.size(); ++c) {
    EXPECT_EQ(a.channels[c].name, b.channels[c].name);
    EXPECT_EQ(a.channels[c].quantity, b.channels[c].quantity);
    EXPECT_EQ(a.channels[c].role, b.channels[c].role);
    EXPECT_EQ(a.channels[c].side, b.channels[c].side);
    EXPECT_EQ(a.channels[c].of, b.channels[c].of);
    EXPECT_EQ(a.channels[c].unit, b.channels[c].unit);
  }
  const auto bits = [](const Eigen::MatrixXd& m) {
    return std::string(reinterpret_cast<const char*>(m.data()),
                       sizeof(double) * static_cast<size_t>(m.size()));
  };
  EXPECT_EQ(bits(a.values), bits(b.values));
}

// Claim: every numeric type that NumPy writes, in both byte orders and both memory orders, gives
// the numbers that were saved (1 to 12, negative where the type can).
TEST(NpyTest, everyTypeAndOrderFromNumPy) {
  PROPRIO_REQUIRE_PYTHON("numpy");
  const testing::TempFolder folder;
  const std::string names = runPython(folder, R"(
import numpy as np
for end in '<>':
  for kind in ['f2','f4','f8','i1','i2','i4','i8','u1','u2','u4','u8']:
    for order in 'CF':
      a = np.arange(1, 13).reshape(4, 3).astype(end + kind)
      if kind[0] != 'u': a = -a
      name = ('b' if end == '>' else 'l') + kind + order + '.npy'
      np.save(name, np.asarray(a, order=order))
      print(name)
)");
  int count = 0;
  std::istringstream list(names);
  for (std::string name; list >> name; ++count) {
    const std::vector<Recording> recordings = readNpy(folder.file(name));
    ASSERT_EQ(recordings.size(), 1u) << name;
    ASSERT_EQ(recordings[0].values.rows(), 4) << name;
    ASSERT_EQ(recordings[0].values.cols(), 3) << name;
    const double sign = name[1] == 'u' ? 1 : -1;
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(recordings[0].values(r, c), sign * (3 * r + c + 1)) << name;
    EXPECT_EQ(recordings[0].channels[2].name, name.substr(0, name.size() - 4) + "[2]");
  }
  EXPECT_EQ(count, 44);
}

// Claim: half floats of every kind (zero, subnormal, smallest, largest, one, infinite) are what
// IEEE 754 says, either sign.
TEST(NpyTest, halfFloats) {
  const std::string bits("\x00\x00\x01\x00\x00\x04\xff\x7b\x00\x3c\x00\x7c\x00\x80\x00\xc0", 16);
  const auto read = readNpyBytes(
      npyFile("{'descr': '<f2', 'fortran_order': False, 'shape': (8,), }", bits), "a.npy");
  const double infinity = std::numeric_limits<double>::infinity();
  const double expected[] = {
      0.0, std::ldexp(1.0, -24), std::ldexp(1.0, -14), 65504.0, 1.0, infinity, 0.0, -2.0};
  for (int r = 0; r < 8; ++r) EXPECT_EQ(read.at(0).values(r, 0), expected[r]) << r;
  const auto none = readNpyBytes(
      npyFile("{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", "\x7e\x01\x40\x40"),
      "a.npy");
  EXPECT_EQ(none.at(0).values(1, 0), 2.125);
  EXPECT_TRUE(std::isnan(none.at(0).values(0, 0)));
}

// Claim: archives from NumPy, stored and deflated, become one recording per length and time base;
// what is not a signal is noted, and objects are refused without being loaded.
TEST(NpyTest, archiveFromNumPy) {
  PROPRIO_REQUIRE_PYTHON("numpy");
  const testing::TempFolder folder;
  runPython(folder, R"(
import numpy as np
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2., 3.])
np.savez('a.npz', times=t, q=q, sideways=q.T, flag=t > 0.5, one=3.0, cube=np.zeros((2, 2, 2)),
         label=np.array(['x', 'y']), other=np.arange(4), obj=np.array([{}, None], dtype=object),
         z=t + 1j, empty=np.zeros((0, 3)))
np.savez_compressed('b.npz', times=t, q=q)
)");
  std::vector<std::string> notes;
  const std::vector<Recording> a = readNpz(folder.file("a.npz"), &notes);
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0].time.size(), 11);
  ASSERT_EQ(a[0].channels.size(), 7u);
  EXPECT_EQ(a[0].values(10, a[0].column("q[2]")), 3);
  EXPECT_EQ(a[0].values(10, a[0].column("sideways[2]")), 3);
  EXPECT_EQ(a[0].values(5, a[0].column("flag")), 0);
  EXPECT_EQ(a[0].values(6, a[0].column("flag")), 1);
  EXPECT_EQ(a[1].topic, "other");
  EXPECT_EQ(a[1].time.size(), 0);
  EXPECT_EQ(a[1].values.rows(), 4);
  const std::string all = fmt::format("{}", fmt::join(notes, "\n"));
  for (const char* piece : {"'one' is a single number (3)", "'cube' has 3 dimensions",
                            "'label' holds text", "'obj' holds Python objects", "'z' holds complex",
                            "'empty' is empty", "'sideways' of shape (3, 11)"}) {
    EXPECT_NE(all.find(piece), std::string::npos) << piece << "\n" << all;
  }
  const std::vector<Recording> b = readNpz(folder.file("b.npz"));
  ASSERT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0].values.col(2), a[0].values.col(a[0].column("q[2]")));
}

// Claim: zip64 sizes and sizes behind the data (an archive written to a pipe) are read.
TEST(NpyTest, zip64AndDataDescriptors) {
  const testing::TempFolder folder;
  runPython(folder, R"(
import io, struct, zipfile
data = b'\x93NUMPY\x01\x00' + struct.pack('<H', 58) + \
  b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n" + struct.pack('<3d', 1, 2, 3)
class Pipe(io.RawIOBase):
  def __init__(self, f): self.f = f
  def writable(self): return True
  def write(self, b): return self.f.write(b)
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
  with open('pipe%d.npz' % method, 'wb') as f:
    with zipfile.ZipFile(Pipe(f), 'w', method) as z: z.writestr('a.npy', data)
  with zipfile.ZipFile('zip64%d.npz' % method, 'w', method) as z:
    with z.open('a.npy', 'w', force_zip64=True) as m: m.write(data)
    z.comment = b'a comment behind'
)");
  for (const char* name : {"pipe0.npz", "pipe8.npz", "zip640.npz", "zip648.npz"}) {
    const std::vector<Recording> recordings = readNpz(folder.file(name));
    EXPECT_EQ(recordings[0].values, Eigen::Vector3d(1, 2, 3)) << name;
  }
}

// Claim: a zip archive of PyTorch is named, with the way out of it; another one is not.
TEST(NpyTest, archivesOfOthers) {
  const testing::TempFolder folder;
  runPython(folder, R"(
import zipfile
for name, member in (('torch.npz', 'chirp/data.pkl'), ('other.npz', 'notes.txt')):
  with zipfile.ZipFile(name, 'w') as z: z.writestr(member, b'1')
)");
  EXPECT_NE(messageOf([&] { readNpz(folder.file("torch.npz")); }).find("PyTorch"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { readNpz(folder.file("other.npz")); }).find("'notes.txt'"),
            std::string::npos);
}

// Claim: what the writer writes is what the reader reads, with all that is known of the channels,
// for one recording and for several topics, stored and deflated.
TEST(NpyTest, roundTrip) {
  Recording first = npySample(), second = npySample();
  first.topic = "/joint_states";
  second.topic = "/robot/imu";
  second.time.array() += 1;
  for (const bool compress : {false, true}) {
    const auto one = readNpzBytes(npzBytes({npySample()}, compress), "one");
    ASSERT_EQ(one.size(), 1u);
    expectSame(one[0], npySample());
    const auto two = readNpzBytes(npzBytes({first, second}, compress), "two");
    ASSERT_EQ(two.size(), 2u);
    expectSame(two[0], first);
    expectSame(two[1], second);
  }
}

// Claim: a recording of one sample stays one sample.
TEST(NpyTest, oneSample) {
  Recording one = npySample();
  one.time = one.time.head(1).eval();
  one.values = one.values.topRows(1).eval();
  const auto read = readNpzBytes(npzBytes({one}), "one");
  ASSERT_EQ(read.size(), 1u);
  expectSame(read[0], one);
}

// Claim: NumPy loads what the writer writes, columns joined to arrays, bit by bit.
TEST(NpyTest, numPyReadsWhatIsWritten) {
  PROPRIO_REQUIRE_PYTHON("numpy");
  const testing::TempFolder folder;
  const Recording sample = npySample();
  writeNpz(folder.file("stored.npz"), {sample});
  writeNpz(folder.file("deflated.npz"), {sample}, true);
  const std::string expected =
      fmt::format("(5,) (5, 2) (5,) {} nan\n", formatNumber(sample.values(2, 1)));
  EXPECT_EQ(runPython(folder, R"(
import numpy as np
for name in ('stored.npz', 'deflated.npz'):
  z = np.load(name)
  print(z['time'].shape, z['q'].shape, z['tau_elbow'].shape, repr(float(z['q'][2, 1])), z['q'][3, 1])
)"),
            expected + expected);
}

// Claim: an archive cut off at any byte is refused with a message, never read in part.
TEST(NpyTest, cutOffAnywhere) {
  for (const bool compress : {false, true}) {
    const std::string bytes = npzBytes({npySample()}, compress);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_THROW(readNpzBytes(std::string_view(bytes).substr(0, size), "cut.npz"), Error) << size;
    }
  }
  const std::string one =
      npyFile("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", "abcdef");
  EXPECT_EQ(readNpyBytes(one, "x.npy")[0].values.rows(), 3);
  for (size_t size = 0; size < one.size(); ++size)
    EXPECT_THROW(readNpyBytes(std::string_view(one).substr(0, size), "x.npy"), Error) << size;
}

// Claim: any single damaged byte is found by checksum or structure, or changes only what no array
// depends on; nothing crashes.
TEST(NpyTest, damagedBytes) {
  const std::string bytes = npzBytes({npySample()}, true);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    try {
      for (const Recording& recording : readNpzBytes(damaged, "damaged")) requireValid(recording);
    } catch (const Error&) {
    }
  }
  std::string stored = npzBytes({npySample()}, false);
  stored[stored.find("NUMPY") + 150] ^= 1;
  EXPECT_NE(messageOf([&] { readNpzBytes(stored, "a.npz"); }).find("the checksum is"),
            std::string::npos);
}

// Claim: each kind of bad array has its own message with file and byte or array.
TEST(NpyTest, messages) {
  const auto message = [](const std::string& dictionary, const std::string& data) {
    return messageOf([&] { readNpyBytes(npyFile(dictionary, data), "f.npy"); });
  };
  const auto shape = [](const std::string& type, const std::string& size) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + size + "), }";
  };
  EXPECT_NE(message(shape("<f8", "4294967296, 4294967296"), "").find("needs 18446744073709551615"),
            std::string::npos);
  EXPECT_NE(message(shape("<f8", "99999999999999999999"), "").find("expected {'descr'"),
            std::string::npos);
  EXPECT_NE(message(shape("<f8", "3,"), "12345678").find("at byte"), std::string::npos);
  EXPECT_NE(message(shape("|O", "3,"), "").find("pickle"), std::string::npos);
  EXPECT_NE(message(shape("<g2", "3,"), "123456").find("has type '<g2'"), std::string::npos);
  EXPECT_NE(message("{'descr': [('a', [('b', '<f8')])], 'fortran_order': False, 'shape': (1,), }",
                    "12345678")
                .find("structured"),
            std::string::npos);
  EXPECT_NE(message("{'shape': (1,)}", "").find("expected {'descr'"), std::string::npos);
  EXPECT_NE(messageOf([&] { readNpyBytes("hello", "f.npy"); }).find("magic"), std::string::npos);
  EXPECT_NE(messageOf([&] { readNpyBytes(npyFile("{}", "", 9), "f.npy"); }).find("version 9"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { readNpzBytes("hello", "f.npz"); }).find("no zip directory"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { readNpz("/nowhere/f.npz"); }).find("No such file"), std::string::npos);
}

// Claim: the fields of a structured array are channels, vectors and both byte orders included; text
// among them is noted; one that is cut off or lies about its size is refused.
TEST(NpyTest, structuredArrays) {
  const std::string dictionary =
      "{'descr': [('time', '<f8'), ('q', '<i2', (2,)), ('label', '|S3'), ('on', '|b1')], "
      "'fortran_order': False, 'shape': (3,), }";
  std::string data;
  for (int row = 0; row < 3; ++row) {
    const double time = 0.5 * row;
    data.append(reinterpret_cast<const char*>(&time), 8);
    for (const int16_t q : {static_cast<int16_t>(10 * row), static_cast<int16_t>(-row)})
      data.append(reinterpret_cast<const char*>(&q), 2);
    data += "abc";
    data += static_cast<char>(row == 1);
  }
  std::vector<std::string> notes;
  const auto read = readNpyBytes(npyFile(dictionary, data), "log.npy", &notes);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].time, Eigen::Vector3d(0, 0.5, 1));
  EXPECT_EQ(read[0].values.col(read[0].column("q[0]")), Eigen::Vector3d(0, 10, 20));
  EXPECT_EQ(read[0].values.col(read[0].column("q[1]")), Eigen::Vector3d(0, -1, -2));
  EXPECT_EQ(read[0].values.col(read[0].column("on")), Eigen::Vector3d(0, 1, 0));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("'label'"), std::string::npos) << notes[0];
  for (size_t size = 0; size < data.size(); ++size) {
    EXPECT_THROW(readNpyBytes(npyFile(dictionary, data.substr(0, size)), "log.npy"), Error);
  }
  const std::string deep =
      "{'descr': [('a', '<f8', (999999999, 999999999, 999999999))], "
      "'fortran_order': False, 'shape': (3,), }";
  EXPECT_THROW(readNpyBytes(npyFile(deep, data), "log.npy"), Error);
}

// Claim: versions 2 and 3 of the format differ only in the size of the header's length.
TEST(NpyTest, versions) {
  const std::string dictionary = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }";
  for (const char version : {'\1', '\2', '\3'}) {
    const auto recordings = readNpyBytes(npyFile(dictionary, "\1\2\3\4", version), "v.npy");
    EXPECT_EQ(recordings[0].values(0, 1), 3);
  }
}

// Claim: groups of a file have their own time base, or that of the nearest group around.
TEST(NpyTest, timeBaseOfNearestGroup) {
  Recording outer = npySample(), inner = npySample();
  inner.topic = "/inner";
  inner.time.array() += 100;
  Recording untimed = npySample();
  untimed.topic = "/outer_values";
  untimed.time.resize(0);
  const auto read = readNpzBytes(npzBytes({outer, inner, untimed}), "groups");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].time[0], 10);
  EXPECT_EQ(read[0].channels.size(), 8u);
  EXPECT_GE(read[0].column("outer_values/q[1]"), 0);
  EXPECT_EQ(read[1].time[0], 110);
}

// Claim: the KUKA recordings have 5027 samples of 7 joints at about 200 Hz.
TEST(NpyTest, realKukaRecordings) {
  PROPRIO_REQUIRE_DATA("kuka_lwr4/measurements_1.npz");
  for (const char* name : {"kuka_lwr4/measurements_1.npz", "kuka_lwr4/measurements_2.npz"}) {
    std::vector<std::string> notes;
    const auto recordings = readNpz((dataFolder() / name).string(), &notes);
    ASSERT_EQ(recordings.size(), 1u);
    EXPECT_TRUE(notes.empty());
    const Recording& recording = recordings[0];
    EXPECT_EQ(recording.samples(), 5027);
    EXPECT_EQ(recording.channels.size(), 49u);
    EXPECT_GE(recording.column("target_accelerations[6]"), 0);
    const double rate = 5026 / (recording.time[5026] - recording.time[0]);
    EXPECT_NEAR(rate, 200, 10);
  }
}

}  // namespace
}  // namespace proprio
