// Uses values that cross the library's boundary in both directions: if the library and this program
// disagreed about the alignment of Eigen's types, these calls would crash or give wrong numbers.
#include <cmath>
#include <cstdio>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/spatial/inertial_parameters.h"
#include "proprio/spatial/pose.h"

int main() {
  static_assert(EIGEN_MAX_ALIGN_BYTES == 16);
  const proprio::Pose X_AB = proprio::Pose::fromXyzRpy({1, 2, 3}, {0.1, -0.2, 0.3});
  std::vector<proprio::InertialParameters> bodies(
      3, proprio::InertialParameters::fromCom(2.0, {0, 0, 0.5}, proprio::Matrix3d::Identity()));
  double mass = 0;
  for (const auto& body : bodies) mass += proprio::transformed(X_AB, body).matrix().trace() / 3.0;

  bool refused = false;
  try {
    proprio::rotationFromQuaternion(Eigen::Vector4d::Zero());
  } catch (const proprio::Error& error) {
    refused = true;
  }
  std::printf("sum %.3f, zero quaternion refused: %s\n", mass, refused ? "yes" : "no");
  return std::isfinite(mass) && refused ? 0 : 1;
}
