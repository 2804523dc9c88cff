#pragma once

/// Parts of recordings, and recordings put together.

#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

/// Samples with from <= time <= to, stamps unchanged. @throws Error if there are no time stamps or
/// none of them lies there.
Recording cutByTime(const Recording& recording, double from, double to);

/// Samples first ... first + count - 1, counted from 0. @throws Error if they are not all there.
Recording cutByRows(const Recording& recording, Eigen::Index first, Eigen::Index count);

/// Rows at which the time goes back to its beginning and then goes on, as where several recordings
/// were written into one file: empty if it never goes back, or if it goes back in any other way.
std::vector<Eigen::Index> timeRestarts(const Eigen::VectorXd& time);

/// The same stamp by stamp, in constant memory but for what it finds.
class RestartFinder {
 public:
  /// @param usual_step  the median of the positive steps, s
  explicit RestartFinder(double usual_step);
  void add(double stamp);
  /// The rows so far, empty if the time also goes back in another way.
  std::vector<Eigen::Index> found() const;

 private:
  double leap_;
  std::vector<Eigen::Index> restarts_;
  Eigen::Index rows_ = 0, begin_ = 0;
  double last_ = 0.0, start_ = 0.0;
  bool disorder_ = false;
};

/// The recordings between these rows, with a note in each; the recording itself if there are none.
std::vector<Recording> splitAtRestarts(const Recording& recording);

/// One after the other. @throws Error if the channels differ in name, order or unit, if only some
/// have time stamps, or if one begins before the one before ends; with `follow_on` its stamps are
/// moved instead, to begin one median step behind.
Recording concatenated(const std::vector<Recording>& recordings, bool follow_on = false);

}  // namespace proprio
