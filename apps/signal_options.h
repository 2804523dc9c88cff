#pragma once

/// Options about the treatment of signals, shared by the verbs that compare a model with
/// recordings.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "proprio/signal/joint_signals.h"

namespace proprio::apps {

struct SignalFlags {
  std::vector<double> cutoff, low_speed;
  int order = 4;
  double rows_at = 0.0;
  std::string derivative = "central";
  std::string resample;
  int hampel = 0;
  double rate = 0.0;
  bool no_filter = false, measured_velocity = false, raw_torque = false, as_recorded = false,
       at_rest = false;
};

void addSignalOptions(CLI::App& verb, SignalFlags& flags);
/// @throws Error for a name that does not exist.
JointSignalOptions jointSignalOptions(const SignalFlags& flags);

}  // namespace proprio::apps
