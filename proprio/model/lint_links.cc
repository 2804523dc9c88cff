#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "proprio/core/text_table.h"
#include "proprio/model/link_solid.h"
#include "proprio/model/lint_internal.h"
#include "proprio/model/tree.h"

namespace proprio::internal {
namespace {

constexpr const char* kInertiaUnit = "kg m²";
// Rounding of decimal numbers: moments this far below zero, relative to their sum, count as zero.
constexpr double kInertiaRounding = 1e-9;
// Rounding of sums: of the inertia about the link's origin, from which the central one is computed.
constexpr double kFrameRounding = 1e-14;
// Thinner than a sheet of 1 mm on 1 m: (t/l)^2.
constexpr double kFlat = 1e-6;
constexpr double kLightest = 30.0, kHeaviest = 12000.0;  // kg/m^3, foam-filled shells to lead
constexpr double kSmallestGyration = 0.2;                // of the homogeneous geometry
constexpr double kGyrationSlack = 1.05;                  // shapes are simplified
constexpr double kLeastReach = 1.0;                      // m, of a robot without joint offsets
constexpr double kTinyMass = 1e-6;                       // kg, and of the robot's mass
constexpr double kComSlack = 0.1;                        // of the bounding box's diagonal

double ofSum(double value, const Vector3d& moments) {
  const double sum = moments.cwiseAbs().sum();
  return sum > 0.0 ? value / sum : 0.0;
}

// what counts as zero among the principal inertias J of a body
double roundingOf(const InertialParameters& body, const Vector3d& J) {
  return std::max(kInertiaRounding * J.cwiseAbs().sum(),
                  kFrameRounding * body.inertia.cwiseAbs().maxCoeff());
}

Vector3d principalInertias(const InertialParameters& body) {
  return Eigen::SelfAdjointEigenSolver<Matrix3d>(body.inertiaAtCom(), Eigen::EigenvaluesOnly)
      .eigenvalues();
}

bool massless(const InertialParameters& body) { return body.vector().isZero(0.0); }

// mass, positive inertia, triangle inequality: at most one finding, the most basic one; false if it
// is an error
bool lintInertia(const Model& model, const RigidGroups& groups, int link,
                 std::vector<Finding>& findings) {
  const InertialParameters& body = model.links[static_cast<size_t>(link)].inertia;
  if (massless(body)) return true;
  if (!(body.mass > 0.0)) {
    Finding out = linkFinding(Severity::kError, "mass-positive", model, link);
    out.message = body.mass < 0.0 ? "its mass is negative" : "it has an inertia but no mass";
    out.advice = "give the mass in kg, or remove the inertial if the link is only a frame";
    out.value = out.margin = body.mass;
    out.unit = "kg";
    findings.push_back(out);
    return false;
  }
  const Vector3d J = principalInertias(body);
  const double smallest_moment = 0.5 * (J[0] + J[1] - J[2]);
  const double rounding = roundingOf(body, J);
  if (J[0] <= rounding) {
    // a point or a line of mass, which has no negative second moment, is possible as a part of
    // something with extent
    const auto group = static_cast<size_t>(groups.of_link[static_cast<size_t>(link)]);
    const InertialParameters& whole = groups.inertia[group];
    const Vector3d J_whole = principalInertias(whole);
    const bool thin = J[0] >= -rounding && smallest_moment >= -rounding;
    const bool part = thin && J_whole[0] > roundingOf(whole, J_whole);
    Finding out =
        linkFinding(part ? Severity::kWarning : Severity::kError, "inertia-positive", model, link);
    out.message = fmt::format(
        "its inertia about the centre of mass is {}: principal inertias {}, {}, {} kg m²",
        J[0] < 0.0 ? "not positive" : "zero about some axis", readable(J[0]), readable(J[1]),
        readable(J[2]));
    out.advice = inUrdf(model, out)
                     ? "compute the inertia from its shape, or let check --repair find the nearest "
                       "one"
                     : "compute the inertia from its shape";
    out.value = out.margin = J[0];
    out.unit = kInertiaUnit;
    findings.push_back(out);
    return part;
  }
  if (ofSum(smallest_moment, J) < kFlat) {
    const bool impossible = ofSum(smallest_moment, J) < -kInertiaRounding;
    Finding out = linkFinding(impossible ? Severity::kError : Severity::kWarning,
                              impossible ? "inertia-triangle" : "inertia-flat", model, link);
    out.message = fmt::format(
        "principal inertias {}, {}, {} kg m²: the largest {} the sum of the "
        "others, so the mass {}",
        readable(J[0]), readable(J[1]), readable(J[2]), impossible ? "exceeds" : "equals",
        impossible ? "would have a negative extent along one axis"
                   : "lies in a plane, where rounding can make it impossible");
    out.advice = fmt::format(
        "check for inertia about the wrong point, swapped or mistyped terms{}",
        inUrdf(model, out) ? "; check --repair finds the nearest possible inertia" : "");
    out.value = out.margin = smallest_moment;
    out.unit = kInertiaUnit;
    findings.push_back(out);
    return !impossible;
  }
  return true;
}

// how far the mass reaches, against the shapes
void lintGyration(const Model& model, int link, const Solid& solid,
                  std::vector<Finding>& findings) {
  const InertialParameters& body = model.links[static_cast<size_t>(link)].inertia;
  // mass on [a, b] has a variance of at most ((b - a) / 2)^2
  const Matrix3d central = body.inertiaAtCom();
  const Vector3d moments = Vector3d::Constant(0.5 * central.trace()) - central.diagonal();
  int worst = 0;
  Vector3d spread, bound = 0.5 * solid.extent();
  for (int i = 0; i < 3; ++i) {
    spread[i] = std::sqrt(std::max(0.0, moments[i]) / body.mass);
    if (spread[i] * bound[worst] > spread[worst] * bound[i]) worst = i;
  }
  const InertialParameters& full = solid.unit_density;
  const double gyration = std::sqrt(std::max(0.0, 0.5 * central.trace()) / body.mass);
  const double homogeneous = std::sqrt(0.5 * full.inertiaAtCom().trace() / full.mass);
  if (spread[worst] > kGyrationSlack * bound[worst]) {
    Finding out = linkFinding(Severity::kWarning, "gyration-large", model, link);
    out.message =
        fmt::format("its inertia needs mass {} m from the centre along {}, its shapes reach {} m",
                    readable(spread[worst], 3), "xyz"[worst], readable(bound[worst], 3));
    out.advice = "check the units of the inertia (kg m²) and that it is about the centre of mass";
    out.value = spread[worst];
    out.margin = bound[worst] - spread[worst];
    out.unit = "m";
    findings.push_back(out);
  } else if (gyration < kSmallestGyration * homogeneous) {
    Finding out = linkFinding(Severity::kWarning, "gyration-small", model, link);
    out.message = fmt::format(
        "its radius of gyration is {} m, its shapes filled homogeneously would have {} m",
        readable(gyration, 3), readable(homogeneous, 3));
    out.advice = "check the units of the inertia (kg m²); a homogeneous body would be nearer";
    out.value = gyration;
    out.margin = gyration - kSmallestGyration * homogeneous;
    out.unit = "m";
    findings.push_back(out);
  }
}

// the longest chain of joint offsets: no link of a robot is larger than the whole
double reachOf(const Model& model) {
  const Traversal walk = traverse(model, model.base);
  std::vector<double> length(model.links.size(), 0.0);
  double longest = kLeastReach;
  for (const int link : walk.order) {
    const auto l = static_cast<size_t>(link);
    if (walk.parent[l] < 0) continue;
    const Joint& joint = model.joints[static_cast<size_t>(walk.parent_joint[l])];
    length[l] =
        length[static_cast<size_t>(walk.parent[l])] + joint.X_FJ.p.norm() + joint.X_JS.p.norm();
    longest = std::max(longest, length[l]);
  }
  return longest;
}

// how far the mass reaches, where there are no shapes to compare with
void lintReach(const Model& model, int link, double reach, std::vector<Finding>& findings) {
  const InertialParameters& body = model.links[static_cast<size_t>(link)].inertia;
  if (!(body.mass > 0.0)) return;
  const Vector3d J = principalInertias(body);
  const double spread = std::sqrt(std::max(0.0, 0.5 * (J[1] + J[2] - J[0])) / body.mass);
  if (spread <= reach) return;
  Finding out = linkFinding(Severity::kWarning, "gyration-large", model, link);
  out.message =
      fmt::format("its inertia needs mass {} m from the centre, the joints of the robot reach {} m",
                  readable(spread, 3), readable(reach, 3));
  out.advice = "check the units of mass (kg) and of the inertia (kg m²)";
  out.value = spread;
  out.margin = reach - spread;
  out.unit = "m";
  findings.push_back(out);
}

// plausibility against the shapes; gyration says nothing about an impossible inertia
void lintGeometry(const Model& model, int link, const LinkSolid& shapes, bool possible,
                  std::vector<Finding>& findings) {
  const InertialParameters& body = model.links[static_cast<size_t>(link)].inertia;
  if (!shapes.usable() || !(body.mass > 0.0)) return;
  const Solid& solid = shapes.solid;
  const double density = body.mass / solid.volume();
  if (density < kLightest || density > kHeaviest) {
    Finding out = linkFinding(Severity::kWarning, "density", model, link);
    out.message = fmt::format("{} kg in shapes of {} m³; expected between {} and {} kg/m³",
                              readable(body.mass), readable(solid.volume()), kLightest, kHeaviest);
    out.advice = "check the units of mass (kg) and of the shapes (m, mesh scale)";
    out.value = density;
    out.margin = density < kLightest ? density - kLightest : kHeaviest - density;
    out.unit = "kg/m³";
    findings.push_back(out);
  }
  if (possible) lintGyration(model, link, solid, findings);
  const Vector3d com = body.com();
  const double outside = (com - com.cwiseMax(solid.lower).cwiseMin(solid.upper)).norm();
  const double allowed = kComSlack * solid.extent().norm();
  if (outside > allowed) {
    Finding out = linkFinding(Severity::kWarning, "com-outside", model, link);
    out.message = fmt::format("its centre of mass ({}, {}, {}) m lies {} m outside its shapes",
                              readable(com.x(), 3), readable(com.y(), 3), readable(com.z(), 3),
                              readable(outside, 3));
    out.advice = "check the inertial's origin: it is in the link frame, in metres";
    out.value = outside;
    out.margin = allowed - outside;
    out.unit = "m";
    findings.push_back(out);
  }
}

// ---- massless bodies ----

// per group: some link of the subtree has mass
std::vector<bool> massBeyond(const RigidGroups& groups, const Traversal& walk) {
  std::vector<bool> out(groups.inertia.size());
  for (size_t g = 0; g < out.size(); ++g) out[g] = groups.inertia[g].mass != 0.0;
  for (auto it = walk.order.rbegin(); it != walk.order.rend(); ++it) {
    const int above = walk.parent[static_cast<size_t>(*it)];
    if (above < 0) continue;
    const auto own = static_cast<size_t>(groups.of_link[static_cast<size_t>(*it)]);
    if (out[own]) out[static_cast<size_t>(groups.of_link[static_cast<size_t>(above)])] = true;
  }
  return out;
}

void lintMassless(const Model& model, const RigidGroups& groups, std::vector<Finding>& findings) {
  const Traversal walk = traverse(model, model.base);
  const std::vector<bool> heavy = massBeyond(groups, walk);
  std::vector<bool> seen(groups.inertia.size(), false);
  for (const int link : walk.order) {
    const auto l = static_cast<size_t>(link);
    const auto group = static_cast<size_t>(groups.of_link[l]);
    if (seen[group]) continue;
    seen[group] = true;
    if (!groups.moves[group] || !massless(groups.inertia[group])) continue;
    const int j = walk.parent_joint[l];
    const bool free_base = j < 0;
    const bool rotor = !free_base && model.joints[static_cast<size_t>(j)].drive.rotor_inertia > 0.0;
    const bool end = !heavy[group];
    Finding out = linkFinding(end && !rotor ? Severity::kError : Severity::kWarning,
                              end ? "massless-end" : "massless-between", model, link);
    out.message = free_base ? std::string("the base is free in space and has no mass")
                            : fmt::format("joint '{}' moves it, but it has no mass{}",
                                          model.joints[static_cast<size_t>(j)].name,
                                          end ? " and neither has anything beyond it" : "");
    out.advice =
        end ? (rotor ? "give it an inertial; only the rotor's inertia keeps the mass "
                       "matrix invertible"
                     : "give it an inertial, or make the joint fixed: the mass matrix is "
                       "singular")
            : fmt::format("give it an inertial if it is a real part; simulators may refuse it{}",
                          inUrdf(model, out) ? ", and check --repair gives it a small one" : "");
    out.value = 0.0;
    out.unit = "kg";
    findings.push_back(out);
  }
}

// bodies that move and weigh next to nothing: placeholders that make the mass matrix
// ill-conditioned
void lintTiny(const Model& model, const RigidGroups& groups, std::vector<Finding>& findings) {
  double total = 0.0;
  for (const InertialParameters& body : groups.inertia) total += std::max(0.0, body.mass);
  const double bound = std::max(kTinyMass, kTinyMass * total);
  std::vector<bool> seen(groups.inertia.size(), false);
  for (size_t l = 0; l < model.links.size(); ++l) {
    const auto group = static_cast<size_t>(groups.of_link[l]);
    const double mass = groups.inertia[group].mass;
    if (seen[group] || !(model.links[l].inertia.mass > 0.0)) continue;
    seen[group] = true;
    if (!groups.moves[group] || !(mass > 0.0) || mass >= bound) continue;
    Finding out = linkFinding(Severity::kWarning, "mass-tiny", model, static_cast<int>(l));
    out.message =
        fmt::format("it moves and weighs {} kg, the robot {} kg", readable(mass), readable(total));
    out.advice = "give its mass in kg; a placeholder makes the mass matrix ill-conditioned";
    out.value = mass;
    out.margin = mass - bound;
    out.unit = "kg";
    findings.push_back(out);
  }
}

void lintMissing(const Model& model, const RigidGroups& groups, int link,
                 std::vector<Finding>& findings) {
  const Link& about = model.links[static_cast<size_t>(link)];
  const auto group = static_cast<size_t>(groups.of_link[static_cast<size_t>(link)]);
  const bool shaped = std::any_of(about.shapes.begin(), about.shapes.end(),
                                  [](const Shape& shape) { return shape.collision; });
  // massless groups have findings of their own
  if (about.has_inertial || !shaped || !groups.moves[group] || massless(groups.inertia[group]))
    return;
  Finding out = linkFinding(Severity::kWarning, "inertial-missing", model, link);
  out.message = "it has shapes and moves with the robot, but weighs nothing";
  out.advice = "give it an inertial, unless its mass is counted in the link it is fixed to";
  findings.push_back(out);
}

// ---- values that nobody measured ----

void lintDefaults(const Model& model, std::vector<Finding>& findings) {
  constexpr size_t kCopies = 3;
  std::vector<bool> done(model.links.size(), false);
  const auto asWritten = [](const Link& link) {
    return Matrix3d(link.X_LI.R.transpose() * link.inertia.inertiaAtCom() * link.X_LI.R);
  };
  for (size_t i = 0; i < model.links.size(); ++i) {
    const Link& link = model.links[i];
    if (done[i] || !link.has_inertial || !(link.inertia.mass > 0.0)) continue;
    const Matrix3d inertia = asWritten(link);
    std::vector<std::string> same = {link.name};
    double lightest = link.inertia.mass, heaviest = lightest;
    for (size_t k = i + 1; k < model.links.size(); ++k) {
      const Link& other = model.links[k];
      if (!other.has_inertial || !(other.inertia.mass > 0.0)) continue;
      if (!asWritten(other).isApprox(inertia, kInertiaRounding)) continue;
      done[k] = true;
      same.push_back(other.name);
      lightest = std::min(lightest, other.inertia.mass);
      heaviest = std::max(heaviest, other.inertia.mass);
    }
    const bool unit = inertia.isIdentity(kInertiaRounding);
    const bool copied = same.size() >= kCopies && heaviest > 1.01 * lightest;
    if (!unit && !copied) continue;
    Finding out = linkFinding(Severity::kWarning, "inertia-default", model, static_cast<int>(i));
    out.message = fmt::format(
        "{}{}", unit ? "the inertia is the unit matrix" : "the same inertia stands at other masses",
        same.size() > 1 ? fmt::format(", in {} links: {}", same.size(), fmt::join(same, ", "))
                        : std::string());
    out.advice = "this looks like an exporter's default; compute the inertia from the shapes";
    out.value = inertia(0, 0);
    out.unit = kInertiaUnit;
    findings.push_back(out);
  }
}

// one note for all meshes that cannot be used, because there are often many
void lintMeshes(const std::vector<std::string>& notes, size_t links,
                std::vector<Finding>& findings) {
  if (notes.empty()) return;
  Finding out;
  out.rule = "mesh";
  out.subject = fmt::format("{} link{}", links, links == 1 ? "" : "s");
  out.message = fmt::format(
      "{}{}", notes.front(),
      notes.size() > 1 ? fmt::format("; {} more like this", notes.size() - 1) : std::string());
  out.advice =
      "masses of links without readable shapes are not compared with them; give package roots with "
      "'packages:' in robot.yaml, and STL, OBJ or COLLADA files";
  findings.push_back(out);
}

}  // namespace

void lintLinks(const Model& model, std::vector<Finding>& findings) {
  const RigidGroups groups = rigidGroups(model);
  std::vector<std::string> mesh_notes;
  size_t mesh_links = 0;
  const double reach = reachOf(model);
  for (int link = 0; link < static_cast<int>(model.links.size()); ++link) {
    const bool possible = lintInertia(model, groups, link, findings);
    const LinkSolid shapes = linkSolid(model, link);
    lintGeometry(model, link, shapes, possible, findings);
    if (possible && !shapes.usable()) lintReach(model, link, reach, findings);
    mesh_notes.insert(mesh_notes.end(), shapes.notes.begin(), shapes.notes.end());
    mesh_links += shapes.notes.empty() ? 0 : 1;
    lintMissing(model, groups, link, findings);
  }
  lintMassless(model, groups, findings);
  lintTiny(model, groups, findings);
  lintDefaults(model, findings);
  lintMeshes(mesh_notes, mesh_links, findings);
}

}  // namespace proprio::internal
