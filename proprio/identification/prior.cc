#include "proprio/identification/prior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/identification/stacked_problem.h"
#include "proprio/model/link_solid.h"
#include "proprio/model/repair.h"
#include "proprio/spatial/inertia_metric.h"
#include "proprio/spatial/physical_consistency.h"

namespace proprio {
namespace {

constexpr double kBarRadius = 0.06;        // m
constexpr double kBarDensity = 1500.0;     // kg/m^3, hollow metal with a motor
constexpr double kShortestBar = 0.1;       // m
constexpr double kSphereDensity = 1000.0;  // kg/m^3
constexpr double kMargin = 0.05;           // of repaired links
/// A body is trusted if its smallest second moment is at least this part of a sphere's.
constexpr double kThin = 1e-4;
/// Size of joint parameters, at least; and of those declared as zero, which says "unknown".
constexpr double kUnitInertia = 1e-9;  // kg m^2: nearer to the unit matrix is the unit matrix
constexpr double kSmallestSize = 0.1;
constexpr double kUnknownRotor = 1.0;      // kg m^2
constexpr double kUnknownFriction = 10.0;  // N m s/rad, N m
constexpr double kOffsetShare = 0.1;
constexpr Eigen::Index kSizeSamples = 2000;  // of each recording, from its middle

bool isOffset(const Model& model, const ParameterInfo& info) {
  if (info.kind != ParameterKind::kFriction) return false;
  const FrictionModel& friction = model.joints[static_cast<size_t>(info.joint)].friction;
  return friction.terms[static_cast<size_t>(info.component)].kind == FrictionTermKind::kOffset;
}

InertialParameters sphereAround(double mass, const Vector3d& centre) {
  const double radius = std::cbrt(3.0 * mass / (4.0 * M_PI * kSphereDensity));
  const Matrix3d inertia = 0.4 * mass * radius * radius * Matrix3d::Identity();
  return InertialParameters::fromCom(mass, centre, inertia);
}

InertialParameters atDensity(const Solid& solid, double density) {
  return InertialParameters::fromVector(density * solid.unit_density.vector());
}

/// A bar from the link's own joint to `end`.
InertialParameters bar(const Vector3d& start, const Vector3d& end) {
  const double length = std::max((end - start).norm(), kShortestBar);
  const double mass = kBarDensity * M_PI * kBarRadius * kBarRadius * length;
  const Vector3d along =
      (end - start).norm() > 1e-9 ? (end - start).normalized() : Vector3d::UnitZ();
  const double across = mass * (kBarRadius * kBarRadius / 4.0 + length * length / 12.0);
  const double axial = mass * kBarRadius * kBarRadius / 2.0;
  const Matrix3d inertia =
      across * Matrix3d::Identity() + (axial - across) * along * along.transpose();
  return InertialParameters::fromCom(mass, 0.5 * (start + end), inertia);
}

/// From the joint that carries the link to the joints that it carries.
InertialParameters bars(const Model& model, const Traversal& traversal, int link) {
  const auto placeOf = [&](int joint) {
    const Joint& j = model.joints[static_cast<size_t>(joint)];
    return j.first == link ? j.X_FJ.p : j.X_JS.inverse().p;
  };
  const Vector3d start = placeOf(traversal.parent_joint[static_cast<size_t>(link)]);
  Vector10d sum = Vector10d::Zero();
  for (const int child : traversal.children[static_cast<size_t>(link)]) {
    const Vector3d end = placeOf(traversal.parent_joint[static_cast<size_t>(child)]);
    sum += bar(start, end).vector();
  }
  if (sum[0] == 0.0) sum = bar(start, start).vector();
  return InertialParameters::fromVector(sum);
}

/// Density at which the other links' shapes have their declared masses.
double medianDensity(const Model& model) {
  std::vector<double> densities;
  for (size_t link = 0; link < model.links.size(); ++link) {
    const double mass = model.links[link].inertia.mass;
    if (mass <= 0.0) continue;
    const LinkSolid solid = linkSolid(model, static_cast<int>(link));
    if (solid.usable()) densities.push_back(mass / solid.solid.volume());
  }
  if (densities.empty()) return kSphereDensity;
  std::nth_element(densities.begin(), densities.begin() + static_cast<long>(densities.size() / 2),
                   densities.end());
  return densities[densities.size() / 2];
}

/// A body whose inertia is the unit matrix, which exporters write where they know none: a sphere.
InertialParameters withoutPlaceholder(const InertialParameters& body) {
  return isPlaceholderInertia(body) ? sphereAround(std::max(body.mass, 0.0), body.com()) : body;
}

/// A link with what is fixed to it, placeholders replaced.
InertialParameters described(const Link& link) {
  bool placeholder = isPlaceholderInertia(ownInertia(link));
  InertialParameters sum = withoutPlaceholder(ownInertia(link));
  for (const LinkPart& part : link.parts) {
    placeholder = placeholder || isPlaceholderInertia(part.inertia);
    sum = sum + transformed(part.X_LP, withoutPlaceholder(part.inertia));
  }
  return placeholder ? sum : link.inertia;
}

bool trusted(const InertialParameters& body) {
  const ConsistencyMargins margins = consistencyMargins(body);
  if (!margins.fullyConsistent()) return false;
  return relativeMargin(body, sphereAround(margins.mass, body.com())) > kThin;
}

}  // namespace

bool isPlaceholderInertia(const InertialParameters& body) {
  return body.mass != 0.0 && body.inertiaAtCom().isIdentity(kUnitInertia);
}

Prior priorParameters(const Tree& tree, const ParameterLayout& layout) {
  const Model& model = tree.model();
  const Traversal traversal = traverse(model, tree.baseLink());
  Parameters declared = declaredParameters(tree.sharedModel());
  Prior prior;
  prior.chi = Eigen::Map<const Eigen::VectorXd>(declared.values.data(), layout.size());
  double density = 0.0;  // found out only if it is needed
  for (int link = 0; link < static_cast<int>(model.links.size()); ++link) {
    if (traversal.parent[static_cast<size_t>(link)] < 0) continue;
    const InertialParameters body = described(model.links[static_cast<size_t>(link)]);
    prior.chi.segment<10>(layout.linkOffset(link)) = body.vector();
    if (trusted(body)) continue;
    const LinkSolid solid = linkSolid(model, link);
    const double mass = body.mass;
    InertialParameters better;
    if (mass <= 0.0) {
      prior.guessed.push_back(link);
      if (density == 0.0) density = medianDensity(model);
      better = solid.usable() ? atDensity(solid.solid, density) : bars(model, traversal, link);
    } else {
      prior.repaired.push_back(link);
      const InertialParameters reference = solid.usable()
                                               ? atDensity(solid.solid, mass / solid.solid.volume())
                                               : sphereAround(mass, body.com());
      better = nearestPossible(body, reference, kMargin);
    }
    prior.chi.segment<10>(layout.linkOffset(link)) = better.vector();
  }
  return prior;
}

PriorMetric priorMetric(const ParameterLayout& layout, const Eigen::VectorXd& prior,
                        const Eigen::VectorXd& sizes) {
  PriorMetric metric;
  const int links = layout.inertialSize() / 10;
  for (int link = 0; link < links; ++link) {
    const Vector10d values = prior.segment<10>(layout.linkOffset(link));
    const InertialParameters body = InertialParameters::fromVector(values);
    // a base link may be declared without mass; whatever it is, nothing depends on it
    const bool possible = consistencyMargins(body).fullyConsistent();
    metric.links.push_back(pullbackMetric(possible ? body : sphereAround(1.0, Vector3d::Zero())));
  }
  metric.others = sizes.cwiseAbs2().cwiseInverse();
  return metric;
}

Eigen::VectorXd parameterSizes(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& prior, const std::vector<MotionData>& data) {
  const int first = layout.inertialSize(), others = layout.size() - first;
  // over the rows that a parameter shows in: squares of its column and of the torques that vary
  Eigen::VectorXd column = Eigen::VectorXd::Zero(others), torque = column;
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), layout.size());
  for (const MotionData& motion : data) {
    const Eigen::Index count = std::min<Eigen::Index>(motion.samples(), kSizeSamples);
    const Eigen::Index start = (motion.samples() - count) / 2;
    const Eigen::RowVectorXd mean = motion.tau.middleRows(start, count).colwise().mean();
    forEachBatch(tree, layout, motion, start, count, workspace, batch,
                 [&](Eigen::Index from, Eigen::Index rows, RegressorBatch& now) {
                   for (Eigen::Index j = 0; j < motion.tau.cols(); ++j) {
                     const auto Y = now.rows(j, rows);
                     for (Eigen::Index k = 0; k < rows; ++k) {
                       if (!motion.use(from + k, j)) continue;
                       const double tau = motion.tau(from + k, j) - mean[j];
                       for (int p = 0; p < others; ++p) {
                         const double y = Y(k, first + p);
                         column[p] += y * y;
                         if (y != 0.0) torque[p] += tau * tau;
                       }
                     }
                   }
                 });
  }
  Eigen::VectorXd sizes(others);
  for (int p = 0; p < others; ++p) {
    const ParameterInfo& info = layout[first + p];
    const double declared = std::abs(prior[first + p]);
    if (declared > 0.0) {
      sizes[p] = std::max(declared, kSmallestSize);
    } else if (column[p] > 0.0 && torque[p] > 0.0) {
      sizes[p] =
          std::sqrt(torque[p] / column[p]) * (isOffset(tree.model(), info) ? kOffsetShare : 1.0);
    } else {
      sizes[p] = info.kind == ParameterKind::kRotorInertia ? kUnknownRotor : kUnknownFriction;
    }
  }
  return sizes;
}

Eigen::MatrixXd solveMetric(const PriorMetric& metric, const Eigen::MatrixXd& X) {
  Eigen::MatrixXd result(X.rows(), X.cols());
  for (size_t link = 0; link < metric.links.size(); ++link) {
    const auto first = static_cast<Eigen::Index>(10 * link);
    result.middleRows(first, 10) = metric.links[link].llt().solve(X.middleRows(first, 10));
  }
  const Eigen::Index others = metric.others.size();
  result.bottomRows(others) = metric.others.cwiseInverse().asDiagonal() * X.bottomRows(others);
  return result;
}

}  // namespace proprio
