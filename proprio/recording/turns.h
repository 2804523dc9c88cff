#pragma once

/// Whole turns that a recorder has taken away from the position of a turning joint: an angle kept
/// within -pi ... pi, or 0 ... 360 degrees, jumps by 2 pi where it leaves that range. Dynamics does
/// not feel it; differences and filters do.

#include "proprio/model/model.h"
#include "proprio/recording/recording.h"

namespace proprio {

/// Gives the turns back, in every position channel of revolute and continuous joints (SI units,
/// joint side). A step is a lost turn if it is within 1 rad of a multiple of 2 pi, and either all
/// of the course lies within one turn (so that a joint that rests at its end may jump to and fro)
/// or the steps on both sides are below 1 rad; missing values are passed over. A channel in which
/// every tenth step is large and none of these is left alone: its rows are in no order. Where the
/// joint has limits the whole course then moves by the turns that bring it inside them, if some do.
/// The recording's notes tell both. @return the number of steps mended.
int restoreTurns(const Model& model, Recording* recording);

}  // namespace proprio
