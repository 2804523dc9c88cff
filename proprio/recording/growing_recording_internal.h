#pragma once

/// Inside the recording room: the formats of growing_recording.h, and what the archives among them
/// share: places of arrays in a file.

#include <cstdint>

#include "proprio/core/atomic_file.h"
#include "proprio/recording/growing_recording.h"
#include "proprio/recording/named_arrays_internal.h"

namespace proprio {

std::unique_ptr<GrowingRecording> growingCsv(const std::string& path, Eigen::Index rows);
std::unique_ptr<GrowingRecording> growingMcap(const std::string& path, Eigen::Index rows);
std::unique_ptr<GrowingRecording> growingNpz(const std::string& path, Eigen::Index rows);
std::unique_ptr<GrowingRecording> growingHdf5(const std::string& path, Eigen::Index rows);

/// Numbers as .npy and HDF5 hold them: row by row, little endian.
std::string rowBytes(const Eigen::MatrixXd& values);

/// Rows of several arrays, each at its place in the file.
class GrowingArrays : public GrowingRecording {
 public:
  GrowingArrays(const std::string& path, Eigen::Index rows)
      : file_(path), path_(path), rows_(rows) {}
  void append(const Recording& piece) override;
  void finish() override;

 protected:
  /// Makes the file; offsets_ then says where the numbers of each array begin.
  virtual void begin(const std::vector<NamedArray>& arrays, const std::string& json) = 0;
  /// The numbers of array k that were just written.
  virtual void written(size_t, std::string_view) {}
  virtual void end() {}

  GrowingFile file_;
  const std::string path_;
  const Eigen::Index rows_;
  std::vector<uint64_t> offsets_;

 private:
  Eigen::Index done_ = 0;
};

}  // namespace proprio
