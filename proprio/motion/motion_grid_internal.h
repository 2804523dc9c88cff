#pragma once

/// The dense grid on which motions are looked at: every smooth piece in equal steps, with its end
/// seen from inside the piece (the next piece may start with another acceleration). Not a public
/// header.

#include <vector>

#include "proprio/motion/trajectory.h"

namespace proprio {

struct GridPiece {
  double begin = 0.0, end = 0.0;
  int steps = 1;
  /// k = 0 .. steps
  double time(int k) const { return k >= steps ? end : begin + (end - begin) * k / steps; }
};

std::vector<GridPiece> motionGrid(const Trajectory& trajectory);

}  // namespace proprio
