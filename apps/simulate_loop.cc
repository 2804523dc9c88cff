#include "apps/simulate_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/simulate_surroundings.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/motion/trajectory_file.h"
#include "proprio/recording/read_recording.h"
#include "proprio/recording/units.h"
#include "proprio/report/recording_chart.h"
#include "proprio/servo/servo_setup.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::apps {
namespace {

// "1e-4deg", "0.2 N m" or a number in SI units
double withUnit(const std::string& text, const std::string& si, const std::string& option) {
  if (text.empty()) return 0.0;
  size_t end = text.size();
  while (end > 0 && !parseNumber(text.substr(0, end))) --end;
  const std::optional<double> number = parseNumber(text.substr(0, end));
  if (!number) {
    throw Error(fmt::format("{} is {}; expected a number, and a unit such as {} if it is not in {}",
                            option, inQuotes(text), si == "rad" ? "deg" : "mN m", si));
  }
  const std::string unit = text.substr(end);
  if (unit.find_first_not_of(' ') == std::string::npos) return *number;
  return *number * requireUnit(unit, si, option).factor;
}

double positive(const std::optional<double>& value, const char* option) {
  if (*value > 0.0 && std::isfinite(*value)) return *value;
  throw Error(fmt::format("{} is {}; give a positive number of Hz, or leave it out", option,
                          readable(*value)));
}

Control controlOf(const LoopOptions& options, Control control) {
  for (ControlKind kind :
       {ControlKind::kPid, ControlKind::kCascade, ControlKind::kComputedTorque}) {
    if (options.control == toString(kind)) control.kind = kind;
  }
  for (FeedForward kind : {FeedForward::kNone, FeedForward::kGravity, FeedForward::kModel}) {
    if (options.feed_forward == toString(kind)) control.feed_forward = kind;
  }
  if (options.control_rate) control.rate = positive(options.control_rate, "--control-rate");
  if (options.velocity_filter) {
    control.velocity_filter = positive(options.velocity_filter, "--velocity-filter");
  }
  if (options.bandwidth) control.bandwidth = positive(options.bandwidth, "--bandwidth");
  return control;
}

// sampled at the control rate; refused where it leaves the limits of the robot
MotionSamples referenceOf(const LoopOptions& options, const Tree& tree, const Parameters& plant,
                          double rate) {
  const JointMotion motion = readMotion(options.trajectory);
  requireJoints(tree.model(), motion, options.trajectory);
  if (!options.no_limits) {
    MotionCheckOptions check;
    check.effort = false;
    const MotionCheck found = checkMotion(tree, plant, motion, check);
    if (!found.violations.empty()) {
      throw Error(fmt::format("{}: {}; scale or move the motion, or follow it with --no-limits",
                              options.trajectory, sentence(found.violations[0])));
    }
  }
  return sample(motion, rate);
}

// where none is given, the largest up to 1000 Hz that divides the rate of control
double sampleRate(const LoopOptions& options, double control_rate) {
  constexpr double kUsual = 1000.0;
  if (options.sample_rate) return positive(options.sample_rate, "--sample-rate");
  return control_rate / std::ceil(control_rate / kUsual - 1e-9);
}

ClosedLoopOptions simulationOptions(const LoopOptions& options, const Model& model,
                                    double control_rate) {
  ClosedLoopOptions out;
  if (options.physics_rate) out.physics_rate = positive(options.physics_rate, "--physics-rate");
  out.sample_rate = sampleRate(options, control_rate);
  out.integrator = options.integrator == "rk1"   ? Integrator::kRk1
                   : options.integrator == "rk2" ? Integrator::kRk2
                                                 : Integrator::kRk4;
  out.encoder_noise = withUnit(options.encoder_noise, "rad", "--encoder-noise");
  out.quantisation = withUnit(options.quantisation, "rad", "--quantisation");
  out.torque_noise = withUnit(options.torque_noise, "N m", "--torque-noise");
  if (!options.latency.empty()) out.measurement_latency = options.latency[0];
  if (options.latency.size() > 1) out.command_latency = options.latency[1];
  out.encoders_on_links = options.link_encoders;
  out.sign_gain = options.sign_gain;
  out.seed = options.seed;
  out.truth = true;
  out.check_limits = !options.no_limits;
  setSurroundings(options, model, &out.payloads, &out.surroundings);
  return out;
}

Recording withoutTruth(const Recording& recording) {
  Recording out = recording;
  out.channels.clear();
  std::vector<Eigen::Index> kept;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    if (recording.channels[c].role == Role::kTruth) continue;
    out.channels.push_back(recording.channels[c]);
    kept.push_back(static_cast<Eigen::Index>(c));
  }
  out.values = recording.values(Eigen::all, kept);
  return out;
}

std::string loopTable(const ClosedLoopResult& result) {
  TextTable table;
  table.header = {"joint",       "tracking rms", "tracking peak", "torque rms",
                  "torque peak", "noise of q",   "noise of tau"};
  table.right = {false, true, true, true, true, true, true};
  for (const JointSummary& joint : result.joints) {
    table.rows.push_back({joint.joint, readable(joint.tracking_rms, 3),
                          readable(joint.tracking_peak, 3), readable(joint.torque_rms, 3),
                          readable(joint.torque_peak, 3), readable(joint.position_noise, 2),
                          readable(joint.torque_noise, 2)});
  }
  return table.text(colourWanted());
}

nlohmann::ordered_json jointsJson(const ClosedLoopResult& result) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const JointSummary& joint : result.joints) {
    json.push_back({{"joint", joint.joint},
                    {"tracking_rms", joint.tracking_rms},
                    {"tracking_peak", joint.tracking_peak},
                    {"torque_rms", joint.torque_rms},
                    {"torque_peak", joint.torque_peak},
                    {"position_noise", joint.position_noise},
                    {"torque_noise", joint.torque_noise},
                    {"saturated", joint.saturated}});
  }
  return json;
}

// servos hold joints of one coordinate; the others slide and fall while these move
std::vector<std::string> undrivenJoints(const Model& model) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints) {
    if (velocityCount(joint.type) > 1) names.push_back(joint.name);
  }
  return names;
}

nlohmann::ordered_json summaryJson(const Model& model, const ClosedLoopRun& run,
                                   const ClosedLoopResult& result) {
  return {{"robot", model.name},
          {"seconds", result.recording.time.tail(1)[0]},
          {"samples", result.recording.samples()},
          {"control", toString(run.servo.kind)},
          {"control_rate", run.servo.rate},
          {"physics_rate", result.physics_rate},
          {"sample_rate", run.options.sample_rate},
          {"seed", run.options.seed},
          {"automatic_gains", run.servo.automatic},
          {"undriven_joints", undrivenJoints(model)},
          {"joints", jointsJson(result)}};
}

// drives at their limits do not do what the servo wants; to both sides it may be unstable
std::string saturationText(const ClosedLoopResult& result) {
  std::string text;
  for (const JointSummary& joint : result.joints) {
    if (joint.saturated == 0.0) continue;
    text += fmt::format(
        "  {}: the torque is at its limit in {} % of the control periods{}\n", joint.joint,
        readable(100.0 * joint.saturated, 2),
        joint.reversals > 1 ? fmt::format(" and changes sides {} times", joint.reversals) : "");
  }
  return text;
}

std::string gainsText(const Servo& servo) {
  if (servo.automatic.empty()) return "";
  return fmt::format("  automatic gains for {}; declare `control` in robot.yaml for others\n",
                     fmt::join(servo.automatic, ", "));
}

std::string undrivenText(const Tree& tree) {
  const std::vector<std::string> joints = undrivenJoints(tree.model());
  if (joints.empty() && !tree.floating()) return "";
  const std::string names = fmt::format("{}", fmt::join(joints, ", "));
  std::vector<std::string> remedies;
  if (tree.floating()) remedies.push_back("give --fixed");
  if (!joints.empty()) remedies.push_back(fmt::format("`exclude: [{}]` in robot.yaml", names));
  return fmt::format("  no servo holds {}{}{}, which moves freely; to hold it, {}\n",
                     tree.floating() ? "the base" : "",
                     tree.floating() && !joints.empty() ? ", " : "", names,
                     fmt::join(remedies, ", and "));
}

// "log.csv" of the second run is "log_2.csv"; nothing stays nothing
std::string numbered(const std::string& path, size_t run) {
  if (path.empty()) return "";
  const std::filesystem::path whole(path);
  const std::string name =
      fmt::format("{}_{}{}", whole.stem().string(), run, whole.extension().string());
  return (whole.parent_path() / name).string();
}

void writeFiles(const Recording& log, const Model& model, const LoopOptions& options,
                const std::string& out, const std::string& plot) {
  const Recording shown = options.no_truth ? withoutTruth(log) : log;
  if (!out.empty()) writeRecording(shown, out);
  if (!plot.empty()) writePicture(recordingFigures(shown, &model), plot);
}

ClosedLoopRun plannedRun(const Tree& tree, const LoopOptions& options) {
  const Model& model = tree.model();
  const Control control = controlOf(options, model.control);
  ClosedLoopRun run;
  run.plant = declaredParameters(tree.sharedModel());
  run.options = simulationOptions(options, model, control.rate);
  const MotionSamples motion = referenceOf(options, tree, run.plant, control.rate);
  run.reference = std::make_shared<const MotionSamples>(motion);
  Eigen::VectorXd start = tree.neutralPosition();
  for (size_t c = 0; c < motion.joints.size() && motion.samples() > 0; ++c) {
    const int joint = model.jointIndex(motion.joints[c]);
    if (joint >= 0 && tree.positionIndex(joint) >= 0)
      start[tree.positionIndex(joint)] = motion.q(0, static_cast<Eigen::Index>(c));
  }
  run.servo = declaredServo(tree, run.plant, control, start);
  if (options.bandwidth && run.servo.automatic.empty()) {
    throw Error(
        "--bandwidth is for automatic gains, but every joint of this robot has gains of its own; "
        "leave it out");
  }
  return run;
}

int runOne(const RobotOptions& robot, const LoopOptions& options, const Tree& tree) {
  const ClosedLoopRun run = plannedRun(tree, options);
  const std::clock_t before = std::clock();
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  writeFiles(result.recording, tree.model(), options, options.out, options.plot);
  writeJson(robot, summaryJson(tree.model(), run, result).dump(2) + "\n");
  const double seconds = result.recording.time.tail(1)[0];
  print(fmt::format(
      "{}: {} s under {} control at {} Hz, {} samples at {} Hz{}\n"
      "  physics {} at {} Hz, {} times real time\n{}{}{}{}",
      tree.model().name, readable(seconds), toString(run.servo.kind), readable(run.servo.rate),
      result.recording.samples(), readable(run.options.sample_rate),
      options.out.empty() ? "" : " in " + options.out, options.integrator,
      readable(result.physics_rate), readable(seconds / std::max(took, 1e-9), 2),
      undrivenText(tree), gainsText(run.servo), loopTable(result), saturationText(result)));
  return 0;
}

// the same with one seed after the other, side by side; files are written only if all went well
int runMany(const RobotOptions& robot, const LoopOptions& options, const Tree& tree) {
  std::vector<ClosedLoopRun> runs(static_cast<size_t>(options.runs), plannedRun(tree, options));
  for (size_t r = 0; r < runs.size(); ++r) runs[r].options.seed = options.seed + r;
  const std::vector<ClosedLoopResult> results = simulateClosedLoops(tree, runs);
  for (size_t r = 0; r < runs.size(); ++r) {
    if (!results[r].failure.empty()) {
      throw Error(
          fmt::format("run {} (seed {}): {}", r + 1, runs[r].options.seed, results[r].failure));
    }
  }
  nlohmann::ordered_json json = {{"robot", tree.model().name}};
  TextTable table;
  table.header = {"run", "seed", "tracking rms", "torque rms", "log"};
  table.right = {true, true, true, true, false};
  for (size_t r = 0; r < runs.size(); ++r) {
    const std::string out = numbered(options.out, r + 1);
    writeFiles(results[r].recording, tree.model(), options, out, numbered(options.plot, r + 1));
    nlohmann::ordered_json own = summaryJson(tree.model(), runs[r], results[r]);
    own["log"] = out;
    json["runs"].push_back(own);
    double tracking = 0.0, torque = 0.0;
    for (const JointSummary& joint : results[r].joints) {
      tracking = std::max(tracking, joint.tracking_rms);
      torque = std::max(torque, joint.torque_rms);
    }
    table.rows.push_back({std::to_string(r + 1), std::to_string(runs[r].options.seed),
                          readable(tracking, 3), readable(torque, 3), out});
  }
  writeJson(robot, json.dump(2) + "\n");
  print(fmt::format("{}: {} runs of {} s; largest of all joints:\n{}{}{}", tree.model().name,
                    options.runs, readable(results[0].recording.time.tail(1)[0]),
                    table.text(colourWanted()), undrivenText(tree), gainsText(runs[0].servo)));
  return 0;
}

}  // namespace

void setSurroundings(const LoopOptions& options, const Model& model,
                     std::vector<PayloadChange>* payloads, Surroundings* around) {
  for (const std::string& text : options.payloads) {
    const std::vector<PayloadChange> changes = payloadChanges(model, text);
    payloads->insert(payloads->end(), changes.begin(), changes.end());
  }
  sortPayloads(payloads);
  for (const std::string& text : options.pushes) around->wrenches.push_back(pushOf(model, text));
  for (const std::string& text : options.half_spaces) {
    around->half_spaces.push_back(halfSpaceOf(text));
  }
  if (options.floor) {
    if (!std::isfinite(*options.floor)) throw Error("--floor: expected a finite height in m");
    HalfSpace floor;
    floor.point.z() = *options.floor;
    around->half_spaces.push_back(floor);
  }
  if (around->half_spaces.empty()) return;
  for (const Frame& frame : model.frames) around->points.push_back({frame.link, frame.X_LF.p});
}

int runLoop(const RobotOptions& robot, const LoopOptions& options) {
  if (options.runs < 1) throw Error(fmt::format("--runs {}; give at least 1", options.runs));
  const Tree tree(std::make_shared<const Model>(readRobot(robot)));
  return options.runs == 1 ? runOne(robot, options, tree) : runMany(robot, options, tree);
}

void addLoopOptions(CLI::App& verb, LoopOptions& options) {
  const auto group = [](CLI::Option* option) { option->group(kLoopGroup); };
  const auto outside = [](CLI::Option* option) { option->group(kOutsideGroup); };
  group(verb.add_option("--trajectory", options.trajectory,
                        "follow this motion: .csv with columns time, q_J, v_J, a_J, .json, or the "
                        ".yaml of a ROS JointTrajectory")
            ->type_name("FILE"));
  group(verb.add_option("--control-rate", options.control_rate,
                        "of the servos in Hz; default: the robot's, 5000"));
  group(verb.add_option("--physics-rate", options.physics_rate,
                        "of the integration in Hz; default: a multiple of the control rate that "
                        "is stable for friction, drives and contacts"));
  group(verb.add_option("--sample-rate", options.sample_rate,
                        "of the log in Hz; default: 1000, or less where the control rate asks for "
                        "it"));
  group(verb.add_option("--integrator", options.integrator, "Runge-Kutta of order 1, 2 or 4")
            ->check(CLI::IsMember({"rk1", "rk2", "rk4"}))
            ->capture_default_str());
  group(verb.add_option("--control", options.control, "instead of the robot's own")
            ->check(CLI::IsMember({"pid", "cascade", "computed_torque"})));
  group(verb.add_option("--feed-forward", options.feed_forward, "instead of the robot's own")
            ->check(CLI::IsMember({"none", "gravity", "model"})));
  group(verb.add_option("--velocity-filter", options.velocity_filter,
                        "cut-off of the differentiated position in Hz; default: none"));
  group(verb.add_option("--bandwidth", options.bandwidth, "of automatic gains in Hz; default 10"));
  group(verb.add_option("--encoder-noise", options.encoder_noise,
                        "standard deviation in rad, or with a unit: 1e-4deg")
            ->type_name("ANGLE"));
  group(verb.add_option("--quantisation", options.quantisation,
                        "step of the encoders in rad, or "
                        "with a unit")
            ->type_name("ANGLE"));
  group(verb.add_option("--torque-noise", options.torque_noise,
                        "standard deviation of the logged torques in N m")
            ->type_name("TORQUE"));
  group(verb.add_option("--latency", options.latency,
                        "of measurements and of commands in s: 0.001,0.0005")
            ->delimiter(',')
            ->expected(1, 2)
            ->type_name("S[,S]"));
  outside(verb.add_option("--payload", options.payloads,
                          "PLACE:MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]][@START[,END]]: what a link "
                          "or frame carries, with the inertia about its centre of mass; replaces "
                          "what it carried before")
              ->type_name("TEXT"));
  outside(
      verb.add_option("--push", options.pushes,
                      "PLACE:FX,FY,FZ[,MX,MY,MZ][@START[,END]]: a force at the origin of a link "
                      "or frame, and a moment, in world axes")
          ->type_name("TEXT"));
  outside(
      verb.add_option("--floor", options.floor,
                      "a floor at this height in m, touched by the frames and skin cells of the "
                      "robot")
          ->type_name("HEIGHT"));
  outside(verb.add_option("--half-space", options.half_spaces,
                          "NX,NY,NZ,OFFSET[,FRICTION]: a wall like the floor; free is where "
                          "nx x + ny y + nz z > offset")
              ->type_name("TEXT"));
  outside(verb.add_option("--sign-gain", options.sign_gain,
                          "Coulomb friction is tanh(gain v) in simulation, tanh(10 gain v) of "
                          "prismatic joints")
              ->capture_default_str());
  group(verb.add_option("--seed", options.seed, "of all noise")->capture_default_str());
  group(verb.add_option("--runs", options.runs,
                        "so many runs, with seeds from --seed on; files become LOG_1, LOG_2, ...")
            ->capture_default_str());
  group(verb.add_flag("--link-encoders", options.link_encoders,
                      "encoders of flexible joints on the links, not on the motors"));
  group(verb.add_flag("--no-truth", options.no_truth, "log only what a robot could log"));
  group(verb.add_flag("--no-limits", options.no_limits,
                      "follow motions beyond the joint limits, too"));
}

}  // namespace proprio::apps
