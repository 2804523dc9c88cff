#pragma once

#include <string>
#include <vector>

#include "proprio/geometry/solid.h"
#include "proprio/model/model.h"

namespace proprio {

/// The shapes of a link as one solid in the link frame: its collision shapes, or the visual ones
/// where there are none (finer, but often only a shell). Overlaps count twice, cavities not at all:
/// good for plausibility, not for precision. Nothing (`empty()`) for a link without shapes.
///
/// Meshes are read from STL, OBJ and COLLADA files. One that is missing or of another format is
/// left out (not `complete`), one that is not closed counts as its bounding box; `notes` has a
/// sentence about each.
struct LinkSolid {
  Solid solid;
  bool complete = true;
  std::vector<std::string> notes;

  /// Fit to be compared with an inertia.
  bool usable() const { return complete && solid.volume() > 0.0; }
};
LinkSolid linkSolid(const Model& model, int link);

}  // namespace proprio
