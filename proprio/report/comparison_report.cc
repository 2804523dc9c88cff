#include "proprio/report/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "proprio/core/text.h"
#include "proprio/core/text_table.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kAgreement = 3.0;      // combined standard deviations
constexpr size_t kShownParameters = 8;  // those farthest apart, in a terminal
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The last folders that tell them apart, or their number.
std::vector<std::string> shortNames(const std::vector<EstimateSummary>& results) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  for (const EstimateSummary& result : results) {
    fs::path path = fs::path(result.path).lexically_normal();
    if (path.filename() == "estimate.json") path = path.parent_path();
    if (path.filename().empty()) path = path.parent_path();
    names.push_back(path.filename().empty() ? result.method : path.filename().string());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const bool twice = std::count(names.begin(), names.end(), names[i]) > 1;
    if (!twice) continue;
    const std::string name = names[i];
    int number = 0;
    for (std::string& other : names) {
      if (other == name) other = fmt::format("{}#{}", name, ++number);
    }
  }
  return names;
}

template <class Items>
const typename Items::value_type* entryNamed(const Items& items, const std::string& name) {
  for (const auto& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

/// Validation where there is one, else training.
const JointError& judgedError(const EstimateSummary& result, const EstimateSummary::Joint& joint) {
  return result.validation.rows > 0 ? joint.validation : joint.training;
}

double errorPercent(const EstimateSummary& result, const std::string& joint) {
  const EstimateSummary::Joint* found = entryNamed(result.joints, joint);
  return found == nullptr ? kUnknown : judgedError(result, *found).percent;
}

double givenPercent(const EstimateSummary& result, const std::string& joint) {
  const EstimateSummary::Joint* found = entryNamed(result.joints, joint);
  if (found == nullptr) return kUnknown;
  return (result.validation.rows > 0 ? found->validation_as_given : found->training_as_given)
      .percent;
}

std::string percentOrDash(double value) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, value < 9.95 ? 2 : 1) : "-";
}

std::vector<std::string> headerOf(const Comparison& comparison, const std::string& first) {
  std::vector<std::string> header = {first};
  header.insert(header.end(), comparison.names.begin(), comparison.names.end());
  return header;
}

/// Results as rows: what each of them is.
std::string resultsTable(const Comparison& comparison, bool colour) {
  TextTable table;
  table.header = {"result", "robot",    "method",    "error %", "judged on",
                  "passed", "possible", "condition", "agrees"};
  table.right = {false, false, false, true, false, false, false, true, true};
  for (size_t i = 0; i < comparison.results.size(); ++i) {
    const EstimateSummary& result = comparison.results[i];
    const bool validated = result.validation.rows > 0;
    table.rows.push_back(
        {comparison.names[i], result.robot, result.method,
         percentOrDash((validated ? result.validation : result.training).percent),
         validated ? "validation" : "training",
         result.passed ? inked("yes", Ink::kGreen, colour) : inked("no", Ink::kRed, colour),
         result.consistent ? "yes" : inked("no", Ink::kYellow, colour),
         readable(result.condition, 3),
         i == 0 ? "" : fmt::format("{} of {}", comparison.within_3[i], comparison.shared[i])});
  }
  return table.text(colour) +
         inked("  agrees: base parameters within 3 combined standard deviations of the first\n",
               Ink::kDim, colour);
}

double farthest(const BaseComparison& base) {
  double most = -1.0;
  for (const double distance : base.distances) {
    if (std::isfinite(distance)) most = std::max(most, distance);
  }
  return most;
}

std::string baseTable(const Comparison& comparison, bool colour, int width) {
  std::vector<size_t> order(comparison.base.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return farthest(comparison.base[a]) > farthest(comparison.base[b]);
  });
  TextTable table;
  table.header = headerOf(comparison, "base parameter");
  table.header.emplace_back("apart");
  table.header.emplace_back("unit");
  table.right.assign(table.header.size(), true);
  table.right.front() = table.right.back() = false;
  const int room = width - 12 * static_cast<int>(comparison.names.size()) - 28;
  for (const size_t index : order) {
    const BaseComparison& base = comparison.base[index];
    if (table.rows.size() == kShownParameters || farthest(base) < 0.0) break;
    std::string name = base.grouping;
    const auto most = static_cast<size_t>(std::max(12, room));
    if (name.size() > most) name = name.substr(0, most - 3) + "...";
    std::vector<std::string> row = {name};
    for (const double value : base.values) row.push_back(readable(value, 3));
    const double apart = farthest(base);
    const std::string text = apart < 1e4 ? fmt::format("{:.1f}", apart) : "> 10000";
    row.push_back(apart > kAgreement ? inked(text, Ink::kYellow, colour) : text);
    row.push_back(base.unit);
    table.rows.push_back(row);
  }
  return table.text(colour);
}

}  // namespace

Comparison compareEstimates(const std::vector<EstimateSummary>& results) {
  if (results.size() < 2)
    throw Error(fmt::format("a comparison needs at least two results, found {}", results.size()));
  Comparison comparison;
  comparison.results = results;
  comparison.names = shortNames(results);
  const auto remember = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  std::vector<std::string> groupings;
  for (const EstimateSummary& result : results) {
    for (const EstimateSummary::Joint& joint : result.joints)
      remember(comparison.joints, joint.name);
    for (const EstimateSummary::Body& link : result.links) remember(comparison.links, link.name);
    for (const EstimateSummary::Base& base : result.base) remember(groupings, base.grouping);
    const bool common =
        std::any_of(result.joints.begin(), result.joints.end(), [&](const auto& joint) {
          return entryNamed(results.front().joints, joint.name) != nullptr;
        });
    if (!common)
      throw Error(fmt::format("{} has no joint in common with {}; compare results of one robot",
                              result.path, results.front().path));
  }
  comparison.shared.assign(results.size(), 0);
  comparison.within_3.assign(results.size(), 0);
  for (const std::string& grouping : groupings) {
    BaseComparison base;
    base.grouping = grouping;
    for (const EstimateSummary& result : results) {
      const auto found = std::find_if(result.base.begin(), result.base.end(),
                                      [&](const auto& b) { return b.grouping == grouping; });
      const bool has = found != result.base.end();
      if (has) base.unit = found->unit;
      base.values.push_back(has ? found->value : kUnknown);
      base.sigmas.push_back(has ? found->sigma : kUnknown);
      base.distances.push_back(std::abs(base.values.back() - base.values.front()) /
                               std::hypot(base.sigmas.back(), base.sigmas.front()));
      if (!std::isfinite(base.distances.back())) continue;
      const size_t i = base.values.size() - 1;
      ++comparison.shared[i];
      comparison.within_3[i] += base.distances.back() <= kAgreement;
    }
    comparison.base.push_back(base);
  }
  return comparison;
}

std::string comparisonText(const Comparison& comparison, bool colour, int width) {
  TextTable errors;
  errors.header = headerOf(comparison, "joint error %");
  errors.header.emplace_back("as given");
  errors.right.assign(errors.header.size(), true);
  errors.right.front() = false;
  for (const std::string& joint : comparison.joints) {
    std::vector<std::string> row = {joint};
    double best = INFINITY;
    for (const EstimateSummary& result : comparison.results)
      best = std::fmin(best, errorPercent(result, joint));
    for (const EstimateSummary& result : comparison.results) {
      const double percent = errorPercent(result, joint);
      row.push_back(
          inked(percentOrDash(percent), percent <= best ? Ink::kGreen : Ink::kPlain, colour));
    }
    row.push_back(percentOrDash(givenPercent(comparison.results.front(), joint)));
    errors.rows.push_back(row);
  }
  TextTable masses;
  masses.header = headerOf(comparison, "mass kg");
  masses.header.emplace_back("as given");
  masses.right = errors.right;
  for (const std::string& link : comparison.links) {
    std::vector<std::string> row = {link};
    double given = kUnknown;
    for (const EstimateSummary& result : comparison.results) {
      const EstimateSummary::Body* body = entryNamed(result.links, link);
      row.push_back(body == nullptr ? "-" : readable(body->mass, 3));
      if (body != nullptr && std::isnan(given)) given = body->declared_mass;
    }
    row.push_back(readable(given, 3));
    masses.rows.push_back(row);
  }
  return resultsTable(comparison, colour) + "\n" + errors.text(colour) + "\n" +
         masses.text(colour) + "\n" + baseTable(comparison, colour, width);
}

std::string comparisonJson(const Comparison& comparison) {
  Json results = Json::array(), joints = Json::array(), links = Json::array(), base = Json::array();
  for (size_t i = 0; i < comparison.results.size(); ++i) {
    const EstimateSummary& result = comparison.results[i];
    results.push_back({{"name", comparison.names[i]},
                       {"path", result.path},
                       {"robot", result.robot},
                       {"method", result.method},
                       {"passed", result.passed},
                       {"consistent", result.consistent},
                       {"condition_number", result.condition},
                       {"seconds", result.seconds},
                       {"training_percent", result.training.percent},
                       {"validation_percent", result.validation.percent},
                       {"shared_base_parameters", comparison.shared[i]},
                       {"within_3_sigma", comparison.within_3[i]}});
  }
  for (const std::string& joint : comparison.joints) {
    Json training = Json::array(), validation = Json::array(), training_rms = Json::array(),
         validation_rms = Json::array();
    for (const EstimateSummary& result : comparison.results) {
      const EstimateSummary::Joint* found = entryNamed(result.joints, joint);
      training.push_back(found ? found->training.percent : kUnknown);
      validation.push_back(found ? found->validation.percent : kUnknown);
      training_rms.push_back(found ? found->training.rms : kUnknown);
      validation_rms.push_back(found ? found->validation.rms : kUnknown);
    }
    joints.push_back({{"joint", joint},
                      {"training_percent", training},
                      {"validation_percent", validation},
                      {"training_rms", training_rms},
                      {"validation_rms", validation_rms}});
  }
  for (const std::string& link : comparison.links) {
    Json mass = Json::array();
    for (const EstimateSummary& result : comparison.results) {
      const EstimateSummary::Body* body = entryNamed(result.links, link);
      mass.push_back(body ? body->mass : kUnknown);
    }
    links.push_back({{"link", link}, {"mass", mass}});
  }
  for (const BaseComparison& parameter : comparison.base) {
    base.push_back({{"grouping", parameter.grouping},
                    {"unit", parameter.unit},
                    {"values", parameter.values},
                    {"sigmas", parameter.sigmas},
                    {"distances", parameter.distances}});
  }
  const Json out = {
      {"results", results}, {"joints", joints}, {"links", links}, {"base_parameters", base}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Figure> comparisonFigures(const Comparison& comparison) {
  const size_t count = comparison.results.size();
  Figure figure;
  figure.title = "Identifications compared";
  figure.shared_x = false;
  figure.columns = 1;
  figure.width = 1000.0;
  Panel errors, masses, distances;
  errors.title = "Torque error";
  errors.y = {"error", "%"};
  errors.x.names = comparison.joints;
  masses.title = "Mass";
  masses.y = {"mass", "kg"};
  masses.x.names = comparison.links;
  distances.title = "Base parameters: distance from " + comparison.names.front();
  distances.x = {"base parameter", ""};
  distances.y = {"distance", "combined σ"};
  distances.markers.push_back({kAgreement, "3 σ", true});
  for (size_t i = 0; i < count; ++i) {
    const EstimateSummary& result = comparison.results[i];
    Eigen::VectorXd error(static_cast<Eigen::Index>(comparison.joints.size())),
        mass(static_cast<Eigen::Index>(comparison.links.size())),
        place(static_cast<Eigen::Index>(comparison.base.size())), distance = place;
    for (size_t j = 0; j < comparison.joints.size(); ++j)
      error[static_cast<Eigen::Index>(j)] = errorPercent(result, comparison.joints[j]);
    for (size_t l = 0; l < comparison.links.size(); ++l) {
      const EstimateSummary::Body* body = entryNamed(result.links, comparison.links[l]);
      mass[static_cast<Eigen::Index>(l)] = body == nullptr ? kUnknown : body->mass;
    }
    for (size_t b = 0; b < comparison.base.size(); ++b) {
      place[static_cast<Eigen::Index>(b)] = static_cast<double>(b);
      distance[static_cast<Eigen::Index>(b)] = comparison.base[b].distances[i];
    }
    errors.series.push_back(bars(comparison.names[i], error));
    masses.series.push_back(bars(comparison.names[i], mass));
    if (i == 0) continue;
    distances.series.push_back(points(comparison.names[i], place, distance));
    distances.series.back().colour = static_cast<int>(i % 8);
  }
  figure.panels = {errors, masses};
  if (!comparison.base.empty()) figure.panels.push_back(distances);
  return {figure};
}

}  // namespace proprio
