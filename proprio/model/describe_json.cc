#include <cmath>
#include <nlohmann/json.hpp>

#include "proprio/model/describe.h"
#include "proprio/model/parameters.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const Vector3d& v) { return Json::array({v.x(), v.y(), v.z()}); }

Json jsonOf(const Pose& pose) {
  return {{"xyz", jsonOf(pose.p)}, {"rpy", jsonOf(rpyFromRotation(pose.R))}};
}

Json jsonOf(const Model&, const Link& link) {
  const Vector10d numbers = link.inertia.vector();
  Json out = {{"name", link.name},
              {"mass", link.inertia.mass},
              {"com", jsonOf(link.inertia.com())},
              {"parameters", std::vector<double>(numbers.data(), numbers.data() + 10)}};
  Json parts = Json::array();
  for (const LinkPart& part : link.parts) parts.push_back(part.name);
  if (!parts.empty()) out["parts"] = parts;
  if (link.location.line > 0) out["line"] = link.location.line;
  return out;
}

Json jsonOf(const Model& model, const Joint& joint) {
  Json friction = Json::object();
  for (const FrictionTerm& term : joint.friction.terms) friction[term.name] = term.coefficient;
  Json out = {{"name", joint.name},
              {"type", toString(joint.type)},
              {"parent", model.links[static_cast<size_t>(joint.first)].name},
              {"child", model.links[static_cast<size_t>(joint.second)].name},
              {"origin", jsonOf(joint.X_FJ)},
              {"axis", jsonOf(joint.axis)},
              {"position_index", joint.position_index},
              {"velocity_index", joint.velocity_index},
              {"lower", joint.limits.lower},
              {"upper", joint.limits.upper},
              {"velocity", joint.limits.velocity},
              {"effort", joint.limits.effort},
              {"acceleration", joint.limits.acceleration},
              {"friction", friction}};
  if (joint.mimic) {
    out["mimic"] = {{"leader", joint.mimic->leader},
                    {"ratio", joint.mimic->ratio},
                    {"offset", joint.mimic->offset}};
  }
  if (joint.drive.declared) {
    out["drive"] = {{"rotor_inertia", joint.drive.rotor_inertia},
                    {"gear_ratio", joint.drive.gear_ratio},
                    {"gain", joint.drive.gain},
                    {"torque_limit", joint.drive.torque_limit}};
  }
  if (!std::isnan(joint.drive.stiffness)) {
    out["flexibility"] = {{"stiffness", joint.drive.stiffness}, {"damping", joint.drive.damping}};
  }
  if (joint.control.declared) {
    out["control"] = {{"kp", joint.control.kp}, {"ki", joint.control.ki}, {"kd", joint.control.kd}};
  }
  if (joint.spring.declared)
    out["spring"] = {{"stiffness", joint.spring.stiffness}, {"rest", joint.spring.rest}};
  return out;
}

Json jsonOf(const Model& model, const Sensor& sensor) {
  Json out = {{"name", sensor.name}, {"kind", toString(sensor.kind)}};
  if (sensor.link >= 0) out["link"] = model.links[static_cast<size_t>(sensor.link)].name;
  if (sensor.joint >= 0) out["joint"] = model.joints[static_cast<size_t>(sensor.joint)].name;
  out["place"] = jsonOf(sensor.X_LS);
  out["sign"] = sensor.sign;
  out["noise"] = sensor.noise;
  if (!sensor.cell_positions.empty()) out["cells"] = sensor.cell_positions.size();
  return out;
}

template <class Items>
Json listOf(const Model& model, const Items& items) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(jsonOf(model, item));
  return out;
}

}  // namespace

std::string describeJson(const Model& model) {
  Json frames = Json::array(), info = Json::object(), couplings = Json::array();
  for (const Frame& frame : model.frames) {
    frames.push_back({{"name", frame.name},
                      {"link", model.links[static_cast<size_t>(frame.link)].name},
                      {"place", jsonOf(frame.X_LF)}});
  }
  for (const InfoEntry& entry : model.info) info[entry.name] = entry.value;
  for (const CouplingColumn& column : model.couplings)
    couplings.push_back({{"name", column.name}, {"unit", column.unit}, {"value", column.value}});
  const Json out = {{"name", model.name},
                    {"source", model.source},
                    {"degrees_of_freedom", model.velocity_count + (model.floating ? 6 : 0)},
                    {"joint_degrees_of_freedom", model.velocity_count},
                    {"mass", totalMass(model)},
                    {"gravity", jsonOf(model.gravity)},
                    {"base",
                     {{"link", model.links[static_cast<size_t>(model.base)].name},
                      {"floating", model.floating},
                      {"place", jsonOf(model.X_WB)}}},
                    {"links", listOf(model, model.links)},
                    {"joints", listOf(model, model.joints)},
                    {"couplings", couplings},
                    {"sensors", listOf(model, model.sensors)},
                    {"frames", frames},
                    {"info", info}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace proprio
