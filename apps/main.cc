#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>

#include "apps/output_files.h"
#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"

namespace proprio::apps {
namespace {

struct VerbEntry {
  const char* name;
  const char* summary;
  const char* example;
  Run (*add)(CLI::App& verb);
};

constexpr VerbEntry kVerbs[] = {
    {"check", "Is this robot description physically possible? Repairs it on request.",
     "proprio check robot.urdf --strict --repair repaired.urdf", addCheck},
    {"show", "Prints the tree of links and joints, masses, drives, sensors and frames.",
     "proprio show examples/robots/humanoid.yaml", addShow},
    {"base", "Which parameters can measurements determine: base parameters and their groupings.",
     "proprio base examples/robots/tx40.yaml --json base.json", addBase},
    {"dynamics",
     "Computes torques, mass matrices, accelerations, poses, ... for a table of states.",
     "proprio dynamics examples/robots/planar_2r.yaml --state states.csv --out result.csv "
     "--quantities tau,M",
     addDynamics},
    {"motion",
     "Makes joint motions (Fourier, via points, friction sweeps, ...), converts and checks them.",
     "proprio motion examples/robots/tx40.yaml --type friction-sweep --out sweep.json", addMotion},
    {"simulate", "Lets the robot follow a trajectory under its servos, or move freely.",
     "proprio simulate examples/robots/tx40.yaml --trajectory motion.csv --encoder-noise 1e-4deg "
     "--out log.csv",
     addSimulate},
    {"log", "Shows what a recording holds and how good it is; cuts, maps, converts, plots it.",
     "proprio log run.csv --from 2 --to 12 --plot run.html --out run.npz", addLog},
    {"excite", "Designs a motion from which the robot's parameters can be identified well.",
     "proprio excite examples/robots/tx40.yaml --workspace \"flange z > 0.3\" --out motion.json "
     "--picture motion.png",
     addExcite},
    {"identify", "Finds the robot's parameters from recordings, with uncertainty and a verdict.",
     "proprio identify robot.yaml --log train.csv --validate test.csv --out result", addIdentify},
    {"gains", "Finds how much torque a motor current is, from recordings with a known payload.",
     "proprio gains robot.yaml --log free.csv --loaded loaded.csv --payload 2.1,0.05,0,0.08 --out "
     "result",
     addGains},
    {"validate", "How well does a robot's model predict the torques of recordings?",
     "proprio validate robot.yaml --log test.csv --limit 20", addValidate},
    {"compare", "Puts the results of several identifications side by side.",
     "proprio compare wls/ pc-wls/ --plot compared.html", addCompare},
    {"schema", "Prints the JSON Schema of robot.yaml or of estimate.json.",
     "proprio schema estimate --json estimate.schema.json", addSchema},
};

int complain(const std::string& sentence) {
  fmt::print(stderr, "proprio: {}\n", sentence);
  return 2;
}

std::vector<std::string> verbNames() {
  std::vector<std::string> names;
  for (const VerbEntry& entry : kVerbs) names.emplace_back(entry.name);
  return names;
}

// what the parser did not understand, in one sentence
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& verb = chosen.empty() ? app : *chosen.front();
  const std::string hint = chosen.empty() ? "; see proprio --help"
                                          : fmt::format("; see proprio {} --help", verb.get_name());
  const std::vector<std::string> extra = app.remaining(true);
  if (extra.empty()) return error.what() + hint;
  if (extra.front().rfind("-", 0) != 0)
    return fmt::format("the argument {} is one too many{}", inQuotes(extra.front()), hint);
  std::vector<std::string> options;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return fmt::format("there is no option {}{}", inQuotes(extra.front()),
                     didYouMean(extra.front(), options));
}

int runCommand(int argc, char** argv) {
  CLI::App app{"proprio finds, checks and uses the true dynamics of robots."};
  app.name("proprio");
  app.set_version_flag("--version", std::string("proprio ") + PROPRIO_VERSION);
  app.footer(
      "Exit codes: 0 done, 1 the answer is \"no\", 2 bad input, 130 interrupted.\n"
      "Example: proprio check examples/robots/tx40.yaml");
  std::map<std::string, Run> runs;
  for (const VerbEntry& entry : kVerbs) {
    CLI::App* verb = app.add_subcommand(entry.name, entry.summary);
    verb->footer(std::string("Example: ") + entry.example);
    runs[entry.name] = entry.add(*verb);
  }
  if (argc > 1 && argv[1][0] != '-' && runs.count(argv[1]) == 0)
    return complain(
        fmt::format("there is no verb {}{}", inQuotes(argv[1]), didYouMean(argv[1], verbNames())));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(explain(app, error));
  }
  if (app.get_subcommands().empty()) {
    fmt::print(stderr, "{}", app.help());
    return 2;
  }
  const CLI::App& verb = *app.get_subcommands().front();
  requireSeparateOutputs(verb);
  return runs[verb.get_name()]();
}

}  // namespace
}  // namespace proprio::apps

int main(int argc, char** argv) {
  proprio::stopTidily();
  try {
    return proprio::apps::runCommand(argc, argv);
  } catch (const proprio::Error& error) {
    return proprio::apps::complain(error.what());
  } catch (const std::exception& error) {
    return proprio::apps::complain(fmt::format("internal error: {}", error.what()));
  }
}
