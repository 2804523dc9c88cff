#include "proprio/dynamics/regrouping_rules.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>

#include "proprio/dynamics/joint_features_internal.h"
#include "proprio/dynamics/modified_dh.h"

namespace proprio {
namespace {

/// Sines, cosines and offsets below this are zero.
constexpr double kZeroAngle = 1e-9;

enum Component { kM, kMX, kMY, kMZ, kXX, kXY, kXZ, kYY, kYZ, kZZ };

/// The ten parameters of a link, each a row over all standard parameters.
using LinkRows = Eigen::MatrixXd;  // 10 x parameters

/// The ten parameters of a DH link in terms of those of the model's links.
LinkRows linkRows(const ModifiedDhLink& link, const ParameterLayout& layout) {
  LinkRows rows = LinkRows::Zero(10, layout.size());
  for (const ModifiedDhLink::Part& part : link.parts) {
    rows.middleCols<10>(layout.linkOffset(part.link)) = parameterTransform(part.X_ML);
  }
  return rows;
}

/// Moves YY, MZ and M of a link into the one before it.
void regroup(const ModifiedDhLink& link, LinkRows& of, LinkRows& before) {
  const double d = link.d, r = link.r, s = std::sin(link.alpha), c = std::cos(link.alpha);
  const Eigen::RowVectorXd M = of.row(kM), Z = of.row(kMZ) + r * M;
  const Eigen::RowVectorXd Y = of.row(kYY) + 2.0 * r * of.row(kMZ) + r * r * M;
  before.row(kXX) += Y;
  before.row(kXY) += d * s * Z;
  before.row(kXZ) -= d * c * Z;
  before.row(kYY) += c * c * Y + d * d * M;
  before.row(kYZ) += c * s * Y;
  before.row(kZZ) += s * s * Y + d * d * M;
  before.row(kMX) += d * M;
  before.row(kMY) -= s * Z;
  before.row(kMZ) += c * Z;
  before.row(kM) += M;
  of.row(kXX) -= of.row(kYY);
}

struct Chain {
  std::vector<ModifiedDhLink> links;
  size_t parallel = 0;  ///< how many joints from the base on are parallel to joint 1
  size_t colinear = 0;  ///< and on the same line
  bool vertical = false;
};

Chain chainOf(std::vector<ModifiedDhLink> links) {
  Chain chain;
  chain.links = std::move(links);
  const Vector3d& g = chain.links.front().gravity_axis;
  chain.vertical = std::hypot(g[0], g[1]) < kZeroAngle * g.norm();
  bool line = true;
  for (size_t j = 0; j < chain.links.size(); ++j) {
    if (j > 0 && std::abs(std::sin(chain.links[j].alpha)) > kZeroAngle) break;
    line = line && (j == 0 || std::abs(chain.links[j].d) < kZeroAngle);
    ++chain.parallel;
    if (line) ++chain.colinear;
  }
  return chain;
}

std::string couplingObstacle(const Chain& chain,
                             const std::vector<internal::RowFeature>& features) {
  const auto number = [&](int joint) {
    for (size_t j = 0; j < chain.links.size(); ++j) {
      if (chain.links[j].joint == joint) return j;
    }
    return chain.links.size();
  };
  for (const internal::RowFeature& f : features) {
    if (f.acceleration_of < 0 || f.acceleration_of == f.row_joint) continue;
    const size_t a = number(f.row_joint), b = number(f.acceleration_of), outer = std::max(a, b);
    const bool adjacent = outer - std::min(a, b) == 1;
    if (!adjacent || std::abs(std::cos(chain.links[outer].alpha)) > kZeroAngle) {
      return "an acceleration coupling joins joints that are not adjacent and perpendicular";
    }
  }
  return "";
}

/// Rows of everything that the rules keep.
Eigen::MatrixXd keptRows(const Chain& chain, const ParameterLayout& layout,
                         const std::vector<internal::RowFeature>& features) {
  std::vector<LinkRows> links;
  for (const ModifiedDhLink& link : chain.links) links.push_back(linkRows(link, layout));
  for (size_t j = links.size() - 1; j > 0; --j) regroup(chain.links[j], links[j], links[j - 1]);
  std::vector<Eigen::RowVectorXd> rows;
  for (size_t j = 0; j < links.size(); ++j) {
    const bool turning_only = j < chain.parallel;
    if (!turning_only) {
      for (const Component c : {kXX, kXY, kXZ, kYZ}) rows.push_back(links[j].row(c));
    }
    if (!turning_only || j >= chain.colinear || !chain.vertical) {
      for (const Component c : {kMX, kMY}) rows.push_back(links[j].row(c));
    }
    Eigen::RowVectorXd zz = links[j].row(kZZ);
    // the rotor that nothing can tell from its link
    const bool first_other =
        j == chain.parallel && std::abs(std::cos(chain.links[j].alpha)) < kZeroAngle;
    for (const internal::RowFeature& f : features) {
      if (f.row_joint != chain.links[j].joint || f.acceleration_of != f.row_joint) continue;
      Eigen::RowVectorXd rotor = Eigen::RowVectorXd::Zero(layout.size());
      for (const auto& [parameter, value] : f.coefficients) rotor[parameter] = value;
      if (j == 0 || first_other) {
        zz += rotor;
      } else {
        rows.push_back(rotor);
      }
    }
    rows.push_back(zz);
  }
  for (const internal::RowFeature& f : features) {
    if (f.acceleration_of == f.row_joint) continue;
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(layout.size());
    for (const auto& [parameter, value] : f.coefficients) row[parameter] = value;
    rows.push_back(row);
  }
  Eigen::MatrixXd all(static_cast<Eigen::Index>(rows.size()), layout.size());
  for (size_t i = 0; i < rows.size(); ++i) all.row(static_cast<Eigen::Index>(i)) = rows[i];
  return all;
}

}  // namespace

std::optional<BaseParameters> regroupedBaseParameters(const Tree& tree,
                                                      std::shared_ptr<const ParameterLayout> layout,
                                                      const ReductionOptions& options,
                                                      std::string* reason) {
  std::string why;
  const auto fail = [&](const std::string& text) -> std::optional<BaseParameters> {
    if (reason != nullptr) *reason = text;
    return std::nullopt;
  };
  std::vector<ModifiedDhLink> links = modifiedDh(tree, &why);
  if (links.empty()) return fail(why);
  if (tree.model().gravity.norm() == 0.0) return fail("there is no gravity");
  const Chain chain = chainOf(std::move(links));
  const std::vector<bool> all(tree.model().joints.size(), true);
  const std::vector<internal::RowFeature> features = internal::jointFeatures(*layout, all);
  why = couplingObstacle(chain, features);
  if (!why.empty()) return fail(why);
  ReductionOptions reduction = options;
  if (reduction.preference.empty()) reduction.preference = defaultPreference(tree, *layout);
  const Eigen::MatrixXd rows = keptRows(chain, *layout, features);
  // sines of pi and the like: a billionth of the largest entry is rounding
  const Eigen::VectorXd sizes = Eigen::VectorXd::Ones(layout->size());
  if (reason != nullptr) reason->clear();
  return reduceRows(std::move(layout), rows, sizes, reduction);
}

}  // namespace proprio
