#include "proprio/recording/state_quantities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

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

/// A table with random numbers under the names of all coordinates.
CsvTable randomStates(const Tree& tree, Eigen::Index samples) {
  CsvTable table;
  table.names = {"time"};
  for (const auto& names : {positionNames(tree), velocityNames(tree, 'v'), velocityNames(tree, 'a'),
                            velocityNames(tree, 't')})
    table.names.insert(table.names.end(), names.begin(), names.end());
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

// The columns agree with each other: tau = rigid + effects = Y theta, rigid = M a + bias, and the
// acceleration of tau is a again; on arms, on a floating base and with couplings.
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
        tree, parameters, states, {"rigid", "effects", "bias", "M", "acceleration", "regressor"});
    const Eigen::Index n = tree.velocityCount(), width = parameters.layout->size();
    std::string row = velocityNames(tree, 't')[0];
    if (row.rfind("tau_", 0) == 0) row = row.substr(4);
    const Eigen::MatrixXd rigid = part(out, "rigid_" + row, n);
    const Eigen::MatrixXd effects = part(out, "effects_" + row, n);
    const Eigen::MatrixXd bias = part(out, "bias_" + row, n);
    const double size = states.tau.norm();
    EXPECT_NEAR((rigid + effects - states.tau).norm(), 0.0, kStateDigits * size) << name;
    EXPECT_NEAR((part(out, "acceleration_" + row, n) - states.a).norm(), 0.0,
                1e-8 * states.a.norm())
        << name;
    const Eigen::MatrixXd M = part(out, "M_" + row + "_" + row, n * n);
    const Eigen::MatrixXd Y = part(out, "Y_" + row + "_" + (*parameters.layout)[0].name, n * width);
    const Eigen::Map<const Eigen::VectorXd> theta(parameters.values.data(), width);
    for (Eigen::Index i = 0; i < 9; ++i) {
      const Eigen::VectorXd entries = M.row(i).transpose();
      const Eigen::Map<const Eigen::MatrixXd> Mi(entries.data(), n, n);
      EXPECT_NEAR(
          (Mi * states.a.row(i).transpose() + bias.row(i).transpose() - rigid.row(i).transpose())
              .norm(),
          0.0, kStateDigits * size);
      for (Eigen::Index j = 0; j < n; ++j) {
        EXPECT_NEAR(Y.row(i).segment(j * width, width).dot(theta.transpose()), states.tau(i, j),
                    kStateDigits * size);
      }
    }
  }
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
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,v_elbow\n0,0,0\n", tree).rfind("s.csv:1: 1 column", 0),
            0u);
  EXPECT_EQ(stateMessage("q_shoulder,q_elbow,q_elbo\n0,0,0\n", tree)
                .rfind("s.csv:1:3: there is no column 'q_elbo' for this robot; did you mean "
                       "'q_elbow'",
                       0),
            0u);
  const Tree free(bundled("humanoid.yaml"));
  CsvTable states = randomStates(free, 2);
  states.values.block(1, states.column("base_qx"), 1, 4).setZero();
  EXPECT_THROW(statesFrom(states, free), Error);
  EXPECT_THROW(
      stateQuantities(tree, declaredParameters(model),
                      statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree), {"acceleration"}),
      Error);
  EXPECT_THROW(stateQuantities(tree, declaredParameters(model),
                               statesFrom(readCsvText("q_shoulder,q_elbow\n0,0\n"), tree), {"taw"}),
               Error);
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

}  // namespace
}  // namespace proprio
