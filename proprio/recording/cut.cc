#include "proprio/recording/cut.h"

#include <fmt/format.h>

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
    throw Error(fmt::format("{}: no sample lies between {} s and {} s; it goes from {} s to {} s",
                            recording.source, formatNumber(from), formatNumber(to),
                            formatNumber(recording.time.minCoeff()),
                            formatNumber(recording.time.maxCoeff())));
  }
  return chosen(recording, rows);
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
