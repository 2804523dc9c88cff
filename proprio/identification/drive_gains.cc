#include "proprio/identification/drive_gains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "proprio/core/text.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/structural_identifiability.h"
#include "proprio/identification/least_squares.h"
#include "proprio/identification/usual_terms.h"
#include "proprio/numerics/autoregression.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr const char* kPayloadName = "known_payload";
/// Singular values below this part of the largest are zero.
constexpr double kRankTolerance = 1e-10;
/// A direction that no row sees has a share of the gain larger than this, or rounding.
constexpr double kSilentShare = 1e-6;
/// The known torque has to have this part in the null vector.
constexpr double kKnownShare = 1e-12;

double squareOf(double value) { return value * value; }

/// Triangular, with as many rows as columns (zeros below where there were fewer).
Eigen::MatrixXd squareFactor(const Eigen::MatrixXd& rows) {
  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  const Eigen::MatrixXd R = triangularFactor(rows);
  factor.topRows(R.rows()) = R;
  return factor;
}

LinearForm zeroForm(int unknowns, size_t signals) {
  return {Eigen::VectorXd::Zero(unknowns), 0.0,
          Eigen::VectorXd::Zero(static_cast<Eigen::Index>(signals))};
}

GainSolution emptySolution(size_t signals, int unknowns) {
  GainSolution solution;
  const auto n = static_cast<Eigen::Index>(signals);
  solution.gains = solution.deviations = solution.noise = Eigen::VectorXd::Constant(n, NAN);
  solution.residuals.assign(signals, zeroForm(unknowns, signals));
  solution.influences = solution.residuals;
  solution.reach = Eigen::MatrixXd::Zero(n, n);
  return solution;
}

/// s_j on [columns, known]: the last coefficient is 1 / gain.
void separateGain(const SignalRows& signal, Eigen::Index j, GainSolution* all) {
  const auto columns = static_cast<Eigen::Index>(signal.columns.size());
  const Eigen::MatrixXd R = squareFactor(signal.rows);
  const Eigen::MatrixXd A = R.leftCols(columns + 1);
  const Eigen::VectorXd s = R.col(columns + 1);
  if (signal.equations == 0 || s.isZero(0.0)) return;
  const RankedSolution fit = solveRanked(A, s, Eigen::VectorXd::Zero(columns + 1), kRankTolerance);
  const Eigen::Index rank = columns + 1 - fit.silent.cols();
  const Eigen::Index rest = signal.equations - rank;
  if (rest <= 0) return;
  const double variance =
      std::max((s - A * fit.x).squaredNorm() / static_cast<double>(rest),
               squareOf(1e-12 * s.norm()) / static_cast<double>(signal.equations));
  all->noise[j] = std::sqrt(variance);
  LinearForm& residual = all->residuals[static_cast<size_t>(j)];
  for (size_t c = 0; c < signal.columns.size(); ++c)
    residual.unknowns[signal.columns[c]] = -fit.x[static_cast<Eigen::Index>(c)];
  residual.known = -fit.x[columns];
  residual.signals[j] = 1.0;
  const bool silent =
      A.col(columns).isZero(0.0) ||
      (fit.silent.cols() > 0 &&
       fit.directions.rightCols(fit.silent.cols()).row(columns).cwiseAbs().maxCoeff() >
           kSilentShare);
  const double inverse = fit.x[columns];
  if (silent || inverse == 0.0) return;
  all->gains[j] = 1.0 / inverse;
  all->deviations[j] = std::sqrt(variance * fit.covariance(columns, columns)) / squareOf(inverse);
  // d gain = -gain^2 d(1 / gain)
  const double slope = -1.0 / squareOf(inverse);
  LinearForm& influence = all->influences[static_cast<size_t>(j)];
  for (size_t c = 0; c < signal.columns.size(); ++c)
    influence.unknowns[signal.columns[c]] =
        slope * fit.covariance(static_cast<Eigen::Index>(c), columns);
  influence.known = slope * fit.covariance(columns, columns);
  all->reach(j, j) = 1.0;
  all->solved = true;
}

/// All signals that have a gain, rows weighted to unit noise: A x + k + D c = 0 with
/// c_j = -gain_j / first_j sqrt(rows_j), so that every column of D has noise of norm one.
struct SharedSystem {
  std::vector<Eigen::Index> taking_part;
  Eigen::MatrixXd A, D;
  Eigen::VectorXd k;
  Eigen::VectorXd weight;  ///< of the rows of each signal taking part
  Eigen::VectorXd scale;   ///< of its column: first_j / sqrt(rows_j)
  Eigen::Index equations = 0;
};

SharedSystem sharedSystem(const std::vector<SignalRows>& signals, int unknowns,
                          const GainSolution& first) {
  SharedSystem system;
  Eigen::Index rows = 0;
  for (size_t j = 0; j < signals.size(); ++j) {
    if (!std::isfinite(first.gains[static_cast<Eigen::Index>(j)])) continue;
    system.taking_part.push_back(static_cast<Eigen::Index>(j));
    rows += signals[j].rows.cols();
    system.equations += signals[j].equations;
  }
  const auto n = static_cast<Eigen::Index>(system.taking_part.size());
  system.A = Eigen::MatrixXd::Zero(rows, unknowns);
  system.D = Eigen::MatrixXd::Zero(rows, n);
  system.k = Eigen::VectorXd::Zero(rows);
  system.weight.resize(n);
  system.scale.resize(n);
  Eigen::Index at = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index j = system.taking_part[static_cast<size_t>(i)];
    const SignalRows& signal = signals[static_cast<size_t>(j)];
    system.weight[i] = 1.0 / (std::abs(first.gains[j]) * first.noise[j]);
    system.scale[i] = first.gains[j] / std::sqrt(static_cast<double>(signal.equations));
    const Eigen::MatrixXd R = system.weight[i] * squareFactor(signal.rows);
    const auto columns = static_cast<Eigen::Index>(signal.columns.size());
    for (Eigen::Index c = 0; c < columns; ++c)
      system.A.col(signal.columns[static_cast<size_t>(c)]).segment(at, R.rows()) = R.col(c);
    system.k.segment(at, R.rows()) = R.col(columns);
    system.D.col(i).segment(at, R.rows()) = system.scale[i] * R.col(columns + 1);
    at += R.rows();
  }
  return system;
}

/// The part of B that the columns of A do not reach.
Eigen::MatrixXd unexplainedBy(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const Eigen::MatrixXd Q = rangeBasis(A, kRankTolerance);
  return B - Q * (Q.transpose() * B);
}

}  // namespace

GainSolution separateGains(const std::vector<SignalRows>& signals, int unknowns) {
  GainSolution solution = emptySolution(signals.size(), unknowns);
  for (size_t j = 0; j < signals.size(); ++j)
    separateGain(signals[j], static_cast<Eigen::Index>(j), &solution);
  return solution;
}

GainSolution jointGains(const std::vector<SignalRows>& signals, int unknowns,
                        const GainSolution& first) {
  GainSolution solution = emptySolution(signals.size(), unknowns);
  solution.noise = first.noise;
  const SharedSystem system = sharedSystem(signals, unknowns, first);
  const auto n = static_cast<Eigen::Index>(system.taking_part.size());
  if (n == 0 || system.equations <= unknowns + n) return solution;

  // the null vector: model columns eliminated, then the smallest direction of the signals
  Eigen::MatrixXd exact(system.A.rows(), unknowns + 1);
  exact << system.A, system.k;
  const Svd signals_left = svd(unexplainedBy(exact, system.D));
  const Eigen::VectorXd direction = signals_left.V.col(n - 1);
  const double smallest = signals_left.values[n - 1];
  const RankedSolution model = solveRanked(exact, -system.D * direction,
                                           Eigen::VectorXd::Zero(unknowns + 1), kRankTolerance);
  const double known = model.x[unknowns];
  if (!(std::abs(known) * system.k.norm() > kKnownShare * (system.D * direction).norm()))
    return solution;
  const Eigen::VectorXd c = direction / known;
  solution.unknowns = model.x.head(unknowns) / known;

  // covariance of c: signals without what the parameters explain, without the noise in them
  const Eigen::MatrixXd left = unexplainedBy(system.A, system.D);
  Eigen::MatrixXd information = left.transpose() * left;
  information.diagonal().array() -= squareOf(smallest);
  if (!choleskyFactor(information)) return solution;
  const Eigen::MatrixXd P = solveSymmetric(information, Eigen::MatrixXd::Identity(n, n));
  const RankedSolution own = solveRanked(system.A, Eigen::VectorXd::Zero(system.A.rows()),
                                         Eigen::VectorXd::Zero(unknowns), kRankTolerance);
  const Eigen::MatrixXd slopes = own.covariance * (system.A.transpose() * system.D);
  const double variance = (system.A * solution.unknowns + system.k + system.D * c).squaredNorm() /
                          static_cast<double>(system.equations - unknowns - n);
  solution.unknown_deviations =
      (variance * (own.covariance + slopes * P * slopes.transpose()).diagonal()).cwiseSqrt();
  solution.solved = true;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index j = system.taking_part[static_cast<size_t>(i)];
    solution.gains[j] = -c[i] * system.scale[i];
    solution.deviations[j] = std::abs(system.scale[i]) * std::sqrt(variance * P(i, i));
    LinearForm& residual = solution.residuals[static_cast<size_t>(j)];
    residual.unknowns = -solution.unknowns / solution.gains[j];
    residual.known = -1.0 / solution.gains[j];
    residual.signals[j] = 1.0;
    LinearForm& influence = solution.influences[static_cast<size_t>(j)];
    influence.unknowns = system.scale[i] * slopes * P.col(i);
    for (Eigen::Index other = 0; other < n; ++other) {
      const Eigen::Index o = system.taking_part[static_cast<size_t>(other)];
      influence.signals[o] = -system.scale[i] * P(other, i) * system.scale[other];
      solution.reach(j, o) = squareOf(system.weight[other]) * (-c[other] * system.scale[other]);
    }
  }
  return solution;
}

// ---- a robot and its recordings ----

namespace {

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
    rows *= stacked.weights[recording];
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
  signal.rows = squareFactor(stack_of_rows);
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
  Eigen::MatrixXd series = predictTorques(*problem.tree, *problem.layout, chi, data);
  series += data.tau * form.signals.asDiagonal();
  return series;
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
    const double weight = squareOf(data.weight);
    std::vector<Autoregression> models;
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::VectorXd residual =
          seriesOf(problem, r, solution.residuals[static_cast<size_t>(j)]).col(j);
      models.push_back(fitAutoregression(residual, data.use.col(j)));
      // parameters explain a part of the noise
      models.back().variance =
          std::max(models.back().variance, squareOf(solution.noise[j] / data.weight));
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      if (!std::isfinite(solution.gains[i])) continue;
      const Eigen::MatrixXd influence =
          seriesOf(problem, r, solution.influences[static_cast<size_t>(i)]);
      for (Eigen::Index j = 0; j < n; ++j) {
        if (solution.reach(i, j) == 0.0) continue;
        const Autoregression& model = models[static_cast<size_t>(j)];
        variances[i] += squareOf(weight * solution.reach(i, j)) * model.variance *
                        filteredSquare(model, influence.col(j), data.use.col(j));
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
  GainSolution separate = separateGains(problem.signals, unknowns);
  const Eigen::VectorXd deviations = deviationsWithMemory(problem, separate);
  result.separate = listOf(problem, separate, deviations);
  for (Eigen::Index j = 0; j < separate.gains.size(); ++j) {
    if (!(deviations[j] <= kRevealedGain * std::abs(separate.gains[j]))) separate.gains[j] = NAN;
  }
  const GainSolution together = jointGains(problem.signals, unknowns, separate);
  result.solved = together.solved;
  result.together = listOf(problem, together, deviationsWithMemory(problem, together));
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
         motionsOf(tree, std::move(recordings[i]), paths[i], options.signals, false, &info))
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
