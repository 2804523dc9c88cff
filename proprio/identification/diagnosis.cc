#include "proprio/identification/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "proprio/identification/parameter_words.h"

namespace proprio {
namespace {

constexpr std::array<const char*, 6> kAxes = {"fx", "fy", "fz", "mx", "my", "mz"};

constexpr Eigen::Index kWhitenessLags = 20;
constexpr Eigen::Index kInputLags = 10;
/// A correlation of residual and motion above this is worth a word: 9 % of the residual's square.
constexpr double kRelated = 0.3;
/// Intervals that grow by less are not worth a word.
constexpr double kNotableInflation = 2.0;

double largestInputCorrelation(const MotionData& data, const Eigen::VectorXd& residual,
                               const ConstCounts& use) {
  double largest = 0.0;
  for (const Eigen::MatrixXd* inputs : {&data.q, &data.v, &data.a}) {
    for (Eigen::Index c = 0; c < inputs->cols(); ++c) {
      const Eigen::VectorXd r = crossCorrelation(residual, inputs->col(c), use, kInputLags);
      largest = std::max(largest, r.cwiseAbs().maxCoeff());
    }
  }
  return largest;
}

/// The tests of one joint in one recording, folded into what is known of the joint.
void addTests(const MotionData& data, Eigen::Index j, const Eigen::VectorXd& residual,
              double recordings, JointDiagnosis* joint) {
  Counts use = data.use.col(j);
  const auto keep = [&](const TestResult& test, double* p) {
    *p = std::min(*p, test.degrees > 0.0 ? std::min(1.0, recordings * test.p_value) : 1.0);
  };
  const Eigen::Index lags = std::min(kWhitenessLags, use.count() / 5);
  if (lags < 1) return;
  keep(whitenessTest(residual, use, lags), &joint->ljung_box_p);
  joint->input_correlation =
      std::max(joint->input_correlation, largestInputCorrelation(data, residual, use));
  const Autoregression model = fitAutoregression(residual, use);
  joint->autoregression = std::max(joint->autoregression, static_cast<int>(model.order()));
  const Eigen::VectorXd fresh = innovations(model, residual, &use);
  keep(normalityTest(fresh, use), &joint->jarque_bera_p);
  Eigen::MatrixXd sizes(data.samples(), 2);
  sizes << data.v.col(j).cwiseAbs(), data.tau.col(j).cwiseAbs();
  keep(constantVarianceTest(fresh, sizes, use), &joint->breusch_pagan_p);
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool isWrenchAxis(const std::string& name) {
  return std::any_of(kAxes.begin(), kAxes.end(),
                     [&name](const char* axis) { return name.ends_with(std::string(" ") + axis); });
}

std::vector<std::string> coordinateNames(const Tree& tree) {
  std::vector<std::string> names(static_cast<size_t>(tree.velocityCount()));
  const auto sensorOf = [&tree](size_t joint) {
    const std::vector<Sensor>& sensors = tree.model().sensors;
    return std::find_if(sensors.begin(), sensors.end(),
                        [joint](const Sensor& sensor) {
                          return sensor.kind == SensorKind::kForceTorque &&
                                 sensor.joint == static_cast<int>(joint);
                        })
        ->name;
  };
  for (size_t k = 0; tree.floating() && k < kAxes.size(); ++k)
    names[k] = fmt::format("base {}", kAxes[k]);
  for (size_t i = 0; i < tree.model().joints.size(); ++i) {
    const Joint& joint = tree.model().joints[i];
    const int first = tree.velocityIndex(static_cast<int>(i));
    if (first < 0 || joint.mimic) continue;
    const int count = velocityCount(joint.type);
    for (int k = 0; k < count; ++k)
      names[static_cast<size_t>(first + k)] =
          count == 1     ? joint.name
          : joint.sensed ? fmt::format("{} {}", sensorOf(i), kAxes[static_cast<size_t>(k)])
                         : fmt::format("{}_{}", joint.name, k + 1);
  }
  return names;
}

std::vector<JointDiagnosis> diagnoseResiduals(const IdentificationProblem& problem,
                                              const Estimate& estimate,
                                              const CorrectedCovariance& covariance) {
  std::vector<JointDiagnosis> joints(static_cast<size_t>(problem.stacked.coordinates()));
  for (size_t j = 0; j < joints.size(); ++j) {
    joints[j].ljung_box_p = joints[j].jarque_bera_p = joints[j].breusch_pagan_p = 1.0;
    joints[j].variance_inflation = covariance.inflation[static_cast<Eigen::Index>(j)];
  }
  const auto recordings = static_cast<double>(problem.data.size());
  for (const MotionData& data : problem.data) {
    const Eigen::MatrixXd residuals = torqueResiduals(problem, data, estimate.beta);
    for (size_t j = 0; j < joints.size(); ++j) {
      const auto i = static_cast<Eigen::Index>(j);
      addTests(data, i, residuals.col(i), recordings, &joints[j]);
    }
  }
  return joints;
}

std::vector<ParameterUncertainty> parameterUncertainties(const Estimate& estimate,
                                                         const CorrectedCovariance& covariance,
                                                         double level) {
  std::vector<ParameterUncertainty> parameters;
  for (Eigen::Index i = 0; i < estimate.beta.size(); ++i) {
    ParameterUncertainty out;
    out.value = estimate.beta[i];
    out.sigma = std::sqrt(std::max(covariance.covariance(i, i), 0.0));
    out.percent = out.value != 0.0 ? 100.0 * out.sigma / std::abs(out.value)
                                   : std::numeric_limits<double>::infinity();
    const double width = confidenceHalfWidth(out.sigma, covariance.degrees[i], level);
    out.low = out.value - width;
    out.high = out.value + width;
    parameters.push_back(out);
  }
  return parameters;
}

std::vector<ParameterUncertainty> parameterUncertainties(const IdentificationProblem& problem,
                                                         const Estimate& estimate,
                                                         const CorrectedCovariance& covariance,
                                                         double level) {
  std::vector<ParameterUncertainty> parameters =
      parameterUncertainties(estimate, covariance, level);
  const std::vector<ParameterStatus> statuses = parameterStatuses(problem.base);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int parameter = problem.base.independent[i];
    const auto& zeros = estimate.at_zero;
    if (std::find(zeros.begin(), zeros.end(), parameter) == zeros.end() ||
        statuses[static_cast<size_t>(parameter)] != ParameterStatus::kIdentifiable)
      continue;
    parameters[i].at_bound = true;
    parameters[i].low = std::max(parameters[i].low, 0.0);
  }
  return parameters;
}

std::vector<std::string> remarks(const IdentificationProblem& problem, const Estimate& estimate,
                                 const std::vector<JointDiagnosis>& joints,
                                 const NoiseBiasTest& noise_bias, bool delayed) {
  const std::vector<std::string> names = coordinateNames(*problem.tree);
  std::vector<std::string> out;
  if (!estimate.undecided.empty()) {
    out.push_back(fmt::format(
        "The motion leaves {} of {} base parameters open ({}{}); there the values are those "
        "believed before.",
        estimate.undecided.size(), estimate.beta.size(), estimate.undecided.front(),
        estimate.undecided.size() > 1 ? ", ..." : ""));
  }
  if (noise_bias.biased() && !delayed) {
    const auto place = static_cast<size_t>(noise_bias.shifted);
    out.push_back(fmt::format(
        "Noise in the motion biases least squares (or the model lacks something): with {} as "
        "instruments {} moves by {:.2g} standard deviations (p = {:.1g}).",
        noise_bias.instruments, parameterWords(*problem.layout, problem.base.independent[place]),
        noise_bias.largest_shift, noise_bias.result.p_value));
  } else if (!delayed && noise_bias.result.degrees > 0.0 && !noise_bias.decided()) {
    out.push_back(
        fmt::format("Whether noise in the motion biases least squares is undecided: with {} as "
                    "instruments only "
                    "a bias of {:.2g} standard deviations would show.",
                    noise_bias.instruments, noise_bias.detectable));
  }
  double inflation = 1.0;
  std::vector<std::string> related, without;
  for (size_t j = 0; j < joints.size(); ++j) {
    if (problem.stacked.rows(static_cast<int>(j)) == 0) {
      if (!isWrenchAxis(names[j])) {
        without.push_back(names[j]);
      } else if (names[j].ends_with(" fx")) {
        without.push_back(names[j].substr(0, names[j].size() - 3));
      }
      continue;
    }
    inflation = std::max(inflation, joints[j].variance_inflation);
    if (!delayed && joints[j].input_correlation > kRelated) related.push_back(names[j]);
  }
  if (!without.empty())
    out.push_back(
        fmt::format("No torque row of {} counts: nothing was learnt from it.", joined(without)));
  if (!related.empty())
    out.push_back(fmt::format(
        "The residuals of {} still follow the motion: friction or elasticity that the model does "
        "not have.",
        joined(related)));
  if (inflation > kNotableInflation)
    out.push_back(fmt::format(
        "Residuals are correlated in time; standard deviations are up to {:.1f} times as large as "
        "independent samples would give, and say so.",
        std::sqrt(inflation)));
  return out;
}

}  // namespace proprio
