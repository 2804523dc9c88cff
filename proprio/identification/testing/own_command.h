#pragma once

#include <memory>

#include "proprio/identification/motion_data.h"

namespace proprio::testing {

/// The motion as its own command, so that methods with instruments can run.
inline void commandItself(const Tree& tree, MotionData* data) {
  auto reference = std::make_shared<MotionSamples>();
  for (const Joint& joint : tree.model().joints) {
    if (joint.velocity_index >= 0) reference->joints.push_back(joint.name);
  }
  reference->time = data->time;
  reference->q = data->q;
  reference->v = data->v;
  reference->a = data->a;
  data->reference = reference;
}

}  // namespace proprio::testing
