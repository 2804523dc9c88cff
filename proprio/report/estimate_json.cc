#include "proprio/report/estimate_json.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/version.h"
#include "proprio/report/identification_tables_internal.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

template <class Vector>
Json numberList(const Vector& numbers) {
  Json out = Json::array();
  for (Eigen::Index i = 0; i < numbers.size(); ++i) out.push_back(numbers[i]);
  return out;
}

Json errorJson(const JointError& error) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const bool any = error.rows > 0;
  return {{"percent", any ? error.percent : nothing},
          {"rms", any ? error.rms : nothing},
          {"torque_rms", any ? error.torque_rms : nothing},
          {"peak", any ? error.peak : nothing},
          {"rows", error.rows}};
}

constexpr std::pair<const char*, const char*> kBaselineKeys[] = {
    {"as given", "as_given"}, {"gravity only", "gravity_only"}, {"zero", "zero"}};

/// Errors of the method, all recordings together and one by one, beside the baselines.
Json errorTableJson(const Tree& tree, const std::vector<Evaluation>& evaluations,
                    const std::vector<Evaluation>& baselines) {
  if (evaluations.empty()) return nullptr;
  const std::vector<std::string> names = coordinateNames(tree), units = coordinateUnits(tree);
  const auto joints = [&](const Evaluation& evaluation) {
    Json out = Json::array();
    for (size_t j = 0; j < evaluation.joints.size(); ++j) {
      Json row = {{"joint", names[j]}, {"unit", units[j]}};
      row.update(errorJson(evaluation.joints[j]));
      out.push_back(row);
    }
    return out;
  };
  const Evaluation all = pooled(evaluations);
  Json out = {{"joints", joints(all)}, {"overall", errorJson(all.overall)}};
  for (const auto& [name, key] : kBaselineKeys) {
    const Evaluation baseline = pooled(baselines, name);
    if (baseline.joints.size() != all.joints.size()) continue;
    for (size_t j = 0; j < all.joints.size(); ++j)
      out["joints"][j]["baselines"][key] = errorJson(baseline.joints[j]);
    out["overall"]["baselines"][key] = errorJson(baseline.overall);
  }
  out["recordings"] = Json::array();
  for (const Evaluation& evaluation : evaluations) {
    out["recordings"].push_back({{"recording", evaluation.recording},
                                 {"joints", joints(evaluation)},
                                 {"overall", errorJson(evaluation.overall)}});
  }
  return out;
}

Json baseParametersJson(const IdentificationResult& result) {
  const IdentificationProblem& problem = result.problem;
  const Estimate& estimate = result.best().estimate;
  const Eigen::VectorXd sigma = baseSigma(estimate);
  const Eigen::VectorXd declared = baseMatrix(problem.base) * result.declared;
  const std::vector<ParameterUncertainty>& base = result.best().base;
  const bool known = base.size() == static_cast<size_t>(problem.base.count());
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  Json out = Json::array();
  for (int i = 0; i < problem.base.count(); ++i) {
    const ParameterInfo& info = (*problem.layout)[problem.base.independent[static_cast<size_t>(i)]];
    out.push_back({{"name", info.name},
                   {"grouping", groupingText(problem.base, i, problem.labels)},
                   {"unit", info.unit},
                   {"value", estimate.beta[i]},
                   {"sigma", sigma[i]},
                   {"low", known ? base[static_cast<size_t>(i)].low : nothing},
                   {"high", known ? base[static_cast<size_t>(i)].high : nothing},
                   {"relative_sigma_percent", 100.0 * sigma[i] / std::abs(estimate.beta[i])},
                   {"declared", declared[i]}});
  }
  return out;
}

/// One standard parameter: value, what was declared, where the value comes from.
Json parameterJson(const IdentificationResult& result, const Eigen::VectorXd& sigma, int index,
                   const std::string& name) {
  const ParameterInfo& info = (*result.problem.layout)[index];
  return {{"name", name},
          {"unit", info.unit},
          {"value", result.best().estimate.chi[index]},
          {"declared", result.declared[index]},
          {"sigma", sigma[index]},
          {"origin", toString(originOf(result.best(), index))}};
}

Json linksJson(const IdentificationResult& result, const Eigen::VectorXd& sigma) {
  const ParameterLayout& layout = *result.problem.layout;
  const MethodResult& best = result.best();
  Json out = Json::array();
  for (const int link : movedLinks(*result.problem.tree)) {
    const InertialParameters body = bodyOf(layout, best.estimate.chi, link);
    const Matrix3d I = body.inertiaAtCom();
    Json row = {
        {"name", layout.model().links[static_cast<size_t>(link)].name},
        {"mass", body.mass},
        {"com", numberList(body.com())},
        {"inertia_at_com", {I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2)}},
        {"declared_mass", bodyOf(layout, result.declared, link).mass},
        {"declared_com", numberList(bodyOf(layout, result.declared, link).com())},
    };
    for (const LinkConsistency& consistency : best.links) {
      if (consistency.link != link) continue;
      row["smallest_pseudo_inertia_eigenvalue"] = consistency.smallest_eigenvalue;
      row["consistent"] = consistency.consistent;
    }
    row["parameters"] = Json::array();
    for (int k = 0; k < 10; ++k) {
      row["parameters"].push_back(
          parameterJson(result, sigma, layout.linkOffset(link) + k, kInertialNames[k]));
    }
    out.push_back(row);
  }
  return out;
}

/// "elbow.viscous" -> "viscous"
std::string withoutOwner(const std::string& name, const std::string& owner) {
  return name.rfind(owner + ".", 0) == 0 ? name.substr(owner.size() + 1) : name;
}

Json jointsJson(const IdentificationResult& result, const Eigen::VectorXd& sigma) {
  const ParameterLayout& layout = *result.problem.layout;
  const Model& model = layout.model();
  Json out = Json::array();
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (velocityCount(joint.type) == 0) continue;
    Json parameters = Json::array();
    const int first = layout.jointOffset(static_cast<int>(j));
    for (int i = first; i < first + layout.jointCount(static_cast<int>(j)); ++i)
      parameters.push_back(
          parameterJson(result, sigma, i, withoutOwner(layout[i].name, joint.name)));
    out.push_back(
        {{"name", joint.name}, {"type", toString(joint.type)}, {"parameters", parameters}});
  }
  return out;
}

Json couplingsJson(const IdentificationResult& result, const Eigen::VectorXd& sigma) {
  const ParameterLayout& layout = *result.problem.layout;
  Json out = Json::array();
  for (int i = layout.couplingOffset(); i < layout.size(); ++i)
    out.push_back(parameterJson(result, sigma, i, layout[i].name));
  return out;
}

Json statisticsJson(const IdentificationResult& result) {
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  const MethodResult& best = result.best();
  Json out = Json::array();
  for (size_t j = 0; j < best.joints.size() && j < names.size(); ++j) {
    const JointDiagnosis& joint = best.joints[j];
    const auto index = static_cast<Eigen::Index>(j);
    out.push_back(
        {{"joint", names[j]},
         {"noise", index < best.estimate.sigma.size() ? best.estimate.sigma[index]
                                                      : std::numeric_limits<double>::quiet_NaN()},
         {"ljung_box_p", joint.ljung_box_p},
         {"jarque_bera_p", joint.jarque_bera_p},
         {"breusch_pagan_p", joint.breusch_pagan_p},
         {"input_correlation", joint.input_correlation},
         {"variance_inflation", joint.variance_inflation},
         {"autoregression", joint.autoregression}});
  }
  return out;
}

/// The test of Durbin, Wu and Hausman; null where it had nothing to say.
Json noiseBiasJson(const IdentificationResult& result) {
  const NoiseBiasTest& test = result.noise_bias;
  if (!(test.result.degrees > 0.0)) return nullptr;
  const IdentificationProblem& problem = result.problem;
  return {{"statistic", test.result.statistic},
          {"degrees", test.result.degrees},
          {"p", test.result.p_value},
          {"biased", test.biased()},
          {"instruments", test.instruments},
          {"largest_shift", test.largest_shift},
          {"shifted",
           test.shifted < 0
               ? Json()
               : Json((*problem.layout)[problem.base.independent[static_cast<size_t>(test.shifted)]]
                          .name)},
          {"torque_shift", test.torque_shift},
          {"relevance", test.relevance}};
}

Json recordingsJson(const IdentificationResult& result) {
  Json out = Json::array();
  for (const RecordingInfo& recording : result.recordings) {
    Json findings = Json::array();
    for (const QualityFinding& finding : recording.quality.findings) {
      findings.push_back({{"severity", toString(finding.severity)},
                          {"about", finding.about},
                          {"sentence", finding.sentence}});
    }
    out.push_back({{"path", recording.path},
                   {"sha256", recording.sha256},
                   {"use", recording.validation ? "validation" : "training"},
                   {"samples", recording.samples},
                   {"recorded_rate_hz", recording.recorded_rate_hz},
                   {"rate_hz", recording.rate_hz},
                   {"steps", recording.steps},
                   {"findings", findings}});
  }
  return out;
}

Json methodsJson(const IdentificationResult& result) {
  Json out = Json::array();
  for (const MethodResult& method : result.methods) {
    const Estimate& estimate = method.estimate;
    double smallest = std::numeric_limits<double>::quiet_NaN();
    for (const LinkConsistency& link : method.links)
      smallest = std::fmin(smallest, link.smallest_eigenvalue);
    const auto percent = [](const std::vector<Evaluation>& evaluations) {
      Json list = Json::array();
      for (const JointError& joint : pooled(evaluations).joints) list.push_back(joint.percent);
      return list;
    };
    out.push_back({{"method", estimate.method},
                   {"consistent", method.consistent},
                   {"smallest_pseudo_inertia_eigenvalue", smallest},
                   {"condition_number", estimate.condition},
                   {"iterations", estimate.iterations},
                   {"simulations", estimate.simulations},
                   {"converged", estimate.converged},
                   {"duality_gap", estimate.gap},
                   {"seconds", estimate.seconds},
                   {"training_percent", percent(method.training)},
                   {"validation_percent", percent(method.validation)},
                   {"training_overall", errorJson(pooled(method.training).overall)},
                   {"validation_overall", errorJson(pooled(method.validation).overall)},
                   {"base_values", numberList(estimate.beta)},
                   {"base_sigmas", numberList(baseSigma(estimate))},
                   {"notes", estimate.notes}});
  }
  return out;
}

}  // namespace

std::string estimateJson(const IdentificationResult& result) {
  const MethodResult& best = result.best();
  const Estimate& estimate = best.estimate;
  const Tree& tree = *result.problem.tree;
  const Eigen::VectorXd sigma = standardSigma(result.problem, best);
  Json active = Json::array(), stages = Json::array(), files = Json::array();
  for (const InputFile& file : result.robot_files)
    files.push_back({{"path", file.path}, {"sha256", file.sha256}});
  for (const int link : estimate.active_links)
    active.push_back(tree.model().links[static_cast<size_t>(link)].name);
  double seconds = 0.0;
  for (const Stage& stage : result.stages) {
    stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    seconds += stage.seconds;
  }
  const Json out = {
      {"format", "proprio estimate"},
      {"version", 1},
      {"robot",
       {{"name", tree.model().name},
        {"file", result.robot},
        {"sha256", result.robot_sha256},
        {"files", files}}},
      {"method", estimate.method},
      {"passed", result.passed},
      {"verdict", result.verdict},
      {"reasons", result.reasons},
      {"advice", result.advice},
      {"consistent", best.consistent},
      {"condition_number", estimate.condition},
      {"iterations", estimate.iterations},
      {"simulations", estimate.simulations},
      {"converged", estimate.converged},
      {"duality_gap", estimate.gap},
      {"undecided", estimate.undecided},
      {"active_links", active},
      {"notes", estimate.notes},
      {"base_parameters", baseParametersJson(result)},
      {"links", linksJson(result, sigma)},
      {"joints", jointsJson(result, sigma)},
      {"couplings", couplingsJson(result, sigma)},
      {"errors",
       {{"training", errorTableJson(tree, best.training, result.training_baselines)},
        {"validation", errorTableJson(tree, best.validation, result.validation_baselines)}}},
      {"statistics", statisticsJson(result)},
      {"noise_bias", noiseBiasJson(result)},
      {"methods", methodsJson(result)},
      {"recordings", recordingsJson(result)},
      {"stages", stages},
      {"seconds", seconds},
      {"seed", result.seed},
      {"software",
       {{"proprio", libraryVersion()},
        {"compiler", compilerVersion()},
        {"eigen", eigenVersion()}}}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

/// A field of an object that must be there. @throws Error that names file and field.
const Json& requiredField(const Json& object, const char* key, const std::string& path) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end())
    throw Error(
        fmt::format("{}: it has no field '{}', which an estimate.json of proprio has", path, key));
  return *found;
}

double numberField(const Json& object, const char* key, const std::string& path) {
  const Json& value = requiredField(object, key, path);
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number())
    throw Error(fmt::format("{}: field '{}' is {}, expected a number or null", path, key,
                            inQuotes(value.dump())));
  return value.get<double>();
}

std::string textField(const Json& object, const char* key, const std::string& path) {
  const Json& value = requiredField(object, key, path);
  if (!value.is_string())
    throw Error(
        fmt::format("{}: field '{}' is {}, expected a text", path, key, inQuotes(value.dump())));
  return value.get<std::string>();
}

bool truthField(const Json& object, const char* key, const std::string& path) {
  const Json& value = requiredField(object, key, path);
  if (!value.is_boolean())
    throw Error(fmt::format("{}: field '{}' is {}, expected true or false", path, key,
                            inQuotes(value.dump())));
  return value.get<bool>();
}

const Json& listField(const Json& object, const char* key, const std::string& path) {
  const Json& value = requiredField(object, key, path);
  if (!value.is_array())
    throw Error(
        fmt::format("{}: field '{}' is {}, expected a list", path, key, inQuotes(value.dump())));
  return value;
}

JointError errorOf(const Json& object, const std::string& path) {
  JointError error;
  error.percent = numberField(object, "percent", path);
  error.rms = numberField(object, "rms", path);
  error.torque_rms = numberField(object, "torque_rms", path);
  error.peak = numberField(object, "peak", path);
  error.rows = static_cast<Eigen::Index>(numberField(object, "rows", path));
  return error;
}

constexpr JointError kNoError = {
    std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(),
    std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(), 0};

JointError asGivenOf(const Json& joint, const std::string& path) {
  if (!joint.contains("baselines")) return kNoError;
  return errorOf(requiredField(joint["baselines"], "as_given", path), path);
}

void readErrors(const Json& file, const std::string& path, EstimateSummary* summary) {
  const Json& errors = requiredField(file, "errors", path);
  const Json& training = requiredField(errors, "training", path);
  const Json& validation = requiredField(errors, "validation", path);
  for (const Json& row : listField(training, "joints", path)) {
    EstimateSummary::Joint joint;
    joint.name = textField(row, "joint", path);
    joint.unit = textField(row, "unit", path);
    joint.training = errorOf(row, path);
    joint.training_as_given = asGivenOf(row, path);
    joint.validation = joint.validation_as_given = kNoError;
    summary->joints.push_back(joint);
  }
  summary->training = errorOf(requiredField(training, "overall", path), path);
  summary->validation = kNoError;
  if (validation.is_null()) return;
  for (const Json& row : listField(validation, "joints", path)) {
    const std::string name = textField(row, "joint", path);
    for (EstimateSummary::Joint& joint : summary->joints) {
      if (joint.name != name) continue;
      joint.validation = errorOf(row, path);
      joint.validation_as_given = asGivenOf(row, path);
    }
  }
  summary->validation = errorOf(requiredField(validation, "overall", path), path);
}

EstimateSummary::Body bodyFrom(const Json& row, const std::string& path) {
  EstimateSummary::Body body;
  body.name = textField(row, "name", path);
  body.mass = numberField(row, "mass", path);
  body.declared_mass = numberField(row, "declared_mass", path);
  const Json& com = listField(row, "com", path);
  for (size_t k = 0; k < 3 && k < com.size(); ++k) {
    if (com[k].is_number()) body.com[static_cast<Eigen::Index>(k)] = com[k].get<double>();
  }
  const Json& parameters = listField(row, "parameters", path);
  if (!parameters.empty()) body.mass_origin = textField(parameters[0], "origin", path);
  return body;
}

}  // namespace

EstimateSummary readEstimateJson(const std::string& path) {
  namespace fs = std::filesystem;
  EstimateSummary summary;
  summary.path = path;
  const std::string file_name =
      fs::is_directory(path) ? (fs::path(path) / "estimate.json").string() : path;
  const std::string text = readFile(file_name);
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded())
    throw Error(fmt::format("{}: this is not JSON; expected the estimate.json of an identification",
                            file_name));
  if (!file.is_object() || file.value("format", Json()) != "proprio estimate")
    throw Error(
        fmt::format("{}: its 'format' is not 'proprio estimate'; expected the estimate.json of an "
                    "identification",
                    file_name));
  if (file.value("version", Json()) != 1)
    throw Error(
        fmt::format("{}: its version is {}, expected 1, the only one that this program "
                    "reads",
                    file_name, inQuotes(file.value("version", Json()).dump())));
  summary.robot = textField(requiredField(file, "robot", file_name), "name", file_name);
  summary.method = textField(file, "method", file_name);
  summary.verdict = textField(file, "verdict", file_name);
  summary.passed = truthField(file, "passed", file_name);
  summary.consistent = truthField(file, "consistent", file_name);
  summary.condition = numberField(file, "condition_number", file_name);
  summary.seconds = numberField(file, "seconds", file_name);
  for (const Json& row : listField(file, "base_parameters", file_name)) {
    summary.base.push_back({textField(row, "name", file_name),
                            textField(row, "grouping", file_name),
                            textField(row, "unit", file_name), numberField(row, "value", file_name),
                            numberField(row, "sigma", file_name)});
  }
  for (const Json& row : listField(file, "links", file_name))
    summary.links.push_back(bodyFrom(row, file_name));
  readErrors(file, file_name, &summary);
  return summary;
}

}  // namespace proprio
