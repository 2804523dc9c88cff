#pragma once

/// Filters applied to signals: rows are samples at a constant rate, columns are channels.
///
/// Zero phase: the signal, extended at both ends by its odd reflection 2 x_0 - x_k, is filtered
/// forth and then back, each time from the steady state of its first value. The gain is |H|^2, the
/// phase is zero, and straight lines pass (transients of the borders aside). The result is that of
/// SciPy's sosfiltfilt and filtfilt with their default padding of 3 (order + 1) samples, and of
/// MATLAB's filtfilt but for the length of the padding. Forward: causal, what a real-time loop can
/// do; it delays, and parameters identified with it are biased (L-15).
///
/// Eight channels at a time run side by side through the cascade, in blocks that stay in the first
/// cache; memory is passed once forth and once back whatever the order.
/// References: L-15, A-22, R-17.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "proprio/signal/filter_design.h"

namespace proprio {

/// Columns of any matrix, also rows that lie several apart (one joint's rows of a stacked matrix).
using SignalColumns =
    Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// 3 (order + 1): samples of the reflection at each end.
Eigen::Index zeroPhasePadding(const DigitalFilter& filter);

/// Zero-phase filtered columns; with keep_every = q only rows 0, q, 2q, ... (decimation).
/// @throws Error if there are not more samples than `padding` (-1: zeroPhasePadding), or for
/// values that are not finite (column and row are named).
Eigen::MatrixXd filterZeroPhase(const DigitalFilter& filter, const SignalColumns& x,
                                Eigen::Index padding = -1, int keep_every = 1);

/// What the filter remembers before the first sample: nothing (x was 0), or x_0 since ever.
enum class FilterStart { kRest, kSteady };

/// Forward filtered columns. @throws Error for values that are not finite (column, row).
Eigen::MatrixXd filterForward(const DigitalFilter& filter, const SignalColumns& x,
                              FilterStart start = FilterStart::kSteady);

/// The causal filter for a control loop: one sample of every channel at a time. step() and reset()
/// are real-time: they neither allocate, lock nor throw.
class StreamingFilter {
 public:
  StreamingFilter(const DigitalFilter& filter, Eigen::Index channels);
  /// As if the input had been x since ever. @pre x.size() == channels.
  void reset(const Eigen::Ref<const Eigen::VectorXd>& x);
  /// y = filtered x; both may be the same vector. The first step after construction starts from
  /// the steady state of its x. @pre sizes equal channels.
  void step(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y);

 private:
  std::vector<FilterSection> sections_;
  Eigen::MatrixXd state1_, state2_;  ///< row = channel, column = section
  bool started_ = false;
};

/// @throws Error that names the first column (from 1) and row (from 1) that is NaN or infinite,
/// after `what`, and of the names of columns if given.
void requireFinite(const SignalColumns& x, const char* what,
                   const std::vector<std::string>& names = {});

}  // namespace proprio
