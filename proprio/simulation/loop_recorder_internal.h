#pragma once

/// Inside the simulation room: one run's samples as a Recording.

#include "proprio/simulation/loop_reference_internal.h"
#include "proprio/simulation/plant_internal.h"
#include "proprio/simulation/sensor_readings.h"

namespace proprio::internal {

/// One sample of one lane; pointers to entries of that lane, `stride` between coordinates.
struct LoopSample {
  const double* measured;  ///< positions that the servo knows
  const double* velocity;  ///< its estimates
  const double* command;   ///< torques that it wants
  const double* q_ref;
  const double* v_ref;
  ptrdiff_t stride = 1;
};

class LoopRecorder {
 public:
  LoopRecorder(const Tree& tree, const ClosedLoopRun& run, const Plant& plant,
               Eigen::Index samples);
  /// The plant was evaluated at this instant.
  void record(Eigen::Index sample, double time, Plant& plant, int lane, const LoopSample& x);
  /// What was recorded until now.
  ClosedLoopResult finish();

 private:
  void addChannels(const Plant& plant);
  void addTruthChannels(const Plant& plant);
  void addSensorChannels();
  void addCoordinates(const std::vector<std::string>& names, Quantity quantity);
  void addJointChannels(Quantity quantity, Role role, const char* other = "");
  /// `other`: a quantity of its own kind with that name, measured in the unit of `quantity`.
  void addChannel(Quantity quantity, Role role, const Joint& joint, const char* other = "");
  double* recordSensors(Eigen::Index sample, Plant& plant, int lane, double* out);
  void flush();
  void summarise(ClosedLoopResult* result) const;

  const Tree& tree_;
  const ClosedLoopOptions& options_;
  std::vector<Axis> axes_;
  std::vector<SensorPlan> plans_;
  std::vector<LinkMotion> motions_;
  Recording recording_;
  RowMatrix rows_;  ///< the latest
  Eigen::Index recorded_ = 0;
  Eigen::VectorXd noise_, q_, v_, a_, reading_;
};

}  // namespace proprio::internal
