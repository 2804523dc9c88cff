#pragma once

/// Text tables of any size in constant memory: what `proprio log` tells of a file that is larger
/// than memory, and a stretch cut out of it.
///
/// One pass over the file. Exact: numbers of samples, disorder of stamps, longest and shortest
/// step, smallest, largest, mean and deviation of every channel, missing values, longest
/// standstill. The median step, against which gaps, jitter and restarts are judged, is that of the
/// first rows (a few thousand). Not looked for: spikes, saturation, quantisation, delays.

#include <functional>
#include <optional>
#include <string>

#include "proprio/recording/csv_pieces.h"
#include "proprio/recording/quality.h"
#include "proprio/recording/recording.h"

namespace proprio {

struct CsvSurvey {
  Recording preview;  ///< every n-th sample, a few thousand in all
  Quality quality;    ///< of all samples
};

/// `sink`, if given, gets the pieces on the way. @throws Error as streamCsvPieces(), or if there
/// are samples but none of them between `from` and `to`.
CsvSurvey surveyCsv(const std::string& path, const PieceOptions& options,
                    const std::function<void(const Recording&)>& sink = {});

/// The samples from `from` to `to`; memory for these only. Empty if they are more than
/// `most_numbers`. @throws Error as surveyCsv().
std::optional<Recording> readCsvStretch(
    const std::string& path, const PieceOptions& options,
    Eigen::Index most_numbers = std::numeric_limits<Eigen::Index>::max());

/// What a picture shows of many samples: smallest and largest value of every channel in a few
/// thousand stretches of equal length, in the order in which they occurred.
class Envelope {
 public:
  void add(const Recording& piece);
  /// Two samples per stretch, the stamps of its first and its middle row.
  Recording finished() const;
  Eigen::Index samples() const { return rows_; }

 private:
  struct Extremes {
    double low, high;
    Eigen::Index low_at, high_at;
  };
  void thinOut();

  Recording about_;
  std::vector<Extremes> extremes_;  ///< stretch by stretch, all channels of each
  std::vector<double> first_, middle_;
  Eigen::Index rows_ = 0, stride_ = 1;
};

}  // namespace proprio
