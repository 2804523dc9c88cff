#include "proprio/model/describe.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "proprio/core/text_table.h"
#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"

namespace proprio {
namespace {

// Decimals below this are rounding of angles such as pi/2, not information.
constexpr double kTiny = 1e-9;

std::string vectorText(const Vector3d& v) {
  const auto clean = [](double x) { return readable(std::abs(x) < kTiny ? 0.0 : x, 4); };
  return fmt::format("({}, {}, {})", clean(v.x()), clean(v.y()), clean(v.z()));
}

std::string plural(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string stated(double value, const char* unit) {
  return std::isnan(value) ? "" : fmt::format("{} {}", readable(value), unit);
}

bool slides(const Joint& joint) { return joint.type == JointType::kPrismatic; }

// ---- summary ----

std::string summary(const Model& model, bool colour) {
  size_t moving = 0;
  for (const Joint& joint : model.joints) moving += joint.type != JointType::kFixed ? 1 : 0;
  const Link& base = model.links[static_cast<size_t>(model.base)];
  std::string freedom = plural(static_cast<size_t>(model.velocity_count), "degree");
  freedom += " of freedom";
  if (model.floating) freedom += " + 6 of the free base";
  std::string out = inked(model.name, Ink::kBold, colour);
  if (!model.source.empty()) out += inked("  " + model.source, Ink::kDim, colour);
  out +=
      fmt::format("\n  {}, {}, {} of them moving, {} kg\n", freedom,
                  plural(model.links.size(), "link") + ", " + plural(model.joints.size(), "joint"),
                  moving, readable(totalMass(model)));
  out += fmt::format("  base '{}', {}; gravity {} m/s²\n", base.name,
                     model.floating ? "free in space" : "fixed at " + poseText(model.X_WB),
                     vectorText(model.gravity));
  const ParameterLayout layout(std::make_shared<const Model>(model));
  int counts[4] = {};  // inertial, rotor, friction, other
  for (int i = 0; i < layout.size(); ++i) {
    switch (layout[i].kind) {
      case ParameterKind::kInertial:
        ++counts[0];
        break;
      case ParameterKind::kRotorInertia:
        ++counts[1];
        break;
      case ParameterKind::kFriction:
        ++counts[2];
        break;
      default:
        ++counts[3];
    }
  }
  out += fmt::format("  {} parameters: {} inertial, {} rotor, {} friction, {} other\n",
                     layout.size(), counts[0], counts[1], counts[2], counts[3]);
  return out;
}

// ---- tree ----

std::string rangeText(const Joint& joint) {
  const JointLimits& limits = joint.limits;
  // of a planar joint nobody says which of its three coordinates is meant
  const bool none = std::isnan(limits.lower) && std::isnan(limits.upper);
  if (none || velocityCount(joint.type) != 1) return "";
  return fmt::format("{} … {} {}", readable(limits.lower), readable(limits.upper),
                     slides(joint) ? "m" : "rad");
}

std::string typeText(const Joint& joint) {
  std::string out = toString(joint.type);
  if (joint.type != JointType::kFixed && joint.type != JointType::kFloating)
    out += " " + axisText(joint.axis);
  if (joint.mimic) {
    out += fmt::format(" = {} {}", readable(joint.mimic->ratio), joint.mimic->leader);
    if (joint.mimic->offset != 0.0) out += fmt::format(" + {}", readable(joint.mimic->offset));
  }
  return out;
}

struct TreeDrawing {
  const Model& model;
  const Traversal walk;
  const bool colour;
  TextTable table;

  void add(int link, const std::string& stem, const std::string& branch) {
    const Link& about = model.links[static_cast<size_t>(link)];
    const int j = walk.parent_joint[static_cast<size_t>(link)];
    std::vector<std::string> row = {inked(stem + branch, Ink::kDim, colour) + about.name};
    if (j >= 0) {
      const Joint& joint = model.joints[static_cast<size_t>(j)];
      const bool linear = slides(joint);
      const Ink ink = joint.type == JointType::kFixed ? Ink::kDim : Ink::kCyan;
      row.insert(row.end(),
                 {inked(joint.name, ink, colour), inked(typeText(joint), ink, colour),
                  rangeText(joint), stated(joint.limits.velocity, linear ? "m/s" : "rad/s"),
                  stated(joint.limits.effort, linear ? "N" : "N m")});
    } else {
      row.resize(6);
    }
    const InertialParameters& body = about.inertia;
    row.push_back(body.mass == 0.0 ? "" : fmt::format("{} kg", readable(body.mass)));
    row.push_back(body.mass == 0.0 ? "" : vectorText(body.com()));
    std::string parts;
    for (const LinkPart& part : about.parts) parts += (parts.empty() ? "" : ", ") + part.name;
    row.push_back(parts);
    table.rows.push_back(row);
    const std::vector<int>& children = walk.children[static_cast<size_t>(link)];
    const std::string below = stem + (branch.empty() ? "" : branch == "└─ " ? "   " : "│  ");
    for (size_t i = 0; i < children.size(); ++i)
      add(children[i], below, i + 1 == children.size() ? "└─ " : "├─ ");
  }
};

std::string treeText(const Model& model, bool colour) {
  TreeDrawing drawing{model, traverse(model, model.base), colour, {}};
  drawing.table.header = {"link",   "joint", "type",           "range",     "speed",
                          "effort", "mass",  "centre of mass", "with parts"};
  drawing.table.right = {false, false, false, false, true, true, true, false, false};
  drawing.add(model.base, "", "");
  return drawing.table.text(colour);
}

// ---- tables ----

std::string section(const char* title, const TextTable& table, bool colour) {
  if (table.rows.empty()) return {};
  return fmt::format("\n{}\n{}", inked(title, Ink::kBold, colour), table.text(colour));
}

std::string drivesText(const Model& model, bool colour) {
  TextTable table;
  table.header = {"joint",        "rotor inertia", "gear ratio", "gain",
                  "torque limit", "friction",      "spring"};
  table.right = {false, true, true, true, true, false, false};
  for (const Joint& joint : model.joints) {
    const std::string friction = frictionText(joint.friction);
    if (!joint.drive.declared && friction.empty() && !joint.spring.declared) continue;
    const Drive& drive = joint.drive;
    std::string spring;
    if (joint.spring.declared) {
      spring =
          fmt::format("{} about {}", readable(joint.spring.stiffness), readable(joint.spring.rest));
    }
    const bool linear = slides(joint);
    table.rows.push_back(
        {joint.name, drive.declared ? stated(drive.rotor_inertia, linear ? "kg" : "kg m²") : "",
         drive.gear_ratio != 1.0 ? readable(drive.gear_ratio) : "",
         drive.gain != 1.0 ? readable(drive.gain) : "",
         stated(drive.torque_limit, linear ? "N" : "N m"), friction, spring});
  }
  return section("Drives and friction", table, colour);
}

std::string couplingsText(const Model& model, bool colour) {
  constexpr const char* kSignals[] = {"acceleration", "velocity", "sign of velocity", "position",
                                      "one"};
  TextTable table;
  table.header = {"name", "value", "unit", "column"};
  table.right = {false, true};
  for (const CouplingColumn& column : model.couplings) {
    std::string terms;
    for (const CouplingTerm& term : column.terms) {
      std::string sum;
      for (size_t k = 0; k < term.joints.size(); ++k) {
        const std::string& name = model.joints[static_cast<size_t>(term.joints[k])].name;
        sum += (sum.empty() ? "" : " + ") +
               (term.weights[k] == 1.0 ? name : readable(term.weights[k]) + " " + name);
      }
      terms +=
          fmt::format("{}{}: {}{}", terms.empty() ? "" : "; ",
                      model.joints[static_cast<size_t>(term.joint)].name,
                      kSignals[static_cast<int>(term.signal)], sum.empty() ? "" : " of " + sum);
    }
    table.rows.push_back({column.name, readable(column.value), column.unit, terms});
  }
  return section("Couplings", table, colour);
}

std::string sensorsText(const Model& model, bool colour) {
  TextTable table;
  table.header = {"sensor", "kind", "on", "place", "noise", ""};
  for (const Sensor& sensor : model.sensors) {
    const bool on_joint = sensor.joint >= 0;
    std::string on = on_joint ? "joint " + model.joints[static_cast<size_t>(sensor.joint)].name
                              : "link " + model.links[static_cast<size_t>(sensor.link)].name;
    if (sensor.kind == SensorKind::kForceTorque && sensor.link >= 0) {
      on += fmt::format(", wrench {} {}", sensor.sign > 0 ? "on" : "from",
                        model.links[static_cast<size_t>(sensor.link)].name);
    }
    const size_t cells = sensor.cell_positions.size();
    table.rows.push_back({sensor.name, toString(sensor.kind), on,
                          sensor.link >= 0 && cells == 0 ? poseText(sensor.X_LS) : "",
                          sensor.noise > 0.0 ? readable(sensor.noise) : "",
                          cells > 0 ? plural(cells, "cell") : ""});
  }
  return section("Sensors", table, colour);
}

std::string framesText(const Model& model, bool colour) {
  TextTable table;
  table.header = {"frame", "on link", "place"};
  for (const Frame& frame : model.frames) {
    table.rows.push_back(
        {frame.name, model.links[static_cast<size_t>(frame.link)].name, poseText(frame.X_LF)});
  }
  return section("Frames", table, colour);
}

std::string transmissionText(const Model& model, bool colour) {
  if (!model.transmission) return {};
  TextTable table;
  table.header = {"motor"};
  for (const int j : model.transmission->joints)
    table.header.push_back(model.joints[static_cast<size_t>(j)].name);
  table.right.assign(table.header.size(), true);
  const Eigen::MatrixXd& matrix = model.transmission->matrix;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    table.rows.push_back({fmt::to_string(i + 1)});
    for (Eigen::Index k = 0; k < matrix.cols(); ++k)
      table.rows.back().push_back(readable(matrix(i, k), 6));
  }
  return section("Transmission (motor position = matrix times joint position)", table, colour);
}

std::string infoText(const Model& model, bool colour) {
  TextTable table;
  table.header = {"data sheet", ""};
  for (const InfoEntry& entry : model.info) table.rows.push_back({entry.name, entry.value});
  return table.rows.empty() ? "" : "\n" + table.text(colour);
}

}  // namespace

double totalMass(const Model& model) {
  double mass = 0.0;
  for (const Link& link : model.links) mass += link.inertia.mass;
  return mass;
}

std::string axisText(const Vector3d& axis) {
  for (int i = 0; i < 3; ++i) {
    if (std::abs(std::abs(axis[i]) - 1.0) < kTiny)
      return std::string(axis[i] < 0 ? "-" : "") + "xyz"[i];
  }
  return vectorText(axis);
}

std::string poseText(const Pose& pose) {
  std::string out = vectorText(pose.p) + " m";
  if (!pose.R.isIdentity(kTiny)) out += " rpy " + vectorText(rpyFromRotation(pose.R));
  return out;
}

std::string frictionText(const FrictionModel& friction) {
  std::string out;
  for (const FrictionTerm& term : friction.terms)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", term.name, readable(term.coefficient));
  if (friction.dynamic.kind != DynamicFrictionKind::kNone) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", dynamicFrictionName(friction.dynamic.kind));
  }
  return out;
}

std::string describe(const Model& model, bool colour) {
  return summary(model, colour) + "\n" + treeText(model, colour) + drivesText(model, colour) +
         transmissionText(model, colour) + couplingsText(model, colour) +
         sensorsText(model, colour) + framesText(model, colour) + infoText(model, colour);
}

}  // namespace proprio
