#pragma once

/// Everything that one run of the main job found out: what the files, the tables and the report are
/// made of.

#include <cstdint>
#include <string>
#include <vector>

#include "proprio/identification/evaluation.h"
#include "proprio/identification/method.h"
#include "proprio/identification/noise_bias.h"
#include "proprio/recording/quality.h"

namespace proprio {

struct LinkConsistency {
  int link = -1;
  double smallest_eigenvalue = 0.0;  ///< of the pseudo-inertia; mixed units
  bool consistent = false;
};

/// Residuals of one joint, all training rows.
struct JointDiagnosis {
  double ljung_box_p = 0.0;         ///< whiteness; small: correlated in time
  double jarque_bera_p = 0.0;       ///< normality
  double breusch_pagan_p = 0.0;     ///< noise that does not depend on speed and torque
  double input_correlation = 0.0;   ///< largest |correlation| of residual with q, v, a
  double variance_inflation = 1.0;  ///< by correlation in time, of the parameters' variances
  int autoregression = 0;           ///< order of the model of the residual
};

/// One base parameter and how well it is known.
struct ParameterUncertainty {
  double value = 0.0;
  double sigma = 0.0;
  double percent = 0.0;          ///< 100 sigma / |value|; infinite where the value is zero
  double low = 0.0, high = 0.0;  ///< of the confidence interval (95 % unless told otherwise)
  bool at_bound = false;         ///< zero, because it may not be negative
};

struct MethodResult {
  Estimate estimate;  ///< covariance corrected for correlation of the residuals in time
  std::vector<ParameterUncertainty> base;  ///< per base parameter; empty where it is not known
  std::vector<ParameterOrigin> origins;    ///< per standard parameter
  std::vector<LinkConsistency> links;      ///< that move
  bool consistent = false;                 ///< all of them
  std::vector<Evaluation> training;        ///< one per recording
  std::vector<Evaluation> validation;
  std::vector<JointDiagnosis> joints;  ///< per velocity coordinate
};

struct RecordingInfo {
  std::string path;
  std::string sha256;  ///< of the file, or of the list of a folder's files and theirs
  bool validation = false;
  Quality quality;
  std::vector<std::string> steps;  ///< what the signals went through
  double recorded_rate_hz = 0.0, rate_hz = 0.0;
  Eigen::Index samples = 0;
};

struct Stage {
  std::string name;
  double seconds = 0.0;
};

/// A file that a result depends on.
struct InputFile {
  std::string path;
  std::string sha256;
};

struct IdentificationResult {
  std::string robot;  ///< file
  /// Of that file; if it names others, of the lines "HASH  NAME" of all of them.
  std::string robot_sha256;
  std::vector<InputFile> robot_files;  ///< the description and the URDF that it names
  IdentificationProblem problem;
  std::vector<MotionData> validation;
  Eigen::VectorXd declared;  ///< parameters as given
  std::vector<MethodResult> methods;
  size_t chosen = 0;  ///< the method whose values are written
  std::vector<Evaluation> training_baselines, validation_baselines;
  NoiseBiasTest noise_bias;  ///< of weighted least squares on the training rows
  std::vector<RecordingInfo> recordings;
  std::vector<Stage> stages;
  std::uint64_t seed = 1;  ///< of everything random
  bool passed = true;
  std::string verdict;               ///< one paragraph
  std::vector<std::string> reasons;  ///< why it did not pass, and what else to know
  size_t causes = 0;                 ///< so many of them, the first, are why it did not pass
  std::string advice;                ///< which method fits these data, and why

  const MethodResult& best() const { return methods[chosen]; }
};

}  // namespace proprio
