#include "proprio/model/robot_yaml_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "proprio/core/text.h"
#include "proprio/model/robot_reader.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

using YAML::Node;

/// Relative size of what lumping and subtracting the parts again may leave behind.
constexpr double kYamlRounding = 1e-13;
/// Relative difference between what was meant and what reads back that conversions may cause.
constexpr double kYamlAgreement = 1e-9;

/// A value at a path of keys (list indices as numbers); with several lines, a mapping in block
/// style.
struct YamlChange {
  std::vector<std::string> path;
  std::vector<std::string> lines;
  bool mapping = false;  ///< the lines are keys, even if there is only one
};

/// The text has a form that cannot be spliced.
struct NotSpliceable {};

/// A name as a key: in quotes unless it is a word that YAML takes for nothing else.
std::string keyText(const std::string& name) {
  const bool word = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '_' || c == '-';
                    });
  static const std::set<std::string> kReserved = {"y",   "n",    "yes",   "no",  "on",
                                                  "off", "true", "false", "null"};
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word && kReserved.count(lower) == 0 ? name : nlohmann::json(name).dump();
}

Node childOf(const Node& node, const std::string& key) {
  if (!node.IsDefined()) return Node(YAML::NodeType::Undefined);
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && entry.first.Scalar() == key) return entry.second;
    }
  }
  if (node.IsSequence()) {
    const auto index = static_cast<size_t>(std::stoul(key));
    if (index < node.size()) return node[index];
  }
  return Node(YAML::NodeType::Undefined);
}

bool exists(const Node& node) { return node.IsDefined() && !node.IsNull(); }

// ---- what has to change ----

class YamlChanges {
 public:
  YamlChanges(const Node& robot, const Model& model) : robot_(robot), model_(model) {}

  std::vector<YamlChange> list() {
    for (const Joint& joint : model_.joints) addJoint(joint);
    addNewTerms();
    for (const CouplingColumn& column : model_.couplings) addCoupling(column);
    for (const Sensor& sensor : model_.sensors) addBias(sensor);
    if (robot_["dh"]) addBodies();
    return std::move(changes_);
  }

 private:
  /// Sets a number unless it is there already.
  void number(const Node& parent, std::vector<std::string> path, const std::string& key,
              double value, double rounding = 0.0) {
    if (!std::isfinite(value))
      throw Error(fmt::format("robot.yaml: the new value of {}.{} is not finite",
                              fmt::join(path, "."), key));
    const Node old = childOf(parent, key);
    const double before = exists(old) ? readAngle(old) : 0.0;
    if (std::abs(before - value) <= rounding) return;
    path.push_back(key);
    changes_.push_back({std::move(path), {formatNumber(value)}});
  }

  void addJoint(const Joint& joint) {
    const Node node = childOf(robot_["joints"], joint.name);
    if (!exists(node)) return;
    if (const Node drive = node["drive"]) {
      const std::vector<std::string> to = {"joints", joint.name, "drive"};
      const double ratio = joint.drive.gear_ratio;
      if (drive["motor_inertia"])
        number(drive, to, "motor_inertia", joint.drive.rotor_inertia / (ratio * ratio),
               kYamlRounding * std::abs(readNumber(drive["motor_inertia"])));
      else  // a drive with a gain or a ratio alone has a rotor as well
        number(drive, to, "rotor_inertia", joint.drive.rotor_inertia);
      if (joint.drive.gain_declared) number(drive, to, "gain", joint.drive.gain);
    }
    if (node["friction"]) addFriction(joint, node["friction"]);
    if (const Node spring = node["spring"]) {
      const std::vector<std::string> to = {"joints", joint.name, "spring"};
      number(spring, to, "stiffness", joint.spring.stiffness);
      number(spring, to, "rest", joint.spring.rest);
    }
  }

  /// Drives and friction that neither the file nor a URDF says: whole new keys.
  void addNewTerms() {
    std::vector<std::string> lines;
    const Node joints = robot_["joints"];
    for (const Joint& joint : model_.joints) {
      const Node node = childOf(joints, joint.name);
      std::vector<YamlChange> keys;
      const std::vector<std::string> to = {"joints", joint.name};
      if ((joint.drive.declared || joint.drive.gain_declared) && !(exists(node) && node["drive"]))
        keys.push_back({{"joints", joint.name, "drive"}, {driveText(joint.drive)}});
      if (!(exists(node) && node["friction"]) && !urdfSays(joint.friction))
        keys.push_back({{"joints", joint.name, "friction"}, {frictionText(joint.friction)}});
      if (keys.empty()) continue;
      if (exists(node)) {
        changes_.insert(changes_.end(), keys.begin(), keys.end());
        continue;
      }
      std::vector<std::string> parts;
      for (const YamlChange& key : keys)
        parts.push_back(key.path.back() + ": " + key.lines.front());
      const std::string value = fmt::format("{{{}}}", fmt::join(parts, ", "));
      if (exists(joints))
        changes_.push_back({to, {value}});
      else
        lines.push_back(keyText(joint.name) + ": " + value);
    }
    if (!lines.empty()) changes_.push_back({{"joints"}, lines, true});
  }

  static std::string driveText(const Drive& drive) {
    std::vector<std::string> parts;
    if (drive.declared) parts.push_back("rotor_inertia: " + formatNumber(drive.rotor_inertia));
    if (drive.gain_declared) parts.push_back("gain: " + formatNumber(drive.gain));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

  bool urdfSays(const FrictionModel& friction) const {
    return std::all_of(friction.terms.begin(), friction.terms.end(), [&](const FrictionTerm& term) {
      return robot_["urdf"] &&
             (term.kind == FrictionTermKind::kViscous || term.kind == FrictionTermKind::kCoulomb);
    });
  }

  /// Terms that have nothing but a coefficient.
  static std::string frictionText(const FrictionModel& friction) {
    std::vector<std::string> parts;
    for (const FrictionTerm& term : friction.terms)
      parts.push_back(term.name + ": " + formatNumber(term.coefficient));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

  /// Terms in the order of the file, as the reader takes them.
  void addFriction(const Joint& joint, const Node& friction) {
    size_t term = 0;
    const auto next = [&](const Node& parent, const std::vector<std::string>& path,
                          const std::string& key) {
      if (term >= joint.friction.terms.size()) return;
      const FrictionTerm& now = joint.friction.terms[term++];
      number(parent, path, key, now.coefficient);
      if (!parent.IsMap() || key != "coefficient") return;
      // constants inside the term; those that are missing have their default
      for (const auto& [constant, value] :
           {std::pair{"scale", now.scale}, {"velocity", now.scale}, {"exponent", now.exponent}}) {
        if (parent[constant] || (now.kind == FrictionTermKind::kStribeck && value != 2.0 &&
                                 constant == std::string_view("exponent")))
          number(parent, path, constant, value);
      }
    };
    for (const auto& entry : friction) {
      const std::string key = entry.first.Scalar();
      if (key == "smooth" || key == "dynamic") continue;
      const std::vector<std::string> path = {"joints", joint.name, "friction"};
      const std::vector<std::string> inside = {"joints", joint.name, "friction", key};
      if (entry.second.IsScalar()) {
        next(friction, path, key);
      } else if (entry.second.IsMap()) {
        next(entry.second, inside, "coefficient");
      } else {
        for (size_t i = 0; i < entry.second.size(); ++i) {
          std::vector<std::string> deeper = inside;
          deeper.push_back(std::to_string(i));
          next(entry.second[i], deeper, "coefficient");
        }
      }
    }
  }

  void addCoupling(const CouplingColumn& column) {
    const Node couplings = robot_["couplings"];
    for (size_t i = 0; couplings && i < couplings.size(); ++i) {
      if (couplings[i]["name"].Scalar() == column.name)
        number(couplings[i], {"couplings", std::to_string(i)}, "value", column.value);
    }
  }

  void addBias(const Sensor& sensor) {
    const Node sensors = robot_["sensors"];
    for (size_t i = 0; sensors && i < sensors.size(); ++i) {
      if (sensor.bias.empty() || sensors[i]["name"].Scalar() != sensor.name) continue;
      std::vector<double> before;
      for (const Node& entry : sensors[i]["bias"]) before.push_back(readNumber(entry));
      if (before == sensor.bias) continue;
      std::vector<std::string> numbers;
      for (const double value : sensor.bias) numbers.push_back(formatNumber(value));
      changes_.push_back({{"sensors", std::to_string(i), "bias"},
                          {fmt::format("[{}]", fmt::join(numbers, ", "))}});
    }
  }

  void addBodies() {
    const Node links = robot_["dh"]["links"];
    std::vector<std::string> fresh;  // bodies of links about which the file says nothing
    for (const Link& link : model_.links) {
      const InertialParameters body = ownInertia(link);
      if (body.vector().isZero(0.0)) continue;
      const Node node = links ? childOf(links, link.name) : Node(YAML::NodeType::Undefined);
      if (exists(node)) {
        addBody(link, body, node);
        continue;
      }
      if (!inTable(link.name)) continue;
      const Matrix3d& I = body.inertia;
      const Vector3d& c = body.first_moment;
      const std::string text = fmt::format(
          "{{mass: {}, first_moment: [{}, {}, {}], inertia: [{}, {}, {}, {}, {}, {}]}}",
          formatNumber(body.mass), formatNumber(c.x()), formatNumber(c.y()), formatNumber(c.z()),
          formatNumber(I(0, 0)), formatNumber(I(0, 1)), formatNumber(I(0, 2)),
          formatNumber(I(1, 1)), formatNumber(I(1, 2)), formatNumber(I(2, 2)));
      if (exists(links))
        changes_.push_back({{"dh", "links", link.name}, {text}});
      else
        fresh.push_back(link.name + ": " + text);
    }
    if (!fresh.empty()) changes_.push_back({{"dh", "links"}, fresh});
  }

  /// Payloads and the like are links, too, but not of the table.
  bool inTable(const std::string& link) const {
    const Node joints = robot_["dh"]["joints"];
    if (link == "base_link") return true;
    for (size_t i = 0; i < joints.size(); ++i) {
      const Node name = joints[i]["link"];
      if ((name ? name.Scalar() : fmt::format("link_{}", i + 1)) == link) return true;
    }
    return false;
  }

  void addBody(const Link& link, const InertialParameters& body, const Node& node) {
    const std::vector<std::string> path = {"dh", "links", link.name};
    const double share = link.parts.empty() ? 0.0 : kYamlRounding;
    number(node, path, "mass", body.mass, share * std::abs(link.inertia.mass));
    if (node["com"])
      numbers(node, path, "com", body.com(), kYamlRounding * body.com().norm());
    else
      numbers(node, path, "first_moment", body.first_moment,
              share * link.inertia.first_moment.norm());
    const bool central = static_cast<bool>(node["inertia_at_com"]);
    const Matrix3d I = central ? body.inertiaAtCom() : body.inertia;
    Eigen::VectorXd six(6);
    six << I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2);
    numbers(node, path, central ? "inertia_at_com" : "inertia", six,
            (central ? kYamlRounding : share) * body.inertia.norm());
  }

  void numbers(const Node& parent, std::vector<std::string> path, const std::string& key,
               const Eigen::VectorXd& values, double rounding) {
    const Node old = childOf(parent, key);
    path.push_back(key);
    if (exists(old)) {
      for (Eigen::Index i = 0; i < values.size(); ++i)
        number(old, path, std::to_string(i), values[i], rounding);
      return;
    }
    if (values.cwiseAbs().maxCoeff() <= rounding) return;
    std::vector<std::string> words;
    for (const double value : values) words.push_back(formatNumber(value));
    changes_.push_back({std::move(path), {fmt::format("[{}]", fmt::join(words, ", "))}});
  }

  const Node robot_;
  const Model& model_;
  std::vector<YamlChange> changes_;
};

// ---- changes at their places in the text ----

class YamlSplicer {
 public:
  YamlSplicer(const std::string& text, const Node& root) : text_(text), root_(root) {}

  void apply(const YamlChange& change) {
    Node node = root_;
    for (size_t i = 0; i < change.path.size(); ++i) {
      const Node child = childOf(node, change.path[i]);
      if (!exists(child)) {
        if (i + 1 != change.path.size() || !node.IsMap()) throw NotSpliceable();
        insert(node, change);
        return;
      }
      node.reset(child);
    }
    replace(node, change.lines.front());
  }

  std::string result() const {
    std::map<size_t, Edit> edits = edits_;
    for (const auto& [place, lines] : inserted_) {
      const auto found = edits.find(place);
      if (found != edits.end()) throw NotSpliceable();
      edits[place] = {text_[place] == '{' ? place + 1 : place, insertedText(place, lines)};
    }
    std::string out;
    size_t done = 0;
    for (const auto& [begin, edit] : edits) {
      if (begin < done) throw NotSpliceable();
      out.append(text_, done, begin - done);
      out += edit.text;
      done = edit.end;
    }
    return out.append(text_, done, std::string::npos);
  }

 private:
  struct Edit {
    size_t end;
    std::string text;
  };

  size_t placeOf(const Node& node) const {
    const int place = node.Mark().pos;
    if (place < 0 || static_cast<size_t>(place) >= text_.size()) throw NotSpliceable();
    return static_cast<size_t>(place);
  }

  void replace(const Node& node, const std::string& value) {
    if (!node.IsScalar()) throw NotSpliceable();
    const size_t begin = placeOf(node);
    size_t end = begin + node.Scalar().size();
    const char first = text_[begin];
    if (first == '"' || first == '\'') {
      end = text_.find(first, begin + 1);
      if (end == std::string::npos) throw NotSpliceable();
      ++end;
    } else if (text_.compare(begin, node.Scalar().size(), node.Scalar()) != 0) {
      throw NotSpliceable();
    }
    // the same place twice: shared by an alias
    if (!edits_.emplace(begin, Edit{end, value}).second) throw NotSpliceable();
  }

  void insert(const Node& map, const YamlChange& change) {
    const size_t place = placeOf(map);
    const bool keys = change.mapping || change.lines.size() > 1;
    if (keys && text_[place] != '{') {
      append(map, change);
      return;
    }
    std::string text = change.path.back() + ": ";
    if (keys)
      text += fmt::format("{{{}}}", fmt::join(change.lines, ", "));
    else
      text += change.lines.front();
    inserted_[place].push_back(text);
  }

  /// Keys in front of those that are there.
  std::string insertedText(size_t place, const std::vector<std::string>& lines) const {
    if (text_[place] == '{') {
      const size_t next = text_.find_first_not_of(" \t\r\n", place + 1);
      const bool empty = next != std::string::npos && text_[next] == '}';
      return fmt::format("{{{}{}", fmt::join(lines, ", "), empty ? "" : ", ");
    }
    const size_t line = text_.find_last_of('\n', place);
    const size_t column = place - (line == std::string::npos ? 0 : line + 1);
    std::string out;
    for (const std::string& key : lines) out += key + "\n" + std::string(column, ' ');
    return out;
  }

  /// A mapping in block style behind the last key of a mapping that is itself a value of the file.
  void append(const Node& map, const YamlChange& change) {
    size_t end = text_.size();
    const size_t place = placeOf(map);
    for (const auto& entry : root_) {
      const size_t key = placeOf(entry.first);
      if (key > place) end = std::min(end, key);
    }
    // comments above the next key belong to it
    while (end > 0 && end < text_.size()) {
      const size_t before = end >= 2 ? text_.find_last_of('\n', end - 2) : std::string::npos;
      const size_t begin = before == std::string::npos ? 0 : before + 1;
      const size_t word = text_.find_first_not_of(" \t\r\n", begin);
      if (word < end && text_[word] != '#') break;
      end = begin;
    }
    const std::string indent(static_cast<size_t>(map.Mark().column), ' ');
    std::string out = end > 0 && text_[end - 1] != '\n' ? "\n" : "";
    out += indent + change.path.back() + ":\n";
    for (const std::string& line : change.lines) out += indent + "  " + line + "\n";
    if (!edits_.emplace(end, Edit{end, out}).second) throw NotSpliceable();
  }

  const std::string& text_;
  Node root_;
  std::map<size_t, Edit> edits_;
  std::map<size_t, std::vector<std::string>> inserted_;
};

// ---- the file anew ----

std::string scalarText(const Node& node) {
  const std::string& text = node.Scalar();
  const bool quoted =
      node.Tag() == "!" || text.find_first_of(",[]{}#:&*!|>'\"%@`\n") != std::string::npos;
  return quoted ? nlohmann::json(text).dump() : text;
}

std::string flowText(const Node& node) {
  std::vector<std::string> parts;
  if (node.IsSequence()) {
    for (const Node& entry : node) parts.push_back(flowText(entry));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (node.IsMap()) {
    for (const auto& entry : node)
      parts.push_back(scalarText(entry.first) + ": " + flowText(entry.second));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return node.IsNull() ? "" : scalarText(node);
}

constexpr size_t kFlowWidth = 80;

std::string blockText(const Node& map, size_t indent) {
  std::string out;
  const std::string space(indent, ' ');
  for (const auto& entry : map) {
    const Node& value = entry.second;
    out += space + scalarText(entry.first) + ":";
    const std::string flow = flowText(value);
    const bool nested = value.IsMap() || (value.IsSequence() && value.size() > 0 &&
                                          (value[0].IsMap() || value[0].IsSequence()));
    if (!nested || (flow.size() < kFlowWidth && indent > 0)) {
      out += " " + flow + "\n";
    } else if (value.IsMap()) {
      out += "\n" + blockText(value, indent + 2);
    } else {
      out += "\n";
      for (const Node& item : value) out += space + "  - " + flowText(item) + "\n";
    }
  }
  return out;
}

std::string writtenAnew(const std::string& text, const std::string& file_name,
                        const std::vector<YamlChange>& changes) {
  // parsed from its own flow text: aliases become copies
  Node robot = parseYaml(blockText(parseYaml(text, file_name), 0), file_name);
  for (const YamlChange& change : changes) {
    Node node = robot;
    for (size_t i = 0; i + 1 < change.path.size(); ++i) {
      Node child = childOf(node, change.path[i]);
      node.reset(child);
    }
    const Node value = YAML::Load(fmt::format("{}", fmt::join(change.lines, "\n")));
    const std::string& key = change.path.back();
    if (node.IsSequence())
      node[static_cast<size_t>(std::stoul(key))] = value;
    else
      node[key] = value;
  }
  return blockText(robot, 0);
}

// ---- the result, read again ----

double sizeOf(const InertialParameters& body) {
  const double mass = std::abs(body.mass);
  return body.vector().cwiseAbs().maxCoeff() +
         (mass > 0.0 ? body.first_moment.squaredNorm() / mass : 0.0);
}

/// What the two models say differently, in words; empty if nothing.
std::string disagreement(const Model& meant, const Model& read) {
  for (const Link& link : meant.links) {
    const int index = read.linkIndex(link.name);
    if (index < 0) continue;
    const InertialParameters a = ownInertia(link),
                             b = ownInertia(read.links[static_cast<size_t>(index)]);
    if ((a - b).vector().norm() > kYamlAgreement * (sizeOf(link.inertia) + sizeOf(a)))
      return "the inertia of link " + inQuotes(link.name);
  }
  const auto differ = [](double a, double b) {
    return std::abs(a - b) > kYamlAgreement * (std::abs(a) + std::abs(b));
  };
  for (const Joint& joint : meant.joints) {
    const int index = read.jointIndex(joint.name);
    if (index < 0 || velocityCount(joint.type) == 0) continue;
    const Joint& other = read.joints[static_cast<size_t>(index)];
    const std::string of = " of joint " + inQuotes(joint.name);
    if (joint.drive.declared && differ(joint.drive.rotor_inertia, other.drive.rotor_inertia))
      return "the rotor inertia" + of;
    if (joint.drive.gain_declared && differ(joint.drive.gain, other.drive.gain))
      return "the gain" + of;
    if (joint.friction.terms.size() != other.friction.terms.size()) return "the friction" + of;
    for (size_t t = 0; t < joint.friction.terms.size(); ++t) {
      const FrictionTerm &one = joint.friction.terms[t], &two = other.friction.terms[t];
      if (differ(one.coefficient, two.coefficient) || differ(one.scale, two.scale) ||
          differ(one.exponent, two.exponent))
        return "the friction" + of;
    }
    if (joint.spring.declared && (differ(joint.spring.stiffness, other.spring.stiffness) ||
                                  differ(joint.spring.rest, other.spring.rest)))
      return "the spring" + of;
  }
  for (const CouplingColumn& column : meant.couplings) {
    for (const CouplingColumn& other : read.couplings) {
      if (column.name == other.name && differ(column.value, other.value))
        return "the coupling " + inQuotes(column.name);
    }
  }
  return {};
}

std::string reasonAgainst(const std::string& text, const Model& model, const std::string& file_name,
                          const RobotYamlUpdate& update) {
  ReadOptions options;
  options.urdf_text = update.urdf_text;
  options.lump_fixed = false;  // own shares are compared, whatever the model lumped or locked
  try {
    return disagreement(model, readRobotYamlText(text, file_name, options));
  } catch (const Error& error) {
    return error.what();
  }
}

/// The file goes elsewhere: its URDF and folders are named from there.
void addPaths(const Node& robot, const std::string& file_name, const RobotYamlUpdate& update,
              std::vector<YamlChange>* changes) {
  namespace fs = std::filesystem;
  if (update.urdf.empty()) return;
  if (robot["urdf"]) changes->push_back({{"urdf"}, {update.urdf}});
  for (const auto& entry : robot["packages"]) {
    const std::string folder = entry.second.Scalar();
    if (fs::path(folder).is_absolute() || folder.find('$') != std::string::npos) continue;
    const fs::path whole = fs::absolute(fs::path(file_name).parent_path() / folder);
    changes->push_back({{"packages", entry.first.Scalar()},
                        {nlohmann::json(whole.lexically_normal().string()).dump()}});
  }
}

}  // namespace

std::string updatedRobotYaml(const std::string& text, const Model& model,
                             const std::string& file_name, const RobotYamlUpdate& update) {
  const Node robot = parseYaml(text, file_name);
  checkVersion(robot, file_name);
  checkFields(robot, robotFields().front(), file_name);
  std::vector<YamlChange> changes = YamlChanges(robot, model).list();
  addPaths(robot, file_name, update, &changes);
  std::string result;
  try {
    YamlSplicer splicer(text, robot);
    for (const YamlChange& change : changes) splicer.apply(change);
    result = splicer.result();
    if (reasonAgainst(result, model, file_name, update).empty()) return result;
  } catch (const NotSpliceable&) {
  }
  result = writtenAnew(text, file_name, changes);
  const std::string reason = reasonAgainst(result, model, file_name, update);
  if (!reason.empty())
    throw Error(
        fmt::format("{}: the new values could not be written into it: {} reads back "
                    "differently",
                    file_name, reason));
  return result;
}

std::string robotYamlForUrdf(const Model& model, const std::string& urdf) {
  return fmt::format("version: 1\nname: {}\nurdf: {}\n", nlohmann::json(model.name).dump(),
                     nlohmann::json(urdf).dump());
}

}  // namespace proprio
