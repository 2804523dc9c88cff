#include "proprio/model/model.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "proprio/core/text.h"

namespace proprio {
namespace {

// How far an axis may be from unit length and a rotation from orthonormal: numbers written with
// seven digits.
constexpr double kUnitTolerance = 1e-6;

Error errorIn(const Model& model, const FileLocation& location, const std::string& sentence) {
  if (!location.file.empty()) return errorAt(location, sentence);
  if (!model.source.empty()) return errorAt({model.source, location.line, 0}, sentence);
  return Error(sentence);
}
Error errorIn(const Model& model, const Link& link, const std::string& sentence) {
  return errorIn(model, link.location, fmt::format("link '{}': {}", link.name, sentence));
}
Error errorIn(const Model& model, const Joint& joint, const std::string& sentence) {
  return errorIn(model, joint.location, fmt::format("joint '{}': {}", joint.name, sentence));
}
Error errorIn(const Model& model, const std::string& sentence) {
  return errorIn(model, FileLocation{}, sentence);
}
// about a value that robot.yaml may state
Error errorIn(const Model& model, const Joint& joint, const char* key,
              const std::string& sentence) {
  return errorIn(model, whereStated(joint, {key}),
                 fmt::format("joint '{}': {}", joint.name, sentence));
}

template <class Items>
std::vector<std::string> namesOf(const Items& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

template <class Items>
int indexByName(const Items& items, const std::string& name) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool isOneDof(JointType type) { return velocityCount(type) == 1; }

// ---- names ----

template <class Items, class Fail>
void checkNames(const Items& items, const char* what, Fail fail) {
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name.empty()) fail(items[i], fmt::format("{} number {} has no name", what, i + 1));
    const auto [other, fresh] = seen.emplace(items[i].name, i);
    if (!fresh) {
      fail(items[i],
           fmt::format("the name '{}' is used by {} number {} and number {}; names must be unique",
                       items[i].name, what, other->second + 1, i + 1));
    }
  }
}

void checkAllNames(const Model& model) {
  const auto located = [&](const auto& item, const std::string& text) {
    throw errorIn(model, item.location, text);
  };
  checkNames(model.links, "link", located);
  checkNames(model.joints, "joint", located);
  checkNames(model.frames, "frame", located);
  checkNames(model.sensors, "sensor", located);
  checkNames(model.couplings, "coupling", located);
  std::unordered_map<std::string, int> links;
  for (const Link& link : model.links) links.emplace(link.name, 0);
  for (const Frame& frame : model.frames) {
    if (links.count(frame.name) > 0) {
      throw errorIn(model, frame.location,
                    fmt::format("frame '{}': there is a link of the same name; rename the frame",
                                frame.name));
    }
  }
}

// ---- numbers ----

// empty if the pose is finite and its rotation orthonormal
std::string poseFault(const Pose& X) {
  if (!X.p.allFinite() || !X.R.allFinite()) return "has a number that is not finite";
  const double deviation = (X.R.transpose() * X.R - Matrix3d::Identity()).norm();
  if (deviation > kUnitTolerance || X.R.determinant() < 0.0) {
    return fmt::format("has a matrix that is not a rotation (|R^T R - 1| = {:.3g}, det = {:.3g})",
                       deviation, X.R.determinant());
  }
  return {};
}

void checkLink(const Model& model, const Link& link) {
  if (!link.inertia.vector().allFinite()) {
    throw errorIn(model, link,
                  "its inertia has a number that is not finite; give ten finite numbers");
  }
  if (const std::string fault = poseFault(link.X_LI); !fault.empty()) {
    throw errorIn(model, link, "its inertial frame " + fault);
  }
  for (const LinkPart& part : link.parts) {
    const bool finite = part.inertia.vector().allFinite();
    const std::string fault = finite ? poseFault(part.X_LP) : "has an inertia that is not finite";
    if (!fault.empty())
      throw errorIn(model, link, fmt::format("its part '{}' {}", part.name, fault));
  }
}

// names of terms that have none, and their constants
void completeFriction(const Model& model, Joint& joint) {
  constexpr const char* kNames[] = {
      "viscous",          "coulomb",          "offset", "viscous_positive", "viscous_negative",
      "coulomb_positive", "coulomb_negative", "power",  "arctan",           "stribeck"};
  std::vector<std::string> used;
  for (FrictionTerm& term : joint.friction.terms) {
    const bool given = !term.name.empty();
    const std::string stem = given ? term.name : kNames[static_cast<int>(term.kind)];
    std::string name = stem;
    for (int k = 2; std::count(used.begin(), used.end(), name) > 0; ++k) {
      if (given)
        throw errorIn(model, joint, "friction",
                      fmt::format("two friction terms are called '{}'", name));
      name = fmt::format("{}_{}", stem, k);
    }
    term.name = name;
    used.push_back(name);
    const bool finite = std::isfinite(term.coefficient) && std::isfinite(term.scale) &&
                        std::isfinite(term.exponent);
    if (!finite) {
      throw errorIn(model, joint, "friction",
                    fmt::format("friction term '{}' is not finite", name));
    }
    const bool stribeck = term.kind == FrictionTermKind::kStribeck;
    if (stribeck && !(term.scale > 0.0 && term.exponent > 0.0)) {
      throw errorIn(model, joint, "friction",
                    fmt::format("friction term '{}' has velocity {} and exponent {}; both must be "
                                "positive",
                                name, term.scale, term.exponent));
    }
    if (term.kind == FrictionTermKind::kPower && term.exponent < 0.0) {
      throw errorIn(model, joint, "friction",
                    fmt::format("friction term '{}' has the exponent {}; it must not "
                                "be negative",
                                name, term.exponent));
    }
  }
  if (!(joint.friction.smooth_gain > 0.0) || !std::isfinite(joint.friction.smooth_gain)) {
    throw errorIn(model, joint, "friction",
                  fmt::format("the gain of its smooth sign is {}; it must be positive",
                              joint.friction.smooth_gain));
  }
}

void checkDynamicFriction(const Model& model, const Joint& joint) {
  const DynamicFriction& f = joint.friction.dynamic;
  if (f.kind == DynamicFrictionKind::kNone) return;
  if (joint.mimic)
    throw errorIn(model, joint, "friction",
                  "it follows another joint and has dynamic friction; declare that at the leader");
  for (double x :
       {f.sigma0, f.sigma1, f.sigma2, f.coulomb, f.stiction, f.stribeck_velocity, f.exponent}) {
    if (!std::isfinite(x))
      throw errorIn(model, joint, "friction",
                    "its dynamic friction has a number that is not finite");
  }
  if (!(f.sigma0 > 0.0 && f.coulomb > 0.0)) {
    throw errorIn(model, joint, "friction",
                  fmt::format("its dynamic friction has sigma0 = {} and coulomb = {}; "
                              "both must be positive",
                              f.sigma0, f.coulomb));
  }
  if (f.kind != DynamicFrictionKind::kDahl && !(f.stribeck_velocity > 0.0 && f.stiction > 0.0)) {
    throw errorIn(model, joint, "friction",
                  fmt::format("its {} friction has stiction = {} and stribeck_velocity = {}; "
                              "both must be positive",
                              dynamicFrictionName(f.kind), f.stiction, f.stribeck_velocity));
  }
  if (f.elements < 1 || f.elements > 100) {
    throw errorIn(
        model, joint, "friction",
        fmt::format("its dynamic friction has {} elements; expected 1 to 100", f.elements));
  }
}

// axis of unit length, placements, drive, friction, spring
void completeJoint(const Model& model, Joint& joint) {
  for (const Pose* X : {&joint.X_FJ, &joint.X_JS}) {
    if (const std::string fault = poseFault(*X); !fault.empty()) {
      throw errorIn(model, joint, "its placement " + fault);
    }
  }
  if (joint.type == JointType::kFixed) {
    joint.drive = {};
    joint.friction = {};
    joint.spring = {};
    joint.control = {};
    return;
  }
  if (joint.type != JointType::kFloating) {
    const double norm = joint.axis.stableNorm();
    if (!(std::abs(norm - 1.0) <= kUnitTolerance)) {
      throw errorIn(model, joint,
                    fmt::format("its axis ({}, {}, {}) has length {:.6g}; give a unit vector",
                                joint.axis.x(), joint.axis.y(), joint.axis.z(), norm));
    }
    // leave a unit axis as it is, so that finalize() twice changes nothing
    if (std::abs(norm - 1.0) > 1e-15) joint.axis /= norm;
  }
  const bool acts = joint.drive.declared || joint.spring.declared ||
                    !joint.friction.terms.empty() ||
                    joint.friction.dynamic.kind != DynamicFrictionKind::kNone;
  if (acts && !isOneDof(joint.type)) {
    throw errorIn(model, joint,
                  fmt::format("a {} joint has {} degrees of freedom, but drive, friction and "
                              "spring need one; use single joints in series",
                              toString(joint.type), velocityCount(joint.type)));
  }
  for (double x : {joint.drive.rotor_inertia, joint.drive.gear_ratio, joint.drive.gain,
                   joint.drive.damping, joint.control.kp, joint.control.ki, joint.control.kd,
                   joint.spring.stiffness, joint.spring.rest}) {
    if (!std::isfinite(x))
      throw errorIn(model, joint, "its drive, control or spring has a number that is not finite");
  }
  completeFriction(model, joint);
  checkDynamicFriction(model, joint);
}

// ---- graph ----

bool valid(int index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

void checkEnds(const Model& model, const Joint& joint) {
  for (int end : {joint.first, joint.second}) {
    if (!valid(end, model.links.size())) {
      throw errorIn(
          model, joint,
          fmt::format("it joins link number {}, but there are {} links", end, model.links.size()));
    }
  }
  if (joint.first == joint.second) {
    throw errorIn(model, joint,
                  fmt::format("it joins link '{}' with itself; a joint needs two links",
                              model.links[joint.first].name));
  }
}

// Links and joints form a tree: n-1 joints that close no loop leave one component.
void checkTree(const Model& model) {
  std::vector<int> root(model.links.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int link) {
    while (root[link] != link) link = root[link] = root[root[link]];
    return link;
  };
  for (const Joint& joint : model.joints) {
    checkEnds(model, joint);
    const int a = find(joint.first), b = find(joint.second);
    if (a == b) {
      throw errorIn(
          model, joint,
          fmt::format(
              "it closes a loop, links '{}' and '{}' are already connected; remove one joint "
              "of the loop (closed chains are not supported)",
              model.links[joint.first].name, model.links[joint.second].name));
    }
    root[b] = a;
  }
  for (size_t i = 0; i < model.links.size(); ++i) {
    if (find(static_cast<int>(i)) != find(model.base)) {
      throw errorIn(model, model.links[i],
                    fmt::format("no chain of joints connects it with the base '{}'; add a joint",
                                model.links[model.base].name));
    }
  }
}

// ---- mimic ----

// the free joint that joint i follows, with the composed map q_i = ratio q_leader + offset
int resolveMimic(Model& model, int i) {
  Joint& joint = model.joints[i];
  joint.mimic_ratio = 1.0;
  joint.mimic_offset = 0.0;
  std::vector<int> chain = {i};
  int leader = i;
  while (model.joints[leader].mimic) {
    const Joint& follower = model.joints[leader];
    const Mimic& mimic = *follower.mimic;
    const auto fail = [&](const std::string& text) {
      return errorIn(model, follower, "mimic", text);
    };
    const int next = model.jointIndex(mimic.leader);
    if (next < 0) {
      throw fail(fmt::format("it mimics the joint '{}', which does not exist{}", mimic.leader,
                             didYouMean(mimic.leader, namesOf(model.joints))));
    }
    for (int j : {leader, next}) {
      if (isOneDof(model.joints[j].type)) continue;
      throw fail(fmt::format("it mimics '{}', but '{}' is {}; both must have one degree of freedom",
                             mimic.leader, model.joints[j].name, toString(model.joints[j].type)));
    }
    if (!std::isfinite(mimic.ratio) || !std::isfinite(mimic.offset)) {
      throw fail(fmt::format("its mimic ratio {} and offset {} must be finite", mimic.ratio,
                             mimic.offset));
    }
    joint.mimic_offset += joint.mimic_ratio * mimic.offset;
    joint.mimic_ratio *= mimic.ratio;
    const auto begin = std::find(chain.begin(), chain.end(), next);
    if (begin != chain.end()) {
      std::vector<std::string> loop;
      for (auto it = begin; it != chain.end(); ++it) loop.push_back(model.joints[*it].name);
      loop.push_back(model.joints[next].name);
      throw fail(fmt::format("joints mimic each other in a loop ({}); one of them must be free",
                             fmt::join(loop, " -> ")));
    }
    chain.push_back(next);
    leader = next;
  }
  return leader;
}

void numberCoordinates(Model& model) {
  model.position_count = 0;
  model.velocity_count = 0;
  for (Joint& joint : model.joints) {
    joint.position_index = joint.velocity_index = -1;
    if (joint.mimic || joint.type == JointType::kFixed) continue;
    joint.position_index = model.position_count;
    joint.velocity_index = model.velocity_count;
    model.position_count += positionCount(joint.type);
    model.velocity_count += velocityCount(joint.type);
  }
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const int leader = resolveMimic(model, static_cast<int>(i));
    model.joints[i].position_index = model.joints[leader].position_index;
    model.joints[i].velocity_index = model.joints[leader].velocity_index;
  }
}

// ---- what hangs on links and joints ----

void checkSensor(const Model& model, const Sensor& sensor) {
  const auto fail = [&](const std::string& text) {
    return errorIn(model, sensor.location, fmt::format("sensor '{}': {}", sensor.name, text));
  };
  const bool on_joint = sensor.kind == SensorKind::kForceTorque ||
                        sensor.kind == SensorKind::kEncoder ||
                        sensor.kind == SensorKind::kJointTorque;
  const bool on_link =
      sensor.kind != SensorKind::kEncoder && sensor.kind != SensorKind::kJointTorque;
  if (on_joint && !valid(sensor.joint, model.joints.size()))
    throw fail("it is on no joint of the model");
  if (on_link && !valid(sensor.link, model.links.size()))
    throw fail("it is on no link of the model");
  if (const std::string fault = poseFault(sensor.X_LS); !fault.empty())
    throw fail("its placement " + fault);
  if (!(sensor.noise >= 0.0) || !std::isfinite(sensor.noise)) {
    throw fail(fmt::format("its noise is {}; give a standard deviation that is not negative",
                           sensor.noise));
  }
  if (sensor.cell_positions.size() != sensor.cell_normals.size()) {
    throw fail(fmt::format("it has {} cell positions and {} normals; give one normal per cell",
                           sensor.cell_positions.size(), sensor.cell_normals.size()));
  }
  if (!on_joint) return;
  const Joint& joint = model.joints[sensor.joint];
  const bool fixed = joint.type == JointType::kFixed;
  if (sensor.kind != SensorKind::kForceTorque) {
    if (fixed)
      throw fail(fmt::format("the joint '{}' is fixed and has nothing to measure", joint.name));
    return;
  }
  if (!fixed && !joint.sensed) {
    throw fail(fmt::format("the joint '{}' is {}; a force-torque sensor sits on a fixed joint",
                           joint.name, toString(joint.type)));
  }
  if (sensor.link != joint.first && sensor.link != joint.second) {
    throw fail(fmt::format("link '{}' is not on either side of its joint '{}'; name '{}' or '{}'",
                           model.links[sensor.link].name, joint.name, model.links[joint.first].name,
                           model.links[joint.second].name));
  }
  if (std::abs(sensor.sign) != 1.0)
    throw fail(fmt::format("its sign is {}; give 1 or -1", sensor.sign));
}

void checkCoupling(const Model& model, const CouplingColumn& column) {
  const auto fail = [&](const std::string& text) {
    return errorIn(model, column.location, fmt::format("coupling '{}': {}", column.name, text));
  };
  const auto check_joint = [&](int joint) {
    if (!valid(joint, model.joints.size()))
      throw fail("it names a joint that the model does not have");
    if (!isOneDof(model.joints[joint].type)) {
      throw fail(
          fmt::format("the joint '{}' is {}; a coupling needs joints with one degree of freedom",
                      model.joints[joint].name, toString(model.joints[joint].type)));
    }
  };
  if (!std::isfinite(column.value))
    throw fail(fmt::format("its value is {}; give a finite number", column.value));
  for (const CouplingTerm& term : column.terms) {
    check_joint(term.joint);
    if (term.joints.size() != term.weights.size()) {
      throw fail(fmt::format("a term has {} joints and {} weights; give one weight per joint",
                             term.joints.size(), term.weights.size()));
    }
    for (int joint : term.joints) check_joint(joint);
    for (double weight : term.weights) {
      if (!std::isfinite(weight)) throw fail("a weight is not finite");
    }
    if (term.joints.empty() && term.signal != Signal::kOne)
      throw fail("a term has no joint to take its signal from");
  }
}

void checkTransmission(const Model& model, const Transmission& transmission) {
  const Eigen::MatrixXd& matrix = transmission.matrix;
  if (static_cast<size_t>(matrix.cols()) != transmission.joints.size() ||
      matrix.rows() < matrix.cols()) {
    throw errorIn(
        model,
        fmt::format(
            "transmission: the matrix is {} x {} for {} joints; it needs one column per joint "
            "and at least as many rows",
            matrix.rows(), matrix.cols(), transmission.joints.size()));
  }
  for (size_t i = 0; i < transmission.joints.size(); ++i) {
    const int joint = transmission.joints[i];
    const auto begin = transmission.joints.begin();
    if (!valid(joint, model.joints.size()) || !isOneDof(model.joints[joint].type) ||
        std::find(begin, begin + static_cast<std::ptrdiff_t>(i), joint) !=
            begin + static_cast<std::ptrdiff_t>(i)) {
      throw errorIn(
          model, fmt::format(
                     "transmission: entry {} of its joints does not exist, repeats one or does not "
                     "have one degree of freedom",
                     i + 1));
    }
  }
  if (!matrix.allFinite() || Eigen::FullPivLU<Eigen::MatrixXd>(matrix).rank() < matrix.cols()) {
    throw errorIn(
        model,
        "transmission: the matrix is singular or not finite; some joint would move no motor");
  }
}

void checkAttached(const Model& model) {
  for (const Frame& frame : model.frames) {
    const bool placed = valid(frame.link, model.links.size());
    const std::string fault = placed ? poseFault(frame.X_LF) : "is on no link of the model";
    if (!fault.empty()) {
      throw errorIn(model, frame.location, fmt::format("frame '{}': it {}", frame.name, fault));
    }
  }
  for (const Sensor& sensor : model.sensors) checkSensor(model, sensor);
  for (const CouplingColumn& column : model.couplings) checkCoupling(model, column);
  if (model.transmission) checkTransmission(model, *model.transmission);
}

}  // namespace

int velocityCount(JointType type) {
  constexpr int kCounts[] = {0, 1, 1, 1, 3, 6};
  return kCounts[static_cast<int>(type)];
}

int positionCount(JointType type) {
  constexpr int kCounts[] = {0, 1, 1, 1, 3, 7};
  return kCounts[static_cast<int>(type)];
}

const char* toString(JointType type) {
  constexpr const char* kNames[] = {"fixed",     "revolute", "continuous",
                                    "prismatic", "planar",   "floating"};
  return kNames[static_cast<int>(type)];
}

const char* toString(ControlKind kind) {
  switch (kind) {
    case ControlKind::kPid:
      return "pid";
    case ControlKind::kCascade:
      return "cascade";
    case ControlKind::kComputedTorque:
      return "computed_torque";
  }
  return "pid";
}

const char* toString(FeedForward kind) {
  switch (kind) {
    case FeedForward::kNone:
      return "none";
    case FeedForward::kGravity:
      return "gravity";
    case FeedForward::kModel:
      return "model";
  }
  return "none";
}

size_t sensorAxes(const Sensor& sensor) {
  switch (sensor.kind) {
    case SensorKind::kForceTorque:
      return 6;
    case SensorKind::kOrientation:
      return 4;
    case SensorKind::kEncoder:
    case SensorKind::kJointTorque:
      return 1;
    case SensorKind::kSkin:
      return sensor.cell_positions.size();
    default:
      return 3;
  }
}

const char* toString(SensorKind kind) {
  constexpr const char* kNames[] = {"force_torque", "accelerometer", "gyroscope",    "magnetometer",
                                    "orientation",  "encoder",       "joint_torque", "skin"};
  return kNames[static_cast<int>(kind)];
}

Model::Model() = default;
Model::Model(const Model&) = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(const Model&) = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

int Model::linkIndex(const std::string& link_name) const { return indexByName(links, link_name); }
int Model::jointIndex(const std::string& joint_name) const {
  return indexByName(joints, joint_name);
}
int Model::frameIndex(const std::string& frame_name) const {
  return indexByName(frames, frame_name);
}

Model finalize(Model model) {
  if (model.links.empty())
    throw errorIn(model, fmt::format("model '{}': it has no link; a robot needs one", model.name));
  checkAllNames(model);
  if (!valid(model.base, model.links.size())) {
    throw errorIn(model,
                  fmt::format("model '{}': the base is link number {}, but there are {} links",
                              model.name, model.base, model.links.size()));
  }
  if (!model.gravity.allFinite()) throw errorIn(model, "gravity has a number that is not finite");
  if (const std::string fault = poseFault(model.X_WB); !fault.empty()) {
    throw errorIn(model, "the base mounting " + fault);
  }
  for (const Link& link : model.links) checkLink(model, link);
  for (Joint& joint : model.joints) completeJoint(model, joint);
  checkTree(model);
  numberCoordinates(model);
  checkAttached(model);
  model.joints_of_link.assign(model.links.size(), {});
  for (size_t i = 0; i < model.joints.size(); ++i) {
    for (int end : {model.joints[i].first, model.joints[i].second}) {
      model.joints_of_link[end].push_back(static_cast<int>(i));
    }
  }
  return model;
}

const FileLocation& whereStated(const Joint& joint, std::initializer_list<std::string> keys) {
  for (const std::string& key : keys) {
    for (const StatedValue& value : joint.stated) {
      if (value.key == key) return value.location;
    }
  }
  return joint.location;
}

int requireLink(const Model& model, const std::string& name) {
  const int link = model.linkIndex(name);
  if (link >= 0) return link;
  if (const int frame = model.frameIndex(name); frame >= 0) {
    throw errorIn(model,
                  fmt::format("there is no link '{}': it is a frame on link '{}'; name that link",
                              name, model.links[model.frames[frame].link].name));
  }
  throw errorIn(
      model, fmt::format("there is no link '{}'{}", name, didYouMean(name, namesOf(model.links))));
}

int requireJoint(const Model& model, const std::string& name) {
  const int joint = model.jointIndex(name);
  if (joint >= 0) return joint;
  throw errorIn(model, fmt::format("there is no joint '{}'{}", name,
                                   didYouMean(name, namesOf(model.joints))));
}

}  // namespace proprio
