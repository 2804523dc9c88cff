/// The bundled robots of examples/robots.

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <map>
#include <numbers>
#include <ostream>
#include <random>

#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/bundled_robot.h"
#include "proprio/model/testing/naive_torques.h"

namespace proprio {
namespace {

double sumOfMasses(const Model& model) {
  double mass = 0.0;
  for (const Link& link : model.links) mass += link.inertia.mass;
  return mass;
}

const Link& link(const Model& model, const std::string& name) {
  return model.links[static_cast<size_t>(requireLink(model, name))];
}

const Joint& joint(const Model& model, const std::string& name) {
  return model.joints[static_cast<size_t>(requireJoint(model, name))];
}

const Sensor& sensor(const Model& model, const std::string& name) {
  for (const Sensor& candidate : model.sensors) {
    if (candidate.name == name) return candidate;
  }
  throw Error("no sensor " + name);
}

/// [1/2 tr(I) 1 - I, m c; (m c)^T, m].
Eigen::Matrix4d pseudoInertiaByHand(const InertialParameters& body) {
  Eigen::Matrix4d D;
  D.topLeftCorner<3, 3>() = 0.5 * body.inertia.trace() * Matrix3d::Identity() - body.inertia;
  D.topRightCorner<3, 1>() = body.first_moment;
  D.bottomLeftCorner<1, 3>() = body.first_moment.transpose();
  D(3, 3) = body.mass;
  return D;
}

Eigen::VectorXd randomVector(std::mt19937& rng, Eigen::Index size, double range) {
  std::uniform_real_distribution<double> uniform(-range, range);
  return Eigen::VectorXd::NullaryExpr(size, [&](Eigen::Index) { return uniform(rng); });
}

struct Stated {
  const char* file;
  int degrees_of_freedom;  // without a floating base
  int links;
  double mass;
  bool floating;
};

void PrintTo(const Stated& stated, std::ostream* out) { *out << stated.file; }

class RobotFile : public ::testing::TestWithParam<Stated> {};

// Every bundled robot loads and has the degrees of freedom, links and mass that its page states.
TEST_P(RobotFile, LoadsAsStated) {
  const Model model = bundledRobot(GetParam().file);
  EXPECT_EQ(model.velocity_count, GetParam().degrees_of_freedom);
  EXPECT_EQ(static_cast<int>(model.links.size()), GetParam().links);
  EXPECT_NEAR(sumOfMasses(model), GetParam().mass, 1e-9);
  EXPECT_EQ(model.floating, GetParam().floating);
}

// Every link that moves is a possible body: its pseudo-inertia is positive definite, with a margin
// that survives rounding to six digits.
TEST_P(RobotFile, LinksArePhysicallyConsistent) {
  const Model model = bundledRobot(GetParam().file);
  constexpr double kMargin = 1e-5;
  for (const Link& body : model.links) {
    if (!body.has_inertial) {
      EXPECT_EQ(body.name, model.links[static_cast<size_t>(model.base)].name);
      continue;
    }
    const Eigen::Matrix4d D = pseudoInertiaByHand(body.inertia);
    // unit diagonal, so that the margin means the same for a finger and a torso
    const Eigen::Vector4d scale = D.diagonal().cwiseSqrt().cwiseInverse();
    const Eigen::Matrix4d unit = scale.asDiagonal() * D * scale.asDiagonal();
    EXPECT_EQ((unit - kMargin * Eigen::Matrix4d::Identity()).llt().info(), Eigen::Success)
        << body.name;
  }
}

// Every joint with one degree of freedom states limits in the right order, and its friction
// dissipates.
TEST_P(RobotFile, LimitsAndFrictionMakeSense) {
  const Model model = bundledRobot(GetParam().file);
  for (const Joint& j : model.joints) {
    if (velocityCount(j.type) != 1) continue;
    EXPECT_LT(j.limits.lower, j.limits.upper) << j.name;
    EXPECT_GT(j.limits.velocity, 0.0) << j.name;
    EXPECT_GT(j.limits.effort, 0.0) << j.name;
    double coulomb = 0.0, offset = 0.0;
    for (const FrictionTerm& term : j.friction.terms) {
      if (term.kind == FrictionTermKind::kOffset) {
        offset = term.coefficient;
        continue;
      }
      EXPECT_GE(term.coefficient, 0.0) << j.name << " " << term.name;
      if (term.kind == FrictionTermKind::kCoulomb) coulomb = term.coefficient;
    }
    EXPECT_LE(std::abs(offset), coulomb) << j.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RobotFile,
                         ::testing::Values(Stated{"tx40.yaml", 6, 7, 22.37, false},
                                           Stated{"tx40_urdf.yaml", 6, 7, 27.0, false},
                                           Stated{"tx40_coupled.yaml", 6, 7, 22.37, false},
                                           Stated{"rv2sq.yaml", 6, 7, 17.7, false},
                                           Stated{"iiwa14.yaml", 7, 8, 24.181869, false},
                                           Stated{"planar_2r.yaml", 2, 3, 3.0, false},
                                           Stated{"humanoid.yaml", 30, 35, 69.9, true},
                                           Stated{"mobile_manipulator.yaml", 15, 16, 124.1, false}),
                         [](const auto& robot) {
                           const std::string file = robot.param.file;
                           return file.substr(0, file.find('.'));
                         });

// The TX40 as a DH table and as a URDF is the same robot: same link poses, same torques, same
// drives.
TEST(Tx40, DhTableAndUrdfAgree) {
  const Model dh = bundledRobot("tx40.yaml");
  const Model urdf = bundledRobot("tx40_urdf.yaml");
  constexpr double kUrdfDigits = 1e-10;  // the URDF has twelve digits
  std::mt19937 rng(1);
  for (int sample = 0; sample < 50; ++sample) {
    const Eigen::VectorXd q = randomVector(rng, 6, 3.0);
    const std::vector<Pose> X_dh = naiveLinkPoses(dh, dh.base, dh.X_WB, q);
    const std::vector<Pose> X_urdf = naiveLinkPoses(urdf, urdf.base, urdf.X_WB, q);
    for (size_t i = 0; i < dh.links.size(); ++i) {
      const size_t k = static_cast<size_t>(requireLink(urdf, dh.links[i].name));
      EXPECT_LT((X_dh[i].matrix() - X_urdf[k].matrix()).norm(), kUrdfDigits) << dh.links[i].name;
    }
    const Eigen::VectorXd v = randomVector(rng, 6, 3.0), a = randomVector(rng, 6, 10.0);
    const Eigen::VectorXd tau = naiveTorques(dh, q, v, a);
    EXPECT_LT((tau - naiveTorques(urdf, q, v, a)).norm(), kUrdfDigits * tau.norm());
  }
  for (const Joint& j : dh.joints) {
    const Joint& other = joint(urdf, j.name);
    EXPECT_EQ(j.drive.rotor_inertia, other.drive.rotor_inertia);
    EXPECT_EQ(j.drive.gear_ratio, other.drive.gear_ratio);
    EXPECT_EQ(j.drive.gain, other.drive.gain);
    EXPECT_EQ(j.limits.lower, other.limits.lower);
    EXPECT_EQ(j.limits.upper, other.limits.upper);
    EXPECT_EQ(frictionTorque(j.friction, 0.7), frictionTorque(other.friction, 0.7));
  }
}

// At zero the TX40 stands upright: its flange is at 0.32 + 0.225 + 0.225 + 0.065 m, 0.035 m to the
// side.
TEST(Tx40, StandsUprightAtZero) {
  const Model model = bundledRobot("tx40.yaml");
  const Frame& flange = model.frames[static_cast<size_t>(model.frameIndex("flange"))];
  const auto X = naiveLinkPoses(model, model.base, model.X_WB, Eigen::VectorXd::Zero(6));
  const Vector3d p = (X[static_cast<size_t>(flange.link)] * flange.X_LF).p;
  EXPECT_LT((p - Vector3d(0.0, 0.035, 0.835)).norm(), 1e-12);
}

// The wrist of the TX40 is coupled by three declared columns and a triangular transmission.
TEST(Tx40, CoupledWristIsDeclared) {
  const Model model = bundledRobot("tx40_coupled.yaml");
  const int j5 = requireJoint(model, "joint_5"), j6 = requireJoint(model, "joint_6");
  ASSERT_EQ(model.couplings.size(), 3u);
  const Signal signals[3] = {Signal::kAcceleration, Signal::kVelocity, Signal::kSignVelocity};
  const double values[3] = {0.00964, 0.616, 1.95};
  for (size_t k = 0; k < 3; ++k) {
    const CouplingColumn& column = model.couplings[k];
    EXPECT_EQ(column.value, values[k]);
    ASSERT_EQ(column.terms.size(), 2u);
    EXPECT_EQ(column.terms[0].joint, j5);
    EXPECT_EQ(column.terms[1].joint, j6);
    for (const CouplingTerm& term : column.terms) EXPECT_EQ(term.signal, signals[k]);
    EXPECT_EQ(column.terms[0].joints.size(), k == 2 ? 2u : 1u);
  }
  EXPECT_EQ(model.couplings[0].terms[0].joints[0], j6);
  EXPECT_EQ(model.couplings[0].terms[1].joints[0], j5);
  ASSERT_TRUE(model.transmission.has_value());
  EXPECT_EQ(model.transmission->matrix(5, 4), 32.0);
  EXPECT_EQ(model.transmission->matrix(3, 3), -48.0);
  // motor 6 adds inertia [0, Ia6c; Ia6c, 0]: the drive's 2x2 inertia stays positive definite
  const double Ia5 = joint(model, "joint_5").drive.rotor_inertia;
  const double Ia6 = joint(model, "joint_6").drive.rotor_inertia;
  EXPECT_GT(Ia5 * Ia6, values[0] * values[0]);
}

// The planar arm obeys the closed form that its YAML file prints.
TEST(Planar2RFile, MatchesItsClosedForm) {
  const Model model = bundledRobot("planar_2r.yaml");
  constexpr double A = 0.407236, B = 0.084, D = 0.054316, G1 = 9.4176, G2 = 2.0601;
  constexpr double kRounding = 1e-12;
  std::mt19937 rng(2);
  for (int sample = 0; sample < 20; ++sample) {
    const Eigen::VectorXd q = randomVector(rng, 2, 3.0), v = randomVector(rng, 2, 3.0),
                          a = randomVector(rng, 2, 10.0);
    const double c = std::cos(q[1]), s = std::sin(q[1]);
    const double outer = G2 * std::cos(q[0] + q[1]);
    const Eigen::Vector2d tau((A + 2 * B * c) * a[0] + (D + B * c) * a[1] -
                                  B * s * (2 * v[0] * v[1] + v[1] * v[1]) + G1 * std::cos(q[0]) +
                                  outer,
                              (D + B * c) * a[0] + D * a[1] + B * s * v[0] * v[0] + outer);
    EXPECT_LT((naiveTorques(model, q, v, a) - tau).norm(), kRounding * (1.0 + tau.norm()));
  }
  constexpr double pi = std::numbers::pi;
  const Eigen::Vector2d printed(10.014852842680, 0.578958133918);
  const Eigen::VectorXd tau = naiveTorques(model, Eigen::Vector2d(pi / 6, pi / 3),
                                           Eigen::Vector2d(1, -2), Eigen::Vector2d(3, 4));
  EXPECT_LT((tau - printed).norm(), 1e-11);
}

/// Standard parameters of a link under their usual names.
std::map<std::string, double> named(const InertialParameters& body) {
  const Matrix3d& I = body.inertia;
  return {{"M", body.mass},
          {"MX", body.first_moment.x()},
          {"MY", body.first_moment.y()},
          {"MZ", body.first_moment.z()},
          {"XX", I(0, 0)},
          {"XY", I(0, 1)},
          {"XZ", I(0, 2)},
          {"YY", I(1, 1)},
          {"YZ", I(1, 2)},
          {"ZZ", I(2, 2)}};
}

// The iiwa twin's 43 inertial base parameters, regrouped by the published formulas, lie within
// 0.0083 of the published values.
TEST(Iiwa14, TwinIsCloseToThePublishedBaseParameters) {
  const Model model = bundledRobot("iiwa14.yaml");
  std::map<std::string, double> l[8];
  for (int j = 1; j <= 7; ++j) l[j] = named(link(model, "link_" + std::to_string(j)).inertia);
  const double m3 = l[3]["M"] + l[4]["M"] + l[5]["M"] + l[6]["M"] + l[7]["M"];
  const double m5 = l[5]["M"] + l[6]["M"] + l[7]["M"];
  constexpr double d3 = 0.42, d5 = 0.40;
  const double y3 = l[3]["YY"] + 2 * d3 * l[3]["MZ"] + d3 * d3 * m3;
  const double y5 = l[5]["YY"] + 2 * d5 * l[5]["MZ"] + d5 * d5 * m5;
  std::vector<std::pair<double, double>> twin_and_published = {
      {l[1]["ZZ"] + l[2]["YY"], .0643},
      {l[2]["XX"] - l[2]["YY"] + y3, 2.2711},
      {l[2]["ZZ"] + y3, 2.3975},
      {l[2]["MY"] - l[3]["MZ"] - d3 * m3, -5.9099},
      {l[3]["XX"] - l[3]["YY"] + l[4]["YY"], .0070},
      {l[3]["ZZ"] + l[4]["YY"], .0070},
      {l[3]["MY"] - l[4]["MZ"], -.0359},
      {l[4]["XX"] - l[4]["YY"] + y5, .8110},
      {l[4]["ZZ"] + y5, .8213},
      {l[4]["MY"] + l[5]["MZ"] + d5 * m5, 2.3750},
      {l[5]["XX"] - l[5]["YY"] + l[6]["YY"], .0094},
      {l[5]["ZZ"] + l[6]["YY"], .0145},
      {l[5]["MY"] + l[6]["MZ"], -.0762},
      {l[6]["XX"] - l[6]["YY"] + l[7]["YY"], .0145},
      {l[6]["ZZ"] + l[7]["YY"], .0175},
      {l[6]["MY"] - l[7]["MZ"], -.1166},
      {l[7]["XX"] - l[7]["YY"], .0010},
      {l[7]["MY"], .0008},
      {l[7]["ZZ"], .0013}};
  const double direct[6][4] = {{-.0079, .0081, .0485, .0072},  {.0062, .0087, 0, .0142},
                               {-.0020, -.0026, .0039, .0012}, {-.0009, .0043, -.0045, .0004},
                               {.0016, -.0011, .0001, -.0008}, {0, -.0007, -.0002, -.0032}};
  const char* const names[4] = {"XY", "XZ", "YZ", "MX"};
  for (int j = 2; j <= 7; ++j) {
    for (int k = 0; k < 4; ++k) twin_and_published.push_back({l[j][names[k]], direct[j - 2][k]});
  }
  ASSERT_EQ(twin_and_published.size(), 43u);
  double squares = 0.0;
  for (const auto& [twin, published] : twin_and_published) {
    squares += (twin - published) * (twin - published);
  }
  EXPECT_LT(std::sqrt(squares), 0.0083);
  EXPECT_GT(std::sqrt(squares),
            0.0080);  // the distance of the nearest possible arm with this margin
}

/// Lowest and highest z of the collision shapes in the world.
std::pair<double, double> heightRange(const Model& model, const std::vector<Pose>& X) {
  double low = 1e9, high = -1e9;
  for (size_t i = 0; i < model.links.size(); ++i) {
    for (const Shape& shape : model.links[i].shapes) {
      if (!shape.collision) continue;
      const Pose G = X[i] * shape.X_LG;
      const Vector3d up = G.R.row(2).cwiseAbs();
      double half = shape.size[0];
      if (shape.kind == ShapeKind::kBox) half = 0.5 * up.dot(shape.size);
      if (shape.kind == ShapeKind::kCylinder) {
        half = shape.size[0] * std::hypot(up[0], up[1]) + 0.5 * shape.size[1] * up[2];
      }
      low = std::min(low, G.p.z() - half);
      high = std::max(high, G.p.z() + half);
    }
  }
  return {low, high};
}

// The humanoid is 1.70 m tall, and both soles are on the same level when it stands at zero.
TEST(Humanoid, IsOfHumanSize) {
  const Model model = bundledRobot("humanoid.yaml");
  const auto X = naiveLinkPoses(model, model.base, {}, Eigen::VectorXd::Zero(30));
  const auto [low, high] = heightRange(model, X);
  EXPECT_NEAR(high - low, 1.70, 0.005);
  for (const char* name : {"left_sole", "right_sole"}) {
    const Frame& sole = model.frames[static_cast<size_t>(model.frameIndex(name))];
    EXPECT_NEAR((X[static_cast<size_t>(sole.link)] * sole.X_LF).p.z(), low, 1e-12);
  }
}

// Left and right limbs are mirror images: same masses, centres of mass mirrored at the x-z plane.
TEST(Humanoid, IsSymmetric) {
  const Model model = bundledRobot("humanoid.yaml");
  const auto X = naiveLinkPoses(model, model.base, {}, Eigen::VectorXd::Zero(30));
  int pairs = 0;
  for (const Link& left : model.links) {
    if (left.name.rfind("left_", 0) != 0) continue;
    const Link& right = link(model, "right_" + left.name.substr(5));
    const auto com = [&](const Link& body) {
      return Vector3d(X[static_cast<size_t>(requireLink(model, body.name))] * body.inertia.com());
    };
    EXPECT_EQ(left.inertia.mass, right.inertia.mass);
    EXPECT_LT((com(left) - com(right).cwiseProduct(Vector3d(1, -1, 1))).norm(), 1e-10) << left.name;
    ++pairs;
  }
  EXPECT_EQ(pairs, 15);
}

// Force-torque sensors sit on kept fixed joints, the IMU is in the torso, skin cells have unit
// normals that point away from the link's centre of mass.
TEST(Humanoid, SensorsAreInPlace) {
  const Model model = bundledRobot("humanoid.yaml");
  for (const char* side : {"left", "right"}) {
    for (const auto& [part, tip] : {std::pair{"_ankle", "_foot"}, std::pair{"_wrist", "_hand"}}) {
      const Sensor& ft = sensor(model, std::string(side) + part + "_ft");
      EXPECT_EQ(ft.kind, SensorKind::kForceTorque);
      EXPECT_EQ(model.joints[static_cast<size_t>(ft.joint)].type, JointType::kFixed);
      EXPECT_EQ(ft.link, requireLink(model, std::string(side) + tip));
    }
  }
  size_t cells = 0;
  bool accelerometer = false, gyroscope = false;
  for (const Sensor& s : model.sensors) {
    const bool in_torso = s.link == requireLink(model, "torso");
    accelerometer |= in_torso && s.kind == SensorKind::kAccelerometer;
    gyroscope |= in_torso && s.kind == SensorKind::kGyroscope;
    if (s.kind != SensorKind::kSkin) continue;
    const Vector3d com = model.links[static_cast<size_t>(s.link)].inertia.com();
    for (size_t k = 0; k < s.cell_positions.size(); ++k) {
      EXPECT_NEAR(s.cell_normals[k].norm(), 1.0, 1e-5);
      EXPECT_GT((s.cell_positions[k] - com).dot(s.cell_normals[k]), 0.0) << s.name;
    }
    cells += s.cell_positions.size();
  }
  EXPECT_TRUE(accelerometer);
  EXPECT_TRUE(gyroscope);
  EXPECT_EQ(cells, 25u + 2 * 18u);
}

// The mobile manipulator moves on the floor: three coordinates of a planar joint, then twelve arm
// joints.
TEST(MobileManipulator, HasAPlanarBaseAndTwoArms) {
  const Model model = bundledRobot("mobile_manipulator.yaml");
  const Joint& base = joint(model, "base_motion");
  EXPECT_EQ(base.type, JointType::kPlanar);
  EXPECT_EQ(velocityCount(base.type), 3);
  // moving the base moves the hands with it
  Eigen::VectorXd q = Eigen::VectorXd::Zero(15);
  const auto before = naiveLinkPoses(model, model.base, {}, q);
  q.segment<3>(base.position_index) << 0.4, -0.3, std::numbers::pi / 2;
  const auto after = naiveLinkPoses(model, model.base, {}, q);
  for (const char* hand : {"left_hand", "right_hand"}) {
    const size_t i = static_cast<size_t>(requireLink(model, hand));
    const Vector3d p = before[i].p;
    EXPECT_LT((after[i].p - Vector3d(0.4 - p.y(), -0.3 + p.x(), p.z())).norm(), 1e-12);
  }
  // the fixed column became part of the base
  EXPECT_EQ(model.linkIndex("column"), -1);
  EXPECT_EQ(link(model, "base").inertia.mass, 68.0 + 21.0);
}

}  // namespace
}  // namespace proprio
