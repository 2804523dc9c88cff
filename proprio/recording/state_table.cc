#include "proprio/recording/state_table.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/units.h"

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

/// A column and its unit in SI.
struct Column {
  std::string name, unit;
};

// kind: q, v, a or t (torque) along or about an axis
std::string siUnit(char kind, bool along) {
  if (kind == 't') return along ? "N" : "N m";
  return std::string(along ? "m" : "rad") + (kind == 'v' ? "/s" : kind == 'a' ? "/s^2" : "");
}

// the first `along` along axes, up to three more about axes, the rest (quaternions) without a unit
template <class Suffixes>
void appendColumns(std::vector<Column>& columns, const std::string& stem, const Suffixes& suffixes,
                   char kind, size_t along) {
  for (size_t i = 0; i < suffixes.size(); ++i) {
    const bool has_unit = suffixes[i][0] != 'q';
    columns.push_back({stem + "_" + suffixes[i], has_unit ? siUnit(kind, i < along) : ""});
  }
}

// of all coordinates, in their order
std::vector<Column> columnsOf(const Tree& tree, char kind) {
  std::vector<Column> columns;
  const auto six = [&](const std::string& stem) {
    if (kind == 'q')
      appendColumns(columns, stem, kPose, kind, 3);
    else
      appendColumns(columns, stem, sixOf(kind), kind, 3);
  };
  if (tree.floating()) six("base");
  const std::string prefix = kind == 't' ? "tau_" : std::string(1, kind) + "_";
  for (const Joint* joint : freeJoints(tree.model())) {
    const std::string stem = prefix + joint->name;
    if (joint->type == JointType::kFloating)
      six(stem);
    else if (joint->type == JointType::kPlanar)
      appendColumns(columns, stem, kPlanar, kind, 2);
    else
      columns.push_back({stem, siUnit(kind, joint->type == JointType::kPrismatic)});
  }
  return columns;
}

std::vector<std::string> namesOf(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

// in SI, as the file's own units say
Eigen::VectorXd valuesOf(const CsvTable& table, const Column& column) {
  const int c = table.column(column.name);
  const auto place = static_cast<size_t>(c);
  const std::string unit = place < table.units.size() ? table.units[place] : "";
  if (unit.empty()) return table.values.col(c);
  const std::string what =
      fmt::format("{}:1:{}: column {}", table.file, c + 1, inQuotes(column.name));
  if (column.unit.empty()) {
    throw Error(fmt::format("{} is in {}, expected a part of a quaternion, which has no unit", what,
                            inQuotes(unit)));
  }
  const Unit si = requireUnit(unit, column.unit, what);
  return si.factor * table.values.col(c).array() + si.offset;
}

// all columns of a kind, none of them, or an error
bool take(const CsvTable& table, const std::vector<Column>& columns, const std::string& what,
          bool required, Eigen::MatrixXd& out) {
  const std::vector<std::string> names = namesOf(columns);
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
  for (size_t i = 0; i < columns.size(); ++i)
    out.col(static_cast<Eigen::Index>(i)) = valuesOf(table, columns[i]);
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

std::vector<Column> wrenchColumns(const Frame& place) {
  std::vector<Column> columns;
  appendColumns(columns, "wrench_" + place.name, kWrenchParts, 't', 3);
  return columns;
}

// f_L = R f, n_L = R n + p x f_L with the pose (R, p) of the place in its link
void takeWrenches(const CsvTable& table, const std::vector<Frame>& places, StateTable& states) {
  Eigen::MatrixXd six;
  for (const Frame& place : places) {
    const std::string what = "wrench columns for " + inQuotes(place.name);
    if (!take(table, wrenchColumns(place), what, false, six)) continue;
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

std::vector<std::string> positionNames(const Tree& tree) { return namesOf(columnsOf(tree, 'q')); }

std::vector<std::string> velocityNames(const Tree& tree, char kind) {
  return namesOf(columnsOf(tree, kind));
}

StateTable statesFrom(const CsvTable& table, const Tree& tree) {
  const auto q = columnsOf(tree, 'q'), v = columnsOf(tree, 'v'), a = columnsOf(tree, 'a'),
             tau = columnsOf(tree, 't');
  std::vector<std::string> known = {"time", "t"};
  for (const auto* columns : {&q, &v, &a, &tau}) {
    for (const Column& column : *columns) known.push_back(column.name);
  }
  const std::vector<Frame> places = wrenchPlaces(tree.model());
  for (const Frame& place : places) {
    for (const Column& column : wrenchColumns(place)) known.push_back(column.name);
  }
  refuseUnknown(table, tree.model(), known);

  StateTable states;
  take(table, q, "positions", true, states.q);
  states.has_v = take(table, v, "velocities", false, states.v);
  states.has_a = take(table, a, "accelerations", false, states.a);
  if (!take(table, tau, "torques", false, states.tau)) states.tau.resize(0, 0);
  takeWrenches(table, places, states);
  if (table.column("t") >= 0 && table.column("time") >= 0)
    throw errorAt({table.file, 1, 0},
                  "the columns 't' and 'time' both say the time; leave one out");
  for (const char* time : {"t", "time"}) {
    if (table.column(time) >= 0) states.time = valuesOf(table, {time, "s"});
  }
  if (tree.floating()) normalise(table, 3, states.q);
  for (const Joint* joint : freeJoints(tree.model())) {
    if (joint->type == JointType::kFloating)
      normalise(table, (tree.floating() ? 7 : 0) + joint->position_index + 3, states.q);
  }
  return states;
}

}  // namespace proprio
