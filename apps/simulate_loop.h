#pragma once

/// The closed-loop part of the verb `simulate`: a robot that follows a trajectory.

#include <cstdint>

#include "apps/verb.h"

namespace proprio::apps {

struct LoopOptions {
  std::string trajectory;  ///< empty: free motion
  std::string out, plot;
  double control_rate = 0.0;  ///< 0: the robot's
  double physics_rate = 0.0;
  double sample_rate = 1000.0;
  std::string integrator = "rk4";
  std::string control, feed_forward;  ///< empty: the robot's
  double velocity_filter = 0.0, bandwidth = 0.0;
  std::string encoder_noise, quantisation, torque_noise;
  std::vector<double> latency;
  std::vector<std::string> payloads, pushes;
  double floor = 0.0;
  bool has_floor = false;
  bool link_encoders = false, no_truth = false, no_limits = false;
  double sign_gain = 100.0;
  std::uint64_t seed = 1;
};

void addLoopOptions(CLI::App& verb, LoopOptions& options);
int runLoop(const RobotOptions& robot, const LoopOptions& options);

}  // namespace proprio::apps
