/// The bundled URDFs in MuJoCo's own reader.

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>

#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

/// MuJoCo's model of a URDF, static links kept as bodies, and the reader's message.
std::unique_ptr<mjModel, void (*)(mjModel*)> loadInMujoco(const std::string& path) {
  std::ifstream file(path);
  std::stringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  text.insert(text.rfind("</robot>"),
              "<mujoco><compiler fusestatic=\"false\" strippath=\"false\"/></mujoco>");
  mjVFS files;
  mj_defaultVFS(&files);
  EXPECT_EQ(mj_makeEmptyFileVFS(&files, "robot.urdf", static_cast<int>(text.size())), 0);
  std::copy(text.begin(), text.end(),
            static_cast<char*>(files.filedata[mj_findFileVFS(&files, "robot.urdf")]));
  char message[1000] = "";
  std::unique_ptr<mjModel, void (*)(mjModel*)> model(
      mj_loadXML("robot.urdf", &files, message, sizeof(message)), mj_deleteModel);
  mj_deleteVFS(&files);
  EXPECT_NE(model, nullptr) << path << ": " << message;
  return model;
}

// MuJoCo reads every bundled URDF and finds the mass and the degrees of freedom that our reader
// finds.
TEST(BundledUrdf, LoadsInMujocoWithTheSameMass) {
  constexpr double kDigits = 1e-9;
  for (const char* name : {"tx40", "planar_2r", "humanoid", "mobile_manipulator"}) {
    const std::string path = std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name + ".urdf";
    const Model ours = readUrdf(path);
    const auto theirs = loadInMujoco(path);
    ASSERT_NE(theirs, nullptr);
    double mass = 0.0;
    for (const Link& link : ours.links) mass += link.inertia.mass;
    EXPECT_NEAR(std::accumulate(theirs->body_mass, theirs->body_mass + theirs->nbody, 0.0), mass,
                kDigits * mass)
        << name;
    EXPECT_EQ(theirs->nv, ours.velocity_count) << name;
  }
}

}  // namespace
}  // namespace proprio
