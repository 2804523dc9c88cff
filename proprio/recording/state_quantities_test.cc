#include "proprio/recording/state_quantities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/testing/random_model.h"

namespace proprio {
namespace {

constexpr double kStateDigits = 1e-10;

std::shared_ptr<const Model> bundled(const std::string& name) {
  return std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/" + name));
}

std::string stateMessage(const std::string& text, const Tree& tree) {
  try {
    statesFrom(readCsvText(text, "s.csv"), tree);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A table with random numbers under the names of all coordinates and of a wrench on the last link.
CsvTable randomStates(const Tree& tree, Eigen::Index samples) {
  CsvTable table;
  table.names = {"time"};
  for (const auto& names : {positionNames(tree), velocityNames(tree, 'v'), velocityNames(tree, 'a'),
                            velocityNames(tree, 't')})
    table.names.insert(table.names.end(), names.begin(), names.end());
  for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"})
    table.names.push_back("wrench_" + tree.model().links.back().name + "_" + part);
  std::srand(5);
  table.values = Eigen::MatrixXd::Random(samples, static_cast<Eigen::Index>(table.names.size()));
  return table;
}

Eigen::MatrixXd part(const CsvTable& table, const std::string& first, Eigen::Index count) {
  const int column = table.column(first);
  EXPECT_GE(column, 0) << first;
  return table.values.middleCols(std::max(0, column), count);
}

// Torques of the planar arm at rest, stretched: the closed form of its weight,
// tau = g (m1 c1 + m2 (l1 + c2), m2 c2).
TEST(StateQuantities, PlanarArmHoldsItsWeight) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  const StateTable states = statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree);
  EXPECT_FALSE(states.has_v);
  const CsvTable out = stateQuantities(tree, declaredParameters(model), states, {"tau", "gravity"});
  EXPECT_EQ(out.names, (std::vector<std::string>{"tau_shoulder", "tau_elbow", "gravity_shoulder",
                                                 "gravity_elbow"}));
  const double elbow = 9.81 * 0.21, shoulder = 9.81 * (2.0 * 0.28 + 0.61);
  EXPECT_NEAR(out.values(0, 0), shoulder, kStateDigits);
  EXPECT_NEAR(out.values(0, 1), elbow, kStateDigits);
  EXPECT_NEAR(out.values(0, 2), shoulder, kStateDigits);
}

// The columns agree with each other: tau + external = rigid + effects = Y theta = M a + bias +
// effects at zero acceleration, C v + gravity = bias, and the acceleration of tau is a again; on
// arms, on a floating base, with couplings that declare a motor's inertia and a push at the last
// link.
TEST(StateQuantities, ColumnsAgree) {
  for (const char* name : {"tx40_coupled.yaml", "humanoid.yaml", "mobile_manipulator.yaml"}) {
    const auto model = bundled(name);
    const Tree tree(model);
    const Parameters parameters = declaredParameters(model);
    StateTable states = statesFrom(randomStates(tree, 9), tree);
    const CsvTable first = stateQuantities(tree, parameters, states, {"tau"});
    EXPECT_EQ(first.names[0], "time");
    states.tau = first.values.rightCols(tree.velocityCount());
    const CsvTable out = stateQuantities(
        tree, parameters, states,
        {"rigid", "effects", "external", "gravity", "bias", "M", "C", "acceleration", "regressor"});
    StateTable coasting = states;
    coasting.a.setZero();
    const CsvTable rest = stateQuantities(tree, parameters, coasting, {"effects"});
    const Eigen::Index n = tree.velocityCount(), width = parameters.layout->size();
    std::string row = velocityNames(tree, 't')[0];
    if (row.rfind("tau_", 0) == 0) row = row.substr(4);
    const Eigen::MatrixXd rigid = part(out, "rigid_" + row, n);
    const Eigen::MatrixXd effects = part(out, "effects_" + row, n);
    const Eigen::MatrixXd bias = part(out, "bias_" + row, n);
    const double size = states.tau.norm();
    const Eigen::MatrixXd external = part(out, "external_" + row, n);
    EXPECT_GT(external.norm(), 1.0) << name;
    const Eigen::MatrixXd inner = states.tau + external;
    EXPECT_NEAR((rigid + effects - inner).norm(), 0.0, kStateDigits * size) << name;
    EXPECT_NEAR((part(out, "acceleration_" + row, n) - states.a).norm(), 0.0,
                1e-8 * states.a.norm())
        << name;
    const Eigen::MatrixXd without_a = rest.values.rightCols(n);
    const Eigen::MatrixXd gravity = part(out, "gravity_" + row, n);
    const Eigen::MatrixXd C = part(out, "C_" + row + "_" + row, n * n);
    const Eigen::MatrixXd M = part(out, "M_" + row + "_" + row, n * n);
    const Eigen::MatrixXd Y = part(out, "Y_" + row + "_" + (*parameters.layout)[0].name, n * width);
    const Eigen::Map<const Eigen::VectorXd> theta(parameters.values.data(), width);
    for (Eigen::Index i = 0; i < 9; ++i) {
      const Eigen::VectorXd entries = M.row(i).transpose();
      const Eigen::Map<const Eigen::MatrixXd> Mi(entries.data(), n, n);
      const Eigen::VectorXd tau =
          Mi * states.a.row(i).transpose() + (bias + without_a).row(i).transpose();
      EXPECT_NEAR((tau - inner.row(i).transpose()).norm(), 0.0, kStateDigits * size) << name;
      const Eigen::VectorXd entries_c = C.row(i).transpose();
      const Eigen::Map<const Eigen::MatrixXd> Ci(entries_c.data(), n, n);
      const Eigen::VectorXd velocity_part = Ci * states.v.row(i).transpose();
      EXPECT_NEAR((velocity_part - (bias - gravity).row(i).transpose()).norm(), 0.0,
                  kStateDigits * size)
          << name;
      for (Eigen::Index j = 0; j < n; ++j) {
        EXPECT_NEAR(Y.row(i).segment(j * width, width).dot(theta.transpose()), inner(i, j),
                    kStateDigits * size);
      }
    }
  }
}

// A robot whose last link has no mass is refused with the joint and the row, with and without a
// joint that mimics: its accelerations do not exist.
TEST(StateQuantities, SingularRobotsAreRefused) {
  for (const bool mimic : {false, true}) {
    Model arm = planar2R();
    arm.links[2].inertia = {};
    if (mimic) {
      arm.links.push_back(makeLink("finger", 0.0, Vector3d::Zero(), Vector3d::Zero()));
      arm.joints.push_back(
          makeJoint("finger", JointType::kRevolute, 2, 3, Vector3d::UnitZ(), Vector3d::UnitX()));
      arm.joints.back().mimic = Mimic{"joint_2", 1.0, 0.0};
    }
    const auto model = std::make_shared<const Model>(finalize(arm));
    const Tree tree(model);
    const StateTable states = statesFrom(
        readCsvText("q_joint_1,q_joint_2,tau_joint_1,tau_joint_2\n0.1,0.2,1,2\n", "s.csv"), tree);
    try {
      stateQuantities(tree, declaredParameters(model), states, {"acceleration"});
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("'joint_2'"), std::string::npos) << error.what();
    }
  }
}

// Numbers beyond the range, and columns of one name, are refused; the mass matrix of such a state
// is not called singular.
TEST(StateQuantities, UnreadableTablesAreRefused) {
  const auto model = std::make_shared<const Model>(planar2R());
  const Tree tree(model);
  const auto error = [&](const Tree& of, const std::string& text, const std::string& quantity) {
    try {
      stateQuantities(of, declaredParameters(of.sharedModel()),
                      statesFrom(readCsvText(text, "s.csv"), of), {quantity});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const std::string fast = "q_joint_1,q_joint_2,v_joint_1,v_joint_2\n0,0,0,0\n1,1,1e200,1e200\n";
  EXPECT_NE(error(tree, fast, "tau").find("in row 2 of the states 'tau_joint_1' is beyond"),
            std::string::npos);
  const std::string strong = "q_joint_1,q_joint_2,tau_joint_1,tau_joint_2\n0,0,1e308,1e308\n";
  EXPECT_NE(error(tree, strong, "acceleration").find("is beyond the range"), std::string::npos);
  Model twins = *model;
  twins.links[1].name = "com";
  const Tree named(std::make_shared<const Model>(finalize(std::move(twins))));
  try {
    stateQuantities(named, declaredParameters(named.sharedModel()),
                    statesFrom(readCsvText("q_joint_1,q_joint_2\n0,0\n", "s.csv"), named),
                    {"poses", "com"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'com_x' would be there twice"), std::string::npos);
  }
}

// Columns that look like a joint are answered with what that joint has.
TEST(StateQuantities, HintsAboutJoints) {
  Model gripper = planar2R();
  gripper.joints[0].name = "a";
  gripper.joints[1].mimic = Mimic{"a", 1.0, 0.0};
  const Tree tree(std::make_shared<const Model>(finalize(gripper)));
  EXPECT_NE(stateMessage("q_a,q_joint_2\n0,0\n", tree).find("'joint_2' mimics 'a'"),
            std::string::npos);
  EXPECT_NE(stateMessage("q_a,a\n0,0\n", tree).find("write q_a, v_a"), std::string::npos);
}

// Names with commas survive the way out and in again.
TEST(StateQuantities, NamesWithCommas) {
  const CsvTable table{"t.csv", {"q_a,b", "plain"}, Eigen::MatrixXd::Ones(1, 2)};
  EXPECT_EQ(readCsvText(csvText(table), "t.csv").names, table.names);
}

// Momentum of the planar arm, lifted straight up and turning: m v of every link, and the spin about
// the centre of mass from the kinetic energy's own parts.
TEST(StateQuantities, Momentum) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  const StateTable states =
      statesFrom(readCsvText("q_shoulder,q_elbow,v_shoulder,v_elbow\n0.3,0,2,0\n"), tree);
  const CsvTable out =
      stateQuantities(tree, declaredParameters(model), states, {"momentum", "com", "energy"});
  // turned as one body about the shoulder: p = m w x c, and L = 2 T / w about the shoulder
  const Vector3d com(out.values(0, 6), out.values(0, 7), out.values(0, 8));
  const Vector3d p = out.values.row(0).head<3>().transpose();
  const Vector3d spin = out.values.row(0).segment<3>(3).transpose();
  EXPECT_NEAR(p.norm(), 3.0 * 2.0 * com.norm(), kStateDigits);
  EXPECT_NEAR(p.dot(com), 0.0, kStateDigits);
  EXPECT_NEAR((spin + com.cross(p)).norm(), 2.0 * out.values(0, out.column("kinetic")) / 2.0,
              kStateDigits);
}

// Poses, centre of mass and energies of the planar arm, lifted straight up.
TEST(StateQuantities, PosesAndEnergies) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  const StateTable states = statesFrom(
      readCsvText("t,q_shoulder,q_elbow,v_shoulder,v_elbow\n0.5,1.5707963267948966,0,0,2\n"), tree);
  const CsvTable out =
      stateQuantities(tree, declaredParameters(model), states, {"poses", "com", "energy"});
  EXPECT_EQ(out.values(0, 0), 0.5);
  EXPECT_NEAR(out.values(0, out.column("tip_z")), 0.7, kStateDigits);
  EXPECT_NEAR(out.values(0, out.column("tip_x")), 0.0, kStateDigits);
  EXPECT_NEAR(out.values(0, out.column("forearm_z")), 0.4, kStateDigits);
  EXPECT_NEAR(out.values(0, out.column("com_z")), (2.0 * 0.28 + 0.61) / 3.0, kStateDigits);
  EXPECT_NEAR(out.values(0, out.column("kinetic")), 0.5 * 4.0 * (0.010216 + 0.21 * 0.21),
              kStateDigits);
  EXPECT_NEAR(out.values(0, out.column("potential")), 9.81 * (2.0 * 0.28 + 0.61), kStateDigits);
}

// Tables that do not fit are refused with the columns that are missing or unknown.
TEST(StateTable, Refusals) {
  const auto model = bundled("planar_2r.yaml");
  const Tree tree(model);
  EXPECT_EQ(stateMessage("q_shoulder\n0\n", tree),
            "s.csv:1: 1 column is missing: q_elbow; the positions of this robot are q_shoulder, "
            "q_elbow");
  EXPECT_NE(stateMessage("t,time,q_shoulder,q_elbow\n0,0,0,0\n", tree).find("both say the time"),
            std::string::npos);
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,v_elbow\n0,0,0\n", tree).rfind("s.csv:1: 1 column", 0),
            0u);
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,q_elbo\n0,0,0\n", tree)
                .rfind("s.csv:1:3: there is no column 'q_elbo' for this robot; did you mean "
                       "'q_elbow'",
                       0),
            0u);
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,wrench_forearm_fx,wrench_forearm_fz\n0,0,0,0\n", tree),
            "s.csv:1: 4 columns are missing: wrench_forearm_fy, wrench_forearm_tx, "
            "wrench_forearm_ty, wrench_forearm_tz; the wrench columns for 'forearm' of this "
            "robot are wrench_forearm_fx, wrench_forearm_fy, wrench_forearm_fz, wrench_forearm_tx, "
            "wrench_forearm_ty, wrench_forearm_tz");
  EXPECT_NE(stateMessage("q_shoulder,q_elbow,wrench_forarm_fx\n0,0,0\n", tree)
                .find("there is no column 'wrench_forarm_fx' for this robot; did you mean "
                      "'wrench_forearm_fx'"),
            std::string::npos);
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,wrench_tip_of_the_gripper_force\n0,0,0\n", tree),
            "s.csv:1:3: there is no column 'wrench_tip_of_the_gripper_force' for this robot; "
            "expected wrench_L_fx .. wrench_L_tz of a link or frame L; there are 'base_link', "
            "'upper_arm', 'forearm', 'tip'");
  const Tree free(bundled("humanoid.yaml"));
  CsvTable states = randomStates(free, 2);
  states.values.block(1, states.column("base_qx"), 1, 4).setZero();
  EXPECT_THROW(statesFrom(states, free), Error);
  EXPECT_THROW(
      stateQuantities(tree, declaredParameters(model),
                      statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree), {"acceleration"}),
      Error);
  EXPECT_THROW(
      stateQuantities(tree, declaredParameters(model),
                      statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree), {"external"}),
      Error);
  EXPECT_THROW(stateQuantities(tree, declaredParameters(model),
                               statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree), {"taw"}),
               Error);
}

// A wrench on a frame does the same as the equal one on its link, wherever the frame sits on it;
// wrenches on a link and on its frames add up.
TEST(StateTable, WrenchesOnFrames) {
  Model model = *bundled("planar_2r.yaml");
  const Pose X = {rotationFromRpy({0.3, -0.8, 1.2}), {0.1, -0.2, 0.7}};
  const int link = model.linkIndex("forearm");
  model.frames.push_back({"tool", link, X});
  const auto robot = std::make_shared<const Model>(finalize(model));
  const Tree tree(robot);
  const Vector3d f(3.0, -5.0, 7.0), n(0.4, 0.9, -0.2), f_L = X.R * f,
                                                       n_L = X.R * n + X.p.cross(f_L);
  const auto external = [&](const std::vector<std::string>& places,
                            const std::vector<Vector3d>& numbers) {
    CsvTable table = readCsvText("q_shoulder,q_elbow\n0.3,-1.1\n");
    for (const std::string& place : places) {
      for (const char* part : {"fx", "fy", "fz", "tx", "ty", "tz"})
        table.names.push_back("wrench_" + place + "_" + part);
    }
    table.values.conservativeResize(1, static_cast<Eigen::Index>(table.names.size()));
    for (size_t i = 0; i < numbers.size(); ++i)
      table.values.row(0).segment<3>(2 + 3 * static_cast<Eigen::Index>(i)) = numbers[i].transpose();
    return stateQuantities(tree, declaredParameters(robot), statesFrom(table, tree), {"external"})
        .values;
  };
  const Eigen::MatrixXd on_link = external({"forearm"}, {f_L, n_L});
  EXPECT_GT(on_link.norm(), 1.0);
  EXPECT_LT((external({"tool"}, {f, n}) - on_link).norm(), kStateDigits);
  EXPECT_LT((external({"tool", "forearm"}, {f, n, f_L, n_L}) - 2.0 * on_link).norm(), kStateDigits);
}

// Quaternions are normalised, planar joints have three columns, an empty table gives an empty one.
TEST(StateTable, NamesAndEdges) {
  const Tree free(bundled("humanoid.yaml"));
  const StateTable states = statesFrom(randomStates(free, 3), free);
  for (Eigen::Index i = 0; i < 3; ++i)
    EXPECT_NEAR((states.q.row(i).segment<4>(3).norm()), 1.0, kStateDigits);
  EXPECT_EQ(positionNames(free).size(), 37u);
  EXPECT_EQ(velocityNames(free, 'a')[3], "base_alx");

  const auto mobile = bundled("mobile_manipulator.yaml");
  const Tree planar(mobile);
  const std::vector<std::string> names = positionNames(planar);
  EXPECT_EQ(names.size(), static_cast<size_t>(planar.positionCount()));

  const auto arm = bundled("planar_2r.yaml");
  const Tree tree(arm);
  const CsvTable none = stateQuantities(tree, declaredParameters(arm),
                                        statesFrom(readCsvText("q_shoulder,q_elbow\n"), tree),
                                        {"tau", "M", "regressor", "energy"});
  EXPECT_EQ(none.values.rows(), 0);
}

// A column is in the unit that it names: degrees, millimetres, milliseconds; a unit of another kind
// is refused with its column, also where a quaternion has one.
TEST(StateTable, ColumnsAreInTheUnitsThatTheyName) {
  Model model = planar2R();
  model.joints[1].type = JointType::kPrismatic;
  const Tree tree(std::make_shared<const Model>(finalize(model)));
  const StateTable states =
      statesFrom(readCsvText("time [ms],q_joint_1 [deg],q_joint_2 [mm],v_joint_1 [deg/s],v_joint_2,"
                             "tau_joint_1 [mN m],tau_joint_2 [N]\n250,90,20,180,3,1500,7\n"),
                 tree);
  EXPECT_DOUBLE_EQ(states.time[0], 0.25);
  EXPECT_LT((states.q.row(0) - Eigen::RowVector2d(std::numbers::pi / 2, 0.02)).norm(), 1e-15);
  EXPECT_LT((states.v.row(0) - Eigen::RowVector2d(std::numbers::pi, 3)).norm(), 1e-15);
  EXPECT_LT((states.tau.row(0) - Eigen::RowVector2d(1.5, 7)).norm(), 1e-15);
  for (const char* wrong : {"q_joint_1 [m],q_joint_2\n0,0\n", "q_joint_1,q_joint_2 [deg]\n0,0\n",
                            "q_joint_1 [rad/s],q_joint_2\n0,0\n"}) {
    EXPECT_THROW(statesFrom(readCsvText(wrong), tree), Error) << wrong;
  }
  model.floating = true;
  const Tree free(std::make_shared<const Model>(finalize(model)));
  const std::string base = "base_x [mm],base_y [mm],base_z [mm],base_qx,base_qy,base_qz,base_qw";
  const std::string rest = ",q_joint_1,q_joint_2\n1,2,3,0,0,0,1,0,0\n";
  EXPECT_LT((statesFrom(readCsvText(base + rest), free).q.row(0).head<3>() -
             Eigen::RowVector3d(0.001, 0.002, 0.003))
                .norm(),
            1e-15);
  EXPECT_THROW(statesFrom(readCsvText(base + " [deg]" + rest), free), Error);
}

}  // namespace
}  // namespace proprio
