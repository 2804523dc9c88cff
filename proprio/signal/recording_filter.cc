#include "proprio/signal/recording_filter.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/quality.h"
#include "proprio/signal/bandwidth.h"
#include "proprio/signal/conditioning.h"
#include "proprio/signal/savitzky_golay.h"

namespace proprio {
namespace {

using Eigen::Index;

/// Part i as a number, or the default where there is none.
double numberAt(const std::vector<std::string>& parts, size_t i, double otherwise,
                const std::string& text) {
  if (i >= parts.size()) return otherwise;
  const std::optional<double> number = parseNumber(parts[i]);
  if (!number || !std::isfinite(*number)) {
    throw Error(fmt::format("{}: {} is not a number", inQuotes(text), inQuotes(parts[i])));
  }
  return *number;
}

int wholeAt(const std::vector<std::string>& parts, size_t i, int otherwise,
            const std::string& text) {
  const double number = numberAt(parts, i, otherwise, text);
  if (number != std::floor(number) || std::abs(number) > 1e9) {
    throw Error(fmt::format("{}: {} is not a whole number", inQuotes(text), inQuotes(parts[i])));
  }
  return static_cast<int>(number);
}

std::string nameOf(const Recording& recording) {
  const std::string source = recording.source.empty() ? "recording" : recording.source;
  return recording.topic.empty() ? source : fmt::format("{} ({})", source, recording.topic);
}

/// Of rows with the same stamp the first: flags have no mean.
Recording withFirstOfRepeated(const Recording& recording) {
  Recording once;
  std::vector<Index> rows;
  for (Index k = 0; k < recording.time.size(); ++k) {
    if (k == 0 || recording.time[k] != recording.time[k - 1]) rows.push_back(k);
  }
  once.time.resize(std::ssize(rows));
  once.values.resize(std::ssize(rows), recording.values.cols());
  for (Index k = 0; k < std::ssize(rows); ++k) {
    once.time[k] = recording.time[rows[static_cast<size_t>(k)]];
    once.values.row(k) = recording.values.row(rows[static_cast<size_t>(k)]);
  }
  return once;
}

double uniformRate(const Recording& recording) {
  if (recording.time.size() == 0) {
    throw Error("there are no time stamps, so that a cut-off in Hz has no meaning");
  }
  const Sampling sampling = analyseSampling(recording.time);
  if (!sampling.uniform) {
    throw Error(fmt::format(
        "the time stamps are not uniform (steps differ by up to {:.0f} % from their median of "
        "{:.4g} ms); resample first (--resample)",
        100.0 * sampling.jitter, 1e3 * sampling.step));
  }
  return sampling.rate_hz;
}

/// The cut-off of a channel: that of the position of its joint, else its own.
CutoffChoice cutoffFor(const Recording& recording, const Channel& channel,
                       const Eigen::VectorXd& values, double rate, int order) {
  const int position = recording.column(Quantity::kPosition, channel.role, channel.of);
  if (channel.of.empty() || position < 0) return chooseCutoffs(values, rate, order)[0];
  return chooseCutoffs(recording.values.col(position), rate, order)[0];
}

/// One channel; returns what was done.
std::string filterChannel(const Recording& recording, const RecordingFilter& filter,
                          const Channel& channel, Eigen::VectorXd& values) {
  using Kind = RecordingFilter::Kind;
  requireFinite(values, "filter", {channel.name});
  switch (filter.kind) {
    case Kind::kLowpass:
    case Kind::kCausal: {
      const double rate = uniformRate(recording);
      CutoffChoice choice;
      choice.cutoff_hz = filter.cutoff_hz;
      choice.reason = "given";
      if (filter.cutoff_hz == 0.0) {
        choice = cutoffFor(recording, channel, values, rate, filter.order);
      }
      const DigitalFilter design = butterworthLowpass(filter.order, choice.cutoff_hz, rate);
      const bool causal = filter.kind == Kind::kCausal;
      values = causal ? filterForward(design, values) : filterZeroPhase(design, values);
      return fmt::format("{} Butterworth of order {} at {:.4g} Hz ({})",
                         causal ? "causal" : "zero-phase", filter.order, choice.cutoff_hz,
                         choice.reason);
    }
    case Kind::kSavitzkyGolay:
      if (recording.time.size() > 0) uniformRate(recording);
      values = savitzkyGolay(values, filter.window, filter.order);
      return fmt::format("Savitzky-Golay of order {} over {} samples", filter.order, filter.window);
    case Kind::kHampel: {
      HampelResult result = hampel(values, filter.window, filter.deviations);
      values = result.values;
      return fmt::format("{} outliers replaced", result.count);
    }
    case Kind::kDetrend:
      values = detrend(values, filter.order);
      return fmt::format("polynomial of degree {} removed", filter.order);
  }
  return "";
}

bool isBetweenNumbers(const Channel& channel) {
  return channel.quantity != Quantity::kOrientation && channel.quantity != Quantity::kContact;
}

}  // namespace

RecordingFilter parseRecordingFilter(const std::string& text) {
  using Kind = RecordingFilter::Kind;
  const std::vector<std::string> parts = splitAt(text, ':');
  RecordingFilter filter;
  size_t most = 3;
  if (parts[0] == "lowpass" || parts[0] == "causal") {
    filter.kind = parts[0] == "causal" ? Kind::kCausal : Kind::kLowpass;
    const bool automatic = parts.size() < 2 || parts[1] == "auto";
    filter.cutoff_hz = automatic ? 0.0 : numberAt(parts, 1, 0.0, text);
    if (!automatic && !(filter.cutoff_hz > 0.0)) {
      throw Error(fmt::format("{}: the cut-off has to be positive (or auto)", inQuotes(text)));
    }
    filter.order = wholeAt(parts, 2, 4, text);
  } else if (parts[0] == "savgol" && parts.size() > 1) {
    filter.kind = Kind::kSavitzkyGolay;
    filter.window = wholeAt(parts, 1, 0, text);
    filter.order = wholeAt(parts, 2, 3, text);
  } else if (parts[0] == "hampel") {
    filter.kind = Kind::kHampel;
    filter.window = wholeAt(parts, 1, 7, text);
    filter.deviations = numberAt(parts, 2, 4.0, text);
  } else if (parts[0] == "detrend") {
    filter.kind = Kind::kDetrend;
    filter.order = wholeAt(parts, 1, 1, text);
    most = 2;
  } else {
    most = 0;
  }
  if (parts.size() > most) {
    throw Error(
        fmt::format("unknown filter {}; there are lowpass[:HZ[:ORDER]], causal[:HZ[:ORDER]], "
                    "savgol:WINDOW[:ORDER], hampel[:WINDOW[:DEVIATIONS]], detrend[:DEGREE]",
                    inQuotes(text)));
  }
  return filter;
}

ResampleOptions parseResampling(const std::string& text) {
  const std::vector<std::string> parts = splitAt(text, ':');
  ResampleOptions options;
  if (parts[0] != "auto") options.rate_hz = numberAt(parts, 0, 0.0, text);
  if (options.rate_hz < 0.0) {
    throw Error(fmt::format("{}: the rate has to be positive (or auto)", inQuotes(text)));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == "split") {
      options.gaps = GapPolicy::kSplit;
    } else if (parts[i] == "merge") {
      options.merge_repeated = true;
    } else {
      options.interpolation = interpolationNamed(parts[i]);
    }
  }
  return options;
}

std::vector<std::string> applyFilter(Recording& recording, const RecordingFilter& filter,
                                     const std::vector<int>& columns) {
  requireValid(recording);
  std::vector<int> chosen = columns;
  if (chosen.empty()) {
    chosen.resize(recording.channels.size());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  std::vector<std::string> done;
  Eigen::MatrixXd values = recording.values;
  Eigen::VectorXd column;
  for (const int c : chosen) {
    if (c < 0 || static_cast<size_t>(c) >= recording.channels.size()) {
      throw Error(fmt::format("{}: there is no column {}", nameOf(recording), c));
    }
    const Channel& channel = recording.channels[static_cast<size_t>(c)];
    try {
      column = recording.values.col(c);
      done.push_back(
          fmt::format("{}: {}", channel.name, filterChannel(recording, filter, channel, column)));
    } catch (const Error& error) {
      throw Error(
          fmt::format("{}: channel '{}': {}", nameOf(recording), channel.name, error.what()));
    }
    values.col(c) = column;
  }
  recording.values = std::move(values);
  return done;
}

std::vector<Recording> resampleRecording(const Recording& recording,
                                         const ResampleOptions& options) {
  requireValid(recording);
  if (recording.time.size() == 0) {
    throw Error(fmt::format("{}: there are no time stamps to resample by", nameOf(recording)));
  }
  std::vector<std::string> names;
  for (const Channel& channel : recording.channels) names.push_back(channel.name);
  try {
    requireFinite(recording.values, "resampling", names);
    std::vector<UniformSignals> parts = resample(recording.time, recording.values, options);
    std::vector<UniformSignals> nearest;
    std::vector<Recording> recordings;
    for (size_t i = 0; i < parts.size(); ++i) {
      Recording part = recording;
      part.time = parts[i].time;
      part.values = std::move(parts[i].values);
      for (size_t c = 0; c < part.channels.size(); ++c) {
        if (isBetweenNumbers(part.channels[c])) continue;
        if (nearest.empty()) {
          ResampleOptions closest = options;
          closest.interpolation = Interpolation::kNearest;
          closest.merge_repeated = false;
          const Recording once =
              options.merge_repeated ? withFirstOfRepeated(recording) : recording;
          nearest = resample(once.time, once.values, closest);
        }
        part.values.col(static_cast<Index>(c)) = nearest[i].values.col(static_cast<Index>(c));
      }
      recordings.push_back(std::move(part));
    }
    return recordings;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", nameOf(recording), error.what()));
  }
}

std::vector<Recording> resampleWithoutAliases(const Recording& recording,
                                              const ResampleOptions& options,
                                              std::vector<std::string>& told) {
  constexpr double kPassed = 0.4;     // of the new rate
  constexpr double kSameRate = 0.99;  // stamps are rounded
  const double rate = timeStatistics(recording.time, recording.samples()).rate_hz;
  if (options.rate_hz == 0.0 || options.rate_hz >= kSameRate * rate)
    return resampleRecording(recording, options);
  if (options.interpolation == Interpolation::kPrevious ||
      options.interpolation == Interpolation::kNearest) {
    told.push_back(fmt::format(
        "single samples are taken: what is faster than {} Hz appears as something slower",
        formatNumber(0.5 * options.rate_hz)));
    return resampleRecording(recording, options);
  }
  RecordingFilter lowpass;
  lowpass.cutoff_hz = kPassed * options.rate_hz;
  std::vector<int> columns;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    if (isBetweenNumbers(recording.channels[c])) columns.push_back(static_cast<int>(c));
  }
  ResampleOptions own = options;
  own.rate_hz = 0.0;
  std::vector<Recording> all;
  for (Recording& stretch : resampleRecording(recording, own)) {
    if (!columns.empty()) applyFilter(stretch, lowpass, columns);
    for (Recording& part : resampleRecording(stretch, options)) all.push_back(std::move(part));
  }
  told.push_back(fmt::format(
      "low-passed at {} Hz (zero-phase, order {}) before, so that nothing faster than half of the "
      "new rate appears as something slower",
      formatNumber(lowpass.cutoff_hz), lowpass.order));
  return all;
}

}  // namespace proprio
