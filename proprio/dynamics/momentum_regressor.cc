#include "proprio/dynamics/momentum_regressor.h"

#include <algorithm>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/body_regressor.h"
#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/joint_signals_internal.h"
#include "proprio/dynamics/link_motion.h"

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

void requireSymmetricCouplings(const Tree& tree, const ParameterLayout& layout) {
  const int n = tree.velocityCount();
  const std::vector<CouplingColumn>& couplings = tree.model().couplings;
  for (size_t c = 0; c < couplings.size(); ++c) {
    Eigen::MatrixXd M(n, n), Y(n, layout.size());
    for (int k = 0; k < n; ++k) {
      Y.setZero();
      inertiaColumns(tree, layout, Eigen::VectorXd::Unit(n, k), Y);
      M.col(k) = Y.col(layout.couplingOffset() + static_cast<int>(c));
    }
    if ((M - M.transpose()).cwiseAbs().maxCoeff() > 1e-12 * M.cwiseAbs().maxCoeff()) {
      throw Error("coupling '" + couplings[c].name +
                  "': its acceleration terms are not symmetric, so that it has no kinetic energy; "
                  "declare the transposed term as well or use the torque regressor.");
    }
  }
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

void spatialMomentumRegressor(const Tree& tree, ConstVectorRef q, ConstVectorRef v,
                              const Vector3d& p_W, MatrixRef Y) {
  constexpr const char* kName = "spatialMomentumRegressor";
  std::vector<LinkMotion> motions;
  linkMotions(tree, q, v, Eigen::VectorXd::Zero(tree.velocityCount()), &motions);
  requireSize(kName, "rows of Y", Y.rows(), 6);
  requireSize(kName, "columns of Y", Y.cols(), static_cast<Eigen::Index>(10 * motions.size()));
  for (size_t l = 0; l < motions.size(); ++l) {
    const Pose X_PL = {motions[l].X_WL.R, motions[l].X_WL.p - p_W};
    Y.middleCols<10>(static_cast<Eigen::Index>(10 * l)) =
        forceAdjoint(X_PL) * inertiaRegressor(motions[l].twist.vector());
  }
}

Eigen::RowVectorXd kineticEnergyRegressor(const Tree& tree, const ParameterLayout& layout,
                                          Workspace& workspace, ConstVectorRef q,
                                          ConstVectorRef v) {
  requireSymmetricCouplings(tree, layout);
  Eigen::MatrixXd Y(tree.velocityCount(), layout.size());
  generalisedMomentumRegressor(tree, layout, workspace, q, v, Y);
  return 0.5 * v.transpose() * Y;
}

Eigen::RowVectorXd potentialEnergyRegressor(const Tree& tree, const ParameterLayout& layout,
                                            ConstVectorRef q) {
  internal::requireSameModel("potentialEnergyRegressor", tree, layout);
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(layout.size());
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(tree.velocityCount());
  std::vector<LinkMotion> motions;
  linkMotions(tree, q, zero, zero, &motions);
  const Model& model = tree.model();
  for (int l = 0; l < static_cast<int>(motions.size()); ++l) {
    row.segment<10>(layout.linkOffset(l)) =
        potentialEnergyRow(motions[static_cast<size_t>(l)].X_WL, model.gravity);
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
  return row;
}

Eigen::RowVectorXd dissipationRegressor(const Tree& tree, const ParameterLayout& layout,
                                        ConstVectorRef q, ConstVectorRef v) {
  const int inertial = layout.inertialSize();
  Eigen::MatrixXd columns(tree.velocityCount(), layout.size() - inertial);
  // without accelerations the energetic columns are those of rotors (zero) and springs
  jointEffectColumns(tree, layout, q, v, Eigen::VectorXd::Zero(tree.velocityCount()), columns);
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(layout.size());
  row.tail(columns.cols()) = v.transpose() * columns;
  for (int i = inertial; i < layout.size(); ++i) {
    const ParameterKind kind = layout[i].kind;
    if (kind == ParameterKind::kSpringStiffness || kind == ParameterKind::kSpringPreload) {
      row[i] = 0.0;
    }
  }
  return row;
}

Eigen::RowVectorXd powerRegressor(const Tree& tree, const ParameterLayout& layout,
                                  Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                  ConstVectorRef a) {
  Eigen::MatrixXd Y(tree.velocityCount(), layout.size());
  augmentedRegressor(tree, layout, workspace, q, v, a, Y);
  return v.transpose() * Y;
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
  Eigen::RowVectorXd energy, dissipation;
  double work_rate = 0.0;
  for (Eigen::Index k = 0; k <= rows * window && rows > 0; ++k) {
    const Eigen::VectorXd qk = q.row(k), vk = v.row(k);
    const Eigen::RowVectorXd d = dissipationRegressor(tree, layout, qk, vk);
    const double power = v.row(k).dot(tau.row(k));
    if (k > 0) {
      const double half = 0.5 * (time[k] - time[k - 1]);
      model.W.row((k - 1) / window) += half * (d + dissipation);
      model.y[(k - 1) / window] += half * (power + work_rate);
    }
    if (k % window == 0) {
      const Eigen::RowVectorXd now = kineticEnergyRegressor(tree, layout, workspace, qk, vk) +
                                     potentialEnergyRegressor(tree, layout, qk);
      if (k > 0) model.W.row(k / window - 1) += now - energy;
      energy = now;
    }
    dissipation = d;
    work_rate = power;
  }
  return model;
}

}  // namespace proprio
