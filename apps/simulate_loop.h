#pragma once

/// The closed-loop part of the verb `simulate`: a robot that follows a trajectory.

#include <cstdint>
#include <optional>

#include "apps/verb.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::apps {

struct LoopOptions {
  std::string trajectory;  ///< empty: free motion
  std::string out, plot;
  std::optional<double> control_rate;  ///< not given: the robot's
  std::optional<double> physics_rate;  ///< not given: chosen
  std::optional<double> sample_rate;   ///< not given: the largest up to 1000 Hz that fits
  std::string integrator = "rk4";
  std::string control, feed_forward;  ///< empty: the robot's
  std::optional<double> velocity_filter, bandwidth;
  std::string encoder_noise, quantisation, torque_noise;
  std::vector<double> latency;
  std::vector<std::string> payloads, pushes, half_spaces;
  std::optional<double> floor;
  bool link_encoders = false, no_truth = false, no_limits = false;
  double sign_gain = 100.0;
  std::uint64_t seed = 1;
  int runs = 1;  ///< with seeds from `seed` on
};

/// The group of options that only mean something with --trajectory, and those that also act on
/// motion without drives.
constexpr const char* kLoopGroup = "Following a trajectory";
constexpr const char* kOutsideGroup = "What acts on the robot, with and without a trajectory";
void addLoopOptions(CLI::App& verb, LoopOptions& options);
/// Payloads, pushes and half-spaces; the frames of the robot may touch these.
void setSurroundings(const LoopOptions& options, const Model& model,
                     std::vector<PayloadChange>* payloads, Surroundings* around);
int runLoop(const RobotOptions& robot, const LoopOptions& options);

}  // namespace proprio::apps
