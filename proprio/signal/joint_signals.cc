#include "proprio/signal/joint_signals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/recorded_velocities.h"
#include "proprio/signal/adaptive_window.h"
#include "proprio/signal/decimation.h"
#include "proprio/signal/differences.h"
#include "proprio/signal/fourier.h"
#include "proprio/signal/friction_direction.h"
#include "proprio/signal/savitzky_golay.h"

namespace proprio {
namespace {

using Eigen::Index;

constexpr int kPolynomialOrder = 3;      // of Savitzky-Golay
constexpr double kBorderPeriods = 2.5;   // 50 samples for 50 Hz at 1 kHz
constexpr double kMostBorder = 0.1;      // of the samples, at each end
constexpr double kSlow = 0.01;           // of the joint's speed
constexpr double kSpeedQuantile = 0.99;  // that counts as the joint's speed
constexpr double kQuickPeriods = 0.25;   // of the cut-off: reversals over within this are quick
/// Cut-offs that are chosen stay below this part of the rate that is asked for.
constexpr double kBelowNyquist = 0.4;
constexpr double kBandOverBandwidth = 10;  // f_dec of the ratio rule
constexpr int kAdaptiveWindow = 50;

/// The raw material: one column per joint, all finite.
struct Raw {
  std::vector<std::string> joints;
  Eigen::VectorXd time;
  Eigen::MatrixXd q, v, tau, channels;  ///< all but q without columns if not used
};

Error errorIn(const Recording& recording, const std::string& sentence) {
  const std::string topic = recording.topic.empty() ? "" : " (" + recording.topic + ")";
  return Error(fmt::format("{}{}: {}", recording.source.empty() ? "recording" : recording.source,
                           topic, sentence));
}

std::vector<std::string> jointsWith(const Recording& recording, Quantity quantity, Role role) {
  std::vector<std::string> joints;
  for (const Channel& channel : recording.channels) {
    if (channel.quantity == quantity && channel.role == role && !channel.of.empty() &&
        channel.component.empty()) {
      joints.push_back(channel.of);
    }
  }
  return joints;
}

/// The columns of one quantity, one per joint.
Eigen::MatrixXd columnsOf(const Recording& recording, const std::vector<std::string>& joints,
                          Quantity quantity, Role role) {
  Eigen::MatrixXd values(recording.samples(), static_cast<Index>(joints.size()));
  std::vector<std::string> names;
  for (size_t j = 0; j < joints.size(); ++j) {
    const int column = recording.column(quantity, role, joints[j]);
    if (column < 0) {
      throw errorIn(recording,
                    fmt::format("no {} {} channel of joint '{}'{}; map the recording through its "
                                "robot",
                                toString(role), toString(quantity), joints[j],
                                didYouMean(joints[j], jointsWith(recording, quantity, role))));
    }
    const Channel& channel = recording.channels[static_cast<size_t>(column)];
    if (!channel.unit.empty() && channel.unit != unitOf(quantity, false) &&
        channel.unit != unitOf(quantity, true)) {
      throw errorIn(recording, fmt::format("channel '{}' is in {}, expected {}; map the recording "
                                           "through its robot",
                                           channel.name, channel.unit, unitOf(quantity)));
    }
    if (channel.side == Side::kMotor) {
      throw errorIn(recording, fmt::format("channel '{}' is on the motor's side; map the recording "
                                           "through its robot",
                                           channel.name));
    }
    names.push_back(channel.name);
    values.col(static_cast<Index>(j)) = recording.values.col(column);
  }
  requireFinite(values, recording.source.c_str(), names);
  return values;
}

Raw gather(const Recording& recording, const JointSignalOptions& options) {
  requireValid(recording);
  Raw raw;
  raw.joints = options.joints;
  if (raw.joints.empty()) {
    raw.joints = jointsWith(recording, Quantity::kPosition, options.role);
    if (raw.joints.empty()) {
      throw errorIn(recording, fmt::format("no channel is the {} position of a joint; map the "
                                           "recording through its robot",
                                           toString(options.role)));
    }
  }
  if (recording.samples() == 0) throw errorIn(recording, "there are no samples");
  raw.q = columnsOf(recording, raw.joints, Quantity::kPosition, options.role);
  if (options.velocity == VelocitySource::kMeasured) {
    raw.v = columnsOf(recording, raw.joints, Quantity::kVelocity, options.role);
  }
  bool torques = true;
  for (const std::string& joint : raw.joints) {
    torques = torques && recording.column(Quantity::kTorque, options.role, joint) >= 0;
  }
  if (torques || options.require_torque) {
    raw.tau = columnsOf(recording, raw.joints, Quantity::kTorque, options.role);
  }
  raw.channels.resize(recording.samples(), static_cast<Index>(options.channels.size()));
  for (size_t c = 0; c < options.channels.size(); ++c) {
    const int column = recording.column(options.channels[c]);
    if (column < 0)
      throw errorIn(recording, fmt::format("there is no channel '{}'", options.channels[c]));
    raw.channels.col(static_cast<Index>(c)) = recording.values.col(column);
  }
  requireFinite(raw.channels, recording.source.c_str(), options.channels);
  if (recording.time.size() > 0) {
    raw.time = recording.time;
  } else if (options.rate_hz > 0.0) {
    raw.time = Eigen::VectorXd::LinSpaced(
        recording.samples(), 0.0, static_cast<double>(recording.samples() - 1) / options.rate_hz);
  } else {
    throw errorIn(recording,
                  "there are no time stamps; give the sampling rate (--rate, or recording.rate in "
                  "robot.yaml)" +
                      rateByVelocities(recording));
  }
  return raw;
}

/// A value per joint out of none, one or all.
std::vector<double> perJoint(const std::vector<double>& given, size_t joints, const char* what) {
  if (given.size() == joints) return given;
  if (given.size() == 1) return std::vector<double>(joints, given[0]);
  throw Error(fmt::format("{}: {} values for {} joints; give one, or one per joint", what,
                          given.size(), joints));
}

/// A uniform time base, or an Error that says what was found and what to pass.
double makeUniform(const Recording& recording, const JointSignalOptions& options, Raw& raw,
                   std::vector<std::string>& steps) {
  try {
    if (!options.resample) {
      const Sampling sampling = analyseSampling(raw.time);
      if (!sampling.uniform) {
        throw Error(fmt::format(
            "the time stamps are not uniform: steps differ by up to {:.0f} % from their median of "
            "{:.4g} ms, the longest is {:.4g} ms after row {}; ask for resampling (--resample)",
            100.0 * sampling.jitter, 1e3 * sampling.step, 1e3 * sampling.largest,
            sampling.largest_at + 1));
      }
      return sampling.rate_hz;
    }
    // all but positions may not be there
    const std::array<Eigen::MatrixXd*, 4> signals = {&raw.q, &raw.v, &raw.tau, &raw.channels};
    Index columns = 0, next = 0;
    for (const Eigen::MatrixXd* signal : signals) columns += signal->cols();
    Eigen::MatrixXd all(raw.q.rows(), columns);
    for (const Eigen::MatrixXd* signal : signals) {
      if (signal->cols() > 0) all.middleCols(next, signal->cols()) = *signal;
      next += signal->cols();
    }
    ResampleOptions resample_options = *options.resample;
    resample_options.gaps = GapPolicy::kRefuse;
    const UniformSignals uniform = resample(raw.time, all, resample_options)[0];
    if (uniform.time.size() < 2) throw Error("resampling leaves a single sample");
    const double rate = 1.0 / (uniform.time[1] - uniform.time[0]);
    steps.push_back(fmt::format("resampled from {} to {} samples at {:.6g} Hz ({})",
                                raw.time.size(), uniform.time.size(), rate,
                                toString(resample_options.interpolation)));
    raw.time = uniform.time;
    next = 0;
    for (Eigen::MatrixXd* signal : signals) {
      const Index width = signal->cols();
      *signal = uniform.values.middleCols(next, width);
      next += width;
    }
    return rate;
  } catch (const Error& error) {
    throw errorIn(recording, error.what());
  }
}

void removeOutliers(const JointSignalOptions& options, Raw& raw, std::vector<std::string>& steps) {
  if (options.hampel_window == 0) return;
  Index count = 0;
  for (Eigen::MatrixXd* values : {&raw.q, &raw.v, &raw.tau, &raw.channels}) {
    if (values->cols() == 0) continue;
    HampelResult result = hampel(*values, options.hampel_window, options.hampel_deviations);
    *values = std::move(result.values);
    count += result.count;
  }
  steps.push_back(fmt::format("{} outliers replaced (Hampel, {} samples, {:g} deviations)", count,
                              options.hampel_window, options.hampel_deviations));
}

/// Per joint: given, or from the spectrum. The spectrum also serves decimation and noise bands.
std::vector<CutoffChoice> cutoffsFor(const JointSignalOptions& options, const Raw& raw, double rate,
                                     std::vector<std::string>& steps) {
  std::vector<CutoffChoice> choices(raw.joints.size());
  if (!options.cutoff_hz.empty()) {
    const std::vector<double> given = perJoint(options.cutoff_hz, choices.size(), "cut-off");
    for (size_t j = 0; j < choices.size(); ++j) {
      choices[j].cutoff_hz = given[j];
      choices[j].moves = true;
      choices[j].reason = "given";
    }
  } else {
    choices = chooseCutoffs(raw.q, rate, options.order);
    // what is above half the rate of the rows would fold back
    const bool thinned = options.decimation == DecimationMode::kSubsample;
    const double most = kBelowNyquist * options.decimated_rate_hz;
    for (CutoffChoice& choice : choices) {
      if (!thinned || most <= 0.0 || choice.cutoff_hz <= most) continue;
      choice.cutoff_hz = most;
      choice.reason += fmt::format(", but not above {:g} of the rate of the rows", kBelowNyquist);
    }
  }
  if (!options.filter) {
    for (CutoffChoice& choice : choices) choice.cutoff_hz = 0.0;
    steps.push_back("not filtered");
    return choices;
  }
  for (size_t j = 0; j < choices.size(); ++j) {
    steps.push_back(fmt::format("cut-off of '{}': {:.4g} Hz ({})", raw.joints[j],
                                choices[j].cutoff_hz, choices[j].reason));
  }
  return choices;
}

double highestCutoff(const std::vector<CutoffChoice>& choices) {
  double highest = 0.0;
  for (const CutoffChoice& choice : choices) highest = std::max(highest, choice.cutoff_hz);
  return highest;
}

Eigen::MatrixXd lowPass(const JointSignalOptions& options, const SignalColumns& x, double cutoff,
                        double rate) {
  const DigitalFilter filter = butterworthLowpass(options.order, cutoff, rate);
  return options.causal ? filterForward(filter, x) : filterZeroPhase(filter, x);
}

/// Savitzky-Golay window whose cut-off is about f_c (Schafer 2011), or the one given.
int smoothingWindow(const JointSignalOptions& options, double cutoff, double rate, Index samples) {
  if (options.window > 0) return options.window;
  const double half =
      cutoff > 0.0 ? ((kPolynomialOrder + 1) * 0.5 * rate / cutoff + 4.6) / 3.2 : kPolynomialOrder;
  const int most = static_cast<int>((samples - 1) / 2);
  return 2 * std::clamp(static_cast<int>(std::ceil(half)), 2, std::max(2, most)) + 1;
}

/// Joint j: filtered position, velocity and acceleration.
void differentiateJoint(const JointSignalOptions& options, const Raw& raw, Index j, double rate,
                        const CutoffChoice& choice, JointSignals& out) {
  const double dt = 1.0 / rate, cutoff = choice.cutoff_hz;
  const bool measured = raw.v.cols() > 0;
  const bool low_pass = options.filter && options.derivative != DerivativeMethod::kSavitzkyGolay &&
                        options.derivative != DerivativeMethod::kAdaptive &&
                        options.derivative != DerivativeMethod::kFourier;
  // with measured velocities, these are differentiated once; both go through the same filter
  Eigen::MatrixXd x(raw.q.rows(), measured ? 2 : 1);
  x.col(0) = raw.q.col(j);
  if (measured) x.col(1) = raw.v.col(j);
  if (low_pass) x = lowPass(options, x, cutoff, rate);
  const auto source = x.rightCols(1);
  Eigen::VectorXd first, second, smooth = x.col(0);
  const auto take = [&](const Derivatives& d) {
    first = d.first;
    second = d.second;
  };
  switch (options.derivative) {
    case DerivativeMethod::kCentral:
      take(centralDifferences(source, dt));
      break;
    case DerivativeMethod::kCentralTwice:
      first = centralDifferences(source, dt).first;
      second = centralDifferences(first, dt).first;
      break;
    case DerivativeMethod::kBackward:
      take(backwardDifferences(source, dt));
      break;
    case DerivativeMethod::kSavitzkyGolay: {
      const int window = smoothingWindow(options, cutoff, rate, x.rows());
      first = savitzkyGolay(source, window, kPolynomialOrder, 1, dt);
      second = savitzkyGolay(source, window, kPolynomialOrder, 2, dt);
      if (options.filter) x = savitzkyGolay(x, window, kPolynomialOrder);
      smooth = x.col(0);
      break;
    }
    case DerivativeMethod::kAdaptive: {
      AdaptiveWindowOptions adaptive;
      adaptive.band = options.noise_band > 0.0 ? options.noise_band : 3.0 * choice.noise;
      adaptive.max_window = options.window > 0 ? options.window : kAdaptiveWindow;
      take(adaptiveWindowDerivatives(source, dt, adaptive));
      break;
    }
    case DerivativeMethod::kFourier: {
      const PeriodicDerivatives d = differentiatePeriodic(x, rate, options.filter ? cutoff : 0.0);
      x = d.value;
      smooth = x.col(0);
      first = d.first.rightCols(1);
      second = d.second.rightCols(1);
      break;
    }
  }
  out.q.col(j) = smooth;
  out.v.col(j) = measured ? Eigen::VectorXd(x.col(1)) : first;
  out.a.col(j) = measured ? first : second;
}

/// What white noise in the positions becomes in q, v and a: its density through the gain |H|^2 of
/// the zero-phase filter and those of central differences.
void addNoise(const JointSignalOptions& options, double rate, JointSignals& out) {
  const bool known = options.derivative == DerivativeMethod::kCentral && !options.causal &&
                     options.velocity == VelocitySource::kPositions && options.cutoff_hz.empty();
  if (!known) return;
  constexpr int kPoints = 2000;
  out.noise = Eigen::MatrixXd::Zero(static_cast<Index>(out.cutoffs.size()), 3);
  for (size_t j = 0; j < out.cutoffs.size(); ++j) {
    const CutoffChoice& choice = out.cutoffs[j];
    DigitalFilter filter;
    const bool filtered = choice.cutoff_hz > 0.0;
    if (filtered) filter = butterworthLowpass(options.order, choice.cutoff_hz, rate);
    Eigen::Vector3d power = Eigen::Vector3d::Zero();
    for (int i = 0; i < kPoints; ++i) {
      const double f = 0.5 * rate * (i + 0.5) / kPoints, phase = 2.0 * M_PI * f / rate;
      const double gain = filtered ? std::norm(frequencyResponse(filter, f, rate)) : 1.0;
      const double first = gain * rate * std::sin(phase);
      const double second = gain * rate * rate * (2.0 - 2.0 * std::cos(phase));
      power += Eigen::Vector3d(gain * gain, first * first, second * second) / kPoints;
    }
    out.noise.row(static_cast<Index>(j)) = choice.noise * power.cwiseSqrt().transpose();
  }
}

/// Further channels: through the torques' filter, and their derivatives.
void addChannels(const JointSignalOptions& options, const Raw& raw, double rate,
                 JointSignals& out) {
  if (raw.channels.cols() == 0) return;
  const bool low_pass = options.filter && options.filter_torque;
  out.channels =
      low_pass ? lowPass(options, raw.channels, highestCutoff(out.cutoffs), rate) : raw.channels;
  out.channel_rates = centralDifferences(out.channels, 1.0 / rate).first;
}

Index borderFor(const JointSignalOptions& options, const std::vector<CutoffChoice>& choices,
                double rate, Index samples) {
  if (options.trim >= 0) return options.trim;
  if (options.derivative == DerivativeMethod::kFourier) return 0;
  double lowest = 0.0;
  for (const CutoffChoice& choice : choices) {
    if (choice.cutoff_hz > 0.0 && (lowest == 0.0 || choice.cutoff_hz < lowest)) {
      lowest = choice.cutoff_hz;
    }
  }
  const double border = lowest > 0.0 ? std::ceil(kBorderPeriods * rate / lowest - 1e-3) : 2.0;
  return static_cast<Index>(std::min(border, kMostBorder * static_cast<double>(samples)));
}

/// One percent of the speed that a joint exceeds in 1 % of the samples, or what was given.
Eigen::VectorXd slowSpeeds(const JointSignalOptions& options, const Eigen::MatrixXd& v) {
  Eigen::VectorXd slow(v.cols());
  if (!options.low_speed.empty()) {
    const std::vector<double> given =
        perJoint(options.low_speed, static_cast<size_t>(v.cols()), "low speed");
    return Eigen::Map<const Eigen::VectorXd>(given.data(), v.cols());
  }
  for (Index j = 0; j < v.cols(); ++j) {
    std::vector<double> speeds(static_cast<size_t>(v.rows()));
    Eigen::VectorXd::Map(speeds.data(), v.rows()) = v.col(j).cwiseAbs();
    const auto quantile = speeds.begin() + static_cast<std::ptrdiff_t>(
                                               kSpeedQuantile * static_cast<double>(v.rows() - 1));
    std::nth_element(speeds.begin(), quantile, speeds.end());
    slow[j] = kSlow * *quantile;
  }
  return slow;
}

int ratioFor(const JointSignalOptions& options, const std::vector<CutoffChoice>& choices,
             double rate) {
  if (options.decimation == DecimationMode::kNone) return 1;
  if (options.decimated_rate_hz > 0.0) {
    return std::max(1, static_cast<int>(std::lround(rate / options.decimated_rate_hz)));
  }
  double frequency = 0.0;
  for (const CutoffChoice& choice : choices) {
    frequency = std::max({frequency, kBandOverBandwidth * choice.bandwidth_hz, choice.cutoff_hz});
  }
  return frequency > 0.0 ? decimationRatio(rate, frequency) : 1;
}

/// Rows border, border + step, ... of all signals.
template <typename Matrix>
Matrix keepRows(const Matrix& x, Index border, Index step) {
  const Index rows = (x.rows() - 2 * border + step - 1) / step;
  Matrix kept(rows, x.cols());
  for (Index k = 0; k < rows; ++k) kept.row(k) = x.row(border + k * step);
  return kept;
}

/// Borders, low speeds, and every n-th sample.
void thinOut(const JointSignalOptions& options, Index border, int ratio, JointSignals& out) {
  const Index samples = out.q.rows();
  if (2 * border + 2 * ratio > samples) {
    throw Error(
        fmt::format("{} samples do not survive trimming {} at each border and keeping one of {}",
                    samples, border, ratio));
  }
  out.steps.push_back(fmt::format("dropped {} samples at each border", border));
  out.low_speed = slowSpeeds(options, out.v.middleRows(border, samples - 2 * border));
  out.moving = fastEnough(out.v, out.low_speed);
  if (out.sign.cols() > 0) {
    const double highest = highestCutoff(out.cutoffs), rate = out.rate_hz;
    out.mixed =
        mixedWithSlow(out.moving, kQuickPeriods * rate / highest,
                      [&](const Eigen::MatrixXd& x) { return lowPass(options, x, highest, rate); });
    out.moving = out.moving && !out.mixed;
  }
  if (ratio > 1 && options.decimation == DecimationMode::kSubsample) {
    out.decimation = ratio;
    out.rate_hz /= ratio;
    out.steps.push_back(fmt::format("kept one of {} samples: {:.6g} Hz", ratio, out.rate_hz));
    const double highest = highestCutoff(out.cutoffs);
    if (highest > 0.5 * out.rate_hz) {
      out.steps.push_back(fmt::format(
          "note: the highest cut-off of {:.4g} Hz is above half the new rate, so that noise above "
          "it folds back",
          highest));
    }
  } else if (ratio > 1) {
    out.parallel_ratio = ratio;
    out.steps.push_back(
        fmt::format("regressor and torques are to be decimated together by {} (to {:.6g} Hz)",
                    ratio, out.rate_hz / ratio));
  }
  const Index step = out.decimation;
  out.time = keepRows(out.time, border, step);
  for (Eigen::MatrixXd* values : {&out.q, &out.v, &out.a, &out.tau, &out.sign, &out.late,
                                  &out.channels, &out.channel_rates}) {
    if (values->cols() > 0) *values = keepRows(*values, border, step);
  }
  out.moving = keepRows(out.moving, border, step);
  if (out.mixed.cols() > 0) out.mixed = keepRows(out.mixed, border, step);
  for (size_t j = 0; j < out.joints.size(); ++j) {
    const Index fast = out.moving.col(static_cast<Index>(j)).count();
    out.steps.push_back(fmt::format("'{}' moves faster than {:.3g} in {} of {} samples",
                                    out.joints[j], out.low_speed[static_cast<Index>(j)], fast,
                                    out.moving.rows()));
  }
}

/// Rows as they are, each a state of its own, in motion or at rest.
JointSignals recordedStates(const Recording& recording, const JointSignalOptions& options) {
  JointSignalOptions states = options;
  states.velocity = options.at_rest ? VelocitySource::kPositions : VelocitySource::kMeasured;
  if (states.rate_hz <= 0.0) states.rate_hz = 1.0;  // stands for a time that nothing depends on
  Raw raw = gather(recording, states);
  JointSignals out;
  out.source = recording.source;
  out.joints = raw.joints;
  out.time = raw.time;
  out.q = std::move(raw.q);
  if (options.at_rest) {
    out.v = out.a = Eigen::MatrixXd::Zero(out.q.rows(), out.q.cols());
  } else {
    out.v = std::move(raw.v);
    out.a = columnsOf(recording, raw.joints, Quantity::kAcceleration, options.role);
  }
  out.tau = std::move(raw.tau);
  out.channels = std::move(raw.channels);
  out.channel_rates = Eigen::MatrixXd::Zero(out.channels.rows(), out.channels.cols());
  const Index last = out.time.size() - 1;
  const double seconds = last > 0 ? out.time[last] - out.time[0] : 0.0;
  out.recorded_rate_hz = out.rate_hz =
      seconds > 0.0 ? static_cast<double>(last) / seconds : states.rate_hz;
  out.cutoffs.resize(raw.joints.size());
  for (CutoffChoice& choice : out.cutoffs) {
    choice.moves = true;
    choice.reason = "as recorded";
  }
  out.low_speed = slowSpeeds(options, out.v);
  out.moving.setConstant(out.v.rows(), out.v.cols(), true);
  for (Index j = 0; j < out.v.cols() && !options.at_rest; ++j)
    out.moving.col(j) = out.v.col(j).array().abs() > out.low_speed[j];
  out.steps.push_back(options.at_rest
                          ? "every row is a posture at rest: nothing filtered or thinned out"
                          : "every row is a state of its own: velocities and accelerations as "
                            "recorded, nothing filtered or thinned out");
  return out;
}

std::shared_ptr<const JointSignalOptions> sameTreatment(JointSignalOptions options,
                                                        const JointSignals& out) {
  if (options.derivative == DerivativeMethod::kFourier ||
      options.derivative == DerivativeMethod::kAdaptive)
    return nullptr;
  options.joints = out.joints;
  options.require_torque = true;
  options.resample.reset();
  options.hampel_window = 0;
  options.channels.clear();
  options.cutoff_hz.clear();
  for (const CutoffChoice& choice : out.cutoffs) options.cutoff_hz.push_back(choice.cutoff_hz);
  options.low_speed.assign(out.low_speed.begin(), out.low_speed.end());
  options.decimation = DecimationMode::kNone;
  options.trim = 0;
  return std::make_shared<const JointSignalOptions>(std::move(options));
}

}  // namespace

const char* toString(DerivativeMethod method) {
  constexpr std::array<const char*, 6> kNames = {
      "central differences", "central differences, twice", "backward differences",
      "Savitzky-Golay",      "adaptive windows",           "Fourier"};
  return kNames[static_cast<size_t>(method)];
}

JointSignals jointSignals(const Recording& recording, const JointSignalOptions& options) {
  if (options.as_recorded || options.at_rest) return recordedStates(recording, options);
  Raw raw = gather(recording, options);
  JointSignals out;
  out.source = recording.source;
  out.joints = raw.joints;
  const double rate = makeUniform(recording, options, raw, out.steps);
  out.recorded_rate_hz = out.rate_hz = rate;
  try {
    removeOutliers(options, raw, out.steps);
    out.cutoffs = cutoffsFor(options, raw, rate, out.steps);
    out.time = raw.time;
    out.q = out.v = out.a = Eigen::MatrixXd(raw.q.rows(), raw.q.cols());
    for (Index j = 0; j < raw.q.cols(); ++j) {
      differentiateJoint(options, raw, j, rate, out.cutoffs[static_cast<size_t>(j)], out);
    }
    out.steps.push_back(fmt::format("velocities {}, accelerations by {}",
                                    raw.v.cols() > 0 ? "as measured" : "differentiated",
                                    toString(options.derivative)));
    out.tau = raw.tau;
    if (options.filter && options.filter_torque && raw.tau.cols() > 0) {
      const double highest = highestCutoff(out.cutoffs);
      out.tau = lowPass(options, raw.tau, highest, rate);
      const Eigen::MatrixXd sign = directions(out.v, slowSpeeds(options, out.v));
      out.sign = lowPass(options, sign, highest, rate);
      out.late = lowPass(options, lateDirections(sign, out.q, kPresliding) - sign, highest, rate);
      out.steps.push_back(
          fmt::format("torques filtered at {:.4g} Hz, the highest cut-off", highest));
    } else if (raw.tau.cols() > 0) {
      out.steps.push_back("torques not filtered");
    }
    addNoise(options, rate, out);
    addChannels(options, raw, rate, out);
    thinOut(options, borderFor(options, out.cutoffs, rate, raw.q.rows()),
            ratioFor(options, out.cutoffs, rate), out);
    out.same = sameTreatment(options, out);
  } catch (const Error& error) {
    throw errorIn(recording, error.what());
  }
  return out;
}

}  // namespace proprio
