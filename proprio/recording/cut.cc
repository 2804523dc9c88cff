#include "proprio/recording/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/quality.h"

namespace proprio {
namespace {

using Eigen::Index;

Recording chosen(const Recording& recording, const std::vector<Index>& rows) {
  Recording part = recording;
  part.values = recording.values(rows, Eigen::all);
  if (recording.time.size() > 0) part.time = recording.time(rows);
  return part;
}

void requireSameChannels(const Recording& a, const Recording& b) {
  if (a.channels.size() != b.channels.size()) {
    throw Error(
        fmt::format("{} has {} channels and {} has {}; recordings to put together need the "
                    "same",
                    a.source, a.channels.size(), b.source, b.channels.size()));
  }
  for (size_t c = 0; c < a.channels.size(); ++c) {
    const Channel &x = a.channels[c], &y = b.channels[c];
    if (x.name == y.name && x.unit == y.unit) continue;
    throw Error(
        fmt::format("channel {} is {} [{}] in {} and {} [{}] in {}; recordings to put "
                    "together need the same",
                    c + 1, inQuotes(x.name), x.unit, a.source, inQuotes(y.name), y.unit, b.source));
  }
  if ((a.time.size() > 0) != (b.time.size() > 0)) {
    throw Error(fmt::format("{} has time stamps and {} has none",
                            a.time.size() > 0 ? a.source : b.source,
                            a.time.size() > 0 ? b.source : a.source));
  }
}

}  // namespace

Recording cutByRows(const Recording& recording, Index first, Index count) {
  if (first < 0 || count < 0 || first + count > recording.samples()) {
    throw Error(fmt::format("{}: rows {} to {} are asked for, but it has {}", recording.source,
                            first + 1, first + count, recording.samples()));
  }
  Recording part = recording;
  part.values = recording.values.middleRows(first, count);
  if (recording.time.size() > 0) part.time = recording.time.segment(first, count);
  return part;
}

Recording cutByTime(const Recording& recording, double from, double to) {
  if (recording.time.size() == 0) {
    throw Error(recording.source + ": has no time stamps, so that it cannot be cut by time");
  }
  std::vector<Index> rows;
  for (Index i = 0; i < recording.time.size(); ++i) {
    if (recording.time[i] >= from && recording.time[i] <= to) rows.push_back(i);
  }
  if (rows.empty()) {
    // 15 digits: sums such as start + 1.3 without their rounding
    throw Error(fmt::format(
        "{}: no sample lies between {:.15g} s and {:.15g} s; it goes from {:.15g} s to {:.15g} s",
        recording.source, from, to, recording.time.minCoeff(), recording.time.maxCoeff()));
  }
  return chosen(recording, rows);
}

namespace {

constexpr Index kShortestPart = 10;    // samples of a recording
constexpr double kLongestStep = 10.0;  // times the usual one

}  // namespace

RestartFinder::RestartFinder(double usual_step) : leap_(kLongestStep * usual_step) {}

void RestartFinder::add(double stamp) {
  const double step = rows_ > 0 ? stamp - last_ : 0.0;
  if (rows_ == 0) start_ = stamp;
  // a recording begins where the one before began, or earlier, and goes on: a single stamp that is
  // wrong is followed by a leap
  if (std::isnan(step) || (!restarts_.empty() && rows_ == begin_ + 1 && step > leap_))
    disorder_ = true;
  if (step < 0.0 && !disorder_) {
    if (rows_ - begin_ < kShortestPart || stamp > start_ + leap_) disorder_ = true;
    restarts_.push_back(rows_);
    begin_ = rows_;
    start_ = stamp;
  }
  last_ = stamp;
  ++rows_;
}

std::vector<Index> RestartFinder::found() const {
  if (disorder_ || rows_ - begin_ < kShortestPart) return {};
  return restarts_;
}

std::vector<Index> timeRestarts(const Eigen::VectorXd& time) {
  std::vector<double> steps;
  bool back = false;
  for (Index i = 1; i < time.size(); ++i) {
    const double step = time[i] - time[i - 1];
    if (step > 0.0) steps.push_back(step);
    back = back || step < 0.0;
  }
  if (!back || steps.empty()) return {};
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  RestartFinder finder(steps[steps.size() / 2]);
  for (const double stamp : time) finder.add(stamp);
  return finder.found();
}

std::vector<Recording> splitAtRestarts(const Recording& recording) {
  std::vector<Eigen::Index> bounds = timeRestarts(recording.time);
  if (bounds.empty()) return {recording};
  bounds.insert(bounds.begin(), 0);
  bounds.push_back(recording.samples());
  std::vector<Recording> parts;
  for (size_t k = 0; k + 1 < bounds.size(); ++k) {
    parts.push_back(cutByRows(recording, bounds[k], bounds[k + 1] - bounds[k]));
    parts.back().notes.push_back(
        fmt::format("the time starts again at row {}: this is part {} of {} recordings in one file",
                    bounds[1] + 1, k + 1, bounds.size() - 1));
  }
  return parts;
}

Recording concatenated(const std::vector<Recording>& recordings, bool follow_on) {
  if (recordings.empty()) throw Error("there are no recordings to put together");
  Recording all = recordings.front();
  Index rows = 0;
  for (const Recording& next : recordings) rows += next.samples();
  const Index columns = all.values.cols();
  const bool timed = all.time.size() > 0;
  all.values.resize(rows, columns);
  all.time.resize(timed ? rows : 0);
  Index at = 0;
  for (const Recording& next : recordings) {
    if (at > 0) requireSameChannels(recordings.front(), next);
    all.values.middleRows(at, next.samples()) = next.values;
    if (timed && next.samples() > 0) {
      double shift = 0.0;
      if (at > 0 && follow_on) {
        const double step = timeStatistics(next.time, next.samples()).median_step;
        shift = all.time[at - 1] + step - next.time[0];
      } else if (at > 0 && next.time[0] <= all.time[at - 1]) {
        throw Error(
            fmt::format("{}: begins at {} s, before the one before ends at {} s; give them "
                        "in order of time",
                        next.source, formatNumber(next.time[0]), formatNumber(all.time[at - 1])));
      }
      all.time.segment(at, next.samples()) = next.time.array() + shift;
    }
    if (&next != &recordings.front())
      all.notes.insert(all.notes.end(), next.notes.begin(), next.notes.end());
    at += next.samples();
  }
  return all;
}

}  // namespace proprio
