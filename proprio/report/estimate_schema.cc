// The schema of estimate.json, a table of fields per object.

#include <nlohmann/json.hpp>

#include "proprio/report/estimate_json.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

struct SchemaField {
  const char* name;
  const char* help;
  Json type;
  bool required = true;
};

const Json kText = {{"type", "string"}};
const Json kTruth = {{"type", "boolean"}};
const Json kCount = {{"type", "integer"}, {"minimum", 0}};
const Json kFinite = {{"type", "number"}};
const Json kMaybe = {{"type", {"number", "null"}}};

Json listOf(const Json& entry) { return {{"type", "array"}, {"items", entry}}; }
Json listOf(const Json& entry, int count) {
  return {{"type", "array"}, {"items", entry}, {"minItems", count}, {"maxItems", count}};
}
Json ref(const char* name) { return {{"$ref", std::string("#/definitions/") + name}}; }

Json objectOf(const std::vector<SchemaField>& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const SchemaField& field : fields) {
    Json property = field.type;
    // draft 7 ignores what stands beside a reference
    if (property.contains("$ref"))
      property = {{"description", field.help}, {"allOf", {field.type}}};
    else if (*field.help != '\0')
      property["description"] = field.help;
    properties[field.name] = property;
    if (field.required) required.push_back(field.name);
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

std::vector<SchemaField> errorFields() {
  return {{"percent", "100 |measured - predicted| / |measured|", kMaybe},
          {"rms", "of measured - predicted, N m (N)", kMaybe},
          {"torque_rms", "of the measured torque, N m (N)", kMaybe},
          {"peak", "largest |measured - predicted|, N m (N)", kMaybe},
          {"rows", "samples that counted", kCount}};
}

std::vector<SchemaField> with(std::vector<SchemaField> first,
                              const std::vector<SchemaField>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Json errorDefinitions() {
  const std::vector<SchemaField> joint = {{"joint", "name of the joint", kText},
                                          {"unit", "of rms and peak", kText}};
  const std::vector<SchemaField> baselines = {
      {"baselines", "what a model has to beat", ref("baselines"), false}};
  return {{"error", objectOf(errorFields())},
          {"baselines", objectOf({{"as_given", "the declared values", ref("error")},
                                  {"gravity_only", "declared masses at rest", ref("error")},
                                  {"zero", "no torque at all", ref("error")}})},
          {"recording_errors",
           objectOf({{"recording", "its name", kText},
                     {"joints", "one by one", listOf(objectOf(with(joint, errorFields())))},
                     {"overall", "all joints together", ref("error")}})},
          {"errors",
           objectOf({{"joints", "one by one, all recordings together",
                      listOf(objectOf(with(with(joint, errorFields()), baselines)))},
                     {"overall", "all joints together", objectOf(with(errorFields(), baselines))},
                     {"recordings", "the same, recording by recording",
                      listOf(ref("recording_errors"))}})}};
}

Json parameterDefinition() {
  return objectOf(
      {{"name", "of the parameter", kText},
       {"unit", "of value, declared and sigma", kText},
       {"value", "the estimate", kFinite},
       {"declared", "as given by the robot description", kMaybe},
       {"sigma", "standard deviation; null unless the data determine it by itself", kMaybe},
       {"origin",
        "data: the recordings determine it by itself; combination: they determine a sum that it is "
        "part of; prior: they say nothing about it",
        {{"enum", {"data", "combination", "prior"}}}}});
}

Json linkDefinition() {
  return objectOf(
      {{"name", "of the link", kText},
       {"mass", "kg", kFinite},
       {"com", "centre of mass in the link frame, m", listOf(kMaybe, 3)},
       {"inertia_at_com", "Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass, kg m^2",
        listOf(kMaybe, 6)},
       {"declared_mass", "kg", kMaybe},
       {"declared_com", "m", listOf(kMaybe, 3)},
       {"smallest_pseudo_inertia_eigenvalue", "negative: no body has these parameters", kMaybe,
        false},
       {"consistent", "a body with these parameters can exist", kTruth, false},
       {"parameters", "m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin",
        listOf(ref("parameter"), 10)}});
}

Json methodDefinition() {
  return objectOf(
      {{"method", "its name", kText},
       {"consistent", "every link is physically possible", kTruth},
       {"smallest_pseudo_inertia_eigenvalue", "of all links", kMaybe},
       {"condition_number", "of the weighted, column-scaled base regressor", kMaybe},
       {"iterations", "", kCount},
       {"simulations", "of the closed loop", kCount},
       {"converged", "", kTruth},
       {"duality_gap", "relative to the objective", kMaybe},
       {"seconds", "of the method alone", kFinite},
       {"training_percent", "error per joint, percent of the torque norm", listOf(kMaybe)},
       {"validation_percent", "the same on recordings held out", listOf(kMaybe)},
       {"training_overall", "all joints together", ref("error")},
       {"validation_overall", "all joints together", ref("error")},
       {"base_values", "in the order of base_parameters", listOf(kMaybe)},
       {"base_sigmas", "their standard deviations", listOf(kMaybe)},
       {"notes", "what the method has to say", listOf(kText)}});
}

Json recordingDefinition() {
  const Json finding = objectOf({{"severity", "", {{"enum", {"note", "warning", "error"}}}},
                                 {"about", "a channel, a joint or time", kText},
                                 {"sentence", "for people", kText}});
  return objectOf({{"path", "as named on the command line", kText},
                   {"sha256",
                    "of the file, hexadecimal; of a folder that of the lines 'HASH  NAME' of its "
                    "files, in order of names",
                    kText},
                   {"use", "", {{"enum", {"training", "validation"}}}},
                   {"samples", "that were used", kCount},
                   {"recorded_rate_hz", "", kMaybe},
                   {"rate_hz", "after filtering and decimation", kMaybe},
                   {"steps", "what the signals went through", listOf(kText)},
                   {"findings", "about the quality of the recording", listOf(finding)}});
}

Json statisticsDefinition() {
  return objectOf(
      {{"joint", "name of the joint", kText},
       {"noise", "standard deviation of the torque that the weights used, N m (N)", kMaybe},
       {"ljung_box_p", "whiteness of the residual; small: correlated in time", kMaybe},
       {"jarque_bera_p", "normality of the residual", kMaybe},
       {"breusch_pagan_p", "noise that does not depend on the motion", kMaybe},
       {"input_correlation", "largest |correlation| of the residual with the motion", kMaybe},
       {"variance_inflation", "of the parameters by correlation in time", kMaybe},
       {"autoregression", "order of the model of the residual", kCount}});
}

Json noiseBiasDefinition() {
  return objectOf(
      {{"statistic", "of Durbin, Wu and Hausman: least squares against instruments", kFinite},
       {"degrees", "of freedom", kFinite},
       {"p", "probability of such a difference without noise in the motion", kFinite},
       {"biased", "unlikely to be chance, and large enough to matter", kTruth},
       {"instruments", "where they come from", kText},
       {"largest_shift", "of a base parameter, in its standard deviations", kMaybe},
       {"shifted", "that base parameter", {{"type", {"string", "null"}}}},
       {"torque_shift", "rms of the predicted torques' change in units of the noise", kMaybe},
       {"relevance", "how well the instruments know the motion, 0 to 1", kMaybe}});
}

Json baseDefinition() {
  return objectOf({{"name", "standard parameter that stands for the group", kText},
                   {"grouping", "the combination, with short names", kText},
                   {"unit", "of value, sigma, low, high and declared", kText},
                   {"value", "the estimate", kFinite},
                   {"sigma", "standard deviation, corrected for correlation in time", kMaybe},
                   {"low", "of the 95 % confidence interval; bounds are not counted in", kMaybe},
                   {"high", "of the 95 % confidence interval", kMaybe},
                   {"relative_sigma_percent", "100 sigma / |value|", kMaybe},
                   {"declared", "the same combination of the declared values", kMaybe}});
}

std::vector<SchemaField> fileFields() {
  const Json format = {{"const", "proprio estimate"}}, version = {{"const", 1}};
  return {{"format", "", format},
          {"version", "of this format", version},
          {"robot", "what was identified",
           objectOf({{"name", "of the robot", kText},
                     {"file", "its description", kText},
                     {"sha256",
                      "of that file, hexadecimal; if it names a URDF, of the lines 'HASH  NAME' "
                      "of both",
                      kText},
                     {"files", "that describe it",
                      listOf(objectOf({{"path", "", kText}, {"sha256", "hexadecimal", kText}}))}})},
          {"method", "whose values these are", kText},
          {"passed", "the validation", kTruth},
          {"verdict", "one paragraph for people", kText},
          {"reasons", "why it did not pass, and what else to know", listOf(kText)},
          {"advice", "which method fits these data, and why", kText},
          {"consistent", "every link is physically possible", kTruth},
          {"condition_number", "of the weighted, column-scaled base regressor", kMaybe},
          {"iterations", "of the method", kCount},
          {"simulations", "of the closed loop", kCount},
          {"converged", "", kTruth},
          {"duality_gap", "relative to the objective; 0 where there is none", kMaybe},
          {"undecided", "directions that the data do not decide, in words", listOf(kText)},
          {"active_links", "links at the edge of what is possible", listOf(kText)},
          {"notes", "what the method has to say", listOf(kText)},
          {"base_parameters", "combinations that torques determine", listOf(ref("base_parameter"))},
          {"links", "those that move", listOf(ref("link"))},
          {"joints", "those that move: rotor inertia, friction, spring",
           listOf(objectOf({{"name", "of the joint", kText},
                            {"type", "", kText},
                            {"parameters", "in declared order", listOf(ref("parameter"))}}))},
          {"couplings", "declared columns", listOf(ref("parameter"))},
          {"errors", "torques, measured against predicted",
           objectOf({{"training", "on the recordings that were identified from", ref("errors")},
                     {"validation",
                      "on recordings held out; null without",
                      {{"anyOf", {ref("errors"), {{"type", "null"}}}}}}})},
          {"statistics", "tests of the residuals, joint by joint", listOf(ref("statistics"))},
          {"noise_bias",
           "does noise in the motion bias least squares; null where nothing can be said",
           {{"anyOf", {ref("noise_bias"), {{"type", "null"}}}}}},
          {"methods", "all that ran, the chosen one among them", listOf(ref("method"))},
          {"recordings", "the inputs", listOf(ref("recording"))},
          {"stages", "where the time went",
           listOf(objectOf({{"name", "", kText}, {"seconds", "", kFinite}}))},
          {"seconds", "all stages together", kFinite},
          {"seed", "of everything random", kCount},
          {"software", "versions",
           objectOf({{"proprio", "its version", kText},
                     {"compiler", "that built it", kText},
                     {"eigen", "the library of matrices", kText}})}};
}

}  // namespace

std::string estimateSchema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "estimate.json of proprio identify"},
                 {"description",
                  "The result of an identification. Numbers that are not finite are null; angles "
                  "are in rad, lengths in m."}};
  schema.update(objectOf(fileFields()));
  Json definitions = {{"parameter", parameterDefinition()}, {"base_parameter", baseDefinition()},
                      {"link", linkDefinition()},           {"method", methodDefinition()},
                      {"recording", recordingDefinition()}, {"statistics", statisticsDefinition()},
                      {"noise_bias", noiseBiasDefinition()}};
  definitions.update(errorDefinitions());
  schema["definitions"] = definitions;
  return schema.dump(2) + "\n";
}

}  // namespace proprio
