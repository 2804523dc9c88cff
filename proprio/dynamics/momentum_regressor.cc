#include "proprio/dynamics/momentum_regressor.h"

#include <algorithm>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/body_regressor.h"
#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/joint_signals_internal.h"

namespace proprio {
namespace {

/// Rotor columns and the acceleration part of couplings, times x.
void inertiaColumns(const Tree& tree, const ParameterLayout& layout, ConstVectorRef x,
                    MatrixRef Y) {
  const Model& model = tree.model();
  const auto ratio = [&](int j) { return model.joints[static_cast<size_t>(j)].mimic_ratio; };
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const int row = tree.velocityIndex(j);
    if (row < 0 || !model.joints[static_cast<size_t>(j)].drive.declared) continue;
    Y(row, layout.jointOffset(j)) = ratio(j) * ratio(j) * x[row];
  }
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    for (const CouplingTerm& term : model.couplings[c].terms) {
      if (term.signal != Signal::kAcceleration) continue;
      double sum = 0.0;
      for (size_t k = 0; k < term.joints.size(); ++k) {
        sum += term.weights[k] * ratio(term.joints[k]) * x[tree.velocityIndex(term.joints[k])];
      }
      Y(tree.velocityIndex(term.joint), layout.couplingOffset() + static_cast<int>(c)) +=
          ratio(term.joint) * sum;
    }
  }
}

void requireSymmetricCouplings(const Tree& tree, Workspace& workspace) {
  const Model& model = tree.model();
  const auto ratio = [&](int j) { return model.joints[static_cast<size_t>(j)].mimic_ratio; };
  Eigen::MatrixXd& M = workspace.square();
  for (const CouplingColumn& coupling : model.couplings) {
    M.setZero();
    for (const CouplingTerm& term : coupling.terms) {
      if (term.signal != Signal::kAcceleration) continue;
      for (size_t k = 0; k < term.joints.size(); ++k) {
        M(tree.velocityIndex(term.joint), tree.velocityIndex(term.joints[k])) +=
            ratio(term.joint) * term.weights[k] * ratio(term.joints[k]);
      }
    }
    if ((M - M.transpose()).cwiseAbs().maxCoeff() > 1e-12 * M.cwiseAbs().maxCoeff()) {
      throw Error("coupling '" + coupling.name +
                  "': its acceleration terms are not symmetric, so that it has no kinetic energy; "
                  "declare the transposed term as well or use the torque regressor.");
    }
  }
}

/// row = factor v^T columns, in the last columns of the row.
void timesVelocity(double factor, ConstVectorRef v, ConstMatrixRef columns, RowRef& row) {
  const Eigen::Index first = row.size() - columns.cols();
  for (Eigen::Index k = 0; k < columns.cols(); ++k) row[first + k] = factor * v.dot(columns.col(k));
}

}  // namespace

void generalisedMomentumRegressor(const Tree& tree, const ParameterLayout& layout,
                                  Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                  MatrixRef Y) {
  constexpr const char* kName = "generalisedMomentumRegressor";
  internal::requireSameModel(kName, tree, layout);
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), tree.velocityCount());
  requireSize(kName, "rows of Y", Y.rows(), tree.velocityCount());
  requireSize(kName, "columns of Y", Y.cols(), layout.size());
  Y.setZero();
  inertiaColumns(tree, layout, v, Y);
  // p = M v is the torque of the acceleration v at rest and without weight
  internal::Sample s = internal::sample(tree, workspace, q.data(), nullptr, v.data());
  const Eigen::Index full = tree.fullVelocityCount();
  std::fill_n(workspace.fullVelocity(), full, 0.0);
  s.v = {workspace.fullVelocity(), 1};
  const auto& kernel = kernels::active().one.regressor;
  if (!tree.hasMimic()) {
    kernel(workspace.weightlessTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
           {Y.data(), 1, Y.outerStride()});
    return;
  }
  const Eigen::Index columns = layout.inertialSize();
  Eigen::Map<Eigen::MatrixXd> rows(workspace.fullRegressor(), full, columns);
  rows.setZero();
  kernel(workspace.weightlessTree(), workspace.scratch(), workspace.rowOf(), s.q, s.v, s.a,
         {rows.data(), 1, full});
  for (Eigen::Index i = 0; i < full; ++i) {
    const auto k = static_cast<size_t>(i);
    Y.row(tree.v_source[k]).head(columns) += tree.v_ratio[k] * rows.row(i);
  }
}

void spatialMomentumRegressor(const std::vector<LinkMotion>& motions, const Vector3d& p_W,
                              MatrixRef Y) {
  constexpr const char* kName = "spatialMomentumRegressor";
  requireSize(kName, "rows of Y", Y.rows(), 6);
  requireSize(kName, "columns of Y", Y.cols(), static_cast<Eigen::Index>(10 * motions.size()));
  for (size_t l = 0; l < motions.size(); ++l) {
    const Pose X_PL = {motions[l].X_WL.R, motions[l].X_WL.p - p_W};
    Y.middleCols<10>(static_cast<Eigen::Index>(10 * l)).noalias() =
        forceAdjoint(X_PL) * inertiaRegressor(motions[l].twist.vector());
  }
}

void kineticEnergyRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                            ConstVectorRef q, ConstVectorRef v, RowRef row) {
  requireSize("kineticEnergyRegressor", "row", row.size(), layout.size());
  requireSymmetricCouplings(tree, workspace);
  generalisedMomentumRegressor(tree, layout, workspace, q, v, workspace.regressor());
  timesVelocity(0.5, v, workspace.regressor(), row);
}

void potentialEnergyRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                              ConstVectorRef q, RowRef row) {
  constexpr const char* kName = "potentialEnergyRegressor";
  internal::requireSameModel(kName, tree, layout);
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "row", row.size(), layout.size());
  row.setZero();
  const internal::Sample s = internal::sample(tree, workspace, q.data(), nullptr, nullptr);
  kernels::active().one.link_poses(workspace.kernelTree(), workspace.scratch(), s.q,
                                   {workspace.widePoses(), 1});
  const Model& model = tree.model();
  for (int l = 0; l < static_cast<int>(model.links.size()); ++l) {
    const double* X = workspace.widePoses() + 12 * l;
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(X);
    row.segment<10>(layout.linkOffset(l)) =
        potentialEnergyRow({R, Vector3d::Map(X + 9)}, model.gravity);
  }
  const internal::JointSignals x = {q.data(), nullptr, nullptr};
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (!model.joints[static_cast<size_t>(j)].spring.declared || tree.positionIndex(j) < 0)
      continue;
    const double position = x.position(tree, j);
    const int last = layout.jointOffset(j) + layout.jointCount(j);
    row[last - 2] = 0.5 * position * position;
    row[last - 1] = position;
  }
}

void dissipationRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                          ConstVectorRef q, ConstVectorRef v, RowRef row) {
  requireSize("dissipationRegressor", "row", row.size(), layout.size());
  requireSize("dissipationRegressor", "columns", workspace.regressor().cols(), layout.size());
  const int inertial = layout.inertialSize();
  // without accelerations the energetic columns are those of rotors (zero) and springs
  MatrixRef columns = workspace.regressor().rightCols(layout.size() - inertial);
  workspace.column().setZero();
  jointEffectColumns(tree, layout, q, v, workspace.column(), columns);
  row.head(inertial).setZero();
  timesVelocity(1.0, v, columns, row);
  for (int i = inertial; i < layout.size(); ++i) {
    const ParameterKind kind = layout[i].kind;
    if (kind == ParameterKind::kSpringStiffness || kind == ParameterKind::kSpringPreload) {
      row[i] = 0.0;
    }
  }
}

void powerRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                    ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, RowRef row) {
  requireSize("powerRegressor", "row", row.size(), layout.size());
  augmentedRegressor(tree, layout, workspace, q, v, a, workspace.regressor());
  timesVelocity(1.0, v, workspace.regressor(), row);
}

EnergyModel energyModel(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                        ConstVectorRef time, ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef tau,
                        int window) {
  constexpr const char* kName = "energyModel";
  const Eigen::Index samples = time.size();
  requireSize(kName, "rows of q", q.rows(), samples);
  requireSize(kName, "rows of v", v.rows(), samples);
  requireSize(kName, "rows of tau", tau.rows(), samples);
  requireSize(kName, "columns of tau", tau.cols(), tree.velocityCount());
  if (window < 1) {
    throw Error("energyModel: the window has " + std::to_string(window) +
                " intervals, expected at least one.");
  }
  const Eigen::Index rows = samples < 2 ? 0 : (samples - 1) / window;
  EnergyModel model;
  model.W.setZero(rows, layout.size());
  model.y.setZero(rows);
  Eigen::RowVectorXd energy(layout.size()), now = energy, potential = energy;
  Eigen::RowVectorXd dissipation(layout.size()), d = dissipation;
  double work_rate = 0.0;
  for (Eigen::Index k = 0; k <= rows * window && rows > 0; ++k) {
    const Eigen::VectorXd qk = q.row(k), vk = v.row(k);
    dissipationRegressor(tree, layout, workspace, qk, vk, d);
    const double power = v.row(k).dot(tau.row(k));
    if (k > 0) {
      const double half = 0.5 * (time[k] - time[k - 1]);
      model.W.row((k - 1) / window) += half * (d + dissipation);
      model.y[(k - 1) / window] += half * (power + work_rate);
    }
    if (k % window == 0) {
      kineticEnergyRegressor(tree, layout, workspace, qk, vk, now);
      potentialEnergyRegressor(tree, layout, workspace, qk, potential);
      now += potential;
      if (k > 0) model.W.row(k / window - 1) += now - energy;
      energy = now;
    }
    dissipation = d;
    work_rate = power;
  }
  return model;
}

}  // namespace proprio
