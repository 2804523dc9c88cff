#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/excite_collisions.h"
#include "apps/verb.h"
#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/motion/constraint_peaks.h"
#include "proprio/motion/excitation_design.h"
#include "proprio/motion/sequence.h"
#include "proprio/motion/static_postures.h"
#include "proprio/motion/trajectory_file.h"
#include "proprio/report/chart.h"

namespace proprio::apps {
namespace {

constexpr double kPictureRate = 100.0;  // 1/s
constexpr double kCheckRate = 500.0;    // 1/s
// Approach and return are slowed down this often before they count as impossible.
constexpr int kSlower = 6;
// Other starts where a search settles early. Local minima differ by a factor of two; of a small arm
// the best of eight agreed within two per cent from three seeds.
constexpr int kRestarts = 7;
// Relative standard deviations that are commonly called well and not identified.
constexpr double kWell = 0.1, kBadly = 0.3;

struct ExciteOptions : RobotOptions {
  std::string basis = "fourier";
  std::optional<int> harmonics, control_points, stops;
  double seconds = 10.0;
  std::string criterion = "condition";
  bool scaled = false, weighted = false;
  std::optional<int> starts;  ///< not given: one, and others while time is left
  uint64_t seed = 1;
  double speed = 1.0, margin = 0.05, target = 0.0, time_limit = 60.0;
  int generations = 0;
  std::vector<std::string> joints, workspace, earlier, parameters;
  CollisionArguments collisions;
  std::vector<double> rest, noise;
  double rate = 100.0;
  int postures = 0;
  std::string out, picture;
};

/// What is said once about the robot, whatever the start.
struct Setup {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tree> tree;
  ExcitationOptions design;
  Eigen::VectorXd noise;  ///< per velocity coordinate
  Unwatched unwatched;
};

/// Per velocity coordinate; one number stands for all joints.
Eigen::VectorXd noiseOf(const ExciteOptions& options, const Tree& tree,
                        const std::vector<std::string>& joints) {
  Eigen::VectorXd noise = Eigen::VectorXd::Ones(tree.velocityCount());
  if (options.noise.empty()) return noise;
  if (options.noise.size() != 1 && options.noise.size() != joints.size()) {
    throw Error(fmt::format("--noise: {} numbers; expected one, or one for each of {} joints",
                            options.noise.size(), joints.size()));
  }
  for (size_t i = 0; i < joints.size(); ++i) {
    const double sigma = options.noise[options.noise.size() == 1 ? 0 : i];
    if (!(sigma > 0.0)) throw Error(fmt::format("--noise: {} is not a positive number", sigma));
    noise[tree.velocityIndex(requireJoint(tree.model(), joints[i]))] = sigma;
  }
  return noise;
}

std::vector<int> columnsOf(const ExciteOptions& options, const ParameterLayout& layout) {
  std::vector<int> columns;
  std::vector<std::string> names;
  for (int i = 0; i < layout.size(); ++i) names.push_back(layout[i].name);
  for (const std::string& name : options.parameters) {
    const int index = layout.index(name);
    if (index < 0) {
      throw Error(
          fmt::format("--parameters: there is no {}{}", inQuotes(name), didYouMean(name, names)));
    }
    columns.push_back(index);
  }
  return columns;
}

/// Which motions are chosen from, and how many unknowns they have.
void chooseBasis(const ExciteOptions& options, ExcitationOptions* design) {
  struct Choice {
    const char *name, *size;
    ExcitationBasis basis;
    const std::optional<int>& given;
    int& wanted;
  };
  const Choice choices[] = {
      {"fourier", "harmonics", ExcitationBasis::kFourier, options.harmonics, design->harmonics},
      {"b-spline", "control-points", ExcitationBasis::kBSpline, options.control_points,
       design->control_points},
      {"trapezoid", "stops", ExcitationBasis::kTrapezoid, options.stops, design->stops}};
  const auto chosen = std::ranges::find(choices, options.basis, &Choice::name);
  if (chosen == std::end(choices)) {
    throw Error(fmt::format("--basis: there is no {}{}", inQuotes(options.basis),
                            didYouMean(options.basis, {"fourier", "b-spline", "trapezoid"})));
  }
  for (const Choice& other : choices) {
    if (other.given && other.basis != chosen->basis) {
      throw Error(fmt::format("--basis {} has no {}; its size is --{}", chosen->name, other.size,
                              chosen->size));
    }
  }
  design->basis = chosen->basis;
  if (chosen->given) chosen->wanted = *chosen->given;
}

Setup setUp(const ExciteOptions& options) {
  Setup s;
  s.model = std::make_shared<const Model>(readRobot(options));
  s.tree = std::make_shared<const Tree>(s.model);
  ExcitationOptions& d = s.design;
  chooseBasis(options, &d);
  d.seconds = options.seconds;
  d.margin = options.margin;
  d.speed = options.speed;
  d.target = options.target;
  d.generations = options.generations;
  d.time_limit = options.time_limit;
  if (!options.starts) d.restarts = kRestarts;
  d.constraints.joints = options.joints.empty() ? motionJoints(*s.model) : options.joints;
  for (const std::string& text : options.workspace) {
    d.constraints.workspace.push_back(workspaceLimitOf(*s.model, text));
  }
  s.unwatched = addCollisions(options.collisions, s.tree, &d.constraints);
  s.noise = noiseOf(options, *s.tree, d.constraints.joints);
  d.criterion.criterion = criterionOf(options.criterion);
  if (options.weighted) d.criterion.row_scale = s.noise.cwiseInverse();
  const auto layout = std::make_shared<const ParameterLayout>(s.model);
  d.criterion.columns = columnsOf(options, *layout);
  for (const std::string& file : options.earlier) d.earlier.push_back(readMotion(file));
  if (options.scaled && d.criterion.columns.empty()) {
    const Parameters parameters = declaredParameters(s.model);
    const Eigen::Map<const Eigen::VectorXd> chi(
        parameters.values.data(), static_cast<Eigen::Index>(parameters.values.size()));
    const BaseParameters base = excitableParameters(heldRobot(s.tree, layout, d));
    const Eigen::VectorXd beta = splitParameters(base, chi).beta.cwiseAbs();
    // a parameter that happens to be zero counts as a hundredth of the typical size
    d.criterion.column_scale = beta.cwiseMax(0.01 * beta.mean());
  }
  return s;
}

/// A line that is rewritten, on terminals only, from the first second on.
class ProgressLine {
 public:
  void operator()(int start, int starts, const ExcitationProgress& p, double limit) {
    if (isatty(STDERR_FILENO) == 0 || p.seconds < 1.0) return;
    constexpr int kWidth = 24;
    const double part = std::isfinite(limit) && limit > 0.0 ? p.seconds / limit : 0.0;
    const int done = std::min(kWidth, static_cast<int>(kWidth * part));
    fmt::print(stderr, "\r[{:#<{}}{:.<{}}] start {}/{}  round {}  {:.0f} s  criterion {:.4g}   ",
               "", done, "", kWidth - done, start, starts, p.round, p.seconds, p.criterion);
    std::fflush(stderr);
    shown_ = true;
  }
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r{:80}\r", "");
  }

 private:
  bool shown_ = false;
};

struct Forecast {
  std::vector<std::string> names, silent;
  LearningForecast learning;
};

Forecast forecastOf(const Setup& setup, const ExcitationDesign& design, double rate) {
  const Parameters parameters = declaredParameters(setup.model);
  CriterionOptions plain;
  plain.columns = design.base.independent;
  plain.row_scale = setup.noise.cwiseInverse();
  if (setup.tree->floating()) plain.row_scale.head(6).setOnes();
  const int samples = design.samples;
  const double seconds = design.motion->duration();
  if (!setup.design.earlier.empty()) {
    HeldRobot held = heldRobot(setup.tree, parameters.layout, setup.design);
    held.row_scale = plain.row_scale;
    plain.earlier = std::sqrt(samples / seconds) * earlierFactor(held, plain.columns);
  }
  ExcitationCriterion excitation(setup.tree, parameters.layout, plain);
  const MotionConstraints all(setup.tree, parameters, setup.design.constraints);
  const GridSamples s = onGrid(*design.motion, samples);
  excitation.value(all.fullPositions(s.q), all.fullVelocities(s.v), all.fullVelocities(s.a));
  const double measured = seconds * rate;
  Forecast forecast;
  forecast.learning = forecastLearning(design.base, parameters, excitation.gram(),
                                       measured / static_cast<double>(samples));
  const auto labels = shortLabels(*setup.tree, *design.base.layout);
  const std::vector<std::string> texts = labels ? *labels : fullLabels(*design.base.layout);
  for (int i = 0; i < design.base.count(); ++i) {
    forecast.names.push_back(groupingText(design.base, i, texts));
  }
  for (const int i : design.silent) forecast.silent.push_back(texts[static_cast<size_t>(i)]);
  return forecast;
}

const char* verdict(double relative) {
  return relative <= kWell ? "well" : relative <= kBadly ? "roughly" : "not";
}

std::string reportText(const ExciteOptions& options, const Setup& setup,
                       const ExcitationDesign& design, const Forecast& forecast, bool colour) {
  std::string text = fmt::format(
      "{}\n  criterion '{}': {} at the start, {} now; condition number {}\n  {} start{}, {} "
      "rounds, {} iterations, {:.1f} s: {}\n\n",
      inked("Exciting motion", Ink::kBold, colour), options.criterion,
      readable(design.start_criterion), readable(design.criterion), readable(design.condition),
      design.starts, design.starts == 1 ? "" : "s (the best is kept)", design.rounds,
      design.iterations, design.elapsed, design.note);
  TextTable active;
  active.header = {"active constraint", "of its limit", "at"};
  active.right = {false, true, true};
  for (const ActiveConstraint& a : design.active) {
    active.rows.push_back(
        {a.name, fmt::format("{:.1f} %", 100.0 * a.usage), fmt::format("{:.2f} s", a.time)});
  }
  text += active.rows.empty() ? "  no constraint is active\n" : active.text(colour);
  text += unwatchedText(options.collisions, setup.unwatched);
  TextTable table;
  table.header = {"base parameter", "value", "sigma", "relative", "will be learnt"};
  table.right = {false, true, true, true, false};
  int counts[3] = {0, 0, 0};
  for (size_t i = 0; i < forecast.names.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double relative = forecast.learning.relative[k];
    ++counts[relative <= kWell ? 0 : relative <= kBadly ? 1 : 2];
    table.rows.push_back({wrapped(forecast.names[i], 1000, 0).substr(0, 60),
                          readable(forecast.learning.value[k]),
                          readable(forecast.learning.sigma[k], 2),
                          std::isfinite(relative) ? fmt::format("{:.2g} %", 100.0 * relative) : "-",
                          verdict(relative)});
  }
  text += fmt::format("\n{}\n", table.text(colour));
  text += fmt::format(
      "  with torque noise of {} and {} samples per second: {} parameters well (below {:.0f} %), "
      "{} roughly, {} not\n  (a parameter whose value is near zero cannot have a small relative "
      "error)\n",
      options.noise.empty() ? "1 N m" : "the given size", readable(options.rate), counts[0],
      100.0 * kWell, counts[1], counts[2]);
  if (!setup.design.earlier.empty()) {
    text += fmt::format("  together with {} earlier motion{} recorded at the same rate\n",
                        setup.design.earlier.size(), setup.design.earlier.size() == 1 ? "" : "s");
  }
  if (!forecast.silent.empty()) {
    text += "  " +
            wrapped(fmt::format("cannot be learnt while {} held, at any speed: {}",
                                setup.tree->floating() ? "the base and other joints are"
                                                       : "the other joints are",
                                fmt::join(forecast.silent, ", ")),
                    98, 4) +
            "\n";
  }
  return text;
}

nlohmann::json reportJson(const ExciteOptions& options, const Setup& setup,
                          const ExcitationDesign& design, const Forecast& forecast, uint64_t seed) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr);
  };
  nlohmann::json json = {{"criterion", options.criterion},
                         {"feasible", design.feasible},
                         {"seed", seed},
                         {"note", design.note},
                         {"before", number(design.start_criterion)},
                         {"after", number(design.criterion)},
                         {"condition", number(design.condition)},
                         {"iterations", design.iterations},
                         {"seconds", design.elapsed},
                         {"collisions_left_out", setup.unwatched.pairs},
                         {"links_without_shapes", setup.unwatched.links},
                         {"silent", forecast.silent},
                         {"active", nlohmann::json::array()},
                         {"parameters", nlohmann::json::array()}};
  for (const ActiveConstraint& a : design.active) {
    json["active"].push_back({{"name", a.name}, {"usage", a.usage}, {"time", a.time}});
  }
  for (size_t i = 0; i < forecast.names.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    json["parameters"].push_back({{"name", forecast.names[i]},
                                  {"value", forecast.learning.value[k]},
                                  {"sigma", number(forecast.learning.sigma[k])},
                                  {"relative", number(forecast.learning.relative[k])},
                                  {"learnt", verdict(forecast.learning.relative[k])}});
  }
  return json;
}

void writePictureOf(const std::string& path, const Model& model, const JointMotion& motion,
                    const MotionLimits& limits) {
  const MotionSamples s = sample(motion, kPictureRate);
  Figure figure;
  figure.title = "Exciting motion";
  figure.x = {"time", "s"};
  figure.columns = 2;
  for (size_t j = 0; j < motion.joints.size(); ++j) {
    const auto k = static_cast<Eigen::Index>(j);
    const Joint& joint = model.joints[static_cast<size_t>(requireJoint(model, motion.joints[j]))];
    const std::string unit = joint.type == JointType::kPrismatic ? "m" : "rad";
    for (const bool velocity : {false, true}) {
      Panel panel;
      panel.title = motion.joints[j];
      panel.y = velocity ? Axis{"velocity", unit + "/s"} : Axis{"position", unit};
      panel.series = {line("", s.time, velocity ? s.v.col(k) : s.q.col(k))};
      const double low = velocity ? -limits.velocity[k] : limits.lower[k];
      const double high = velocity ? limits.velocity[k] : limits.upper[k];
      for (const double at : {low, high}) {
        if (std::isfinite(at)) panel.markers.push_back({at, "", true});
      }
      figure.panels.push_back(panel);
    }
  }
  writePicture({figure}, path);
}

/// The name of the constraint that a motion breaks most, or nothing.
std::string brokenBy(const Setup& setup, const JointMotion& motion) {
  const MotionConstraints all(setup.tree, declaredParameters(setup.model),
                              setup.design.constraints);
  const int samples = std::max(1, static_cast<int>(kCheckRate * motion.trajectory->duration()));
  const std::vector<ConstraintPeak> peaks = constraintPeaks(all, *motion.trajectory, samples, 1.0);
  const auto most = std::max_element(
      peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.usage < b.usage; });
  return most == peaks.end() ? "" : all.list()[static_cast<size_t>(most->constraint)].name;
}

/// One position per joint, within its limits.
void requireRest(const ExciteOptions& options, const Setup& setup) {
  const std::vector<std::string>& joints = setup.design.constraints.joints;
  if (options.rest.empty()) return;
  if (options.rest.size() != joints.size()) {
    throw Error(
        fmt::format("--rest: {} positions for {} joints", options.rest.size(), joints.size()));
  }
  const MotionLimits limits = limitsOf(*setup.model, joints);
  for (size_t j = 0; j < joints.size(); ++j) {
    const auto k = static_cast<Eigen::Index>(j);
    const double q = options.rest[j];
    // limits that are not stated compare as false
    if (!(q < limits.lower[k] - kLimitTolerance) && !(q > limits.upper[k] + kLimitTolerance)) {
      continue;
    }
    throw Error(fmt::format(
        "--rest: joint {} would rest at {}, outside its limits {} .. {}; give a "
        "posture inside them",
        inQuotes(joints[j]), readable(q), readable(limits.lower[k]), readable(limits.upper[k])));
  }
}

/// What is written: the design, and the ways to it and back where a rest posture is given.
struct WholeMotion {
  JointMotion motion;
  double approach = 0.0;  ///< s until the design begins
  std::string broken;     ///< the constraint that the ways break at any speed, if one
};

/// Approach and return are slowed down until they keep what the motion itself keeps.
WholeMotion wholeMotion(const ExciteOptions& options, const Setup& setup,
                        const ExcitationDesign& design) {
  if (options.rest.empty()) return {{design.joints, design.motion}, 0.0, ""};
  MotionLimits limits = withMargin(limitsOf(*setup.model, design.joints), 1.0 - options.margin);
  // where no acceleration is stated, none larger than the motion itself has
  const Eigen::VectorXd usual = extremes(*design.motion).acceleration;
  for (Eigen::Index j = 0; j < usual.size(); ++j) {
    if (!std::isfinite(limits.acceleration[j])) limits.acceleration[j] = std::max(usual[j], 0.1);
  }
  const Eigen::Map<const Eigen::VectorXd> posture(options.rest.data(),
                                                  static_cast<Eigen::Index>(options.rest.size()));
  WholeMotion whole;
  double speed = 0.5 * options.speed;
  for (int k = 0; k < kSlower; ++k, speed *= 0.7) {
    MotionLimits slower = limits;
    slower.velocity *= speed;
    slower.acceleration *= speed * speed;
    const auto sequence = std::make_shared<const Sequence>(
        withApproachAndReturn(design.motion, posture, slower, Profile::kMinimumJerk));
    whole = {{design.joints, sequence}, sequence->starts[1], ""};
    whole.broken = brokenBy(setup, whole.motion);
    if (whole.broken.empty()) break;
  }
  return whole;
}

int runPostures(const ExciteOptions& options, const Setup& setup) {
  const Parameters parameters = declaredParameters(setup.model);
  const MotionConstraints constraints(setup.tree, parameters, setup.design.constraints);
  const Eigen::MatrixXd candidates =
      candidatePostures(constraints, std::max(200, 4 * options.postures), options.seed);
  if (candidates.rows() < options.postures) {
    print(fmt::format("only {} postures were found that keep the limits; {} are wanted\n{}",
                      candidates.rows(), options.postures,
                      unwatchedText(options.collisions, setup.unwatched)));
    return 1;
  }
  const StaticPostures set =
      chooseStaticPostures(setup.tree, parameters.layout, candidates, options.postures);
  MotionLimits limits =
      withMargin(limitsOf(*setup.model, setup.design.constraints.joints), 1.0 - options.margin);
  Eigen::MatrixXd points(set.q.rows(), static_cast<Eigen::Index>(limits.joints.size()));
  for (size_t j = 0; j < limits.joints.size(); ++j) {
    points.col(static_cast<Eigen::Index>(j)) =
        set.q.col(setup.tree->positionIndex(requireJoint(*setup.model, limits.joints[j])));
  }
  std::string told = unwatchedText(options.collisions, setup.unwatched);
  if (!options.out.empty()) {
    // where no acceleration is stated, full speed is reached within a second
    for (Eigen::Index j = 0; j < limits.acceleration.size(); ++j) {
      if (!std::isfinite(limits.acceleration[j])) limits.acceleration[j] = limits.velocity[j];
    }
    const JointMotion motion = {limits.joints,
                                std::make_shared<const PiecewisePolynomial>(
                                    alongPoints(points, limits, Profile::kMinimumJerk, 1.0))};
    const std::string broken = brokenBy(setup, motion);
    if (!broken.empty()) {
      told +=
          fmt::format("  the straight ways between the postures break '{}'; plan others\n", broken);
    }
    writeMotion(options.out, motion, options.rate);
    if (!options.picture.empty()) writePictureOf(options.picture, *setup.model, motion, limits);
  }
  nlohmann::json json = {{"condition", std::isfinite(set.condition) ? nlohmann::json(set.condition)
                                                                    : nlohmann::json(nullptr)},
                         {"collisions_left_out", setup.unwatched.pairs},
                         {"links_without_shapes", setup.unwatched.links},
                         {"joints", limits.joints}};
  json["postures"] = nlohmann::json::array();
  TextTable table;
  table.header = limits.joints;
  table.right.assign(limits.joints.size(), true);
  for (Eigen::Index m = 0; m < points.rows(); ++m) {
    std::vector<std::string> row;
    std::vector<double> numbers;
    for (Eigen::Index j = 0; j < points.cols(); ++j) {
      row.push_back(readable(points(m, j)));
      numbers.push_back(points(m, j));
    }
    table.rows.push_back(row);
    json["postures"].push_back(numbers);
  }
  writeJson(options, json.dump(2) + "\n");
  print(fmt::format("{} postures at rest tell {} parameters; condition number {}\n{}{}",
                    points.rows(), set.columns.size(), readable(set.condition), told,
                    table.text(colourWanted())));
  return 0;
}

int runExcite(const ExciteOptions& options) {
  if (!options.picture.empty()) requirePicturePath(options.picture);
  const int starts = options.starts.value_or(1);
  if (starts < 1) throw Error("--starts: expected at least 1");
  if (!(options.rate > 0.0)) throw Error("--rate: expected a positive number");
  if (!(options.time_limit > 0.0)) {
    throw Error(
        fmt::format("--time-limit {}: expected a positive number of seconds; leave it out "
                    "for 60 s",
                    readable(options.time_limit)));
  }
  Setup setup = setUp(options);
  requireRest(options, setup);
  if (options.postures > 0) return runPostures(options, setup);
  ExcitationDesign best;
  uint64_t best_seed = options.seed;
  {
    ProgressLine line;
    for (int k = 0; k < starts; ++k) {
      setup.design.seed = options.seed + static_cast<uint64_t>(k);
      setup.design.progress = [&](const ExcitationProgress& p) {
        line(k + 1, starts, p, options.time_limit);
      };
      ExcitationDesign design = designExcitation(setup.model, setup.design);
      if (!best.feasible || (design.feasible && design.criterion < best.criterion)) {
        best = std::move(design);
        best_seed = setup.design.seed;
      }
      if (best.feasible && options.target > 0.0 && best.criterion <= options.target) break;
    }
  }
  if (!best.feasible) {
    writeJson(options, reportJson(options, setup, best, {}, best_seed).dump(2) + "\n");
    print(fmt::format("no motion: {}\n{}", best.note,
                      unwatchedText(options.collisions, setup.unwatched)));
    return 1;
  }
  if (std::isinf(best.criterion) && best.criterion > 0.0) {
    writeJson(options, reportJson(options, setup, best, {}, best_seed).dump(2) + "\n");
    print(
        fmt::format("no motion: the criterion '{}' stays infinite, because no motion of these "
                    "joints tells the {} parameters apart; ask for fewer --parameters or let more "
                    "--joints move\n",
                    options.criterion, best.columns.size()));
    return 1;
  }
  const MotionLimits limits = limitsOf(*setup.model, best.joints);
  const WholeMotion whole = wholeMotion(options, setup, best);
  const JointMotion& motion = whole.motion;
  if (!whole.broken.empty()) {
    print(
        fmt::format("no motion: the way from and to the rest posture breaks '{}' at any speed; "
                    "choose another --rest\n",
                    whole.broken));
    return 1;
  }
  // from here on times are those of what is written
  for (ActiveConstraint& active : best.active) active.time += whole.approach;
  const Forecast forecast = forecastOf(setup, best, options.rate);
  if (!options.out.empty()) writeMotion(options.out, motion, options.rate);
  if (!options.picture.empty()) writePictureOf(options.picture, *setup.model, motion, limits);
  writeJson(options, reportJson(options, setup, best, forecast, best_seed).dump(2) + "\n");
  print(reportText(options, setup, best, forecast, colourWanted()));
  if (options.target > 0.0 && best.criterion > options.target) {
    print(
        fmt::format("  the target of {} is not reached; try more --starts, more --seconds or "
                    "a smaller --margin\n",
                    readable(options.target)));
    return 1;
  }
  return 0;
}

}  // namespace

Run addExcite(CLI::App& verb) {
  const auto options = std::make_shared<ExciteOptions>();
  ExciteOptions& o = *options;
  addRobotOptions(verb, o);
  verb.add_option("--basis", o.basis,
                  "of the motion: fourier (series), b-spline (degree 5) or trapezoid (of velocity)")
      ->capture_default_str();
  verb.add_option("--harmonics", o.harmonics, "of the Fourier series [20]");
  verb.add_option("--control-points", o.control_points,
                  "of the B-spline, three at rest at either end included [44]");
  verb.add_option("--stops", o.stops, "of the trapezoids: postures at which all joints stop [20]");
  verb.add_option("--seconds", o.seconds, "length of the motion")->capture_default_str();
  verb.add_option("--criterion", o.criterion,
                  "to be minimised: condition, condition_and_sigma, published, trace, d, a, e")
      ->capture_default_str();
  verb.add_flag("--scaled", o.scaled, "columns times the size of their parameters in the model");
  verb.add_flag("--weighted", o.weighted, "rows divided by --noise");
  verb.add_option(
          "--parameters", o.parameters,
          "only these parameters (full names, independent of each other); default: all base "
          "parameters")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--joints", o.joints, "only these joints move")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--starts", o.starts,
                  "random starts with --time-limit each, of which the best is kept; default: one, "
                  "and up to 7 others in the time that it leaves");
  verb.add_option("--seed", o.seed, "of the first start")->capture_default_str();
  verb.add_option("--target", o.target,
                  "stop when the criterion is not above this; 1 if it is not");
  verb.add_option("--time-limit", o.time_limit, "seconds per start")->capture_default_str();
  verb.add_option("--generations", o.generations,
                  "of the evolution strategy before the gradient method (0: for bad starts only)")
      ->capture_default_str();
  verb.add_option("--margin", o.margin, "part of every joint limit left free")
      ->capture_default_str();
  verb.add_option("--speed", o.speed,
                  "part of the velocity limits; its square of the accelerations")
      ->capture_default_str();
  verb.add_option("--rest", o.rest, "posture to come from and return to, one position per joint")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--workspace", o.workspace,
                  "a frame stays on one side: \"flange z > 0.3\", \"flange 1 0 1 > 0.3\" (x + z)");
  addCollisionOptions(verb, o.collisions);
  verb.add_option("--noise", o.noise,
                  "standard deviation of the torques, one or one per joint, N m")
      ->delimiter(',')
      ->type_name("LIST");
  verb.add_option("--rate", o.rate, "samples per second of the recording, and of CSV and YAML")
      ->capture_default_str();
  verb.add_option("--earlier", o.earlier, "motions already recorded: learn what they left open")
      ->type_name("FILE");
  verb.add_option("--postures", o.postures,
                  "instead of a motion: so many postures to rest in (humanoids)");
  verb.add_option("--out", o.out, "the motion as .json, .csv or .yaml (ROS JointTrajectory)")
      ->type_name("FILE");
  verb.add_option("--picture", o.picture, "positions and velocities as .png, .svg or .html")
      ->type_name("FILE");
  return [options] { return runExcite(*options); };
}

}  // namespace proprio::apps
