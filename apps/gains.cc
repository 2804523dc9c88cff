#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/signal_options.h"
#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/identification/drive_gains.h"
#include "proprio/model/payload_file.h"
#include "proprio/report/write_back.h"

namespace proprio::apps {
namespace {

struct GainsVerbOptions : RobotOptions {
  GainOptions gains;
  SignalFlags signals;
  std::string payload, at, out, method = "together";
};

using Json = nlohmann::ordered_json;

/// The only link that nothing hangs on.
std::string lastLink(const Model& model) {
  const Traversal traversal = traverse(model, model.base);
  std::vector<bool> carries(model.links.size(), false);
  for (const int parent : traversal.parent) {
    if (parent >= 0) carries[static_cast<size_t>(parent)] = true;
  }
  std::vector<std::string> ends;
  for (size_t i = 0; i < carries.size(); ++i) {
    if (!carries[i]) ends.push_back(model.links[i].name);
  }
  if (ends.size() == 1) return ends.front();
  throw Error(
      fmt::format("--payload: this robot ends in {} links ({}); say which of them carries "
                  "the payload with --at LINK",
                  ends.size(), fmt::join(ends, ", ")));
}

/// A file, or MASS,X,Y,Z.
KnownPayload knownPayload(const GainsVerbOptions& options, const Model& model) {
  KnownPayload payload;
  std::vector<double> numbers;
  for (const std::string& part : splitAt(options.payload, ',')) {
    if (const std::optional<double> value = parseNumber(part)) numbers.push_back(*value);
  }
  if (numbers.empty()) {
    const PayloadFile file = readPayloadFile(options.payload);
    payload = {file.link, file.X_LP, file.body, file.inertia_declared};
    if (!options.at.empty()) payload.link = options.at;
    return payload;
  }
  if (numbers.size() != 4 || splitAt(options.payload, ',').size() != 4)
    throw Error(fmt::format(
        "--payload is {}; expected a file, or MASS,X,Y,Z: kg, and its centre in the frame of the "
        "link that carries it, in m",
        inQuotes(options.payload)));
  payload.link = options.at.empty() ? lastLink(model) : options.at;
  payload.body = InertialParameters::fromCom(
      numbers[0], Vector3d(numbers[1], numbers[2], numbers[3]), Matrix3d::Zero());
  payload.inertia_known = false;
  return payload;
}

std::string cell(double number, const char* format = "{:.4g}") {
  return std::isfinite(number) ? fmt::format(fmt::runtime(format), number) : "-";
}

std::string gainTable(const DriveGains& gains, const std::vector<DriveGain>& chosen) {
  TextTable table;
  table.header = {"joint", "gain N m/A", "±", "%", "separate", "±", "payload N m", ""};
  for (size_t i = 0; i < gains.separate.size(); ++i) {
    const DriveGain &gain = chosen[i], &separate = gains.separate[i];
    const std::string remark = gain.revealed()      ? (gain.gain < 0.0 ? "against the joint" : "")
                               : separate.rows == 0 ? "no current recorded"
                                                    : "not revealed";
    const bool shown = gain.revealed();
    table.rows.push_back({gain.joint, shown ? cell(gain.gain) : "-",
                          shown ? cell(gain.deviation, "{:.2g}") : "",
                          shown ? cell(100.0 * std::abs(gain.deviation / gain.gain), "{:.2g}") : "",
                          cell(separate.gain), cell(separate.deviation, "{:.2g}"),
                          cell(separate.payload_torque, "{:.3g}"), remark});
  }
  table.right.assign(table.header.size(), true);
  table.right.front() = table.right.back() = false;
  return table.text(colourWanted());
}

Json gainsJson(const GainResult& result, const std::vector<DriveGain>& chosen) {
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(); };
  Json joints = Json::array();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const DriveGain &gain = chosen[i], &separate = result.gains.separate[i];
    joints.push_back({{"joint", gain.joint},
                      {"revealed", gain.revealed()},
                      {"gain", gain.revealed() ? number(gain.gain) : Json()},
                      {"sigma", gain.revealed() ? number(gain.deviation) : Json()},
                      {"separate", number(separate.gain)},
                      {"separate_sigma", number(separate.deviation)},
                      {"signal_noise", number(separate.noise)},
                      {"payload_torque", number(separate.payload_torque)},
                      {"rows", separate.rows}});
  }
  return {{"joints", joints}, {"notes", result.told}};
}

void writeGains(const std::string& folder, const Model& model,
                const std::vector<DriveGain>& gains) {
  Model with_gains = model;
  for (const DriveGain& gain : gains) {
    if (!gain.revealed()) continue;
    Drive& drive = with_gains.joints[static_cast<size_t>(requireJoint(model, gain.joint))].drive;
    drive.gain = gain.gain;
    drive.gain_declared = true;
  }
  const WrittenModel written =
      writtenModel(model, declaredParameters(std::make_shared<const Model>(with_gains)), true);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(fmt::format("{}: {}", folder, failed.message()));
  std::vector<FileContent> files = {{folder + "/robot.yaml", written.yaml}};
  if (!written.urdf.empty()) files.push_back({folder + "/robot.urdf", written.urdf});
  writeFilesTogether(files);
}

int run(GainsVerbOptions options) {
  const Model model = readRobot(options);
  if (options.method != "together" && options.method != "separate")
    throw Error(
        fmt::format("--method is {}; expected together or separate", inQuotes(options.method)));
  options.gains.signals = jointSignalOptions(options.signals);
  const GainResult result = identifyDriveGains(model, knownPayload(options, model), options.gains);
  const std::vector<DriveGain>& chosen =
      options.method == "separate" ? result.gains.separate : result.gains.together;
  std::vector<std::string> hidden;
  for (const DriveGain& gain : chosen) {
    if (!gain.revealed()) hidden.push_back(gain.joint);
  }
  std::string text;
  for (const std::string& sentence : result.told) text += sentence + "\n";
  text += gainTable(result.gains, chosen);
  if (!hidden.empty())
    text += fmt::format(
        "the payload does not reveal the gain of {}: its torque there is too small, or looks like "
        "the robot's own; move it away from the axis, take a heavier one, or move longer\n",
        fmt::join(hidden, ", "));
  for (size_t i = 0; i < chosen.size(); ++i) {
    const DriveGain &one = result.gains.separate[i], &other = result.gains.together[i];
    const double doubt = std::hypot(one.deviation, other.deviation);
    if (one.revealed() && other.revealed() && std::abs(one.gain - other.gain) > 3.0 * doubt)
      text += fmt::format(
          "{}: {:.4g} by itself and {:.4g} together with the others, more than three standard "
          "deviations apart: the model misses something, such as friction that depends on the "
          "load, or a filter is too strong (--cutoff)\n",
          one.joint, one.gain, other.gain);
  }
  writeJson(options, gainsJson(result, chosen).dump(2) + "\n");
  if (!options.out.empty() && hidden.size() < chosen.size()) writeGains(options.out, model, chosen);
  print(text);
  return hidden.empty() ? 0 : 1;
}

}  // namespace

Run addGains(CLI::App& verb) {
  const auto options = std::make_shared<GainsVerbOptions>();
  addRobotOptions(verb, *options);
  verb.add_option("--log", options->gains.logs,
                  "recordings without the payload, with motor currents; repeat")
      ->required()
      ->type_name("FILE");
  verb.add_option("--loaded", options->gains.loaded, "recordings with the payload; repeat")
      ->required()
      ->type_name("FILE");
  verb.add_option("--payload", options->payload,
                  "a file with name, link, mass, com, inertia_at_com as under payloads in "
                  "robot.yaml, or MASS,X,Y,Z (kg, m): then its inertia is estimated besides")
      ->required()
      ->type_name("FILE|M,X,Y,Z");
  verb.add_option("--at", options->at, "the link that carries it; default: the file's, or the last")
      ->type_name("LINK");
  verb.add_option("--method", options->method,
                  "together (all joints share the robot's parameters; total least squares) or "
                  "separate (joint by joint; least squares)")
      ->capture_default_str()
      ->type_name("NAME");
  addSignalOptions(verb, options->signals);
  verb.add_flag("--as-declared", options->gains.as_declared,
                "only the friction and rotor inertias that the robot declares");
  verb.add_option("--out", options->out, "folder for robot.yaml with 'drive: {gain: ...}'")
      ->type_name("DIR");
  return [options] { return run(*options); };
}

}  // namespace proprio::apps
