#include "proprio/model/urdf_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/xml_document.h"

namespace proprio {
namespace {

struct NamedType {
  const char* name;
  JointType type;
};
constexpr NamedType kJointTypes[] = {
    {"revolute", JointType::kRevolute},   {"continuous", JointType::kContinuous},
    {"prismatic", JointType::kPrismatic}, {"fixed", JointType::kFixed},
    {"planar", JointType::kPlanar},       {"floating", JointType::kFloating}};

// One reading of one document. `owner` arguments are "link 'forearm'" or "joint 'elbow'", for
// messages.
class Reader {
 public:
  Reader(const XmlDocument& document, std::vector<ReadNote>* notes)
      : document_(document), notes_(notes) {}
  Model read();

 private:
  [[noreturn]] void fail(const XmlElement& at, const std::string& sentence) const {
    throw errorAt({document_.file, at.line, 0}, sentence);
  }
  void note(const XmlElement& at, const std::string& sentence) const {
    if (notes_ != nullptr) notes_->push_back({{document_.file, at.line, 0}, sentence});
  }
  const XmlElement* only(const XmlElement& parent, std::string_view name,
                         const std::string& owner) const;
  void noteMisspelt(const XmlElement& parent, const std::string& owner,
                    const std::vector<std::string>& known) const;
  void noteMisspeltAttributes(const XmlElement& element, const std::string& owner,
                              const std::vector<std::string>& known) const;

  std::string requireName(const XmlElement& element) const;
  double number(const XmlElement& element, const XmlAttribute& attribute, const std::string& owner,
                bool infinite_allowed = false) const;
  double requireNumber(const XmlElement& element, const char* name, const std::string& owner) const;
  std::vector<double> numbers(const XmlElement& element, const XmlAttribute& attribute,
                              const std::string& owner) const;
  Vector3d vector3(const XmlElement& element, const XmlAttribute& attribute,
                   const std::string& owner) const;
  Pose origin(const XmlElement& parent, const std::string& owner) const;

  void readLink(const XmlElement& element);
  void readInertial(const XmlElement& element, const std::string& owner, Link& link) const;
  void readShape(const XmlElement& element, const std::string& owner, Link& link) const;
  void readJoint(const XmlElement& element);
  int readEnd(const XmlElement& element, const char* end, const std::string& owner) const;
  void readAxis(const XmlElement& element, const std::string& owner, Joint& joint) const;
  void readLimits(const XmlElement& element, const std::string& owner, Joint& joint) const;
  void readDynamics(const XmlElement& element, const std::string& owner, Joint& joint) const;
  void readMimic(const XmlElement& element, const std::string& owner, Joint& joint) const;
  void readTransmission(const XmlElement& element);
  int findRoot() const;
  std::string listLinks(const std::vector<int>& links) const;

  const XmlDocument& document_;
  std::vector<ReadNote>* notes_;
  Model model_;
  std::unordered_map<std::string, int> link_index_, joint_index_;
};

std::vector<std::string> keys(const std::unordered_map<std::string, int>& map) {
  std::vector<std::string> names;
  for (const auto& [name, index] : map) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// The child of that name. Of several the first counts, as in the ROS tools.
const XmlElement* Reader::only(const XmlElement& parent, std::string_view name,
                               const std::string& owner) const {
  const std::vector<const XmlElement*> found = document_.children(parent, name);
  if (found.empty()) return nullptr;
  if (found.size() > 1) {
    note(*found[1], fmt::format("{} has a second <{}>, which is ignored; the first is in line {}",
                                owner, name, found[0]->line));
  }
  return found[0];
}

void Reader::noteMisspelt(const XmlElement& parent, const std::string& owner,
                          const std::vector<std::string>& known) const {
  for (int index : parent.children) {
    const XmlElement& element = document_.elements[static_cast<size_t>(index)];
    if (std::find(known.begin(), known.end(), element.name) != known.end()) continue;
    const std::vector<std::string> near = nearestNames(element.name, known, 1);
    if (near.empty()) continue;
    note(element, fmt::format("{}: <{}> is unknown and ignored; did you mean <{}>?", owner,
                              element.name, near[0]));
  }
}

// `known` are those that are read and those of other tools that look like them. What looks like an
// attribute that is there, too, is not meant to be it.
void Reader::noteMisspeltAttributes(const XmlElement& element, const std::string& owner,
                                    const std::vector<std::string>& known) const {
  std::vector<std::string> absent;
  for (const std::string& name : known) {
    if (findAttribute(element, name) == nullptr) absent.push_back(name);
  }
  for (const XmlAttribute& attribute : element.attributes) {
    if (std::find(known.begin(), known.end(), attribute.name) != known.end()) continue;
    const std::vector<std::string> near = nearestNames(attribute.name, absent, 1);
    if (near.empty()) continue;
    note(element, fmt::format("{}: {} of <{}> is unknown and ignored; did you mean {}?", owner,
                              attribute.name, element.name, near[0]));
  }
}

std::string Reader::requireName(const XmlElement& element) const {
  const XmlAttribute* name = findAttribute(element, "name");
  if (name == nullptr || name->value.empty()) {
    fail(element, fmt::format("<{}> has no name; give it name=\"...\"", element.name));
  }
  return name->value;
}

double Reader::number(const XmlElement& element, const XmlAttribute& attribute,
                      const std::string& owner, bool infinite_allowed) const {
  const std::optional<double> value = parseNumber(attribute.value);
  if (!value || std::isnan(*value) || (std::isinf(*value) && !infinite_allowed)) {
    const char* hint = attribute.value.find("${") != std::string::npos
                           ? "; this is a xacro expression: run xacro on the file first"
                       : attribute.value.find(',') != std::string::npos ? "; use a decimal point"
                                                                        : "";
    fail(element, fmt::format("{}: <{}> has {}={}, expected one finite number{}", owner,
                              element.name, attribute.name, inQuotes(attribute.value), hint));
  }
  return *value;
}

double Reader::requireNumber(const XmlElement& element, const char* name,
                             const std::string& owner) const {
  const XmlAttribute* attribute = findAttribute(element, name);
  if (attribute == nullptr) {
    fail(element, fmt::format("{}: <{}> has no attribute {}; add {}=\"...\"", owner, element.name,
                              name, name));
  }
  return number(element, *attribute, owner);
}

std::vector<double> Reader::numbers(const XmlElement& element, const XmlAttribute& attribute,
                                    const std::string& owner) const {
  std::vector<double> values;
  for (std::string_view word : splitWords(attribute.value)) {
    values.push_back(number(element, {attribute.name, std::string(word), 0, 0}, owner));
  }
  return values;
}

Vector3d Reader::vector3(const XmlElement& element, const XmlAttribute& attribute,
                         const std::string& owner) const {
  const std::vector<double> values = numbers(element, attribute, owner);
  if (values.size() != 3) {
    fail(
        element,
        fmt::format("{}: <{}> has {}={}, which is {} numbers, expected 3 separated by spaces",
                    owner, element.name, attribute.name, inQuotes(attribute.value), values.size()));
  }
  return {values[0], values[1], values[2]};
}

Pose Reader::origin(const XmlElement& parent, const std::string& owner) const {
  const XmlElement* element = only(parent, "origin", owner);
  Pose pose;
  if (element == nullptr) return pose;
  noteMisspeltAttributes(*element, owner, {"xyz", "rpy", "quat_xyzw"});
  const XmlAttribute* xyz = findAttribute(*element, "xyz");
  const XmlAttribute* rpy = findAttribute(*element, "rpy");
  const XmlAttribute* quaternion = findAttribute(*element, "quat_xyzw");
  if (xyz != nullptr) pose.p = vector3(*element, *xyz, owner);
  if (rpy != nullptr) pose.R = rotationFromRpy(vector3(*element, *rpy, owner));
  if (quaternion == nullptr) return pose;
  if (rpy != nullptr)
    fail(*element, fmt::format("{}: <origin> has rpy and quat_xyzw; keep one", owner));
  const std::vector<double> q = numbers(*element, *quaternion, owner);
  if (q.size() != 4 || Eigen::Vector4d(q.data()).norm() < 1e-6) {
    fail(*element,
         fmt::format("{}: <origin> has quat_xyzw={}, expected 4 numbers that are not all zero",
                     owner, inQuotes(quaternion->value)));
  }
  pose.R = rotationFromQuaternion(Eigen::Vector4d(q.data()));
  return pose;
}

void Reader::readLink(const XmlElement& element) {
  Link link;
  link.name = requireName(element);
  link.location = document_.location(element);
  const std::string owner = fmt::format("link {}", inQuotes(link.name));
  const auto [position, is_new] =
      link_index_.emplace(link.name, static_cast<int>(model_.links.size()));
  if (!is_new) {
    fail(element, fmt::format("{} exists already in line {}; rename one of the two", owner,
                              model_.links[static_cast<size_t>(position->second)].location.line));
  }
  if (const XmlElement* inertial = only(element, "inertial", owner)) {
    readInertial(*inertial, owner, link);
  }
  for (const XmlElement* shape : document_.children(element, "collision"))
    readShape(*shape, owner, link);
  for (const XmlElement* shape : document_.children(element, "visual"))
    readShape(*shape, owner, link);
  noteMisspelt(element, owner, {"inertial", "collision", "visual"});
  noteMisspeltAttributes(element, owner, {"name", "type"});
  model_.links.push_back(std::move(link));
}

void Reader::readInertial(const XmlElement& element, const std::string& owner, Link& link) const {
  const XmlElement* mass = only(element, "mass", owner);
  const XmlElement* inertia = only(element, "inertia", owner);
  if (mass == nullptr) {
    fail(element,
         fmt::format("{}: <inertial> has no <mass>; add <mass value=\"...\"/> in kg", owner));
  }
  if (inertia == nullptr) {
    fail(element,
         fmt::format("{}: <inertial> has no <inertia>; add <inertia ixx=\"...\" ixy=\"...\" .../> "
                     "in kg m^2",
                     owner));
  }
  const auto product = [&](const char* name) {
    if (findAttribute(*inertia, name) != nullptr) return requireNumber(*inertia, name, owner);
    note(*inertia, fmt::format("{}: <inertia> has no {}, taken as 0", owner, name));
    link.products_left_out = true;
    return 0.0;
  };
  const double ixy = product("ixy"), ixz = product("ixz"), iyz = product("iyz");
  const double ixx = requireNumber(*inertia, "ixx", owner);
  const double iyy = requireNumber(*inertia, "iyy", owner);
  const double izz = requireNumber(*inertia, "izz", owner);
  Matrix3d I;
  I << ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz;
  link.has_inertial = true;
  link.X_LI = origin(element, owner);
  const Matrix3d& R = link.X_LI.R;
  link.inertia = InertialParameters::fromCom(requireNumber(*mass, "value", owner), link.X_LI.p,
                                             R * I * R.transpose());
  noteMisspelt(element, owner, {"mass", "inertia", "origin"});
  noteMisspeltAttributes(*inertia, owner, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
}

std::vector<std::string> attributesOfShape(const std::string& kind) {
  if (kind == "box") return {"size"};
  if (kind == "cylinder" || kind == "capsule") return {"radius", "length"};
  if (kind == "sphere") return {"radius"};
  return kind == "mesh" ? std::vector<std::string>{"filename", "scale"}
                        : std::vector<std::string>{};
}

void Reader::readShape(const XmlElement& element, const std::string& owner, Link& link) const {
  const XmlElement* geometry = only(element, "geometry", owner);
  if (geometry == nullptr || geometry->children.empty()) {
    return note(element,
                fmt::format("{}: <{}> has no geometry and is ignored", owner, element.name));
  }
  const XmlElement& body = document_.elements[static_cast<size_t>(geometry->children[0])];
  noteMisspeltAttributes(body, owner, attributesOfShape(body.name));
  Shape shape;
  shape.collision = element.name == "collision";
  shape.X_LG = origin(element, owner);
  if (body.name == "box") {
    const XmlAttribute* size = findAttribute(body, "size");
    if (size == nullptr)
      fail(body, fmt::format("{}: <box> has no size; add size=\"x y z\" in m", owner));
    shape.size = vector3(body, *size, owner);
  } else if (body.name == "cylinder") {
    shape.kind = ShapeKind::kCylinder;
    shape.size = {requireNumber(body, "radius", owner), requireNumber(body, "length", owner), 0.0};
  } else if (body.name == "capsule") {
    shape.kind = ShapeKind::kCapsule;
    shape.size = {requireNumber(body, "radius", owner), requireNumber(body, "length", owner), 0.0};
  } else if (body.name == "sphere") {
    shape.kind = ShapeKind::kSphere;
    shape.size = {requireNumber(body, "radius", owner), 0.0, 0.0};
  } else if (body.name == "mesh") {
    shape.kind = ShapeKind::kMesh;
    const XmlAttribute* file = findAttribute(body, "filename");
    if (file == nullptr)
      fail(body, fmt::format("{}: <mesh> has no filename; add filename=\"...\"", owner));
    shape.mesh = file->value;
    if (const XmlAttribute* scale = findAttribute(body, "scale")) {
      const std::vector<double> s = numbers(body, *scale, owner);
      shape.mesh_scale = s.size() == 1 ? Vector3d::Constant(s[0]) : vector3(body, *scale, owner);
    }
  } else {
    return note(body,
                fmt::format("{}: the geometry <{}> is unknown and ignored", owner, body.name));
  }
  const int sizes = shape.kind == ShapeKind::kMesh     ? 0
                    : shape.kind == ShapeKind::kSphere ? 1
                    : shape.kind == ShapeKind::kBox    ? 3
                                                       : 2;
  if (sizes > 0 && !(shape.size.head(sizes).minCoeff() > 0.0)) {
    note(body, fmt::format("{}: <{}> has a size of {:.4g} m, expected all of them positive", owner,
                           body.name, shape.size.head(sizes).minCoeff()));
  }
  link.shapes.push_back(std::move(shape));
}

int Reader::readEnd(const XmlElement& element, const char* end, const std::string& owner) const {
  const XmlElement* child = only(element, end, owner);
  const XmlAttribute* name = child == nullptr ? nullptr : findAttribute(*child, "link");
  if (name == nullptr) {
    fail(element, fmt::format("{} has no {} link; add <{} link=\"...\"/>", owner, end, end));
  }
  const auto link = link_index_.find(name->value);
  if (link == link_index_.end()) {
    fail(*child, fmt::format("{}: there is no link {} to be its {}{}", owner, inQuotes(name->value),
                             end, didYouMean(name->value, keys(link_index_))));
  }
  return link->second;
}

void Reader::readAxis(const XmlElement& element, const std::string& owner, Joint& joint) const {
  const XmlElement* axis = only(element, "axis", owner);
  if (joint.type == JointType::kFixed || joint.type == JointType::kFloating || axis == nullptr)
    return;
  const XmlAttribute* xyz = findAttribute(*axis, "xyz");
  if (xyz == nullptr) fail(*axis, fmt::format("{}: <axis> has no xyz; add xyz=\"x y z\"", owner));
  const Vector3d direction = vector3(*axis, *xyz, owner);
  const double length = direction.stableNorm();
  if (!(length > 1e-9) || !std::isfinite(length)) {
    fail(*axis, fmt::format("{}: <axis> has xyz={}, expected a direction, not zero", owner,
                            inQuotes(xyz->value)));
  }
  // more than rounding of a few printed digits
  if (std::abs(length - 1.0) > 1e-2) {
    note(*axis, fmt::format("{}: <axis> has length {:.4g} and is normalised", owner, length));
  }
  joint.axis = direction / length;
}

void Reader::readLimits(const XmlElement& element, const std::string& owner, Joint& joint) const {
  const XmlElement* limit = only(element, "limit", owner);
  if (limit == nullptr) return;
  noteMisspeltAttributes(
      *limit, owner,
      {"lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"});
  const auto read = [&](const char* name) {
    const XmlAttribute* attribute = findAttribute(*limit, name);
    if (attribute == nullptr) return kNotStated;
    const double value = number(*limit, *attribute, owner, true);
    return std::isinf(value) ? kNotStated : value;
  };
  joint.limits.effort = read("effort");
  joint.limits.velocity = read("velocity");
  joint.limits.acceleration = read("acceleration");
  const double lower = read("lower"), upper = read("upper");
  if (joint.type == JointType::kContinuous) return;
  joint.limits.lower = lower;
  joint.limits.upper = upper;
  // by the specification the default of each is 0; without both there are no limits
  const bool has_lower = findAttribute(*limit, "lower") != nullptr;
  const bool has_upper = findAttribute(*limit, "upper") != nullptr;
  joint.limits.lower_left_out = has_upper && !has_lower;
  joint.limits.upper_left_out = has_lower && !has_upper;
  if (joint.limits.lower_left_out) joint.limits.lower = 0.0;
  if (joint.limits.upper_left_out) joint.limits.upper = 0.0;
}

void Reader::readDynamics(const XmlElement& element, const std::string& owner, Joint& joint) const {
  const XmlElement* dynamics = only(element, "dynamics", owner);
  if (dynamics == nullptr) return;
  noteMisspeltAttributes(*dynamics, owner, {"damping", "friction"});
  if (velocityCount(joint.type) != 1) {
    return note(*dynamics, fmt::format("{}: <dynamics> of a {} joint is ignored", owner,
                                       toString(joint.type)));
  }
  const auto read = [&](const char* attribute_name, FrictionTermKind kind, const char* term_name) {
    const XmlAttribute* attribute = findAttribute(*dynamics, attribute_name);
    if (attribute == nullptr) return;
    FrictionTerm term;
    term.kind = kind;
    term.name = term_name;
    term.coefficient = number(*dynamics, *attribute, owner);
    joint.friction.terms.push_back(std::move(term));
    joint.friction.from_urdf = true;
  };
  read("damping", FrictionTermKind::kViscous, "viscous");
  read("friction", FrictionTermKind::kCoulomb, "coulomb");
}

void Reader::readMimic(const XmlElement& element, const std::string& owner, Joint& joint) const {
  const XmlElement* mimic = only(element, "mimic", owner);
  if (mimic == nullptr) return;
  // what is left in a description whose joints were fixed one by one
  if (joint.type == JointType::kFixed)
    return note(*mimic, fmt::format("{}: <mimic> of a fixed joint is ignored", owner));
  const XmlAttribute* leader = findAttribute(*mimic, "joint");
  if (leader == nullptr) {
    fail(*mimic, fmt::format("{}: <mimic> has no joint; add joint=\"...\"", owner));
  }
  noteMisspeltAttributes(*mimic, owner, {"joint", "multiplier", "offset"});
  joint.mimic.emplace();
  joint.mimic->leader = leader->value;
  if (findAttribute(*mimic, "multiplier"))
    joint.mimic->ratio = requireNumber(*mimic, "multiplier", owner);
  if (findAttribute(*mimic, "offset")) joint.mimic->offset = requireNumber(*mimic, "offset", owner);
}

void Reader::readJoint(const XmlElement& element) {
  Joint joint;
  joint.name = requireName(element);
  joint.location = document_.location(element);
  const std::string owner = fmt::format("joint {}", inQuotes(joint.name));
  const auto [position, is_new] =
      joint_index_.emplace(joint.name, static_cast<int>(model_.joints.size()));
  if (!is_new) {
    fail(element, fmt::format("{} exists already in line {}; rename one of the two", owner,
                              model_.joints[static_cast<size_t>(position->second)].location.line));
  }
  const XmlAttribute* type = findAttribute(element, "type");
  const auto* named =
      std::find_if(std::begin(kJointTypes), std::end(kJointTypes),
                   [&](const NamedType& t) { return type != nullptr && type->value == t.name; });
  if (named == std::end(kJointTypes)) {
    fail(element,
         fmt::format(
             "{} has {}, expected revolute, continuous, prismatic, fixed, planar or floating",
             owner, type == nullptr ? "no type" : "type=" + inQuotes(type->value)));
  }
  joint.type = named->type;
  joint.first = readEnd(element, "parent", owner);
  joint.second = readEnd(element, "child", owner);
  joint.X_FJ = origin(element, owner);
  readAxis(element, owner, joint);
  readLimits(element, owner, joint);
  readDynamics(element, owner, joint);
  readMimic(element, owner, joint);
  noteMisspelt(element, owner,
               {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "calibration",
                "safety_controller"});
  noteMisspeltAttributes(element, owner, {"name", "type"});
  model_.joints.push_back(std::move(joint));
}

// Only what is unambiguous: one joint, one actuator, one reduction. Several transmissions of one
// joint, and differential or coupled ones, are left to robot.yaml.
void Reader::readTransmission(const XmlElement& element) {
  const std::vector<const XmlElement*> joints = document_.children(element, "joint");
  const std::vector<const XmlElement*> actuators = document_.children(element, "actuator");
  if (joints.size() != 1 || actuators.size() != 1) return;
  std::vector<const XmlElement*> reductions =
      document_.children(*actuators[0], "mechanicalReduction");
  for (const XmlElement* parent : {joints[0], &element}) {
    for (const XmlElement* r : document_.children(*parent, "mechanicalReduction"))
      reductions.push_back(r);
  }
  const XmlAttribute* name = findAttribute(*joints[0], "name");
  if (name == nullptr || reductions.size() != 1) return;
  const auto joint = joint_index_.find(name->value);
  if (joint == joint_index_.end()) {
    return note(element,
                fmt::format("<transmission>: there is no joint {}{}", inQuotes(name->value),
                            didYouMean(name->value, keys(joint_index_))));
  }
  const std::optional<double> ratio = parseNumber(reductions[0]->text);
  if (!ratio || !std::isfinite(*ratio) || *ratio == 0.0) {
    return note(*reductions[0],
                fmt::format("joint {}: <mechanicalReduction> is {}, expected a number; ignored",
                            inQuotes(name->value), inQuotes(reductions[0]->text)));
  }
  model_.joints[static_cast<size_t>(joint->second)].drive.gear_ratio = *ratio;
}

std::string Reader::listLinks(const std::vector<int>& links) const {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(kShown, links.size()); ++i) {
    const Link& link = model_.links[static_cast<size_t>(links[i])];
    list +=
        fmt::format("{}{} (line {})", i == 0 ? "" : ", ", inQuotes(link.name), link.location.line);
  }
  return links.size() > kShown ? fmt::format("{} and {} more", list, links.size() - kShown) : list;
}

// The link without a parent joint. Loops of joints are found by finalize().
int Reader::findRoot() const {
  std::vector<const Joint*> parent(model_.links.size(), nullptr);
  for (const Joint& joint : model_.joints) {
    const FileLocation at{document_.file, joint.location.line, 0};
    const std::string& child = model_.links[static_cast<size_t>(joint.second)].name;
    if (joint.first == joint.second) {
      throw errorAt(at, fmt::format("joint {} connects link {} with itself", inQuotes(joint.name),
                                    inQuotes(child)));
    }
    const Joint*& other = parent[static_cast<size_t>(joint.second)];
    if (other != nullptr) {
      throw errorAt(
          at,
          fmt::format("link {} is the child of joint {} and of joint {} (line {}); a closed loop "
                      "cannot be read, cut it at one of the two",
                      inQuotes(child), inQuotes(joint.name), inQuotes(other->name),
                      other->location.line));
    }
    other = &joint;
  }
  std::vector<int> roots;
  for (size_t i = 0; i < parent.size(); ++i) {
    if (parent[i] == nullptr) roots.push_back(static_cast<int>(i));
  }
  if (roots.empty()) {
    throw errorAt({document_.file, 0, 0},
                  "every link is the child of a joint: the joints form a loop; "
                  "expected one root link");
  }
  if (roots.size() > 1) {
    throw errorAt(
        {document_.file, 0, 0},
        fmt::format(
            "{} links have no parent joint: {}; expected one root, connect the others to the "
            "robot (a fixed joint will do) or remove them",
            roots.size(), listLinks(roots)));
  }
  return roots[0];
}

Model Reader::read() {
  const XmlElement& robot = document_.root();
  if (robot.name != "robot") {
    const char* hint = robot.name == "sdf" ? "; this is SDF, convert it to URDF first"
                       : robot.name == "mujoco"
                           ? "; this is MuJoCo's MJCF, convert it to URDF first"
                           : "";
    fail(robot, fmt::format("the outermost element is <{}>, expected <robot>{}", robot.name, hint));
  }
  for (const XmlElement& element : document_.elements) {
    if (element.name.rfind("xacro:", 0) == 0) {
      fail(element,
           fmt::format("<{}> is a xacro instruction; run xacro on the file first", element.name));
    }
  }
  if (const XmlAttribute* name = findAttribute(robot, "name")) model_.name = name->value;
  if (model_.name.empty()) {
    model_.name = "robot";
    note(robot, "<robot> has no name");
  }
  // links may stand after the joints that use them
  for (const XmlElement* link : document_.children(robot, "link")) readLink(*link);
  if (model_.links.empty()) fail(robot, "<robot> has no <link>; expected at least one");
  for (const XmlElement* joint : document_.children(robot, "joint")) readJoint(*joint);
  for (const XmlElement* t : document_.children(robot, "transmission")) readTransmission(*t);
  noteMisspelt(robot, "<robot>", {"link", "joint", "material", "transmission", "gazebo", "sensor"});
  noteMisspeltAttributes(robot, "<robot>", {"name", "version"});
  model_.base = findRoot();
  model_.source = model_.urdf = document_.file;
  return finalize(std::move(model_));
}

}  // namespace

Model readUrdf(const std::string& path, std::vector<ReadNote>* notes) {
  return readUrdfText(readFile(path), path, notes);
}

Model readUrdfText(const std::string& text, const std::string& file_name,
                   std::vector<ReadNote>* notes) {
  return readUrdfDocument(parseXml(text, file_name), notes);
}

Model readUrdfDocument(const XmlDocument& document, std::vector<ReadNote>* notes) {
  return Reader(document, notes).read();
}

}  // namespace proprio
