#include "proprio/dynamics/joint_effects.h"

#include "proprio/dynamics/joint_signals_internal.h"

namespace proprio {
namespace {

using internal::JointSignals;
using internal::signOf;

double effect(const Tree& tree, const JointSignals& x, const CouplingTerm& term) {
  double sum = 0.0;
  for (size_t k = 0; k < term.joints.size(); ++k) {
    const double weight = term.weights[k];
    const int joint = term.joints[k];
    switch (term.signal) {
      case Signal::kAcceleration:
        sum += weight * x.acceleration(tree, joint);
        break;
      case Signal::kVelocity:
      case Signal::kSignVelocity:
        sum += weight * x.velocity(tree, joint);
        break;
      case Signal::kPosition:
        sum += weight * x.position(tree, joint);
        break;
      case Signal::kOne:
        break;
    }
  }
  if (term.signal == Signal::kOne) return 1.0;
  return term.signal == Signal::kSignVelocity ? signOf(sum) : sum;
}

/// Calls f(parameter index, row, regressor entry) for everything at the joints.
template <class F>
void forEachEntry(const Tree& tree, const ParameterLayout& layout, const JointSignals& x, F f) {
  const Model& model = tree.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (layout.jointCount(j) == 0 || tree.velocityIndex(j) < 0) continue;
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    const int row = tree.velocityIndex(j);
    int index = layout.jointOffset(j);
    const double ratio = joint.mimic_ratio;
    if (joint.drive.declared) f(index++, row, ratio * x.acceleration(tree, j));
    for (const FrictionTerm& term : joint.friction.terms) {
      f(index++, row, ratio * frictionBasis(joint.friction, term, x.velocity(tree, j)));
    }
    if (joint.spring.declared) {
      f(index++, row, ratio * x.position(tree, j));
      f(index++, row, ratio);
    }
  }
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    for (const CouplingTerm& term : model.couplings[c].terms) {
      f(layout.couplingOffset() + static_cast<int>(c), tree.velocityIndex(term.joint),
        model.joints[static_cast<size_t>(term.joint)].mimic_ratio * effect(tree, x, term));
    }
  }
}

void requireState(const char* function, const Tree& tree, const ParameterLayout& layout,
                  ConstVectorRef q, ConstVectorRef v, ConstVectorRef a) {
  requireSize(function, "q", q.size(), tree.positionCount());
  requireSize(function, "v", v.size(), tree.velocityCount());
  requireSize(function, "a", a.size(), tree.velocityCount());
  internal::requireSameModel(function, tree, layout);
}

}  // namespace

void internal::requireSameModel(const char* function, const Tree& tree,
                                const ParameterLayout& layout) {
  const Model& model = tree.model();
  if (&layout.model() == &model) return;
  if (layout.model().links.size() != model.links.size() ||
      layout.model().joints.size() != model.joints.size() ||
      layout.couplingOffset() + static_cast<int>(model.couplings.size()) != layout.size()) {
    throw Error(std::string(function) + ": the parameters belong to the model '" +
                layout.model().name + "', the tree to another one, '" + model.name +
                "'; build both from the same model.");
  }
}

void addJointEffects(const Tree& tree, const Parameters& parameters, ConstVectorRef q,
                     ConstVectorRef v, ConstVectorRef a, VectorRef tau) {
  constexpr const char* kName = "addJointEffects";
  requireState(kName, tree, *parameters.layout, q, v, a);
  requireSize(kName, "tau", tau.size(), tree.velocityCount());
  const ParameterLayout& layout = *parameters.layout;
  forEachEntry(tree, layout, {q.data(), v.data(), a.data()}, [&](int index, int row, double entry) {
    if (layout[index].kind == ParameterKind::kRotorInertia) return;
    tau[row] += parameters.values[static_cast<size_t>(index)] * entry;
  });
}

void addCouplingInertia(const Tree& tree, const Parameters& parameters, MatrixRef M) {
  constexpr const char* kName = "addCouplingInertia";
  internal::requireSameModel(kName, tree, *parameters.layout);
  requireSize(kName, "rows of M", M.rows(), tree.velocityCount());
  requireSize(kName, "columns of M", M.cols(), tree.velocityCount());
  const Model& model = tree.model();
  for (size_t c = 0; c < model.couplings.size(); ++c) {
    const size_t index = static_cast<size_t>(parameters.layout->couplingOffset()) + c;
    for (const CouplingTerm& term : model.couplings[c].terms) {
      if (term.signal != Signal::kAcceleration) continue;
      for (size_t k = 0; k < term.joints.size(); ++k) {
        M(tree.velocityIndex(term.joint), tree.velocityIndex(term.joints[k])) +=
            parameters.values[index] * term.weights[k] *
            model.joints[static_cast<size_t>(term.joint)].mimic_ratio *
            model.joints[static_cast<size_t>(term.joints[k])].mimic_ratio;
      }
    }
  }
}

void jointEffectColumns(const Tree& tree, const ParameterLayout& layout, ConstVectorRef q,
                        ConstVectorRef v, ConstVectorRef a, MatrixRef columns) {
  constexpr const char* kName = "jointEffectColumns";
  requireState(kName, tree, layout, q, v, a);
  const int inertial = layout.inertialSize();
  requireSize(kName, "rows of columns", columns.rows(), tree.velocityCount());
  requireSize(kName, "columns", columns.cols(), layout.size() - inertial);
  columns.setZero();
  forEachEntry(tree, layout, {q.data(), v.data(), a.data()},
               [&](int index, int row, double entry) { columns(row, index - inertial) += entry; });
}

}  // namespace proprio
