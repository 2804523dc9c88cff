#include "proprio/model/lint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

/// An arm of a base and two boxes of 0.1 x 0.1 x 0.4 m with 4 kg each: nothing to find.
struct Arm {
  std::string upper_inertial =
      "<inertial><origin xyz='0 0 0.2'/><mass value='4'/>"
      "<inertia ixx='0.0567' ixy='0' ixz='0' iyy='0.0567' iyz='0' izz='0.00667'/></inertial>";
  std::string lower_inertial = upper_inertial;
  std::string shape =
      "<collision><origin xyz='0 0 0.2'/><geometry><box size='0.1 0.1 "
      "0.4'/></geometry></collision>";
  std::string limit = "<limit lower='-2' upper='2' velocity='3' effort='50'/>";
  std::string elbow_type = "revolute";
  std::string more;

  std::string text() const {
    return fmt::format(
        "<robot name='arm'>\n<link name='base'/>\n<link name='upper'>{}{}</link>\n"
        "<link name='lower'>{}{}</link>\n"
        "<joint name='shoulder' type='revolute'><parent link='base'/><child link='upper'/>"
        "<axis xyz='0 1 0'/><limit lower='-2' upper='2' velocity='3' effort='50'/></joint>\n"
        "<joint name='elbow' type='{}'><parent link='upper'/><child link='lower'/>"
        "<origin xyz='0 0 0.4'/><axis xyz='0 1 0'/>{}</joint>\n{}</robot>\n",
        upper_inertial, shape, lower_inertial, shape, elbow_type, limit, more);
  }
  Model model() const { return readUrdfText(text(), "arm.urdf"); }
};

std::string inertial(double mass, double ixx, double iyy, double izz) {
  return fmt::format(
      "<inertial><origin xyz='0 0 0.2'/><mass value='{}'/><inertia ixx='{}' ixy='0' ixz='0' "
      "iyy='{}' iyz='0' izz='{}'/></inertial>",
      mass, ixx, iyy, izz);
}

/// "error rule subject" of every finding that is not a note.
std::vector<std::string> rulesOf(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.advice.empty());
    if (finding.severity != Severity::kNote) {
      out.push_back(
          fmt::format("{} {} {}", toString(finding.severity), finding.rule, finding.subject));
    }
  }
  return out;
}
using Rules = std::vector<std::string>;

// A sound arm has no findings at all.
TEST(Lint, SoundArm) { EXPECT_TRUE(lint(Arm().model()).empty()); }

// Every bundled robot is physically possible.
TEST(Lint, BundledRobotsHaveNoErrors) {
  for (const char* name : {"tx40", "tx40_urdf", "tx40_coupled", "rv2sq", "iiwa14", "planar_2r",
                           "humanoid", "mobile_manipulator"}) {
    ReadOptions options;
    options.lump_fixed = false;
    const Model model =
        readRobot(fmt::format("{}/examples/robots/{}.yaml", PROPRIO_SOURCE_DIR, name), options);
    EXPECT_EQ(countOf(lint(model), Severity::kError), 0) << name;
  }
}

// Mass and inertia rules: each fault has its own rule, only the most basic one is reported, and
// value and margin are those of the definition.
TEST(Lint, ImpossibleInertias) {
  Arm arm;
  arm.lower_inertial = inertial(-4, 0.0567, 0.0567, 0.00667);
  std::vector<Finding> findings = lint(arm.model());
  EXPECT_EQ(rulesOf(findings), Rules{"error mass-positive link lower"});
  EXPECT_EQ(findings[0].value, -4.0);
  EXPECT_EQ(findings[0].location.line, 4);
  EXPECT_EQ(findings[0].link, 2);

  arm.lower_inertial = inertial(0, 0.0567, 0.0567, 0.00667);
  EXPECT_EQ(rulesOf(lint(arm.model()))[0], "error mass-positive link lower");

  arm.lower_inertial = inertial(4, 0.0567, 0.0567, -0.00667);
  findings = lint(arm.model());
  EXPECT_EQ(findings[0].rule, "inertia-positive");
  EXPECT_NEAR(findings[0].margin, -0.00667, 1e-12);

  // L_min = (0.0567 + 0.0067 - 0.08) / 2
  arm.lower_inertial = inertial(4, 0.0567, 0.08, 0.0067);
  findings = lint(arm.model());
  EXPECT_EQ(rulesOf(findings), Rules{"error inertia-triangle link lower"});
  EXPECT_NEAR(findings[0].margin, 0.5 * (0.0567 + 0.0067 - 0.08), 1e-12);

  // a plate without thickness
  arm.lower_inertial = inertial(4, 0.05, 0.06, 0.01);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning inertia-flat link lower"});
}

// A point mass at the end of an arm is impossible, fixed to a real link it is only odd.
TEST(Lint, PointMass) {
  Arm arm;
  arm.lower_inertial = inertial(4, 0, 0, 0);
  EXPECT_EQ(lint(arm.model())[0].rule, "inertia-positive");
  EXPECT_EQ(lint(arm.model())[0].severity, Severity::kError);
  arm.elbow_type = "fixed";
  arm.limit.clear();
  EXPECT_EQ(lint(arm.model())[0].rule, "inertia-positive");
  EXPECT_EQ(lint(arm.model())[0].severity, Severity::kWarning);
}

// What a fixed joint holds is judged by its own numbers: a line of mass has no negative second
// moment and is only odd, but no body has a principal inertia without the two others, and neither
// has the one of an exporter that fills all six entries alike. Inertias that drown in the rounding
// of mass times distance squared are a point.
TEST(Lint, ThinBodiesThatAreFixed) {
  Arm arm;
  arm.elbow_type = "fixed";
  arm.limit.clear();
  arm.shape.clear();
  const auto verdict = [&](const std::string& lower) {
    arm.lower_inertial = lower;
    const Finding finding = lint(arm.model()).at(0);
    return std::string(toString(finding.severity)) + " " + finding.rule;
  };
  EXPECT_EQ(verdict(inertial(4, 0.05, 0.05, 0)), "warning inertia-positive");
  EXPECT_EQ(verdict(inertial(4, 1e-20, 1e-20, 5e-20)), "warning inertia-positive");
  EXPECT_EQ(verdict(inertial(4, 0, 0, 0.5)), "error inertia-positive");
  EXPECT_EQ(verdict(inertial(4, 1, -1e-12, 0)), "error inertia-positive");
  EXPECT_EQ(verdict("<inertial><mass value='1'/><inertia ixx='1e-6' ixy='1e-6' ixz='1e-6' "
                    "iyy='1e-6' iyz='1e-6' izz='1e-6'/></inertial>"),
            "error inertia-positive");
}

// What robot.yaml states is found where it stands there, and no repair of the URDF is advised.
TEST(Lint, NamesTheFileThatStatesTheValue) {
  const std::string urdf = Arm().text();
  ReadOptions options;
  options.urdf_text = urdf;
  options.lump_fixed = false;
  const Model model = readRobotYamlText(
      "version: 1\nurdf: arm.urdf\njoints:\n  elbow:\n    limits: {lower: 2,\n      upper: 1}\n"
      "    drive:\n      rotor_inertia: -1\n      gear_ratio: 0\n    friction: {coulomb: 1,\n"
      "      viscous: -1,\n      dynamic: {model: lugre, sigma0: 9, coulomb: 2, stiction: 1}}\n"
      "  shoulder: {limits: {velocity: 1}}\n"
      "payloads:\n- {name: box, link: lower, mass: 1, inertia_at_com: [1, 0, 0, 0.1, 0, 0.1]}\n",
      "r.yaml", options);
  std::vector<std::string> places;
  for (const Finding& finding : lint(model)) {
    places.push_back(fmt::format("{} {}", finding.rule, toString(finding.location)));
    EXPECT_EQ(finding.advice.find("--repair"), std::string::npos) << finding.advice;
  }
  EXPECT_EQ(places, (Rules{"inertia-triangle r.yaml:15:3", "limit-reversed r.yaml:5:14",
                           "rotor-negative r.yaml:8:7", "gear-zero r.yaml:9:7",
                           "friction-negative r.yaml:11:7", "friction-stiction r.yaml:12:7"}));
}

// Bodies of a DH table are found in the row with their numbers.
TEST(Lint, NamesTheRowOfTheBody) {
  const Model model = readRobotYamlText(
      "version: 1\ndh:\n  convention: modified\n  joints:\n"
      "    - {name: j1, lower: -1, upper: 1, velocity: 1, effort: 1}\n  links:\n"
      "    link_1: {mass: 1, inertia_at_com: [1, 0, 0, 0.1, 0, 0.1]}\n",
      "dh.yaml");
  const Finding finding = lint(model).at(0);
  EXPECT_EQ(finding.rule, "inertia-triangle");
  EXPECT_EQ(toString(finding.location), "dh.yaml:7:5");
  EXPECT_EQ(finding.advice.find("--repair"), std::string::npos);
}

// Massless links: an error where nothing beyond the joint has mass, a warning in between, and
// nothing for frames that are fixed to something.
TEST(Lint, MasslessLinks) {
  Arm arm;
  arm.lower_inertial.clear();
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"error massless-end link lower"});
  arm.lower_inertial = inertial(0, 0, 0, 0);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"error massless-end link lower"});

  arm = {};
  arm.upper_inertial.clear();
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning massless-between link upper"});

  arm = {};
  arm.more =
      "<link name='tool'/><joint name='t' type='fixed'><parent link='lower'/><child link='tool'/>"
      "</joint>";
  EXPECT_TRUE(lint(arm.model()).empty());

  // a free base without mass
  Model model = Arm().model();
  model.floating = true;
  EXPECT_EQ(rulesOf(lint(model)), Rules{"warning massless-between link base"});

  // a rotor keeps the mass matrix invertible
  arm = {};
  arm.lower_inertial.clear();
  model = arm.model();
  model.joints[1].drive.declared = true;
  model.joints[1].drive.rotor_inertia = 0.1;
  EXPECT_EQ(rulesOf(lint(model)), Rules{"warning massless-end link lower"});
}

// A link with a shape but no mass that hangs on a real link.
TEST(Lint, MissingInertial) {
  Arm arm;
  arm.lower_inertial.clear();
  arm.elbow_type = "fixed";
  arm.limit.clear();
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning inertial-missing link lower"});
}

// Plausibility against the shapes: grams, millimetres, and a centre of mass elsewhere.
TEST(Lint, ImplausibleAgainstShapes) {
  Arm arm;
  arm.lower_inertial = inertial(4000, 56.7, 56.7, 6.67);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning density link lower"});
  arm.lower_inertial = inertial(0.004, 56.7e-6, 56.7e-6, 6.67e-6);
  const std::vector<Finding> light = lint(arm.model());
  EXPECT_EQ(rulesOf(light), Rules{"warning density link lower"});
  EXPECT_NEAR(light[0].value, 1.0, 1e-9);
  EXPECT_NEAR(light[0].margin, -29.0, 1e-9);

  arm.lower_inertial = inertial(4, 5.67, 5.67, 0.667);  // needs 1.1 m, half the box is 0.2 m
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning gyration-large link lower"});
  arm.lower_inertial = inertial(4, 5.67e-5, 5.67e-5, 0.667e-5);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning gyration-small link lower"});

  arm = {};
  arm.lower_inertial.replace(arm.lower_inertial.find("0 0 0.2"), 7, "0 0 2.0");
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning com-outside link lower"});
}

// Links without shapes are not compared with any, missing meshes are one note.
TEST(Lint, WithoutShapes) {
  Arm arm;
  arm.shape.clear();
  arm.lower_inertial = inertial(4000, 567, 567, 66.7);
  EXPECT_TRUE(lint(arm.model()).empty());
  arm.shape = "<collision><geometry><mesh filename='no.stl'/></geometry></collision>";
  const std::vector<Finding> findings = lint(arm.model());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "mesh");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
}

// Without shapes the robot's own reach is the measure: the joints reach 0.4 m, so 1 m is allowed.
TEST(Lint, LargerThanTheRobot) {
  Arm arm;
  arm.shape.clear();
  arm.lower_inertial = inertial(0.1, 1e6, 1e6, 1e6);
  const std::vector<Finding> findings = lint(arm.model());
  EXPECT_EQ(rulesOf(findings), Rules{"warning gyration-large link lower"});
  const double spread = std::sqrt(0.5 * 1e6 / 0.1);  // J = (1, 1, 1) J: L = J / 2
  EXPECT_NEAR(findings[0].value, spread, 1e-9 * spread);
  EXPECT_NEAR(findings[0].margin, 1.0 - spread, 1e-9 * spread);
  arm.lower_inertial = inertial(4, 3.9, 3.9, 0.1);
  EXPECT_TRUE(lint(arm.model()).empty());
}

// A placeholder of a microgram is told, as long as it moves.
TEST(Lint, TinyMass) {
  Arm arm;
  arm.shape.clear();
  arm.lower_inertial = inertial(1e-9, 1e-12, 1e-12, 1e-12);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning mass-tiny link lower"});
  arm.elbow_type = "fixed";
  arm.limit.clear();
  EXPECT_TRUE(lint(arm.model()).empty());
}

// Unit inertias, and one inertia at three different masses.
TEST(Lint, DefaultInertias) {
  Arm arm;
  arm.shape.clear();
  arm.lower_inertial = inertial(4, 1, 1, 1);
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning inertia-default link lower"});

  arm.upper_inertial = inertial(2, 1e-3, 1e-3, 1e-3);
  arm.lower_inertial = inertial(4, 1e-3, 1e-3, 1e-3);
  EXPECT_TRUE(lint(arm.model()).empty());  // two may be a coincidence
  arm.more = "<link name='tool'>" + inertial(1, 1e-3, 1e-3, 1e-3) +
             "</link><joint name='t' type='fixed'><parent link='lower'/><child link='tool'/>"
             "</joint>";
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning inertia-default link upper"});
}

// Limits: missing, reversed, zero, in degrees.
TEST(Lint, Limits) {
  const auto rules = [](const std::string& limit) {
    Arm arm;
    arm.limit = limit;
    return rulesOf(lint(arm.model()));
  };
  EXPECT_EQ(rules("<limit lower='2' upper='-2' velocity='3' effort='5'/>"),
            Rules{"error limit-reversed joint elbow"});
  EXPECT_EQ(rules("<limit lower='-2' upper='2' velocity='-3' effort='5'/>"),
            Rules{"error limit-reversed joint elbow"});
  Arm one_sided;
  one_sided.limit = "<limit lower='-2' velocity='3' effort='5'/>";
  EXPECT_EQ(rulesOf(lint(one_sided.model())), Rules{"warning limit-missing joint elbow"});
  EXPECT_EQ(lint(one_sided.model())[0].message, "no upper position limit, which counts as 0");
  EXPECT_EQ(rules("<limit upper='2' velocity='3' effort='5'/>"),
            Rules{"warning limit-missing joint elbow"});
  EXPECT_EQ(rules("<limit lower='1' velocity='3' effort='5'/>"),
            Rules{"error limit-reversed joint elbow"});
  EXPECT_EQ(rules("<limit lower='-2' upper='2' velocity='0' effort='5'/>"),
            Rules{"warning limit-zero joint elbow"});
  EXPECT_EQ(rules("<limit lower='-180' upper='180' velocity='3' effort='5'/>"),
            Rules{"warning limit-degrees joint elbow"});
  Model model = Arm().model();
  model.joints[1].limits = {};
  EXPECT_EQ(rulesOf(lint(model)), Rules{"warning limit-missing joint elbow"});
  model.joints[1].limits.lower = model.joints[1].limits.upper = 0.5;
  EXPECT_EQ(rulesOf(lint(model)), Rules{"warning limit-zero joint elbow"});
  model.joints[1].type = JointType::kContinuous;
  model.joints[1].limits = {};
  EXPECT_EQ(rulesOf(lint(model)), Rules{});
}

// Drives out of family: a motor inertia that was not reflected to the joint, an inverse gear ratio.
TEST(Lint, DrivesOutOfFamily) {
  ReadOptions options;
  options.lump_fixed = false;
  const Model good =
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/iiwa14.yaml", options);
  Model base = good;
  for (Joint& joint : base.joints) {
    joint.drive.declared = true;
    joint.drive.gear_ratio = 100;
    joint.drive.rotor_inertia = 0.3;
  }
  EXPECT_EQ(rulesOf(lint(base)), rulesOf(lint(good)));
  const auto added = [&](const Model& model) {
    std::vector<std::string> rules = rulesOf(lint(model));
    for (const std::string& rule : rulesOf(lint(good)))
      rules.erase(std::find(rules.begin(), rules.end(), rule));
    return rules;
  };
  const std::string name = base.joints[2].name;
  Model model = base;
  model.joints[2].drive.rotor_inertia = 0.3 / 1e4;
  EXPECT_EQ(added(model), Rules{"warning rotor-family joint " + name});
  model = base;
  model.joints[2].drive.gear_ratio = 0.01;
  model.joints[2].drive.rotor_inertia = 0.0;
  EXPECT_EQ(added(model), Rules{"warning gear-family joint " + name});
  model = base;
  model.joints[2].drive.gear_ratio = 0.0;
  EXPECT_EQ(added(model), Rules{"error gear-zero joint " + name});
  model = base;
  model.joints[2].drive.rotor_inertia = -0.1;
  EXPECT_EQ(added(model), Rules{"error rotor-negative joint " + name});
  model = good;  // alone, only the arm can be compared with
  model.joints[2].drive.declared = true;
  model.joints[2].drive.rotor_inertia = 1e6;
  EXPECT_EQ(added(model), Rules{"warning rotor-family joint " + name});
}

// Friction that drives, a mimic joint that does not follow.
TEST(Lint, FrictionAndMimic) {
  Arm arm;
  arm.limit += "<dynamics damping='-1' friction='0.5'/>";
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning friction-negative joint elbow"});
  arm = {};
  arm.limit += "<mimic joint='shoulder' multiplier='0'/>";
  EXPECT_EQ(rulesOf(lint(arm.model())), Rules{"warning mimic-zero joint elbow"});
}

// The arm that a rotor is compared with is what lies beyond the joint for any base.
TEST(Lint, AnyBase) {
  Model model = Arm().model();
  model = withBase(model, "lower", true);
  EXPECT_EQ(rulesOf(lint(model)), Rules{"error massless-end link base"});
}

// All structural faults of a file are found at once, though the reader stops at the first.
TEST(Lint, Structure) {
  const std::string text =
      "<robot name='r'><link name='a'/><link name='b'/><link name='b'/><link name='c'/>\n"
      "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><mimic joint='k'/>"
      "</joint>\n"
      "<joint name='k' type='continuous'><parent link='a'/><child link='b'/><mimic joint='j'/>"
      "</joint></robot>";
  EXPECT_THROW(readUrdfText(text), Error);
  const UrdfStructure structure = lintUrdfStructure(text, "r.urdf");
  const std::vector<Finding>& findings = structure.findings;
  EXPECT_EQ(rulesOf(findings),
            (Rules{"error duplicate-name link b", "error unreachable-link link c",
                   "error mimic-loop joint j"}));
  EXPECT_EQ(findings[2].location.line, 2);
  EXPECT_NE(structure.unreadable.find("joint 'k' and of joint 'j'"), std::string::npos)
      << structure.unreadable;
  for (const std::string& other : {std::string("not xml"), std::string("<sdf/>"), Arm().text()})
    EXPECT_TRUE(lintUrdfStructure(other, "r.urdf").findings.empty());
  const UrdfStructure itself = lintUrdfStructure(
      "<robot name='r'><link name='a'/><joint name='j'><mimic joint='j'/></joint></robot>",
      "r.urdf");
  EXPECT_EQ(rulesOf(itself.findings), Rules{"error mimic-loop joint j"});
  EXPECT_NE(itself.unreadable.find("no type"), std::string::npos) << itself.unreadable;
}

// A mimic joint whose leader does not exist is a finding, with the nearest name; the rest is judged
// with that joint free.
TEST(Lint, MimicOfNothing) {
  Arm arm;
  arm.limit += "<mimic joint='shouldr'/>";
  EXPECT_THROW(arm.model(), Error);
  const UrdfStructure structure = lintUrdfStructure(arm.text(), "r.urdf");
  EXPECT_EQ(rulesOf(structure.findings), Rules{"error mimic-unknown joint elbow"});
  EXPECT_NE(structure.findings[0].message.find("did you mean 'shoulder'"), std::string::npos)
      << structure.findings[0].message;
  EXPECT_EQ(structure.findings[0].location.line, 6);
  EXPECT_EQ(structure.rest.velocity_count, 2);
}

// What is left of a file with structural faults is judged too; what the reader cannot make sense of
// keeps the reader's sentence, and no links are called loose because of it.
TEST(Lint, StructureAndTheRest) {
  Arm arm;
  arm.lower_inertial = inertial(-4, 0.0567, 0.0567, 0.00667);
  arm.more =
      "<link name='lower'/><link name='loose'/><link name='hand'>" + arm.upper_inertial +
      "</link>\n<joint name='elbow' type='continuous'><parent link='lower'/><child link='hand'/>"
      "<limit velocity='3' effort='5'/></joint>\n";
  UrdfStructure structure = lintUrdfStructure(arm.text(), "r.urdf");
  EXPECT_EQ(structure.unreadable, "");
  EXPECT_EQ(rulesOf(structure.findings),
            (Rules{"error duplicate-name link lower", "error duplicate-name joint elbow",
                   "error unreachable-link link loose", "error mass-positive link lower"}));
  EXPECT_EQ(structure.rest.links.size(), 4u);

  Arm misspelt;  // a note of the reader tells why the link is loose
  misspelt.more = "<link name='tip'/><jiont name='k' type='fixed'/>";
  structure = lintUrdfStructure(misspelt.text(), "r.urdf");
  EXPECT_EQ(rulesOf(structure.findings), Rules{"error unreachable-link link tip"});
  EXPECT_NE(structure.findings.back().message.find("did you mean <joint>?"), std::string::npos);

  arm.elbow_type = "Revolute";
  structure = lintUrdfStructure(arm.text(), "r.urdf");
  EXPECT_EQ(structure.findings.size(), 3u);
  EXPECT_NE(structure.unreadable.find("r.urdf:6: joint 'elbow' has type='Revolute'"),
            std::string::npos)
      << structure.unreadable;
  EXPECT_TRUE(structure.rest.links.empty());

  std::string text = Arm().text();
  text.replace(text.find("<parent link='upper'/>"), 22, "<parent>upper</parent>");
  EXPECT_TRUE(lintUrdfStructure(text, "r.urdf").findings.empty());
}

// The text has a line of counts, and colour only on request; JSON can be parsed and has null where
// there is no number.
TEST(Lint, Reports) {
  Arm arm;
  arm.lower_inertial = inertial(4, 0.0567, 0.08, 0.0067);
  arm.limit = "<limit lower='-2' upper='2' velocity='3' effort='0'/>";
  const Model model = arm.model();
  const std::vector<Finding> findings = lint(model);
  const std::string text = findingsText(findings, false);
  EXPECT_NE(text.find("impossible: 1 error, 1 warning, 0 notes"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(findingsText(findings, true).find('\x1b'), std::string::npos);
  EXPECT_NE(findingsText({}, false).find("possible: 0 errors"), std::string::npos);
  const auto json = nlohmann::json::parse(findingsJson(model, findings));
  EXPECT_FALSE(json["possible"].get<bool>());
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["findings"][0]["rule"], "inertia-triangle");
  EXPECT_EQ(json["links"].size(), 3u);
  EXPECT_NEAR(json["links"][1]["density"].get<double>(), 1000.0, 1e-9);
  ReadNote note{{"a.urdf", 3, 0}, "something"};
  EXPECT_TRUE(
      nlohmann::json::parse(findingsJson({}, {asFinding(note)}))["findings"][0]["value"].is_null());
}

}  // namespace
}  // namespace proprio
