#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "proprio/core/error.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/growing_recording_internal.h"

namespace proprio {
namespace {

class GrowingCsv : public GrowingRecording {
 public:
  explicit GrowingCsv(const std::string& path) : file_(path) {}
  void append(const Recording& piece) override {
    if (!named_) file_.append(csvNames(piece));
    named_ = true;
    file_.append(csvRows(piece));
  }
  void finish() override { file_.finish(); }

 private:
  GrowingFile file_;
  bool named_ = false;
};

}  // namespace

std::unique_ptr<GrowingRecording> growingCsv(const std::string& path, Eigen::Index) {
  return std::make_unique<GrowingCsv>(path);
}

std::string rowBytes(const Eigen::MatrixXd& values) {
  std::string out(sizeof(double) * static_cast<size_t>(values.size()), '\0');
  char* to = out.data();
  for (Eigen::Index r = 0; r < values.rows(); ++r) {
    for (Eigen::Index c = 0; c < values.cols(); ++c, to += sizeof(double)) {
      double value = values(r, c);
      if constexpr (std::endian::native == std::endian::big) value = byteSwapped(value);
      std::memcpy(to, &value, sizeof value);
    }
  }
  return out;
}

void GrowingArrays::append(const Recording& piece) {
  const std::vector<NamedArray> arrays = arraysFromRecordings({piece});
  if (file_.temporaryPath().empty())
    throw Error(path_ +
                ": is no file, and an archive of arrays cannot be written to it row by row; "
                "write .csv or .mcap there");
  if (offsets_.empty()) begin(arrays, channelsJson({piece}));
  if (arrays.size() != offsets_.size() || piece.samples() > rows_ - done_) {
    throw Error(
        fmt::format("{}: has other channels or more than the {} rows announced; was {} "
                    "changed while it was read?",
                    path_, rows_, piece.source));
  }
  for (size_t k = 0; k < arrays.size(); ++k) {
    const std::string bytes = rowBytes(arrays[k].values);
    file_.writeAt(offsets_[k], bytes);
    offsets_[k] += bytes.size();
    written(k, bytes);
  }
  done_ += piece.samples();
}

void GrowingArrays::finish() {
  if (done_ != rows_) {
    throw Error(
        fmt::format("{}: {} rows were announced and {} came; was the source changed while "
                    "it was read?",
                    path_, rows_, done_));
  }
  end();
  file_.finish();
}

}  // namespace proprio
