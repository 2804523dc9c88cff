#include <algorithm>
#include <memory>

#include "apps/progress_bar.h"
#include "apps/verb.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/identifiability_report.h"

namespace proprio::apps {
namespace {

struct BaseOptions : RobotOptions {
  std::vector<std::string> measured;
  std::vector<std::string> joints;
  bool full_names = false;
  unsigned seed = 1;
};

/// "torques,base,sensors": what is measured, where the user says so.
Measurement measurementOf(const BaseOptions& options, const Model& model) {
  Measurement measurement;
  if (!options.measured.empty()) {
    measurement.joint_torques = false;
    measurement.base_wrench = false;
  }
  const std::vector<std::string> known = {"torques", "base", "sensors"};
  for (const std::string& word : options.measured) {
    if (word == "torques") {
      measurement.joint_torques = true;
    } else if (word == "base") {
      measurement.base_wrench = true;
    } else if (word == "sensors") {
      measurement.force_torque_sensors = true;
    } else {
      throw Error("--measured: there is no " + inQuotes(word) + didYouMean(word, known));
    }
  }
  if (measurement.force_torque_sensors) {
    const bool any =
        std::any_of(model.sensors.begin(), model.sensors.end(),
                    [](const Sensor& sensor) { return sensor.kind == SensorKind::kForceTorque; });
    if (!any) {
      throw Error(options.robot +
                  ": --measured sensors, but the robot has no force-torque sensor; declare it in "
                  "robot.yaml (sensors)");
    }
  }
  if (!options.joints.empty() && !measurement.joint_torques) {
    throw Error(
        "--joints chooses among the torques, but --measured does not name torques; add them or "
        "leave out --joints");
  }
  for (const std::string& name : options.joints) {
    measurement.joints.push_back(requireJoint(model, name));
  }
  return measurement;
}

int runBase(const BaseOptions& options) {
  const Model model = readRobot(options);
  const IdentifiabilityReport report = [&] {
    ProgressBar progress;
    return analyseIdentifiability(
        model, measurementOf(options, model), options.seed, !options.full_names,
        [&](const std::string& step, double done) { progress.show(step, done); });
  }();
  writeJson(options, identifiabilityJson(report));
  print(identifiabilityText(report, colourWanted(), terminalWidth()));
  return report.agree ? 0 : 1;
}

}  // namespace

Run addBase(CLI::App& verb) {
  const auto options = std::make_shared<BaseOptions>();
  addRobotOptions(verb, *options);
  verb.add_option("--measured", options->measured,
                  "what is measured: torques (of the joints), base (wrench on the base), sensors "
                  "(force-torque sensors); default: torques, and base if it floats")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--joints", options->joints, "only the torques of these joints are measured")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_flag("--full-names", options->full_names,
                "link_2.Izz instead of the short names of serial arms (ZZ2)");
  verb.add_option("--seed", options->seed, "of the random states of the sampled route")
      ->capture_default_str();
  return [options] { return runBase(*options); };
}

}  // namespace proprio::apps
