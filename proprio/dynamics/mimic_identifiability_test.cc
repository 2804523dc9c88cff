// Base parameters of robots with mimic joints: the exact analysis against the sampled one, against
// brute force and against closed forms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/mimic_conditions_internal.h"
#include "proprio/dynamics/structural_spaces_internal.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/robot_with_base.h"
#include "proprio/dynamics/testing/special_models.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// The same robot with all joints free.
Model withoutFollowing(Model model) {
  for (Joint& joint : model.joints) joint.mimic.reset();
  return finalize(model);
}

/// Brute force, without any of the library's handling of mimic joints: the robot with all joints
/// free is asked for its regressor where the followers are, and the rows are added up with their
/// ratios (virtual work). Rows x parameters.
Eigen::MatrixXd contractedRegressor(const RobotWithBase& robot, int samples) {
  const RobotWithBase loose(withoutFollowing(*robot.model));
  const int rows = robot.tree.velocityCount(), base = robot.tree.floating() ? 6 : 0;
  Eigen::MatrixXd stacked(samples * rows, robot.layout->size());
  Eigen::MatrixXd Y(loose.tree.velocityCount(), loose.layout->size());
  Workspace workspace(loose.tree);
  for (int k = 0; k < samples; ++k) {
    RandomState free = randomState(robot.tree, static_cast<unsigned>(k));
    // both signs of every velocity, so that friction shows
    RandomState all = randomState(loose.tree, static_cast<unsigned>(k));
    all.v.head(base) = free.v.head(base);
    all.a.head(base) = free.a.head(base);
    all.q.head(base + base / 6) = free.q.head(base + base / 6);
    Eigen::MatrixXd contraction = Eigen::MatrixXd::Zero(rows, loose.tree.velocityCount());
    contraction.leftCols(base).setIdentity();
    for (int j = 0; j < static_cast<int>(robot.model->joints.size()); ++j) {
      const Joint& joint = robot.model->joints[static_cast<size_t>(j)];
      if (joint.type == JointType::kFixed) continue;
      // follow the declarations by name up to a joint that is free
      double ratio = 1.0, offset = 0.0;
      int leader = j;
      while (robot.model->joints[static_cast<size_t>(leader)].mimic) {
        const Mimic& mimic = *robot.model->joints[static_cast<size_t>(leader)].mimic;
        offset += ratio * mimic.offset;
        ratio *= mimic.ratio;
        leader = robot.model->jointIndex(mimic.leader);
      }
      const int q = robot.tree.positionIndex(leader), v = robot.tree.velocityIndex(leader);
      const int all_q = loose.tree.positionIndex(j), all_v = loose.tree.velocityIndex(j);
      for (int i = 0; i < positionCount(joint.type); ++i) {
        all.q[all_q + i] = ratio * free.q[q + i] + offset;
      }
      for (int i = 0; i < velocityCount(joint.type); ++i) {
        all.v[all_v + i] = ratio * free.v[v + i];
        all.a[all_v + i] = ratio * free.a[v + i];
        contraction(v + i, all_v + i) = ratio;
      }
    }
    augmentedRegressor(loose.tree, *loose.layout, workspace, all.q, all.v, all.a, Y);
    stacked.middleRows(k * rows, rows) = contraction * Y;
  }
  return stacked;
}

/// Count of the exact analysis, which the sampled one and brute force agree with: the space that
/// the contracted rows do not see is the one that the exact analysis calls unidentifiable.
int agreedWithBruteForce(const RobotWithBase& robot) {
  const int count = agreedCount(robot, false);
  const BaseParameters exact = robot.exact();
  Eigen::MatrixXd Y = contractedRegressor(robot, 40 + 3 * robot.layout->size());
  Eigen::VectorXd sizes = Y.colwise().norm().cwiseMax(1e-6);
  for (Eigen::Index i = 0; i < Y.cols(); ++i) Y.col(i) /= sizes[i];
  const Eigen::VectorXd values = singularValues(Y);
  int rank = 0;
  for (const double s : values) rank += s > 1e-9 * values[0];
  EXPECT_EQ(rank, count);
  // Y (chi with chi_D free and beta = 0) = 0
  for (Eigen::Index d = 0; d < exact.K.cols(); ++d) {
    SplitParameters split = {Eigen::VectorXd::Zero(exact.count()),
                             Eigen::VectorXd::Unit(exact.K.cols(), d)};
    const Eigen::VectorXd unseen = joinParameters(exact, split).cwiseProduct(sizes);
    EXPECT_LT((Y * unseen).norm(), 1e-8 * unseen.norm()) << d;
  }
  return count;
}

/// An arm of two joints that carries two fingers, the second follows the first.
Model gripper(JointType type, const Vector3d& axis, const Mimic& mimic) {
  Model model = planar2R();
  const int hand = model.linkIndex("link_2");
  const Vector3d ones = Vector3d::Ones();
  for (const int side : {1, -1}) {
    model.links.push_back(makeLink(side > 0 ? "left" : "right", 0.1, {0.01, 0, 0.02}, ones));
    model.joints.push_back(makeJoint(side > 0 ? "left_finger" : "right_finger", type, hand,
                                     static_cast<int>(model.links.size()) - 1, axis,
                                     {0.05, 0.02 * side, 0.1}));
    model.joints.back().drive.declared = true;
    addFriction(model.joints.back(), 0.1, 0.2, 0.3);
  }
  model.joints.back().mimic = mimic;
  return finalize(model);
}

// Two fingers that slide together along one horizontal line on a table: the drive feels their
// masses and rotors as one sum, with the square of the ratio; frictions with its size.
TEST(MimicIdentifiability, FingersThatMoveTogetherShareTheirParameters) {
  Model model;
  const Vector3d ones = Vector3d::Ones();
  model.links = {makeLink("palm", 1, {0, 0, 0}, ones), makeLink("left", 1, {0, 0, 0}, ones),
                 makeLink("right", 1, {0, 0, 0}, ones)};
  for (int k = 1; k <= 2; ++k) {
    model.joints.push_back(makeJoint(fmt::format("finger_{}", k), JointType::kPrismatic, 0, k,
                                     Vector3d::UnitX(), {0, 0.1, 0}));
    model.joints.back().drive.declared = true;
    addFriction(model.joints.back(), 1.0, 1.0, 1.0);
  }
  model.joints[1].mimic = Mimic{"finger_1", -2.0, 0.3};
  const RobotWithBase robot(finalize(model));
  EXPECT_EQ(agreedWithBruteForce(robot), 4);
  const BaseParameters base = robot.exact();
  std::vector<std::string> texts;
  for (int i = 0; i < base.count(); ++i) {
    texts.push_back(groupingText(base, i, fullLabels(*robot.layout)));
  }
  EXPECT_EQ(texts,
            (std::vector<std::string>{
                "left.m + finger_1.rotor_inertia + 4 (finger_2.rotor_inertia + right.m)",
                "finger_1.viscous + 4 finger_2.viscous", "finger_1.coulomb + 2 finger_2.coulomb",
                "finger_1.offset - 2 finger_2.offset"}));
}

// Grippers, chains of followers, followers beyond their leader, in other branches and in the arm
// itself, with negative ratios and offsets: three routes agree.
TEST(MimicIdentifiability, MimicJointsAgreeWithBruteForce) {
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  std::vector<std::pair<std::string, Model>> models;
  for (const Vector3d& axis : {x, y, z}) {
    for (const JointType type : {JointType::kPrismatic, JointType::kRevolute}) {
      for (const double ratio : {1.0, -1.0, 0.6}) {
        models.push_back({fmt::format("gripper {} {}", toString(type), ratio),
                          gripper(type, axis, Mimic{"left_finger", ratio, 0.0})});
      }
    }
  }
  models.push_back({"offset", gripper(JointType::kRevolute, y, Mimic{"left_finger", -1.0, 0.4})});
  // the second phalanx follows the first, the third follows the second
  Model chain = gripper(JointType::kRevolute, y, Mimic{"left_finger", -1.0, 0.0});
  for (int k = 0; k < 2; ++k) {
    chain.links.push_back(makeLink(fmt::format("tip_{}", k), 0.1, {0.02, 0, 0.01}, {1, 1, 1}));
    chain.joints.push_back(makeJoint(fmt::format("tip_joint_{}", k), JointType::kRevolute,
                                     chain.linkIndex(k == 0 ? "left" : "tip_0"),
                                     static_cast<int>(chain.links.size()) - 1, y, {0.04, 0, 0}));
    chain.joints.back().mimic = Mimic{k == 0 ? "left_finger" : "tip_joint_0", 1.0, 0.1};
  }
  models.push_back({"chain", finalize(chain)});
  Model sliding_leader = gripper(JointType::kPrismatic, x, Mimic{"left_finger", 1.0, 0.0});
  sliding_leader.joints.back().type = JointType::kRevolute;
  sliding_leader.joints.back().mimic->ratio = 20.0;
  models.push_back({"a slide turns a finger", finalize(sliding_leader)});
  Model parallel = gripper(JointType::kRevolute, y, Mimic{"joint_1", -1.0, 0.0});
  models.push_back({"the arm turns a finger", parallel});
  Model elbow = planar2R();
  elbow.joints[1].mimic = Mimic{"joint_1", -2.0, 0.3};
  models.push_back({"one joint leads the arm", finalize(elbow)});
  Model zero = elbow;
  zero.joints[1].mimic->ratio = 0.0;
  models.push_back({"a follower that stands still", finalize(zero)});
  Model floating = gripper(JointType::kRevolute, x, Mimic{"left_finger", -1.0, 0.0});
  floating.floating = true;
  models.push_back({"floating", finalize(floating)});
  for (const auto& [name, model] : models) {
    SCOPED_TRACE(name);
    EXPECT_GT(agreedWithBruteForce(RobotWithBase(model)), 0);
  }
}

// Robots in special position in which some joints follow others: sampled and exact agree, with any
// choice of measured rows.
TEST(MimicIdentifiability, RoutesAgreeOnMimicJointsInSpecialPositions) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Model model = specialModel(seed, seed % 2 == 0);
    RandomModelSource random(seed + 2000);
    constexpr double kRatios[] = {1.0, -1.0, 2.0, -0.5};
    for (size_t j = 1; j < model.joints.size(); ++j) {
      const Joint& leader =
          model.joints[static_cast<size_t>(random.integer(0, static_cast<int>(j) - 1))];
      if (!random.chance(0.4)) continue;
      model.joints[j].mimic =
          Mimic{leader.name, kRatios[random.integer(0, 3)], random.chance(0.5) ? 0.0 : 0.3};
    }
    const RobotWithBase robot(finalize(model));
    if (!robot.tree.hasMimic()) continue;
    Measurement measurement;
    if (random.chance(0.4)) {
      for (int j = 0; j < static_cast<int>(robot.model->joints.size()); ++j) {
        if (random.chance(0.6)) measurement.joints.push_back(j);
      }
      if (random.chance(0.5)) measurement.base_wrench = random.chance(0.5);
    }
    const BaseParameters sampled = robot.sampled(measurement), exact = robot.exact(measurement);
    EXPECT_EQ(sampled.count(), exact.count());
    // with few free joints the kept columns of the sampled factor can be close to each other
    EXPECT_LT(groupingDistance(sampled, exact),
              std::max(kBaseTolerance, 1e-10 / sampled.smallest_kept));
    ++compared;
  }
  EXPECT_GT(compared, 80);
}

// The stacked analysis does not need mimic joints: on robots without any it finds the space that
// the recursion from joint to joint finds.
TEST(MimicIdentifiability, StackedConditionsEqualTheRecursion) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RobotWithBase robot(specialModel(seed, seed % 2 == 0));
    Measurement measurement;
    if (seed % 3 == 0) measurement.joints = {0};
    if (seed % 4 == 0) measurement.base_wrench = true;
    const Eigen::MatrixXd rows =
        internal::mimicConditions(robot.tree, *robot.layout, measuredRows(robot.tree, measurement));
    ReductionOptions options;
    options.preference = defaultPreference(robot.tree, *robot.layout);
    const BaseParameters stacked =
        reduceRows(robot.layout, rows, Eigen::VectorXd::Ones(robot.layout->size()), options);
    EXPECT_LT(groupingDistance(stacked, robot.exact(measurement)), kBaseTolerance);
  }
}

// A free humanoid with drives and friction, whose hands have two fingers that follow: the exact and
// the sampled analysis agree, with and without the wrench on the base.
TEST(MimicIdentifiability, RoutesAgreeOnAHumanoidWithHands) {
  Model model = humanoid32();
  for (Joint& joint : model.joints) {
    joint.drive.declared = true;
    addFriction(joint, 1.0, 1.0, 1.0);
  }
  for (const std::string side : {"left", "right"}) {
    const int hand = model.linkIndex(side + "_hand_1_link");
    for (int k = 0; k < 2; ++k) {
      const std::string name = fmt::format("{}_finger_{}", side, k);
      const int link = static_cast<int>(model.links.size());
      model.links.push_back(makeLink(name, 0.1, {0.01, 0.02, 0.03}, Vector3d::Ones()));
      model.joints.push_back(makeJoint(name + "_joint", JointType::kRevolute, hand, link,
                                       k == 1 ? Vector3d::UnitX() : Vector3d::UnitY(),
                                       {0.01, 0.02, -0.04}));
      model.joints.back().mimic = Mimic{side + "_hand_1", k == 1 ? -1.0 : 1.0, 0.1 * k};
    }
  }
  const RobotWithBase robot(finalize(model));
  const int whole = agreedCount(robot, false);
  Measurement torques;
  torques.base_wrench = false;
  const BaseParameters exact = robot.exact(torques);
  EXPECT_LT(groupingDistance(robot.sampled(torques), exact), kBaseTolerance);
  EXPECT_LT(exact.count(), whole);
}

/// Nine links of a metre, the followers of the first two joints in turn, half as fast or as fast.
Model chainOfAlternatingFollowers() {
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  const std::vector<std::pair<Vector3d, Vector3d>> joints = {
      {{1, 0.37, 0.11}, y}, {{1, 0.37, 0.11}, y}, {{1, 0.37, 0.11}, z},
      {{1, 0, 0.11}, y},    {{1, 0, 0.11}, x},    {{1, 0, 0.11}, x},
      {{1, 0.37, 0}, x},    {{1, 0, 0}, z},       {{1, 0, 0}, x}};
  Model model;
  model.links = {makeLink("link_0", 1, {0, 0, 0}, Vector3d::Ones())};
  for (int k = 1; k <= static_cast<int>(joints.size()); ++k) {
    const auto& [offset, axis] = joints[static_cast<size_t>(k - 1)];
    model.links.push_back(
        makeLink(fmt::format("link_{}", k), 1, {0.01, 0.02, 0.03}, Vector3d::Ones()));
    model.joints.push_back(
        makeJoint(fmt::format("joint_{}", k), JointType::kRevolute, k - 1, k, axis, offset));
  }
  model.joints[2].mimic = Mimic{"joint_2", 1.0, 0.0};
  model.joints[3].mimic = Mimic{"joint_1", 0.5, 0.0};
  model.joints[6].mimic = Mimic{"joint_1", 0.5, 0.0};
  return finalize(model);
}

// Nine metres beyond the base rounding is no effect, nor is it where the base is a kilometre away
// from the origin of the world.
TEST(MimicIdentifiability, RoundingOfLongDistancesIsNoEffect) {
  Model model = chainOfAlternatingFollowers();
  const int count = agreedCount(RobotWithBase(model), false);
  model.X_WB.p = Vector3d(1000, 500, 20);
  EXPECT_EQ(agreedCount(RobotWithBase(finalize(model)), false), count);
}

// Many followers along one path with ratios that have nothing in common: said, not attempted.
TEST(MimicIdentifiability, TooManyPositionsAreRefused) {
  Model model = gripper(JointType::kRevolute, Vector3d::UnitY(), Mimic{"left_finger", -1.0, 0.0});
  std::string parent = "left";
  for (int k = 0; k < 6; ++k) {
    const std::string name = fmt::format("bone_{}", k);
    model.links.push_back(makeLink(name, 0.1, {0.02, 0, 0.01}, {1, 1, 1}));
    model.joints.push_back(makeJoint(name + "_joint", JointType::kRevolute, model.linkIndex(parent),
                                     static_cast<int>(model.links.size()) - 1, Vector3d::UnitY(),
                                     {0.04, 0, 0}));
    model.joints.back().mimic = Mimic{"left_finger", 0.3 + 0.1 * std::sqrt(k + 2.0), 0.0};
    parent = name;
  }
  const RobotWithBase robot(finalize(model));
  EXPECT_NE(structuralAnalysisObstacle(robot.tree).find("more than 2000 positions"),
            std::string::npos);
  EXPECT_THROW(robot.exact(), Error);
  EXPECT_GT(robot.sampled().count(), 0);
}

/// A wrist of two joints and a hand whose fingers of three joints and a thumb follow one joint, as
/// an exporter with six digits and single precision writes it; with `noise` = 0 without the latter.
Model handOfAnExporter(double noise) {
  std::string text = "<robot name='hand'><link name='base'/>";
  const auto add = [&](const std::string& name, const std::string& parent, const char* xyz,
                       const Vector3d& rpy, const Vector3d& axis, const std::string& mimic) {
    text += fmt::format(
        "<link name='{0}'><inertial><origin xyz='0.01 0.02 0.03'/><mass value='1'/><inertia "
        "ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial></link>"
        "<joint name='{0}_joint' type='revolute'><parent link='{1}'/><child link='{0}'/>"
        "<origin xyz='{2}' rpy='{3} {4} {5}'/><axis xyz='{6} {7} {8}'/>"
        "<limit lower='-1' upper='1' effort='9' velocity='9'/>{9}</joint>",
        name, parent, xyz, rpy[0], rpy[1], rpy[2], axis[0], axis[1], axis[2], mimic);
  };
  const Vector3d bent(4.64506e-08 * noise, 1.06465, 7.88574e-08 * noise);
  const Vector3d across(0, -1, -4.37114e-08 * noise);
  add("yaw", "base", "0 0 0.1", {0, 0, 0}, {0, 0, 1}, "");
  add("pitch", "yaw", "0 0 0.1", {0, 0, 0}, {0, 1, 0}, "");
  add("grip", "pitch", "0.10937 -0.02468 0.00329", {3.72529e-08 * noise, 1.06465, -0.122173},
      {-0.121869, -0.992546, -4.37114e-08 * noise}, "");
  const auto follow = [](double ratio) {
    return fmt::format("<mimic joint='grip_joint' multiplier='{}'/>", ratio);
  };
  add("grip_2", "grip", "0.01818 0 0", bent, across, follow(1));
  add("grip_3", "grip_2", "0.01818 0 0", bent, across, follow(1));
  add("finger_1", "pitch", "0.11525 0 0.00329", bent, across, follow(1));
  add("finger_2", "finger_1", "0.01818 0 0", bent, across, follow(1));
  add("thumb_1", "pitch", "0.07115 -0.02465 -0.01233", {-4.76837e-07 * noise, 1.37881, -2.53073},
      {-0.573576, 0.819152, 1.05097e-07 * noise}, follow(-1));
  add("thumb_2", "thumb_1", "0.01818 0 0", bent, across, follow(1));
  return readUrdfText(text + "</robot>", "hand.urdf");
}

// Angles written in single precision are the angles that were meant: after snapping, the exact
// analysis finds what it finds without that noise, and the sampled one agrees.
TEST(MimicIdentifiability, SinglePrecisionGeometryIsSnapped) {
  const int meant = agreedCount(RobotWithBase(withSnappedGeometry(handOfAnExporter(0.0))), false);
  const Model noisy = withSnappedGeometry(handOfAnExporter(1.0));
  EXPECT_EQ(agreedCount(RobotWithBase(noisy), false), meant);
  EXPECT_EQ(snappedJoints(handOfAnExporter(1.0), noisy).size(), 7u);
  EXPECT_TRUE(snappedJoints(noisy, withSnappedGeometry(noisy)).empty());
}

/// Two arms of three joints; those of the second and the last one of the first follow the first
/// joint. Roll, pitch and yaw are multiples of 45 degrees, rounded to 1 / `inverse_step`.
Model halfRightAngles(double inverse_step) {
  struct Mount {
    int parent;
    Vector3d offset, eighths, axis;
  };
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  const std::vector<Mount> mounts = {
      {0, {0, 0.1, 0.3}, {-1, -1, -3}, z}, {1, {0, 0, 0}, {0, 0, 0}, x},
      {2, {0, 0, 0}, {-1, 3, 1}, z},       {0, {0.1, 0, 0}, {3, 0, 0}, x},
      {4, {0, 0.1, 0.3}, {0, 0, 0}, x},    {5, {0.1, 0, 0}, {3, -1, 0}, y}};
  Model model;
  model.links = {makeLink("base", 1, {0.01, 0.02, 0.03}, Vector3d::Ones())};
  for (const Mount& mount : mounts) {
    const int link = static_cast<int>(model.links.size());
    model.links.push_back(
        makeLink(fmt::format("link_{}", link), 1, {0.01, 0.02, 0.03}, Vector3d::Ones()));
    model.joints.push_back(makeJoint(fmt::format("joint_{}", link), JointType::kRevolute,
                                     mount.parent, link, mount.axis, mount.offset));
    Vector3d rpy = mount.eighths * std::numbers::pi / 4.0;
    for (double& angle : rpy) angle = std::round(angle * inverse_step) / inverse_step;
    model.joints.back().X_FJ.R = rotationFromRpy(rpy);
    if (link > 2) model.joints.back().mimic = Mimic{"joint_1", 1.0, 0.0};
  }
  return finalize(std::move(model));
}

// Half right angles typed as 0.785398 are the angles that were meant.
TEST(MimicIdentifiability, TypedHalfRightAnglesAreSnapped) {
  const int meant = agreedCount(RobotWithBase(halfRightAngles(1e15)), false);
  const Model typed = halfRightAngles(1e6);
  EXPECT_GT(RobotWithBase(typed).exact().count(), meant);
  EXPECT_EQ(agreedCount(RobotWithBase(withSnappedGeometry(typed)), false), meant);
}

// Directions that only products of two roundings show are not seen: the space of (1, 0, 0) and its
// images under a turn by 1e-6 into y and another into z has two dimensions of which the second is
// small, until a vector shows it in full.
TEST(MimicIdentifiability, SpacesKeepHowMuchWasSeen) {
  Matrix3d turn = Matrix3d::Zero();
  turn(1, 0) = turn(2, 1) = 1e-6;
  internal::Span<3> space;
  space.add(Vector3d(1, 0, 0));
  space = space.invariant(std::vector<Matrix3d>{turn});
  ASSERT_EQ(space.size(), 2u);
  EXPECT_NEAR(space.vector(1).norm(), 1e-6, 1e-15);
  EXPECT_TRUE(space.add(Vector3d(1, 1, 0)));
  EXPECT_EQ(space.size(), 2u);
  EXPECT_NEAR(space.vector(1).norm(), 1.0, 1e-15);
  space = space.invariant(std::vector<Matrix3d>{turn});
  EXPECT_EQ(space.size(), 3u);
}

}  // namespace
}  // namespace proprio
