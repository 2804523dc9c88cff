#include "apps/simulate_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

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

std::vector<double> numbersOf(const std::string& text, size_t count, const std::string& what) {
  std::vector<double> numbers;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const std::optional<double> number = parseNumber(text.substr(start, comma - start));
    if (!number || !std::isfinite(*number)) break;
    numbers.push_back(*number);
    start = comma + 1;
  }
  if (numbers.size() != count || start <= text.size()) {
    throw Error(
        fmt::format("{} has {}; expected {} numbers with commas", what, inQuotes(text), count));
  }
  return numbers;
}

// "A:B@C" in its parts; B and C may be missing
struct Parts {
  std::string first, second, time;
};
Parts namesIn(const std::string& text) {
  Parts parts;
  const size_t at = text.find('@');
  const std::string front = text.substr(0, at);
  if (at != std::string::npos) parts.time = text.substr(at + 1);
  const size_t colon = front.find(':');
  parts.first = front.substr(0, colon);
  if (colon != std::string::npos) parts.second = front.substr(colon + 1);
  return parts;
}

// LINK:MASS,X,Y,Z@TIME or LINK:MASS@TIME
PayloadChange payloadOf(const Model& model, const std::string& text) {
  const std::string what = "--payload " + inQuotes(text);
  const Parts parts = namesIn(text);
  PayloadChange change;
  change.link = requireLink(model, parts.first);
  if (!parts.time.empty()) change.time = numbersOf(parts.time, 1, what)[0];
  const bool has_place = parts.second.find(',') != std::string::npos;
  std::vector<double> numbers = numbersOf(parts.second, has_place ? 4 : 1, what);
  numbers.resize(4, 0.0);
  if (!(numbers[0] >= 0.0))
    throw Error(fmt::format("{}: the mass is {} kg; give at least 0", what, numbers[0]));
  change.payload = InertialParameters::fromCom(
      numbers[0], Vector3d(numbers[1], numbers[2], numbers[3]), Matrix3d::Zero());
  return change;
}

// LINK:FX,FY,FZ@START,END
AppliedWrench pushOf(const Model& model, const std::string& text) {
  const std::string what = "--push " + inQuotes(text);
  const Parts parts = namesIn(text);
  AppliedWrench push;
  push.link = requireLink(model, parts.first);
  const std::vector<double> force = numbersOf(parts.second, 3, what);
  push.force = Vector3d(force[0], force[1], force[2]);
  if (parts.time.empty()) return push;
  const bool ends = parts.time.find(',') != std::string::npos;
  const std::vector<double> times = numbersOf(parts.time, ends ? 2 : 1, what);
  push.start = times[0];
  if (ends) push.end = times[1];
  return push;
}

Control controlOf(const LoopOptions& options, Control control) {
  for (ControlKind kind :
       {ControlKind::kPid, ControlKind::kCascade, ControlKind::kComputedTorque}) {
    if (options.control == toString(kind)) control.kind = kind;
  }
  for (FeedForward kind : {FeedForward::kNone, FeedForward::kGravity, FeedForward::kModel}) {
    if (options.feed_forward == toString(kind)) control.feed_forward = kind;
  }
  if (options.control_rate != 0.0) control.rate = options.control_rate;
  if (options.velocity_filter != 0.0) control.velocity_filter = options.velocity_filter;
  if (options.bandwidth != 0.0) control.bandwidth = options.bandwidth;
  return control;
}

// sampled at the control rate; refused where it leaves the limits of the robot
MotionSamples referenceOf(const LoopOptions& options, const Tree& tree, const Parameters& plant,
                          double rate) {
  const JointMotion motion = readMotion(options.trajectory);
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

ClosedLoopOptions simulationOptions(const LoopOptions& options, const Model& model) {
  ClosedLoopOptions out;
  out.physics_rate = options.physics_rate;
  out.sample_rate = options.sample_rate;
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
  for (const std::string& text : options.payloads) out.payloads.push_back(payloadOf(model, text));
  for (const std::string& text : options.pushes)
    out.surroundings.wrenches.push_back(pushOf(model, text));
  if (options.has_floor) {
    HalfSpace floor;
    floor.point.z() = options.floor;
    out.surroundings.half_spaces = {floor};
    for (const Frame& frame : model.frames)
      out.surroundings.points.push_back({frame.link, frame.X_LF.p});
  }
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

std::string summaryJson(const Model& model, const ClosedLoopRun& run,
                        const ClosedLoopResult& result) {
  nlohmann::ordered_json json = {{"robot", model.name},
                                 {"seconds", result.recording.time.tail(1)[0]},
                                 {"samples", result.recording.samples()},
                                 {"control", toString(run.servo.kind)},
                                 {"control_rate", run.servo.rate},
                                 {"physics_rate", result.physics_rate},
                                 {"sample_rate", run.options.sample_rate},
                                 {"seed", run.options.seed},
                                 {"automatic_gains", run.servo.automatic}};
  for (const JointSummary& joint : result.joints) {
    json["joints"].push_back({{"joint", joint.joint},
                              {"tracking_rms", joint.tracking_rms},
                              {"tracking_peak", joint.tracking_peak},
                              {"torque_rms", joint.torque_rms},
                              {"torque_peak", joint.torque_peak},
                              {"position_noise", joint.position_noise},
                              {"torque_noise", joint.torque_noise}});
  }
  return json.dump(2) + "\n";
}

std::string gainsText(const Servo& servo) {
  if (servo.automatic.empty()) return "";
  return fmt::format("  automatic gains for {}; declare `control` in robot.yaml for others\n",
                     fmt::join(servo.automatic, ", "));
}

}  // namespace

int runLoop(const RobotOptions& robot, const LoopOptions& options) {
  const auto model = std::make_shared<const Model>(readRobot(robot));
  const Tree tree(model);
  const Control control = controlOf(options, model->control);
  ClosedLoopRun run;
  run.plant = declaredParameters(model);
  run.options = simulationOptions(options, *model);
  const MotionSamples motion = referenceOf(options, tree, run.plant, control.rate);
  run.reference = std::make_shared<const MotionSamples>(motion);
  Eigen::VectorXd start = tree.neutralPosition();
  for (size_t c = 0; c < motion.joints.size() && motion.samples() > 0; ++c) {
    const int joint = model->jointIndex(motion.joints[c]);
    if (joint >= 0 && tree.positionIndex(joint) >= 0)
      start[tree.positionIndex(joint)] = motion.q(0, static_cast<Eigen::Index>(c));
  }
  run.servo = declaredServo(tree, run.plant, control, start);

  const std::clock_t before = std::clock();
  const ClosedLoopResult result = simulateClosedLoop(tree, run);
  const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  const Recording& log = result.recording;
  const Recording shown = options.no_truth ? withoutTruth(log) : log;
  if (!options.out.empty()) writeRecording(shown, options.out);
  if (!options.plot.empty()) writePicture(recordingFigures(shown, model.get()), options.plot);
  writeJson(robot, summaryJson(*model, run, result));
  const double seconds = result.recording.time.tail(1)[0];
  print(fmt::format(
      "{}: {} s under {} control at {} Hz, {} samples at {} Hz{}\n"
      "  physics {} at {} Hz, {} times real time\n{}{}",
      model->name, readable(seconds), toString(run.servo.kind), readable(run.servo.rate),
      result.recording.samples(), readable(run.options.sample_rate),
      options.out.empty() ? "" : " in " + options.out, options.integrator,
      readable(result.physics_rate), readable(seconds / std::max(took, 1e-9), 2),
      gainsText(run.servo), loopTable(result)));
  return 0;
}

void addLoopOptions(CLI::App& verb, LoopOptions& options) {
  const auto group = [](CLI::Option* option) { option->group("Following a trajectory"); };
  group(verb.add_option("--trajectory", options.trajectory,
                        "follow this motion: .csv with columns time, q_J, v_J, a_J, .json, or the "
                        ".yaml of a ROS JointTrajectory")
            ->type_name("FILE"));
  group(verb.add_option("--control-rate", options.control_rate,
                        "of the servos in Hz; default: the robot's, 5000"));
  group(verb.add_option("--physics-rate", options.physics_rate,
                        "of the integration in Hz; default: a multiple of the control rate that "
                        "is stable for friction, drives and contacts"));
  group(verb.add_option("--sample-rate", options.sample_rate, "of the log in Hz")
            ->capture_default_str());
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
  group(verb.add_option("--payload", options.payloads,
                        "LINK:MASS[,X,Y,Z][@TIME]: a point mass that the link carries from then on")
            ->type_name("TEXT"));
  group(verb.add_option("--push", options.pushes,
                        "LINK:FX,FY,FZ[@START[,END]]: a force in world axes at the link's origin")
            ->type_name("TEXT"));
  group(verb.add_option_function<double>(
                "--floor",
                [&options](double height) {
                  options.floor = height;
                  options.has_floor = true;
                },
                "a floor at this height in m, touched by the frames and skin cells of the robot")
            ->type_name("HEIGHT"));
  group(verb.add_option("--sign-gain", options.sign_gain,
                        "Coulomb friction is tanh(gain v) in simulation")
            ->capture_default_str());
  group(verb.add_option("--seed", options.seed, "of all noise")->capture_default_str());
  group(verb.add_flag("--link-encoders", options.link_encoders,
                      "encoders of flexible joints on the links, not on the motors"));
  group(verb.add_flag("--no-truth", options.no_truth, "log only what a robot could log"));
  group(verb.add_flag("--no-limits", options.no_limits,
                      "follow motions beyond the joint limits, too"));
}

}  // namespace proprio::apps
