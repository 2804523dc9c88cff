#pragma once

/// The identified robot as files: robot.urdf and robot.yaml that say what the estimate says and
/// otherwise what the user's files say.
///
///   the robot came from         robot.urdf                       robot.yaml
///   a URDF                      its bytes, values spliced in     names robot.urdf
///   a robot.yaml with a URDF    its bytes, values spliced in     its bytes, values spliced in
///   a robot.yaml with a DH table  made from the table            its bytes, values spliced in
///
/// What is fixed to a link was identified together with it. Its own description stays as it is
/// where the rest of the link is then still possible; else everything fixed to the link is written
/// with the largest share of its inertia for which it is, so that the sum is the estimate.
///
/// A robot that `proprio check` calls impossible is not written unless it is forced.

#include <string>
#include <vector>

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
/// @throws Error if the files cannot be read, or the values cannot be said in them.
WrittenModel writtenModel(const Model& as_read, const Parameters& estimate, bool force = false);

}  // namespace proprio
