#pragma once

/// Pictures of recordings: joints as rows and what was recorded of them as columns, with measured,
/// commanded and true signals over one another and the joint's limits; then a panel per sensor;
/// then a panel for every other channel.

#include <vector>

#include "proprio/model/model.h"
#include "proprio/recording/recording.h"
#include "proprio/report/chart.h"

namespace proprio {

/// At most three figures, none for a recording without channels. Time is as recorded, or from the
/// first stamp on where stamps are those of a clock; without stamps x counts samples. Limits are
/// drawn if `model` is given and the channel has the unit of its joint (model units, joint side).
/// `samples`, if given, says of how many samples the recording is an envelope (csv_survey.h).
std::vector<Figure> recordingFigures(const Recording& recording, const Model* model = nullptr,
                                     Eigen::Index samples = 0);

}  // namespace proprio
