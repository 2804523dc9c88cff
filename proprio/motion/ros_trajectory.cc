#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/motion/trajectory_file.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// ---- reading ----

struct Reader {
  std::string file;

  FileLocation at(const YAML::Node& node) const {
    if (!node.IsDefined()) return {file, 0, 0};
    return {file, node.Mark().line + 1, node.Mark().column + 1};
  }

  double number(const YAML::Node& node, const std::string& what) const {
    const bool scalar = node.IsDefined() && node.IsScalar();
    const auto value = scalar ? parseNumber(node.Scalar()) : std::nullopt;
    if (value && std::isfinite(*value)) return *value;
    const std::string found = scalar ? inQuotes(node.Scalar()) : "no number";
    throw errorAt(at(node), fmt::format("{}: found {}, expected a finite number{}", what, found,
                                        scalar && node.Scalar() == "..."
                                            ? "; print the message with --full-length"
                                            : ""));
  }

  // time_from_start in seconds, from {sec, nanosec}, {secs, nsecs} or a number
  double seconds(const YAML::Node& point, const std::string& what) const {
    const YAML::Node node = point["time_from_start"];
    if (!node.IsDefined() || node.IsNull())
      throw errorAt(at(point), fmt::format("{} is missing; expected sec and nanosec", what));
    if (node.IsScalar()) return number(node, what);
    for (const auto& [whole, part] : {std::pair("sec", "nanosec"), {"secs", "nsecs"}}) {
      if (!node[whole] && !node[part]) continue;
      const double s = node[whole] ? number(node[whole], what) : 0.0;
      return s + (node[part] ? number(node[part], what) : 0.0) * 1e-9;
    }
    throw errorAt(at(node), fmt::format("{}: expected sec and nanosec", what));
  }

  // one row of the matrix; true if the list is there and not empty
  bool row(const YAML::Node& point, const char* key, size_t k, Index joints, MatrixXd& values,
           Index samples) const {
    const YAML::Node list = point[key];
    const std::string what = fmt::format("points[{}].{}", k, key);
    if (!list.IsDefined() || list.IsNull()) return false;
    if (!list.IsSequence())
      throw errorAt(at(list), fmt::format("{}: expected a list of numbers", what));
    if (list.size() == 0) return false;
    if (static_cast<Index>(list.size()) != joints)
      throw errorAt(at(list), fmt::format("{}: found {} numbers, expected {}, one per joint name",
                                          what, list.size(), joints));
    if (values.rows() == 0) values.resize(samples, joints);
    for (size_t i = 0; i < list.size(); ++i)
      values(static_cast<Index>(k), static_cast<Index>(i)) =
          number(list[i], fmt::format("{}[{}]", what, i));
    return true;
  }
};

// the first mapping with points, directly or inside goal and trajectory
YAML::Node messageIn(const std::string& text, const std::string& file) {
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    throw errorAt({file, error.mark.line + 1, error.mark.column + 1},
                  "this is not YAML: " + error.msg);
  }
  for (YAML::Node document : documents) {
    for (const char* wrapper : {"goal", "trajectory", "joint_trajectory"}) {
      if (document.IsMap() && document[wrapper]) document.reset(document[wrapper]);
    }
    if (document.IsMap() && document["points"]) return document;
  }
  throw Error(file + ": there is no ROS JointTrajectory in it; expected joint_names and points");
}

// every point has what the first one has
void requireAll(const Reader& reader, const YAML::Node& point, size_t k, const char* key, bool now,
                bool before) {
  if (k > 0 && now != before)
    throw errorAt(reader.at(point), fmt::format("points[{}] has {} {}, unlike the points before", k,
                                                now ? "the list" : "no list", key));
}

// ---- writing ----

// a number that YAML 1.1 (PyYAML, hence ROS) takes as one: with a point, and a signed exponent
std::string yamlNumber(double value) {
  std::string text = formatNumber(value);
  const size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') == std::string::npos) mantissa += ".0";
  if (e == std::string::npos) return mantissa;
  std::string exponent = text.substr(e + 1);
  if (exponent.front() != '-' && exponent.front() != '+') exponent.insert(0, "+");
  return mantissa + "e" + exponent;
}

std::string yamlList(const MatrixXd& values, Index row) {
  std::string text = "[";
  for (Index i = 0; values.rows() > 0 && i < values.cols(); ++i)
    text += (i > 0 ? ", " : "") + yamlNumber(values(row, i));
  return text + "]";
}

std::string yamlText(const std::string& name) {
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

MotionSamples motionFromRosYaml(const std::string& text, const std::string& file_name) {
  const Reader reader{file_name};
  const YAML::Node message = messageIn(text, file_name);
  const YAML::Node names = message["joint_names"], points = message["points"];
  if (!names.IsDefined() || !names.IsSequence() || names.size() == 0)
    throw errorAt(reader.at(message), "joint_names is missing or empty");
  if (!points.IsSequence() || points.size() == 0)
    throw errorAt(reader.at(points), "points is empty; expected at least one point");
  MotionSamples samples;
  for (const YAML::Node& name : names) {
    if (!name.IsScalar()) throw errorAt(reader.at(name), "joint_names: expected a list of names");
    samples.joints.push_back(name.Scalar());
  }
  const auto joints = static_cast<Index>(names.size()), count = static_cast<Index>(points.size());
  samples.time.resize(count);
  bool has_v = false, has_a = false;
  size_t k = 0;
  for (const YAML::Node& point : points) {
    if (!point.IsMap())
      throw errorAt(reader.at(point), fmt::format("points[{}]: expected a mapping", k));
    samples.time[static_cast<Index>(k)] =
        reader.seconds(point, fmt::format("points[{}].time_from_start", k));
    if (!reader.row(point, "positions", k, joints, samples.q, count))
      throw errorAt(reader.at(point), fmt::format("points[{}] has no positions", k));
    const bool v = reader.row(point, "velocities", k, joints, samples.v, count);
    const bool a = reader.row(point, "accelerations", k, joints, samples.a, count);
    requireAll(reader, point, k, "velocities", v, has_v);
    requireAll(reader, point, k, "accelerations", a, has_a);
    has_v = v;
    has_a = a;
    ++k;
  }
  return samples;
}

std::string motionRosYaml(const MotionSamples& samples) {
  std::string text =
      "header:\n  stamp:\n    sec: 0\n    nanosec: 0\n  frame_id: ''\njoint_names:\n";
  for (const std::string& joint : samples.joints) text += "- " + yamlText(joint) + "\n";
  text += "points:\n";
  for (Index k = 0; k < samples.samples(); ++k) {
    const long long nanoseconds = std::llround(samples.time[k] * 1e9);
    text += fmt::format(
        "- positions: {}\n  velocities: {}\n  accelerations: {}\n  effort: []\n"
        "  time_from_start:\n    sec: {}\n    nanosec: {}\n",
        yamlList(samples.q, k), yamlList(samples.v, k), yamlList(samples.a, k),
        nanoseconds / 1000000000, nanoseconds % 1000000000);
  }
  return text;
}

}  // namespace proprio
