#include "proprio/identification/identify_recordings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "proprio/core/sha256.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/base_parameters.h"
#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/cross_validation.h"
#include "proprio/identification/diagnosis.h"
#include "proprio/identification/disturbed_stretch.h"
#include "proprio/identification/late_reversals.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/prior.h"
#include "proprio/identification/recording_agreement.h"
#include "proprio/identification/recording_checks.h"
#include "proprio/identification/recording_noise.h"
#include "proprio/identification/robust_covariance.h"
#include "proprio/identification/robust_least_squares.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/identification/separable_friction.h"
#include "proprio/identification/undeclared_springs.h"
#include "proprio/identification/usual_terms.h"
#include "proprio/identification/verdict.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

/// Training errors that ask no questions, in percent of the torque.
constexpr double kSmallError = 5.0;

/// Residuals without over with something, if that explains three quarters of what they were.
constexpr double kExplainsMost = 4.0;

/// Warnings about recordings that are told beside the verdict; the report has them all.
constexpr size_t kMostWarnings = 6;

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The sentence, and what it is about unless it says so.
std::string whole(const QualityFinding& finding) {
  if (finding.sentence.find(finding.about) != std::string::npos) return finding.sentence;
  return finding.about + ": " + finding.sentence;
}

/// "b/" for x/b/test.csv beside x/a/test.csv: the fewest folders that tell a file from others of
/// its name; empty if there are none.
std::string distinguishingFolders(const std::string& path, const IdentifyOptions& options) {
  const auto tail = [](const std::string& of, int parts) {
    std::filesystem::path rest = std::filesystem::absolute(of).lexically_normal(), taken;
    for (int k = 0; k < parts && rest.has_filename(); ++k, rest = rest.parent_path())
      taken = taken.empty() ? rest.filename() : rest.filename() / taken;
    return taken;
  };
  std::vector<std::string> others;
  for (const auto* paths : {&options.logs, &options.validate}) {
    for (const std::string& other : *paths) {
      if (std::filesystem::absolute(other).lexically_normal() !=
          std::filesystem::absolute(path).lexically_normal())
        others.push_back(other);
    }
  }
  int parts = 1;
  const auto ambiguous = [&](const std::string& other) {
    return tail(other, parts) == tail(path, parts);
  };
  constexpr int kDeepest = 20;
  while (parts < kDeepest && std::any_of(others.begin(), others.end(), ambiguous)) ++parts;
  const std::string folders = tail(path, parts).parent_path().string();
  return folders.empty() ? "" : folders + "/";
}

bool isWrongTime(const QualityFinding& finding) {
  return finding.severity == Severity::kError &&
         (finding.kind == FindingKind::kDelay || finding.kind == FindingKind::kJointDelay);
}

bool usesFullCovariance(const std::string& method) {
  return method == "wls" || method == "irls" || method == "pc-irls";
}

std::vector<LinkConsistency> consistencyOf(const Tree& tree, const ParameterLayout& layout,
                                           const Eigen::VectorXd& chi) {
  const Traversal traversal = traverse(tree.model(), tree.baseLink());
  std::vector<LinkConsistency> result;
  for (int link = 0; link < static_cast<int>(tree.model().links.size()); ++link) {
    if (traversal.parent[static_cast<size_t>(link)] < 0) continue;
    const InertialParameters body =
        InertialParameters::fromVector(chi.segment<10>(layout.linkOffset(link)));
    const ConsistencyMargins margins = consistencyMargins(body);
    result.push_back({link, margins.pseudo_inertia, margins.fullyConsistent()});
  }
  return result;
}

/// The first share of the samples of a recording trains, the rest validates; `motions` are its
/// stretches, one after the other.
void splitMotions(const std::vector<MotionData>& motions, double share,
                  std::vector<MotionData>* train, std::vector<MotionData>* validate) {
  Eigen::Index all = 0;
  for (const MotionData& motion : motions) all += motion.samples();
  auto left = static_cast<Eigen::Index>(std::lround(share * static_cast<double>(all)));
  for (const MotionData& motion : motions) {
    const Eigen::Index first = std::clamp<Eigen::Index>(left, 0, motion.samples());
    const Eigen::Index rest = motion.samples() - first;
    left -= first;
    if (first > 0) {
      train->push_back(middleSamples(motion, 0, first));
      train->back().name += fmt::format(" (first {:.0f} %)", 100.0 * share);
    }
    if (rest > 0) {
      validate->push_back(middleSamples(motion, first, rest));
      validate->back().name += fmt::format(" (last {:.0f} %)", 100.0 * (1.0 - share));
    }
  }
}

class Job {
 public:
  Job(const Model& model, const std::string& robot_file, const IdentifyOptions& options)
      : options_(options), model_(model) {
    result_.robot = robot_file;
    addRobotFiles();
  }

  IdentificationResult run() {
    readAll();
    checkAll();
    findReversals();
    fitFrictionConstants();
    stackRows();
    for (const std::string& name : methodNames()) runMethodOrSkip(name);
    conclude();
    return std::move(result_);
  }

 private:
  /// The description and the URDF that it names, with their hashes.
  void addRobotFiles() {
    std::vector<InputFile>& files = result_.robot_files;
    files.push_back({result_.robot, fingerprint(result_.robot)});
    if (!model_.urdf.empty() && model_.urdf != model_.source)
      files.push_back({model_.urdf, fingerprint(model_.urdf)});
    std::string lines;
    for (const InputFile& file : files)
      lines += file.sha256 + "  " + std::filesystem::path(file.path).filename().string() + "\n";
    result_.robot_sha256 = files.size() == 1 ? files.front().sha256 : sha256(lines);
  }

  /// Steps: two per recording, rows, two per method (the second where it is cross-validated) and
  /// statistics; steps that do not happen make the last ones larger.
  void tell(const std::string& step) {
    const bool every = options_.methods == std::vector<std::string>{"all"};
    const size_t all = 2 * (options_.logs.size() + options_.validate.size()) + 2 +
                       2 * (every ? methods().size() : options_.methods.size());
    const double done = static_cast<double>(std::min(steps_++, all)) / static_cast<double>(all);
    if (options_.progress) options_.progress(step, done);
  }

  void readAll() {
    if (options_.logs.empty()) throw Error("there is no recording to identify from (--log)");
    if (options_.split != 0.0 && !options_.validate.empty())
      throw Error("--split and --validate both say what validates; give one of them");
    if (options_.split < 0.0 || options_.split >= 1.0)
      throw Error(fmt::format("--split is {:g}; expected a share of the time between 0 and 1",
                              options_.split));
    const size_t given = options_.recording_noise.size();
    if (given != 0 && given != options_.logs.size())
      throw Error(fmt::format(
          "--recording-noise has {} numbers for {} recordings; expected one for each --log, or "
          "auto, or alike",
          given, options_.logs.size()));
    readLogs();
    size_t next = 0;
    for (const std::string& path : options_.logs) {
      std::vector<MotionData> motions = convert(path, &recordings_[next++], false);
      for (MotionData& motion : motions) motion.source = static_cast<int>(next) - 1;
      if (options_.split > 0.0) {
        splitMotions(motions, options_.split, &training_, &result_.validation);
      } else {
        std::move(motions.begin(), motions.end(), std::back_inserter(training_));
      }
    }
    for (const std::string& path : options_.validate) {
      for (MotionData& motion : convert(path, &recordings_[next++], true)) {
        requireUnseen(motion, path);
        result_.validation.push_back(std::move(motion));
      }
    }
    result_.stages.push_back({"read, filter, differentiate", watch_.lap()});
  }

  /// What was learnt by heart proves nothing.
  void requireUnseen(const MotionData& motion, const std::string& path) const {
    for (const MotionData& seen : training_) {
      if (seen.q.rows() != motion.q.rows() || seen.q != motion.q || seen.tau != motion.tau)
        continue;
      throw Error(fmt::format(
          "{}: --validate has the same samples as --log {}; expected a motion that is not "
          "identified from: give another recording, or leave --validate out (blocks are then left "
          "out in turn)",
          path, options_.logs[static_cast<size_t>(seen.source)]));
    }
  }

  /// All of them first: joints that none has are held still.
  void readLogs() {
    std::vector<std::string> read;
    for (const auto* paths : {&options_.logs, &options_.validate}) {
      for (const std::string& path : *paths) {
        tell("reading " + path);
        RecordingOptions one = options_.read;
        one.part = paths == &options_.logs ? DataPart::kTraining : DataPart::kTest;
        recordings_.push_back(readMeasurements(model_, path, one));
        for (size_t k = 0; k < read.size(); ++k) {
          if (read[k] == path || recordings_[k].source != recordings_.back().source) continue;
          throw Error(
              fmt::format("{} and {} are files of one recording, as their names say; give "
                          "one of them, or their folder",
                          read[k], path));
        }
        read.push_back(path);
      }
    }
    Model model = withRecordedJoints(model_, recordings_, &result_.reasons);
    if (!options_.as_declared) model = withUsualTerms(model, &result_.reasons);
    model = withSnappedGeometry(withSensedWrenches(model, recordings_, &result_.reasons));
    tree_ = std::make_shared<const Tree>(std::make_shared<const Model>(std::move(model)));
    given_ = tree_;
  }

  std::vector<MotionData> convert(const std::string& path, Recording* recording, bool validation) {
    tell("signals of " + path);
    RecordingInfo info;
    info.validation = validation;
    std::vector<MotionData> motions = motionsOf(*tree_, std::move(*recording), path,
                                                options_.signals, options_.measurement, &info);
    result_.recordings.push_back(std::move(info));
    // files of the same name in several folders stay apart
    const std::string folders = distinguishingFolders(path, options_);
    for (MotionData& motion : motions) motion.name = folders + motion.name;
    return motions;
  }

  /// What the description says about the recordings.
  void checkAll() { suspects_ = checkRecordings(*tree_, training_, &findings()); }

  std::vector<QualityFinding>& findings() { return result_.recordings.front().quality.findings; }

  void stackRows() {
    tell("stacking the regressor");
    result_.problem = problemOfTraining();
    leaveOut(checkScales(result_.problem, suspects_, &findings()));
    checkDelay(result_.problem, &findings());
    checkGains(result_.problem, &findings());
    if (recordingsAgree()) {
      const std::string told = weighByNoise(&result_.problem);
      if (!told.empty()) result_.reasons.push_back(told);
    }
    const Parameters declared = declaredParameters(tree_->sharedModel());
    result_.declared = Eigen::Map<const Eigen::VectorXd>(
        declared.values.data(), static_cast<Eigen::Index>(declared.values.size()));
    for (const MotionData& motion : result_.problem.data)
      addBaselines(motion, &result_.training_baselines);
    for (const MotionData& motion : result_.validation)
      addBaselines(motion, &result_.validation_baselines);
    result_.stages.push_back({"base parameters, stacked rows", watch_.lap()});
  }

  /// Torques of another scale, which contradict the other joints.
  void leaveOut(const std::vector<int>& coordinates) {
    if (coordinates.empty()) return;
    std::vector<MotionData> training = std::move(result_.problem.data);
    for (auto* motions : {&training, &result_.validation}) {
      for (MotionData& motion : *motions) {
        for (const int i : coordinates) motion.use.col(i).setConstant(false);
      }
    }
    result_.problem = identificationProblem(tree_, std::move(training));
  }

  /// Misfit of recordings that show different robots is no noise: it gets no weight, but an answer.
  bool recordingsAgree() {
    if (options_.logs.size() < 2) return true;
    tell("agreement of the recordings");
    const RecordingAgreement found = testAgreement(result_.problem);
    if (found.agree()) return true;
    findings().push_back({found.contradict() ? Severity::kError : Severity::kWarning, "",
                          agreementText(result_.problem, found, options_.logs)});
    return !found.contradict();
  }

  /// Rows of each log by its noise, as the options want it; what is worth telling about it.
  std::string weighByNoise(IdentificationProblem* problem) const {
    if (!options_.recording_noise.empty()) {
      setRecordingNoise(problem, options_.recording_noise);
      return "";
    }
    if (!options_.estimate_recording_noise || options_.logs.size() < 2) return "";
    return recordingNoiseText(*problem, weighRecordings(problem), options_.logs);
  }

  IdentificationProblem problemOfTraining() {
    if (std::none_of(training_.begin(), training_.end(),
                     [](const MotionData& motion) { return motion.use.any(); }))
      throw Error("no torque row of any recording counts; there is nothing to identify from");
    return identificationProblem(tree_, std::move(training_));
  }

  /// Lets friction turn where the training data say that it does.
  void findReversals() {
    const std::vector<LateReversal> found = findLateReversals(*tree_, training_);
    turnLate(found, &training_);
    turnLate(found, &result_.validation);
    late_reversals_ = lateReversalText(*tree_, found);
  }

  /// Do torques belong to other times than positions? That is the answer then, and what follows
  /// from it (friction that turns late, bias, large residuals) is not told.
  bool delayed() const {
    return std::any_of(
        result_.recordings.begin(), result_.recordings.end(), [](const RecordingInfo& info) {
          const std::vector<QualityFinding>& all = info.quality.findings;
          return !info.validation && std::any_of(all.begin(), all.end(), isWrongTime);
        });
  }

  /// The robot with the constants that fit best; all that follows is linear again.
  void fitFrictionConstants() {
    if (options_.friction_constants == FrictionConstants::kKeep) return;
    tell("friction constants");
    IdentificationProblem problem = problemOfTraining();
    weighByNoise(&problem);
    const Estimate first = weightedLeastSquares(problem, options_.method);
    SeparableFriction found;
    switch (options_.friction_constants) {
      case FrictionConstants::kGrid:
        found = sharedFrictionGrid(problem, first.sigma);
        break;
      case FrictionConstants::kSweeps:
        found = constantSpeedFriction(problem, first.chi);
        break;
      default:
        found = separableFriction(problem, first.sigma);
    }
    std::vector<std::string>& told = result_.reasons;
    for (const FrictionConstant& constant : found.constants)
      told.push_back(fmt::format("the {} is {:.4g} ± {:.2g}",
                                 constantText(tree_->model(), constant), constant.value,
                                 constant.sigma));
    told.insert(told.end(), found.notes.begin(), found.notes.end());
    tree_ = std::make_shared<const Tree>(
        std::make_shared<const Model>(withFrictionConstants(tree_->model(), found.constants)));
    training_ = std::move(problem.data);
    result_.stages.push_back({"friction constants", watch_.lap()});
  }

  void addBaselines(const MotionData& motion, std::vector<Evaluation>* to) const {
    const ParameterLayout layout(given_->sharedModel());
    for (Evaluation& evaluation : baselines(*given_, layout, result_.declared, motion))
      to->push_back(std::move(evaluation));
  }

  /// "all": the usual one first, and those that simulate only where the commanded motion is known.
  std::vector<std::string> methodNames() const {
    if (options_.methods != std::vector<std::string>{"all"}) return options_.methods;
    const bool commanded =
        std::all_of(result_.problem.data.begin(), result_.problem.data.end(),
                    [](const MotionData& motion) { return motion.reference != nullptr; });
    std::vector<std::string> names = {"pc-wls"};
    for (const Method& candidate : methods()) {
      if (candidate.name != names.front() && (commanded || !candidate.simulates))
        names.emplace_back(candidate.name);
    }
    return names;
  }

  /// Of "all" those that cannot work with these recordings and options are left out, and told; not
  /// the first. (Correlations between joints that are never recorded together, say.)
  void runMethodOrSkip(const std::string& name) {
    if (options_.methods != std::vector<std::string>{"all"} || result_.methods.empty()) {
      runMethod(name);
      return;
    }
    try {
      runMethod(name);
    } catch (const Error& error) {
      result_.reasons.push_back(fmt::format("{} was left out: {}", name, error.what()));
      result_.stages.push_back({name, watch_.lap()});
    }
  }

  void runMethod(const std::string& name) {
    tell(name);
    const IdentificationProblem& problem = result_.problem;
    MethodResult method_result;
    method_result.estimate = identify(name, problem, options_.method);
    Estimate& estimate = method_result.estimate;
    if (options_.method.full_covariance && !usesFullCovariance(name))
      estimate.notes.push_back(
          fmt::format("{} takes the torque noise of the joints as independent: --full-covariance "
                      "is for wls, irls and pc-irls",
                      name));
    const CorrectedCovariance corrected = correctedCovariance(problem, estimate);
    estimate.covariance = corrected.covariance;
    method_result.base = parameterUncertainties(problem, estimate, corrected);
    method_result.joints = diagnoseResiduals(problem, estimate, corrected);
    method_result.origins = parameterOrigins(problem, estimate);
    method_result.links = consistencyOf(*tree_, *problem.layout, estimate.chi);
    method_result.consistent =
        std::all_of(method_result.links.begin(), method_result.links.end(),
                    [](const LinkConsistency& link) { return link.consistent; });
    for (const MotionData& motion : problem.data)
      method_result.training.push_back(
          evaluate(name, *tree_, *problem.layout, estimate.chi, motion));
    for (const MotionData& motion : result_.validation)
      method_result.validation.push_back(
          evaluate(name, *tree_, *problem.layout, estimate.chi, motion));
    const bool chosen = result_.methods.empty();
    const bool several = problem.stacked.blocks.size() > 1;
    if (result_.validation.empty() && several && (chosen || !method(name).simulates)) {
      tell(name + ", cross-validation");
      method_result.validation.push_back(crossValidation(problem, method(name), options_.method));
    }
    result_.methods.push_back(std::move(method_result));
    result_.stages.push_back({name, watch_.lap()});
  }

  /// What each validation recording leaves if parameters are fitted to it.
  std::vector<Evaluation> ownFits() const {
    std::vector<Evaluation> fits;
    for (const MotionData& motion : result_.validation) {
      if (!motion.use.any()) continue;
      const IdentificationProblem own = identificationProblem(tree_, {motion});
      fits.push_back(
          evaluate("its own fit", *tree_, *own.layout, weightedLeastSquares(own, {}).chi, motion));
    }
    return fits;
  }

  /// Joints that look as if they had a spring, if residuals are large enough to ask. A strong one
  /// makes gravity, or the scale of a torque, look wrong: beside such mistakes only a spring that
  /// explains most of what its joint leaves is told, and is the answer.
  void checkSprings(const Estimate& plain) {
    const Evaluation seen = pooled(result_.best().training);
    const bool poor = std::any_of(seen.joints.begin(), seen.joints.end(),
                                  [](const auto& joint) { return joint.percent > kSmallError; });
    if (!poor || delayed()) return;
    const bool mistaken = hasErrors(findings());
    for (const UndeclaredSpring& spring : findSprings(result_.problem, plain)) {
      if (mistaken && spring.better < kExplainsMost) continue;
      findings().push_back({mistaken ? Severity::kError : Severity::kWarning,
                            tree_->model().joints[static_cast<size_t>(spring.joint)].name,
                            springText(tree_->model(), spring), FindingKind::kSpring});
    }
  }

  /// Something that pushed the robot for a while, if residuals are large enough to ask; it fails
  /// what it has pulled clearly away from what robust least squares finds in the rest.
  void checkDisturbances() {
    if (delayed()) return;  // which leaves large residuals wherever the robot is fast
    const MethodResult& best = result_.best();
    const IdentificationProblem& problem = result_.problem;
    const Evaluation seen = pooled(best.training);
    const auto poor = std::count_if(seen.joints.begin(), seen.joints.end(),
                                    [](const auto& joint) { return joint.percent > kSmallError; });
    if (poor < 2) return;
    const Estimate robust = reweightedLeastSquares(problem, {});
    const std::vector<DisturbedStretch> stretches = disturbedStretches(problem, robust);
    if (stretches.empty()) return;
    disturbed_ = true;
    std::vector<Evaluation> with, without;
    for (const MotionData& motion : undisturbed(problem, stretches)) {
      with.push_back(evaluate("", *tree_, *problem.layout, best.estimate.chi, motion));
      without.push_back(evaluate("", *tree_, *problem.layout, robust.chi, motion));
    }
    const Evaluation pulled = pooled(with), rest = pooled(without);
    bool worse = false;
    for (size_t j = 0; j < rest.joints.size(); ++j)
      worse = worse || clearlyWorse(pulled.joints[j], rest.joints[j]);
    std::vector<std::string> words;
    for (const DisturbedStretch& stretch : stretches)
      words.push_back(stretchText(problem, stretch));
    findings().push_back(
        {worse ? Severity::kError : Severity::kWarning, "",
         fmt::format("something pushed the robot {}: the residuals of several joints are large at "
                     "once, as by a contact{}; cut this out of the recording (proprio log --from, "
                     "--to), or use --method pc-irls",
                     fmt::join(words, " and "),
                     worse ? fmt::format(", and pull the parameters away: {:.2g} % of the torque "
                                         "remain in the rest, {:.2g} % with robust weights",
                                         pulled.overall.percent, rest.overall.percent)
                           : "")});
  }

  /// Is it good, what else is to be known, and which method would suit these recordings.
  void conclude() {
    tell("statistics");
    const MethodResult& best = result_.best();
    MethodOptions independent = options_.method;
    independent.full_covariance = false;
    const Estimate plain = weightedLeastSquares(result_.problem, independent);
    checkSprings(plain);
    checkDisturbances();
    if (result_.validation.empty() && !best.validation.empty()) useTrainingBaselines();
    const auto judged = [&](const std::vector<Evaluation>& own_fits) {
      return judge(best.estimate.method, coordinateNames(*tree_), best.training, best.validation,
                   result_.validation_baselines, own_fits);
    };
    Verdict verdict = judged({});
    if (!verdict.passed && !result_.validation.empty()) verdict = judged(ownFits());
    if (verdict.passed && result_.validation.empty() && !best.validation.empty())
      verdict.text +=
          " These blocks are parts of the same motion: give another one with --validate to learn "
          "whether the parameters hold beyond it.";
    result_.passed = verdict.passed;
    result_.causes = verdict.causes;
    result_.verdict = std::move(verdict.text);
    const std::vector<std::string> told = std::move(result_.reasons);
    result_.reasons = std::move(verdict.reasons);
    if (!late_reversals_.empty() && !delayed()) result_.reasons.push_back(late_reversals_);
    result_.reasons.insert(result_.reasons.end(), told.begin(), told.end());
    addFindings();
    const std::vector<std::string>& notes = best.estimate.notes;
    result_.reasons.insert(result_.reasons.end(), notes.begin(), notes.end());
    if (result_.causes > verdict.causes && !verdict.measured.empty())
      result_.verdict = fmt::format("Failed: {}. As for the errors, {}", result_.reasons.front(),
                                    verdict.measured);
    result_.noise_bias = testNoiseBias(result_.problem, plain);
    const NoiseBiasTest& bias = result_.noise_bias;
    for (std::string& remark :
         remarks(result_.problem, best.estimate, best.joints, bias, delayed()))
      result_.reasons.push_back(std::move(remark));
    if (!best.consistent) tellFeasibility(best.estimate);
    result_.advice = adviceFor(best, bias);
    result_.stages.push_back({"statistics, verdict", watch_.lap()});
  }

  /// Blocks that are left out in turn are the training data: so are the rows to compare on.
  void useTrainingBaselines() {
    std::vector<Evaluation>& baselines = result_.validation_baselines;
    for (const char* model : {"as given", "gravity only", "zero"}) {
      baselines.push_back(pooled(result_.training_baselines, model));
      baselines.back().recording = result_.best().validation.front().recording;
    }
  }

  /// Whether an estimate that is not possible only divides its base parameters badly, or no
  /// division of them could be.
  void tellFeasibility(const Estimate& estimate) {
    const IdentificationProblem& problem = result_.problem;
    const BaseFeasibility found =
        baseFeasibility(problem, estimate.beta, weightedSystem(problem.stacked, estimate.sigma).A);
    std::vector<std::string> links;
    for (const int link : found.links)
      links.push_back(inQuotes(tree_->model().links[static_cast<size_t>(link)].name));
    result_.reasons.push_back(
        found.possible
            ? fmt::format("The base parameters of {} are those of a possible robot; only their "
                          "division among the links is not (a consistent method finds one).",
                          estimate.method)
            : fmt::format("No possible robot has the base parameters of {}: the nearest one is "
                          "{:.2g} standard deviations of the data away{}{}.",
                          estimate.method, found.distance, links.empty() ? "" : ", because of ",
                          fmt::join(links, ", ")));
  }

  /// What was found in the recordings: errors come first, and are the answer, a delay or a spring
  /// before others, what was read before what was fitted; warnings, and notes on the whole
  /// recording, last.
  void addFindings() {
    std::vector<std::string> warnings, errors, explanations;
    for (const RecordingInfo& info : result_.recordings) {
      for (const QualityFinding& finding : info.quality.findings) {
        if (finding.severity == Severity::kError) {
          (isWrongTime(finding) || finding.kind == FindingKind::kSpring ? explanations : errors)
              .push_back(whole(finding));
        } else if (finding.severity == Severity::kWarning || finding.about.empty()) {
          warnings.push_back(whole(finding));
        }
      }
    }
    errors.insert(errors.begin(), explanations.begin(), explanations.end());
    result_.passed = result_.passed && errors.empty();
    result_.causes += errors.size();
    result_.reasons.insert(result_.reasons.begin(), errors.begin(), errors.end());
    const size_t shown = std::min(warnings.size(), kMostWarnings);
    result_.reasons.insert(result_.reasons.end(), warnings.begin(),
                           warnings.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < warnings.size())
      result_.reasons.push_back(
          fmt::format("{} more warning{} about the recordings: see the report",
                      warnings.size() - shown, warnings.size() - shown == 1 ? "" : "s"));
  }

  std::string adviceFor(const MethodResult& best, const NoiseBiasTest& bias) const {
    if (delayed()) return "undo the delay of the torques first: no method allows for it";
    const Model& model = tree_->model();
    MethodFacts facts;
    facts.gains_known = std::any_of(model.joints.begin(), model.joints.end(),
                                    [](const Joint& joint) { return joint.control.declared; });
    facts.controller_known = facts.gains_known;
    facts.reference_recorded = result_.problem.data.front().reference != nullptr;
    facts.undecided = !best.estimate.undecided.empty();
    facts.noise_bias = bias.biased();
    facts.bias_tested = bias.decided();
    facts.rate_hz = result_.recordings.front().recorded_rate_hz;
    facts.outliers = disturbed_;
    for (const RecordingInfo& info : result_.recordings) {
      for (const ChannelStatistics& channel : info.quality.channels)
        facts.outliers = facts.outliers || (options_.measurement.keep_spikes && channel.spikes > 0);
    }
    const MethodAdvice advice = adviseMethod(facts);
    return fmt::format("{}{}: {}", advice.method == best.estimate.method ? "" : "try --method ",
                       advice.method, advice.reason);
  }

  const IdentifyOptions& options_;
  IdentificationResult result_;
  const Model& model_;
  std::vector<Recording> recordings_;
  size_t steps_ = 0;                          // for progress
  std::shared_ptr<const Tree> tree_, given_;  // given_: with the constants of friction as declared
  std::vector<MotionData> training_;
  ScaleSuspects suspects_;
  std::string late_reversals_;  // a sentence
  bool disturbed_ = false;      // by something that pushed the robot for a while
  Stopwatch watch_;
};

}  // namespace

FrictionConstants frictionConstantsNamed(const std::string& name) {
  if (name == "keep") return FrictionConstants::kKeep;
  if (name == "fit") return FrictionConstants::kFit;
  if (name == "grid") return FrictionConstants::kGrid;
  if (name == "sweeps") return FrictionConstants::kSweeps;
  throw Error(fmt::format("--friction-constants is {}; expected keep, fit, grid or sweeps",
                          inQuotes(name)));
}

IdentificationResult identifyRecordings(const Model& model, const std::string& robot_file,
                                        const IdentifyOptions& options) {
  return Job(model, robot_file, options).run();
}

}  // namespace proprio
