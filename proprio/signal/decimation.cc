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
constexpr double kForgotten = 1e-20;
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
  // per group of four columns
  std::vector<std::vector<Sample>> raw;  ///< the last padding + 1 rows, oldest first
  std::vector<std::vector<Sample>> forth;
  std::vector<std::vector<SectionState>> states;
  std::vector<Sample> back;

  void filterForth(Index group, std::vector<Sample>& samples);
  Eigen::MatrixXd emit(Index count);
};

/// Filters the samples forth and appends them to what waits for the backward pass.
void StreamingDecimator::State::filterForth(Index group, std::vector<Sample>& samples) {
  const size_t g = static_cast<size_t>(group);
  const Index total = static_cast<Index>(samples.size());
  for (Index start = 0; start < total; start += filter_kernel::kBlock) {
    filter_kernel::runCascade<1>(filter.sections, states[g].data(), samples.data() + start,
                                 std::min(filter_kernel::kBlock, total - start));
  }
  forth[g].insert(forth[g].end(), samples.begin(), samples.end());
}

/// Backward pass over all pending samples; the first `count` of them become final.
Eigen::MatrixXd StreamingDecimator::State::emit(Index count) {
  const Index end = std::min(first + count, taken);  // rows [first, end), those from 0 on count
  const Index kept_first = (std::max<Index>(first, 0) + ratio - 1) / ratio;
  const Index kept_end = end > 0 ? (end + ratio - 1) / ratio : 0;
  Eigen::MatrixXd out(std::max<Index>(kept_end - kept_first, 0), columns);
  std::vector<SectionState> backward(filter.sections.size());
  for (Index g = 0; g < groups; ++g) {
    std::vector<Sample>& samples = forth[static_cast<size_t>(g)];
    back = samples;
    steadyStates(filter.sections, back.back().v, backward.data());
    for (Index stop = pending; stop > 0; stop -= filter_kernel::kBlock) {
      filter_kernel::runCascade<-1>(filter.sections, backward.data(), back.data() + stop - 1,
                                    std::min(filter_kernel::kBlock, stop));
    }
    for (Index k = 0; k < out.rows(); ++k) {
      const Sample& y = back[static_cast<size_t>((kept_first + k) * ratio - first)];
      for (Index c = 0; c < std::min<Index>(kLanes, columns - g * kLanes); ++c) {
        out(k, g * kLanes + c) = y.v[c];
      }
    }
    samples.erase(samples.begin(), samples.begin() + count);
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
  s.raw.resize(static_cast<size_t>(s.groups));
  s.forth.resize(static_cast<size_t>(s.groups));
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
  std::vector<Sample> samples;
  for (Index g = 0; g < s.groups; ++g) {
    std::vector<Sample>& raw = s.raw[static_cast<size_t>(g)];
    const Index used = std::min<Index>(kLanes, s.columns - g * kLanes);
    for (Index r = 0; r < rows.rows(); ++r) {
      raw.push_back(Sample{});
      for (Index c = 0; c < used; ++c) raw.back().v[c] = rows(r, g * kLanes + c);
    }
    if (!enough) continue;
    samples.clear();
    if (!begun) {
      for (Index k = s.padding; k > 0; --k) {
        samples.push_back(Sample{2.0 * raw[0].v - raw[static_cast<size_t>(k)].v});
      }
      steadyStates(s.filter.sections, samples[0].v, s.states[static_cast<size_t>(g)].data());
    }
    samples.insert(samples.end(), begun ? raw.end() - rows.rows() : raw.begin(), raw.end());
    s.filterForth(g, samples);
    raw.erase(raw.begin(), raw.end() - (s.padding + 1));
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
  std::vector<Sample> samples;
  for (Index g = 0; g < s.groups; ++g) {
    const std::vector<Sample>& raw = s.raw[static_cast<size_t>(g)];
    samples.clear();
    for (Index k = s.padding - 1; k >= 0; --k) {
      samples.push_back(Sample{2.0 * raw.back().v - raw[static_cast<size_t>(k)].v});
    }
    s.filterForth(g, samples);
  }
  s.pending += s.padding;
  return s.emit(s.pending);
}

}  // namespace proprio
