#include "proprio/model/repair.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/model/link_solid.h"
#include "proprio/model/lint_internal.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/model/urdf_writer.h"
#include "proprio/spatial/inertia_metric.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

constexpr double kUsualDensity = 1000.0;  // kg/m^3
// Of a link that is only a frame: too light to matter in the motion of its neighbours, heavy enough
// that a simulator's mass matrix stays well conditioned.
constexpr double kShareOfNeighbour = 0.01;
// Not lighter than what `mass-tiny` warns of: simulators take less for nothing.
constexpr double kLeastMass = 2e-6;  // kg
// Ten times as thick as what `inertia-flat` warns of, so that rounding cannot make it flat.
constexpr double kThinnest = 1e-5;        // second moment, of the body's largest
constexpr double kLeastInertia = 1e-12;   // kg m^2; MuJoCo refuses 1e-14
constexpr double kSameMass = 1e-9;        // relative
constexpr double kFrameRounding = 1e-13;  // relative, of a change of frame there and back

Matrix3d inertiaFrom(const Matrix3d& second_moment) {
  return second_moment.trace() * Matrix3d::Identity() - second_moment;
}

InertialParameters scaled(const InertialParameters& body, double factor) {
  return InertialParameters::fromVector(factor * body.vector());
}

InertialParameters sphereAt(double mass, const Vector3d& centre) {
  const double radius = std::cbrt(3.0 * mass / (4.0 * std::numbers::pi * kUsualDensity));
  return transformed(Pose{Matrix3d::Identity(), centre}, sphereInertia(mass, radius));
}

// what the links without errors tell about this robot
struct Usual {
  double density = kUsualDensity;
  internal::RigidGroups groups;
  std::vector<double> mass;  // per group, of its sound links
};

Usual usualValues(const Model& model, const std::vector<bool>& broken) {
  Usual usual;
  usual.groups = internal::rigidGroups(model);
  usual.mass.assign(usual.groups.inertia.size(), 0.0);
  std::vector<double> densities;
  for (size_t i = 0; i < model.links.size(); ++i) {
    const double mass = model.links[i].inertia.mass;
    if (broken[i] || !(mass > 0.0)) continue;
    usual.mass[static_cast<size_t>(usual.groups.of_link[i])] += mass;
    const LinkSolid shapes = linkSolid(model, static_cast<int>(i));
    if (shapes.usable()) densities.push_back(mass / shapes.solid.volume());
  }
  if (!densities.empty()) {
    const auto middle = densities.begin() + static_cast<std::ptrdiff_t>(densities.size() / 2);
    std::nth_element(densities.begin(), middle, densities.end());
    usual.density = *middle;
  }
  return usual;
}

// a share of the lightest body that the fewest joints separate from this link, itself first
double smallMass(const Model& model, const Usual& usual, int link) {
  std::vector<bool> seen(usual.mass.size(), false);
  std::vector<int> ring = {usual.groups.of_link[static_cast<size_t>(link)]};
  while (!ring.empty()) {
    double lightest = 0.0;
    for (const int group : ring) {
      const double mass = usual.mass[static_cast<size_t>(group)];
      if (mass > 0.0 && (lightest == 0.0 || mass < lightest)) lightest = mass;
      seen[static_cast<size_t>(group)] = true;
    }
    if (lightest > 0.0) return std::max(kLeastMass, kShareOfNeighbour * lightest);
    std::vector<int> next;
    for (const Joint& joint : model.joints) {
      const int first = usual.groups.of_link[static_cast<size_t>(joint.first)];
      const int second = usual.groups.of_link[static_cast<size_t>(joint.second)];
      for (const auto& [from, to] : {std::pair{first, second}, std::pair{second, first}}) {
        const bool reached = std::find(ring.begin(), ring.end(), from) != ring.end();
        if (reached && !seen[static_cast<size_t>(to)]) next.push_back(to);
      }
    }
    ring = next;
  }
  return kShareOfNeighbour;
}

// The same body with second moments about the centre of at least kThinnest of its largest one, and
// principal inertias of at least kLeastInertia.
InertialParameters thickened(const InertialParameters& body) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(centralSecondMoment(body));
  const double least = std::max(kThinnest * eigen.eigenvalues().maxCoeff(), 0.5 * kLeastInertia);
  if (eigen.eigenvalues().minCoeff() >= least) return body;
  const Matrix3d& Q = eigen.eigenvectors();
  const Matrix3d sigma = Q * eigen.eigenvalues().cwiseMax(least).asDiagonal() * Q.transpose();
  return InertialParameters::fromCom(body.mass, body.com(), inertiaFrom(sigma));
}

LinkRepair repairLink(const Model& model, int index, const Usual& usual, double margin) {
  const Link& link = model.links[static_cast<size_t>(index)];
  const LinkSolid shapes = linkSolid(model, index);
  LinkRepair out;
  out.link = index;
  out.before = link.inertia;
  out.from_shapes = shapes.usable();
  out.mass_kept = link.inertia.mass > 0.0;

  // mass, and the centre as written
  double mass = link.inertia.mass;
  if (!out.mass_kept) {
    mass = out.from_shapes ? usual.density * shapes.solid.volume()
           : mass < 0.0    ? -mass
                           : smallMass(model, usual, index);
  }
  Vector3d com = link.inertia.mass != 0.0 ? link.inertia.com() : link.X_LI.p;
  if (!link.has_inertial && out.from_shapes) com = shapes.solid.unit_density.com();
  out.com_kept = link.has_inertial;

  out.reference = out.from_shapes ? scaled(shapes.solid.unit_density, mass / shapes.solid.volume())
                                  : sphereAt(mass, com);
  const ConsistencyMargins possible = consistencyMargins(out.reference);
  if (!possible.fullyConsistent() ||
      !(possible.triangle > kFrameRounding * out.reference.inertia.trace())) {
    throw errorAt({link.location.file, link.location.line, 0},
                  fmt::format("link {}: its mass is {} kg, {} m from the link's origin, for which "
                              "no possible inertia can be computed; give them in kg and m",
                              inQuotes(link.name), mass, readable(com.norm())));
  }
  const Matrix3d central = link.inertia.inertiaAtCom();
  // an inertia that was stated for no mass says nothing about a mass that is only assumed
  const bool assumed = link.inertia.mass == 0.0 && !out.from_shapes;
  const bool stated = out.mass_kept || (!assumed && !central.isZero(0.0));
  out.after = thickened(nearestPossible(
      InertialParameters::fromCom(mass, com, stated ? central : out.reference.inertiaAtCom()),
      out.reference, margin));
  out.margin_before = relativeMargin(out.before, out.reference);
  out.margin_after = relativeMargin(out.after, out.reference);
  const Vector10d change = out.after.vector() - out.before.vector();
  out.change = std::sqrt(change.dot(pullbackMetric(out.reference) * change));
  return out;
}

// Errors, and what a simulator refuses although it is possible: points and lines of mass, bodies so
// flat that rounding decides about the triangle inequality, and massless bodies that move.
bool mustChange(const Finding& finding) {
  return finding.severity == Severity::kError || finding.rule == "inertia-positive" ||
         finding.rule == "inertia-flat" || finding.rule == "massless-end" ||
         finding.rule == "massless-between";
}

// Of several massless links that are one body, the one with shapes gets the mass.
int bearerOf(const Model& model, const Finding& finding) {
  if (!finding.rule.starts_with("massless")) return finding.link;
  const std::vector<int> group = internal::rigidGroups(model).of_link;
  for (size_t i = 0; i < group.size(); ++i) {
    const bool same = group[i] == group[static_cast<size_t>(finding.link)];
    if (same && linkSolid(model, static_cast<int>(i)).usable()) return static_cast<int>(i);
  }
  return finding.link;
}

// The limits that a finding is about: lower below upper, magnitudes not negative.
void repairLimits(JointLimits& limits) {
  if (limits.lower > limits.upper) std::swap(limits.lower, limits.upper);
  limits.lower_left_out = limits.upper_left_out = false;
  limits.velocity = std::abs(limits.velocity);  // not stated stays so
  limits.effort = std::abs(limits.effort);
}

// Limits of the URDF itself: what robot.yaml states in their place is not known here any more.
JointLimits limitsOfUrdf(const Joint& joint) {
  JointLimits out = joint.limits;
  for (const StatedValue& value : joint.stated) {
    if (value.key == "limits.lower" || value.key == "limits.upper")
      out.lower = out.upper = kNotStated;
    if (value.key == "limits.velocity") out.velocity = kNotStated;
    if (value.key == "limits.effort") out.effort = kNotStated;
  }
  return out;
}

std::string limitsText(const JointLimits& limits) {
  std::vector<std::string> parts;
  if (!std::isnan(limits.lower) && !std::isnan(limits.upper))
    parts.push_back(fmt::format("{} … {}", readable(limits.lower), readable(limits.upper)));
  if (!std::isnan(limits.velocity)) parts.push_back("velocity " + readable(limits.velocity));
  if (!std::isnan(limits.effort)) parts.push_back("effort " + readable(limits.effort));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string principalText(const InertialParameters& body) {
  const Vector3d J =
      Eigen::SelfAdjointEigenSolver<Matrix3d>(body.inertiaAtCom(), Eigen::EigenvaluesOnly)
          .eigenvalues();
  return fmt::format("{} {} {}", readable(J[0], 3), readable(J[1], 3), readable(J[2], 3));
}

nlohmann::ordered_json numbersOf(const InertialParameters& body) {
  const Vector10d numbers = body.vector();
  return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
}

}  // namespace

InertialParameters nearestPossible(const InertialParameters& body,
                                   const InertialParameters& reference, double margin) {
  if (!(margin > 0.0 && margin < 1.0))
    throw Error(fmt::format("the margin is {}; give a number between 0 and 1", margin));
  if (!(body.mass > 0.0))
    throw Error(fmt::format("a body of {} kg cannot be repaired with its mass kept", body.mass));
  if (!consistencyMargins(reference).fullyConsistent() ||
      std::abs(reference.mass - body.mass) > kSameMass * body.mass) {
    throw Error("the reference of a repair must be a possible body of the same mass");
  }
  const double m = body.mass;
  const Vector3d offset = body.com() - reference.com();
  const Matrix3d sigma_r = centralSecondMoment(reference);
  const Matrix3d bound = margin * (sigma_r + m / (1.0 - margin) * offset * offset.transpose());
  const Eigen::LLT<Matrix3d> cholesky(sigma_r);
  const auto L = cholesky.matrixL();

  // X = L^-1 (Sigma - B) L^-T, negative eigenvalues to zero, and back
  const Matrix3d half = L.solve(Matrix3d(centralSecondMoment(body) - bound));
  const Matrix3d X = L.solve(Matrix3d(half.transpose()));
  const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(X);
  const Matrix3d Q = Matrix3d(L) * eigen.eigenvectors();
  const Matrix3d sigma = bound + Q * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * Q.transpose();
  return InertialParameters::fromCom(m, body.com(), inertiaFrom(sigma));
}

Repair repaired(const Model& model, const RepairOptions& options) {
  Repair out;
  out.model = model;
  std::vector<bool> broken(model.links.size(), false), broken_joints(model.joints.size(), false);
  for (const Finding& finding : lint(model)) {
    if (!mustChange(finding) || !internal::inUrdf(model, finding)) continue;
    if (finding.link >= 0) broken[static_cast<size_t>(bearerOf(model, finding))] = true;
    if (finding.rule == "limit-reversed") broken_joints[static_cast<size_t>(finding.joint)] = true;
  }
  for (size_t j = 0; j < broken_joints.size(); ++j) {
    if (!broken_joints[j]) continue;
    LimitRepair limits{static_cast<int>(j), limitsOfUrdf(model.joints[j]), {}};
    limits.after = limits.before;
    repairLimits(limits.after);
    for (double JointLimits::*field :
         {&JointLimits::lower, &JointLimits::upper, &JointLimits::velocity, &JointLimits::effort}) {
      if (!std::isnan(limits.after.*field)) out.model.joints[j].limits.*field = limits.after.*field;
    }
    out.model.joints[j].limits.lower_left_out = limits.after.lower_left_out;
    out.model.joints[j].limits.upper_left_out = limits.after.upper_left_out;
    out.joints.push_back(limits);
  }
  for (size_t i = 0; i < model.links.size(); ++i) {
    if (model.links[i].products_left_out) out.completed.push_back(static_cast<int>(i));
  }
  const Usual usual = usualValues(model, broken);
  for (size_t i = 0; i < broken.size(); ++i) {
    if (!broken[i]) continue;
    out.links.push_back(repairLink(model, static_cast<int>(i), usual, options.margin));
    out.model.links[i].inertia = out.links.back().after;
    out.model.links[i].has_inertial = true;
  }
  return out;
}

std::string repairedUrdf(const Repair& repair) {
  const Model& model = repair.model;
  if (model.urdf.empty()) {
    throw Error(fmt::format(
        "{}: it has no URDF that could be repaired; correct the links in the file itself",
        model.source));
  }
  const std::string text = readFile(model.urdf);
  const Model written = readUrdfText(text, model.urdf);
  UrdfChanges changes;
  changes.complete_inertias = true;
  std::vector<int> links = repair.completed;
  for (const LinkRepair& link : repair.links) links.push_back(link.link);
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  for (const int link : links) {
    const std::string& name = model.links[static_cast<size_t>(link)].name;
    const InertialParameters& body = model.links[static_cast<size_t>(link)].inertia;
    if (written.linkIndex(name) < 0) {
      throw Error(
          fmt::format("link '{}' is not in {}; correct it in {}", name, model.urdf, model.source));
    }
    UrdfInertia change{name, body};
    // what the repair keeps went through the link frame and back: its rounding is not a change
    const double length = body.mass != 0.0 ? body.com().norm() : 0.0;
    change.com_rounding = kFrameRounding * length;
    change.inertia_rounding = kFrameRounding * (body.inertia.trace() + body.mass * length * length);
    changes.links.push_back(change);
  }
  for (const LimitRepair& joint : repair.joints) {
    UrdfJointValues values;
    values.joint = model.joints[static_cast<size_t>(joint.joint)].name;
    values.lower = joint.after.lower;
    values.upper = joint.after.upper;
    values.velocity = joint.after.velocity;
    values.effort = joint.after.effort;
    changes.joints.push_back(values);
  }
  return spliceUrdf(text, changes, model.urdf);
}

std::string repairText(const Repair& repair, bool colour) {
  if (repair.links.empty() && repair.joints.empty() && repair.completed.empty())
    return "  nothing to repair\n";
  TextTable links;
  links.header = {"repaired link", "mass",  "", "principal inertias, kg m²", "", "margin", "",
                  "reference",     "change"};
  links.right = {false, true, true, false, false, true, true, false, true};
  for (const LinkRepair& link : repair.links) {
    const bool moved = !link.mass_kept;
    links.rows.push_back({repair.model.links[static_cast<size_t>(link.link)].name,
                          readable(link.before.mass) + " kg",
                          moved ? fmt::format("→ {} kg", readable(link.after.mass)) : "",
                          principalText(link.before), "→ " + principalText(link.after),
                          readable(link.margin_before, 3), "→ " + readable(link.margin_after, 3),
                          link.from_shapes ? "its shapes" : "sphere", readable(link.change, 3)});
  }
  TextTable joints;
  joints.header = {"repaired joint", "limits", ""};
  for (const LimitRepair& joint : repair.joints) {
    joints.rows.push_back({repair.model.joints[static_cast<size_t>(joint.joint)].name,
                           limitsText(joint.before), "→ " + limitsText(joint.after)});
  }
  std::string completed;
  for (const int link : repair.completed) {
    completed += completed.empty() ? "  products of inertia that were left out, written: " : ", ";
    completed += repair.model.links[static_cast<size_t>(link)].name;
  }
  std::string out;
  for (const std::string& part : {repair.links.empty() ? "" : links.text(colour),
                                  repair.joints.empty() ? "" : joints.text(colour),
                                  completed.empty() ? "" : completed + "\n"}) {
    out += (out.empty() || part.empty() ? "" : "\n") + part;
  }
  return out;
}

std::string repairJson(const Repair& repair) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const LinkRepair& link : repair.links) {
    out.push_back({{"link", repair.model.links[static_cast<size_t>(link.link)].name},
                   {"before", numbersOf(link.before)},
                   {"after", numbersOf(link.after)},
                   {"reference", numbersOf(link.reference)},
                   {"mass_kept", link.mass_kept},
                   {"com_kept", link.com_kept},
                   {"margin_before", link.margin_before},
                   {"margin_after", link.margin_after},
                   {"change", link.change}});
  }
  return out.dump(2);
}

}  // namespace proprio
