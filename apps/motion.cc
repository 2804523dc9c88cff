#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/verb.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/motion/motion_limits.h"
#include "proprio/motion/single_joint.h"
#include "proprio/motion/trajectory_file.h"
#include "proprio/motion/via_splines.h"

namespace proprio::apps {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kTypes = {"fourier",         "random-stops",  "random-spline",
                                         "trapezoid",       "double-s",      "min-jerk",
                                         "quintic-spline",  "b-spline",      "friction-sweep",
                                         "inertia-strokes", "single-fourier"};

struct MotionOptions : RobotOptions {
  std::string type, from, out, interpolation;
  std::vector<std::string> joints, via;
  std::string start, rest;
  uint64_t seed = 1;
  int points = 20, harmonics = 5, repeats = 1, speed_count = 6;
  double period = 10.0, dwell = 0.0, margin = 0.1, speed = 1.0, rate = 100.0, jerk_time = 0.1;
  double velocity = kNotStated, acceleration = kNotStated;
  std::string profile = "double-s";
  std::vector<double> speeds;
  bool no_effort = false;
};

struct Made {
  JointMotion motion;
  std::vector<Plateau> plateaus;  ///< of a friction sweep, in the time of the motion
};

VectorXd parsePosture(const std::string& text, const std::string& option, Index joints) {
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  const auto words = splitWords(spaced);
  if (static_cast<Index>(words.size()) != joints)
    throw Error(fmt::format("{} {} has {} positions; expected {}, one per joint", option,
                            inQuotes(text), words.size(), joints));
  VectorXd posture(joints);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto number = parseNumber(words[i]);
    if (!number || !std::isfinite(*number))
      throw Error(fmt::format("{} has {} where a number is expected", option, inQuotes(words[i])));
    posture[static_cast<Index>(i)] = *number;
  }
  return posture;
}

// zero where the joint can be there, the middle of its range otherwise
VectorXd startPosture(const MotionOptions& options, const MotionLimits& limits) {
  if (!options.start.empty()) return parsePosture(options.start, "--start", limits.size());
  VectorXd start = VectorXd::Zero(limits.size());
  for (Index i = 0; i < start.size(); ++i) {
    if (limits.lower[i] >= 0 || limits.upper[i] <= 0)
      start[i] = 0.5 * (limits.lower[i] + limits.upper[i]);
  }
  return start;
}

// what the robot states, completed by the options; jerk by the time to the full acceleration
MotionLimits limitsFor(const MotionOptions& options, const Model& model) {
  const std::vector<std::string> joints =
      options.joints.empty() ? motionJoints(model) : options.joints;
  if (joints.empty()) throw Error(fmt::format("{}: there is no joint to move", options.robot));
  MotionLimits limits = limitsOf(model, joints);
  for (Index i = 0; i < limits.velocity.size(); ++i) {
    if (std::isnan(limits.velocity[i])) limits.velocity[i] = options.velocity;
    if (std::isnan(limits.acceleration[i])) limits.acceleration[i] = options.acceleration;
  }
  if (!(options.jerk_time > 0))
    throw Error(fmt::format("--jerk-time {}; expected a positive number", options.jerk_time));
  limits.jerk = limits.acceleration / options.jerk_time;
  return limits;
}

Profile profileOf(const MotionOptions& options) {
  const auto profile = profileNamed(options.profile);
  if (profile) return *profile;
  throw Error(fmt::format("--profile: there is no profile {}{}", inQuotes(options.profile),
                          didYouMean(options.profile, {"trapezoid", "double-s", "min-jerk"})));
}

template <class T>
std::shared_ptr<const Trajectory> shared(T motion) {
  return std::make_shared<T>(std::move(motion));
}

// the start and the postures of --to, one per row
Eigen::MatrixXd posturesOf(const MotionOptions& options, const VectorXd& start) {
  if (options.via.empty())
    throw Error(fmt::format("--type {} needs at least one --to POSTURE", options.type));
  Eigen::MatrixXd points(static_cast<Index>(options.via.size()) + 1, start.size());
  points.row(0) = start.transpose();
  for (size_t k = 0; k < options.via.size(); ++k)
    points.row(static_cast<Index>(k) + 1) =
        parsePosture(options.via[k], "--to", start.size()).transpose();
  return points;
}

std::shared_ptr<const Trajectory> make(const MotionOptions& options, const MotionLimits& limits,
                                       std::vector<Plateau>& plateaus) {
  const VectorXd start = startPosture(options, limits);
  if (options.type == "fourier") {
    FourierSeries series =
        randomFourierWithin(start, options.harmonics, options.period, options.seed, limits);
    series.repeats = options.repeats;
    checkSeries(series);
    return shared(std::move(series));
  }
  if (options.type == "random-stops")
    return shared(randomStops(start, options.points, options.seed, limits, profileOf(options),
                              options.dwell));
  if (options.type == "random-spline")
    return shared(randomSpline(start, options.points, options.seed, limits));
  if (options.type == "single-fourier")
    return shared(
        singleJointFourier(start, options.harmonics, options.period, options.seed, limits));
  if (options.type == "inertia-strokes") {
    InertiaStrokesOptions strokes;
    strokes.profile = profileOf(options);
    strokes.repeats = options.repeats;
    return shared(inertiaStrokes(start, limits, strokes));
  }
  if (options.type == "friction-sweep") {
    FrictionSweepOptions sweep;
    sweep.profile = profileOf(options);
    sweep.speeds = options.speeds;
    sweep.speed_count = options.speed_count;
    sweep.dwell = options.dwell;
    FrictionSweep made = frictionSweep(start, limits, sweep);
    plateaus = std::move(made.plateaus);
    return shared(std::move(made.motion));
  }
  if (options.type == "quintic-spline")
    return shared(splineThrough(posturesOf(options, start), limits));
  if (options.type == "b-spline") return shared(splineAlong(posturesOf(options, start), limits));
  if (const auto profile = profileNamed(options.type))
    return shared(alongPoints(posturesOf(options, start), limits, *profile, options.dwell));
  throw Error(fmt::format("--type: there is no type {}{}", inQuotes(options.type),
                          didYouMean(options.type, kTypes)));
}

JointMotion readFrom(const MotionOptions& options) {
  std::optional<MotionInterpolation> interpolation;
  if (!options.interpolation.empty()) {
    interpolation = motionInterpolationNamed(options.interpolation);
    if (!interpolation)
      throw Error(fmt::format("--interpolation: there is no {}{}", inQuotes(options.interpolation),
                              didYouMean(options.interpolation,
                                         {"previous", "nearest", "linear", "cubic", "quintic"})));
  }
  return readMotion(options.from, interpolation);
}

// made or read, then slower or faster, then with its way there and back
Made motionOf(const MotionOptions& options, const Model& model) {
  if (options.type.empty() == options.from.empty())
    throw Error("give either --type, which makes a motion, or --from, which reads one");
  if (!(options.margin >= 0 && options.margin < 1))
    throw Error(fmt::format("--margin {}; expected a part in [0, 1)", options.margin));
  MotionOptions used = options;
  Made made;
  if (!options.from.empty()) {
    made.motion = readFrom(options);
    requireJoints(model, made.motion, options.from);
    used.joints = made.motion.joints;
  }
  const MotionLimits limits = withMargin(limitsFor(used, model), 1.0 - options.margin);
  if (options.from.empty()) made.motion = {limits.joints, make(options, limits, made.plateaus)};
  if (options.speed != 1.0) {
    made.motion.trajectory = shared(atSpeed(made.motion.trajectory, options.speed));
    for (Plateau& plateau : made.plateaus) {
      plateau.speed *= options.speed;
      plateau.begin /= options.speed;
      plateau.end /= options.speed;
    }
  }
  if (!options.rest.empty()) {
    const Sequence whole = withApproachAndReturn(
        made.motion.trajectory, parsePosture(options.rest, "--rest", limits.size()), limits,
        profileOf(options));
    for (Plateau& plateau : made.plateaus) {
      plateau.begin += whole.starts[1];
      plateau.end += whole.starts[1];
    }
    made.motion.trajectory = shared(whole);
  }
  return made;
}

// "2.1 (84 %)"
std::string withShare(double value, double limit) {
  if (std::isinf(value)) return "infinite";
  if (!(limit > 0) || !std::isfinite(limit)) return readable(value);
  return fmt::format("{} ({:.0f} %)", readable(value), 100.0 * value / limit);
}

std::string motionTable(const JointMotion& motion, const MotionCheck& check,
                        const MotionLimits& limits) {
  TextTable rows;
  rows.header = {"joint", "from", "to", "velocity", "acceleration", "effort"};
  rows.right = {false, true, true, true, true, true};
  for (Index i = 0; i < check.found.lowest.size(); ++i) {
    rows.rows.push_back(
        {motion.joints[static_cast<size_t>(i)], readable(check.found.lowest[i]),
         readable(check.found.highest[i]), withShare(check.found.velocity[i], limits.velocity[i]),
         withShare(check.found.acceleration[i], limits.acceleration[i]),
         check.effort.size() > 0 ? withShare(check.effort[i], limits.effort[i]) : ""});
  }
  return rows.text(colourWanted());
}

Json orNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json summary(const MotionOptions& options, const Model& model, const Made& made,
             const MotionCheck& check, const MotionLimits& limits) {
  Json joints = Json::array(), problems = Json::array(), plateaus = Json::array();
  for (Index i = 0; i < limits.lower.size(); ++i) {
    joints.push_back({{"name", limits.joints[static_cast<size_t>(i)]},
                      {"lowest", check.found.lowest[i]},
                      {"highest", check.found.highest[i]},
                      {"velocity", orNull(check.found.velocity[i])},
                      {"acceleration", orNull(check.found.acceleration[i])},
                      {"effort", check.effort.size() > 0 ? orNull(check.effort[i]) : Json(nullptr)},
                      {"limits",
                       {{"lower", orNull(limits.lower[i])},
                        {"upper", orNull(limits.upper[i])},
                        {"velocity", orNull(limits.velocity[i])},
                        {"acceleration", orNull(limits.acceleration[i])},
                        {"effort", orNull(limits.effort[i])}}}});
  }
  for (const Violation& violation : check.violations)
    problems.push_back({{"joint", violation.joint},
                        {"kind", toString(violation.kind)},
                        {"time", violation.time},
                        {"found", orNull(violation.found)},
                        {"limit", violation.limit},
                        {"sentence", sentence(violation)}});
  for (const Plateau& plateau : made.plateaus)
    plateaus.push_back({{"joint", limits.joints[static_cast<size_t>(plateau.joint)]},
                        {"speed", plateau.speed},
                        {"begin", plateau.begin},
                        {"end", plateau.end},
                        {"from", plateau.from},
                        {"until", plateau.until}});
  Json json = {{"robot", model.name},
               {"type", options.from.empty() ? Json(options.type) : Json(nullptr)},
               {"duration", made.motion.trajectory->duration()},
               {"within_limits", check.violations.empty()},
               {"violations", problems},
               {"joints", joints}};
  if (!check.note.empty()) json["note"] = check.note;
  if (!made.plateaus.empty()) json["plateaus"] = plateaus;
  return json;
}

int runMotion(const MotionOptions& options) {
  const auto model = std::make_shared<const Model>(readRobot(options));
  const Tree tree(model);
  const Made made = motionOf(options, *model);
  const MotionLimits limits = limitsOf(*model, made.motion.joints);
  MotionCheckOptions check_options;
  check_options.effort = !options.no_effort;
  const MotionCheck check =
      checkMotion(tree, declaredParameters(model), made.motion, limits, check_options);
  const std::string text =
      options.out.empty() ? "" : motionText(options.out, made.motion, options.rate);
  const std::string json = summary(options, *model, made, check, limits).dump(2) + "\n";
  writeWithJson(options, options.out, text, json);

  std::string report = fmt::format(
      "{}: {} of {} joint{}, {} s{}\n{}", model->name,
      options.from.empty() ? options.type : options.from, limits.size(),
      limits.size() == 1 ? "" : "s", readable(made.motion.trajectory->duration()),
      options.out.empty() ? "" : ", in " + options.out, motionTable(made.motion, check, limits));
  if (!made.plateaus.empty())
    report += fmt::format("  {} plateaus of constant speed\n", made.plateaus.size());
  if (!check.note.empty()) report += "  " + check.note + "\n";
  for (const Violation& violation : check.violations)
    report +=
        "  " + inked("outside:", Ink::kRed, colourWanted()) + " " + sentence(violation) + "\n";
  if (!check.violations.empty() && !options.out.empty())
    report +=
        fmt::format("  {} was written all the same; do not run it on the robot\n", options.out);
  print(report);
  return check.violations.empty() ? 0 : 1;
}

}  // namespace

Run addMotion(CLI::App& verb) {
  const auto options = std::make_shared<MotionOptions>();
  addRobotOptions(verb, *options);
  verb.add_option("--type", options->type,
                  "make a motion: " + fmt::format("{}", fmt::join(kTypes, ", ")))
      ->type_name("TYPE");
  verb.add_option("--from", options->from, "read a motion instead, to check or convert it")
      ->type_name("FILE");
  verb.add_option("--out", options->out,
                  "write it: .json (exact), .csv (samples), .yaml (ROS JointTrajectory)")
      ->type_name("FILE");
  verb.add_option("--joints", options->joints, "move only these (default: all)")
      ->delimiter(',')
      ->type_name("J,...");
  verb.add_option("--start", options->start,
                  "posture to start from (default: zero, or the middle of the range)")
      ->type_name("Q,...");
  verb.add_option("--to", options->via,
                  "posture to go to; repeat for more (trapezoid, double-s and min-jerk stop there, "
                  "quintic-spline passes there, b-spline passes nearby)")
      ->type_name("Q,...")
      ->expected(1)
      ->take_all();
  verb.add_option("--rest", options->rest, "approach from this posture and return to it")
      ->type_name("Q,...");
  verb.add_option("--seed", options->seed, "of random motions")->capture_default_str();
  verb.add_option("--points", options->points, "random postures")->capture_default_str();
  verb.add_option("--harmonics", options->harmonics, "of Fourier series")->capture_default_str();
  verb.add_option("--period", options->period, "of Fourier series in s")->capture_default_str();
  verb.add_option("--repeats", options->repeats, "periods, or strokes of each length")
      ->capture_default_str();
  verb.add_option("--speeds", options->speeds, "of the friction sweep (default: chosen per joint)")
      ->delimiter(',')
      ->type_name("V,...");
  verb.add_option("--speed-count", options->speed_count, "how many, where they are chosen")
      ->capture_default_str();
  verb.add_option("--dwell", options->dwell, "rest at each posture in s")->capture_default_str();
  verb.add_option("--profile", options->profile, "trapezoid, double-s or min-jerk")
      ->capture_default_str();
  verb.add_option("--margin", options->margin, "part of the limits that made motions keep free")
      ->capture_default_str();
  verb.add_option("--velocity", options->velocity, "limit of joints that state none");
  verb.add_option("--acceleration", options->acceleration, "limit of joints that state none");
  verb.add_option("--jerk-time", options->jerk_time, "s to the full acceleration (double-s)")
      ->capture_default_str();
  verb.add_option("--speed", options->speed, "times as fast")->capture_default_str();
  verb.add_option("--rate", options->rate, "samples per s in .csv and .yaml")
      ->capture_default_str();
  verb.add_option("--interpolation", options->interpolation,
                  "of samples read: previous, nearest, linear, cubic, quintic");
  verb.add_flag("--no-effort", options->no_effort, "do not check efforts");
  return [options] { return runMotion(*options); };
}

}  // namespace proprio::apps
