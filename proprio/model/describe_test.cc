#include "proprio/model/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numbers>

#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/bundled_robot.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

// The tree, limits, masses and frames of the planar arm appear, aligned under their headings.
TEST(Describe, PlanarArm) {
  const std::string text = describe(bundledRobot("planar_2r.yaml"));
  EXPECT_NE(text.find("2 degrees of freedom, 3 links, 2 joints, 2 of them moving, 3 kg"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  └─ upper_arm   shoulder  revolute -y  -3.1 … 3.1 rad"), std::string::npos)
      << text;
  EXPECT_NE(text.find("     └─ forearm  elbow"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(describe(bundledRobot("planar_2r.yaml"), true).find('\x1b'), std::string::npos);
}

// What robot.yaml adds is shown: couplings, motor-side transmission, friction, sensors, free base.
TEST(Describe, Extras) {
  const std::string coupled = describe(bundledRobot("tx40_coupled.yaml"));
  for (const char* part : {"Couplings", "sign of velocity of joint_5 + joint_6", "Transmission",
                           "viscous 8.05, coulomb 7.14, offset 0"})
    EXPECT_NE(coupled.find(part), std::string::npos) << part;
  const std::string humanoid = describe(bundledRobot("humanoid.yaml"));
  for (const char* part : {"30 degrees of freedom + 6 of the free base", "wrench on left_foot",
                           "25 cells", "free in space"})
    EXPECT_NE(humanoid.find(part), std::string::npos) << part;
}

// Every link and joint is in the JSON text, numbers that are not stated are null.
TEST(Describe, Json) {
  Model model = bundledRobot("humanoid.yaml");
  model.joints[0].limits.effort = kNotStated;
  const auto json = nlohmann::json::parse(describeJson(model));
  EXPECT_EQ(json["links"].size(), model.links.size());
  EXPECT_EQ(json["joints"].size(), model.joints.size());
  EXPECT_EQ(json["degrees_of_freedom"], 36);
  EXPECT_NEAR(json["mass"].get<double>(), totalMass(model), 1e-12);
  EXPECT_TRUE(json["joints"][0]["effort"].is_null());
  EXPECT_EQ(json["base"]["link"], "pelvis");
}

TEST(Describe, Axes) {
  EXPECT_EQ(axisText({0, 0, 1}), "z");
  EXPECT_EQ(axisText({0, -1, 0}), "-y");
  EXPECT_EQ(axisText({0.6, 0, 0.8}), "(0.6, 0, 0.8)");
  EXPECT_EQ(poseText(Pose::fromXyzRpy({0, 0.1, 0}, {0, 0, std::numbers::pi / 2})),
            "(0, 0.1, 0) m rpy (0, 0, 1.571)");
}

// One pair of limits says nothing about the three coordinates of a planar joint, and is not shown
// as if they were angles.
TEST(Describe, PlanarJointsHaveNoRange) {
  const std::string text = describe(readUrdfText(
      "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='planar'><parent "
      "link='a'/><child link='b'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
      "</robot>",
      "r.urdf"));
  EXPECT_EQ(text.find("-1 … 1"), std::string::npos) << text;
}

// A model without names, sources or joints can be described too.
TEST(Describe, SingleLink) {
  Model model;
  model.links.resize(1);
  model.links[0].name = "only";
  const std::string text = describe(finalize(model));
  EXPECT_NE(text.find("0 degrees of freedom, 1 link, 0 joints"), std::string::npos) << text;
}

}  // namespace
}  // namespace proprio
