#include "proprio/recording/state_quantities.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/coriolis.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/kinematics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Columns {
  std::vector<std::string> names;
  MatrixXd values;
};

// what every quantity is computed from
struct Problem {
  const Tree& tree;
  const Parameters& parameters;
  const StateTable& states;
  CompiledParameters compiled;
  Workspace workspace;
  std::vector<std::string> rows;  // of the coordinates: joints, and base_fx ...

  Problem(const Tree& t, const Parameters& p, const StateTable& s)
      : tree(t), parameters(p), states(s), compiled(compileParameters(t, p)), workspace(t) {
    for (const std::string& name : velocityNames(tree, 't'))
      rows.push_back(name.rfind("tau_", 0) == 0 ? name.substr(4) : name);
  }
  Index samples() const { return states.q.rows(); }
  Index freedoms() const { return tree.velocityCount(); }
  std::vector<std::string> named(const char* prefix) const {
    std::vector<std::string> names;
    for (const std::string& row : rows) names.push_back(fmt::format("{}_{}", prefix, row));
    return names;
  }
  MatrixXd inverse(const MatrixXd& v, const MatrixXd& a) {
    MatrixXd tau(samples(), freedoms());
    inverseDynamicsBatch(tree, compiled, workspace, states.q, v, a, tau);
    return tau;
  }
  // J^T f: minus the torque that a robot without mass needs against the wrenches
  MatrixXd external() {
    MatrixXd tau = zeros();
    if (states.wrench_links.empty()) return tau;
    CompiledParameters massless = compiled;
    for (auto& body : massless.bodies) body = {};
    massless.has_rotor = false;
    const BatchWrenches wrenches = {states.wrench_links, states.wrenches};
    inverseDynamicsBatch(tree, massless, workspace, states.q, zeros(), zeros(), tau, &wrenches);
    return -tau;
  }
  // friction, springs and couplings
  MatrixXd effects(const MatrixXd& a) const {
    MatrixXd out = MatrixXd::Zero(samples(), freedoms());
    VectorXd tau(freedoms());
    for (Index i = 0; i < samples(); ++i) {
      tau.setZero();
      addJointEffects(tree, parameters, states.q.row(i).transpose(), states.v.row(i).transpose(),
                      a.row(i).transpose(), tau);
      out.row(i) = tau.transpose();
    }
    return out;
  }
  MatrixXd zeros() const { return MatrixXd::Zero(samples(), freedoms()); }
};

Columns torques(Problem& p) {
  return {velocityNames(p.tree, 't'),
          p.inverse(p.states.v, p.states.a) + p.effects(p.states.a) - p.external()};
}
Columns rigid(Problem& p) { return {p.named("rigid"), p.inverse(p.states.v, p.states.a)}; }
Columns effects(Problem& p) { return {p.named("effects"), p.effects(p.states.a)}; }
Columns external(Problem& p) {
  if (p.states.wrench_links.empty())
    throw Error(
        "external needs the columns wrench_L_fx .. wrench_L_tz of a link or frame L in the state "
        "file");
  return {p.named("external"), p.external()};
}
Columns gravity(Problem& p) { return {p.named("gravity"), p.inverse(p.zeros(), p.zeros())}; }
Columns bias(Problem& p) { return {p.named("bias"), p.inverse(p.states.v, p.zeros())}; }

std::vector<std::string> squareNames(const Problem& p, const char* prefix) {
  std::vector<std::string> names;
  for (const std::string& column : p.rows) {
    for (const std::string& row : p.rows)
      names.push_back(fmt::format("{}_{}_{}", prefix, row, column));
  }
  return names;
}

// what couplings add to M does not depend on the state
Columns massMatrices(Problem& p) {
  const Index n = p.freedoms();
  Columns out{squareNames(p, "M"), MatrixXd(p.samples(), n * n)};
  massMatrixBatch(p.tree, p.compiled, p.workspace, p.states.q, out.values);
  MatrixXd coupled = MatrixXd::Zero(n, n);
  addCouplingInertia(p.tree, p.parameters, coupled);
  out.values.rowwise() += coupled.reshaped().transpose();
  return out;
}

Columns coriolisMatrices(Problem& p) {
  const Index n = p.freedoms();
  Columns out{squareNames(p, "C"), MatrixXd(p.samples(), n * n)};
  Kinematics kinematics(p.tree);
  CoriolisWorkspace scratch(p.tree);
  MatrixXd C(n, n);
  for (Index i = 0; i < p.samples(); ++i) {
    computeKinematics(p.tree, p.states.q.row(i).transpose(), p.states.v.row(i).transpose(),
                      kinematics);
    coriolisMatrix(p.tree, p.compiled, kinematics, CoriolisFactorisation::kBody, scratch, C);
    out.values.row(i) = C.reshaped().transpose();
  }
  return out;
}

// A mass matrix that cannot be inverted names the coordinates that move without mass: most of the
// weakest direction, with every coordinate in the unit that makes its own entry one.
void requireInertia(const Problem& p, const MatrixXd& M, Index sample) {
  constexpr double kSingular = 1e-13;  // rounding of M
  const VectorXd units =
      M.diagonal().unaryExpr([](double m) { return m > 0.0 ? std::sqrt(m) : 1.0; });
  const SymmetricEigen modes =
      symmetricEigen(units.cwiseInverse().asDiagonal() * M * units.cwiseInverse().asDiagonal());
  if (modes.values.minCoeff() > kSingular) return;
  Index weakest = 0;
  modes.values.minCoeff(&weakest);
  const VectorXd share = modes.vectors.col(weakest).cwiseAbs();
  const std::vector<std::string> velocities = velocityNames(p.tree, 'v');
  std::vector<std::string> names;
  for (size_t i = 0; i < velocities.size(); ++i) {
    if (share[static_cast<Index>(i)] <= 0.5 * share.maxCoeff()) continue;
    const std::string& name = velocities[i];
    names.push_back(inQuotes(name.rfind("v_", 0) == 0 ? name.substr(2) : name));
  }
  throw Error(fmt::format(
      "acceleration: in row {} of the states the mass matrix is singular: no mass opposes a motion "
      "of {}; give the links that it moves a mass (proprio check finds such links)",
      sample + 1, fmt::join(names, " with ")));
}

// M a = tau - bias - effects + external, where couplings may add to M
Columns accelerations(Problem& p) {
  if (p.states.tau.cols() != p.freedoms()) {
    throw Error(fmt::format("acceleration needs the torque columns {} in the state file",
                            fmt::join(velocityNames(p.tree, 't'), ", ")));
  }
  Columns out{p.named("acceleration"), p.zeros()};
  const MatrixXd tau = p.states.tau - p.effects(p.zeros()) + p.external();
  forwardDynamicsBatch(p.tree, p.compiled, p.workspace, p.states.q, p.states.v, tau, out.values);
  const bool coupled = !p.tree.model().couplings.empty();
  const MatrixXd bias = coupled ? p.inverse(p.states.v, p.zeros()) : MatrixXd();
  MatrixXd M(p.freedoms(), p.freedoms());
  for (Index i = 0; i < p.samples(); ++i) {
    // followers are solved through M, which gives numbers even where it has no inverse
    if (!coupled && !p.tree.hasMimic() && out.values.row(i).allFinite()) continue;
    massMatrix(p.tree, p.compiled, p.workspace, p.states.q.row(i).transpose(), M);
    addCouplingInertia(p.tree, p.parameters, M);
    if (M.allFinite()) requireInertia(p, M, i);
    if (coupled) out.values.row(i) = solveSquare(M, (tau - bias).row(i).transpose()).transpose();
  }
  return out;
}

void appendPose(const Pose& pose, Index row, Index column, MatrixXd& values) {
  const Eigen::Vector4d quaternion = quaternionFromRotation(pose.R);
  values.row(row).segment<3>(column) = pose.p.transpose();
  values.row(row).segment<4>(column + 3) = quaternion.transpose();
}

Columns poses(Problem& p) {
  const Model& model = p.tree.model();
  Columns out;
  const auto name = [&](const std::string& stem) {
    for (const char* suffix : {"x", "y", "z", "qx", "qy", "qz", "qw"})
      out.names.push_back(fmt::format("{}_{}", stem, suffix));
  };
  for (const Link& link : model.links) name(link.name);
  for (const Frame& frame : model.frames) name(frame.name);
  out.values.resize(p.samples(), static_cast<Index>(out.names.size()));
  Kinematics kinematics(p.tree);
  for (Index i = 0; i < p.samples(); ++i) {
    computeKinematics(p.tree, p.states.q.row(i).transpose(), kinematics);
    Index column = 0;
    for (int link = 0; link < static_cast<int>(model.links.size()); ++link, column += 7)
      appendPose(framePose(kinematics, link), i, column, out.values);
    for (const Frame& frame : model.frames) {
      appendPose(framePose(kinematics, frame.link, frame.X_LF), i, column, out.values);
      column += 7;
    }
  }
  return out;
}

Columns centres(Problem& p) {
  Columns out{{"com_x", "com_y", "com_z"}, MatrixXd(p.samples(), 3)};
  Kinematics kinematics(p.tree);
  for (Index i = 0; i < p.samples(); ++i) {
    computeKinematics(p.tree, p.states.q.row(i).transpose(), p.states.v.row(i).transpose(),
                      kinematics);
    out.values.row(i) = centroidalState(p.tree, p.compiled, kinematics).com.transpose();
  }
  return out;
}

Columns momenta(Problem& p) {
  Columns out{{"momentum_x", "momentum_y", "momentum_z", "spin_x", "spin_y", "spin_z"},
              MatrixXd(p.samples(), 6)};
  Kinematics kinematics(p.tree);
  for (Index i = 0; i < p.samples(); ++i) {
    computeKinematics(p.tree, p.states.q.row(i).transpose(), p.states.v.row(i).transpose(),
                      kinematics);
    out.values.row(i) = centroidalState(p.tree, p.compiled, kinematics).momentum.transpose();
  }
  return out;
}

Columns energies(Problem& p) {
  Columns out{{"kinetic", "potential"}, MatrixXd(p.samples(), 2)};
  Kinematics kinematics(p.tree);
  for (Index i = 0; i < p.samples(); ++i) {
    const VectorXd v = p.states.v.row(i).transpose();
    computeKinematics(p.tree, p.states.q.row(i).transpose(), v, kinematics);
    out.values(i, 0) = kineticEnergy(p.tree, p.compiled, kinematics, v);
    out.values(i, 1) = potentialEnergy(p.tree, p.compiled, kinematics);
  }
  return out;
}

Columns regressors(Problem& p) {
  const ParameterLayout& layout = *p.parameters.layout;
  const Index n = p.freedoms(), width = layout.size();
  Columns out;
  for (const std::string& row : p.rows) {
    for (int k = 0; k < layout.size(); ++k)
      out.names.push_back(fmt::format("Y_{}_{}", row, layout[k].name));
  }
  out.values.resize(p.samples(), n * width);
  if (p.samples() == 0) return out;
  RegressorBatch batch(p.tree, p.samples(), width);
  augmentedRegressorBatch(p.tree, layout, p.workspace, p.states.q, p.states.v, p.states.a, batch);
  for (Index j = 0; j < n; ++j)
    out.values.middleCols(j * width, width) = batch.rows(j, p.samples());
  return out;
}

// What is written can be read: numbers, and every column has a name of its own.
void requireReadable(const CsvTable& table) {
  std::set<std::string> names;
  for (const std::string& name : table.names) {
    if (!names.insert(name).second)
      throw Error(fmt::format(
          "the column {} would be there twice, because names of the robot run together; ask for "
          "the quantities one by one, or rename a joint or link",
          inQuotes(name)));
  }
  for (Index i = 0; i < table.values.rows(); ++i) {
    for (Index k = 0; k < table.values.cols(); ++k) {
      if (std::isfinite(table.values(i, k))) continue;
      throw Error(fmt::format(
          "in row {} of the states {} is beyond the range of numbers; numbers of that row, or "
          "lengths and masses of the robot, are far too large",
          i + 1, inQuotes(table.names[static_cast<size_t>(k)])));
    }
  }
}

struct StateQuantity {
  const char* name;
  Columns (*compute)(Problem& problem);
};
constexpr StateQuantity kQuantities[] = {
    {"tau", torques},       {"rigid", rigid},          {"effects", effects},
    {"external", external}, {"gravity", gravity},      {"bias", bias},
    {"M", massMatrices},    {"C", coriolisMatrices},   {"acceleration", accelerations},
    {"poses", poses},       {"com", centres},          {"momentum", momenta},
    {"energy", energies},   {"regressor", regressors},
};

}  // namespace

const std::vector<std::string>& quantityNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const StateQuantity& quantity : kQuantities) out.emplace_back(quantity.name);
    return out;
  }();
  return names;
}

CsvTable stateQuantities(const Tree& tree, const Parameters& parameters, const StateTable& states,
                         const std::vector<std::string>& quantities) {
  Problem problem(tree, parameters, states);
  CsvTable table;
  std::vector<Columns> parts;
  if (states.time.size() > 0) parts.push_back({{"time"}, states.time});
  for (const std::string& name : quantities) {
    const auto* found = std::find_if(std::begin(kQuantities), std::end(kQuantities),
                                     [&](const StateQuantity& q) { return name == q.name; });
    if (found == std::end(kQuantities)) {
      throw Error(fmt::format("there is no quantity {}{}", inQuotes(name),
                              didYouMean(name, quantityNames())));
    }
    parts.push_back(found->compute(problem));
  }
  Index width = 0;
  for (const Columns& part : parts) width += part.values.cols();
  table.values.resize(problem.samples(), width);
  Index column = 0;
  for (const Columns& part : parts) {
    table.names.insert(table.names.end(), part.names.begin(), part.names.end());
    table.values.middleCols(column, part.values.cols()) = part.values;
    column += part.values.cols();
  }
  requireReadable(table);
  return table;
}

}  // namespace proprio
