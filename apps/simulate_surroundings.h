#pragma once

/// What acts on a simulated robot from outside, as the options of `simulate` write it.

#include "proprio/model/model.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::apps {

/// PLACE:MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]][@START[,END]]: one change, or two where it is set
/// down again. PLACE is a link or a frame, in whose axes the centre of mass and the inertia about
/// it are.
std::vector<PayloadChange> payloadChanges(const Model& model, const std::string& text);

/// What replaces what: by time; where one is set down when the next is taken, that comes first.
void sortPayloads(std::vector<PayloadChange>* changes);

/// PLACE:FX,FY,FZ[,MX,MY,MZ][@START[,END]]: a force at the origin of a link or frame and a moment,
/// in world axes.
AppliedWrench pushOf(const Model& model, const std::string& text);

/// NX,NY,NZ,OFFSET[,FRICTION]: nx x + ny y + nz z > offset is free, the rest is solid.
HalfSpace halfSpaceOf(const std::string& text);

}  // namespace proprio::apps
