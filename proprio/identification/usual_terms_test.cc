#include "proprio/identification/usual_terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

Model arm(const std::string& joints, const std::string& dynamics = "damping=\"0\" friction=\"0\"") {
  ReadOptions options;
  options.urdf_text = fmt::format(R"(<robot name="r"><link name="base"/><link name="one"/>
<link name="two"/><joint name="a" type="continuous"><parent link="base"/><child link="one"/>
<dynamics {}/></joint>
<joint name="b" type="continuous"><parent link="one"/><child link="two"/></joint></robot>)",
                                  dynamics);
  return readRobotYamlText("version: 1\nurdf: robot.urdf\n" + joints, "robot.yaml", options);
}

// Claim: joints that say nothing, or zeros, get three terms and a rotor; the sentence names them.
TEST(UsualTerms, AreAddedWhereNothingIsSaid) {
  std::vector<std::string> told;
  const Model usual = withUsualTerms(arm(""), &told);
  for (const Joint& joint : usual.joints) {
    ASSERT_EQ(joint.friction.terms.size(), 3u) << joint.name;
    EXPECT_EQ(joint.friction.terms[2].kind, FrictionTermKind::kOffset);
    EXPECT_TRUE(joint.drive.declared);
    EXPECT_EQ(joint.drive.rotor_inertia, 0.0);
  }
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("a, b"), std::string::npos) << told[0];
}

// Claim: what is declared stays as it is; a drive without friction gets friction and keeps its
// inertia.
TEST(UsualTerms, LeaveDeclarationsAlone) {
  std::vector<std::string> told;
  const Model declared =
      arm("joints:\n  a: {friction: {viscous: 1}}\n  b: {drive: {rotor_inertia: 2}}\n");
  const Model usual = withUsualTerms(declared, &told);
  EXPECT_EQ(usual.joints[0].friction.terms.size(), 1u);
  EXPECT_FALSE(usual.joints[0].drive.declared);
  EXPECT_EQ(usual.joints[1].friction.terms.size(), 3u);
  EXPECT_EQ(usual.joints[1].drive.rotor_inertia, 2.0);
  told.clear();
  withUsualTerms(usual, &told);
  EXPECT_TRUE(told.empty());
}

// Claim: friction with a state is told to be left out, with the lines that identify its steady
// part; not beside terms that are declared.
TEST(UsualTerms, TellFrictionWithAState) {
  std::vector<std::string> told;
  const std::string lugre = "dynamic: {model: lugre, sigma0: 2000, coulomb: 2, sigma2: 0.5}";
  const Model usual = withUsualTerms(arm("joints:\n  a: {friction: {" + lugre + "}}\n"), &told);
  EXPECT_TRUE(usual.joints[0].friction.terms.empty());
  ASSERT_EQ(told.size(), 2u);
  EXPECT_NE(told[1].find("a: {friction: {viscous: 0.5, coulomb: 2}}"), std::string::npos)
      << told[1];
  told.clear();
  withUsualTerms(
      arm("joints:\n  a: {friction: {viscous: 1, " + lugre + "}}\n  b: {friction: {viscous: 1}}\n"),
      &told);
  EXPECT_TRUE(told.empty());
}

// Claim: friction that a URDF states keeps its coefficient and gets what a URDF cannot state, in
// the usual order, whether or not the joint has a drive; friction of a robot.yaml stays as it is.
TEST(UsualTerms, CompleteWhatAUrdfStates) {
  std::vector<std::string> told;
  for (const char* joints : {"", "joints:\n  a: {drive: {rotor_inertia: 2}}\n"}) {
    const Model usual = withUsualTerms(arm(joints, "friction=\"3\""), &told);
    const std::vector<FrictionTerm>& terms = usual.joints[0].friction.terms;
    ASSERT_EQ(terms.size(), 3u) << joints;
    EXPECT_EQ(terms[0].kind, FrictionTermKind::kViscous);
    EXPECT_EQ(terms[0].coefficient, 0.0);
    EXPECT_EQ(terms[1].kind, FrictionTermKind::kCoulomb);
    EXPECT_EQ(terms[1].coefficient, 3.0);
    EXPECT_EQ(terms[2].kind, FrictionTermKind::kOffset);
    EXPECT_TRUE(usual.joints[0].drive.declared);
  }
  EXPECT_NE(told[1].find("of a the URDF's <dynamics>"), std::string::npos) << told[1];
  const Model declared = arm("joints:\n  a: {friction: {coulomb: 3}}\n", "friction=\"3\"");
  EXPECT_EQ(withUsualTerms(declared, &told).joints[0].friction.terms.size(), 1u);
}

}  // namespace
}  // namespace proprio
