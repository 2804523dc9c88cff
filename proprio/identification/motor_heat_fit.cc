#include "proprio/identification/motor_heat_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr Eigen::Index kFewestHeatSamples = 10;
constexpr int kHeatIterations = 100;
/// Relative change of the residual, and of the parameters in deviations, at which the fit rests.
constexpr double kHeatTolerance = 1e-12;
/// Singular values of columns of length one below this part of the largest decide nothing.
constexpr double kHeatRank = 1e-7;

void requireRuns(const std::vector<HeatRun>& runs) {
  if (runs.empty()) throw Error("motor heat: there is no run to fit; give at least one");
  for (size_t r = 0; r < runs.size(); ++r) {
    const HeatRun& run = runs[r];
    const Eigen::Index n = run.time.size();
    if (run.current.size() != n || run.temperature.size() != n)
      throw Error(fmt::format(
          "motor heat: run {} has {} times, {} currents and {} temperatures; give as many of each",
          r + 1, n, run.current.size(), run.temperature.size()));
    if (n < kFewestHeatSamples)
      throw Error(fmt::format("motor heat: run {} has {} samples; expected {} and more", r + 1, n,
                              kFewestHeatSamples));
    if (!run.time.allFinite() || !run.current.allFinite() || !run.temperature.allFinite())
      throw Error(
          fmt::format("motor heat: run {} has a value that is not a number; cut it off", r + 1));
    for (Eigen::Index k = 1; k < n; ++k) {
      if (!(run.time[k] > run.time[k - 1]))
        throw Error(
            fmt::format("motor heat: run {}: time {} is not after time {}", r + 1, k + 1, k));
    }
  }
}

/// Parameters: log a, log b, then per run its start and, unless it is given, its surroundings.
class HeatModel {
 public:
  HeatModel(const std::vector<HeatRun>& runs, const MotorHeat& given) : runs_(runs), given_(given) {
    for (const HeatRun& run : runs) {
      start_.push_back(parameters_++);
      ambient_.push_back(std::isnan(run.ambient) ? parameters_++ : -1);
      samples_ += run.time.size();
    }
  }

  Eigen::Index parameters() const { return parameters_; }
  Eigen::Index samples() const { return samples_; }
  int startPlace(size_t run) const { return start_[run]; }
  int ambientPlace(size_t run) const { return ambient_[run]; }

  MotorHeat motor(const Eigen::VectorXd& p, size_t run) const {
    MotorHeat motor = given_;
    motor.capacity = given_.resistance / std::exp(p[0]);
    motor.thermal_resistance = 1.0 / (std::exp(p[1]) * motor.capacity);
    motor.ambient = ambient_[run] >= 0 ? p[ambient_[run]] : runs_[run].ambient;
    return motor;
  }

  Eigen::VectorXd residuals(const Eigen::VectorXd& p) const {
    Eigen::VectorXd e(samples_);
    Eigen::Index at = 0;
    for (size_t r = 0; r < runs_.size(); ++r) {
      const HeatRun& run = runs_[r];
      e.segment(at, run.time.size()) =
          run.temperature - motorTemperature(motor(p, r), run.time, run.current, p[start_[r]]);
      at += run.time.size();
    }
    return e;
  }

  /// Of the temperatures, by central differences: the solution is smooth and exact.
  Eigen::MatrixXd slopes(const Eigen::VectorXd& p) const {
    Eigen::MatrixXd J(samples_, parameters_);
    for (Eigen::Index c = 0; c < parameters_; ++c) {
      const double h = c < 2 ? 1e-5 : 1e-3;
      Eigen::VectorXd up = p, down = p;
      up[c] += h;
      down[c] -= h;
      J.col(c) = (residuals(down) - residuals(up)) / (2.0 * h);
    }
    return J;
  }

  /// Least squares of T = T_0 + a int i^2 (1 + coefficient x) - b int (T - ambient).
  Eigen::VectorXd guess() const {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(samples_, parameters_);
    Eigen::VectorXd y(samples_);
    Eigen::Index row = 0;
    double span = 1.0;
    for (size_t r = 0; r < runs_.size(); ++r) {
      const HeatRun& run = runs_[r];
      const double known = ambient_[r] < 0 ? run.ambient : 0.0;
      const double about = ambient_[r] < 0 ? run.ambient : run.temperature.minCoeff();
      double heat = 0.0, cooling = 0.0;
      span = std::max(span, run.time[run.time.size() - 1] - run.time[0]);
      for (Eigen::Index k = 0; k < run.time.size(); ++k, ++row) {
        if (k > 0) {
          const double h = run.time[k] - run.time[k - 1];
          const double mean = 0.5 * (run.temperature[k] + run.temperature[k - 1]);
          heat += h * run.current[k - 1] * run.current[k - 1] *
                  (1.0 + given_.coefficient * (mean - about));
          cooling += h * (mean - known);
        }
        A(row, 0) = heat;
        A(row, 1) = -cooling;
        A(row, start_[r]) = 1.0;
        if (ambient_[r] >= 0) A(row, ambient_[r]) = run.time[k] - run.time[0];
        y[row] = run.temperature[k];
      }
    }
    const Eigen::VectorXd x = leastSquares(A, y);
    Eigen::VectorXd p(parameters_);
    // noise may make a rate negative: then one time constant is the whole run
    const double b = x[1] > 0.0 ? x[1] : 1.0 / span;
    p[0] = std::log(x[0] > 0.0 ? x[0] : 1e-6);
    p[1] = std::log(b);
    for (size_t r = 0; r < runs_.size(); ++r) {
      p[start_[r]] = x[start_[r]];
      if (ambient_[r] < 0) continue;
      const double ambient = x[ambient_[r]] / b;
      const double low = runs_[r].temperature.minCoeff(), high = runs_[r].temperature.maxCoeff();
      const double room = high - low + 20.0;
      p[ambient_[r]] = std::clamp(ambient, low - 3.0 * room, high + room);
    }
    return p;
  }

 private:
  const std::vector<HeatRun>& runs_;
  const MotorHeat& given_;
  std::vector<int> start_, ambient_;
  int parameters_ = 2;
  Eigen::Index samples_ = 0;
};

/// Damped Gauss-Newton.
Eigen::VectorXd descended(const HeatModel& model, Eigen::VectorXd p, MotorHeatFit* fit) {
  double damping = 1e-3;
  Eigen::VectorXd e = model.residuals(p);
  while (fit->iterations < kHeatIterations && !fit->converged) {
    ++fit->iterations;
    const Eigen::MatrixXd J = model.slopes(p);
    const Eigen::VectorXd gradient = J.transpose() * e;
    Eigen::MatrixXd normal = J.transpose() * J;
    const double floor = 1e-12 * normal.diagonal().maxCoeff();
    bool better = false;
    for (int attempt = 0; attempt < 12 && !better; ++attempt) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() += damping * (normal.diagonal().array() + floor).matrix();
      Eigen::VectorXd step = solveSymmetric(damped, gradient);
      step.head(2) = step.head(2).cwiseMax(-2.0).cwiseMin(2.0);
      const Eigen::VectorXd trial = p + step;
      const Eigen::VectorXd next = model.residuals(trial);
      better = next.allFinite() && next.squaredNorm() < e.squaredNorm();
      if (!better) {
        damping *= 10.0;
        continue;
      }
      const double gained = 1.0 - next.squaredNorm() / e.squaredNorm();
      fit->converged = gained < kHeatTolerance;
      p = trial;
      e = next;
      damping = std::max(0.1 * damping, 1e-12);
    }
    if (!better) fit->converged = true;  // no direction leads down: rounding
  }
  return p;
}

/// Covariance of the parameters for unit noise; not a number in rows that nothing decides.
Eigen::MatrixXd decidedCovariance(const Eigen::MatrixXd& J) {
  Eigen::VectorXd scale = J.colwise().norm();
  for (double& s : scale) s = s > 0.0 ? 1.0 / s : 1.0;
  const Svd parts = svd(J * scale.asDiagonal());
  const Eigen::Index n = J.cols();
  const Eigen::Index rank = (parts.values.array() > kHeatRank * parts.values[0]).count();
  const Eigen::MatrixXd half = scale.asDiagonal() * parts.V.leftCols(rank) *
                               parts.values.head(rank).cwiseInverse().asDiagonal();
  Eigen::MatrixXd covariance = half * half.transpose();
  for (Eigen::Index c = 0; c < n; ++c) {
    const bool silent = J.col(c).isZero(0.0) ||
                        (rank < n && parts.V.row(c).tail(n - rank).cwiseAbs().maxCoeff() > 1e-3);
    if (!silent) continue;
    covariance.row(c).setConstant(NAN);
    covariance.col(c).setConstant(NAN);
  }
  return covariance;
}

}  // namespace

MotorHeatFit fitMotorHeat(const std::vector<HeatRun>& runs, const MotorHeat& given) {
  requireRuns(runs);
  if (!(given.resistance > 0.0) || !std::isfinite(given.coefficient))
    throw Error(fmt::format("motor heat: the resistance is {} Ohm; expected a positive number",
                            given.resistance));
  const HeatModel model(runs, given);
  MotorHeatFit fit;
  const Eigen::VectorXd p = descended(model, model.guess(), &fit);
  const auto left = static_cast<double>(model.samples() - model.parameters());
  const double variance = model.residuals(p).squaredNorm() / std::max(left, 1.0);
  const Eigen::MatrixXd covariance = variance * decidedCovariance(model.slopes(p));
  fit.noise = std::sqrt(variance);
  fit.motor = model.motor(p, runs.size() - 1);
  fit.time_constant = std::exp(-p[1]);
  // d log: relative deviations; log R_th = log a - log b - log resistance
  fit.time_constant_deviation = fit.time_constant * std::sqrt(covariance(1, 1));
  fit.capacity_deviation = fit.motor.capacity * std::sqrt(covariance(0, 0));
  fit.thermal_resistance_deviation =
      fit.motor.thermal_resistance *
      std::sqrt(covariance(0, 0) + covariance(1, 1) - 2.0 * covariance(0, 1));
  if (std::isnan(covariance(1, 1))) {
    fit.undecided.emplace_back("the time constant: the temperature hardly changes");
    fit.time_constant = NAN;
  }
  if (std::isnan(covariance(0, 0))) {
    const bool cold = std::all_of(runs.begin(), runs.end(),
                                  [](const HeatRun& run) { return run.current.isZero(0.0); });
    fit.undecided.emplace_back(
        cold ? "capacity and thermal resistance: no current flows in any run"
             : "capacity and thermal resistance: heat of this current and warmer surroundings look "
               "the same; give the ambient temperature, or let the current change");
    fit.motor.capacity = NAN;
  }
  if (std::isnan(covariance(0, 0) + covariance(1, 1))) fit.motor.thermal_resistance = NAN;
  for (size_t r = 0; r < runs.size(); ++r) {
    const int place = model.ambientPlace(r);
    fit.starts.push_back(p[model.startPlace(r)]);
    fit.ambients.push_back(place >= 0 ? p[place] : runs[r].ambient);
    fit.ambient_deviations.push_back(place >= 0 ? std::sqrt(covariance(place, place)) : 0.0);
    if (!std::isnan(fit.ambient_deviations.back())) continue;
    fit.undecided.push_back(fmt::format("the surroundings of run {}", r + 1));
    fit.ambients.back() = NAN;
  }
  fit.motor.ambient = fit.ambients.back();
  return fit;
}

}  // namespace proprio
