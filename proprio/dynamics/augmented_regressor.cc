#include "proprio/dynamics/augmented_regressor.h"

#include <algorithm>
#include <string>

#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/joint_effects.h"
#include "proprio/dynamics/joint_signals_internal.h"

namespace proprio {
namespace {

using internal::signOf;

/// The column-major inputs of a batch, and where a column of the regressor goes.
struct BatchColumns {
  const Tree& tree;
  const ConstMatrixRef &q, &v, &a;
  RegressorBatch& batch;
  Eigen::Index samples;

  const double* velocity(int joint) const { return v.col(tree.velocityIndex(joint)).data(); }
  const double* acceleration(int joint) const { return a.col(tree.velocityIndex(joint)).data(); }
  const double* position(int joint) const { return q.col(tree.positionIndex(joint)).data(); }
  double* column(int joint, int parameter) const {
    return batch.rows(tree.velocityIndex(joint), samples).col(parameter).data();
  }
};

void fillFriction(const Joint& joint, const FrictionTerm& term, const double* velocity,
                  Eigen::Index samples, double* column) {
  const double ratio = joint.mimic_ratio;
  const bool plain_sign = joint.friction.smooth_sign == SmoothSign::kSign;
  // the three common terms inline, so that the compiler can vectorise them
  if (term.kind == FrictionTermKind::kViscous) {
    for (Eigen::Index k = 0; k < samples; ++k) column[k] = ratio * ratio * velocity[k];
  } else if (term.kind == FrictionTermKind::kOffset) {
    for (Eigen::Index k = 0; k < samples; ++k) column[k] = ratio;
  } else if (term.kind == FrictionTermKind::kCoulomb && plain_sign) {
    for (Eigen::Index k = 0; k < samples; ++k) column[k] = ratio * signOf(ratio * velocity[k]);
  } else {
    for (Eigen::Index k = 0; k < samples; ++k) {
      column[k] = ratio * frictionBasis(joint.friction, term, ratio * velocity[k]);
    }
  }
}

void fillJoint(const BatchColumns& x, const ParameterLayout& layout, int j) {
  const Joint& joint = x.tree.model().joints[static_cast<size_t>(j)];
  const double ratio = joint.mimic_ratio;
  int index = layout.jointOffset(j);
  if (joint.drive.declared) {
    double* column = x.column(j, index++);
    const double* acceleration = x.acceleration(j);
    for (Eigen::Index k = 0; k < x.samples; ++k) column[k] = ratio * ratio * acceleration[k];
  }
  for (const FrictionTerm& term : joint.friction.terms) {
    fillFriction(joint, term, x.velocity(j), x.samples, x.column(j, index++));
  }
  if (joint.spring.declared) {
    double* column = x.column(j, index++);
    const double* position = x.position(j);
    for (Eigen::Index k = 0; k < x.samples; ++k) {
      column[k] = ratio * (ratio * position[k] + joint.mimic_offset);
    }
    column = x.column(j, index++);
    for (Eigen::Index k = 0; k < x.samples; ++k) column[k] = ratio;
  }
}

/// Adds scale * signal(weighted sum of the other joints), sample by sample.
void addCouplingColumn(const BatchColumns& x, const CouplingTerm& term, double* column) {
  const std::vector<Joint>& joints = x.tree.model().joints;
  const double scale = joints[static_cast<size_t>(term.joint)].mimic_ratio;
  if (term.signal == Signal::kOne) {
    for (Eigen::Index k = 0; k < x.samples; ++k) column[k] += scale;
    return;
  }
  if (term.signal == Signal::kSignVelocity) {
    for (Eigen::Index k = 0; k < x.samples; ++k) {
      double sum = 0.0;
      for (size_t i = 0; i < term.joints.size(); ++i) {
        sum += term.weights[i] * joints[static_cast<size_t>(term.joints[i])].mimic_ratio *
               x.velocity(term.joints[i])[k];
      }
      column[k] += scale * signOf(sum);
    }
    return;
  }
  for (size_t i = 0; i < term.joints.size(); ++i) {
    const Joint& other = joints[static_cast<size_t>(term.joints[i])];
    const double weight = scale * term.weights[i] * other.mimic_ratio;
    double constant = 0.0;
    const double* signal = nullptr;
    if (term.signal == Signal::kPosition) {
      signal = x.position(term.joints[i]);
      constant = scale * term.weights[i] * other.mimic_offset;
    } else {
      signal = term.signal == Signal::kVelocity ? x.velocity(term.joints[i])
                                                : x.acceleration(term.joints[i]);
    }
    for (Eigen::Index k = 0; k < x.samples; ++k) column[k] += weight * signal[k] + constant;
  }
}

}  // namespace

void augmentedRegressor(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                        ConstVectorRef q, ConstVectorRef v, ConstVectorRef a, MatrixRef Y) {
  constexpr const char* kName = "augmentedRegressor";
  internal::requireSameModel(kName, tree, layout);
  requireSize(kName, "columns of Y", Y.cols(), layout.size());
  const int inertial = layout.inertialSize();
  torqueRegressor(tree, workspace, q, v, a, Y.leftCols(inertial));
  jointEffectColumns(tree, layout, q, v, a, Y.rightCols(layout.size() - inertial));
}

void augmentedRegressorBatch(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
                             ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                             RegressorBatch& batch) {
  internal::requireSameModel("augmentedRegressorBatch", tree, layout);
  if (batch.columns() < layout.size() || batch.capacity() < q.rows()) {
    throw Error("augmentedRegressorBatch: the batch has " + std::to_string(batch.columns()) +
                " columns and room for " + std::to_string(batch.capacity()) +
                " samples; this model has " + std::to_string(layout.size()) +
                " parameters and the input " + std::to_string(q.rows()) + " samples.");
  }
  torqueRegressorBatch(tree, workspace, q, v, a, batch);
  const BatchColumns x = {tree, q, v, a, batch, q.rows()};
  const Model& model = tree.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (layout.jointCount(j) > 0 && tree.velocityIndex(j) >= 0) fillJoint(x, layout, j);
  }
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    const int index = layout.couplingOffset() + static_cast<int>(c);
    const std::vector<CouplingTerm>& terms = model.couplings[c].terms;
    for (const CouplingTerm& term : terms) {
      std::fill_n(x.column(term.joint, index), x.samples, 0.0);
    }
    for (const CouplingTerm& term : terms) addCouplingColumn(x, term, x.column(term.joint, index));
  }
}

void fullTorque(const Tree& tree, const Parameters& parameters, const CompiledParameters& compiled,
                Workspace& workspace, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                VectorRef tau, const LinkWrenches* external) {
  inverseDynamics(tree, compiled, workspace, q, v, a, tau, external);
  addJointEffects(tree, parameters, q, v, a, tau);
}

}  // namespace proprio
