/// Models derived from a model: fixed joints lumped, joints locked, payloads attached and detached,
/// another base.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "proprio/core/text.h"
#include "proprio/model/model.h"
#include "proprio/model/tree.h"

namespace proprio {
namespace {

// What becomes of old links and joints: their new index (-1: removed), and for links where the old
// frame sits on the new link.
struct Renumbering {
  std::vector<int> link, joint;
  std::vector<Pose> X_new_old;
};

bool isForceTorqueJoint(const Model& model, int joint) {
  return std::any_of(model.sensors.begin(), model.sensors.end(), [&](const Sensor& sensor) {
    return sensor.kind == SensorKind::kForceTorque && sensor.joint == joint;
  });
}

// Joints, frames, sensors, couplings and transmission of `model` on the new links; the links stay
// to be filled in.
Model renumbered(const Model& model, const Renumbering& map) {
  Model result = model;
  result.links.clear();
  result.joints.clear();
  for (size_t i = 0; i < model.joints.size(); ++i) {
    if (map.joint[i] < 0) continue;
    Joint joint = model.joints[i];
    joint.X_FJ = map.X_new_old[joint.first] * joint.X_FJ;
    joint.X_JS = joint.X_JS * map.X_new_old[joint.second].inverse();
    joint.first = map.link[joint.first];
    joint.second = map.link[joint.second];
    result.joints.push_back(std::move(joint));
  }
  result.frames.clear();
  for (const Frame& frame : model.frames) {
    if (map.link[frame.link] < 0) continue;
    result.frames.push_back(
        {frame.name, map.link[frame.link], map.X_new_old[frame.link] * frame.X_LF});
  }
  result.sensors.clear();
  for (Sensor sensor : model.sensors) {
    if (sensor.joint >= 0 && map.joint[sensor.joint] < 0) continue;
    if (sensor.link >= 0 && map.link[sensor.link] < 0) continue;
    if (sensor.joint >= 0) sensor.joint = map.joint[sensor.joint];
    if (sensor.link >= 0) {
      const Pose& X = map.X_new_old[sensor.link];
      sensor.X_LS = X * sensor.X_LS;
      for (Vector3d& position : sensor.cell_positions) position = X * position;
      for (Vector3d& normal : sensor.cell_normals) normal = X.R * normal;
      sensor.link = map.link[sensor.link];
    }
    result.sensors.push_back(std::move(sensor));
  }
  // couplings and transmissions name moving joints, and only fixed ones are removed
  for (CouplingColumn& column : result.couplings) {
    for (CouplingTerm& term : column.terms) {
      term.joint = map.joint[term.joint];
      for (int& joint : term.joints) joint = map.joint[joint];
    }
  }
  if (result.transmission) {
    for (int& joint : result.transmission->joints) joint = map.joint[joint];
  }
  result.base = map.link[model.base];
  result.X_WB = model.X_WB * map.X_new_old[model.base].inverse();
  return result;
}

// `merged`, whose frame sits at X_LM, becomes a part of `link`
void mergeLink(Link& link, const Link& merged, const Pose& X_LM) {
  link.inertia = link.inertia + transformed(X_LM, merged.inertia);
  link.has_inertial = link.has_inertial || merged.has_inertial;
  link.parts.push_back({merged.name, X_LM, ownInertia(merged)});
  for (const LinkPart& part : merged.parts) {
    link.parts.push_back({part.name, X_LM * part.X_LP, part.inertia});
  }
  for (Shape shape : merged.shapes) {
    shape.X_LG = X_LM * shape.X_LG;
    link.shapes.push_back(std::move(shape));
  }
}

// Numbers the links that keep their name and the joints that stay; the others follow the link they
// merge with.
Renumbering lumpingMap(const Model& model, const std::vector<bool>& lumped) {
  const Traversal traversal = traverse(model, model.base);
  Renumbering map;
  map.link.assign(model.links.size(), -1);
  map.X_new_old.assign(model.links.size(), Pose::identity());
  int links = 0, joints = 0;
  for (size_t i = 0; i < model.links.size(); ++i) {
    const int joint = traversal.parent_joint[i];
    if (joint < 0 || !lumped[joint]) map.link[i] = links++;
  }
  for (int link : traversal.order) {
    if (map.link[link] >= 0) continue;
    const int parent = traversal.parent[link];
    const Joint& joint = model.joints[traversal.parent_joint[link]];
    const Pose X_FS = joint.X_FJ * joint.X_JS;
    map.link[link] = map.link[parent];
    map.X_new_old[link] = map.X_new_old[parent] * (joint.second == link ? X_FS : X_FS.inverse());
  }
  for (size_t i = 0; i < model.joints.size(); ++i) map.joint.push_back(lumped[i] ? -1 : joints++);
  return map;
}

// motion(q) of a joint with one degree of freedom
Pose motionAt(const Joint& joint, double q) {
  if (joint.type == JointType::kPrismatic) return {Matrix3d::Identity(), q * joint.axis};
  return {rotationExp(q * joint.axis), Vector3d::Zero()};
}

// about a joint, where its locking is asked for or else where it stands
Error jointError(const Joint& joint, const FileLocation& asked, const std::string& text) {
  const std::string sentence = fmt::format("joint '{}': {}", joint.name, text);
  const FileLocation& location = asked.file.empty() ? joint.location : asked;
  return location.file.empty() ? Error(sentence) : errorAt(location, sentence);
}

// Positions of all locked joints by index: the given ones and the mimic joints that follow them.
std::map<int, double> lockedPositions(const Model& model, const std::vector<JointValue>& locked) {
  std::map<int, double> given, all;
  std::map<int, FileLocation> asked;
  for (const JointValue& value : locked) {
    const int index = requireJoint(model, value.joint);
    const Joint& joint = model.joints[index];
    if (!std::isfinite(value.position)) {
      throw jointError(
          joint, value.location,
          fmt::format("it cannot be locked at {}; give a finite position", value.position));
    }
    asked.emplace(index, value.location);
    if (!given.emplace(index, value.position).second)
      throw jointError(joint, value.location, "it is locked twice; name it once");
    if (velocityCount(joint.type) > 1 && value.position != 0.0) {
      throw jointError(joint, value.location,
                       fmt::format("a {} joint can be locked at 0 only, not at {}",
                                   toString(joint.type), value.position));
    }
  }
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    const auto own = given.find(static_cast<int>(i));
    if (!joint.mimic) {
      if (own != given.end()) all.insert(*own);
      continue;
    }
    const auto leader = std::find_if(given.begin(), given.end(), [&](const auto& entry) {
      const Joint& other = model.joints[entry.first];
      return !other.mimic && other.position_index == joint.position_index;
    });
    if (leader == given.end()) {
      if (own == given.end()) continue;
      throw jointError(
          joint, asked.at(own->first),
          fmt::format("it mimics '{}' and cannot be locked alone; lock that joint instead",
                      joint.mimic->leader));
    }
    const double position = joint.mimic_ratio * leader->second + joint.mimic_offset;
    constexpr double kSame = 1e-9;  // rad or m
    if (own != given.end() && std::abs(own->second - position) > kSame) {
      throw jointError(joint, asked.at(own->first),
                       fmt::format("it is locked at {}, but mimics a joint that puts it at {}",
                                   own->second, position));
    }
    all.emplace(static_cast<int>(i), position);
  }
  return all;
}

// Locked joints have no velocity and acceleration: their rows and summands vanish from the declared
// columns.
void lockCouplings(Model& model, const std::map<int, double>& locked) {
  for (CouplingColumn& column : model.couplings) {
    std::vector<CouplingTerm> terms;
    for (const CouplingTerm& term : column.terms) {
      if (locked.count(term.joint) > 0) continue;
      CouplingTerm kept = term;
      kept.joints.clear();
      kept.weights.clear();
      for (size_t k = 0; k < term.joints.size(); ++k) {
        const auto entry = locked.find(term.joints[k]);
        if (entry == locked.end()) {
          kept.joints.push_back(term.joints[k]);
          kept.weights.push_back(term.weights[k]);
        } else if (term.signal == Signal::kPosition && entry->second * term.weights[k] != 0.0) {
          throw jointError(
              model.joints[entry->first], column.location,
              fmt::format(
                  "coupling '{}' uses its position, so it can be locked at 0 only, not at {}",
                  column.name, entry->second));
        }
      }
      if (!kept.joints.empty() || kept.signal == Signal::kOne) terms.push_back(std::move(kept));
    }
    column.terms = std::move(terms);
  }
  std::erase_if(model.couplings, [](const CouplingColumn& column) { return column.terms.empty(); });
}

// Columns of locked joints go, and rows of motors that no longer move.
void lockTransmission(Model& model, const std::map<int, double>& locked) {
  if (!model.transmission) return;
  const Transmission old = *model.transmission;
  std::vector<int> columns, rows;
  Transmission& kept = *model.transmission;
  kept.joints.clear();
  for (size_t i = 0; i < old.joints.size(); ++i) {
    if (locked.count(old.joints[i]) > 0) continue;
    kept.joints.push_back(old.joints[i]);
    columns.push_back(static_cast<int>(i));
  }
  for (int i = 0; i < old.matrix.rows(); ++i) {
    if (!old.matrix(i, columns).isZero(0.0)) rows.push_back(i);
  }
  kept.matrix = old.matrix(rows, columns);
  if (columns.empty()) model.transmission.reset();
}

std::string mountName(const std::string& payload_name) { return payload_name + "_mount"; }

// A payload that lumping made a part of a link.
Model withoutPart(Model model, const std::string& name) {
  for (Link& link : model.links) {
    const auto part = std::find_if(link.parts.begin(), link.parts.end(),
                                   [&](const LinkPart& p) { return p.name == name; });
    if (part == link.parts.end()) continue;
    link.inertia = link.inertia - transformed(part->X_LP, part->inertia);
    link.parts.erase(part);
    std::erase_if(model.frames, [&](const Frame& frame) { return frame.name == name; });
    return finalize(std::move(model));
  }
  std::vector<std::string> known;
  for (const Link& link : model.links) {
    known.push_back(link.name);
    for (const LinkPart& part : link.parts) known.push_back(part.name);
  }
  throw Error(fmt::format("there is no payload '{}'{}", name, didYouMean(name, known)));
}

}  // namespace

InertialParameters ownInertia(const Link& link) {
  InertialParameters own = link.inertia;
  for (const LinkPart& part : link.parts) own = own - transformed(part.X_LP, part.inertia);
  return own;
}

Model lumpFixedJoints(const Model& model, const std::vector<std::string>& keep) {
  std::vector<bool> lumped(model.joints.size());
  for (size_t i = 0; i < model.joints.size(); ++i) {
    lumped[i] = model.joints[i].type == JointType::kFixed &&
                !isForceTorqueJoint(model, static_cast<int>(i));
  }
  for (const std::string& name : keep) lumped[requireJoint(model, name)] = false;

  const Renumbering map = lumpingMap(model, lumped);
  Model result = renumbered(model, map);
  const Traversal traversal = traverse(model, model.base);
  std::vector<bool> merges(model.links.size());
  for (size_t i = 0; i < model.links.size(); ++i) {
    const int joint = traversal.parent_joint[i];
    merges[i] = joint >= 0 && lumped[joint];
    if (!merges[i]) result.links.push_back(model.links[i]);
  }
  for (size_t i = 0; i < model.links.size(); ++i) {
    if (!merges[i]) continue;
    mergeLink(result.links[map.link[i]], model.links[i], map.X_new_old[i]);
    result.frames.push_back({model.links[i].name, map.link[i], map.X_new_old[i]});
  }
  return finalize(std::move(result));
}

Model lockJoints(const Model& model, const std::vector<JointValue>& locked) {
  const std::map<int, double> positions = lockedPositions(model, locked);
  Model result = model;
  lockCouplings(result, positions);
  lockTransmission(result, positions);
  for (const auto& [index, position] : positions) {
    Joint& joint = result.joints[index];
    // planar and floating joints are locked at the identity
    if (velocityCount(joint.type) == 1) joint.X_FJ = joint.X_FJ * motionAt(joint, position);
    joint.type = JointType::kFixed;
    joint.mimic.reset();
  }
  std::erase_if(result.sensors, [&](const Sensor& sensor) {
    const bool of_motion =
        sensor.kind == SensorKind::kEncoder || sensor.kind == SensorKind::kJointTorque;
    return of_motion && positions.count(sensor.joint) > 0;
  });
  return finalize(std::move(result));
}

Model attachPayload(const Model& model, const std::string& payload_name, const std::string& link,
                    const Pose& X_LP, const InertialParameters& payload) {
  const bool taken = model.linkIndex(payload_name) >= 0 || model.frameIndex(payload_name) >= 0 ||
                     model.jointIndex(mountName(payload_name)) >= 0;
  if (taken || payload_name.empty()) {
    throw Error(fmt::format("payload '{}': the name is {}; choose another one", payload_name,
                            taken ? "already in use" : "empty"));
  }
  Model result = model;
  Joint mount;
  mount.name = mountName(payload_name);
  mount.X_FJ = X_LP;
  // links that were lumped are frames now; a payload may hang on them too
  if (const int frame = model.frameIndex(link); frame >= 0) {
    mount.first = model.frames[frame].link;
    mount.X_FJ = model.frames[frame].X_LF * X_LP;
  } else {
    mount.first = requireLink(model, link);
  }
  mount.second = static_cast<int>(model.links.size());
  Link body;
  body.name = payload_name;
  body.has_inertial = true;
  body.inertia = payload;
  body.X_LI.p = payload.com();
  result.links.push_back(std::move(body));
  result.joints.push_back(std::move(mount));
  return finalize(std::move(result));
}

Model detachPayload(const Model& model, const std::string& payload_name) {
  const int payload = model.linkIndex(payload_name);
  if (payload < 0) return withoutPart(model, payload_name);
  const bool single = neighbours(model, payload).size() == 1;
  const std::vector<int>& joints = model.joints_of_link[payload];
  const bool leaf = single && model.joints[joints[0]].type == JointType::kFixed;
  if (!leaf || payload == model.base) {
    throw Error(fmt::format(
        "link '{}': it is not a payload; only a link that one fixed joint holds, and that is not "
        "the base, can be detached",
        payload_name));
  }
  Renumbering map;
  map.X_new_old.assign(model.links.size(), Pose::identity());
  int link_count = 0, joint_count = 0;
  for (int i = 0; i < static_cast<int>(model.links.size()); ++i) {
    map.link.push_back(i == payload ? -1 : link_count++);
  }
  for (int i = 0; i < static_cast<int>(model.joints.size()); ++i) {
    map.joint.push_back(i == joints[0] ? -1 : joint_count++);
  }
  Model result = renumbered(model, map);
  for (int i = 0; i < static_cast<int>(model.links.size()); ++i) {
    if (i != payload) result.links.push_back(model.links[i]);
  }
  return finalize(std::move(result));
}

Model withBase(const Model& model, const std::string& link, bool floating, const Pose& X_WB) {
  Model result = model;
  result.base = requireLink(model, link);
  result.floating = floating;
  result.X_WB = X_WB;
  return finalize(std::move(result));
}

Model withSmoothSigns(const Model& model, double gain) {
  Model smooth = model;
  for (Joint& joint : smooth.joints) {
    if (joint.friction.smooth_sign != SmoothSign::kSign) continue;
    joint.friction.smooth_sign = SmoothSign::kTanh;
    joint.friction.smooth_gain = gain;
  }
  return smooth;
}

}  // namespace proprio
