#include "proprio/recording/csv_pieces.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "proprio/core/error.h"
#include "proprio/recording/channel_selection.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/signal_select_internal.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr Index kJudgedNumbers = 2'000'000;  // 16 MB, and half a minute of many joints at 1 kHz

/// Pieces on their way from the table to the sink.
class Pieces {
 public:
  Pieces(const std::string& path, const PieceOptions& options,
         const std::function<void(const Recording&)>& sink)
      : path_(path), options_(options), sink_(sink) {}

  void add(Recording piece) {
    const Index first = rows_;
    rows_ += piece.samples();
    if (options_.rate_hz > 0.0) stamp(piece, first);
    if (options_.model == nullptr) return pass(std::move(piece));
    if (plan_) return pass(mapped(piece, first));
    waiting_numbers_ += piece.values.size();
    waiting_.push_back(std::move(piece));
    if (waiting_numbers_ >= kJudgedNumbers) judge();
  }

  std::vector<std::string> finish(const std::vector<std::string>& notes) {
    if (!waiting_.empty()) judge();
    std::vector<std::string> all = notes_;
    all.insert(all.end(), notes.begin(), notes.end());
    return all;
  }

 private:
  void stamp(Recording& piece, Index first) const {
    if (piece.time.size() > 0)
      throw Error(path_ + ": has time stamps of its own, so that --rate is not for it");
    piece.time = times(piece.samples(), first, options_.rate_hz);
  }

  static Eigen::VectorXd times(Index count, Index first, double rate_hz) {
    Eigen::VectorXd time(count);
    for (Index k = 0; k < count; ++k) time[k] = static_cast<double>(first + k) / rate_hz;
    return time;
  }

  // decides what the columns are and passes on what has waited for it
  void judge() {
    Index rows = 0;
    for (const Recording& piece : waiting_) rows += piece.samples();
    Recording first = waiting_.front();
    first.notes.clear();
    first.values.resize(rows, first.values.cols());
    if (first.time.size() > 0) first.time.resize(rows);
    Index at = 0;
    for (const Recording& piece : waiting_) {
      first.values.middleRows(at, piece.samples()) = piece.values;
      if (first.time.size() > 0) first.time.segment(at, piece.samples()) = piece.time;
      at += piece.samples();
    }
    waiting_.clear();
    plan_ = planSignals(*options_.model, {first});
    Recording result = mapped(first, 0);
    notes_ = result.notes;
    pass(std::move(result));
  }

  Recording mapped(const Recording& piece, Index first) const {
    Recording result = mappedBy(*plan_, *options_.model, {piece});
    const bool stamped = piece.time.size() > 0;
    const double rate = options_.model->recording ? options_.model->recording->rate_hz : 0.0;
    // a declared rate counts from the first row of all
    if (!stamped && rate > 0.0 && options_.model->recording->time.channel.empty())
      result.time = times(result.samples(), first, rate);
    return result;
  }

  void pass(Recording piece) {
    if (piece.samples() == 0) return;
    const bool cut = std::isfinite(options_.from) || std::isfinite(options_.to);
    if (cut) {
      if (piece.time.size() == 0)
        throw Error(path_ + ": has no time stamps, by which it could be cut; declare its column");
      if (!start_) start_ = piece.time[0];
      std::vector<Index> inside;
      for (Index k = 0; k < piece.samples(); ++k) {
        const double at = piece.time[k] - *start_;
        if (at >= options_.from && at <= options_.to) inside.push_back(k);
      }
      if (inside.empty()) return;
      piece.time = piece.time(inside).eval();
      piece.values = piece.values(inside, Eigen::all).eval();
    }
    sink_(options_.channels.empty() ? piece : withChannels(piece, options_.channels));
  }

  const std::string& path_;
  const PieceOptions& options_;
  const std::function<void(const Recording&)>& sink_;
  std::vector<Recording> waiting_;
  Index waiting_numbers_ = 0, rows_ = 0;
  std::optional<SignalPlan> plan_;
  std::optional<double> start_;
  std::vector<std::string> notes_;
};

}  // namespace

std::string needsWholeLog(const Model& model) {
  if (!model.recording) return "";
  const RecordingDeclaration& declared = *model.recording;
  if (!declared.time.file.empty() || declared.time.columns > 0) return "a file of time stamps";
  if (declared.first_row > 0) return "rows";
  for (const SignalDeclaration& signal : declared.signals) {
    if (!signal.file.empty()) return "a file per signal";
    if (signal.columns > 0) return "one value per line";
    if (signal.delay != 0.0) return "a delay";
  }
  return "";
}

std::vector<std::string> streamCsvPieces(const std::string& path, const PieceOptions& options,
                                         const std::function<void(const Recording&)>& sink) {
  if (options.model != nullptr && !needsWholeLog(*options.model).empty()) {
    throw Error(fmt::format("{}: the robot declares {}, for which a log is read as a whole", path,
                            needsWholeLog(*options.model)));
  }
  Pieces pieces(path, options, sink);
  const std::vector<std::string> notes =
      streamCsvRecording(path, options.csv, [&](const Recording& piece) { pieces.add(piece); });
  return pieces.finish(notes);
}

}  // namespace proprio
