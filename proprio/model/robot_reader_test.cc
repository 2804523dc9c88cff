#include "proprio/model/robot_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/dh_table.h"
#include "proprio/model/parameters.h"
#include "proprio/model/testing/model_parts.h"
#include "proprio/model/testing/naive_kinematics.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

const fs::path kRobots = fs::path(PROPRIO_SOURCE_DIR) / "examples" / "robots";

constexpr const char* kTwoJoints = R"(version: 1
name: two
dh:
  convention: modified
  base_offset: {xyz: [0, 0, 0.5], rpy: [0, 0, pi/2]}
  joints:
    - {name: j1, lower: -pi, upper: 3, velocity: 2, effort: 9, acceleration: 4}
    - {name: j2, type: prismatic, alpha: -pi/2, a: 0.1, d: 0.2, theta: 3*pi/4, link: hand}
  links:
    link_1: {mass: 2, first_moment: [0.2, 0, 0.4], inertia: [1, 0.1, 0.2, 2, 0.3, 3]}
    hand: {mass: 1, com: [0, 0, 0.1], inertia_at_com: [0.1, 0, 0, 0.2, 0, 0.3]}
)";

std::string yamlMessage(const std::string& text) {
  try {
    readRobotYamlText(text, "r.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Quotients are numbers, such as turns per count; one by zero, or of words, is not.
TEST(RobotReader, ReadsQuotients) {
  std::string text = kTwoJoints;
  const auto upper = [&](const std::string& value) {
    std::string changed = text;
    changed.replace(changed.find("upper: 3"), 8, "upper: " + value);
    return changed;
  };
  EXPECT_EQ(jointOf(readRobotYamlText(upper("1/8192")), "j1").limits.upper, 1.0 / 8192.0);
  EXPECT_EQ(jointOf(readRobotYamlText(upper("1e3 / 4")), "j1").limits.upper, 250.0);
  for (const char* bad : {"1/0", "1/", "/2", "one/two", "1/2/3"})
    EXPECT_NE(yamlMessage(upper(bad)).find("expected a number"), std::string::npos) << bad;
}

// A DH table gives links, joints, limits and inertias; both ways to state an inertia mean the same
// body.
TEST(RobotReader, ReadsDhTables) {
  const Model model = readRobotYamlText(kTwoJoints);
  EXPECT_EQ(model.name, "two");
  ASSERT_EQ(model.links.size(), 3u);
  EXPECT_EQ(model.links[0].name, "base_link");
  EXPECT_EQ(model.links[1].name, "link_1");
  const Joint &j1 = jointOf(model, "j1"), &j2 = jointOf(model, "j2");
  EXPECT_EQ(j1.limits.lower, -M_PI);
  EXPECT_EQ(j1.limits.acceleration, 4.0);
  EXPECT_EQ(j2.type, JointType::kPrismatic);
  EXPECT_EQ(j2.location.line, 8);
  const DhRow row{"j2", "hand", JointType::kPrismatic, -M_PI / 2, 0.1, 0.2, 0.75 * M_PI};
  EXPECT_NEAR((j2.X_FJ.matrix() - dhPose(DhConvention::kModified, row, 0.0).matrix()).norm(), 0.0,
              1e-15);
  const InertialParameters& first = linkOf(model, "link_1").inertia;
  EXPECT_EQ(first.com(), Vector3d(0.1, 0, 0.2));
  EXPECT_EQ(first.inertia(1, 2), 0.3);
  EXPECT_EQ(first.inertia(1, 1), 2.0);
  // Steiner: 1 kg at 0.1 m along z adds 0.01 to Ixx and Iyy
  const Matrix3d expected = Vector3d(0.11, 0.21, 0.3).asDiagonal();
  EXPECT_NEAR((linkOf(model, "hand").inertia.inertia - expected).norm(), 0.0, 1e-15);
}

// Each law of friction with a state is read as such.
TEST(RobotReader, ReadsDynamicFriction) {
  const Model model = readRobotYamlText(std::string(kTwoJoints) + R"(
joints:
  j1: {friction: {dynamic: {model: leuven, sigma0: 100, coulomb: 2, stiction: 3, elements: 4}}}
  j2: {friction: {dynamic: {model: dahl, sigma0: 50, coulomb: 1}}}
)");
  const DynamicFriction& one = jointOf(model, "j1").friction.dynamic;
  EXPECT_EQ(one.kind, DynamicFrictionKind::kLeuven);
  EXPECT_EQ(one.elements, 4);
  EXPECT_EQ(one.stiction, 3.0);
  EXPECT_EQ(jointOf(model, "j2").friction.dynamic.kind, DynamicFrictionKind::kDahl);
}

// Everything a joint can declare arrives in the model, friction terms in the order of the file.
TEST(RobotReader, ReadsJointDeclarations) {
  const Model model = readRobotYamlText(std::string(kTwoJoints) + R"(
joints:
  j1:
    drive: {motor_inertia: 0.002, gear_ratio: -10, gain: 3, torque_limit: 50}
    friction:
      offset: 0.5
      coulomb: 2
      viscous: 1
      power: [{coefficient: 0.1, exponent: 2}, {coefficient: 0.2, exponent: 3}]
      arctan: {coefficient: 0.3, scale: 7}
      stribeck: {coefficient: 0.4, velocity: 0.05}
      smooth: {kind: tanh, gain: 50}
      dynamic: {model: lugre, sigma0: 100, sigma1: 1, coulomb: 2}
    spring: {stiffness: 5, rest: pi/6}
    limits: {upper: 2.5}
  j2:
    mimic: {joint: j1, ratio: 0.5, offset: 0.1}
)");
  const Joint& j1 = jointOf(model, "j1");
  EXPECT_TRUE(j1.drive.declared);
  EXPECT_DOUBLE_EQ(j1.drive.rotor_inertia, 0.2);
  EXPECT_EQ(j1.drive.gear_ratio, -10.0);
  EXPECT_EQ(j1.drive.gain, 3.0);
  EXPECT_EQ(j1.drive.torque_limit, 50.0);
  std::vector<std::string> names;
  for (const FrictionTerm& term : j1.friction.terms) names.push_back(term.name);
  EXPECT_EQ(names, (std::vector<std::string>{"offset", "coulomb", "viscous", "power_1", "power_2",
                                             "arctan", "stribeck"}));
  EXPECT_EQ(j1.friction.terms[4].exponent, 3.0);
  EXPECT_EQ(j1.friction.terms[5].scale, 7.0);
  EXPECT_EQ(j1.friction.terms[6].scale, 0.05);
  EXPECT_EQ(j1.friction.terms[6].exponent, 2.0);
  EXPECT_EQ(j1.friction.smooth_sign, SmoothSign::kTanh);
  EXPECT_EQ(j1.friction.smooth_gain, 50.0);
  EXPECT_EQ(j1.friction.dynamic.kind, DynamicFrictionKind::kLuGre);
  EXPECT_EQ(j1.friction.dynamic.stiction, 2.0) << "stiction is the Coulomb level unless stated";
  EXPECT_EQ(j1.spring.rest, M_PI / 6);
  EXPECT_EQ(j1.limits.upper, 2.5);
  EXPECT_EQ(j1.limits.lower, -M_PI) << "limits that are not given again stay";
  EXPECT_EQ(jointOf(model, "j2").mimic_offset, 0.1);
  EXPECT_FALSE(jointOf(model, "j2").drive.declared);
}

// Frames, sensors, couplings, transmission, base, gravity and information arrive in the model.
TEST(RobotReader, ReadsWhatIsAttached) {
  const Model model = readRobotYamlText(std::string(kTwoJoints) + R"(
gravity: [0, 0, -1.62]
base: {link: base_link, floating: true, xyz: [1, 2, 3]}
frames: [{name: tip, link: hand, xyz: [0, 0, 0.2]}]
sensors:
  - {name: body_imu, type: imu, link: link_1, xyz: [0.1, 0, 0], parts: [gyroscope, orientation]}
  - {name: e, type: encoder, joint: j2, noise: 0.001}
  - {name: skin, type: skin, link: hand, cells: [[0, 0, 0.1, 0, 0, 1], [0, 0.1, 0, 0, 1, 0]]}
couplings:
  - name: k
    unit: N m
    value: 0.5
    terms:
      - {joint: j1, signal: sign_velocity, of: {j1: 1, j2: -2}}
      - {joint: j2, signal: acceleration, of: j1}
      - {joint: j2, signal: one}
transmission: {joints: [j2, j1], matrix: [[1, 2], [0, 3], [4, 0]]}
info: {manufacturer: Example, mass_kg: 3.5}
)");
  EXPECT_EQ(model.gravity.z(), -1.62);
  EXPECT_TRUE(model.floating);
  EXPECT_EQ(model.X_WB.p, Vector3d(1, 2, 3));
  EXPECT_EQ(model.frames.at(0).X_LF.p.z(), 0.2);
  ASSERT_EQ(model.sensors.size(), 4u);
  EXPECT_EQ(model.sensors[0].name, "body_imu.gyroscope");
  EXPECT_EQ(model.sensors[1].kind, SensorKind::kOrientation);
  EXPECT_EQ(model.sensors[1].X_LS.p.x(), 0.1);
  EXPECT_EQ(model.sensors[2].noise, 0.001);
  EXPECT_EQ(model.sensors[3].cell_normals.at(1), Vector3d::UnitY());
  ASSERT_EQ(model.couplings.at(0).terms.size(), 3u);
  EXPECT_EQ(model.couplings[0].terms[0].weights, (std::vector<double>{1, -2}));
  EXPECT_EQ(model.couplings[0].terms[1].signal, Signal::kAcceleration);
  EXPECT_TRUE(model.couplings[0].terms[2].joints.empty());
  EXPECT_EQ(model.transmission->joints, (std::vector<int>{1, 0}));
  EXPECT_EQ(model.transmission->matrix(2, 0), 4.0);
  EXPECT_EQ(model.info.at(1).name + "=" + model.info.at(1).value, "mass_kg=3.5");
}

// Servos, elastic drives and what spoils the reading of a sensor are read; a bias with the wrong
// number of axes is not.
TEST(RobotReader, ReadsServosAndSpoiltSensors) {
  const std::string text = std::string(kTwoJoints) + R"(
control: {kind: cascade, feed_forward: gravity, rate: 2000, velocity_filter: 300, bandwidth: 4}
joints:
  j1:
    drive: {rotor_inertia: 0.1, stiffness: 900, damping: 2}
    control: {kp: 3, kd: 4, ki: 5, integral_limit: 6}
sensors:
  - {name: acc, type: accelerometer, link: hand, noise: 0.1, quantisation: 0.01, bias: [1, 2, 3]}
)";
  const Model model = readRobotYamlText(text);
  EXPECT_EQ(model.control.kind, ControlKind::kCascade);
  EXPECT_EQ(model.control.feed_forward, FeedForward::kGravity);
  EXPECT_EQ(model.control.rate, 2000.0);
  EXPECT_EQ(model.control.velocity_filter, 300.0);
  EXPECT_EQ(model.control.bandwidth, 4.0);
  const Joint& joint = jointOf(model, "j1");
  EXPECT_EQ(joint.drive.stiffness, 900.0);
  EXPECT_EQ(joint.drive.damping, 2.0);
  EXPECT_TRUE(joint.control.declared);
  EXPECT_EQ(joint.control.ki, 5.0);
  EXPECT_EQ(joint.control.integral_limit, 6.0);
  EXPECT_FALSE(jointOf(model, "j2").control.declared);
  EXPECT_TRUE(std::isnan(jointOf(model, "j2").drive.stiffness));
  EXPECT_EQ(model.sensors.at(0).bias, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(model.sensors[0].quantisation, 0.01);
  std::string wrong = text;
  wrong.replace(wrong.find("[1, 2, 3]"), 9, "[1, 2]");
  EXPECT_NE(yamlMessage(wrong).find("has 2 numbers, expected 3"), std::string::npos)
      << yamlMessage(wrong);
}

// A payload adds its mass to the link it hangs on, and a locked joint leaves one degree of freedom
// less.
TEST(RobotReader, AttachesPayloadsAndLocksJoints) {
  const std::string text = std::string(kTwoJoints) + R"(
payloads: [{name: tool, link: hand, xyz: [0, 0, 0.1], mass: 0.5}]
joints: {j1: {locked: 0.3}}
)";
  const Model model = readRobotYamlText(text);
  EXPECT_EQ(model.velocity_count, 1);
  EXPECT_EQ(linkOf(model, "hand").inertia.mass, 1.5);
  EXPECT_EQ(linkOf(model, "hand").parts.at(0).name, "tool");
  // locking at 0.3 and the pose of the full robot at q1 = 0.3 are the same
  const Model full = readRobotYamlText(kTwoJoints);
  const Pose expected = naiveLinkPoses(full, 0, {}, Eigen::Vector2d(0.3, 0.7))[2];
  const Pose locked = naiveLinkPoses(
      model, 0, {},
      Eigen::VectorXd::Constant(1, 0.7))[static_cast<size_t>(requireLink(model, "hand"))];
  EXPECT_NEAR((locked.matrix() - expected.matrix()).norm(), 0.0, 1e-14);
  EXPECT_EQ(readRobotYamlText(std::string(kTwoJoints) + "exclude: [j1, j2]\n").velocity_count, 0);
}

// The caller's options win over the file.
TEST(RobotReader, OptionsWin) {
  const std::string path = kRobots / "tx40_urdf.yaml";
  ReadOptions options;
  options.floating = true;
  options.base = "link_3";
  options.lump_fixed = false;
  const Model model = readRobot(path, options);
  EXPECT_TRUE(model.floating);
  EXPECT_EQ(model.links[static_cast<size_t>(model.base)].name, "link_3");
  options.base = "link_33";
  EXPECT_THROW(readRobot(path, options), Error);
  options = {};
  options.keep = {"none"};
  EXPECT_THROW(readRobot(path, options), Error);
}

// The same arm as DH table and as URDF: equal poses of every link at random positions, and equal
// inertias and declared parameters (L-01).
TEST(RobotReader, DhAndUrdfOfOneRobotAgree) {
  const Model dh = readRobot(kRobots / "tx40.yaml");
  const Model urdf = readRobot(kRobots / "tx40_urdf.yaml");
  ASSERT_EQ(dh.velocity_count, 6);
  ASSERT_EQ(urdf.velocity_count, 6);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> angle(-M_PI, M_PI);
  for (int sample = 0; sample < 100; ++sample) {
    const Eigen::VectorXd q = Eigen::VectorXd::NullaryExpr(6, [&] { return angle(random); });
    const std::vector<Pose> a = naiveLinkPoses(dh, dh.base, dh.X_WB, q);
    const std::vector<Pose> b = naiveLinkPoses(urdf, urdf.base, urdf.X_WB, q);
    for (int i = 1; i <= 6; ++i) {
      const std::string name = "link_" + std::to_string(i);
      const Pose& X_a = a[static_cast<size_t>(requireLink(dh, name))];
      const Pose& X_b = b[static_cast<size_t>(requireLink(urdf, name))];
      // URDF angles are printed with 16 digits
      EXPECT_NEAR((X_a.matrix() - X_b.matrix()).norm(), 0.0, 1e-13) << name;
    }
  }
  for (int i = 1; i <= 6; ++i) {
    const std::string name = "link_" + std::to_string(i);
    const Vector10d a = linkOf(dh, name).inertia.vector(), b = linkOf(urdf, name).inertia.vector();
    EXPECT_NEAR((a - b).norm(), 0.0, 1e-12 * a.norm()) << name;
  }
}

class BundledRobot : public ::testing::TestWithParam<std::string> {};

// Every robot that comes with the project loads, lumped or not, and declares parameters.
TEST_P(BundledRobot, Loads) {
  const std::string path = kRobots / GetParam();
  const Model model = readRobot(path);
  EXPECT_GT(model.velocity_count, 0);
  EXPECT_FALSE(model.name.empty());
  EXPECT_EQ(model.source, path);
  const Parameters parameters = declaredParameters(std::make_shared<const Model>(model));
  EXPECT_GE(parameters.values.size(), 10 * model.links.size());
  ReadOptions options;
  options.lump_fixed = false;
  EXPECT_GE(readRobot(path, options).links.size(), model.links.size());
}

std::vector<std::string> bundledRobots() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kRobots)) {
    const std::string extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".urdf") files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}
INSTANTIATE_TEST_SUITE_P(Files, BundledRobot, ::testing::ValuesIn(bundledRobots()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// Paths are relative to the file, may use PROPRIO_DATA and nothing else of the environment.
TEST(RobotReader, ResolvesPaths) {
  const testing::TempFolder own;
  const fs::path& folder = own.path();
  const char* before = std::getenv("PROPRIO_DATA");
  const std::string saved = before == nullptr ? "" : before;
  writeFileAtomically(folder / "a.urdf", "<robot name='a'><link name='l'/></robot>");
  writeFileAtomically(folder / "r.yaml", "version: 1\nurdf: a.urdf\npackages: {p: meshes}\n");
  writeFileAtomically(folder / "e.yml", "version: 1\nurdf: ${PROPRIO_DATA}/a.urdf\n");
  writeFileAtomically(folder / "no_extension", "version: 1\nurdf: $HOME/a.urdf\n");
  const Model model = readRobot(folder / "r.yaml");
  EXPECT_EQ(model.name, "a");
  EXPECT_EQ(model.urdf, folder / "a.urdf");
  EXPECT_EQ(model.packages.at(0).folder, folder / "meshes");
  ::setenv("PROPRIO_DATA", folder.c_str(), 1);
  EXPECT_EQ(readRobot(folder / "e.yml").name, "a");
  ::setenv("PROPRIO_DATA", fs::relative(folder).c_str(), 1);  // to the current folder
  EXPECT_EQ(readRobot(folder / "e.yml").name, "a");
  ::unsetenv("PROPRIO_DATA");
  EXPECT_THROW(readRobot(folder / "e.yml"), Error);
  EXPECT_THROW(readRobot(folder / "no_extension"), Error);
  if (before != nullptr) ::setenv("PROPRIO_DATA", saved.c_str(), 1);
}

// Messages name file, line, key, what was found and what was expected.
TEST(RobotReader, MessagesSpeak) {
  EXPECT_EQ(yamlMessage("version: 1\nurdf: a.urdf\njoints:\n  j1:\n    drve: {}\n"),
            "r.yaml:5:5: joints.j1 has the unknown key 'drve'; did you mean 'drive'?");
  EXPECT_EQ(yamlMessage("version: 1\nurdf: a.urdf\ngravity: [0, 0]\n"),
            "r.yaml:3:10: gravity is a list of 2, expected a list of 3 numbers (acceleration in "
            "the world frame, "
            "m/s^2; default 0, 0, -9.81)");
  EXPECT_EQ(yamlMessage("version: 1\nurdf: a.urdf\nlump_fixed: yes\n"),
            "r.yaml:3:13: lump_fixed is 'yes', expected true or false (merge links across fixed "
            "joints; default true)");
  EXPECT_EQ(yamlMessage("name: x\n"), "r.yaml: has no version; add 'version: 1' as its first line");
}

// What robot.yaml gets wrong is said where it stands, also about joints of a URDF.
TEST(RobotReader, MessagesNameTheLine) {
  const std::string robot = kTwoJoints;  // 11 lines
  const auto has = [&](const std::string& more, const char* expected) {
    const std::string message = yamlMessage(robot + more);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  };
  has("sensors:\n  - {name: s, type: force_torque, joint: j1}\n",
      "r.yaml:13:5: sensor 's': the joint");
  has("frames:\n  - {name: f, link: hand}\n  - {name: f, link: hand}\n",
      "r.yaml:14:5: the name 'f' is used");
  has("sensors:\n  - {name: s, type: skin, link: hand,\n     cells: [[0, 0, 0, 0, 0, 0]]}\n",
      "r.yaml:14:14: cell 1 of sensor 's' has the normal 0 0 0");
  has("couplings:\n  - {name: c,\n     terms: []}\n", "r.yaml:14:13: coupling 'c' has no terms");
  has("joints:\n  j2:\n    mimic: {joint: j3}\n", "r.yaml:14:5: joint 'j2': it mimics");
  has("joints:\n  j2:\n    mimic: {joint: j1}\n    locked: 1\n", "r.yaml:15:13: joint 'j2'");
  has("joints:\n  j2:\n    mimic: {joint: j1}\nexclude: [j2]\n", "r.yaml:15:11: joint 'j2'");
}

// A name that only begins like the variable is not the variable.
TEST(RobotReader, ExpandsWholeNamesOnly) {
  for (const char* path : {"$PROPRIO_DATAX/a.urdf", "$PROPRIO_DATA_2/a.urdf"}) {
    const std::string message = yamlMessage(std::string("version: 1\nurdf: ") + path + "\n");
    EXPECT_NE(message.find("expected only $PROPRIO_DATA"), std::string::npos) << message;
  }
}

// YAML's traps are answered with a sentence, not with a crash, a hang or a silent surprise.
TEST(RobotReader, SurvivesYamlTraps) {
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string message = yamlMessage(text);
    EXPECT_NE(message.find(part), std::string::npos)
        << "message: " << message << "\nexpected: " << part;
  };
  const std::string head = "version: 1\nurdf: a.urdf\n";
  expect(head + "name: a\nname: b\n", "has the key 'name' twice");
  expect(head + "name: no\n", "put it in quotes");
  expect(head + "gravity: [0, 0, .nan]\n", "expected a number");
  expect(head + "gravity: [0, 0, nan]\n", "expected a number");
  expect(head + "gravity: [0, 0, 1e999]\n", "expected a number");
  expect(head + "gravity: [0, 0, '1']\n", "remove the quotes");
  expect(head + "frames: &a [*a]\n", "");
  expect(head + "base: &b {link: &b x, <<: *b}\n", "");
  expect(head + "? [a, b]\n: 1\n", "as a key");
  expect(head + "joints: {1: {}}\n", "put it in quotes");
  expect(head + "gravity:\n", "gravity is empty");
  expect("version: 1\nurdf: ''\n",
         "urdf is an empty text, expected a text; give a value or remove");
  expect(head + "exclude: elbow\n",
         "exclude is 'elbow', expected a list of texts; put it in brackets: ['elbow']");
  expect(head + "gravity: [0, 0, !!float 1]\n", "remove the tag 'tag:yaml.org,2002:float'");
  expect(head + "joints: {j: {lock: 0}}\n", "the unknown key 'lock'; did you mean 'locked'?");
  expect(head + "joints: {j: {colour: 0}}\n",
         "there are 'drive', 'friction', 'spring', 'limits', 'mimic', 'control', 'locked'");
  expect("version: 1\n---\nversion: 1\n", "more than one document");
  expect("", "is empty");
  expect("[1, 2]", "expected a mapping");
  expect("just text", "expected a mapping");
  expect("version: 1\n\t- x", "the YAML is broken here");
  expect(std::string(100000, '['), "nested too deeply");
  expect(head + "frames: " + std::string(5000, '[') + std::string(5000, ']'), "nested too deeply");
  // an alias bomb: 9 levels of 9 would be 4e8 values
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(i - 1);
    bomb += "a" + n + ": &a" + n + " [*a" + m;
    for (int k = 0; k < 8; ++k) bomb += ", *a" + m;
    bomb += "]\n";
  }
  expect(head + bomb, "unknown key 'a0'");
  // rows repeated by alias stay within the limit of values
  std::string rows =
      "sensors:\n  - &s {name: s, type: skin, link: l, cells: &c [&r [0, 0, 0, 0, 0, 1]";
  for (int i = 0; i < 2000; ++i) rows += ", *r";
  rows += "]}\n";
  for (int i = 0; i < 2000; ++i) rows += "  - *s\n";
  expect(head + rows, "more than a million values");
}

}  // namespace
}  // namespace proprio
