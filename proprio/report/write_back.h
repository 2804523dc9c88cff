#pragma once

/// The identified robot as files: robot.urdf and robot.yaml that say what the estimate says and
/// otherwise what the user's files say.
///
///   the robot came from         robot.urdf                       robot.yaml
///   a URDF                      its bytes, values spliced in     names robot.urdf
///   a robot.yaml with a URDF    its bytes, values spliced in     its bytes, values spliced in
///   a robot.yaml with a DH table  made from the table            its bytes, values spliced in
///
/// Only what was identified changes: a fixed base and links about which the recordings say nothing
/// stay as they are. What is fixed to a link was identified together with it; inertia_shares.h says
/// how the sum is divided, and the notes where that changed a part.
///
/// A robot that `proprio check` calls impossible is not written unless it is forced.

#include <string>
#include <vector>

#include "proprio/identification/estimate.h"
#include "proprio/model/parameters.h"

namespace proprio {

struct WrittenModel {
  std::string urdf, yaml;  ///< content of the files; both empty if it was refused
  /// A sentence per link or joint that would be impossible, with what is missing; with `force`,
  /// what is wrong with what is written.
  std::vector<std::string> refusals;
  std::vector<std::string> notes;  ///< what else to know about the files
};

/// @param as_read   as readRobot returned it; its files are read again
/// @param estimate  values in a layout of that model (or of one with more joints locked)
/// @param origins   of the estimate's values; empty: all of them count
/// @throws Error if the files cannot be read, or the values cannot be said in them.
WrittenModel writtenModel(const Model& as_read, const Parameters& estimate, bool force = false,
                          const std::vector<ParameterOrigin>& origins = {});

/// A URDF of the folder `from` for the folder `to`: file names of meshes that are relative to the
/// one, and exist, become relative to the other. All other bytes stay.
std::string withMeshesOf(const std::string& urdf, const std::string& from, const std::string& to);

}  // namespace proprio
