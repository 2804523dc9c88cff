#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/simulate_loop.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/recording/signal_names.h"
#include "proprio/report/recording_chart.h"
#include "proprio/simulation/free_motion.h"

namespace proprio::apps {
namespace {

constexpr double kRounding = 1e-15;

struct SimulateOptions : RobotOptions {
  std::string state, out, plot;
  FreeMotionOptions motion;
  LoopOptions loop;
};

// the first state of the file, or rest at zero
void startState(const SimulateOptions& options, const Tree& tree, Eigen::VectorXd& q,
                Eigen::VectorXd& v) {
  q = tree.neutralPosition();
  v = Eigen::VectorXd::Zero(tree.velocityCount());
  if (options.state.empty()) return;
  const StateTable states = statesFrom(readCsv(options.state), tree);
  if (states.q.rows() == 0)
    throw Error(options.state + ": there is no state in it; expected at least one row of numbers");
  const bool wrenches = !states.wrench_links.empty();
  if (wrenches || states.tau.cols() > 0)
    throw Error(fmt::format(
        "{}: there are {} columns, expected a state to start from, which moves "
        "without drive torques; leave them out{}",
        options.state, wrenches ? "wrench" : "torque", wrenches ? ", or push with --push" : ""));
  q = states.q.row(0).transpose();
  v = states.v.row(0).transpose();
}

CsvTable tableOf(const Tree& tree, const FreeMotion& motion) {
  CsvTable table;
  table.names = {"time"};
  for (const auto& names :
       {positionNames(tree), velocityNames(tree, 'v'), velocityNames(tree, 'a')})
    table.names.insert(table.names.end(), names.begin(), names.end());
  const StateTable& states = motion.states;
  table.values.resize(states.time.size(), static_cast<Eigen::Index>(table.names.size()));
  table.values << states.time, states.q, states.v, states.a;
  return table;
}

// the same as a picture, with the robot's limits
std::vector<Figure> figuresOf(const Model& model, const CsvTable& table) {
  Recording recording;
  recording.source = "motion without drive torques";
  recording.time = table.values.col(0);
  recording.values = table.values.rightCols(table.values.cols() - 1);
  for (size_t i = 1; i < table.names.size(); ++i) {
    Channel channel = channelNamed(table.names[i]);
    const int joint = model.jointIndex(channel.of);
    channel.unit =
        unitOf(channel.quantity, joint >= 0 && model.joints[static_cast<size_t>(joint)].type ==
                                                   JointType::kPrismatic);
    recording.channels.push_back(std::move(channel));
  }
  return recordingFigures(recording, &model);
}

// what pushes, contacts and payloads brought, where there are any; and shorter steps
std::string workText(const FreeMotionOptions& asked, const FreeMotion& motion) {
  const Eigen::Index last = motion.states.time.size() - 1;
  std::string text;
  if (!asked.surroundings.wrenches.empty() || !asked.surroundings.half_spaces.empty()) {
    text += fmt::format("  {} J of work by pushes and contacts\n", readable(motion.outside[last]));
  }
  if (!asked.payloads.empty()) {
    text += fmt::format("  {} J came with payloads\n", readable(motion.carried[last]));
  }
  if (motion.step < 0.999 * std::min(asked.step, asked.interval)) {
    text += fmt::format("  steps of {} s, which friction, drives or contacts need\n",
                        readable(motion.step, 2));
  }
  return text;
}

int runFree(const SimulateOptions& options) {
  const auto model = std::make_shared<const Model>(readRobot(options));
  const Tree tree(model);
  Eigen::VectorXd q, v;
  startState(options, tree, q, v);
  FreeMotionOptions asked = options.motion;
  asked.sign_gain = options.loop.sign_gain;
  setSurroundings(options.loop, *model, &asked.payloads, &asked.surroundings);
  const FreeMotion motion = freeMotion(tree, declaredParameters(model), q, v, asked);
  const double relative =
      motion.largest_kinetic > 0.0 ? motion.largest_drift / motion.largest_kinetic : 0.0;
  const Eigen::Index samples = motion.states.time.size();
  // a free fall moves no joint but for rounding
  const double lost = motion.lost[samples - 1] > kRounding * motion.largest_kinetic
                          ? motion.lost[samples - 1]
                          : 0.0;
  const CsvTable table = tableOf(tree, motion);
  if (!options.out.empty()) writeFileAtomically(options.out, csvText(table));
  if (!options.plot.empty()) writePicture(figuresOf(*model, table), options.plot);
  writeJson(options, nlohmann::ordered_json({{"robot", model->name},
                                             {"seconds", options.motion.seconds},
                                             {"samples", samples},
                                             {"largest_kinetic_energy", motion.largest_kinetic},
                                             {"dissipated", lost},
                                             {"work_from_outside", motion.outside[samples - 1]},
                                             {"energy_of_payloads", motion.carried[samples - 1]},
                                             {"step", motion.step},
                                             {"energy_drift", motion.largest_drift},
                                             {"relative_energy_drift", relative}})
                             .dump(2) +
                         "\n");
  print(
      fmt::format("{}: {} s without drive torques, {} states{}\n"
                  "  kinetic energy up to {} J, {} J lost to friction\n{}"
                  "  energy balance kept within {} J ({} of the kinetic energy)\n",
                  model->name, readable(options.motion.seconds), samples,
                  options.out.empty() ? "" : " in " + options.out, readable(motion.largest_kinetic),
                  readable(lost), workText(asked, motion), readable(motion.largest_drift, 2),
                  readable(relative, 2)));
  return 0;
}

// options that mean something in one of the two ways to simulate only
void refuseUnused(const CLI::App& verb, bool loop) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const bool of_loop = option->get_group() == kLoopGroup;
    const bool of_free =
        name == "--seconds" || name == "--step" || name == "--interval" || name == "--state";
    if (option->count() == 0 || !(loop ? of_free : of_loop)) continue;
    throw Error(
        loop ? fmt::format("{} is for motion without drives; with --trajectory the motion says "
                           "where and how long: leave it out",
                           name)
             : fmt::format("{} has no effect on motion without drives; give a --trajectory (one "
                           "that rests will do), or leave it out",
                           name));
  }
}

int runSimulate(const SimulateOptions& options, const CLI::App& verb) {
  refuseUnused(verb, !options.loop.trajectory.empty());
  if (!options.plot.empty()) requirePicturePath(options.plot);
  if (options.loop.trajectory.empty()) return runFree(options);
  LoopOptions loop = options.loop;
  loop.out = options.out;
  loop.plot = options.plot;
  return runLoop(options, loop);
}

}  // namespace

Run addSimulate(CLI::App& verb) {
  const auto options = std::make_shared<SimulateOptions>();
  addRobotOptions(verb, *options);
  verb.add_option("--seconds", options->motion.seconds, "duration")->capture_default_str();
  verb.add_option("--step", options->motion.step, "step of the integration in s")
      ->capture_default_str();
  verb.add_option("--interval", options->motion.interval, "time between the states kept in s")
      ->capture_default_str();
  verb.add_option("--state", options->state,
                  "start from the first state of this table (columns as for dynamics, without "
                  "torques and wrenches); otherwise at rest with all positions zero")
      ->type_name("FILE.csv");
  verb.add_option("--out", options->out,
                  "write time, positions, velocities, accelerations; with --trajectory the log, in "
                  "the format of its extension")
      ->type_name("FILE");
  verb.add_option("--plot", options->plot, "write a picture of it; .png, .svg, or .html to zoom")
      ->type_name("FILE");
  addLoopOptions(verb, options->loop);
  return [options, &verb] { return runSimulate(*options, verb); };
}

}  // namespace proprio::apps
