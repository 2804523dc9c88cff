#pragma once

/// A text table in pieces, in constant memory, each as a recording that is mapped through a robot,
/// cut and reduced to some channels. What the columns mean is judged by the first rows (about two
/// million numbers): names, units and the time factor as mapRecording() finds them there.

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/recording/csv_stream.h"
#include "proprio/recording/recording.h"

namespace proprio {

struct PieceOptions {
  CsvOptions csv;
  const Model* model = nullptr;  ///< the robot that it is mapped through, if there is one
  double rate_hz = 0.0;          ///< of a table without time stamps; 0: not stated
  double from = -std::numeric_limits<double>::infinity();  ///< s since the first stamp
  double to = std::numeric_limits<double>::infinity();
  std::vector<std::string> channels;  ///< names with * and ?; empty: all
};

/// What of the robot's declaration needs the whole log at once: other files, one value per line,
/// delays, rows; empty if nothing does.
std::string needsWholeLog(const Model& model);

/// Hands over what is inside of `from` and `to`, piece by piece. @return the notes.
/// @throws Error as streamCsv() and mapRecording(), or if a table without time stamps is to be cut.
std::vector<std::string> streamCsvPieces(const std::string& path, const PieceOptions& options,
                                         const std::function<void(const Recording&)>& sink);

}  // namespace proprio
