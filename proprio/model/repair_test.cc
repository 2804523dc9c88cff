#include "proprio/model/repair.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/model/lint.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/data_folder.h"
#include "proprio/spatial/inertia_metric.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

constexpr double kDigits = 1e-9;

double metricDistance(const InertialParameters& a, const InertialParameters& b,
                      const InertialParameters& reference) {
  const Vector10d d = a.vector() - b.vector();
  return std::sqrt(d.dot(pullbackMetric(reference) * d));
}

struct RandomBodies {
  std::mt19937 random{7};
  std::normal_distribution<double> normal;
  Vector3d vector(double scale) {
    return scale * Vector3d(normal(random), normal(random), normal(random));
  }
  Matrix3d symmetric(double scale) {
    Matrix3d A;
    A << vector(scale), vector(scale), vector(scale);
    return A + A.transpose();
  }
  InertialParameters reference(double mass) {
    return transformed(Pose::fromXyzRpy(vector(0.1), vector(1.0)),
                       boxInertia(mass, Vector3d(0.1, 0.2, 0.4)));
  }
};

// Optimality of a projection on a convex set: for every other admissible body B,
// <body - nearest, B - nearest> <= 0 in the metric; the pull-back metric of another file judges.
TEST(Repair, NearestPossibleIsTheProjection) {
  RandomBodies bodies;
  constexpr double kMargin = 0.05;
  for (int trial = 0; trial < 200; ++trial) {
    const double mass = 3.0;
    const InertialParameters reference = bodies.reference(mass);
    const Vector3d com = bodies.vector(0.1);
    const auto body = InertialParameters::fromCom(mass, com, bodies.symmetric(0.05));
    const InertialParameters nearest = nearestPossible(body, reference, kMargin);
    EXPECT_EQ(nearest.mass, mass);
    EXPECT_NEAR((nearest.com() - com).norm(), 0.0, kDigits);
    EXPECT_GE(relativeMargin(nearest, reference), kMargin - kDigits);
    const Matrix10d G = pullbackMetric(reference);
    const Vector10d outward = body.vector() - nearest.vector();
    for (int k = 0; k < 20; ++k) {
      const InertialParameters other = nearestPossible(
          InertialParameters::fromCom(mass, com, bodies.symmetric(0.05)), reference, kMargin);
      const Vector10d inward = other.vector() - nearest.vector();
      EXPECT_LE(outward.dot(G * inward), kDigits * (1.0 + outward.dot(G * outward)));
    }
  }
}

// A body that keeps the margin is left alone.
TEST(Repair, PossibleBodiesStay) {
  RandomBodies bodies;
  const InertialParameters reference = bodies.reference(2.0);
  const auto body =
      InertialParameters::fromCom(2.0, reference.com(), 0.5 * reference.inertiaAtCom());
  EXPECT_NEAR(metricDistance(nearestPossible(body, reference, 0.1), body, reference), 0.0, kDigits);
}

// The answer does not depend on the frame in which the question is asked.
TEST(Repair, FrameInvariant) {
  RandomBodies bodies;
  const InertialParameters reference = bodies.reference(2.0);
  const auto body = InertialParameters::fromCom(2.0, bodies.vector(0.1), bodies.symmetric(0.05));
  const Pose X = Pose::fromXyzRpy(bodies.vector(0.3), bodies.vector(1.0));
  const InertialParameters here = nearestPossible(body, reference, 0.05);
  const InertialParameters there =
      nearestPossible(transformed(X, body), transformed(X, reference), 0.05);
  EXPECT_NEAR((transformed(X, here).vector() - there.vector()).norm(), 0.0, kDigits);
}

// The known answer of a diagonal case: with the reference's axes, each second moment is clipped at
// margin times the reference's.
TEST(Repair, DiagonalCase) {
  const InertialParameters reference = boxInertia(12.0, {1.0, 2.0, 3.0});  // moments 1, 4, 9
  const Vector3d moments(-0.5, 5.0, 0.1);
  const Matrix3d inertia = moments.sum() * Matrix3d::Identity() - Matrix3d(moments.asDiagonal());
  const auto after = nearestPossible({12.0, Vector3d::Zero(), inertia}, reference, 0.1);
  const Matrix3d sigma = centralSecondMoment(after);
  EXPECT_NEAR((sigma - Matrix3d(Vector3d(0.1, 5.0, 0.9).asDiagonal())).norm(), 0.0, kDigits);
}

TEST(Repair, RefusesWhatCannotBeRepaired) {
  const InertialParameters sphere = sphereInertia(1.0, 0.1);
  EXPECT_THROW(nearestPossible(sphereInertia(0.0, 0.1), sphere, 0.1), Error);
  EXPECT_THROW(nearestPossible(sphereInertia(2.0, 0.1), sphere, 0.1), Error);
  EXPECT_THROW(nearestPossible(sphere, sphereInertia(1.0, 0.0), 0.1), Error);
  for (double margin : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_THROW(nearestPossible(sphere, sphere, margin), Error);
}

/// Faults of every kind that a repair handles, on links with and without shapes.
const char* const kBroken = R"(<?xml version="1.0"?>
<robot name="broken"> <!-- kept -->
  <link name="base"/>
  <link name="triangle">
    <inertial><origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><mass value="4"/>
      <inertia ixx="0.0567" ixy="0" ixz="0" iyy="0.09" iyz="0" izz="0.00667"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
  </link>
  <link name="negative">
    <inertial><origin xyz="0 0 0.2"/><mass value="-4"/>
      <inertia ixx="0.0567" ixy="0" ixz="0" iyy="0.0567" iyz="0" izz="0.00667"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
  </link>
  <link name="point">
    <inertial><origin xyz="0 0.1 0"/><mass value="0.2"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
  </link>
  <link name="good">
    <inertial><origin xyz="0 0 0.2"/><mass value="4"/>
      <inertia ixx="0.0567" ixy="0" ixz="0" iyy="0.0567" iyz="0" izz="0.00667"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
  </link>
  <link name="massless">
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="triangle"/>
    <limit lower="2" upper="-2" velocity="3" effort="50"/></joint>
  <joint name="j2" type="continuous"><parent link="triangle"/><child link="negative"/></joint>
  <joint name="j3" type="continuous"><parent link="negative"/><child link="point"/></joint>
  <joint name="j4" type="continuous"><parent link="point"/><child link="good"/></joint>
  <joint name="j5" type="continuous"><parent link="good"/><child link="massless"/></joint>
</robot>
)";

struct BrokenFile {
  testing::TempFolder folder;
  std::string path = folder.file("robot.urdf");
  Model model;
  explicit BrokenFile(const std::string& text = kBroken) {
    writeFileAtomically(path, text);
    ReadOptions options;
    options.lump_fixed = false;
    model = readRobot(path, options);
  }
};

// After the repair the file passes the linter; masses and centres are kept where they were
// possible, and the sound link is untouched.
TEST(Repair, RepairsEveryFaultAndNothingElse) {
  const BrokenFile broken;
  EXPECT_EQ(countOf(lint(broken.model), Severity::kError), 5);
  const Repair repair = repaired(broken.model);
  ASSERT_EQ(repair.links.size(), 4u);
  ASSERT_EQ(repair.joints.size(), 1u);
  const std::string text = repairedUrdf(repair);
  const Model after = readUrdfText(text, "repaired.urdf");
  EXPECT_EQ(countOf(lint(after), Severity::kError), 0) << findingsText(lint(after), false);
  for (const LinkRepair& link : repair.links) {
    const InertialParameters& written = after.links[static_cast<size_t>(link.link)].inertia;
    EXPECT_GE(relativeMargin(written, link.reference), 0.05 - kDigits);
    if (link.mass_kept) {
      EXPECT_EQ(written.mass, link.before.mass);
    }
    if (link.com_kept && link.mass_kept) {
      EXPECT_NEAR((written.com() - link.before.com()).norm(), 0.0, kDigits);
    }
  }
  const int good = after.linkIndex("good");
  EXPECT_EQ(after.links[static_cast<size_t>(good)].inertia.vector(),
            broken.model.links[static_cast<size_t>(good)].inertia.vector());
  EXPECT_NE(text.find("<robot name=\"broken\"> <!-- kept -->"), std::string::npos);
  EXPECT_NE(text.find("rpy=\"0.1 0.2 0.3\""), std::string::npos);
  // 4 kg in 0.004 m^3 is the only density known: the massless sphere gets it
  const int sphere = after.linkIndex("massless");
  EXPECT_NEAR(after.links[static_cast<size_t>(sphere)].inertia.mass,
              1000.0 * 4.0 / 3.0 * M_PI * 1.25e-4, kDigits);
  EXPECT_EQ(after.joints[0].limits.lower, -2.0);
  EXPECT_EQ(after.joints[0].limits.upper, 2.0);
}

// Of the example only the two impossible numbers of the tensor and the exchanged limits change:
// what is kept, the centre of mass included, keeps its spelling.
TEST(Repair, KeepsTheSpellingOfWhatItKeeps) {
  const std::string path = PROPRIO_SOURCE_DIR "/examples/impossible_arm.urdf";
  ReadOptions options;
  options.lump_fixed = false;
  const std::string text = repairedUrdf(repaired(readRobot(path, options)));
  std::istringstream before(readFile(path)), after(text);
  std::string old_line, new_line, changed;
  while (std::getline(before, old_line) && std::getline(after, new_line)) {
    if (old_line == new_line) continue;
    const size_t start = new_line.find('<');
    changed += new_line.substr(start, new_line.find(' ', start) - start);
  }
  EXPECT_EQ(changed, "<inertia<limit");
}

// Products of inertia that a file leaves out are zero and are written, in links that are repaired
// and in sound ones; the repaired file says the same about the sound ones.
TEST(Repair, CompletesInertias) {
  const std::string half = "<inertia ixx='0.0567' iyy='0.0567' ixz='0.001' izz='0.00667'/>";
  const BrokenFile broken(fmt::format(
      "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='4'/>{}</inertial>"
      "</link><link name='c'><inertial><mass value='4'/><inertia ixx='0.1' iyy='0.01' izz='0.01'/>"
      "</inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
      "</joint><joint name='k' type='continuous'><parent link='b'/><child link='c'/></joint>"
      "</robot>",
      half));
  const Repair repair = repaired(broken.model);
  EXPECT_EQ(repair.completed, (std::vector<int>{1, 2}));
  EXPECT_NE(repairText(repair, false).find("left out, written: b, c"), std::string::npos);
  const std::string text = repairedUrdf(repair);
  EXPECT_NE(text.find("<inertia ixx='0.0567' iyy='0.0567' ixz='0.001' izz='0.00667' ixy='0' "
                      "iyz='0'/>"),
            std::string::npos)
      << text;
  std::vector<ReadNote> notes;
  const Model after = readUrdfText(text, "after.urdf", &notes);
  EXPECT_TRUE(notes.empty()) << notes[0].sentence;
  EXPECT_EQ(after.links[1].inertia.vector(), broken.model.links[1].inertia.vector());
  EXPECT_EQ(countOf(lint(after), Severity::kError), 0);
}

// Limits that robot.yaml states are not written into the URDF, whose own are good; their finding
// remains. A payload's inertia is no business of the URDF either.
TEST(Repair, LeavesWhatRobotYamlStates) {
  const BrokenFile sound(readFile(PROPRIO_SOURCE_DIR "/examples/robots/planar_2r.urdf"));
  const std::string joint = sound.model.joints.back().name, link = sound.model.links.back().name;
  const std::string path = sound.folder.file("r.yaml");
  writeFileAtomically(
      path,
      fmt::format("version: 1\nurdf: robot.urdf\njoints:\n"
                  "  {}: {{limits: {{lower: 2, upper: 1}}}}\npayloads:\n"
                  "- {{name: box, link: {}, mass: 1, inertia_at_com: [1, 0, 0, 0.1, 0, 0.1]}}\n",
                  joint, link));
  ReadOptions options;
  options.lump_fixed = false;
  const Repair repair = repaired(readRobot(path, options));
  EXPECT_EQ(repairedUrdf(repair), readFile(sound.path));
  EXPECT_EQ(countOf(lint(repair.model), Severity::kError), 2);
}

// A larger margin changes more, and the change reported is the distance in the metric.
TEST(Repair, ReportsTheChange) {
  const BrokenFile broken;
  const Repair small = repaired(broken.model, {0.01}), large = repaired(broken.model, {0.2});
  EXPECT_LT(small.links[0].change, large.links[0].change);
  EXPECT_NEAR(small.links[0].change,
              metricDistance(small.links[0].before, small.links[0].after, small.links[0].reference),
              kDigits);
  EXPECT_LT(small.links[0].margin_before, 0.0);
  EXPECT_NEAR(small.links[0].margin_after, 0.01, kDigits);
  const std::string text = repairText(small, false);
  for (const char* name : {"triangle", "negative", "point", "massless", "j1"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(repairJson(small)).size(), 4u);
}

/// One link of this mass and inertia about its centre of mass on a moving joint.
std::string oneLink(double mass, const Matrix3d& inertia, const Vector3d& com = Vector3d::Zero()) {
  return fmt::format(
      "<robot name='r'><link name='base'/><link name='body'>\n<inertial><origin xyz='{} {} {}' "
      "rpy='0.1 0.2 0.3'/><mass value='{}'/><inertia ixx='{}' ixy='{}' ixz='{}' iyy='{}' iyz='{}' "
      "izz='{}'/></inertial></link><joint name='j' type='continuous'><parent link='base'/>"
      "<child link='body'/></joint></robot>",
      com.x(), com.y(), com.z(), mass, inertia(0, 0), inertia(0, 1), inertia(0, 2), inertia(1, 1),
      inertia(1, 2), inertia(2, 2));
}

/// No finding about what is possible, after writing and reading again.
void expectPossible(const Repair& repair, const std::string& about) {
  const std::vector<Finding> findings = lint(readUrdfText(repairedUrdf(repair), "repaired.urdf"));
  EXPECT_EQ(countOf(findings, Severity::kError), 0) << about << findingsText(findings, false);
  for (const Finding& finding : findings)
    EXPECT_FALSE(finding.rule.starts_with("inertia-")) << about << findingsText(findings, false);
}

// Inertias in wrong units are many orders of magnitude above the reference: what is written keeps a
// margin relative to the body itself, too, whatever the scale.
TEST(Repair, AnyScaleIsPossibleWhenReadAgain) {
  RandomBodies bodies;
  std::uniform_real_distribution<double> log_mass(-4, 2), log_inertia(-6, 6), log_reach(-3, 1);
  int broken = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const double mass = std::pow(10.0, log_mass(bodies.random));
    const Matrix3d inertia = bodies.symmetric(std::pow(10.0, log_inertia(bodies.random)));
    const Vector3d com = bodies.vector(std::pow(10.0, log_reach(bodies.random)));
    const std::string text = oneLink(mass, inertia, com);
    const BrokenFile file(text);
    const Repair repair = repaired(file.model);
    broken += repair.links.empty() ? 0 : 1;
    expectPossible(repair, text);
  }
  EXPECT_GT(broken, 150);
  for (const Vector3d& moments : {Vector3d(1e6, 1e5, 1e5), Vector3d(1e5, -1e5, 1e5)}) {
    const BrokenFile file(oneLink(2.0, moments.asDiagonal()));
    expectPossible(repaired(file.model), file.path);
  }
}

// Next to no mass: principal inertias do not fall below what simulators take.
TEST(Repair, TinyMasses) {
  for (const double mass : {1e-6, 1e-9, 1e-12}) {
    const BrokenFile file(oneLink(mass, Matrix3d::Zero()));
    const Repair repair = repaired(file.model);
    ASSERT_EQ(repair.links.size(), 1u);
    EXPECT_EQ(repair.links[0].after.mass, mass);
    const Matrix3d inertia = repair.links[0].after.inertiaAtCom();
    EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix3d>(inertia).eigenvalues()[0], 0.999e-12);
    expectPossible(repair, fmt::to_string(mass));
  }
}

// A mass for which no inertia can be computed is refused with file, line and link.
TEST(Repair, AbsurdMasses) {
  for (const double mass : {1e-20, 1e-300, 1e200}) {
    const BrokenFile file(oneLink(mass, -0.1 * Matrix3d::Identity(), {0.1, 0.2, 0.3}));
    try {
      repaired(file.model);
      ADD_FAILURE() << mass;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                fmt::format("{}:1: link 'body': its mass is {} kg, 0.3742 m from the link's "
                            "origin, for which no possible inertia can be computed; give them in "
                            "kg and m",
                            file.path, mass));
    }
  }
}

// A sound robot is written back byte for byte; one without a URDF is refused.
TEST(Repair, NothingToDo) {
  const std::string source =
      readFile(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/planar_2r.urdf");
  const BrokenFile sound(source);
  EXPECT_EQ(repairedUrdf(repaired(sound.model)), source);
  EXPECT_EQ(repairText(repaired(sound.model), false), "  nothing to repair\n");
  const Model dh = readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/tx40.yaml");
  EXPECT_THROW(repairedUrdf(repaired(dh)), Error);
}

// A vendor's file with three impossible links, and points of mass that simulators refuse, passes
// after the repair.
TEST(Repair, RealRobot) {
  PROPRIO_REQUIRE_DATA("tiago/tiago.urdf");
  ReadOptions options;
  options.lump_fixed = false;
  const Model tiago = readRobot((dataFolder() / "tiago/tiago.urdf").string(), options);
  const std::vector<Finding> findings = lint(tiago);
  EXPECT_EQ(countOf(findings, Severity::kError), 3);
  const auto points = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::kWarning && finding.rule == "inertia-positive";
  });
  const Repair repair = repaired(tiago);
  EXPECT_EQ(repair.links.size(), 3u + static_cast<size_t>(points));
  const Model after = readUrdfText(repairedUrdf(repair), "tiago.urdf");
  EXPECT_EQ(countOf(lint(after), Severity::kError), 0);
}

}  // namespace
}  // namespace proprio
