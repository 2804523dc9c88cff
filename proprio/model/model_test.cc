#include "proprio/model/model.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "proprio/model/testing/random_model.h"

namespace proprio {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// A model with everything on it: five joints, two of them fixed (one with a force-torque sensor),
// frame, sensors, couplings, transmission.
Model equipped() {
  Model model = serialChain(5);
  model.source = "arm.urdf";
  for (int i : {2, 4}) model.joints[i].type = JointType::kFixed;
  model.joints[0].location = {"arm.urdf", 17, 3};
  model.links[2].location = {"arm.urdf", 40, 3};
  addFriction(model.joints[0], 1.0, 2.0, 0.1);
  model.joints[1].drive = {true, 0.3, 50.0, 1.0, 80.0};
  model.frames = {{"tool", 5, Pose{}}};
  Sensor ft = makeSensor("wrist_ft", SensorKind::kForceTorque, 3, 2);
  Sensor gyro = makeSensor("gyro", SensorKind::kGyroscope, 5, -1);
  Sensor encoder = makeSensor("encoder", SensorKind::kEncoder, -1, 1);
  model.sensors = {ft, gyro, encoder};
  model.couplings = {{"fm", "N m", 0.5, {{0, Signal::kVelocity, {1, 3}, {1.0, 2.0}}}}};
  model.transmission = Transmission{{0, 1}, Eigen::Matrix2d{{10.0, 0.0}, {1.0, 20.0}}};
  return finalize(model);
}

std::string finalizeMessage(const Model& model) {
  try {
    finalize(model);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct Fault {
  const char* what;
  std::function<void(Model&)> cause;
  std::vector<std::string> words;  // that the message must have
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.what; }

class RejectedModel : public ::testing::TestWithParam<Fault> {};

// T-14: each broken model is refused with a sentence that names the culprit and says what is wrong.
TEST_P(RejectedModel, HasItsOwnMessage) {
  Model model = equipped();
  ASSERT_EQ(finalizeMessage(model), "");
  GetParam().cause(model);
  const std::string message = finalizeMessage(model);
  for (const std::string& word : GetParam().words) {
    EXPECT_NE(message.find(word), std::string::npos)
        << "'" << message << "' lacks '" << word << "'";
  }
}

void swapMimic(Model& m) {
  m.joints[0].mimic = Mimic{"joint_2"};
  m.joints[1].mimic = Mimic{"joint_4"};
  m.joints[3].mimic = Mimic{"joint_1"};
}

const Fault kFaults[] = {
    {"NoLink", [](Model& m) { m.links.clear(); }, {"no link"}},
    {"NamelessLink", [](Model& m) { m.links[1].name = ""; }, {"link number 2", "no name"}},
    {"SameLinkName",
     [](Model& m) { m.links[2].name = "link_0"; },
     {"arm.urdf:40", "'link_0'", "number 1", "number 3"}},
    {"SameJointName", [](Model& m) { m.joints[4].name = "joint_1"; }, {"'joint_1'", "unique"}},
    {"SameFrameName", [](Model& m) { m.frames.push_back(m.frames[0]); }, {"'tool'", "frame"}},
    {"SameSensorName", [](Model& m) { m.sensors[1].name = "wrist_ft"; }, {"'wrist_ft'", "sensor"}},
    {"FrameNamedLikeLink",
     [](Model& m) { m.frames[0].name = "link_3"; },
     {"frame 'link_3'", "link of the same name"}},
    {"BadBase", [](Model& m) { m.base = 6; }, {"base", "6 links"}},
    {"Loop",
     [](Model& m) {
       m.links.push_back(m.links[0]);
       m.links.back().name = "more";
       m.joints.push_back(m.joints[1]);
       m.joints.back().name = "extra";
       m.joints.back().first = 4;
       m.joints.back().second = 1;
     },
     {"joint 'extra'", "closes a loop", "'link_4'", "'link_1'"}},
    {"Disconnected",
     [](Model& m) {
       m.links.push_back(m.links[0]);
       m.links.back().name = "alone";
     },
     {"link 'alone'", "base 'link_0'"}},
    {"SelfJoint",
     [](Model& m) { m.joints[0].second = 0; },
     {"arm.urdf:17:3", "joint 'joint_1'", "itself"}},
    {"BadEnd", [](Model& m) { m.joints[0].second = 99; }, {"joint 'joint_1'", "99"}},
    {"LongAxis",
     [](Model& m) { m.joints[0].axis *= 2; },
     {"joint 'joint_1'", "(0, 0, 2)", "unit vector"}},
    {"ZeroAxis", [](Model& m) { m.joints[0].axis.setZero(); }, {"joint 'joint_1'", "axis"}},
    {"NanAxis", [](Model& m) { m.joints[0].axis[1] = kNaN; }, {"joint 'joint_1'", "axis"}},
    {"NanPlacement",
     [](Model& m) { m.joints[0].X_FJ.p[1] = kNaN; },
     {"joint 'joint_1'", "not finite"}},
    {"NoRotation",
     [](Model& m) { m.joints[0].X_JS.R *= 1.1; },
     {"joint 'joint_1'", "not a rotation"}},
    {"Mirror",
     [](Model& m) { m.joints[0].X_FJ.R.col(0) *= -1; },
     {"joint 'joint_1'", "not a rotation", "det = -1"}},
    {"InfiniteMass",
     [](Model& m) { m.links[2].inertia.mass = kInf; },
     {"arm.urdf:40", "link 'link_2'", "not finite"}},
    {"NanInertialFrame",
     [](Model& m) { m.links[2].X_LI.p[0] = kNaN; },
     {"link 'link_2'", "inertial frame"}},
    {"NanGravity", [](Model& m) { m.gravity[2] = kNaN; }, {"gravity"}},
    {"NanMounting", [](Model& m) { m.X_WB.p[2] = kNaN; }, {"mounting"}},
    {"NanRotor",
     [](Model& m) { m.joints[1].drive.rotor_inertia = kNaN; },
     {"joint 'joint_2'", "drive"}},
    {"NanFriction",
     [](Model& m) { m.joints[0].friction.terms[1].coefficient = kNaN; },
     {"joint 'joint_1'", "'coulomb'"}},
    {"SameTerm",
     [](Model& m) { m.joints[0].friction.terms[1].name = "viscous"; },
     {"joint 'joint_1'", "'viscous'"}},
    {"ZeroStribeck",
     [](Model& m) {
       m.joints[0].friction.terms[0] = {FrictionTermKind::kStribeck, "s", 1.0, 0.0};
     },
     {"joint 'joint_1'", "'s'", "positive"}},
    {"NegativePower",
     [](Model& m) {
       m.joints[0].friction.terms[0] = {FrictionTermKind::kPower, "p", 1, 1, -1};
     },
     {"joint 'joint_1'", "'p'", "negative"}},
    {"ZeroGain",
     [](Model& m) { m.joints[0].friction.smooth_gain = 0; },
     {"joint 'joint_1'", "gain"}},
    {"TooManyLeuvenElements",
     [](Model& m) {
       m.joints[0].friction.dynamic = {DynamicFrictionKind::kLeuven, 100, 0, 0, 1, 1, 1, 2, 101};
     },
     {"101 elements"}},
    {"MimicWithBristles",
     [](Model& m) {
       m.joints[1].mimic = Mimic{"joint_1"};
       m.joints[1].friction.dynamic = {DynamicFrictionKind::kDahl, 100, 0, 0, 1, 1, 1, 2, 6};
     },
     {"joint 'joint_2'", "leader"}},
    {"LuGreWithoutStiffness",
     [](Model& m) { m.joints[0].friction.dynamic.kind = DynamicFrictionKind::kLuGre; },
     {"joint 'joint_1'", "sigma0"}},
    {"PlanarDrive",
     [](Model& m) { m.joints[1].type = JointType::kPlanar; },
     {"joint 'joint_2'", "planar", "one"}},
    {"UnknownLeader",
     [](Model& m) { m.joints[1].mimic = Mimic{"joint_11"}; },
     {"joint 'joint_2'", "'joint_11'", "did you mean 'joint_1'"}},
    {"MimicsItself",
     [](Model& m) { m.joints[1].mimic = Mimic{"joint_2"}; },
     {"loop", "joint_2 -> joint_2"}},
    {"MimicLoop", swapMimic, {"loop", "joint_1 -> joint_2 -> joint_4 -> joint_1"}},
    {"MimicsFixed",
     [](Model& m) { m.joints[1].mimic = Mimic{"joint_3"}; },
     {"joint 'joint_2'", "'joint_3' is fixed"}},
    {"MimicsPlanar",
     [](Model& m) {
       m.joints[3].type = JointType::kPlanar;
       m.couplings.clear();
       m.joints[1].mimic = Mimic{"joint_4"};
     },
     {"'joint_4' is planar"}},
    {"FixedMimics",
     [](Model& m) { m.joints[2].mimic = Mimic{"joint_1"}; },
     {"joint 'joint_3'", "is fixed"}},
    {"NanRatio",
     [](Model& m) {
       m.joints[1].mimic = Mimic{"joint_1", kNaN};
     },
     {"joint 'joint_2'", "ratio"}},
    {"FrameOnNothing", [](Model& m) { m.frames[0].link = 9; }, {"frame 'tool'", "no link"}},
    {"SensorOnNothing", [](Model& m) { m.sensors[1].link = -1; }, {"sensor 'gyro'", "no link"}},
    {"EncoderOnNothing",
     [](Model& m) { m.sensors[2].joint = -1; },
     {"sensor 'encoder'", "no joint"}},
    {"EncoderOnFixed",
     [](Model& m) { m.sensors[2].joint = 4; },
     {"sensor 'encoder'", "'joint_5' is fixed"}},
    {"ForceTorqueOnMoving",
     [](Model& m) { m.sensors[0].joint = 1; },
     {"sensor 'wrist_ft'", "fixed joint"}},
    {"ForceTorqueElsewhere",
     [](Model& m) { m.sensors[0].link = 5; },
     {"sensor 'wrist_ft'", "'link_5'", "'link_2' or 'link_3'"}},
    {"ForceTorqueSign",
     [](Model& m) { m.sensors[0].sign = 0.5; },
     {"sensor 'wrist_ft'", "0.5", "1 or -1"}},
    {"NegativeNoise", [](Model& m) { m.sensors[1].noise = -1; }, {"sensor 'gyro'", "noise"}},
    {"CellsWithoutNormals",
     [](Model& m) { m.sensors[1].cell_positions.resize(2); },
     {"'gyro'", "2 cell", "0 normals"}},
    {"CouplingOfFixed",
     [](Model& m) { m.couplings[0].terms[0].joint = 2; },
     {"coupling 'fm'", "'joint_3' is fixed"}},
    {"CouplingWeights",
     [](Model& m) { m.couplings[0].terms[0].weights.pop_back(); },
     {"'fm'", "2 joints and 1 weights"}},
    {"CouplingOfNothing",
     [](Model& m) {
       m.couplings[0].terms[0].joints = {};
       m.couplings[0].terms[0].weights = {};
     },
     {"coupling 'fm'", "no joint"}},
    {"NanCoupling", [](Model& m) { m.couplings[0].value = kNaN; }, {"coupling 'fm'", "finite"}},
    {"TransmissionSize",
     [](Model& m) { m.transmission->joints = {0}; },
     {"transmission", "2 x 2", "1 joints"}},
    {"TransmissionTwice",
     [](Model& m) {
       m.transmission->joints = {1, 1};
     },
     {"transmission", "entry 2"}},
    {"SingularTransmission",
     [](Model& m) { m.transmission->matrix.setOnes(); },
     {"transmission", "singular"}},
};
INSTANTIATE_TEST_SUITE_P(Model, RejectedModel, ::testing::ValuesIn(kFaults),
                         [](const auto& fault) { return fault.param.what; });

// Coordinates are counted by joint index; fixed joints have none, mimic joints those of their
// leader.
TEST(Model, CountsCoordinatesByJointIndex) {
  Model model = serialChain(6);
  model.joints[0].type = JointType::kPlanar;
  model.joints[1].type = JointType::kFixed;
  model.joints[2].mimic = Mimic{"joint_5", -2.0, 0.5};  // a leader that comes later
  model.joints[3].type = JointType::kFloating;
  model = finalize(model);
  EXPECT_EQ(model.position_count, 3 + 7 + 1 + 1);
  EXPECT_EQ(model.velocity_count, 3 + 6 + 1 + 1);
  const int positions[] = {0, -1, 10, 3, 10, 11}, velocities[] = {0, -1, 9, 3, 9, 10};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(model.joints[i].position_index, positions[i]);
    EXPECT_EQ(model.joints[i].velocity_index, velocities[i]);
  }
  EXPECT_EQ(model.joints[2].mimic_ratio, -2.0);
  EXPECT_EQ(model.joints[2].mimic_offset, 0.5);
  EXPECT_EQ(model.joints_of_link[0], (std::vector<int>{0}));
  EXPECT_EQ(model.joints_of_link[3], (std::vector<int>{2, 3}));
}

// finalize twice gives the same model, also for axes that are unit only up to rounding.
TEST(Model, FinalizeIsIdempotent) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Model once = randomModel(seed, {.joints = 8, .oblique = 1.0, .mimic = 0.3});
    const Model twice = finalize(once);
    for (size_t i = 0; i < once.joints.size(); ++i) {
      EXPECT_EQ(once.joints[i].axis, twice.joints[i].axis);
      EXPECT_EQ(once.joints[i].mimic_ratio, twice.joints[i].mimic_ratio);
      EXPECT_EQ(once.joints[i].position_index, twice.joints[i].position_index);
    }
  }
}

// An axis written with seven digits is taken as the unit vector it means.
TEST(Model, NearlyUnitAxisIsNormalised) {
  Model model = serialChain(1);
  model.joints[0].axis = {0.7071068, 0.0, 0.7071068};
  EXPECT_NEAR(finalize(model).joints[0].axis.norm(), 1.0, 1e-15);
}

// Friction terms without a name get the name of their kind, numbered where there are several.
TEST(Model, NamelessFrictionTermsAreNamed) {
  Model model = serialChain(1);
  model.joints[0].friction.terms.resize(3);
  model.joints[0].friction.terms[0].kind = FrictionTermKind::kPower;
  model.joints[0].friction.terms[2].kind = FrictionTermKind::kPower;
  model = finalize(model);
  EXPECT_EQ(model.joints[0].friction.terms[0].name, "power");
  EXPECT_EQ(model.joints[0].friction.terms[1].name, "viscous");
  EXPECT_EQ(model.joints[0].friction.terms[2].name, "power_2");
}

// A joint that cannot move has no drive, friction or spring, whatever its description says.
TEST(Model, FixedJointsHaveNoDynamics) {
  Model model = serialChain(2);
  addFriction(model.joints[0], 1.0, 1.0, 0.0);
  model.joints[0].drive.declared = model.joints[0].spring.declared = true;
  model.joints[0].type = JointType::kFixed;
  model = finalize(model);
  EXPECT_TRUE(model.joints[0].friction.terms.empty());
  EXPECT_FALSE(model.joints[0].drive.declared || model.joints[0].spring.declared);
}

// Lookups find names, and unknown ones are told with the nearest existing name or with the frame
// they are.
TEST(Model, LookupsSuggestNames) {
  const Model model = equipped();
  EXPECT_EQ(model.linkIndex("link_3"), 3);
  EXPECT_EQ(model.jointIndex("joint_3"), 2);
  EXPECT_EQ(model.frameIndex("tool"), 0);
  EXPECT_EQ(model.linkIndex("tool"), -1);
  EXPECT_EQ(requireLink(model, "link_5"), 5);
  EXPECT_EQ(requireJoint(model, "joint_5"), 4);
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string link = message([&] { requireLink(model, "lnik_3"); });
  EXPECT_NE(link.find("arm.urdf: there is no link 'lnik_3'"), std::string::npos) << link;
  EXPECT_NE(link.find("'link_3'"), std::string::npos) << link;
  const std::string frame = message([&] { requireLink(model, "tool"); });
  EXPECT_NE(frame.find("frame on link 'link_5'"), std::string::npos) << frame;
  const std::string joint = message([&] { requireJoint(model, "elbow"); });
  EXPECT_NE(joint.find("joint_1"), std::string::npos) << joint;
}

// A thousand links in a row are no problem.
TEST(Model, LongChains) {
  const Model model = serialChain(1000);
  EXPECT_EQ(model.velocity_count, 1000);
}

}  // namespace
}  // namespace proprio
