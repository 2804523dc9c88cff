// Three routes to the base parameters, compared with each other and with published results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/link_motion.h"
#include "proprio/dynamics/modified_dh.h"
#include "proprio/dynamics/regrouping_rules.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/robot_with_base.h"
#include "proprio/dynamics/testing/special_models.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/data_folder.h"

namespace proprio {
namespace {

Model bundled(const std::string& name) {
  return readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name + ".yaml");
}

/// Keeps the inertial parameters only.
Model bare(Model model) {
  for (Joint& joint : model.joints) {
    joint.drive = {};
    joint.friction = {};
    joint.spring = {};
  }
  model.couplings.clear();
  return finalize(model);
}

std::vector<std::string> groupings(const RobotWithBase& robot) {
  const BaseParameters base = robot.exact();
  const std::vector<std::string> labels = *shortLabels(robot.tree, *robot.layout);
  std::vector<std::string> texts;
  for (int i = 0; i < base.count(); ++i) texts.push_back(groupingText(base, i, labels));
  return texts;
}

// Industrial arms with ten inertial parameters, rotor inertia, viscous and Coulomb friction per
// joint have 52 base parameters.
TEST(Identifiability, IndustrialArmsHave52) {
  EXPECT_EQ(agreedCount(RobotWithBase(bundled("tx40")), true), 52);
  EXPECT_EQ(agreedCount(RobotWithBase(bundled("tx40_urdf")), true), 52);
  EXPECT_EQ(agreedCount(RobotWithBase(bundled("rv2sq")), true), 52);
}

// Away from standstill 1 is the positive side of the sign less the negative one: Coulomb friction
// by sides and an offset, or a spring's preload, are two parameters and not three.
TEST(Identifiability, OffsetIsADifferenceOfSides) {
  Model model = bare(bundled("planar_2r"));
  const int count = agreedCount(RobotWithBase(model), true);
  FrictionModel& friction = model.joints[0].friction;
  const auto add = [&friction](FrictionTermKind kind) {
    friction.terms.emplace_back();
    friction.terms.back().kind = kind;
  };
  add(FrictionTermKind::kCoulombPositive);
  add(FrictionTermKind::kCoulombNegative);
  add(FrictionTermKind::kOffset);
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(model)), true), count + 2);
  add(FrictionTermKind::kCoulomb);
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(model)), true), count + 2);
  friction.smooth_sign = SmoothSign::kTanh;
  friction.smooth_gain = 20.0;
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(model)), true), count + 3);
}

// The second axis of an arm on a vertical one is tilted by very little: columns that only the tilt
// gives are small, and their rounding is not taken for a parameter.
TEST(Identifiability, SmallTiltsAreNotMiscounted) {
  for (const double tilt : {3e-5, 1e-4, 1e-3}) {
    SCOPED_TRACE(tilt);
    Model model = bare(bundled("planar_2r"));
    model.gravity = Vector3d(0, 0, -9.81);
    for (Joint& joint : model.joints) joint.axis = Vector3d::UnitZ();
    model.joints[1].X_FJ.R = rotationFromRpy({tilt, 0, 0});
    const RobotWithBase robot(finalize(std::move(model)));
    EXPECT_EQ(robot.sampled().count(), robot.exact().count());
    const Model& typed = robot.tree.model();  // tilts like these are no angles that were meant
    EXPECT_TRUE(snappedJoints(typed, withSnappedGeometry(typed)).empty());
  }
}

// The coupled wrist of the TX40 adds two parameters (friction of motor 6), three with its inertia;
// six offsets make 61.
TEST(Identifiability, CoupledWristAdds) {
  Model offsets = bundled("tx40_coupled");
  EXPECT_EQ(agreedCount(RobotWithBase(offsets), true), 61);
  Model three = offsets;
  for (Joint& joint : three.joints) {
    std::erase_if(joint.friction.terms,
                  [](const FrictionTerm& t) { return t.kind == FrictionTermKind::kOffset; });
  }
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(three)), true), 55);
  Model two = three;
  const auto coupling = [](const std::string& name, Signal signal) {
    return CouplingColumn{name, "", 0.0, {{4, signal, {5}, {1.0}}, {5, signal, {4}, {1.0}}}};
  };
  two.couplings = {coupling("Fvm6", Signal::kVelocity), coupling("Fcm6", Signal::kSignVelocity)};
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(two)), true), 54);
}

// The seven-axis arm: 43 inertial, 64 with three friction parameters per joint, 69 with rotors.
TEST(Identifiability, SevenAxisArm) {
  Model model = bundled("iiwa14");
  EXPECT_EQ(agreedCount(RobotWithBase(model), true), 64);
  EXPECT_EQ(agreedCount(RobotWithBase(bare(model)), true), 43);
  for (Joint& joint : model.joints) joint.drive.declared = velocityCount(joint.type) == 1;
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(model)), true), 69);
}

// Its 17 regrouped parameters are the published list, and the other 26 stand alone.
TEST(Identifiability, SevenAxisArmGroupingsAreThePublishedOnes) {
  std::map<std::string, std::string> expected = {
      {"ZZ1", "ZZ1 + YY2"},
      {"XX2", "XX2 - YY2 + YY3 + 0.84 MZ3 + 0.1764 (m3 + m4 + m5 + m6 + m7)"},
      {"ZZ2", "ZZ2 + YY3 + 0.84 MZ3 + 0.1764 (m3 + m4 + m5 + m6 + m7)"},
      {"MY2", "MY2 - MZ3 - 0.42 (m3 + m4 + m5 + m6 + m7)"},
      {"XX3", "XX3 - YY3 + YY4"},
      {"ZZ3", "ZZ3 + YY4"},
      {"MY3", "MY3 - MZ4"},
      {"XX4", "XX4 - YY4 + YY5 + 0.8 MZ5 + 0.16 (m5 + m6 + m7)"},
      {"ZZ4", "ZZ4 + YY5 + 0.8 MZ5 + 0.16 (m5 + m6 + m7)"},
      {"MY4", "MY4 + MZ5 + 0.4 (m5 + m6 + m7)"},
      {"XX5", "XX5 - YY5 + YY6"},
      {"ZZ5", "ZZ5 + YY6"},
      {"MY5", "MY5 + MZ6"},
      {"XX6", "XX6 - YY6 + YY7"},
      {"ZZ6", "ZZ6 + YY7"},
      {"MY6", "MY6 - MZ7"},
      {"XX7", "XX7 - YY7"}};
  for (int link = 2; link <= 7; ++link) {
    for (const char* name : {"XY", "XZ", "YZ", "MX"}) {
      const std::string label = fmt::format("{}{}", name, link);
      expected[label] = label;
    }
  }
  for (const char* name : {"MY7", "ZZ7"}) expected[name] = name;
  ASSERT_EQ(expected.size(), 43u);
  for (const std::string& text : groupings(RobotWithBase(bare(bundled("iiwa14"))))) {
    const std::string key = text.substr(0, text.find(' '));
    ASSERT_EQ(expected.count(key), 1u) << text;
    EXPECT_EQ(text, expected[key]);
  }
}

/// "Izz1 + 1.0*Ia1 + 0.05*m3" of another toolkit as coefficients by our short names.
std::map<std::string, double> publishedGrouping(const std::string& text) {
  std::map<std::string, double> terms;
  const std::regex term(R"(([+-]?)\s*(?:([0-9.]+)\*)?([A-Za-z]+)([0-9]))");
  for (std::sregex_iterator it(text.begin(), text.end(), term), end; it != end; ++it) {
    const std::smatch& m = *it;
    const double size = m[2].length() > 0 ? std::stod(m[2]) : 1.0;
    std::string name = m[3];
    const std::map<std::string, std::string> friction = {{"fv", "Fv"}, {"fs", "Fc"}, {"off", "Fo"}};
    if (name.size() == 3 && name[0] == 'I' && name[1] != 'a') {
      name = {static_cast<char>(std::toupper(name[1])), static_cast<char>(std::toupper(name[2]))};
    } else if (name.size() == 2 && name[0] == 'm') {
      name = {'M', static_cast<char>(std::toupper(name[1]))};
    } else if (friction.count(name) > 0) {
      name = friction.at(name);
    }
    terms[name + m[4].str()] = m[1] == "-" ? -size : size;
  }
  return terms;
}

// The base parameters of the TX40 are, term by term, those that an independent toolkit published
// (it left Ia6 out).
TEST(Identifiability, Tx40EqualsThePublishedTable) {
  PROPRIO_REQUIRE_DATA("tx40/reference_base_parameters.csv");
  std::ifstream file(dataFolder() / "tx40/reference_base_parameters.csv");
  std::map<std::string, std::map<std::string, double>> published;
  for (std::string line; std::getline(file, line);) {
    const std::string text = line.substr(0, line.find(','));
    if (text.empty()) continue;
    published[text.substr(0, text.find(' '))] = publishedGrouping(text);
  }
  ASSERT_EQ(published.size(), 60u);
  const RobotWithBase robot(bundled("tx40_coupled"));
  const std::vector<std::string> labels = *shortLabels(robot.tree, *robot.layout);
  const Eigen::MatrixXd B = baseMatrix(robot.exact());
  std::vector<std::map<std::string, double>> ours;
  for (Eigen::Index i = 0; i < B.rows(); ++i) {
    std::map<std::string, double> terms;
    for (Eigen::Index k = 0; k < B.cols(); ++k) {
      // the table has six decimals
      if (B(i, k) != 0.0) terms[labels[static_cast<size_t>(k)]] = std::round(B(i, k) * 1e6) / 1e6;
    }
    ours.push_back(terms);
  }
  for (const auto& [name, terms] : published) {
    EXPECT_NE(std::find(ours.begin(), ours.end(), terms), ours.end()) << name;
  }
}

// A humanoid of 30 revolute joints: 7 n + 10 = 220 inertial base parameters, whole or from the base
// wrench alone; 7 n = 210 from joint torques alone.
TEST(Identifiability, HumanoidHas220) {
  const RobotWithBase robot(bare(bundled("humanoid")));
  EXPECT_EQ(agreedCount(robot, false), 220);
  Measurement joints, base;
  joints.base_wrench = false;
  base.joint_torques = false;
  EXPECT_EQ(robot.exact(joints).count(), 210);
  EXPECT_EQ(robot.exact(base).count(), 220);
}

/// A floating tree of revolute joints in general position, some links cut by force-torque sensors.
Model sensedTree(unsigned seed, int* joints, int* sensors) {
  RandomModelOptions options{.joints = 9};
  options.prismatic = 0.0;
  options.fixed = 0.25;
  options.oblique = 1.0;
  options.branching = 0.4;
  options.floating = true;
  Model model = randomModel(seed, options);
  *joints = *sensors = 0;
  for (size_t j = 0; j < model.joints.size(); ++j) {
    if (model.joints[j].type != JointType::kFixed) {
      ++*joints;
      continue;
    }
    Sensor sensor;
    sensor.name = "ft_" + std::to_string(++*sensors);
    sensor.kind = SensorKind::kForceTorque;
    sensor.joint = static_cast<int>(j);
    sensor.link = model.joints[j].second;
    model.sensors.push_back(sensor);
  }
  return finalize(model);
}

// Free-floating trees in general position: 7 n + 10 from all rows, 7 n from joint torques,
// 7 n + 10 (sensors + 1) with force-torque sensors; sampled and exact agree.
TEST(Identifiability, FloatingTreesHaveTheirDimensions) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    int n = 0, sensors = 0;
    const RobotWithBase robot(sensedTree(seed, &n, &sensors));
    Measurement whole, joints, base, everything, wrenches;
    joints.base_wrench = false;
    base.joint_torques = false;
    everything.force_torque_sensors = true;
    wrenches.force_torque_sensors = true;
    wrenches.joint_torques = false;
    const std::pair<Measurement, int> cases[] = {{whole, 7 * n + 10},
                                                 {joints, 7 * n},
                                                 {base, 7 * n + 10},
                                                 {everything, 7 * n + 10 * (sensors + 1)},
                                                 {wrenches, 7 * n + 10 * (sensors + 1)}};
    for (const auto& [measurement, expected] : cases) {
      const BaseParameters sampled = robot.sampled(measurement), exact = robot.exact(measurement);
      EXPECT_EQ(exact.count(), expected);
      EXPECT_EQ(sampled.count(), expected);
      EXPECT_LT(groupingDistance(sampled, exact), kBaseTolerance);
    }
  }
}

bool contains(const RobotWithBase& robot, const BaseParameters& larger,
              const BaseParameters& smaller) {
  Eigen::MatrixXd rows(larger.count() + smaller.count(), robot.layout->size());
  rows << baseMatrix(larger), baseMatrix(smaller);
  ReductionOptions options;
  options.preference = defaultPreference(robot.tree, *robot.layout);
  const Eigen::VectorXd sizes = Eigen::VectorXd::Ones(robot.layout->size());
  return reduceRows(robot.layout, rows, sizes, options).count() == larger.count();
}

// What joint torques can identify lies in what the base wrench can (the base rows alone are as good
// as all rows), and all of it in what force-torque sensors can.
TEST(Identifiability, SubspacesAreNested) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    int n = 0, sensors = 0;
    const RobotWithBase robot(sensedTree(seed, &n, &sensors));
    Measurement whole, joints, base, wrenches;
    joints.base_wrench = false;
    base.joint_torques = false;
    wrenches.force_torque_sensors = true;
    wrenches.joint_torques = false;
    const BaseParameters all = robot.exact(whole), from_base = robot.exact(base);
    EXPECT_LT(groupingDistance(all, from_base), kBaseTolerance);
    EXPECT_TRUE(contains(robot, from_base, robot.exact(joints)));
    EXPECT_TRUE(contains(robot, robot.exact(wrenches), all));
    EXPECT_FALSE(contains(robot, robot.exact(joints), all));
  }
}

// Sampled and exact analysis agree on every kind of model without mimic joints.
TEST(Identifiability, SampledEqualsExactOnEveryKindOfModel) {
  for (const ZooEntry& entry : modelZoo(false)) {
    SCOPED_TRACE(entry.name);
    const RobotWithBase robot(entry.model);
    if (robot.layout->size() > 400) continue;
    agreedCount(robot, false);
  }
}

// And on robots in special position, with any choice of measured rows; the rules too, where they
// apply. The sampled gap between kept and dropped columns is wide.
TEST(Identifiability, AllRoutesAgreeInSpecialPositions) {
  int by_rules = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const RobotWithBase robot(specialModel(seed, seed % 2 == 0));
    RandomModelSource random(seed + 1000);
    Measurement measurement;
    const bool all_rows = random.chance(0.6);
    if (!all_rows) {
      for (int j = 0; j < static_cast<int>(robot.model->joints.size()); ++j) {
        if (random.chance(0.6)) measurement.joints.push_back(j);
      }
      if (random.chance(0.5)) measurement.base_wrench = random.chance(0.5);
    }
    const BaseParameters sampled = robot.sampled(measurement), exact = robot.exact(measurement);
    EXPECT_EQ(sampled.count(), exact.count());
    EXPECT_LT(groupingDistance(sampled, exact), kBaseTolerance);
    EXPECT_GT(sampled.smallest_kept, 1e-5);
    EXPECT_LT(sampled.largest_dropped, 1e-11);
    if (!all_rows) continue;
    if (const auto rules = regroupedBaseParameters(robot.tree, robot.layout)) {
      ++by_rules;
      EXPECT_EQ(rules->count(), exact.count());
      EXPECT_LT(groupingDistance(*rules, exact), kBaseTolerance);
    }
  }
  EXPECT_GT(by_rules, 50);
}

// A vertical sliding joint: its weight cannot be told from an offset, its mass not from a rotor.
TEST(Identifiability, WeightAndOffsetCanCoincide) {
  Model model;
  model.links = {makeLink("base", 1, {0, 0, 0}, {1, 1, 1}),
                 makeLink("lift", 2, {0, 0, 0}, {1, 1, 1})};
  model.joints = {makeJoint("slide", JointType::kPrismatic, 0, 1, Vector3d::UnitZ(), {0, 0, 1})};
  model.joints[0].drive.declared = true;
  addFriction(model.joints[0], 1.0, 1.0, 0.1);
  const RobotWithBase robot(finalize(model));
  EXPECT_EQ(agreedCount(robot, false), 4);
  EXPECT_EQ(groupings(robot),
            (std::vector<std::string>{"m1 + Ia1", "Fv1", "Fc1", "Fo1 - 9.81 Ia1"}));
  // sliding horizontally there is no weight, and only mass and rotor are one
  model.joints[0].axis = Vector3d::UnitX();
  EXPECT_EQ(groupings(RobotWithBase(finalize(model))),
            (std::vector<std::string>{"m1 + Ia1", "Fv1", "Fc1", "Fo1"}));
}

// Friction terms that are the same function of the velocity share one parameter.
TEST(Identifiability, EqualFrictionFunctionsAreGrouped) {
  Model model = planar2R();
  Joint& joint = model.joints[0];
  joint.friction.terms = {{FrictionTermKind::kViscous, "viscous", 1.0},
                          {FrictionTermKind::kViscousPositive, "viscous_positive", 1.0},
                          {FrictionTermKind::kViscousNegative, "viscous_negative", 1.0},
                          {FrictionTermKind::kCoulomb, "coulomb", 1.0},
                          {FrictionTermKind::kPower, "linear", 1.0, 1.0, 1.0},
                          {FrictionTermKind::kPower, "dry", 1.0, 1.0, 0.0},
                          {FrictionTermKind::kPower, "cubic", 1.0, 1.0, 3.0},
                          {FrictionTermKind::kStribeck, "stribeck", 1.0, 0.2, 2.0}};
  const RobotWithBase robot(finalize(model));
  EXPECT_EQ(agreedCount(robot, true), agreedCount(RobotWithBase(bare(model)), true) + 5);
}

// The torque depends on the base parameters only: chi may be replaced by the standard parameters
// with chi_D = 0 that have the same beta.
TEST(Identifiability, TorqueDependsOnBaseParametersOnly) {
  for (const char* name : {"tx40_coupled", "iiwa14", "humanoid", "mobile_manipulator"}) {
    SCOPED_TRACE(name);
    const RobotWithBase robot(bundled(name));
    const BaseParameters base = robot.exact();
    const Parameters declared = declaredParameters(robot.model);
    const Eigen::VectorXd chi =
        Eigen::Map<const Eigen::VectorXd>(declared.values.data(), robot.layout->size());
    SplitParameters split = splitParameters(base, chi);
    EXPECT_LT((joinParameters(base, split) - chi).norm(), 1e-12 * chi.norm());
    split.chi_d.setZero();
    const Eigen::VectorXd other = joinParameters(base, split);
    EXPECT_GT((other - chi).norm(), 0.1);
    Workspace workspace(robot.tree);
    Eigen::MatrixXd Y(robot.tree.velocityCount(), robot.layout->size());
    for (unsigned seed = 0; seed < 5; ++seed) {
      const RandomState x = randomState(robot.tree, seed);
      augmentedRegressor(robot.tree, *robot.layout, workspace, x.q, x.v, x.a, Y);
      EXPECT_LT((Y * (other - chi)).norm(), 1e-10 * (Y * chi).norm());
    }
  }
}

// Another preference keeps other parameters, the same space and the same statuses.
TEST(Identifiability, PreferenceChoosesTheRepresentatives) {
  const RobotWithBase robot(bare(bundled("iiwa14")));
  ReductionOptions reversed;
  reversed.preference = defaultPreference(robot.tree, *robot.layout);
  std::reverse(reversed.preference.begin(), reversed.preference.end());
  const BaseParameters base = robot.exact();
  const BaseParameters other = structuralBaseParameters(robot.tree, robot.layout, {}, reversed);
  EXPECT_EQ(other.count(), 43);
  EXPECT_NE(other.independent, base.independent);
  EXPECT_TRUE(contains(robot, base, other));
  EXPECT_EQ(parameterStatuses(base), parameterStatuses(other));
  reversed.preference.pop_back();
  EXPECT_THROW(structuralBaseParameters(robot.tree, robot.layout, {}, reversed), Error);
}

// Statuses of the seven-axis arm: 26 identifiable alone; of the fixed base nothing has an effect.
TEST(Identifiability, StatusesCountUp) {
  const RobotWithBase robot(bare(bundled("iiwa14")));
  int alone = 0;
  const std::vector<ParameterStatus> statuses = parameterStatuses(robot.exact());
  for (const ParameterStatus status : statuses) alone += status == ParameterStatus::kIdentifiable;
  EXPECT_EQ(alone, 26);
  for (int k = 0; k < 10; ++k) {
    const int index = robot.layout->linkOffset(robot.tree.baseLink()) + k;
    EXPECT_EQ(statuses[static_cast<size_t>(index)], ParameterStatus::kWithoutEffect);
  }
}

// Right angles typed as 1.5708 make axes that are not quite perpendicular, and a rotor inertia that
// only this error makes identifiable; snapped, the arm has the count that was meant.
TEST(Identifiability, TypedRightAnglesAreSnapped) {
  Model model = bare(bundled("iiwa14"));
  for (Joint& joint : model.joints) {
    joint.drive.declared = true;
    Vector3d rpy = rpyFromRotation(joint.X_FJ.R);
    for (double& angle : rpy) angle = std::round(angle * 1e4) / 1e4;
    joint.X_FJ.R = rotationFromRpy(rpy);
  }
  const Model typed = finalize(model);
  EXPECT_EQ(RobotWithBase(typed).exact().count(), 49);
  EXPECT_EQ(agreedCount(RobotWithBase(withSnappedGeometry(typed)), true), 48);
}

// URDF files of real robots: sampled and exact agree.
TEST(Identifiability, RoutesAgreeOnVendorsRobots) {
  for (const char* file : {"tx40/tx40.urdf", "kuka_lwr4/kuka_lwr4.urdf", "tiago/tiago.urdf"}) {
    PROPRIO_REQUIRE_DATA(file);
    SCOPED_TRACE(file);
    const Model model = withSnappedGeometry(readRobot((dataFolder() / file).string()));
    const RobotWithBase robot(lumpFixedJoints(model));
    agreedCount(robot, false);
  }
}

// Modified DH parameters read off the geometry reproduce the poses of all links.
TEST(ModifiedDh, ReproducesTheForwardKinematics) {
  std::vector<Model> models = {bundled("tx40"), bundled("tx40_urdf"), bundled("rv2sq"),
                               bundled("iiwa14"), bundled("planar_2r")};
  for (unsigned seed = 1; seed <= 20; ++seed) models.push_back(specialModel(seed, true));
  for (const Model& model : models) {
    SCOPED_TRACE(model.name);
    const RobotWithBase robot(model);
    const std::vector<ModifiedDhLink> links = modifiedDh(robot.tree);
    ASSERT_EQ(static_cast<int>(links.size()), robot.tree.velocityCount());
    const RandomState x = randomState(robot.tree, 3);
    std::vector<LinkMotion> motions;
    linkMotions(robot.tree, x.q, x.v, x.a, &motions);
    // poses relative to the first moving link
    Pose X;
    Pose X_WM;
    for (size_t j = 0; j < links.size(); ++j) {
      X = X * modifiedDhPose(links[j], x.q[robot.tree.positionIndex(links[j].joint)]);
      for (const ModifiedDhLink::Part& part : links[j].parts) {
        const Pose X_WL = motions[static_cast<size_t>(part.link)].X_WL;
        if (j == 0 && &part == &links[j].parts.front()) X_WM = X_WL * (X * part.X_ML).inverse();
        const Pose predicted = X_WM * X * part.X_ML;
        EXPECT_LT((predicted.matrix() - X_WL.matrix()).norm(), 1e-12);
      }
    }
  }
}

// A description in DH form gets its own numbers back; other trees are refused with a reason.
TEST(ModifiedDh, GivesDeclaredTablesBack) {
  const std::vector<ModifiedDhLink> links = modifiedDh(RobotWithBase(bundled("rv2sq")).tree);
  const double quarter = std::acos(-1.0) / 2.0;
  const double alpha[] = {0, -quarter, 0, quarter, -quarter, quarter};
  const double d[] = {0, 0, 0.23, -0.05, 0, 0}, r[] = {0, 0, 0, 0.27, 0, 0.07};
  ASSERT_EQ(links.size(), 6u);
  for (size_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(links[j].alpha, alpha[j], 1e-12);
    EXPECT_NEAR(links[j].d, d[j], 1e-12);
    EXPECT_NEAR(links[j].r, r[j], 1e-12);
  }
  std::string reason;
  EXPECT_TRUE(modifiedDh(RobotWithBase(bundled("humanoid")).tree, &reason).empty());
  EXPECT_EQ(reason, "the base floats");
  EXPECT_TRUE(modifiedDh(RobotWithBase(bundled("mobile_manipulator")).tree, &reason).empty());
  EXPECT_EQ(reason, "not all joints are revolute");
}

// Measuring what is not there is refused by name.
TEST(Measurement, MistakesAreNamed) {
  const RobotWithBase robot(planar2R());
  Measurement measurement;
  measurement.joints = {7};
  try {
    measuredRows(robot.tree, measurement);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no joint number 7"), std::string::npos);
  }
}

}  // namespace
}  // namespace proprio
