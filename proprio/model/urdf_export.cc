#include "proprio/model/urdf_export.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/text.h"

namespace proprio {
namespace {

/// What a limit that nobody declared is written as.
constexpr double kNoLimit = 1e6;

std::string attributeText(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string three(const Vector3d& v) {
  return fmt::format("{} {} {}", formatNumber(v.x()), formatNumber(v.y()), formatNumber(v.z()));
}

std::string originText(const Pose& pose) {
  return fmt::format("<origin xyz=\"{}\" rpy=\"{}\"/>", three(pose.p),
                     three(rpyFromRotation(pose.R)));
}

std::string inertialText(const Link& link, const InertialParameters& body) {
  if (!body.vector().allFinite())
    throw Error(
        fmt::format("link {}: its inertia has a number that is not finite", inQuotes(link.name)));
  if (body.vector().isZero(0.0)) return {};
  if (body.mass == 0.0 && !body.first_moment.isZero(0.0))
    throw Error(
        fmt::format("link {}: a body without mass has a first moment, which URDF cannot say",
                    inQuotes(link.name)));
  const Matrix3d I = body.inertiaAtCom();
  return fmt::format(
      "    <inertial>\n      <origin xyz=\"{}\" rpy=\"0 0 0\"/>\n      <mass value=\"{}\"/>\n"
      "      <inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/>\n"
      "    </inertial>\n",
      three(body.com()), formatNumber(body.mass), formatNumber(I(0, 0)), formatNumber(I(0, 1)),
      formatNumber(I(0, 2)), formatNumber(I(1, 1)), formatNumber(I(1, 2)), formatNumber(I(2, 2)));
}

std::string geometryText(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::kBox:
      return fmt::format("<box size=\"{}\"/>", three(shape.size));
    case ShapeKind::kCylinder:
      return fmt::format("<cylinder radius=\"{}\" length=\"{}\"/>", formatNumber(shape.size[0]),
                         formatNumber(shape.size[1]));
    case ShapeKind::kSphere:
      return fmt::format("<sphere radius=\"{}\"/>", formatNumber(shape.size[0]));
    case ShapeKind::kCapsule:
      return fmt::format("<capsule radius=\"{}\" length=\"{}\"/>", formatNumber(shape.size[0]),
                         formatNumber(shape.size[1]));
    case ShapeKind::kMesh:
      break;
  }
  return fmt::format("<mesh filename=\"{}\" scale=\"{}\"/>", attributeText(shape.mesh),
                     three(shape.mesh_scale));
}

/// @param X_UL  the model's link frame in the URDF's
std::string linkText(const Link& link, const Pose& X_UL) {
  std::string inside = inertialText(link, transformed(X_UL, link.inertia));
  for (const Shape& shape : link.shapes) {
    const char* tag = shape.collision ? "collision" : "visual";
    inside += fmt::format("    <{0}>\n      {1}\n      <geometry>{2}</geometry>\n    </{0}>\n", tag,
                          originText(X_UL * shape.X_LG), geometryText(shape));
  }
  const std::string name = attributeText(link.name);
  if (inside.empty()) return fmt::format("  <link name=\"{}\"/>\n", name);
  return fmt::format("  <link name=\"{}\">\n{}  </link>\n", name, inside);
}

std::string limitText(const Joint& joint, bool positions) {
  const JointLimits& limits = joint.limits;
  const auto stated = [](double value) {
    return formatNumber(std::isfinite(value) ? value : kNoLimit);
  };
  std::string range;
  if (positions)
    range = fmt::format("lower=\"{}\" upper=\"{}\" ", formatNumber(limits.lower),
                        formatNumber(limits.upper));
  return fmt::format("    <limit {}effort=\"{}\" velocity=\"{}\"/>\n", range, stated(limits.effort),
                     stated(limits.velocity));
}

std::string dynamicsText(const Joint& joint) {
  std::string text;
  for (const FrictionTerm& term : joint.friction.terms) {
    if (term.kind == FrictionTermKind::kViscous)
      text += fmt::format(" damping=\"{}\"", formatNumber(term.coefficient));
    if (term.kind == FrictionTermKind::kCoulomb)
      text += fmt::format(" friction=\"{}\"", formatNumber(term.coefficient));
  }
  return text.empty() ? "" : "    <dynamics" + text + "/>\n";
}

/// @param X_UL  the frame of the link `first` in the URDF's
std::string jointText(const Model& model, const Joint& joint, const Pose& X_UL) {
  const bool limited = std::isfinite(joint.limits.lower) && std::isfinite(joint.limits.upper);
  JointType type = joint.type;
  if (type == JointType::kRevolute && !limited) type = JointType::kContinuous;
  std::string text = fmt::format(
      "  <joint name=\"{}\" type=\"{}\">\n    <parent link=\"{}\"/>\n    <child link=\"{}\"/>\n"
      "    {}\n",
      attributeText(joint.name), toString(type),
      attributeText(model.links[static_cast<size_t>(joint.first)].name),
      attributeText(model.links[static_cast<size_t>(joint.second)].name),
      originText(X_UL * joint.X_FJ));
  if (type != JointType::kFixed && type != JointType::kFloating)
    text += fmt::format("    <axis xyz=\"{}\"/>\n", three(joint.axis));
  if (velocityCount(type) == 1) {
    if (type == JointType::kPrismatic && !limited) {
      Joint wide = joint;
      wide.limits.lower = -kNoLimit;
      wide.limits.upper = kNoLimit;
      text += limitText(wide, true);
    } else {
      text += limitText(joint, type != JointType::kContinuous);
    }
    text += dynamicsText(joint);
  }
  if (joint.mimic) {
    text += fmt::format("    <mimic joint=\"{}\" multiplier=\"{}\" offset=\"{}\"/>\n",
                        attributeText(joint.mimic->leader), formatNumber(joint.mimic->ratio),
                        formatNumber(joint.mimic->offset));
  }
  return text + "  </joint>\n";
}

}  // namespace

std::string exportUrdf(const Model& model) {
  // the model's link frames in those that URDF wants: at the joint that carries the link
  std::vector<Pose> X_UL(model.links.size());
  std::vector<int> carrier(model.links.size(), -1);
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const auto second = static_cast<size_t>(joint.second);
    if (carrier[second] >= 0)
      throw Error(fmt::format("link {} is carried by the joints {} and {}; URDF allows one",
                              inQuotes(model.links[second].name),
                              inQuotes(model.joints[static_cast<size_t>(carrier[second])].name),
                              inQuotes(joint.name)));
    carrier[second] = static_cast<int>(j);
    X_UL[second] = joint.X_JS;
  }
  std::string text =
      fmt::format("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n", attributeText(model.name));
  for (size_t l = 0; l < model.links.size(); ++l) text += linkText(model.links[l], X_UL[l]);
  for (const Joint& joint : model.joints)
    text += jointText(model, joint, X_UL[static_cast<size_t>(joint.first)]);
  for (const Frame& frame : model.frames) {
    const std::string name = attributeText(frame.name);
    const auto link = static_cast<size_t>(frame.link);
    text += fmt::format(
        "  <link name=\"{0}\"/>\n  <joint name=\"{0}_fixed\" type=\"fixed\">\n"
        "    <parent link=\"{1}\"/>\n    <child link=\"{0}\"/>\n    {2}\n  </joint>\n",
        name, attributeText(model.links[link].name), originText(X_UL[link] * frame.X_LF));
  }
  return text + "</robot>\n";
}

}  // namespace proprio
