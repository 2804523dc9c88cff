#include "proprio/signal/filtering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/signal/filter_kernel_internal.h"

namespace proprio {

using filter_kernel::kBlock;
using filter_kernel::kLanes;
using filter_kernel::Sample;
using filter_kernel::SectionState;
using filter_kernel::steadyStates;

namespace {

using Eigen::Index;

/// Up to eight neighbouring columns of a matrix; missing ones repeat the last.
struct ColumnGroup {
  ColumnGroup(const SignalColumns& x, Index first)
      : used(std::min<Index>(kLanes, x.cols() - first)), stride(x.innerStride()) {
    for (Index c = 0; c < kLanes; ++c) {
      column[c] = x.data() + (first + std::min(c, used - 1)) * x.outerStride();
    }
  }
  void load(Index row, Sample& sample) const {
    for (Index c = 0; c < kLanes; ++c) sample[c] = column[c][row * stride];
  }
  const double* column[kLanes];
  Index used, stride;
};

/// Samples [start, start + count) of the group extended by its odd reflections.
void loadPadded(const ColumnGroup& group, Index rows, Index padding, Index start, Index count,
                Sample* block) {
  for (Index k = 0; k < count; ++k) {
    const Index row = start + k - padding;
    if (row >= 0 && row < rows) {
      group.load(row, block[k]);
    } else {
      const Index edge = row < 0 ? 0 : rows - 1;
      Sample at_edge, mirrored;
      group.load(edge, at_edge);
      group.load(2 * edge - row, mirrored);
      block[k] = filter_kernel::reflected(at_edge, mirrored);
    }
  }
}

/// Forth over the padded group into `buffer`, back over the buffer, kept rows into `out`.
void zeroPhaseGroup(const DigitalFilter& filter, const SignalColumns& x, Index first, Index padding,
                    int keep_every, std::vector<Sample>& buffer, std::vector<SectionState>& states,
                    Eigen::MatrixXd& out) {
  const ColumnGroup group(x, first);
  const Index rows = x.rows(), total = rows + 2 * padding;
  for (Index start = 0; start < total; start += kBlock) {
    const Index count = std::min(kBlock, total - start);
    Sample* block = buffer.data() + start;
    loadPadded(group, rows, padding, start, count, block);
    if (start == 0) steadyStates(filter.sections, block[0], states.data());
    filter_kernel::runCascade<1>(filter.sections, states.data(), block, count);
  }
  steadyStates(filter.sections, buffer[static_cast<size_t>(total - 1)], states.data());
  for (Index end = total; end > padding; end -= kBlock) {
    const Index count = std::min(kBlock, end);
    Sample* last = buffer.data() + end - 1;
    filter_kernel::runCascade<-1>(filter.sections, states.data(), last, count);
    // rows that are kept among [end - count, end) - padding
    const Index low = std::max<Index>(end - count - padding, 0);
    const Index high = std::min(end - padding, rows);
    for (Index kept = (low + keep_every - 1) / keep_every; kept * keep_every < high; ++kept) {
      const Sample& y = buffer[static_cast<size_t>(kept * keep_every + padding)];
      for (Index c = 0; c < group.used; ++c) out(kept, first + c) = y[c];
    }
  }
}

}  // namespace

void requireFinite(const SignalColumns& x, const char* what,
                   const std::vector<std::string>& names) {
  for (Index c = 0; c < x.cols(); ++c) {
    // one sum per column tells whether anything is wrong; only then search for it
    if (std::isfinite(x.col(c).sum())) continue;
    for (Index r = 0; r < x.rows(); ++r) {
      if (std::isfinite(x(r, c))) continue;
      const std::string name = static_cast<size_t>(c) < names.size()
                                   ? fmt::format("'{}'", names[static_cast<size_t>(c)])
                                   : fmt::format("column {}", c + 1);
      throw Error(
          fmt::format("{}: {} is {} in row {}; cut the recording there, or leave out that channel",
                      what, name, x(r, c), r + 1));
    }
  }
}

Index zeroPhasePadding(const DigitalFilter& filter) { return 3 * (filter.order + 1); }

Eigen::MatrixXd filterZeroPhase(const DigitalFilter& filter, const SignalColumns& x, Index padding,
                                int keep_every) {
  if (padding < 0) padding = zeroPhasePadding(filter);
  if (keep_every < 1) {
    throw Error(fmt::format(
        "zero-phase filter: every {}th sample was asked for, expected 1 or more", keep_every));
  }
  if (x.rows() <= padding) {
    throw Error(fmt::format(
        "zero-phase filter: there are {} samples, order {} needs more than {}; take a lower order "
        "or a longer recording",
        x.rows(), filter.order, padding));
  }
  requireFinite(x, "zero-phase filter");
  Eigen::MatrixXd out((x.rows() + keep_every - 1) / keep_every, x.cols());
  std::vector<Sample> buffer(static_cast<size_t>(x.rows() + 2 * padding));
  std::vector<SectionState> states(filter.sections.size());
  for (Index first = 0; first < x.cols(); first += kLanes) {
    zeroPhaseGroup(filter, x, first, padding, keep_every, buffer, states, out);
  }
  return out;
}

Eigen::MatrixXd filterForward(const DigitalFilter& filter, const SignalColumns& x,
                              FilterStart start) {
  requireFinite(x, "filter");
  Eigen::MatrixXd out(x.rows(), x.cols());
  std::vector<Sample> block(static_cast<size_t>(kBlock));
  std::vector<SectionState> states(filter.sections.size());
  for (Index first = 0; first < x.cols(); first += kLanes) {
    const ColumnGroup group(x, first);
    for (Index row = 0; row < x.rows(); row += kBlock) {
      const Index count = std::min(kBlock, x.rows() - row);
      for (Index k = 0; k < count; ++k) group.load(row + k, block[static_cast<size_t>(k)]);
      if (row == 0) {
        const Sample before = start == FilterStart::kSteady ? block[0] : Sample{};
        steadyStates(filter.sections, before, states.data());
      }
      filter_kernel::runCascade<1>(filter.sections, states.data(), block.data(), count);
      for (Index c = 0; c < group.used; ++c) {
        for (Index k = 0; k < count; ++k) {
          out(row + k, first + c) = block[static_cast<size_t>(k)][c];
        }
      }
    }
  }
  return out;
}

StreamingFilter::StreamingFilter(const DigitalFilter& filter, Index channels)
    : sections_(filter.sections),
      state1_(Eigen::MatrixXd::Zero(channels, static_cast<Index>(filter.sections.size()))),
      state2_(state1_) {}

void StreamingFilter::reset(const Eigen::Ref<const Eigen::VectorXd>& x) {
  for (Index c = 0; c < state1_.rows(); ++c) {
    double level = x[c];
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Index section = static_cast<Index>(i);
      filter_kernel::steadyState(sections_[i], level, state1_(c, section), state2_(c, section));
    }
  }
  started_ = true;
}

void StreamingFilter::step(const Eigen::Ref<const Eigen::VectorXd>& x,
                           Eigen::Ref<Eigen::VectorXd> y) {
  if (!started_) reset(x);
  const Index channels = state1_.rows();
  if (y.data() != x.data()) y = x;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const FilterSection& s = sections_[i];
    double* s1 = state1_.col(static_cast<Index>(i)).data();
    double* s2 = state2_.col(static_cast<Index>(i)).data();
    for (Index c = 0; c < channels; ++c) {
      const double in = y[c], out = s.b0 * in + s1[c];
      s1[c] = (s.b1 * in + s2[c]) - s.a1 * out;
      s2[c] = s.b2 * in - s.a2 * out;
      y[c] = out;
    }
  }
}

}  // namespace proprio
