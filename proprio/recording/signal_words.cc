#include <algorithm>
#include <map>
#include <set>

#include "proprio/recording/signal_words_internal.h"

namespace proprio {
namespace {

const std::set<std::string> kCommandedWords = {
    "des",       "desired", "cmd",     "command",  "commands", "commanded", "ref", "soll",
    "reference", "target",  "targets", "setpoint", "goal",     "d",         "ipo", "planned"};
/// Words that change nothing.
const std::set<std::string> kPlainWords = {
    "joint", "joints",    "j",        "jnt",    "axis",    "ax",          "axes",         "arm",
    "robot", "act",       "actual",   "meas",   "msr",     "measured",    "state",        "states",
    "link",  "fbk",       "ist",      "field",  "achse",   "feedback",    "data",         "msg",
    "value", "values",    "obs",      "sensor", "signals", "observation", "observations", "present",
    "est",   "estimated", "observed", "dof",    "dofs"};

/// Words that make something else of a quantity, whatever its unit.
const std::set<std::string> kOtherThings = {
    "error",    "err",   "ext",       "external",  "gravity", "grav",  "coriolis",
    "friction", "limit", "max",       "min",       "std",     "diff",  "delta",
    "tool",     "tcp",   "cart",      "cartesian", "ee",      "resid", "residual",
    "model",    "dev",   "deviation", "following", "contact"};

/// Units at the end of a name: "q1_deg", "speed_2_deg_s"; in the order in which they are tried.
struct UnitWords {
  Words words;
  const char* unit;
};
const std::vector<UnitWords>& unitWords() {
  static const std::vector<UnitWords> kUnits = {{{"rad", "per", "s"}, "rad/s"},
                                                {{"deg", "per", "s"}, "deg/s"},
                                                {{"rad", "s"}, "rad/s"},
                                                {{"deg", "s"}, "deg/s"},
                                                {{"radps"}, "rad/s"},
                                                {{"degps"}, "deg/s"},
                                                {{"dps"}, "deg/s"},
                                                {{"rpm"}, "rpm"},
                                                {{"rad"}, "rad"},
                                                {{"radians"}, "rad"},
                                                {{"deg"}, "deg"},
                                                {{"degrees"}, "deg"},
                                                {{"degree"}, "deg"},
                                                {{"mrad"}, "mrad"},
                                                {{"mm"}, "mm"},
                                                {{"nm"}, "Nm"},
                                                {{"n", "m"}, "Nm"},
                                                {{"mnm"}, "mNm"},
                                                {{"knm"}, "kNm"},
                                                {{"nmm"}, "Nmm"},
                                                {{"ncm"}, "Ncm"},
                                                {{"ma"}, "mA"},
                                                {{"amp"}, "A"},
                                                {{"ampere"}, "A"}};
  return kUnits;
}

}  // namespace

std::string quantityOf(const std::string& word) {
  struct QuantityWords {
    const char* quantity;
    std::set<std::string> words;
  };
  static const std::vector<QuantityWords> kQuantities = {
      {"position",
       {"q", "pos", "position", "positions", "angle", "angles", "theta", "thetas", "qpos", "jpos",
        "winkel", "lage"}},
      {"velocity",
       {"dq", "qd", "qdot", "v", "vel", "velocity", "velocities", "speed", "speeds", "omega",
        "dtheta", "qvel", "jvel", "drehzahl", "geschwindigkeit", "thetadot"}},
      {"acceleration",
       {"ddq", "qdd", "qddot", "a", "acc", "accel", "acceleration", "accelerations", "thetaddot"}},
      {"torque",
       {"tau", "torque", "torques", "effort", "efforts", "trq", "tq", "torq", "eff", "moment",
        "moments", "drehmoment", "jtau", "jtrq"}},
      {"current", {"i", "iq", "cur", "curr", "current", "currents", "amps", "strom"}}};
  for (const QuantityWords& candidate : kQuantities) {
    if (candidate.words.count(word) != 0) return candidate.quantity;
  }
  return "";
}

std::string quantityOfUnit(const std::string& si) {
  static const std::map<std::string, std::string> kUnits = {{"rad", "position"},
                                                            {"m", "position"},
                                                            {"rad/s", "velocity"},
                                                            {"m/s", "velocity"},
                                                            {"rad/s^2", "acceleration"},
                                                            {"m/s^2", "acceleration"},
                                                            {"N m", "torque"},
                                                            {"N", "torque"},
                                                            {"A", "current"}};
  const auto found = kUnits.find(si);
  return found == kUnits.end() ? "" : found->second;
}

bool isCommandedWord(const std::string& word) { return kCommandedWords.count(word) != 0; }

bool isPlainWord(const std::string& word) { return kPlainWords.count(word) != 0; }

bool isOtherThing(const std::string& word) { return kOtherThings.count(word) != 0; }

std::string takeUnit(Words* words) {
  for (const UnitWords& unit : unitWords()) {
    if (words->size() <= unit.words.size() ||
        !std::equal(unit.words.rbegin(), unit.words.rend(), words->rbegin()))
      continue;
    words->resize(words->size() - unit.words.size());
    return unit.unit;
  }
  // "i1_A"; "joint_a" has no unit
  if (words->size() > 1 && words->back() == "a" && quantityOf(words->front()) == "current") {
    words->pop_back();
    return "A";
  }
  return "";
}

void joinWords(Words* words) {
  struct Pair {
    const char *first, *second, *joined;
  };
  constexpr Pair kPairs[] = {{"q", "dot", "qdot"},
                             {"q", "ddot", "qddot"},
                             {"theta", "dot", "thetadot"},
                             {"theta", "ddot", "thetaddot"},
                             {"thetadot", "dot", "thetaddot"},
                             {"qdot", "dot", "qddot"},
                             {"dd", "q", "ddq"},
                             {"i", "q", "iq"},
                             {"set", "point", "setpoint"}};
  for (size_t i = 1; i < words->size();) {
    const auto* const found = std::find_if(
        std::begin(kPairs), std::end(kPairs),
        [&](const Pair& p) { return (*words)[i - 1] == p.first && (*words)[i] == p.second; });
    if (found == std::end(kPairs)) {
      ++i;
      continue;
    }
    (*words)[i - 1] = found->joined;
    words->erase(words->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace proprio
