#pragma once

/// The main job: recordings of a robot in, parameters with uncertainty, errors and a verdict out.
///
///   read and map -> quality -> signals -> stacked rows -> method(s) -> statistics -> validation
///
/// What is held out: the recordings in `validate`; or the last part of every recording (`split`);
/// or, with neither, every block of the training data in turn (cross-validation, from the factors).

#include <functional>
#include <string>
#include <vector>

#include "proprio/identification/identification_result.h"
#include "proprio/identification/measured_motions.h"

namespace proprio {

/// Constants inside friction terms, which torques are not linear in (separable_friction.h).
enum class FrictionConstants {
  kKeep,   ///< as declared
  kFit,    ///< every joint's own, together with all other parameters
  kGrid,   ///< one scale and one exponent for all joints, on a grid
  kSweeps  ///< joint by joint, from stretches at constant speed
};
/// keep, fit, grid, sweeps. @throws Error that lists them.
FrictionConstants frictionConstantsNamed(const std::string& name);

struct IdentifyOptions {
  std::vector<std::string> logs, validate;        ///< files or folders
  std::vector<std::string> methods = {"pc-wls"};  ///< the first is the one whose values are written
  double split = 0.0;  ///< (0, 1): this share of the time trains, the rest validates; 0: see above
  JointSignalOptions signals;
  RecordingOptions read;
  MethodOptions method;
  /// Of the torque noise of several logs (recording_noise.h): estimated, or taken as alike.
  bool estimate_recording_noise = true;
  /// Or known: relative standard deviations, one per log. Empty: not known.
  std::vector<double> recording_noise;
  FrictionConstants friction_constants = FrictionConstants::kKeep;
  bool as_declared = false;  ///< else joints without declared friction get it (usual_terms.h)
  MeasurementOptions measurement;
  /// Told before each step, with the share of the steps that are done; may throw to stop.
  std::function<void(const std::string& step, double done)> progress;
};

/// @param robot_file  that `model` was read from, for the fingerprint
/// @throws Error that names recording, joint or option.
IdentificationResult identifyRecordings(const Model& model, const std::string& robot_file,
                                        const IdentifyOptions& options);

}  // namespace proprio
