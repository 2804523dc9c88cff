#pragma once

/// Base parameters: the combinations of standard parameters that the measured torques determine.
///   beta = chi_I + K chi_D,   Y chi = Y_I beta
/// where the columns of the parameters I are independent and those of D are combinations of them.
/// The map (beta, chi_D) <-> chi is a bijection (Leboutet 2022 eq. 9 to 11, corrected; L-06), so
/// that methods may work in either.
///
/// Three routes lead to one BaseParameters: sampled_identifiability.h (regressor at random states),
/// structural_identifiability.h (exact, no samples) and regrouping_rules.h (closed formulas for
/// serial revolute arms). They share `reduceRows`, so that with one preference order they can be
/// compared entry by entry.

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"

namespace proprio {

struct BaseParameters {
  std::shared_ptr<const ParameterLayout> layout;
  std::vector<int> independent;  ///< I: one parameter per base parameter, in preference order
  std::vector<int> dependent;    ///< D: the rest, in preference order
  Eigen::MatrixXd K;             ///< I x D
  /// The gap between "independent" and "dependent": part of a column, relative to its size, that
  /// the columns before it do not explain. Smallest among I, largest among D with an effect.
  double smallest_kept = 1.0;
  double largest_dropped = 0.0;
  int count() const { return static_cast<int>(independent.size()); }
};

enum class ParameterStatus {
  kIdentifiable,  ///< a base parameter by itself
  kCombined,      ///< only in combination with others
  kWithoutEffect  ///< no measured torque depends on it
};
const char* toString(ParameterStatus status);
/// Per standard parameter; does not depend on the preference order.
std::vector<ParameterStatus> parameterStatuses(const BaseParameters& base);

/// beta = baseMatrix * chi.
Eigen::MatrixXd baseMatrix(const BaseParameters& base);
/// The bijection: chi -> (beta, chi_D) and back.
struct SplitParameters {
  Eigen::VectorXd beta, chi_d;
};
SplitParameters splitParameters(const BaseParameters& base, const Eigen::VectorXd& chi);
Eigen::VectorXd joinParameters(const BaseParameters& base, const SplitParameters& split);

/// Which parameters shall stand for a group: links from base to tip, in a link inertia, first
/// moment, mass; then friction, springs and couplings; rotor inertias last. With joint axes along z
/// this is the classical choice: YY, MZ, M and Ia are grouped into others.
std::vector<int> defaultPreference(const Tree& tree, const ParameterLayout& layout);

struct ReductionOptions {
  std::vector<int> preference;  ///< permutation of all parameters; empty: defaultPreference()
  /// A column is dependent when less than this part of it is not explained by earlier ones.
  double tolerance = 1e-8;
  std::function<void(double)> progress = {};  ///< told the share that is done, now and then
};

/// Base parameters from rows that span what can be identified (a regressor, its triangular factor,
/// or structural conditions): echelon form of the columns in order of preference.
/// @param rows   any number of rows x layout size
/// @param scale  per column the size that an effect would have: smaller by 1e-10 is no effect
/// @param options  with a preference order
BaseParameters reduceRows(std::shared_ptr<const ParameterLayout> layout, Eigen::MatrixXd rows,
                          const Eigen::VectorXd& scale, const ReductionOptions& options);

/// Largest difference of the groupings, with each parameter in its natural size (lengths in
/// `length`); infinite if the chosen independent parameters differ.
double groupingDistance(const BaseParameters& a, const BaseParameters& b, double length = 1.0);

/// Names of all parameters: as in the layout ("forearm.Izz"), or the short names that are usual for
/// serial arms, numbered from the base: XX2, MY2, m2, Ia2 (rotor), Fv2, Fc2, Fo2 (viscous, Coulomb,
/// offset). No value if the tree is not one chain of joints on a fixed base.
std::vector<std::string> fullLabels(const ParameterLayout& layout);
std::optional<std::vector<std::string>> shortLabels(const Tree& tree,
                                                    const ParameterLayout& layout);

/// "ZZ1 + Ia1 + YY2 + 0.0506 m3": base parameter number i.
std::string groupingText(const BaseParameters& base, int i, const std::vector<std::string>& labels);

/// The model with rotations and offsets rounded to what they are meant to be: numbers typed with
/// few digits (1.5708) or in single precision (4e-8) make axes that are almost, but not quite,
/// parallel. Entries of rotations and axes nearer than 1e-5 to 0, roll, pitch and yaw nearer
/// than 1e-5 to a multiple of 15 degrees, and lengths below 1e-7 m, are snapped.
Model withSnappedGeometry(const Model& model);
/// The joints whose geometry that changed by more than rounding.
std::vector<std::string> snappedJoints(const Model& model, const Model& snapped);

}  // namespace proprio
