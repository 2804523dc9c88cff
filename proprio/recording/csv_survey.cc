#include "proprio/recording/csv_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/recording/cut.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr double kGap = 2.5;         // of the median step, as for recordings in memory
constexpr Index kPreview = 4096;     // samples at most
constexpr size_t kStretches = 8192;  // of a picture, more than it has columns of pixels

/// Statistics of one channel, value by value.
class RunningChannel {
 public:
  explicit RunningChannel(const std::optional<FarLimits>& limits) : limits_(limits) {}

  void add(double value, Index row) {
    const bool same = value == last_;
    last_ = value;
    if (!same) since_ = row;
    if (!std::isfinite(value)) {
      if (s_.missing++ == 0) s_.first_missing = row;
      return;
    }
    if (limits_ && (value > limits_->upper || value < limits_->lower)) ++s_.beyond;
    if (count_ == 0.0) s_.smallest = s_.largest = value;
    s_.smallest = std::min(s_.smallest, value);
    s_.largest = std::max(s_.largest, value);
    count_ += 1.0;
    const double before = value - s_.mean;  // Welford
    s_.mean += before / count_;
    squares_ += before * (value - s_.mean);
    if (row - since_ + 1 > s_.longest_frozen) {
      s_.longest_frozen = row - since_ + 1;
      s_.frozen_at = since_;
    }
  }

  ChannelStatistics result(const std::string& name) const {
    ChannelStatistics s = s_;
    s.name = name;
    s.deviation = count_ > 0.0 ? std::sqrt(squares_ / count_) : 0.0;
    return s;
  }

 private:
  std::optional<FarLimits> limits_;
  ChannelStatistics s_;
  double count_ = 0.0, squares_ = 0.0, last_ = std::numeric_limits<double>::quiet_NaN();
  Index since_ = 0;
};

/// Statistics of the stamps, piece by piece.
class RunningTime {
 public:
  void add(const Eigen::VectorXd& time) {
    if (time.size() == 0) return;
    if (!restarts_) {
      t_.median_step = timeStatistics(time, time.size()).median_step;
      restarts_.emplace(t_.median_step);
    }
    for (const double stamp : time) {
      restarts_->add(stamp);
      if (rows_ > 0) addStep(stamp - last_);
      if (rows_ == 0) first_ = stamp;
      last_ = stamp;
      ++rows_;
    }
  }

  TimeStatistics result(Index samples) const {
    TimeStatistics t = t_;
    t.samples = samples;
    if (rows_ < 2) return t;
    t.restarts = static_cast<Index>(restarts_->found().size());
    t.duration = last_ - first_;
    if (t.median_step > 0.0) t.rate_hz = 1.0 / t.median_step;
    if (count_ > 0.0)
      t.jitter = std::sqrt(std::max(0.0, squares_ / count_ - std::pow(sum_ / count_, 2)));
    return t;
  }

 private:
  void addStep(double step) {
    if (!(step > 0.0)) {
      const bool repeated = step == 0.0;
      Index& first = repeated ? t_.first_repeated : t_.first_reversed;
      if (first < 0) first = rows_;
      ++(repeated ? t_.repeated : t_.reversed);
      return;
    }
    if (step > t_.longest_step) {
      t_.longest_step = step;
      t_.longest_step_at = rows_ - 1;
    }
    t_.shortest_step = t_.shortest_step > 0.0 ? std::min(t_.shortest_step, step) : step;
    if (step > kGap * t_.median_step) {
      ++t_.gaps;
      return;
    }
    const double relative = step / t_.median_step - 1.0;
    sum_ += relative;
    squares_ += relative * relative;
    count_ += 1.0;
  }

  TimeStatistics t_;
  std::optional<RestartFinder> restarts_;
  Index rows_ = 0;
  double first_ = 0.0, last_ = 0.0, sum_ = 0.0, squares_ = 0.0, count_ = 0.0;
};

/// Every n-th row; n doubles whenever there are too many.
class Preview {
 public:
  void add(const Recording& piece, Index first_row) {
    if (recording.channels.empty()) {
      recording = piece;
      recording.time.resize(0);
      recording.values.resize(kPreview, piece.values.cols());
      time_.resize(kPreview);
    }
    timed_ = piece.time.size() > 0;
    for (Index k = 0; k < piece.samples(); ++k) {
      if ((first_row + k) % stride_ != 0) continue;
      if (count_ == kPreview) thinOut();
      if ((first_row + k) % stride_ != 0) continue;
      recording.values.row(count_) = piece.values.row(k);
      time_[count_++] = timed_ ? piece.time[k] : 0.0;
    }
  }

  Recording finished() {
    recording.values.conservativeResize(count_, Eigen::NoChange);
    if (timed_) recording.time = time_.head(count_);
    return std::move(recording);
  }

  Recording recording;

 private:
  void thinOut() {
    for (Index k = 0; 2 * k < count_; ++k) {
      recording.values.row(k) = recording.values.row(2 * k);
      time_[k] = time_[2 * k];
    }
    count_ = (count_ + 1) / 2;
    stride_ *= 2;
  }

  Eigen::VectorXd time_;
  Index count_ = 0, stride_ = 1;
  bool timed_ = false;
};

// nothing was left of the cut; a table without rows is one
void requireSamples(const std::string& path, const PieceOptions& options) {
  if (!std::isfinite(options.from) && !std::isfinite(options.to)) return;
  throw Error(fmt::format("{}: none of its samples lies between {:g} and {:g} s", path,
                          options.from, options.to));
}

}  // namespace

CsvSurvey surveyCsv(const std::string& path, const PieceOptions& options,
                    const std::function<void(const Recording&)>& sink) {
  std::vector<RunningChannel> channels;
  RunningTime time;
  Preview preview;
  Index rows = 0;
  const auto limits = [&](const Channel& channel) {
    return options.model != nullptr ? farLimits(*options.model, channel) : std::nullopt;
  };
  const std::vector<std::string> notes =
      streamCsvPieces(path, options, [&](const Recording& piece) {
        if (sink) sink(piece);
        for (size_t c = channels.size(); c < piece.channels.size(); ++c)
          channels.emplace_back(limits(piece.channels[c]));
        preview.add(piece, rows);
        time.add(piece.time);
        for (size_t c = 0; c < channels.size(); ++c) {
          Index row = rows;
          for (const double value : piece.values.col(static_cast<Index>(c)))
            channels[c].add(value, row++);
        }
        rows += piece.samples();
      });
  if (rows == 0) requireSamples(path, options);
  CsvSurvey survey;
  survey.preview = preview.finished();
  survey.preview.notes = notes;
  std::vector<ChannelStatistics> statistics;
  for (size_t c = 0; c < channels.size(); ++c)
    statistics.push_back(channels[c].result(survey.preview.channels[c].name));
  survey.quality =
      qualityOf(survey.preview, time.result(rows), std::move(statistics), options.model);
  return survey;
}

std::optional<Recording> readCsvStretch(const std::string& path, const PieceOptions& options,
                                        Index most_numbers) {
  std::vector<Recording> pieces;
  Index numbers = 0, rows = 0;
  const std::vector<std::string> notes =
      streamCsvPieces(path, options, [&](const Recording& piece) {
        numbers += piece.values.size();
        rows += piece.samples();
        if (numbers > most_numbers)
          pieces.clear();
        else
          pieces.push_back(piece);
      });
  if (numbers > most_numbers) return std::nullopt;
  if (pieces.empty()) {
    requireSamples(path, options);
    return Recording{};
  }
  Recording stretch = pieces.front();
  const bool timed = stretch.time.size() > 0;
  stretch.notes = notes;
  stretch.time.resize(timed ? rows : 0);
  stretch.values.resize(rows, stretch.values.cols());
  Index row = 0;
  for (const Recording& piece : pieces) {
    if (timed) stretch.time.segment(row, piece.samples()) = piece.time;
    stretch.values.middleRows(row, piece.samples()) = piece.values;
    row += piece.samples();
  }
  return stretch;
}

void Envelope::add(const Recording& piece) {
  const size_t width = piece.channels.size();
  if (about_.channels.empty()) {
    about_ = piece;
    about_.values.resize(0, piece.values.cols());
    about_.time.resize(piece.time.size() > 0 ? 1 : 0);
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (Index k = 0; k < piece.samples(); ++k, ++rows_) {
    if (rows_ % stride_ == 0) {
      if (first_.size() == kStretches) thinOut();
      if (rows_ % stride_ == 0) {
        first_.push_back(piece.time.size() > 0 ? piece.time[k] : static_cast<double>(rows_));
        middle_.push_back(first_.back());
        extremes_.resize(extremes_.size() + width, {kNone, kNone, rows_, rows_});
      }
    }
    if (rows_ % stride_ <= stride_ / 2 && piece.time.size() > 0) middle_.back() = piece.time[k];
    Extremes* stretch = extremes_.data() + extremes_.size() - width;
    for (size_t c = 0; c < width; ++c) {
      const double value = piece.values(k, static_cast<Index>(c));
      if (!(value >= stretch[c].low) && !std::isnan(value)) {
        stretch[c].low = value;
        stretch[c].low_at = rows_;
      }
      if (!(value <= stretch[c].high) && !std::isnan(value)) {
        stretch[c].high = value;
        stretch[c].high_at = rows_;
      }
    }
  }
}

// pairs of stretches become one
void Envelope::thinOut() {
  const size_t width = about_.channels.size();
  for (size_t k = 0; 2 * k < first_.size(); ++k) {
    first_[k] = first_[2 * k];
    const bool pair = 2 * k + 1 < first_.size();
    middle_[k] = pair ? first_[2 * k + 1] : middle_[2 * k];
    for (size_t c = 0; c < width; ++c) {
      Extremes merged = extremes_[2 * k * width + c];
      if (pair) {
        const Extremes& other = extremes_[(2 * k + 1) * width + c];
        if (!(merged.low <= other.low) && !std::isnan(other.low)) {
          merged.low = other.low;
          merged.low_at = other.low_at;
        }
        if (!(merged.high >= other.high) && !std::isnan(other.high)) {
          merged.high = other.high;
          merged.high_at = other.high_at;
        }
      }
      extremes_[k * width + c] = merged;
    }
  }
  const size_t kept = (first_.size() + 1) / 2;
  first_.resize(kept);
  middle_.resize(kept);
  extremes_.resize(kept * width);
  stride_ *= 2;
}

Recording Envelope::finished() const {
  Recording envelope = about_;
  const size_t width = about_.channels.size(), count = first_.size();
  const auto rows = static_cast<Index>(2 * count);
  envelope.time.resize(about_.time.size() > 0 ? rows : 0);
  envelope.values.resize(rows, static_cast<Index>(width));
  for (size_t k = 0; k < count; ++k) {
    const auto row = static_cast<Index>(2 * k);
    if (envelope.time.size() > 0) {
      envelope.time[row] = first_[k];
      envelope.time[row + 1] = middle_[k];
    }
    for (size_t c = 0; c < width; ++c) {
      const Extremes& e = extremes_[k * width + c];
      const auto column = static_cast<Index>(c);
      envelope.values(row, column) = e.low_at <= e.high_at ? e.low : e.high;
      envelope.values(row + 1, column) = e.low_at <= e.high_at ? e.high : e.low;
    }
  }
  return envelope;
}

}  // namespace proprio
