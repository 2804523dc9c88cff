#pragma once

/// How well parameters predict recorded torques, per joint, on the rows that count:
///   percent = 100 |tau - tau_hat| / |tau|,   rms = |tau - tau_hat| / sqrt(rows)
/// The denominator is the measured norm (Ardiani 2023 1.45 with its erratum), never a limit.
/// References: A-24.

#include <string>
#include <vector>

#include "proprio/identification/stacked_problem.h"

namespace proprio {

struct JointError {
  double percent = 0.0;     ///< of the measured torque norm; NaN without rows or torque
  double rms = 0.0;         ///< N m (N)
  double torque_rms = 0.0;  ///< of an axis of a wrench: that of the whole force or moment
  double peak = 0.0;
  Eigen::Index rows = 0;
};

/// From sums over rows: of squared errors and of squared torques.
JointError jointError(double squared_errors, double squared_torques, double peak,
                      Eigen::Index rows);

struct Evaluation {
  std::string model;  ///< "wls", "as given", "gravity only", "zero"
  std::string recording;
  std::vector<JointError> joints;  ///< per velocity coordinate
  JointError overall;              ///< all rows together
  /// Of the training rows, each block of them by parameters that were found without it.
  bool in_turn = false;
};

/// All recordings together, as if they were one; those of `model` only, unless it is empty.
Evaluation pooled(const std::vector<Evaluation>& evaluations, const std::string& model = {});

/// Axes of wrenches are compared with the norm of their force or moment: one axis of it may be
/// nothing but noise.
void shareVectorNorms(const Tree& tree, Evaluation* evaluation);

/// @param predicted  as predictTorques returns it
Evaluation evaluate(const std::string& model, const MotionData& data,
                    const Eigen::MatrixXd& predicted);
Evaluation evaluate(const std::string& model, const Tree& tree, const ParameterLayout& layout,
                    const Eigen::VectorXd& chi, const MotionData& data);

/// What a model has to beat: "as given" (the declared values, friction included), "gravity only"
/// (declared values, at rest), "zero".
std::vector<Evaluation> baselines(const Tree& tree, const ParameterLayout& layout,
                                  const Eigen::VectorXd& declared, const MotionData& data);

}  // namespace proprio
