#include "proprio/report/recording_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "proprio/core/text_table.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSteady = 1e-4;  // jitter that is only rounding of the stamps

std::string timingText(const TimeStatistics& time) {
  std::string text = fmt::format("{} sample{}", time.samples, time.samples == 1 ? "" : "s");
  if (time.rate_hz <= 0.0) return text + ", no rate";
  text += fmt::format(" over {} s, {} Hz", readable(time.duration), readable(time.rate_hz));
  text += time.jitter < kSteady ? ", steady"
                                : fmt::format(", jitter {} %", readable(100.0 * time.jitter, 2));
  if (time.longest_step > time.shortest_step * (1.0 + kSteady)) {
    text += fmt::format(" (steps of {} to {} ms)", readable(1e3 * time.shortest_step, 3),
                        readable(1e3 * time.longest_step, 3));
  }
  const auto count = [&](Eigen::Index n, const char* one, const char* many) {
    if (n > 0) text += fmt::format(", {} {}", n, n == 1 ? one : many);
  };
  count(time.gaps, "gap", "gaps");
  count(time.repeated, "repeated stamp", "repeated stamps");
  count(time.reversed, "reversed stamp", "reversed stamps");
  return text;
}

// "position of elbow", "commanded torque", "motor-side current"; empty if nothing is known
std::string meaningOf(const Channel& channel) {
  if (channel.quantity == Quantity::kOther) return "";
  std::string text = channel.side == Side::kMotor ? "motor-side " : "";
  if (channel.role == Role::kCommanded) text += "commanded ";
  if (channel.role == Role::kTruth) text += "true ";
  if (channel.role == Role::kExternal) text += "external ";
  text += toString(channel.quantity);
  std::replace(text.begin(), text.end(), '_', ' ');
  if (!channel.of.empty()) text += " of " + channel.of;
  return channel.component.empty() ? text : text + " " + channel.component;
}

// the course of a channel in a few letters: the mean of each stretch, on eight levels
std::string sparkline(const Eigen::Ref<const Eigen::VectorXd>& values) {
  constexpr Eigen::Index kWidth = 16;
  static const char* const kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Eigen::ArrayXd means(std::min(kWidth, values.size()));
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    const Eigen::Index begin = i * values.size() / means.size();
    const Eigen::Index end = (i + 1) * values.size() / means.size();
    means[i] = values.segment(begin, end - begin).mean();
  }
  double low = INFINITY, high = -INFINITY;
  for (const double mean : means) {
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  std::string text;
  for (const double mean : means) {
    const double share = high > low ? (mean - low) / (high - low) : 0.0;
    text += std::isfinite(mean) ? kLevels[std::min(7, static_cast<int>(8.0 * share))] : " ";
  }
  return text;
}

std::string channelTable(const Recording& recording, const Quality& quality, bool colour) {
  TextTable table;
  table.header = {"channel", "signal", "unit",       "",       "smallest",
                  "largest", "dev.",   "resolution", "missing"};
  table.right = {false, false, false, false, true, true, true, true, true};
  for (size_t c = 0; c < recording.channels.size() && c < quality.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    const ChannelStatistics& numbers = quality.channels[c];
    const bool any = numbers.missing < quality.time.samples;
    const auto shown = [&](double value) { return any ? readable(value) : std::string("-"); };
    table.rows.push_back({channel.name, meaningOf(channel), channel.unit,
                          sparkline(recording.values.col(static_cast<Eigen::Index>(c))),
                          shown(numbers.smallest), shown(numbers.largest), shown(numbers.deviation),
                          numbers.step > 0.0 ? readable(numbers.step, 3) : "",
                          numbers.missing > 0 ? fmt::to_string(numbers.missing) : ""});
  }
  return table.text(colour);
}

std::string findingText(const QualityFinding& finding, bool colour, int width) {
  constexpr const char* kMarks[] = {"•", "▲", "✗"};
  constexpr Ink kInks[] = {Ink::kDim, Ink::kYellow, Ink::kRed};
  constexpr int kIndent = 4;
  const auto index = static_cast<size_t>(finding.severity);
  const std::string about = finding.about.empty() ? "" : finding.about + ": ";
  return fmt::format("  {} {}\n", inked(kMarks[index], kInks[index], colour),
                     wrapped(about + finding.sentence, width - kIndent, kIndent));
}

Json timeJson(const TimeStatistics& time) {
  return {{"duration", time.duration},
          {"rate_hz", time.rate_hz},
          {"median_step", time.median_step},
          {"shortest_step", time.shortest_step},
          {"longest_step", time.longest_step},
          {"jitter", time.jitter},
          {"gaps", time.gaps},
          {"repeated", time.repeated},
          {"reversed", time.reversed}};
}

Json channelJson(const Channel& channel, const ChannelStatistics& numbers) {
  return {{"name", channel.name},
          {"quantity", toString(channel.quantity)},
          {"role", toString(channel.role)},
          {"side", toString(channel.side)},
          {"of", channel.of},
          {"component", channel.component},
          {"unit", channel.unit},
          {"origin", channel.origin},
          {"smallest", numbers.smallest},
          {"largest", numbers.largest},
          {"mean", numbers.mean},
          {"deviation", numbers.deviation},
          {"missing", numbers.missing},
          {"resolution", numbers.step},
          {"longest_frozen", numbers.longest_frozen},
          {"at_smallest", numbers.at_smallest},
          {"at_largest", numbers.at_largest},
          {"spikes", numbers.spikes}};
}

}  // namespace

int countOf(const std::vector<QualityFinding>& findings, Severity severity) {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const QualityFinding& finding) { return finding.severity == severity; }));
}

std::string recordingText(const Recording& recording, const Quality& quality, bool colour,
                          int width) {
  std::string text = inked(recording.source, Ink::kBold, colour);
  if (!recording.topic.empty()) text += "  " + recording.topic;
  text += "\n  " + wrapped(timingText(quality.time), width - 2, 2) + "\n";
  if (!recording.channels.empty()) text += "\n" + channelTable(recording, quality, colour);
  if (!quality.findings.empty()) text += '\n';
  for (const QualityFinding& finding : quality.findings)
    text += findingText(finding, colour, width);
  return text;
}

std::string recordingJson(const Recording& recording, const Quality& quality) {
  Json channels = Json::array(), delays = Json::array(), findings = Json::array();
  for (size_t c = 0; c < recording.channels.size() && c < quality.channels.size(); ++c)
    channels.push_back(channelJson(recording.channels[c], quality.channels[c]));
  for (const DelayEstimate& delay : quality.delays) {
    delays.push_back({{"joint", delay.joint},
                      {"delay", delay.delay},
                      {"standard_error", delay.standard_error},
                      {"explained", delay.explained},
                      {"gain", delay.gain},
                      {"reliable", delay.reliable}});
  }
  for (const QualityFinding& finding : quality.findings) {
    findings.push_back({{"severity", toString(finding.severity)},
                        {"about", finding.about},
                        {"sentence", finding.sentence}});
  }
  const Json out = {{"source", recording.source},
                    {"topic", recording.topic},
                    {"samples", quality.time.samples},
                    {"time_stamps", recording.time.size() > 0},
                    {"time", timeJson(quality.time)},
                    {"channels", channels},
                    {"delays", delays},
                    {"findings", findings}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace proprio
