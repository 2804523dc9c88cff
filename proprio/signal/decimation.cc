#include "proprio/signal/decimation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/signal/filter_kernel_internal.h"

namespace proprio {

using Eigen::Index;
using filter_kernel::kLanes;
using filter_kernel::Sample;
using filter_kernel::SectionState;

namespace {

// What is left of a transient when the backward pass reaches samples that count: well below
// rounding, because the residues of an order 8 filter are large.
constexpr double kForgotten = 1e-18;
constexpr Index kShortestChunk = 2048;

}  // namespace

int decimationRatio(double rate_hz, double decimation_hz) {
  if (!(rate_hz > 0.0) || !(decimation_hz > 0.0)) {
    throw Error(
        fmt::format("decimation: rate {} Hz and decimation frequency {} Hz, expected "
                    "positive numbers",
                    rate_hz, decimation_hz));
  }
  // a ratio that is whole but for rounding is whole
  return std::max(
      1, static_cast<int>(std::floor(std::min(0.4 * rate_hz / decimation_hz, 1e9) + 1e-9)));
}

DigitalFilter decimationFilter(int ratio, const DecimationOptions& options) {
  if (ratio < 1) {
    throw Error(fmt::format("decimation: the ratio is {}, expected 1 or more", ratio));
  }
  if (ratio == 1) return {};
  DigitalFilter filter = chebyshevLowpass(options.order, options.ripple_db, 0.4 / ratio, 1.0);
  if (options.unit_gain) {
    const double gain = std::abs(frequencyResponse(filter, 0.0, 1.0));
    FilterSection& first = filter.sections.front();
    first.b0 /= gain;
    first.b1 /= gain;
    first.b2 /= gain;
  }
  return filter;
}

Eigen::MatrixXd decimate(const SignalColumns& x, int ratio, const DecimationOptions& options) {
  const DigitalFilter filter = decimationFilter(ratio, options);
  if (ratio == 1) return x;
  return filterZeroPhase(filter, x, -1, ratio);
}

struct StreamingDecimator::State {
  DigitalFilter filter;
  int ratio = 1;
  Index columns = 0, groups = 0, padding = 0, ahead = 0, chunk = 0;
  Index taken = 0;    ///< rows received
  Index pending = 0;  ///< filtered forth, not yet final; those before the first row included
  Index first = 0;    ///< row of the first pending sample, -padding at the start
  // per group of eight columns
  std::vector<std::vector<Sample>> tail;     ///< the last padding + 1 rows as they came
  std::vector<std::vector<Sample>> samples;  ///< pending ones
  std::vector<std::vector<SectionState>> states;
  std::vector<Sample> kept;  ///< scratch

  void filterForth(Index group, Index from);
  Eigen::MatrixXd emit(Index count);
};

/// Pending samples of a group from index `from` on.
void StreamingDecimator::State::filterForth(Index group, Index from) {
  std::vector<Sample>& x = samples[static_cast<size_t>(group)];
  const Index total = static_cast<Index>(x.size());
  for (Index start = from; start < total; start += filter_kernel::kBlock) {
    filter_kernel::runCascade<1>(filter.sections, states[static_cast<size_t>(group)].data(),
                                 x.data() + start, std::min(filter_kernel::kBlock, total - start));
  }
}

/// Backward pass over all pending samples; the first `count` of them become final.
Eigen::MatrixXd StreamingDecimator::State::emit(Index count) {
  const Index end = std::min(first + count, taken);  // rows [first, end), those from 0 on count
  const Index kept_first = (std::max<Index>(first, 0) + ratio - 1) / ratio;
  const Index kept_end = end > 0 ? (end + ratio - 1) / ratio : 0;
  Eigen::MatrixXd out(std::max<Index>(kept_end - kept_first, 0), columns);
  std::vector<SectionState> backward(filter.sections.size());
  for (Index g = 0; g < groups; ++g) {
    std::vector<Sample>& x = samples[static_cast<size_t>(g)];
    kept.assign(x.begin() + count, x.end());  // only filtered forth, as they are needed again
    steadyStates(filter.sections, x.back(), backward.data());
    for (Index stop = pending; stop > 0; stop -= filter_kernel::kBlock) {
      filter_kernel::runCascade<-1>(filter.sections, backward.data(), x.data() + stop - 1,
                                    std::min(filter_kernel::kBlock, stop));
    }
    for (Index k = 0; k < out.rows(); ++k) {
      const Sample& y = x[static_cast<size_t>((kept_first + k) * ratio - first)];
      for (Index c = 0; c < std::min<Index>(kLanes, columns - g * kLanes); ++c) {
        out(k, g * kLanes + c) = y[c];
      }
    }
    x = kept;
  }
  first += count;
  pending -= count;
  return out;
}

StreamingDecimator::StreamingDecimator(Index columns, int ratio, const DecimationOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.filter = decimationFilter(ratio, options);
  s.ratio = ratio;
  s.columns = columns;
  s.groups = (columns + kLanes - 1) / kLanes;
  s.padding = ratio > 1 ? zeroPhasePadding(s.filter) : 0;
  s.ahead =
      ratio > 1
          ? static_cast<Index>(std::ceil(std::log(kForgotten) / std::log(poleRadius(s.filter))))
          : 0;
  s.chunk = std::max(kShortestChunk, 2 * s.ahead);
  s.tail.resize(static_cast<size_t>(s.groups));
  s.samples.resize(static_cast<size_t>(s.groups));
  s.states.resize(static_cast<size_t>(s.groups),
                  std::vector<SectionState>(s.filter.sections.size()));
}

StreamingDecimator::~StreamingDecimator() = default;
StreamingDecimator::StreamingDecimator(StreamingDecimator&&) noexcept = default;
StreamingDecimator& StreamingDecimator::operator=(StreamingDecimator&&) noexcept = default;

Eigen::MatrixXd StreamingDecimator::add(const SignalColumns& rows) {
  State& s = *state_;
  if (rows.cols() != s.columns) {
    throw Error(fmt::format("decimation: a block has {} columns, the ones before had {}",
                            rows.cols(), s.columns));
  }
  requireFinite(rows, "decimation");
  if (s.ratio == 1) {
    s.taken += rows.rows();
    return rows;
  }
  const bool begun = s.taken > s.padding;
  s.taken += rows.rows();
  const bool enough = s.taken > s.padding;
  for (Index g = 0; g < s.groups; ++g) {
    std::vector<Sample>& x = s.samples[static_cast<size_t>(g)];
    std::vector<Sample>& tail = s.tail[static_cast<size_t>(g)];
    Index from = static_cast<Index>(x.size());
    x.resize(x.size() + static_cast<size_t>(rows.rows()));
    for (Index c = 0; c < std::min<Index>(kLanes, s.columns - g * kLanes); ++c) {
      for (Index r = 0; r < rows.rows(); ++r) {
        x[static_cast<size_t>(from + r)][c] = rows(r, g * kLanes + c);
      }
    }
    const Index last = std::min(rows.rows(), s.padding + 1);
    tail.insert(tail.end(), x.end() - last, x.end());
    if (static_cast<Index>(tail.size()) > s.padding + 1) {
      tail.erase(tail.begin(), tail.end() - (s.padding + 1));
    }
    if (!enough) continue;
    if (!begun) {
      // rows have waited for the reflection before the first one
      std::vector<Sample> before;
      for (Index k = s.padding; k > 0; --k) {
        before.push_back(filter_kernel::reflected(x[0], x[static_cast<size_t>(k)]));
      }
      steadyStates(s.filter.sections, before[0], s.states[static_cast<size_t>(g)].data());
      x.insert(x.begin(), before.begin(), before.end());
      from = 0;
    }
    s.filterForth(g, from);
  }
  if (!enough) return Eigen::MatrixXd(0, s.columns);
  if (!begun) s.first = -s.padding;
  s.pending += begun ? rows.rows() : s.padding + s.taken;
  if (s.pending < s.chunk + s.ahead) return Eigen::MatrixXd(0, s.columns);
  return s.emit(s.pending - s.ahead);
}

Eigen::MatrixXd StreamingDecimator::finish() {
  State& s = *state_;
  if (s.ratio == 1) return Eigen::MatrixXd(0, s.columns);
  if (s.taken <= s.padding) {
    throw Error(fmt::format("decimation: there are {} samples, order {} needs more than {}",
                            s.taken, s.filter.order, s.padding));
  }
  for (Index g = 0; g < s.groups; ++g) {
    const std::vector<Sample>& tail = s.tail[static_cast<size_t>(g)];
    std::vector<Sample>& x = s.samples[static_cast<size_t>(g)];
    const Index from = static_cast<Index>(x.size());
    for (Index k = s.padding - 1; k >= 0; --k) {
      x.push_back(filter_kernel::reflected(tail.back(), tail[static_cast<size_t>(k)]));
    }
    s.filterForth(g, from);
  }
  s.pending += s.padding;
  return s.emit(s.pending);
}

}  // namespace proprio
