#include "proprio/recording/hdf5.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/child_process_internal.h"
#include "proprio/recording/mat.h"
#include "proprio/recording/npy.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

Recording hdf5Sample() {
  Recording recording;
  recording.source = "sample";
  recording.time.setLinSpaced(700, 10, 17);
  for (const char* name : {"q[0]", "q[1]", "tau_elbow"}) {
    Channel channel;
    channel.name = name;
    recording.channels.push_back(channel);
  }
  recording.channels[2].quantity = Quantity::kTorque;
  recording.channels[2].of = "elbow";
  recording.channels[2].unit = "N m";
  recording.values.resize(700, 3);
  for (Eigen::Index i = 0; i < recording.values.size(); ++i)
    recording.values(i) = std::sin(1 + static_cast<double>(i));
  return recording;
}

// Claim: what is written is read again, bit by bit, with units and quantities, for several topics.
TEST(Hdf5Test, roundTrip) {
  const testing::TempFolder folder;
  Recording first = hdf5Sample(), second = hdf5Sample();
  first.topic = "/joint_states";
  second.topic = "/other/arm";
  second.time.array() += 1;
  writeHdf5(folder.file("a.h5"), {first, second});
  const auto read = readHdf5(folder.file("a.h5"));
  ASSERT_EQ(read.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Recording &written = i == 0 ? first : second, &back = read[i];
    EXPECT_EQ(back.topic, written.topic);
    EXPECT_EQ(back.time, written.time);
    EXPECT_EQ(back.values, written.values);
    EXPECT_EQ(back.channels[2].name, "tau_elbow");
    EXPECT_EQ(back.channels[2].quantity, Quantity::kTorque);
    EXPECT_EQ(back.channels[2].unit, "N m");
  }
}

// Claim: h5py reads what is written, and its files are read: every numeric type, groups, chunks
// with compression, tables, flags, units; what is not numeric is noted.
TEST(Hdf5Test, filesFromH5py) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  const Recording sample = hdf5Sample();
  writeHdf5(folder.file("ours.h5"), {sample});
  const std::string printed = runPython(folder, R"(
import h5py, numpy as np
f = h5py.File('ours.h5')
print(f['q'].shape, repr(float(f['q'][2, 1])), f['tau_elbow'].attrs['unit'])
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2., 3.])
f = h5py.File('theirs.h5', 'w')
f['robot/time'] = t
f['robot/q'] = q
f['robot/q'].attrs['units'] = 'deg'
for k in ['<f4', '>f8', 'i1', '>i2', 'i4', 'i8', 'u1', 'u2', 'u4', '>u8']:
  f['robot/deep/k_' + k.strip('<>')] = (np.arange(11) + 1).astype(k)
f.create_dataset('robot/packed', data=q, chunks=(4, 2), compression='gzip', shuffle=True)
f['robot/on'] = t > .5
table = np.zeros(11, dtype=[('x', 'f8'), ('n', 'i4'), ('s', 'S3')])
table['x'] = t * 4; table['n'] = np.arange(11)
f['robot/table'] = table
f['robot/text'] = 'hello'
f['robot/cube'] = np.zeros((2, 2, 2))
f['robot/gain'] = 3.0
f.create_dataset('robot/unwritten', (11,), chunks=(4,))
f['robot/alias'] = h5py.SoftLink('/robot')
f.close()
)");
  EXPECT_EQ(printed, fmt::format("(700, 2) {} N m\n", formatNumber(sample.values(2, 1))));
  std::vector<std::string> notes;
  const auto recordings = readHdf5(folder.file("theirs.h5"), {}, &notes);
  ASSERT_EQ(recordings.size(), 1u);
  const Recording& recording = recordings[0];
  EXPECT_EQ(recording.topic, "robot");
  const auto last = [&](const std::string& channel) {
    const int column = recording.column(channel);
    EXPECT_GE(column, 0) << channel;
    return column < 0 ? -1 : recording.values(10, column);
  };
  EXPECT_EQ(recording.time[10], 1);
  EXPECT_EQ(last("q[2]"), 3);
  EXPECT_EQ(last("packed[1]"), 2);
  EXPECT_EQ(last("on"), 1);
  EXPECT_EQ(recording.values(2, recording.column("on")), 0);
  EXPECT_EQ(last("table/x"), 4);
  EXPECT_EQ(last("table/n"), 10);
  for (const char* kind : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
    EXPECT_EQ(last(fmt::format("deep/k_{}", kind)), 11);
  EXPECT_EQ(recording.channels[static_cast<size_t>(recording.column("q[0]"))].unit, "deg");
  for (const char* piece :
       {"'robot/text' is text", "'robot/cube' has 3 dimensions", "'robot/gain' is a single number",
        "'robot/unwritten' was never written", "'robot/table/s' does not hold numbers"}) {
    EXPECT_TRUE(mentions(notes, piece)) << piece << "\n"
                                        << fmt::format("{}", fmt::join(notes, "\n"));
  }
}

// Claim: datasets come in the order in which they were made where the file keeps it, else by name
// with numbers by their value; LZF of h5py and half floats are read; an unknown filter is told.
TEST(Hdf5Test, orderAndLzf) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  runPython(folder, R"(
import h5py, numpy as np
t = np.linspace(0, 1, 3000)
for name, kept in [('made.h5', True), ('names.h5', False)]:
  f = h5py.File(name, 'w', track_order=kept)
  f['time'] = t
  for k in [10, 2, 1, 9]: f['q%d' % k] = k * t
  f['arm/q2'] = t  # an object of its own behind a second link
  f['arm/again'] = f['q2']
f = h5py.File('lzf.h5', 'w')
rng = np.random.default_rng(1)
f['time'] = t
f.create_dataset('noise', data=rng.standard_normal((3000, 3)), chunks=(700, 3), compression='lzf')
f.create_dataset('steps', data=np.floor(8 * t), compression='lzf', shuffle=True)
f.create_dataset('copy', data=np.tile([0.5, -2.0, 3.25], 1000), chunks=(3000,), compression='lzf')
f['half'] = (8 * t).astype('f2')
np.savez('lzf.npz', time=t, **{k: np.array(f[k]) for k in ['noise', 'steps', 'copy', 'half']})
)");
  const auto names = [&](const char* file) {
    std::string all;
    const Recording recording = readHdf5(folder.file(file)).at(0);
    for (const Channel& channel : recording.channels) all += channel.name + " ";
    return all;
  };
  EXPECT_EQ(names("made.h5"), "q10 q2 q1 q9 arm/q2 ");
  EXPECT_EQ(names("names.h5"), "arm/again arm/q2 q1 q9 q10 ");
  const Recording lzf = readHdf5(folder.file("lzf.h5")).at(0);
  const Recording plain = readNpz(folder.file("lzf.npz")).at(0);
  ASSERT_EQ(lzf.channels.size(), 6u);
  for (size_t c = 0; c < 6; ++c) {
    EXPECT_EQ(lzf.values.col(lzf.column(plain.channels[c].name)),
              plain.values.col(static_cast<Eigen::Index>(c)))
        << plain.channels[c].name;
  }
  EXPECT_GT(lzf.values.col(lzf.column("half")).maxCoeff(), 7.9);
}

// Claim: tables whose fields are lists of numbers, and those of pandas (format "fixed": names and
// numbers of columns apart), are read by column.
TEST(Hdf5Test, tablesOfLists) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  runPython(folder, R"(
import h5py, numpy as np
t = np.arange(50) * 0.1
rows = np.zeros(50, dtype=[('t', 'f8'), ('q', '<f4', (3,)), ('on', '?'), ('m', 'f8', (2, 2))])
rows['t'] = t
rows['q'] = np.outer(t, [1, 2, 4])
h5py.File('list.h5', 'w')['log'] = rows
for name, index in [('rows.h5', np.arange(50)), ('dates.h5', t + 7)]:
  f = h5py.File(name, 'w')
  g = f.create_group('run')
  g['axis0'] = np.array(['time', 'q1', 'mode', 'q2'], dtype='S5')
  g['axis1'] = index
  g['block0_items'] = np.array(['time', 'q1', 'q2'], dtype='S5')
  g['block0_values'] = np.column_stack([t, 2 * t, 3 * t])
  g['block1_items'] = np.array(['mode'], dtype='S5')
  g['block1_values'] = np.arange(50).reshape(50, 1)
)");
  std::vector<std::string> notes;
  const Recording list = readHdf5(folder.file("list.h5"), {}, &notes).at(0);
  ASSERT_EQ(list.time.size(), 50);
  EXPECT_EQ(list.values(49, list.column("q[2]")), static_cast<double>(4 * 4.9F));
  EXPECT_EQ(list.channels.size(), 4u);
  EXPECT_TRUE(mentions(notes, "'log/m' does not hold numbers"));
  const Recording rows = readHdf5(folder.file("rows.h5")).at(0);
  ASSERT_EQ(rows.channels.size(), 3u);
  EXPECT_EQ(rows.time[49], 49 * 0.1);
  EXPECT_EQ(rows.values(49, rows.column("q2")), 3 * (49 * 0.1));
  EXPECT_EQ(rows.values(49, rows.column("mode")), 49.0);
  const Recording dates = readHdf5(folder.file("dates.h5")).at(0);
  EXPECT_EQ(dates.values(49, dates.column("index")), 49 * 0.1 + 7);
}

// Claim: what is written keeps the order of its channels, in groups, too.
TEST(Hdf5Test, keepsOrder) {
  const testing::TempFolder folder;
  Recording first = hdf5Sample();
  first.channels[0].name = "z";
  first.channels[1].name = "a10";
  first.channels[2].name = "a9";
  Recording second = first;
  first.topic = "one/arm";
  second.topic = "one/leg";
  for (const std::vector<Recording>& all : {std::vector{first}, std::vector{first, second}}) {
    writeHdf5(folder.file("a.h5"), all);
    for (const Recording& back : readHdf5(folder.file("a.h5"))) {
      EXPECT_EQ(back.channels[0].name, "z");
      EXPECT_EQ(back.channels[1].name, "a10");
      EXPECT_EQ(back.channels[2].name, "a9");
    }
  }
}

// Claim: MATLAB 7.3 files (HDF5 behind a block of 512 bytes, arrays on their side) read like those
// of level 5.
TEST(Hdf5Test, matlab73) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  runPython(folder, R"(
import h5py, numpy as np
f = h5py.File('m.mat', 'w', userblock_size=512)
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2., 3.])
def put(name, a, kind='double'):
  f[name] = np.atleast_2d(a).T if a.ndim == 1 else a.T
  f[name].attrs['MATLAB_class'] = np.bytes_(kind)
put('data/time', t); put('data/arm/q', q); put('data/on', (t > .5).astype('u1'), 'logical')
put('data/word', np.array([104, 105], dtype='u2'), 'char')
f['#refs#/a'] = t
f.close()
with open('m.mat', 'r+b') as g:
  g.write(b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM')
)");
  std::vector<std::string> notes;
  const auto recordings = readMat(folder.file("m.mat"), &notes);
  ASSERT_EQ(recordings.size(), 1u);
  const Recording& recording = recordings[0];
  EXPECT_EQ(recording.topic, "data");
  ASSERT_EQ(recording.channels.size(), 4u);
  EXPECT_EQ(recording.time[10], 1);
  EXPECT_EQ(recording.values(10, recording.column("arm.q[2]")), 3);
  EXPECT_EQ(recording.values(10, recording.column("on")), 1);
  EXPECT_TRUE(mentions(notes, "'data/word' is text"));
}

// Claim: cells and struct arrays of MATLAB 7.3 (references into a group of their own, here one that
// points to itself too) give the numbers and names that level 5 gives.
TEST(Hdf5Test, matlab73Cells) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  runPython(folder, R"(
import h5py, numpy as np
f = h5py.File('m.mat', 'w', userblock_size=512)
t = np.linspace(0, 1, 11)
q = np.outer(t, [1., 2.])
def put(name, a):
  f[name] = np.atleast_2d(a) if a.ndim == 1 else a.T
  f[name].attrs['MATLAB_class'] = np.bytes_('double')
def refs(name, targets, kind):
  d = f.create_dataset(name, (1, len(targets)), dtype=h5py.ref_dtype)
  for i, x in enumerate(targets): d[0, i] = f[x].ref
  if kind: d.attrs['MATLAB_class'] = np.bytes_(kind)
for i in range(2):
  put('#refs#/t%d' % i, t + i); put('#refs#/q%d' % i, q * (i + 1)); put('#refs#/w%d' % i, t * (i + 4))
  g = f.create_group('#refs#/s%d' % i); g.attrs['MATLAB_class'] = np.bytes_('struct')
  put('#refs#/s%d/time' % i, t + 10 + i); put('#refs#/s%d/v' % i, q * (i + 7))
refs('data/time', ['#refs#/t0', '#refs#/t1'], '')
refs('data/q', ['#refs#/q0', '#refs#/q1'], '')
refs('cell', ['#refs#/s0', '#refs#/s1'], 'cell')
refs('#refs#/loop', ['#refs#/w0'], 'cell'); f['#refs#/loop'][0, 0] = f['#refs#/loop'].ref
refs('w', ['#refs#/w0', '#refs#/w1', '#refs#/loop'], 'cell')
f.close()
with open('m.mat', 'r+b') as g:
  g.write(b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM')
)");
  const auto recordings = readMat(folder.file("m.mat"));
  const auto last = [&](const std::string& topic, const std::string& channel) {
    for (const Recording& r : recordings) {
      if (r.topic == topic && r.column(channel) >= 0) return r.values(10, r.column(channel));
    }
    return -1.0;
  };
  EXPECT_EQ(last("data[0]", "q[1]"), 2);
  EXPECT_EQ(last("data[1]", "q[1]"), 4);
  EXPECT_EQ(last("cell[1]", "v[1]"), 16);
  EXPECT_EQ(recordings.size(), 5u);
}

// Claim: attributes that state a rate or a period give the time where there are no stamps.
TEST(Hdf5Test, ratesAsAttributes) {
  PROPRIO_REQUIRE_PYTHON("h5py");
  const testing::TempFolder folder;
  runPython(folder, R"(
import h5py, numpy as np
for name, where, key, value in [('a', '/', 'sample_rate', 250), ('b', 'arm', 'dt_ms', 4.0),
                                ('c', 'arm/q', 'fs', np.array([250.0])), ('d', '/', 'Fs_kHz', 0.25)]:
  with h5py.File(name + '.h5', 'w') as f:
    f['arm/q'] = np.arange(18.).reshape(9, 2)
    f[where].attrs[key] = value
    f[where].attrs['serial'] = 12345
)");
  for (const char* name : {"a.h5", "b.h5", "c.h5", "d.h5"}) {
    const Recording r = readHdf5(folder.file(name)).at(0);
    ASSERT_EQ(r.time.size(), 9) << name;
    EXPECT_DOUBLE_EQ(r.time[8], 0.032) << name;
  }
}

/// The message of an error, or "no error".
template <class Call>
std::string errorOrNone(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Claim: a crash, a hang and an error of a child become messages, and frames arrive whole.
TEST(Hdf5Test, childProcess) {
  const auto run = [](const std::function<void(const FrameSender&)>& child) {
    std::string got;
    const std::string message = errorOrNone([&] {
      runInChild("f.h5: the library", 0.2, child,
                 [&](char kind, std::string_view content) { got += kind + std::string(content); });
    });
    return std::pair{message, got};
  };
  const std::string large(3000000, 'x');
  const auto good = run([&](const FrameSender& sender) { sender.send('D', large); });
  EXPECT_EQ(good.first, "no error");
  EXPECT_EQ(good.second.size(), large.size() + 3);  // three frames
  EXPECT_EQ(run([](const FrameSender&) { throw Error("bad file"); }).first, "bad file");
  EXPECT_NE(
      run([](const FrameSender&) { ::raise(SIGKILL); }).first.find("library crashed (Killed)"),
      std::string::npos);
  EXPECT_NE(run([](const FrameSender&) { std::abort(); }).first.find("f.h5: the library"),
            std::string::npos);
  EXPECT_NE(run([](const FrameSender&) { ::pause(); }).first.find("delivered nothing for 0.2 s"),
            std::string::npos);
  EXPECT_NE(run([](const FrameSender&) { ::_exit(3); }).first.find("ended early"),
            std::string::npos);
}

// Claim: files cut off or damaged anywhere give a message or data, and never take this process
// down.
TEST(Hdf5Test, damagedFiles) {
  const testing::TempFolder folder;
  writeHdf5(folder.file("good.h5"), {hdf5Sample()});
  const std::string good = readFile(folder.file("good.h5"));
  const auto attempt = [&](const std::string& bytes) {
    std::ofstream(folder.file("bad.h5"), std::ios::binary) << bytes;
    return errorOrNone([&] { readHdf5(folder.file("bad.h5")); });
  };
  for (size_t size = 0; size < good.size(); size += good.size() / 40)
    EXPECT_NE(attempt(good.substr(0, size)).find("bad.h5"), std::string::npos) << size;
  EXPECT_NE(attempt("hello").find("file signature not found"), std::string::npos);
  for (size_t i = 0; i < good.size(); i += i < 4096 ? 37 : 997) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    attempt(damaged);
  }
  EXPECT_NE(messageOf([] { readHdf5("/nowhere/a.h5"); }).find("No such file"), std::string::npos);
  EXPECT_NE(messageOf([] { writeHdf5("/nowhere/a.h5", {hdf5Sample()}); }).find("cannot be written"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
