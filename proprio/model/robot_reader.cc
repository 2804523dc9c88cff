#include "proprio/model/robot_reader.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/model/dh_table.h"
#include "proprio/model/robot_yaml_internal.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;
using YAML::Node;

bool flag(const Node& node, bool otherwise) { return node ? node.Scalar() == "true" : otherwise; }

template <class Items>
std::vector<std::string> allNames(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

// Is this the variable itself, and not the beginning of a longer name?
bool endsName(const std::string& text, size_t end) {
  return end >= text.size() || text[end - 1] == '}' ||
         !(std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
}

// A path of the file, relative to its folder; $PROPRIO_DATA is replaced, itself relative to the
// current folder, as the shell means it.
std::string resolvePath(const Node& node, const std::string& file_name) {
  std::string path = node.Scalar();
  for (const std::string variable : {"${PROPRIO_DATA}", "$PROPRIO_DATA"}) {
    const size_t begin = path.find(variable);
    if (begin == std::string::npos || !endsName(path, begin + variable.size())) continue;
    const char* folder = std::getenv("PROPRIO_DATA");
    if (folder == nullptr) {
      throw errorAt(
          yamlLocation(node, file_name),
          fmt::format("the path {} needs the environment variable PROPRIO_DATA, which is not set; "
                      "set it to the folder with the recordings",
                      inQuotes(path)));
    }
    path.replace(begin, variable.size(), fs::absolute(folder).string());
  }
  if (path.find('$') != std::string::npos) {
    throw errorAt(
        yamlLocation(node, file_name),
        fmt::format("the path {} has a '$', expected only $PROPRIO_DATA", inQuotes(path)));
  }
  return fs::path(path).is_absolute() ? path : (fs::path(file_name).parent_path() / path).string();
}

Model readKinematics(const Node& robot, const std::string& file_name, const ReadOptions& options) {
  if (robot["dh"]) return readDhTable(robot["dh"], file_name);
  const std::string path = resolvePath(robot["urdf"], file_name);
  if (options.urdf_text) return readUrdfText(*options.urdf_text, path, options.notes);
  if (!fs::exists(path)) {
    throw errorAt(
        yamlLocation(robot["urdf"], file_name),
        fmt::format("urdf is {}, but there is no file {}", inQuotes(robot["urdf"].Scalar()), path));
  }
  return readUrdf(path, options.notes);
}

void setBase(const Node& robot, const std::string& file_name, Model& model) {
  const Node base = robot["base"];
  if (!base) return;
  if (base["link"]) model.base = linkNamed(model, base["link"], file_name);
  model.floating = flag(base["floating"], model.floating);
  model.X_WB = readPose(base);
}

// joints to freeze: `locked` of a joint, and `exclude` (at 0 unless locked says otherwise)
std::vector<JointValue> lockedJoints(const Node& robot, const std::string& file_name,
                                     const Model& model) {
  std::vector<JointValue> locked;
  for (const auto& entry : robot["joints"]) {
    if (const Node position = entry.second["locked"]) {
      locked.push_back(
          {entry.first.Scalar(), readAngle(position), yamlLocation(position, file_name)});
    }
  }
  for (const Node& node : robot["exclude"]) {
    const std::string& name =
        model.joints[static_cast<size_t>(jointNamed(model, node, file_name))].name;
    const bool known = std::any_of(locked.begin(), locked.end(),
                                   [&](const JointValue& v) { return v.joint == name; });
    if (!known) locked.push_back({name, 0.0, yamlLocation(node, file_name)});
  }
  return locked;
}

Model attachPayloads(const Node& robot, const std::string& file_name, Model model) {
  for (const Node& payload : robot["payloads"]) {
    const std::string& link =
        model.links[static_cast<size_t>(linkNamed(model, payload["link"], file_name))].name;
    try {
      model = attachPayload(model, payload["name"].Scalar(), link, readPose(payload),
                            readInertia(payload));
    } catch (const Error& error) {
      throw errorAt(yamlLocation(payload, file_name), error.what());
    }
    model.links[static_cast<size_t>(model.linkIndex(payload["name"].Scalar()))].location =
        yamlLocation(payload, file_name);
  }
  return model;
}

Model lump(const Model& model, std::vector<std::string> keep, const ReadOptions& options) {
  if (!options.lump_fixed) return model;
  for (const std::string& name : options.keep) {
    requireJoint(model, name);
    keep.push_back(name);
  }
  return lumpFixedJoints(model, keep);
}

Model applyBase(Model model, const ReadOptions& options) {
  if (options.base) model.base = requireLink(model, *options.base);
  if (options.floating) model.floating = *options.floating;
  return model;
}

bool isYaml(const std::string& path, const std::string& text) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".yaml" || extension == ".yml") return true;
  if (extension == ".urdf" || extension == ".xml") return false;
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string::npos && text[first] != '<';
}

}  // namespace

std::string urdfBehind(const std::string& path) {
  const std::string text = readFile(path);
  if (!isYaml(path, text)) return path;
  const Node robot = parseYaml(text, path);
  const bool named = robot.IsMap() && robot["urdf"] && robot["urdf"].IsScalar();
  return named ? resolvePath(robot["urdf"], path) : std::string();
}

Model readRobotYamlText(const std::string& text, const std::string& file_name,
                        const ReadOptions& options) {
  const Node robot = parseYaml(text, file_name);
  checkVersion(robot, file_name);
  checkFields(robot, robotFields().front(), file_name);

  Model model = readKinematics(robot, file_name, options);
  model.source = file_name;
  if (robot["name"]) model.name = robot["name"].Scalar();
  if (model.name.empty()) model.name = fs::path(file_name).stem().string();
  if (robot["gravity"]) model.gravity = readVector3(robot["gravity"]);
  for (const auto& entry : robot["packages"]) {
    model.packages.push_back({entry.first.Scalar(), resolvePath(entry.second, file_name)});
  }
  for (const auto& entry : robot["info"])
    model.info.push_back({entry.first.Scalar(), entry.second.Scalar()});
  readJoints(robot["joints"], file_name, model);
  readAttached(robot, file_name, model);
  if (robot["recording"])
    model.recording = readRecordingDeclaration(robot["recording"], file_name, model);
  setBase(robot, file_name, model);
  model = finalize(applyBase(std::move(model), options));

  std::vector<std::string> keep;
  for (const Node& node : robot["keep"]) {
    keep.push_back(model.joints[static_cast<size_t>(jointNamed(model, node, file_name))].name);
  }
  const std::vector<JointValue> locked = lockedJoints(robot, file_name, model);
  model = attachPayloads(robot, file_name, std::move(model));
  if (!locked.empty()) model = lockJoints(model, locked);
  return flag(robot["lump_fixed"], true) ? lump(model, keep, options) : model;
}

Model readRobot(const std::string& path, const ReadOptions& options) {
  const std::string text = readFile(path);
  if (isYaml(path, text)) return readRobotYamlText(text, path, options);
  return lump(finalize(applyBase(readUrdfText(text, path, options.notes), options)), {}, options);
}

}  // namespace proprio
