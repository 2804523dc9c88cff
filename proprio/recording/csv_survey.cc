#include "proprio/recording/csv_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/recording/csv.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr double kGap = 2.5;      // of the median step, as for recordings in memory
constexpr Index kPreview = 4096;  // samples at most

/// Statistics of one channel, value by value.
class RunningChannel {
 public:
  void add(double value, Index row) {
    const bool same = value == last_;
    last_ = value;
    if (!same) since_ = row;
    if (!std::isfinite(value)) {
      ++s_.missing;
      return;
    }
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
  ChannelStatistics s_;
  double count_ = 0.0, squares_ = 0.0, last_ = std::numeric_limits<double>::quiet_NaN();
  Index since_ = 0;
};

/// Statistics of the stamps, piece by piece.
class RunningTime {
 public:
  void add(const Eigen::VectorXd& time) {
    if (time.size() == 0) return;
    if (t_.median_step == 0.0) t_.median_step = timeStatistics(time, time.size()).median_step;
    for (const double stamp : time) {
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
    t.duration = last_ - first_;
    if (t.median_step > 0.0) t.rate_hz = 1.0 / t.median_step;
    if (count_ > 0.0)
      t.jitter = std::sqrt(std::max(0.0, squares_ / count_ - std::pow(sum_ / count_, 2)));
    return t;
  }

 private:
  void addStep(double step) {
    if (!(step > 0.0)) {
      if (t_.first_disorder < 0) t_.first_disorder = rows_;
      step == 0.0 ? ++t_.repeated : ++t_.reversed;
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

}  // namespace

CsvSurvey surveyCsv(const std::string& path, const CsvOptions& options) {
  std::vector<RunningChannel> channels;
  RunningTime time;
  Preview preview;
  Index rows = 0;
  const std::vector<std::string> notes =
      streamCsvRecording(path, options, [&](const Recording& piece) {
        channels.resize(piece.channels.size());
        preview.add(piece, rows);
        time.add(piece.time);
        for (size_t c = 0; c < channels.size(); ++c) {
          Index row = rows;
          for (const double value : piece.values.col(static_cast<Index>(c)))
            channels[c].add(value, row++);
        }
        rows += piece.samples();
      });
  CsvSurvey survey;
  survey.preview = preview.finished();
  survey.preview.notes = notes;
  std::vector<ChannelStatistics> statistics;
  for (size_t c = 0; c < channels.size(); ++c)
    statistics.push_back(channels[c].result(survey.preview.channels[c].name));
  survey.quality = qualityOf(survey.preview, time.result(rows), std::move(statistics));
  return survey;
}

Recording readCsvStretch(const std::string& path, const CsvOptions& options, double from,
                         double to) {
  std::vector<Recording> pieces;
  double start = 0.0;
  bool begun = false;
  const std::vector<std::string> notes =
      streamCsvRecording(path, options, [&](const Recording& piece) {
        if (piece.time.size() == 0)
          throw Error(path + ": has no time stamps, by which it could be cut; declare its column");
        if (!begun) start = piece.time[0];
        begun = true;
        std::vector<Index> inside;
        for (Index k = 0; k < piece.samples(); ++k) {
          const double at = piece.time[k] - start;
          if (at >= from && at <= to) inside.push_back(k);
        }
        if (inside.empty()) return;
        Recording part = piece;
        part.time = piece.time(inside).eval();
        part.values = piece.values(inside, Eigen::all).eval();
        pieces.push_back(std::move(part));
      });
  if (pieces.empty())
    throw Error(
        fmt::format("{}: none of its samples lies between {:g} and {:g} s", path, from, to));
  Index rows = 0;
  for (const Recording& piece : pieces) rows += piece.samples();
  Recording stretch = pieces.front();
  stretch.notes = notes;
  stretch.time.resize(rows);
  stretch.values.resize(rows, pieces.front().values.cols());
  Index row = 0;
  for (const Recording& piece : pieces) {
    stretch.time.segment(row, piece.samples()) = piece.time;
    stretch.values.middleRows(row, piece.samples()) = piece.values;
    row += piece.samples();
  }
  return stretch;
}

}  // namespace proprio
