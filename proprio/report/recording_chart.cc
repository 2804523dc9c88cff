#include "proprio/report/recording_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text_table.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

constexpr double kClock = 1e6;  // stamps beyond this many seconds count from another day

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string fileName(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// title, subtitle and x axis: the same for all figures of a recording
struct Heading {
  Figure figure;
  Eigen::VectorXd x;
};

Heading headingOf(const Recording& recording, const Model* model, Eigen::Index samples) {
  Heading heading;
  const Eigen::Index n = recording.samples();
  std::string& subtitle = heading.figure.subtitle;
  std::string source = fileName(recording.source);
  if (!recording.topic.empty()) source += " " + recording.topic;
  const bool named = model != nullptr && !model->name.empty();
  heading.figure.title = named ? model->name : source;
  if (named) subtitle = source + ", ";
  subtitle += fmt::format("{} samples", samples > 0 ? samples : n);
  if (recording.time.size() == 0) {
    heading.x.setLinSpaced(n, 0.0, static_cast<double>(std::max<Eigen::Index>(n - 1, 0)));
    heading.figure.x.label = "sample";
    return heading;
  }
  heading.x = recording.time;
  heading.figure.x = {"time", "s"};
  if (n == 0) return heading;
  const double start = recording.time[0], seconds = recording.time[n - 1] - start;
  subtitle += fmt::format(" over {} s", readable(seconds));
  if (std::abs(start) > kClock) {
    heading.x.array() -= start;
    subtitle += fmt::format(", from {:.3f} s on", start);
  }
  return heading;
}

Series seriesOf(const Recording& recording, int column, const Eigen::VectorXd& x,
                std::string label) {
  return line(std::move(label), x, recording.values.col(column));
}

void addLimits(const Model& model, const Channel& channel, Panel& panel) {
  const int index = model.jointIndex(channel.of);
  if (index < 0 || channel.side == Side::kMotor) return;
  const Joint& joint = model.joints[static_cast<size_t>(index)];
  if (channel.unit != unitOf(channel.quantity, joint.type == JointType::kPrismatic)) return;
  const JointLimits& limits = joint.limits;
  double low = kNotStated, high = kNotStated;
  if (channel.quantity == Quantity::kPosition) {
    low = limits.lower;
    high = limits.upper;
  } else {
    high = channel.quantity == Quantity::kVelocity       ? limits.velocity
           : channel.quantity == Quantity::kAcceleration ? limits.acceleration
           : channel.quantity == Quantity::kTorque       ? limits.effort
                                                         : kNotStated;
    low = -high;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isfinite(low)) {
    panel.markers.push_back({low, "limit", true});
    panel.shades.push_back({-kInfinity, low, "", true});
  }
  if (std::isfinite(high)) {
    panel.markers.push_back({high, "limit", true});
    panel.shades.push_back({high, kInfinity, "", true});
  }
}

bool ofJoint(const Channel& channel) {
  return !channel.of.empty() && belongsToJoint(channel.quantity);
}

// rows: joints in the order of the channels; columns: quantities
void addJoints(const Recording& recording, const Model* model, const Heading& heading,
               std::vector<Figure>& figures) {
  std::vector<std::string> joints;
  std::vector<Quantity> quantities;
  for (const Channel& channel : recording.channels) {
    if (!ofJoint(channel)) continue;
    if (std::find(joints.begin(), joints.end(), channel.of) == joints.end())
      joints.push_back(channel.of);
    if (std::find(quantities.begin(), quantities.end(), channel.quantity) == quantities.end())
      quantities.push_back(channel.quantity);
  }
  if (joints.empty()) return;
  std::sort(quantities.begin(), quantities.end());
  Figure figure = heading.figure;
  figure.columns = quantities.size() > 1 ? static_cast<int>(quantities.size()) : 0;
  for (const std::string& joint : joints) {
    for (const Quantity quantity : quantities) {
      Panel panel;
      if (quantity == quantities.front() || figure.columns == 0) panel.title = joint;
      panel.y.label = spaced(toString(quantity));
      for (size_t c = 0; c < recording.channels.size(); ++c) {
        const Channel& channel = recording.channels[c];
        if (!ofJoint(channel) || channel.of != joint || channel.quantity != quantity) continue;
        Series series = seriesOf(recording, static_cast<int>(c), heading.x, toString(channel.role));
        series.colour = static_cast<int>(channel.role);
        series.dashed = channel.role == Role::kCommanded;
        panel.y.unit = channel.unit;
        if (model != nullptr && panel.series.empty()) addLimits(*model, channel, panel);
        panel.series.push_back(std::move(series));
      }
      figure.panels.push_back(std::move(panel));
    }
  }
  // with measured signals only, a legend tells nothing
  const bool only_measured =
      std::all_of(figure.panels.begin(), figure.panels.end(), [](const Panel& panel) {
        return std::all_of(panel.series.begin(), panel.series.end(), [](const Series& series) {
          return series.colour == static_cast<int>(Role::kMeasured);
        });
      });
  for (Panel& panel : figure.panels) {
    for (Series& series : panel.series) {
      if (only_measured) series.label.clear();
    }
  }
  figures.push_back(std::move(figure));
}

// a panel per sensor and quantity, its components over one another; anything else alone
void addOthers(const Recording& recording, const Heading& heading, bool sensors,
               std::vector<Figure>& figures) {
  Figure figure = heading.figure;
  std::vector<std::pair<Quantity, std::string>> keys;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    const bool is_sensor = !channel.of.empty() && channel.quantity != Quantity::kOther;
    if (ofJoint(channel) || is_sensor != sensors) continue;
    Panel panel;
    panel.y.unit = channel.unit;
    size_t place = keys.size();
    if (sensors) {
      const std::pair<Quantity, std::string> key{channel.quantity, channel.of};
      place = static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
      panel.title = channel.of;
      panel.y.label = spaced(toString(channel.quantity));
    } else {
      panel.title = channel.name;
      if (channel.quantity != Quantity::kOther) panel.y.label = spaced(toString(channel.quantity));
    }
    if (place == keys.size()) {
      keys.emplace_back(channel.quantity, channel.of);
      figure.panels.push_back(std::move(panel));
    }
    std::string label = channel.component;
    if (channel.role != Role::kMeasured) label += std::string(" ") + toString(channel.role);
    figure.panels[place].series.push_back(
        seriesOf(recording, static_cast<int>(c), heading.x, sensors ? label : ""));
  }
  if (!figure.panels.empty()) figures.push_back(std::move(figure));
}

}  // namespace

std::vector<Figure> recordingFigures(const Recording& recording, const Model* model,
                                     Eigen::Index samples) {
  requireValid(recording);
  std::vector<Figure> figures;
  const Heading heading = headingOf(recording, model, samples);
  addJoints(recording, model, heading, figures);
  addOthers(recording, heading, true, figures);
  addOthers(recording, heading, false, figures);
  return figures;
}

}  // namespace proprio
