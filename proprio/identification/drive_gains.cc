#include "proprio/identification/drive_gains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "proprio/core/text.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/identification/usual_terms.h"
#include "proprio/numerics/autoregression.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr const char* kPayloadName = "known_payload";

double squared(double value) { return value * value; }

/// Base parameters of the robot as places in a layout that has the payload besides.
std::vector<int> baseColumns(const Model& model, const ParameterLayout& with_payload) {
  const auto shared = std::make_shared<const Model>(model);
  const Tree tree(shared);
  const auto layout = std::make_shared<const ParameterLayout>(shared);
  const BaseParameters base = structuralAnalysisObstacle(tree).empty()
                                  ? structuralBaseParameters(tree, layout)
                                  : sampledBaseParameters(tree, layout);
  std::vector<int> columns;
  for (const int p : base.independent) columns.push_back(with_payload.index((*layout)[p].name));
  return columns;
}

/// The rows of one coordinate in all blocks: [own, unknown payload, known torque, signal].
SignalRows signalRows(const GainProblem& problem, const StackedProblem& stacked, size_t j,
                      size_t unknowns) {
  const std::vector<int>& touched = stacked.touch[j];
  SignalRows signal;
  std::vector<Eigen::Index> places;  // in the factors
  for (size_t c = 0; c < touched.size(); ++c) {
    if (static_cast<size_t>(touched[c]) >= unknowns) continue;
    signal.columns.push_back(touched[c]);
    places.push_back(static_cast<Eigen::Index>(c));
  }
  const auto columns = static_cast<Eigen::Index>(places.size());
  const int payload = static_cast<int>(problem.tree->model().links.size()) - 1;
  std::vector<Eigen::MatrixXd> parts;
  Eigen::Index all = 0;
  for (const StackedBlock& block : stacked.blocks) {
    if (block.rows[j] == 0) continue;
    const auto recording = static_cast<size_t>(block.recording);
    const Eigen::MatrixXd R = block.factor[j].triangularView<Eigen::Upper>();
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(R.rows(), columns + 2);
    for (size_t c = 0; c < touched.size(); ++c) {
      const int parameter = stacked.columns[static_cast<size_t>(touched[c])];
      const ParameterInfo& info = (*problem.layout)[parameter];
      if (info.link == payload && !problem.loaded[recording]) continue;
      const Eigen::VectorXd column = R.col(static_cast<Eigen::Index>(c));
      if (static_cast<size_t>(touched[c]) >= unknowns) {
        rows.col(columns) += problem.known[parameter] * column;
      } else {
        const auto place = std::find(places.begin(), places.end(), static_cast<Eigen::Index>(c));
        rows.col(place - places.begin()) = column;
      }
    }
    rows.col(columns + 1) = R.col(R.cols() - 1);
    rows *= stacked.weights(block.recording, static_cast<Eigen::Index>(j));
    parts.push_back(std::move(rows));
    all += parts.back().rows();
    signal.equations += block.rows[j];
  }
  Eigen::MatrixXd stack_of_rows(all, columns + 2);
  Eigen::Index at = 0;
  for (const Eigen::MatrixXd& part : parts) {
    stack_of_rows.middleRows(at, part.rows()) = part;
    at += part.rows();
  }
  signal.rows = triangularFactor(stack_of_rows);
  return signal;
}

/// The form at every sample of a recording: row = sample, column = coordinate.
Eigen::MatrixXd seriesOf(const GainProblem& problem, size_t recording, const LinearForm& form) {
  const MotionData& data = problem.data[recording];
  Eigen::VectorXd chi = form.known * problem.known;
  for (size_t c = 0; c < problem.unknowns.size(); ++c)
    chi[problem.unknowns[c]] += form.unknowns[static_cast<Eigen::Index>(c)];
  if (!problem.loaded[recording]) {
    const int payload = static_cast<int>(problem.tree->model().links.size()) - 1;
    chi.segment<10>(problem.layout->linkOffset(payload)).setZero();
  }
  return predictTorques(*problem.tree, *problem.layout, chi, data);
}

/// Sum of squares of the series behind the filter 1 / A(z) of the model, whose innovations are
/// white: with the variance of the residuals, the variance of sum h_t e_t.
double filteredSquare(const Autoregression& model, const Eigen::VectorXd& series,
                      const Counts& counts) {
  const Eigen::Index p = model.order(), samples = series.size();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(samples + 8 * p);
  double sum = 0.0;
  for (Eigen::Index t = 0; t < out.size(); ++t) {
    double value = t < samples && counts[t] ? series[t] : 0.0;
    for (Eigen::Index lag = 1; lag <= std::min(p, t); ++lag)
      value += model.coefficients[lag - 1] * out[t - lag];
    out[t] = value;
    sum += value * value;
  }
  return model.innovation_share * sum;
}

/// Standard deviations of the gains, with the memory that the residuals have.
Eigen::VectorXd deviationsWithMemory(const GainProblem& problem, const GainSolution& solution) {
  const auto n = static_cast<Eigen::Index>(problem.signals.size());
  Eigen::VectorXd variances = Eigen::VectorXd::Zero(n);
  for (size_t r = 0; r < problem.data.size(); ++r) {
    const MotionData& data = problem.data[r];
    std::vector<Autoregression> models;
    Eigen::MatrixXd fitted(data.samples(), n);
    for (Eigen::Index j = 0; j < n; ++j) {
      fitted.col(j) = seriesOf(problem, r, solution.fitted[static_cast<size_t>(j)]).col(j);
      models.push_back(fitAutoregression(data.tau.col(j) - fitted.col(j), data.use.col(j)));
      // parameters explain a part of the noise
      models.back().variance =
          std::max(models.back().variance, squared(solution.noise[j] / data.rowWeight(j)));
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      if (!std::isfinite(solution.gains[i])) continue;
      const Eigen::MatrixXd influence =
          seriesOf(problem, r, solution.influences[static_cast<size_t>(i)]);
      for (Eigen::Index j = 0; j < n; ++j) {
        if (solution.reach(i, j) == 0.0) continue;
        const Autoregression& model = models[static_cast<size_t>(j)];
        const Eigen::VectorXd series =
            solution.reach(i, j) * influence.col(j) + solution.echo(i, j) * fitted.col(j);
        variances[i] += squared(squared(data.rowWeight(j))) * model.variance *
                        filteredSquare(model, series, data.use.col(j));
      }
    }
  }
  return variances.cwiseSqrt();
}

std::vector<DriveGain> listOf(const GainProblem& problem, const GainSolution& solution,
                              const Eigen::VectorXd& deviations) {
  std::vector<DriveGain> gains;
  const Model& model = problem.tree->model();
  for (size_t joint = 0; joint < model.joints.size(); ++joint) {
    const int i = problem.tree->velocityIndex(static_cast<int>(joint));
    if (i < 0 || model.joints[joint].mimic || velocityCount(model.joints[joint].type) != 1)
      continue;
    const SignalRows& signal = problem.signals[static_cast<size_t>(i)];
    DriveGain gain;
    gain.joint = model.joints[joint].name;
    gain.gain = solution.gains[i];
    if (std::isfinite(gain.gain)) gain.deviation = deviations[i];
    gain.noise = solution.noise[i];
    gain.rows = signal.equations;
    double loaded_rows = 0.0;
    for (size_t r = 0; r < problem.data.size(); ++r) {
      if (problem.loaded[r]) loaded_rows += static_cast<double>(problem.data[r].use.col(i).count());
    }
    gain.payload_torque =
        signal.rows.col(signal.rows.cols() - 2).norm() / std::sqrt(std::max(loaded_rows, 1.0));
    gains.push_back(std::move(gain));
  }
  return gains;
}

bool revealed(const GainSolution& solution, const Eigen::VectorXd& deviations, Eigen::Index j) {
  return deviations[j] <= kRevealedGain * std::abs(solution.gains[j]);
}

/// The gain with which the signal is most like the torque of these parameters; not a number if
/// there is none.
double gainGuess(const SignalRows& signal, const Eigen::VectorXd& unknowns) {
  const auto columns = static_cast<Eigen::Index>(signal.columns.size());
  const Eigen::VectorXd torque =
      signal.rows.leftCols(columns) * unknowns(signal.columns) + signal.rows.col(columns);
  const auto s = signal.rows.col(columns + 1);
  const double gain = torque.dot(s) / s.squaredNorm();
  return gain != 0.0 ? gain : NAN;
}

/// Currents in the place of torques; what is left of measured torques is none.
void currentsAsTorques(Recording* recording) {
  for (size_t c = 0; c < recording->channels.size(); ++c) {
    const Channel& channel = recording->channels[c];
    if (channel.quantity != Quantity::kTorque || channel.role != Role::kMeasured) continue;
    const int current = recording->column(Quantity::kCurrent, Role::kMeasured, channel.of);
    if (current >= 0)
      recording->values.col(static_cast<Eigen::Index>(c)) = recording->values.col(current);
    else
      recording->values.col(static_cast<Eigen::Index>(c)).setZero();
  }
}

/// Gains of one: currents are taken as they are.
Model withUnitGains(Model model) {
  for (Joint& joint : model.joints) {
    joint.drive.gain = 1.0;
    joint.drive.gain_declared = true;
  }
  return model;
}

Recording readCurrents(const Model& model, const std::string& path) {
  Recording recording = readMeasurements(model, path, {});
  const bool any =
      std::any_of(recording.channels.begin(), recording.channels.end(), [](const Channel& channel) {
        return channel.quantity == Quantity::kCurrent && channel.role == Role::kMeasured;
      });
  if (!any)
    throw Error(fmt::format(
        "{}: there is no current of any joint; gains turn currents into torques, so name the "
        "channels that hold them ('quantity: current' in robot.yaml, or columns i_JOINT)",
        path));
  currentsAsTorques(&recording);
  return recording;
}

}  // namespace

GainProblem gainProblem(const Model& model, const KnownPayload& payload,
                        std::vector<MotionData> free, std::vector<MotionData> loaded) {
  if (free.empty() || loaded.empty())
    throw Error(
        fmt::format("gains need recordings without and with the payload; there are {} and {}",
                    free.size(), loaded.size()));
  if (!(payload.body.mass > 0.0) || !payload.body.vector().allFinite())
    throw Error(fmt::format("the payload has a mass of {} kg; expected a positive number",
                            payload.body.mass));
  GainProblem problem;
  const Vector3d com = payload.body.com();
  Pose at_com = payload.X_LP;
  at_com.p += payload.X_LP.R * com;
  const Matrix3d inertia =
      payload.inertia_known ? payload.body.inertiaAtCom() : Matrix3d(Matrix3d::Zero());
  const InertialParameters body =
      InertialParameters::fromCom(payload.body.mass, Vector3d::Zero(), inertia);
  problem.tree = std::make_shared<const Tree>(std::make_shared<const Model>(
      attachPayload(model, kPayloadName, payload.link, at_com, body)));
  problem.layout = std::make_shared<const ParameterLayout>(problem.tree->sharedModel());
  problem.loaded.assign(free.size(), false);
  problem.loaded.resize(free.size() + loaded.size(), true);
  problem.data = std::move(free);
  for (MotionData& motion : loaded) problem.data.push_back(std::move(motion));

  problem.unknowns = baseColumns(model, *problem.layout);
  const int first = problem.layout->linkOffset(static_cast<int>(model.links.size()));
  std::vector<int> known = {first};  // mass; first moments are zero at the centre
  for (int p = first + 4; p < first + 10; ++p)
    (payload.inertia_known ? known : problem.unknowns).push_back(p);
  problem.known = Eigen::VectorXd::Zero(problem.layout->size());
  problem.known.segment<10>(first) = body.vector();
  std::vector<int> columns = problem.unknowns;
  columns.insert(columns.end(), known.begin(), known.end());
  const StackedProblem stacked = stack(*problem.tree, problem.layout, columns, problem.data);
  for (size_t j = 0; j < stacked.touch.size(); ++j)
    problem.signals.push_back(signalRows(problem, stacked, j, problem.unknowns.size()));
  return problem;
}

DriveGains driveGains(const GainProblem& problem) {
  const auto unknowns = static_cast<int>(problem.unknowns.size());
  DriveGains result;
  GainSolution first = separateGains(problem.signals, unknowns);
  const Eigen::VectorXd alone = deviationsWithMemory(problem, first);
  result.separate = listOf(problem, first, alone);
  for (Eigen::Index j = 0; j < first.gains.size(); ++j) {
    if (!revealed(first, alone, j)) first.gains[j] = NAN;
  }
  GainSolution together = jointGains(problem.signals, unknowns, first);
  Eigen::VectorXd deviations = deviationsWithMemory(problem, together);
  // the others may reveal joints that are not revealed by themselves: one by one, since a gain
  // that nothing decides would spoil all
  for (Eigen::Index j = 0; j < first.gains.size() && together.solved; ++j) {
    if (std::isfinite(first.gains[j]) || !std::isfinite(first.noise[j])) continue;
    GainSolution with = first, trial;
    with.gains[j] = gainGuess(problem.signals[static_cast<size_t>(j)], together.unknowns);
    for (int round = 0; round < 2 && std::isfinite(with.gains[j]); ++round) {
      trial = jointGains(problem.signals, unknowns, with);
      with.gains[j] = trial.gains[j];
    }
    if (!trial.solved) continue;
    const Eigen::VectorXd spread = deviationsWithMemory(problem, trial);
    bool all = true;
    for (Eigen::Index i = 0; i < with.gains.size(); ++i)
      all = all && (!std::isfinite(with.gains[i]) || revealed(trial, spread, i));
    if (!all) continue;
    first = std::move(with);
    together = std::move(trial);
    deviations = spread;
  }
  result.solved = together.solved;
  result.together = listOf(problem, together, deviations);
  return result;
}

GainResult identifyDriveGains(const Model& model, const KnownPayload& payload,
                              const GainOptions& options) {
  GainResult result;
  const Model unit = withUnitGains(model);
  std::vector<Recording> recordings;
  std::vector<std::string> paths = options.logs;
  paths.insert(paths.end(), options.loaded.begin(), options.loaded.end());
  for (const std::string& path : paths) recordings.push_back(readCurrents(unit, path));
  Model recorded = withRecordedJoints(unit, recordings, &result.told);
  if (!options.as_declared) recorded = withUsualTerms(recorded, &result.told);
  const Tree tree(std::make_shared<const Model>(recorded));
  std::vector<MotionData> motions[2];
  for (size_t i = 0; i < recordings.size(); ++i) {
    RecordingInfo info;
    for (MotionData& motion :
         motionsOf(tree, std::move(recordings[i]), paths[i], options.signals, {}, &info))
      motions[i < options.logs.size() ? 0 : 1].push_back(std::move(motion));
    for (const std::string& step : info.steps) {
      const bool usual = step.find("cut-off") != std::string::npos ||
                         step.find("moves faster") != std::string::npos;
      const bool telling =
          step.find('\'') != std::string::npos || step.find("spike") != std::string::npos;
      if (telling && !usual) result.told.push_back(fmt::format("{}: {}", paths[i], step));
    }
  }
  result.gains =
      driveGains(gainProblem(recorded, payload, std::move(motions[0]), std::move(motions[1])));
  return result;
}

}  // namespace proprio
