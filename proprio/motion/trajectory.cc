#include "proprio/motion/trajectory.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/error.h"

namespace proprio {

MotionSamples sample(const Trajectory& trajectory, double rate,
                     const std::vector<std::string>& joints) {
  if (!(rate > 0) || !std::isfinite(rate)) {
    throw Error(fmt::format("sampling rate {} Hz; expected a positive number", rate));
  }
  if (static_cast<int>(joints.size()) != trajectory.size()) {
    throw Error(fmt::format("{} joint names for a trajectory of {} joints", joints.size(),
                            trajectory.size()));
  }
  // half a billionth of a sample of slack: 10 s at 5 kHz is 50001 samples whatever the rounding
  const auto count =
      static_cast<Eigen::Index>(std::floor(trajectory.duration() * rate * (1 + 5e-10))) + 1;
  MotionSamples samples;
  samples.joints = joints;
  samples.time.resize(count);
  samples.q.resize(count, trajectory.size());
  samples.v.resize(count, trajectory.size());
  samples.a.resize(count, trajectory.size());
  Eigen::VectorXd q(trajectory.size()), v(trajectory.size()), a(trajectory.size());
  for (Eigen::Index k = 0; k < count; ++k) {
    samples.time[k] = static_cast<double>(k) / rate;
    trajectory.at(samples.time[k], q, v, a);
    samples.q.row(k) = q.transpose();
    samples.v.row(k) = v.transpose();
    samples.a.row(k) = a.transpose();
  }
  return samples;
}

MotionSamples sample(const JointMotion& motion, double rate) {
  if (motion.trajectory == nullptr) throw Error("sample: the motion has no trajectory");
  return sample(*motion.trajectory, rate, motion.joints);
}

}  // namespace proprio
