/// Exported URDFs in MuJoCo's own reader and dynamics.

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <memory>
#include <random>

#include "proprio/identification/stacked_problem.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/urdf_export.h"

namespace proprio {
namespace {

// Torques that MuJoCo computes from the exported text are those of the model that it was exported
// from, rotors and friction aside.
TEST(UrdfExport, TorquesInMujoco) {
  constexpr double kDigits = 1e-7;  // MuJoCo finds principal axes by iteration
  for (const char* name : {"tx40", "iiwa14", "rv2sq"}) {
    SCOPED_TRACE(name);
    const auto model = std::make_shared<const Model>(
        readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name + ".yaml"));
    const std::string text = exportUrdf(*model);
    mjVFS files;
    mj_defaultVFS(&files);
    ASSERT_EQ(mj_makeEmptyFileVFS(&files, "robot.urdf", static_cast<int>(text.size())), 0);
    std::copy(text.begin(), text.end(),
              static_cast<char*>(files.filedata[mj_findFileVFS(&files, "robot.urdf")]));
    char message[1000] = "";
    const std::unique_ptr<mjModel, void (*)(mjModel*)> theirs(
        mj_loadXML("robot.urdf", &files, message, sizeof(message)), mj_deleteModel);
    mj_deleteVFS(&files);
    ASSERT_NE(theirs, nullptr) << message;
    ASSERT_EQ(theirs->nv, model->velocity_count);
    theirs->opt.disableflags |= mjDSBL_CONSTRAINT;
    mju_zero(theirs->dof_damping, theirs->nv);
    mju_zero(theirs->dof_frictionloss, theirs->nv);

    const Tree tree(model);
    Parameters parameters = declaredParameters(model);
    std::fill(parameters.values.begin() + parameters.layout->inertialSize(),
              parameters.values.end(), 0.0);
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> number(-2.0, 2.0);
    MotionData data;
    for (Eigen::MatrixXd* part : {&data.q, &data.v, &data.a})
      *part =
          Eigen::MatrixXd::NullaryExpr(10, tree.velocityCount(), [&] { return number(random); });
    data.tau = Eigen::MatrixXd::Zero(10, tree.velocityCount());
    data.use = Mask::Constant(10, tree.velocityCount(), true);
    const Eigen::Map<const Eigen::VectorXd> chi(parameters.values.data(),
                                                parameters.layout->size());
    const Eigen::MatrixXd ours = predictTorques(tree, *parameters.layout, chi, data);

    const std::unique_ptr<mjData, void (*)(mjData*)> state(mj_makeData(theirs.get()),
                                                           mj_deleteData);
    for (Eigen::Index i = 0; i < ours.rows(); ++i) {
      for (int j = 0; j < theirs->nv; ++j) {
        state->qpos[j] = data.q(i, j);
        state->qvel[j] = data.v(i, j);
        state->qacc[j] = data.a(i, j);
      }
      mj_inverse(theirs.get(), state.get());
      for (int j = 0; j < theirs->nv; ++j)
        EXPECT_NEAR(state->qfrc_inverse[j], ours(i, j), kDigits * ours.cwiseAbs().maxCoeff());
    }
  }
}

}  // namespace
}  // namespace proprio
