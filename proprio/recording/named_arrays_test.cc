/// How arrays become channels, whatever file they come from.

#include <gtest/gtest.h>

#include "proprio/recording/hdf5.h"
#include "proprio/recording/mat.h"
#include "proprio/recording/named_arrays_internal.h"
#include "proprio/recording/npy.h"
#include "proprio/recording/testing/python_files.h"

namespace proprio {
namespace {

Eigen::MatrixXd counted(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < values.size(); ++i) values(i) = static_cast<double>(i);
  return values;
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
