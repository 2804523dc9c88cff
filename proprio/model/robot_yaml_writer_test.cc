#include "proprio/model/robot_yaml_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "proprio/core/atomic_file.h"
#include "proprio/model/parameters.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

// every parameter multiplied by its own factor: different everywhere, bodies stay possible
Parameters altered(const Model& model) {
  Parameters parameters = declaredParameters(std::make_shared<const Model>(model));
  const int inertial = parameters.layout->inertialSize();
  for (int i = 0; i < parameters.layout->size(); ++i) {
    auto& value = parameters.values[static_cast<size_t>(i)];
    const int group = i < inertial ? i / 10 : i;
    value *= 1.0 + 0.01 * (group + 1);
    if (i >= inertial) value += 0.001 * (group + 1);
  }
  return parameters;
}

std::vector<double> valuesOf(const Model& model) {
  return declaredParameters(std::make_shared<const Model>(model)).values;
}

void expectSameParameters(const Model& meant, const Model& read) {
  const std::vector<double> a = valuesOf(meant), b = valuesOf(read);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-12 * (1.0 + std::abs(a[i])))
        << (*declaredParameters(std::make_shared<const Model>(meant)).layout)[static_cast<int>(i)]
               .name;
}

std::string withoutNumbers(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](char c) {
                              return std::string("0123456789.-+e ").find(c) != std::string::npos;
                            }),
             text.end());
  return text;
}

// Every bundled robot: the new text reads as the new parameters, nothing but numbers changed, and
// with the old values not a byte changes.
TEST(RobotYamlWriter, BundledRobots) {
  for (const char* robot : {"tx40", "tx40_coupled", "rv2sq", "iiwa14", "tx40_urdf",
                            "mobile_manipulator", "humanoid", "planar_2r"}) {
    SCOPED_TRACE(robot);
    const std::string path =
        std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + robot + ".yaml";
    const std::string text = readFile(path);
    const Model model = readRobot(path);
    EXPECT_EQ(updatedRobotYaml(text, model, path), text);
    if (!model.urdf.empty()) continue;  // inertias are in the URDF: write_back_test.cc
    const Model meant = modelWithParameters(altered(model));
    const std::string written = updatedRobotYaml(text, meant, path);
    expectSameParameters(meant, readRobotYamlText(written, path));
    EXPECT_EQ(withoutNumbers(written), withoutNumbers(text));
  }
}

constexpr const char* kTable = R"(# an arm
version: 1   # of the format
name: arm
dh:
  convention: classic
  joints:
    - {name: j1, d: 0.3, alpha: pi/2}   # shoulder
    - {name: j2, a: 0.4}
    - name: j3
      a: 0.2
)";

constexpr const char* kRest = R"(
# what the joints have
joints:
  j1:
    friction: {viscous: 1.5, power: [{coefficient: 0.1, exponent: 2}, {coefficient: 0.2, exponent: 3}], coulomb: 2}
    drive: {motor_inertia: 2e-5, gear_ratio: 100}
  j2:
    spring: {stiffness: 3}
    friction:
      coulomb: 0.5   # measured by hand
      viscous: 0.25
  j3: {friction: {stribeck: {coefficient: 0.3, velocity: 0.1}}, spring: {stiffness: 2, rest: "pi/6"}}
couplings:
  - name: c
    terms: [{joint: j1, signal: velocity, of: j2}]
info: {notes: "kept, also with commas: yes"}
)";

Model withBodies(Model model) {
  for (size_t i = 1; i < model.links.size(); ++i) {
    const double k = static_cast<double>(i);
    model.links[i].has_inertial = true;
    model.links[i].inertia = InertialParameters::fromCom(2.0 + k, {0.1 * k, 0.02, -0.03},
                                                         Vector3d(0.02, 0.03, 0.04).asDiagonal());
  }
  model.joints[1].spring.rest = 0.125;
  model.couplings[0].value = -0.75;
  return finalize(model);
}

// Missing keys are inserted: bodies of a table that has none, the rest position of a spring, the
// value of a coupling; lists of terms, motor-side inertias and quoted angles are found; comments
// stay.
TEST(RobotYamlWriter, InsertsWhatIsMissing) {
  const std::string text = std::string(kTable) + kRest;
  Parameters changed = altered(withBodies(readRobotYamlText(text)));
  const Model meant = modelWithParameters(changed);
  const std::string written = updatedRobotYaml(text, meant, "robot.yaml");
  expectSameParameters(meant, readRobotYamlText(written));
  for (const char* part : {"# an arm", "# of the format", "# shoulder",
                           "# what the joints have\njoints:", "# measured by hand",
                           "    link_3: {mass: ", "kept, also with commas"})
    EXPECT_NE(written.find(part), std::string::npos) << part << "\n" << written;
}

// Drives and friction about which the file says nothing become a section of their own, also for one
// joint whose name needs quotes; comments stay.
TEST(RobotYamlWriter, AddsWholeTerms) {
  const std::string text = "# a comment\nversion: 1\nurdf: robot.urdf\n# the end\n";
  RobotYamlUpdate update;
  update.urdf_text = R"(<robot name="r"><link name="base"/><link name="one"/>
<joint name="yes" type="continuous"><parent link="base"/><child link="one"/></joint></robot>)";
  ReadOptions options;
  options.urdf_text = update.urdf_text;
  Model meant = readRobotYamlText(text, "robot.yaml", options);
  FrictionTerm offset;
  offset.kind = FrictionTermKind::kOffset;
  offset.name = "offset";
  offset.coefficient = 0.5;
  meant.joints[0].friction.terms = {offset};
  meant.joints[0].drive.declared = true;
  meant.joints[0].drive.rotor_inertia = 0.25;
  const std::string written = updatedRobotYaml(text, meant, "robot.yaml", update);
  EXPECT_EQ(written.rfind("# a comment\n", 0), 0u) << written;
  EXPECT_NE(written.find("# the end"), std::string::npos) << written;
  const Model read = readRobotYamlText(written, "robot.yaml", options);
  ASSERT_EQ(read.joints[0].friction.terms.size(), 1u) << written;
  EXPECT_EQ(read.joints[0].friction.terms[0].coefficient, 0.5);
  EXPECT_EQ(read.joints[0].drive.rotor_inertia, 0.25);
}

// Gains of drives are replaced, added to a drive that has none, and added with a drive; nothing
// else changes.
TEST(RobotYamlWriter, GainsOfDrives) {
  const std::string text = std::string(kTable) + R"(joints:
  j1: {drive: {gain: 12, gear_ratio: 50}}  # first
  j2: {drive: {motor_inertia: 1e-5}}
)";
  Model meant = readRobotYamlText(text);
  for (Joint& joint : meant.joints) joint.drive.gain_declared = true;
  for (size_t j = 0; j < meant.joints.size(); ++j)
    meant.joints[j].drive.gain = -1.5 * static_cast<double>(j + 1);
  const std::string written = updatedRobotYaml(text, meant, "robot.yaml");
  EXPECT_NE(written.find("{drive: {gain: -1.5, gear_ratio: 50}}  # first"), std::string::npos)
      << written;
  const Model read = readRobotYamlText(written);
  for (size_t j = 0; j < meant.joints.size(); ++j) {
    EXPECT_TRUE(read.joints[j].drive.gain_declared) << written;
    EXPECT_EQ(read.joints[j].drive.gain, meant.joints[j].drive.gain);
    EXPECT_EQ(read.joints[j].drive.rotor_inertia, meant.joints[j].drive.rotor_inertia);
  }
}

// Some bodies in the file and some not, in either form, also as an empty mapping.
TEST(RobotYamlWriter, BodiesInEveryForm) {
  for (const char* links :
       {"  links: {}\n",
        "  links:\n    link_2: {mass: 1, com: [0.1, 0, 0], inertia_at_com: [1, 0, 0, 1, 0, 1]}\n",
        "  links:\n    link_1:\n      mass: 3\n    link_3: {mass: 2, first_moment: [1, 2, 3]}\n",
        "  links: {link_1: {mass: 4}}\n"}) {
    const std::string text = std::string(kTable) + links + kRest;
    const Model meant = withBodies(readRobotYamlText(text));
    const std::string written = updatedRobotYaml(text, meant, "robot.yaml");
    expectSameParameters(meant, readRobotYamlText(written));
    EXPECT_NE(written.find("# shoulder"), std::string::npos) << written;
  }
}

// A file whose joints share friction by an alias is written anew, with all that it says.
TEST(RobotYamlWriter, AliasesAreWrittenOut) {
  const std::string text = std::string(kTable) + R"(joints:
  j1: {friction: &f {viscous: 1, coulomb: 2}}
  j2: {friction: *f}
  j3: {limits: {lower: -1, upper: 1}}
frames:
  - {name: "tip, end", link: link_3, xyz: [0.1, 0, 0]}
info: {notes: "no", reach: 3}
)";
  const Model model = readRobotYamlText(text);
  const Model meant = modelWithParameters(altered(model));
  const std::string written = updatedRobotYaml(text, meant, "robot.yaml");
  const Model read = readRobotYamlText(written);
  expectSameParameters(meant, read);
  EXPECT_EQ(read.frames[0].name, "tip, end");
  EXPECT_EQ(read.joints[2].limits.upper, 1.0);
  EXPECT_EQ(read.info[0].value, "no");
  EXPECT_EQ(written.find('*'), std::string::npos);
}

// Line ends of another system and a byte order mark survive.
TEST(RobotYamlWriter, OtherLineEnds) {
  std::string text;
  for (const char letter : std::string(kTable) + kRest)
    text += letter == '\n' ? "\r\n" : std::string(1, letter);
  for (const std::string& mark : {std::string(), std::string("\xef\xbb\xbf")}) {
    const Model meant = withBodies(readRobotYamlText(mark + text));
    expectSameParameters(meant,
                         readRobotYamlText(updatedRobotYaml(mark + text, meant, "robot.yaml")));
  }
}

// What cannot be written is refused.
TEST(RobotYamlWriter, RefusesWhatIsNotANumber) {
  const std::string text = std::string(kTable) + kRest;
  Model model = withBodies(readRobotYamlText(text));
  model.joints[0].friction.terms[0].coefficient = INFINITY;
  EXPECT_THROW(updatedRobotYaml(text, model, "robot.yaml"), Error);
  EXPECT_THROW(updatedRobotYaml("version: 2\n", model, "robot.yaml"), Error);
}

}  // namespace
}  // namespace proprio
