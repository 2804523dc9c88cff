// A program outside the source tree: reads a pendulum, computes torques one by one and in a batch,
// and compares with the closed form (I + m l^2) a + m g l sin(q). Eigen values cross the library's
// boundary in both directions: if the library and this program disagreed about their alignment,
// this would crash or give wrong numbers.
#include <Eigen/Core>
#include <cmath>
#include <cstdio>
#include <memory>

#include "proprio/core/error.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/model/urdf_reader.h"

static_assert(EIGEN_MAX_ALIGN_BYTES == 16);

const char* const kPendulum = R"(
<robot name="pendulum">
  <link name="world"/>
  <link name="bob">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="world"/><child link="bob"/><axis xyz="0 1 0"/>
  </joint>
</robot>)";

int main() {
  const auto model = std::make_shared<const proprio::Model>(proprio::readUrdfText(kPendulum));
  const proprio::Tree tree(model);
  const auto parameters = proprio::compileParameters(tree, proprio::declaredParameters(model));
  proprio::Workspace workspace(tree);

  constexpr int kSamples = 17;  // not a multiple of any number of SIMD lanes
  Eigen::MatrixXd q(kSamples, 1), v(kSamples, 1), a(kSamples, 1), batch(kSamples, 1);
  for (int i = 0; i < kSamples; ++i) q(i) = 0.3 * i, v(i) = 1.0 - 0.1 * i, a(i) = std::cos(0.2 * i);
  proprio::inverseDynamicsBatch(tree, parameters, workspace, q, v, a, batch);

  double error = 0.0;
  Eigen::VectorXd tau(1);
  for (int i = 0; i < kSamples; ++i) {
    const double expected = (0.1 + 2 * 0.25) * a(i) + 2 * 9.81 * 0.5 * std::sin(q(i));
    proprio::inverseDynamics(tree, parameters, workspace, q.row(i).transpose(),
                             v.row(i).transpose(), a.row(i).transpose(), tau);
    error = std::fmax(error, std::fabs(tau(0) - expected));
    error = std::fmax(error, std::fabs(batch(i) - expected));
  }

  // a vector that the library allocates and this program resizes and frees, and a product large
  // enough for Eigen's aligned blocks
  Eigen::VectorXd position = tree.neutralPosition();
  position.conservativeResize(1000);
  const Eigen::MatrixXd square = Eigen::MatrixXd::Identity(200, 200) * 2.0;
  error = std::fmax(error, std::fabs((square * square).trace() - 800.0));

  bool refused = false;
  try {
    proprio::readUrdfText("<robot>");
  } catch (const proprio::Error& broken) {
    refused = true;
    std::printf("refused: %s\n", broken.what());
  }
  std::printf("largest torque error %.1e N m\n", error);
  return refused && error < 1e-12 ? 0 : 1;
}
