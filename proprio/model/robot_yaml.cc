#include <fmt/format.h>

#include "proprio/core/text.h"
#include "proprio/model/dh_table.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

using YAML::Node;

JointType jointType(const Node& node) {
  for (JointType type : {JointType::kContinuous, JointType::kPrismatic, JointType::kFixed}) {
    if (node && node.Scalar() == toString(type)) return type;
  }
  return JointType::kRevolute;
}

void readLimits(const Node& node, JointLimits& limits) {
  limits.lower = readAngle(node["lower"], limits.lower);
  limits.upper = readAngle(node["upper"], limits.upper);
  if (node["lower"]) limits.lower_left_out = false;
  if (node["upper"]) limits.upper_left_out = false;
  limits.velocity = readNumber(node["velocity"], limits.velocity);
  limits.effort = readNumber(node["effort"], limits.effort);
  limits.acceleration = readNumber(node["acceleration"], limits.acceleration);
}

void readDrive(const Node& node, Drive& drive) {
  drive.gear_ratio = readNumber(node["gear_ratio"], drive.gear_ratio);
  drive.gain = readNumber(node["gain"], drive.gain);
  drive.gain_declared = drive.gain_declared || node["gain"];
  drive.torque_limit = readNumber(node["torque_limit"], drive.torque_limit);
  drive.stiffness = readNumber(node["stiffness"], drive.stiffness);
  drive.damping = readNumber(node["damping"], drive.damping);
  if (node["rotor_inertia"]) drive.rotor_inertia = readNumber(node["rotor_inertia"]);
  if (node["motor_inertia"]) {
    drive.rotor_inertia = drive.gear_ratio * drive.gear_ratio * readNumber(node["motor_inertia"]);
  }
  drive.declared = node["rotor_inertia"] || node["motor_inertia"];
}

struct NamedTerm {
  const char* name;
  FrictionTermKind kind;
};
constexpr NamedTerm kTerms[] = {{"viscous", FrictionTermKind::kViscous},
                                {"coulomb", FrictionTermKind::kCoulomb},
                                {"offset", FrictionTermKind::kOffset},
                                {"viscous_positive", FrictionTermKind::kViscousPositive},
                                {"viscous_negative", FrictionTermKind::kViscousNegative},
                                {"coulomb_positive", FrictionTermKind::kCoulombPositive},
                                {"coulomb_negative", FrictionTermKind::kCoulombNegative},
                                {"power", FrictionTermKind::kPower},
                                {"arctan", FrictionTermKind::kArctan},
                                {"stribeck", FrictionTermKind::kStribeck}};

FrictionTerm readTerm(const NamedTerm& named, const Node& node) {
  FrictionTerm term;
  term.kind = named.kind;
  term.name = named.name;
  if (!node.IsMap()) {
    term.coefficient = readNumber(node);
    return term;
  }
  term.coefficient = readNumber(node["coefficient"]);
  term.exponent = readNumber(node["exponent"], term.exponent);
  term.scale = readNumber(node["scale"], readNumber(node["velocity"], term.scale));
  return term;
}

DynamicFriction readDynamicFriction(const Node& node, const std::string& file_name) {
  DynamicFriction friction;
  const std::string& law = node["model"].Scalar();
  friction.kind = law == "dahl"     ? DynamicFrictionKind::kDahl
                  : law == "leuven" ? DynamicFrictionKind::kLeuven
                                    : DynamicFrictionKind::kLuGre;
  if (node["elements"] && law != "leuven") {
    throw errorAt(yamlLocation(node["elements"], file_name),
                  fmt::format("friction.dynamic has elements, but the {} model has none; remove "
                              "them or use the leuven model",
                              law));
  }
  friction.sigma0 = readNumber(node["sigma0"]);
  friction.sigma1 = readNumber(node["sigma1"]);
  friction.sigma2 = readNumber(node["sigma2"]);
  friction.coulomb = readNumber(node["coulomb"]);
  friction.stiction = readNumber(node["stiction"], friction.coulomb);
  friction.stribeck_velocity = readNumber(node["stribeck_velocity"], friction.stribeck_velocity);
  friction.exponent = readNumber(node["exponent"], friction.exponent);
  friction.elements = static_cast<int>(readNumber(node["elements"], friction.elements));
  return friction;
}

// the terms in the order of the file
FrictionModel readFriction(const Node& node, const std::string& file_name) {
  FrictionModel friction;
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (key == "smooth") {
      const std::string& kind = entry.second["kind"].Scalar();
      friction.smooth_sign = kind == "tanh"     ? SmoothSign::kTanh
                             : kind == "arctan" ? SmoothSign::kArctan
                                                : SmoothSign::kSign;
      friction.smooth_gain = readNumber(entry.second["gain"], friction.smooth_gain);
    } else if (key == "dynamic") {
      friction.dynamic = readDynamicFriction(entry.second, file_name);
    }
    for (const NamedTerm& named : kTerms) {
      if (key != named.name) continue;
      if (!entry.second.IsSequence()) {
        friction.terms.push_back(readTerm(named, entry.second));
        continue;
      }
      for (size_t i = 0; i < entry.second.size(); ++i) {
        friction.terms.push_back(readTerm(named, entry.second[i]));
        friction.terms.back().name += fmt::format("_{}", i + 1);
      }
    }
  }
  return friction;
}

// where each value stands, and those of its parts
std::vector<StatedValue> statedValues(const Node& node, const std::string& file_name) {
  std::vector<StatedValue> out;
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    out.push_back({key, yamlLocation(entry.first, file_name)});
    if (!entry.second.IsMap()) continue;
    for (const auto& part : entry.second)
      out.push_back({key + "." + part.first.Scalar(), yamlLocation(part.first, file_name)});
  }
  return out;
}

void readJoint(const Node& node, const std::string& file_name, Joint& joint) {
  if (joint.type == JointType::kFixed) {
    for (const char* key : {"drive", "friction", "spring", "mimic", "control", "locked"}) {
      if (!node[key]) continue;
      throw errorAt(yamlLocation(node[key], file_name),
                    fmt::format("joints.{} has {}, but this joint is fixed and cannot move",
                                joint.name, key));
    }
  }
  joint.stated = statedValues(node, file_name);
  if (node["limits"]) readLimits(node["limits"], joint.limits);
  if (node["drive"]) readDrive(node["drive"], joint.drive);
  if (node["friction"]) joint.friction = readFriction(node["friction"], file_name);
  if (const Node spring = node["spring"]) {
    joint.spring = {true, readNumber(spring["stiffness"]), readAngle(spring["rest"])};
  }
  if (const Node control = node["control"]) {
    joint.control = {true, readNumber(control["kp"]), readNumber(control["ki"]),
                     readNumber(control["kd"]), readNumber(control["integral_limit"], kNotStated)};
  }
  if (const Node mimic = node["mimic"]) {
    joint.mimic =
        Mimic{mimic["joint"].Scalar(), readNumber(mimic["ratio"], 1.0), readAngle(mimic["offset"])};
  }
}

}  // namespace

void checkVersion(const Node& robot, const std::string& file_name) {
  if (!robot.IsMap()) return;  // checkFields says what is wrong
  const Node version = robot["version"];
  if (!version) {
    throw errorAt({file_name, 0, 0}, "has no version; add 'version: 1' as its first line");
  }
  const std::optional<double> number =
      version.IsScalar() ? parseNumber(version.Scalar()) : std::nullopt;
  if (number != 1.0) {
    throw errorAt(yamlLocation(version, file_name),
                  fmt::format("version is {}, expected 1, the only one that this program reads",
                              describe(version)));
  }
}

double readNumber(const Node& node, double otherwise) {
  return node ? parseNumber(node.Scalar()).value_or(otherwise) : otherwise;
}

double readAngle(const Node& node, double otherwise) {
  return node ? parseAngle(node.Scalar()).value_or(otherwise) : otherwise;
}

Vector3d readVector3(const Node& node) {
  if (!node) return Vector3d::Zero();
  return {readAngle(node[0]), readAngle(node[1]), readAngle(node[2])};
}

Pose readPose(const Node& object) {
  if (!object) return {};
  return Pose::fromXyzRpy(readVector3(object["xyz"]), readVector3(object["rpy"]));
}

InertialParameters readInertia(const Node& body) {
  const auto symmetric = [](const Node& n) {
    Matrix3d I;
    I << readNumber(n[0]), readNumber(n[1]), readNumber(n[2]),  //
        readNumber(n[1]), readNumber(n[3]), readNumber(n[4]),   //
        readNumber(n[2]), readNumber(n[4]), readNumber(n[5]);
    return I;
  };
  const double mass = readNumber(body["mass"]);
  Vector3d com = readVector3(body["com"]);
  if (body["first_moment"] && mass != 0.0) com = readVector3(body["first_moment"]) / mass;
  // a body without a stated inertia is a point mass
  const Matrix3d at_com =
      body["inertia_at_com"] ? symmetric(body["inertia_at_com"]) : Matrix3d::Zero();
  InertialParameters result = InertialParameters::fromCom(mass, com, at_com);
  if (body["first_moment"]) result.first_moment = readVector3(body["first_moment"]);
  if (body["inertia"]) result.inertia = symmetric(body["inertia"]);
  return result;
}

int linkNamed(const Model& model, const Node& node, const std::string& file_name) {
  const int link = model.linkIndex(node.Scalar());
  if (link >= 0) return link;
  std::vector<std::string> names;
  for (const Link& l : model.links) names.push_back(l.name);
  throw errorAt(yamlLocation(node, file_name),
                fmt::format("there is no link {}{}", inQuotes(node.Scalar()),
                            didYouMean(node.Scalar(), names)));
}

int jointNamed(const Model& model, const Node& node, const std::string& file_name) {
  const int joint = model.jointIndex(node.Scalar());
  if (joint >= 0) return joint;
  std::vector<std::string> names;
  for (const Joint& j : model.joints) names.push_back(j.name);
  throw errorAt(yamlLocation(node, file_name),
                fmt::format("there is no joint {}{}", inQuotes(node.Scalar()),
                            didYouMean(node.Scalar(), names)));
}

Model readDhTable(const Node& dh, const std::string& file_name) {
  std::vector<DhRow> rows;
  for (const Node& node : dh["joints"]) {
    DhRow row;
    row.joint = node["name"].Scalar();
    row.link = node["link"] ? node["link"].Scalar() : fmt::format("link_{}", rows.size() + 1);
    row.type = jointType(node["type"]);
    row.alpha = readAngle(node["alpha"]);
    row.a = readNumber(node["a"]);
    row.d = readNumber(node["d"]);
    row.theta = readAngle(node["theta"]);
    rows.push_back(std::move(row));
  }
  const bool classic = dh["convention"].Scalar() == "classic";
  Model model = dhChain(classic ? DhConvention::kClassic : DhConvention::kModified, rows,
                        "base_link", readPose(dh["base_offset"]));
  for (size_t i = 0; i < rows.size(); ++i) {
    const Node node = dh["joints"][i];
    model.joints[i].location = model.links[i + 1].location = yamlLocation(node, file_name);
    readLimits(node, model.joints[i].limits);
  }
  for (const auto& entry : dh["links"]) {
    Link& link = model.links[static_cast<size_t>(linkNamed(model, entry.first, file_name))];
    link.has_inertial = true;
    link.inertia = readInertia(entry.second);
    link.X_LI.p = link.inertia.com();
    link.location = yamlLocation(entry.first, file_name);
  }
  return model;
}

void readJoints(const Node& joints, const std::string& file_name, Model& model) {
  for (const auto& entry : joints) {
    readJoint(entry.second, file_name,
              model.joints[static_cast<size_t>(jointNamed(model, entry.first, file_name))]);
  }
}

}  // namespace proprio
