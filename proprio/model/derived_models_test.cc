#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "proprio/core/testing/message_of.h"
#include "proprio/model/model.h"
#include "proprio/model/testing/model_parts.h"
#include "proprio/model/testing/naive_kinematics.h"
#include "proprio/model/testing/random_model.h"

namespace proprio {
namespace {

// Sums of some ten bodies with masses of kilograms at metres: rounding.
constexpr double kRound = 1e-12;

std::vector<Pose> poses(const Model& model, const Eigen::VectorXd& s) {
  return naiveLinkPoses(model, model.base, model.X_WB, s);
}

// Inertia of the whole robot in the world frame.
Vector10d totalInertia(const Model& model, const Eigen::VectorXd& s) {
  const std::vector<Pose> X_WL = poses(model, s);
  InertialParameters total;
  for (size_t i = 0; i < X_WL.size(); ++i)
    total = total + transformed(X_WL[i], model.links[i].inertia);
  return total.vector();
}

// Kinetic energy of the whole robot for the shape velocity v, link twists by central differences.
double kineticEnergy(const Model& model, const Eigen::VectorXd& s, const Eigen::VectorXd& v) {
  constexpr double kStep = 1e-5;
  const std::vector<Pose> X = poses(model, s), X_plus = poses(model, s + kStep * v),
                          X_minus = poses(model, s - kStep * v);
  double energy = 0.0;
  for (size_t i = 0; i < X.size(); ++i) {
    const Eigen::Matrix4d twist =
        X[i].inverse().matrix() * (X_plus[i].matrix() - X_minus[i].matrix()) / (2 * kStep);
    Vector6d V;
    V << twist.topRightCorner<3, 1>(), unskew(twist.topLeftCorner<3, 3>());
    energy += 0.5 * V.dot(model.links[i].inertia.matrix() * V);
  }
  return energy;
}

// Pose of a link or frame by name.
Pose poseOf(const Model& model, const std::vector<Pose>& X_WL, const std::string& name) {
  if (const int link = model.linkIndex(name); link >= 0) return X_WL[link];
  const Frame& frame = model.frames.at(static_cast<size_t>(model.frameIndex(name)));
  return X_WL[frame.link] * frame.X_LF;
}

RandomModelOptions manyFixed() {
  return {.joints = 20,
          .fixed = 0.4,
          .planar = 0.1,
          .mimic = 0.2,
          .reversed = 0.3,
          .offset = 0.3,
          .mounted = true};
}

// T-17: lumping leaves every old link where it was (as link or frame), and the robot's inertia and
// kinetic energy what they were, for any configuration and motion.
TEST(LumpFixedJoints, KeepsPlacesInertiaAndEnergy) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Model model = randomModel(seed, manyFixed());
    model.frames = {{"tool", 20, RandomModelSource(seed).pose()}};
    model = finalize(model);
    const Model lumped = lumpFixedJoints(model);
    for (const Joint& joint : lumped.joints) EXPECT_NE(joint.type, JointType::kFixed);
    EXPECT_LT(lumped.links.size(), model.links.size());
    ASSERT_EQ(lumped.position_count, model.position_count);
    const Eigen::VectorXd s = randomShape(model, seed), v = randomShape(model, seed + 1);
    const std::vector<Pose> before = poses(model, s), after = poses(lumped, s);
    for (size_t i = 0; i < model.links.size(); ++i) {
      EXPECT_LT(poseDistance(poseOf(lumped, after, model.links[i].name), before[i]), kRound);
    }
    EXPECT_LT(poseDistance(poseOf(lumped, after, "tool"), poseOf(model, before, "tool")), kRound);
    const Vector10d total = totalInertia(model, s);
    EXPECT_LT((totalInertia(lumped, s) - total).norm(), kRound * total.norm());
    const double energy = kineticEnergy(model, s, v);
    constexpr double kDifference = 1e-7;  // step^2 times third derivatives
    EXPECT_NEAR(kineticEnergy(lumped, s, v), energy, kDifference * energy);
  }
}

// A lumped link remembers its parts with the inertia they were declared with, and its own is the
// rest.
TEST(LumpFixedJoints, RemembersParts) {
  const Model model = randomModel(11, manyFixed());
  const Model lumped = lumpFixedJoints(model);
  size_t parts = 0;
  for (const Link& link : lumped.links) {
    InertialParameters sum = model.links[model.linkIndex(link.name)].inertia;
    for (const LinkPart& part : link.parts) {
      const Link& original = model.links[model.linkIndex(part.name)];
      EXPECT_EQ(part.inertia.vector(), original.inertia.vector());
      sum = sum + transformed(part.X_LP, original.inertia);
      ++parts;
    }
    EXPECT_LT((sum.vector() - link.inertia.vector()).norm(), kRound);
  }
  EXPECT_EQ(parts + lumped.links.size(), model.links.size());
}

// Lumping in two steps gives the same parts as lumping at once.
TEST(LumpFixedJoints, TwoStepsEqualOne) {
  const Model model = randomModel(12, manyFixed());
  std::vector<std::string> keep;
  for (const Joint& joint : model.joints) {
    if (joint.type == JointType::kFixed && keep.size() < 3) keep.push_back(joint.name);
  }
  const Model once = lumpFixedJoints(model);
  const Model kept = lumpFixedJoints(model, keep);
  for (const std::string& name : keep) EXPECT_GE(kept.jointIndex(name), 0);
  EXPECT_EQ(kept.links.size(), once.links.size() + keep.size());
  const Model twice = lumpFixedJoints(kept);
  ASSERT_EQ(twice.links.size(), once.links.size());
  for (size_t i = 0; i < once.links.size(); ++i) {
    EXPECT_EQ(twice.links[i].name, once.links[i].name);
    ASSERT_EQ(twice.links[i].parts.size(), once.links[i].parts.size());
    EXPECT_LT((twice.links[i].inertia.vector() - once.links[i].inertia.vector()).norm(), kRound);
    for (const LinkPart& part : once.links[i].parts) {
      const auto same = std::find_if(twice.links[i].parts.begin(), twice.links[i].parts.end(),
                                     [&](const LinkPart& p) { return p.name == part.name; });
      ASSERT_NE(same, twice.links[i].parts.end());
      EXPECT_LT(poseDistance(same->X_LP, part.X_LP), kRound);
      EXPECT_LT((same->inertia.vector() - part.inertia.vector()).norm(), kRound);
    }
  }
}

// Joints with a force-torque sensor stay, and sensors, skin cells and shapes stay where they are in
// space.
TEST(LumpFixedJoints, KeepsForceTorqueJointsAndMovesWhatHangsOnLinks) {
  Model model = serialChain(6);
  for (int i : {1, 3, 5}) model.joints[i].type = JointType::kFixed;
  Sensor ft = makeSensor("ft", SensorKind::kForceTorque, 4, 3);
  ft.X_LS = RandomModelSource(1).pose();
  Sensor skin = makeSensor("skin", SensorKind::kSkin, 6, -1);
  skin.cell_positions = {{0.1, 0.2, 0.3}};
  skin.cell_normals = {{0.0, 0.0, 1.0}};
  Sensor encoder = makeSensor("encoder", SensorKind::kEncoder, -1, 4);
  model.sensors = {ft, skin, encoder};
  Shape box;
  box.X_LG = RandomModelSource(2).pose();
  model.links[2].shapes = {box};
  model.couplings = {{"c", "", 0.0, {{4, Signal::kVelocity, {0}, {1.0}}}}};
  model.transmission = Transmission{{2, 4}, Eigen::Matrix2d::Identity()};
  model = finalize(model);
  const Model lumped = lumpFixedJoints(model);
  ASSERT_EQ(lumped.joints.size(), 4u);
  EXPECT_EQ(lumped.joints[2].name, "joint_4");
  EXPECT_EQ(lumped.joints[2].type, JointType::kFixed);
  EXPECT_EQ(lumped.sensors[0].joint, 2);
  EXPECT_EQ(lumped.links[lumped.sensors[0].link].name, "link_4");
  EXPECT_EQ(lumped.joints[lumped.sensors[2].joint].name, "joint_5");
  EXPECT_EQ(lumped.joints[lumped.couplings[0].terms[0].joint].name, "joint_5");
  EXPECT_EQ(lumped.joints[lumped.transmission->joints[0]].name, "joint_3");
  const Eigen::VectorXd s = randomShape(model, 3);
  const std::vector<Pose> before = poses(model, s), after = poses(lumped, s);
  const Sensor& moved = lumped.sensors[1];
  EXPECT_EQ(lumped.links[moved.link].name, "link_5");
  EXPECT_LT(
      (after[moved.link] * moved.cell_positions[0] - before[6] * skin.cell_positions[0]).norm(),
      kRound);
  EXPECT_LT(
      (after[moved.link].R * moved.cell_normals[0] - before[6].R * skin.cell_normals[0]).norm(),
      kRound);
  const int link_1 = lumped.linkIndex("link_1");
  EXPECT_LT(poseDistance(after[link_1] * lumped.links[link_1].shapes[0].X_LG, before[2] * box.X_LG),
            kRound);
}

// Unknown joints to keep are refused; a model of fixed joints only becomes a single link.
TEST(LumpFixedJoints, Edges) {
  Model model = serialChain(3);
  EXPECT_NE(messageOf([&] { lumpFixedJoints(model, {"joint_9"}); }).find("'joint_9'"),
            std::string::npos);
  for (Joint& joint : model.joints) joint.type = JointType::kFixed;
  const Model lumped = lumpFixedJoints(finalize(model));
  EXPECT_EQ(lumped.links.size(), 1u);
  EXPECT_TRUE(lumped.joints.empty());
  EXPECT_EQ(lumped.frames.size(), 3u);
}

// Locked joints stay at their positions: the other links move as if those coordinates were held.
TEST(LockJoints, EqualsHoldingTheCoordinates) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Model model =
        randomModel(seed, {.joints = 12, .mimic = 0.2, .reversed = 0.3, .offset = 0.3});
    const Eigen::VectorXd s = randomShape(model, seed);
    std::vector<JointValue> locked;
    std::vector<bool> held(static_cast<size_t>(model.position_count), false);
    for (const Joint& joint : model.joints) {
      if (joint.mimic || joint.position_index % 3 != 0) continue;
      locked.push_back({joint.name, s[joint.position_index]});
      held[joint.position_index] = true;
    }
    const Model fewer = lockJoints(model, locked);
    ASSERT_EQ(fewer.position_count, model.position_count - static_cast<int>(locked.size()));
    Eigen::VectorXd rest(fewer.position_count);
    for (int i = 0, k = 0; i < model.position_count; ++i) {
      if (!held[i]) rest[k++] = s[i];
    }
    const std::vector<Pose> expected = poses(model, s), found = poses(fewer, rest);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_LT(poseDistance(found[i], expected[i]), kRound);
  }
}

// Locked joints lose sensors, couplings and motors that have nothing left to do; what others need
// stays.
TEST(LockJoints, RemovesWhatNoLongerMoves) {
  Model model = serialChain(4);
  for (int i = 0; i < 4; ++i) {
    model.sensors.push_back(makeSensor(model.joints[i].name, SensorKind::kEncoder, -1, i));
  }
  model.couplings = {
      {"gone", "", 0.0, {{1, Signal::kVelocity, {0}, {1.0}}, {0, Signal::kVelocity, {1}, {1.0}}}},
      {"kept", "", 0.0, {{2, Signal::kSignVelocity, {1, 3}, {1.0, 2.0}}}}};
  model.transmission = Transmission{{0, 1, 2}, Eigen::Matrix3d{{5, 0, 0}, {0, 6, 0}, {0, 1, 7}}};
  addFriction(model.joints[1], 1.0, 1.0, 0.0);
  const Model locked = lockJoints(finalize(model), {{"joint_2", 0.4}});
  EXPECT_EQ(locked.sensors.size(), 3u);
  ASSERT_EQ(locked.couplings.size(), 1u);
  EXPECT_EQ(locked.couplings[0].terms[0].joints, std::vector<int>{3});
  EXPECT_EQ(locked.couplings[0].terms[0].weights, std::vector<double>{2.0});
  EXPECT_EQ(locked.transmission->joints, (std::vector<int>{0, 2}));
  EXPECT_EQ(locked.transmission->matrix, (Eigen::MatrixXd{{5, 0}, {0, 7}}));
  EXPECT_TRUE(locked.joints[1].friction.terms.empty());
}

// A mimic joint follows its locked leader and cannot be locked against it; other nonsense is
// refused by name.
TEST(LockJoints, MimicAndNonsense) {
  Model model = serialChain(4);
  model.joints[1].mimic = Mimic{"joint_1", 2.0, 0.1};
  model.joints[3].type = JointType::kPlanar;
  model = finalize(model);
  const Model locked = lockJoints(model, {{"joint_1", 0.5}, {"joint_2", 1.1}, {"joint_4", 0.0}});
  EXPECT_EQ(locked.position_count, 1);
  EXPECT_EQ(locked.joints[1].type, JointType::kFixed);
  const auto expectWords = [&](const std::vector<JointValue>& values, const char* name,
                               const char* word) {
    const std::string message = messageOf([&] { lockJoints(model, values); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  expectWords({{"joint_2", 0.0}}, "'joint_2'", "lock that joint");
  expectWords({{"joint_1", 0.5}, {"joint_2", 0.0}}, "'joint_2'", "puts it at 1.1");
  expectWords({{"joint_4", 0.2}}, "'joint_4'", "at 0 only");
  expectWords({{"joint_1", 0.5}, {"joint_1", 0.5}}, "'joint_1'", "twice");
  expectWords({{"joint_3", std::numeric_limits<double>::infinity()}}, "'joint_3'", "finite");
  expectWords({{"elbow", 0.0}}, "'elbow'", "there is no joint");
  model.couplings = {{"p", "", 0.0, {{2, Signal::kPosition, {0}, {1.0}}}}};
  model = finalize(model);
  expectWords({{"joint_1", 0.5}}, "'joint_1'", "coupling 'p'");
}

// A payload adds its inertia where it is put, on a link or a frame, and detaching restores the
// model exactly.
TEST(Payload, AttachAndDetach) {
  Model model = randomModel(5, {.joints = 6});
  model.frames = {{"flange", 6, RandomModelSource(6).pose()}};
  model = finalize(model);
  RandomModelSource source(7);
  const InertialParameters payload = source.inertia();
  const Pose X_LP = source.pose();
  for (const std::string place : {"link_6", "flange"}) {
    const Model loaded = attachPayload(model, "box", place, X_LP, payload);
    const Eigen::VectorXd s = randomShape(model, 8);
    const std::vector<Pose> before = poses(model, s), after = poses(loaded, s);
    const Pose X_WP = poseOf(model, before, place) * X_LP;
    EXPECT_LT(poseDistance(poseOf(loaded, after, "box"), X_WP), kRound);
    const Vector10d expected = totalInertia(model, s) + transformed(X_WP, payload).vector();
    EXPECT_LT((totalInertia(loaded, s) - expected).norm(), kRound * expected.norm());
    EXPECT_LT((totalInertia(lumpFixedJoints(loaded), s) - expected).norm(),
              kRound * expected.norm());

    const Model unloaded = detachPayload(loaded, "box");
    ASSERT_EQ(unloaded.links.size(), model.links.size());
    ASSERT_EQ(unloaded.joints.size(), model.joints.size());
    for (size_t i = 0; i < model.joints.size(); ++i) {
      EXPECT_EQ(unloaded.links[i].inertia.vector(), model.links[i].inertia.vector());
      EXPECT_EQ(unloaded.joints[i].X_FJ.matrix(), model.joints[i].X_FJ.matrix());
    }
    const Model unlumped = detachPayload(lumpFixedJoints(loaded), "box");
    const Vector10d empty = totalInertia(model, s);
    EXPECT_LT((totalInertia(unlumped, s) - empty).norm(), kRound * expected.norm());
    EXPECT_EQ(unlumped.frameIndex("box"), -1);
  }
}

// Payload names must be new, links must exist, and only payloads can be detached.
TEST(Payload, Refusals) {
  const Model model = serialChain(3);
  const InertialParameters payload = RandomModelSource(9).inertia();
  EXPECT_NE(messageOf([&] {
              attachPayload(model, "link_1", "link_3", {}, payload);
            }).find("already in use"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { attachPayload(model, "box", "link_8", {}, payload); }).find("'link_8'"),
            std::string::npos);
  EXPECT_THROW(attachPayload(model, "", "link_3", {}, payload), Error);
  EXPECT_NE(messageOf([&] { detachPayload(model, "link_3"); }).find("'link_3'"), std::string::npos);
  const Model loaded = attachPayload(model, "box", "link_3", {}, payload);
  EXPECT_NE(messageOf([&] { detachPayload(loaded, "bxo"); }).find("'box'"), std::string::npos);
  EXPECT_NE(messageOf([&] { detachPayload(withBase(loaded, "box", true), "box"); }).find("base"),
            std::string::npos);
  EXPECT_THROW(attachPayload(loaded, "box", "link_3", {}, payload), Error);
}

// T-15: another base changes base, mounting and mode, and no index.
TEST(WithBase, KeepsEveryIndex) {
  const Model model = randomModel(10, {.joints = 8, .fixed = 0.2, .planar = 0.2});
  const Pose X_WB = RandomModelSource(11).pose();
  const Model other = withBase(model, "link_5", true, X_WB);
  EXPECT_EQ(other.base, 5);
  EXPECT_TRUE(other.floating);
  EXPECT_LT(poseDistance(other.X_WB, X_WB), kRound);
  for (size_t i = 0; i < model.joints.size(); ++i) {
    EXPECT_EQ(other.links[i].name, model.links[i].name);
    EXPECT_EQ(other.joints[i].name, model.joints[i].name);
    EXPECT_EQ(other.joints[i].position_index, model.joints[i].position_index);
    EXPECT_EQ(other.joints[i].velocity_index, model.joints[i].velocity_index);
  }
  EXPECT_NE(messageOf([&] { withBase(model, "link5", true); }).find("'link_5'"), std::string::npos);
}

}  // namespace
}  // namespace proprio
