#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/verb.h"
#include "proprio/core/text.h"
#include "proprio/model/parameters.h"
#include "proprio/recording/state_quantities.h"

namespace proprio::apps {
namespace {

struct DynamicsOptions : RobotOptions {
  std::string state, out;
  std::vector<std::string> quantities = {"tau"};
};

int runDynamics(const DynamicsOptions& options) {
  const auto model = std::make_shared<const Model>(readRobot(options));
  const Tree tree(model);
  std::vector<std::string> quantities;  // each once, whatever was typed
  for (const std::string& name : options.quantities) {
    if (std::find(quantities.begin(), quantities.end(), name) == quantities.end())
      quantities.push_back(name);
  }
  const StateTable states = statesFrom(readCsv(options.state), tree);
  const CsvTable table = stateQuantities(tree, declaredParameters(model), states, quantities);
  const nlohmann::ordered_json json = {{"robot", model->name},
                                       {"out", options.out},
                                       {"samples", states.q.rows()},
                                       {"quantities", quantities},
                                       {"columns", table.names}};
  writeWithJson(options, options.out, csvText(table), json.dump(2) + "\n");
  std::string zero;
  if (!states.has_v) zero += " velocities";
  if (!states.has_a) zero += zero.empty() ? " accelerations" : " and accelerations";
  std::string pushed;
  for (const std::string& place : states.wrench_places)
    pushed += (pushed.empty() ? "; wrenches on " : ", ") + place;
  print(fmt::format("{}: {} states of {}, {} columns ({}){}{}\n", options.out, states.q.rows(),
                    model->name, table.names.size(), fmt::join(quantities, ", "), pushed,
                    zero.empty() ? "" : "; no" + zero + " given, taken as zero"));
  return 0;
}

}  // namespace

Run addDynamics(CLI::App& verb) {
  const auto options = std::make_shared<DynamicsOptions>();
  addRobotOptions(verb, *options);
  verb.add_option(
          "--state", options->state,
          "table of states with the columns q_JOINT, v_JOINT, a_JOINT, tau_JOINT, for a free base "
          "base_x .. base_qw, base_vx .. base_wz, base_ax .. base_alz, and for external wrenches "
          "wrench_L_fx .. wrench_L_tz: force and moment on a link or frame L from outside, at "
          "its origin, in its axes")
      ->required()
      ->type_name("FILE.csv");
  verb.add_option("--out", options->out, "where the result goes")
      ->required()
      ->type_name("FILE.csv");
  verb.add_option("--quantities", options->quantities,
                  fmt::format("any of {}", fmt::join(quantityNames(), ",")))
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  return [options] { return runDynamics(*options); };
}

}  // namespace proprio::apps
