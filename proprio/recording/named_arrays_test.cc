/// How arrays become channels, whatever file they come from.

#include <gtest/gtest.h>

#include "proprio/recording/hdf5.h"
#include "proprio/recording/mat.h"
#include "proprio/recording/named_arrays_internal.h"
#include "proprio/recording/npy.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

Eigen::MatrixXd counted(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < values.size(); ++i) values(i) = static_cast<double>(i);
  return values;
}

// Stamps of another length than the signals are named with both lengths; whole numbers in large
// steps are nanoseconds or microseconds, also where they count from zero.
TEST(NamedArrays, StampsThatDoNotFitAndClocks) {
  const std::vector<Recording> apart = recordingsFromArrays(
      "f.npz", {{"t", counted(98, 1), ""}, {"q", counted(101, 2), ""}}, '/', "", nullptr);
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].time.size(), 0);
  ASSERT_EQ(apart[0].notes.size(), 1u);
  EXPECT_NE(apart[0].notes[0].find("array 't' has 98 time stamps, but 'q[0]' to 'q[1]' have 101"),
            std::string::npos)
      << apart[0].notes[0];
  for (const auto& [step, unit] : {std::pair{1e6, 1e-9}, std::pair{2000.0, 1e-6}}) {
    const Recording timed =
        recordingsFromArrays("f.h5", {{"t", step * counted(50, 1), ""}, {"q", counted(50, 2), ""}},
                             '/', "", nullptr)
            .at(0);
    EXPECT_DOUBLE_EQ(timed.time[49], 49.0 * step * unit);
    EXPECT_EQ(timed.notes.size(), 1u);
  }
  // whole seconds stay seconds
  EXPECT_EQ(recordingsFromArrays("f.h5", {{"t", counted(50, 1), ""}, {"q", counted(50, 2), ""}},
                                 '/', "", nullptr)
                .at(0)
                .time[49],
            49.0);
}

// Without time stamps an array that is much longer than high has its samples along the columns; one
// that may be either stays as it is. A single number states the rate.
TEST(NamedArrays, OnTheirSideWithoutTime) {
  Notes notes;
  const std::vector<Recording> turned =
      recordingsFromArrays("f.mat",
                           {{"Q", counted(6, 200), ""},
                            {"TAU", counted(6, 200), ""},
                            {"Ts", counted(1, 1).array() + 0.002, ""}},
                           '.', "", &notes);
  ASSERT_EQ(turned.size(), 1u);
  EXPECT_EQ(turned[0].samples(), 200);
  EXPECT_EQ(turned[0].channels.size(), 12u);
  EXPECT_EQ(turned[0].channels[5].name, "Q[5]");
  EXPECT_EQ(turned[0].values(1, 0), 6.0);
  EXPECT_DOUBLE_EQ(turned[0].time[100], 0.2);
  ASSERT_EQ(turned[0].notes.size(), 1u);
  EXPECT_EQ(turned[0].notes[0], "the time is counted in steps of 0.002 s, as 'Ts' says");
  const std::vector<Recording> as_is =
      recordingsFromArrays("f.mat", {{"Q", counted(50, 60), ""}}, '.', "", nullptr);
  EXPECT_EQ(as_is.at(0).samples(), 50);
  EXPECT_EQ(as_is.at(0).time.size(), 0);
  // two numbers that contradict each other state nothing; a rate in Hz and a period may agree
  const auto time_of = [&](double period, double rate) {
    return recordingsFromArrays("f.mat",
                                {{"q", counted(50, 2), ""},
                                 {"dt", counted(1, 1).array() + period, ""},
                                 {"sample_rate", counted(1, 1).array() + rate, ""}},
                                '.', "", nullptr)
        .at(0)
        .time;
  };
  EXPECT_DOUBLE_EQ(time_of(0.01, 100.0)[1], 0.01);
  EXPECT_EQ(time_of(0.01, 200.0).size(), 0);
}

// Time stamps alone are a channel.
TEST(NamedArrays, OnlyTime) {
  const auto read = recordingsFromArrays("t.npy", {{"t", counted(9, 1), ""}}, '/', "", nullptr);
  EXPECT_EQ(read.at(0).channels.at(0).name, "t");
  EXPECT_EQ(read.at(0).time.size(), 0);
}

// A list of names tells whose the columns of its own group are.
TEST(NamedArrays, ListOfJoints) {
  const auto read = recordingsFromArrays("f.h5",
                                         {{"arm/time", counted(9, 1), ""},
                                          {"arm/pos", counted(9, 2), ""},
                                          {"arm/wrench", counted(9, 6), ""},
                                          {"arm/joint_names", {}, "", {"elbow", "wrist"}},
                                          {"leg/time", counted(7, 1), ""},
                                          {"leg/pos", counted(7, 2), ""}},
                                         '/', "", nullptr);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].channels[1].of, "wrist");
  EXPECT_EQ(read[0].channels[2].of, "");
  EXPECT_EQ(read[0].notes.at(0),
            "array 'arm/joint_names' says whose the numbered channels are, in order: elbow wrist");
  EXPECT_EQ(read[1].channels[1].of, "");
  EXPECT_FALSE(isJointList({"comment", {}, "", {"a", "b"}}, '/'));
}

// Groups with the same stamps are one recording, in which the list of a group tells whose the
// columns of that group are, and of no other.
TEST(NamedArrays, SameStampsInSeveralGroups) {
  const auto read = recordingsFromArrays("f.mat",
                                         {{"log.pos.data", counted(9, 2), ""},
                                          {"log.pos.timestamps", counted(9, 1), ""},
                                          {"log.pos.elements_names", {}, "", {"elbow", "wrist"}},
                                          {"log.motor.data", counted(9, 2), ""},
                                          {"log.motor.timestamps", counted(9, 1), ""},
                                          {"log.motor.elements_names", {}, "", {"m1", "m2"}},
                                          {"log.foot.data", counted(9, 2), ""},
                                          {"log.foot.timestamps", counted(9, 1).array() + 1, ""}},
                                         '.', "", nullptr);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].topic, "log");
  ASSERT_EQ(read[0].channels.size(), 4u);
  EXPECT_EQ(read[0].channels[0].name, "pos.data[0]");
  EXPECT_EQ(read[0].channels[0].of, "elbow");
  EXPECT_EQ(read[0].channels[3].of, "m2");
  EXPECT_EQ(read[1].topic, "log.foot");
}

// Arrays for training and for test are two recordings with the same channels; a name with such a
// word that has no counterpart stays.
TEST(NamedArrays, PartsForTrainingAndTest) {
  const auto read = recordingsFromArrays("f.mat",
                                         {{"y_train", counted(2, 9), ""},
                                          {"time_train", counted(1, 9), ""},
                                          {"y_test", counted(2, 7), ""},
                                          {"time_test", counted(1, 7), ""}},
                                         '.', "", nullptr);
  ASSERT_EQ(read.size(), 2u);
  for (const Recording& recording : read) {
    EXPECT_EQ(recording.channels[1].name, "y[1]");
    EXPECT_EQ(recording.time.size(), recording.samples());
    EXPECT_EQ(recording.samples(), partOf(recording) == "train" ? 9 : 7);
  }
  EXPECT_NE(partOf(read[0]), partOf(read[1]));
  const auto alone =
      recordingsFromArrays("f.mat", {{"inverse_test", counted(9, 2), ""}}, '.', "", nullptr);
  EXPECT_EQ(alone.at(0).channels[0].name, "inverse_test[0]");
  EXPECT_EQ(partOf(alone[0]), "");
}

// Dimensions of one element do not count, wherever they are, as long as two others are left.
TEST(NamedArrays, DimensionsOfOneElement) {
  EXPECT_EQ(tableSizes<int>({7, 1, 50}), (std::vector<int>{7, 50}));
  EXPECT_EQ(tableSizes<int>({1, 1, 50}), (std::vector<int>{1, 50}));
  EXPECT_EQ(tableSizes<int>({7, 1}), (std::vector<int>{7, 1}));
  EXPECT_EQ(tableSizes<int>({7, 2, 50}), (std::vector<int>{7, 2, 50}));
  EXPECT_EQ(tableSizes<int>({}), (std::vector<int>{}));
}

// The log of a YARP robot, joints x 1 x samples with a list of names beside each array, from all
// files that hold it: MATLAB's of both kinds, HDF5, and such arrays of NumPy.
TEST(NamedArrays, LogsWithThreeDimensions) {
  PROPRIO_REQUIRE_PYTHON("numpy");
  const testing::TempFolder folder;
  const std::string made = runPython(folder, R"(
import numpy as np
t, q, names = np.arange(9) * 0.1, np.arange(27.).reshape(9, 3), ['pan', 'lift_joint', 'elbow']
np.savez('u.npz', timestamps=t, data=q[:, None, :], elements_names=np.array(names))
print('u.npz')
try:
  import scipy.io
  part = lambda x: dict(data=x.T[:, None, :], timestamps=t, elements_names=np.array(names, dtype=object),
                        dimensions=np.array([3., 1., 9.]))
  scipy.io.savemat('c.mat', dict(robot=dict(joints_state=dict(positions=part(q)))))
  print('c.mat')
except ImportError: pass
try:
  import h5py
  # as MATLAB -v7.3 lays it out, after its header of 512 bytes
  with h5py.File('m.mat', 'w', userblock_size=512) as f:
    g = f.create_group('robot/joints_state/positions')
    g['data'], g['timestamps'] = q[:, None, :], t[:, None]
    refs = []
    for i, name in enumerate(names):
      d = f.create_dataset('#refs#/%d' % i, data=np.frombuffer(name.encode('utf-16-le'), 'u2')[:, None])
      d.attrs['MATLAB_class'] = np.bytes_('char')
      refs.append(d.ref)
    cell = g.create_dataset('elements_names', data=np.array(refs, dtype=object)[None], dtype=h5py.ref_dtype)
    cell.attrs['MATLAB_class'] = np.bytes_('cell')
    for k in ('data', 'timestamps'): g[k].attrs['MATLAB_class'] = np.bytes_('double')
  with open('m.mat', 'r+b') as f: f.write(b'MATLAB 7.3 MAT-file'.ljust(124) + bytes([0, 2]) + b'IM')
  print('m.mat')
except ImportError: pass
)");
  std::istringstream files(made);
  for (std::string file; files >> file;) {
    Notes notes;
    const std::string path = folder.file(file);
    const std::vector<Recording> read =
        file.ends_with(".npz") ? readNpz(path, &notes) : readMat(path, &notes);
    ASSERT_FALSE(read.empty()) << file;
    const Recording& recording = read.front();
    ASSERT_EQ(recording.channels.size(), 3u) << file;
    ASSERT_EQ(recording.samples(), 9) << file;
    EXPECT_EQ(recording.time[8], 0.8) << file;
    EXPECT_EQ(recording.values(2, 1), 7.0) << file;
    EXPECT_EQ(recording.channels[1].of, "lift_joint") << file;
  }
}

// Numbers called like a period or a rate, in their units, and others that are not.
TEST(NamedArrays, PeriodsByName) {
  for (const char* name : {"dt", "Ts", "delta_t", "sample_time", "samplingPeriod", "dt_s"})
    EXPECT_DOUBLE_EQ(periodNamed(name, 0.004), 0.004) << name;
  for (const char* name : {"fs", "Fs_Hz", "rate", "sample_rate_hz", "hz", "samplingFrequency"})
    EXPECT_DOUBLE_EQ(periodNamed(name, 250.0), 0.004) << name;
  EXPECT_DOUBLE_EQ(periodNamed("dt_ms", 4.0), 0.004);
  EXPECT_DOUBLE_EQ(periodNamed("sample_time_us", 4000.0), 0.004);
  EXPECT_DOUBLE_EQ(periodNamed("fs_kHz", 0.25), 0.004);
  for (const char* name : {"q", "gain", "ms", "rate_ms", "dt_hz", "", "s", "heart_rate"})
    EXPECT_EQ(periodNamed(name, 1.0), 0.0) << name;
}

// NumPy's, MATLAB's and HDF5's texts give such lists.
TEST(NamedArrays, ListsFromFiles) {
  PROPRIO_REQUIRE_PYTHON("numpy");
  const testing::TempFolder folder;
  const std::string made = runPython(folder, R"(
import numpy as np
t, q, names = np.arange(9) * 0.1, np.arange(27).reshape(9, 3), ['pan', 'lift_joint', 'elbow']
np.savez('u.npz', time=t, q=q, joint_names=np.array(names), comment=np.array(['a', 'b', 'c']))
np.savez('s.npz', time=t, q=q, names=np.array(names, dtype='S'))
np.savez('b.npz', time=t, q=q, names=np.array(names).astype('>U12'))
print('u.npz s.npz b.npz')
try:
  import scipy.io
  scipy.io.savemat('c.mat', dict(data=dict(time=t, q=q, names=np.array(names, dtype=object))))
  scipy.io.savemat('t.mat', dict(time=t, q=q, joints=names), do_compression=True)
  print('c.mat t.mat')
except ImportError: pass
try:
  import h5py
  for name, kind in (('f.h5', 'S'), ('v.h5', h5py.string_dtype())):
    with h5py.File(name, 'w') as f:
      f['arm/time'], f['arm/q'] = t, q
      f.create_dataset('arm/joint_names', data=np.array(names, dtype=kind))
    print(name)
except ImportError: pass
)");
  std::istringstream files(made);
  for (std::string file; files >> file;) {
    const std::string path = folder.file(file);
    const std::vector<Recording> read = file.ends_with(".npz")   ? readNpz(path)
                                        : file.ends_with(".mat") ? readMat(path)
                                                                 : readHdf5(path);
    ASSERT_EQ(read.size(), 1u) << file;
    ASSERT_EQ(read[0].channels.size(), 3u) << file;
    EXPECT_EQ(read[0].channels[0].of, "pan") << file;
    EXPECT_EQ(read[0].channels[1].of, "lift_joint") << file;
    EXPECT_EQ(read[0].channels[2].of, "elbow") << file;
  }
}

}  // namespace
}  // namespace proprio
