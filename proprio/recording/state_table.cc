#include "proprio/recording/state_table.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>

#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

constexpr std::array<const char*, 7> kPose = {"x", "y", "z", "qx", "qy", "qz", "qw"};
constexpr std::array<const char*, 3> kPlanar = {"x", "y", "angle"};
constexpr std::array<const char*, 6> kTwist = {"vx", "vy", "vz", "wx", "wy", "wz"};
constexpr std::array<const char*, 6> kTwistRate = {"ax", "ay", "az", "alx", "aly", "alz"};
constexpr std::array<const char*, 6> kWrenchParts = {"fx", "fy", "fz", "tx", "ty", "tz"};

const std::array<const char*, 6>& sixOf(char kind) {
  return kind == 'v' ? kTwist : kind == 'a' ? kTwistRate : kWrenchParts;
}

// joints in the order of their coordinates; followers have none of their own
std::vector<const Joint*> freeJoints(const Model& model) {
  std::vector<const Joint*> joints;
  for (const Joint& joint : model.joints) {
    if (joint.type != JointType::kFixed && !joint.mimic) joints.push_back(&joint);
  }
  std::sort(joints.begin(), joints.end(),
            [](const Joint* a, const Joint* b) { return a->velocity_index < b->velocity_index; });
  return joints;
}

template <class Suffixes>
void appendNames(std::vector<std::string>& names, const std::string& stem,
                 const Suffixes& suffixes) {
  for (const char* suffix : suffixes) names.push_back(stem + "_" + suffix);
}

// all columns of a kind, none of them, or an error
bool take(const CsvTable& table, const std::vector<std::string>& names, const std::string& what,
          bool required, Eigen::MatrixXd& out) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (table.column(name) < 0) missing.push_back(name);
  }
  const bool none = missing.size() == names.size();
  if (!missing.empty() && (required || !none)) {
    throw errorAt({table.file, 1, 0},
                  fmt::format("{} column{} missing: {}; the {} of this robot are {}",
                              missing.size(), missing.size() == 1 ? " is" : "s are",
                              fmt::join(missing, ", "), what, fmt::join(names, ", ")));
  }
  out.setZero(table.values.rows(), static_cast<Eigen::Index>(names.size()));
  if (none && !names.empty()) return false;
  for (size_t i = 0; i < names.size(); ++i)
    out.col(static_cast<Eigen::Index>(i)) = table.values.col(table.column(names[i]));
  return true;
}

void normalise(const CsvTable& table, Eigen::Index first, Eigen::MatrixXd& q) {
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    const double norm = q.row(i).segment<4>(first).norm();
    if (!(norm > 0.0)) {
      throw Error(fmt::format("{}: sample {} has a quaternion of length zero; expected a rotation",
                              table.file, i + 1));
    }
    q.row(i).segment<4>(first) /= norm;
  }
}

// what else the name could mean: a joint without q_, or one that follows another
std::string hintFor(const std::string& name, const Model& model,
                    const std::vector<std::string>& known) {
  for (const Joint& joint : model.joints) {
    for (const char* prefix : {"", "q_", "v_", "a_", "tau_"}) {
      if (name != prefix + joint.name) continue;
      if (joint.mimic) {
        return fmt::format("; joint {} mimics {} and has no columns of its own, leave it out",
                           inQuotes(joint.name), inQuotes(joint.mimic->leader));
      }
      if (joint.type == JointType::kFixed)
        return fmt::format("; joint {} is fixed, leave it out", inQuotes(joint.name));
      if (*prefix == '\0')
        return fmt::format("; for joint {} write q_{}, v_{}, a_{} or tau_{}", inQuotes(name), name,
                           name, name, name);
    }
  }
  if (name.rfind("wrench_", 0) == 0 && nearestNames(name, known).empty()) {
    std::vector<std::string> places;
    for (const Link& link : model.links) places.push_back(link.name);
    for (const Frame& frame : model.frames) places.push_back(frame.name);
    return fmt::format("; expected wrench_L_fx .. wrench_L_tz of a link or frame L{}",
                       didYouMean(name.substr(7), places));
  }
  return didYouMean(name, known);
}

void refuseUnknown(const CsvTable& table, const Model& model,
                   const std::vector<std::string>& known) {
  for (size_t c = 0; c < table.names.size(); ++c) {
    const std::string& name = table.names[c];
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw errorAt({table.file, 1, static_cast<int>(c) + 1},
                  fmt::format("there is no column {} for this robot{}", inQuotes(name),
                              hintFor(name, model, known)));
  }
}

// links as frames of themselves, and the extra frames
std::vector<Frame> wrenchPlaces(const Model& model) {
  std::vector<Frame> places;
  for (const Link& link : model.links)
    places.push_back({link.name, static_cast<int>(places.size()), {}});
  places.insert(places.end(), model.frames.begin(), model.frames.end());
  return places;
}

std::vector<std::string> wrenchNames(const Frame& place) {
  std::vector<std::string> names;
  appendNames(names, "wrench_" + place.name, kWrenchParts);
  return names;
}

// f_L = R f, n_L = R n + p x f_L with the pose (R, p) of the place in its link
void takeWrenches(const CsvTable& table, const std::vector<Frame>& places, StateTable& states) {
  Eigen::MatrixXd six;
  for (const Frame& place : places) {
    const std::string what = "wrench columns for " + inQuotes(place.name);
    if (!take(table, wrenchNames(place), what, false, six)) continue;
    states.wrench_places.push_back(place.name);
    states.wrench_links.push_back(place.link);
    states.wrenches.conservativeResize(six.rows(), states.wrenches.cols() + 6);
    for (Eigen::Index i = 0; i < six.rows(); ++i) {
      const Vector3d f = place.X_LF.R * six.row(i).head<3>().transpose();
      const Vector3d n = place.X_LF.R * six.row(i).tail<3>().transpose() + place.X_LF.p.cross(f);
      states.wrenches.row(i).tail<6>() << f.transpose(), n.transpose();
    }
  }
}

}  // namespace

std::vector<std::string> positionNames(const Tree& tree) {
  std::vector<std::string> names;
  if (tree.floating()) appendNames(names, "base", kPose);
  for (const Joint* joint : freeJoints(tree.model())) {
    const std::string stem = "q_" + joint->name;
    if (joint->type == JointType::kFloating)
      appendNames(names, stem, kPose);
    else if (joint->type == JointType::kPlanar)
      appendNames(names, stem, kPlanar);
    else
      names.push_back(stem);
  }
  return names;
}

std::vector<std::string> velocityNames(const Tree& tree, char kind) {
  std::vector<std::string> names;
  if (tree.floating()) appendNames(names, "base", sixOf(kind));
  const std::string prefix = kind == 't' ? "tau_" : std::string(1, kind) + "_";
  for (const Joint* joint : freeJoints(tree.model())) {
    const std::string stem = prefix + joint->name;
    if (joint->type == JointType::kFloating)
      appendNames(names, stem, sixOf(kind));
    else if (joint->type == JointType::kPlanar)
      appendNames(names, stem, kPlanar);
    else
      names.push_back(stem);
  }
  return names;
}

StateTable statesFrom(const CsvTable& table, const Tree& tree) {
  const auto q_names = positionNames(tree), v_names = velocityNames(tree, 'v'),
             a_names = velocityNames(tree, 'a'), tau_names = velocityNames(tree, 't');
  std::vector<std::string> known = {"time", "t"};
  for (const auto* names : {&q_names, &v_names, &a_names, &tau_names})
    known.insert(known.end(), names->begin(), names->end());
  const std::vector<Frame> places = wrenchPlaces(tree.model());
  for (const Frame& place : places) {
    for (std::string& name : wrenchNames(place)) known.push_back(std::move(name));
  }
  refuseUnknown(table, tree.model(), known);

  StateTable states;
  take(table, q_names, "positions", true, states.q);
  states.has_v = take(table, v_names, "velocities", false, states.v);
  states.has_a = take(table, a_names, "accelerations", false, states.a);
  if (!take(table, tau_names, "torques", false, states.tau)) states.tau.resize(0, 0);
  takeWrenches(table, places, states);
  const int time = std::max(table.column("time"), table.column("t"));
  if (time >= 0) states.time = table.values.col(time);
  if (tree.floating()) normalise(table, 3, states.q);
  for (const Joint* joint : freeJoints(tree.model())) {
    if (joint->type == JointType::kFloating)
      normalise(table, (tree.floating() ? 7 : 0) + joint->position_index + 3, states.q);
  }
  return states;
}

}  // namespace proprio
