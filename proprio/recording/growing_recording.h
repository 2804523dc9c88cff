#pragma once

/// A recording that is written piece by piece in constant memory, in the format of the extension
/// (.csv, .mcap, .npz, .h5), with the same numbers as writeRecording() would write. Archives of
/// arrays have a place for every row before the first one is written, so they need the number of
/// rows. Limits: .npz is stored, not compressed; archives cannot go to a pipe.

#include <memory>
#include <string>

#include "proprio/recording/recording.h"

namespace proprio {

class GrowingRecording {
 public:
  virtual ~GrowingRecording() = default;
  /// The next rows; all pieces have the same channels. @throws Error as writeRecording().
  virtual void append(const Recording& piece) = 0;
  /// Gives the file its name; without it nothing is left behind. @throws Error if rows are missing.
  virtual void finish() = 0;
};

/// Does the format need to know the number of rows first?
bool needsRowCount(const std::string& path);

/// @param rows of all pieces together; not looked at unless needsRowCount()
std::unique_ptr<GrowingRecording> growingRecording(const std::string& path, Eigen::Index rows);

}  // namespace proprio
