#include "proprio/recording/json_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/named_arrays_internal.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepestRecord = 16;
constexpr size_t kMostArrays = 10000;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool isValue(const Json& json) { return json.is_number() || json.is_boolean() || json.is_null(); }

double valueOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json.is_boolean() ? static_cast<double>(json.get<bool>()) : kMissing;
}

bool allOf(const Json& list, bool (*is)(const Json&)) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), is);
}

/// Numbers, or none where one is missing.
bool isRow(const Json& json) { return allOf(json, isValue); }

/// Arrays of all records, in the order in which they are first seen.
class JsonArrays {
 public:
  explicit JsonArrays(std::string file) : file_(std::move(file)) {}

  void add(const Json& json, const std::string& name, int depth = 0) {
    if (depth > kDeepestRecord || arrays_.size() > kMostArrays)
      throw Error(
          fmt::format("{}: the JSON is nested deeper than {} levels or has more than {} "
                      "arrays",
                      file_, kDeepestRecord, kMostArrays));
    const auto is_object = [](const Json& one) { return one.is_object(); };
    const auto is_text = [](const Json& one) { return one.is_string(); };
    if (json.is_object()) {
      for (const auto& [key, value] : json.items()) add(value, inside(name, key), depth + 1);
    } else if (allOf(json, is_object)) {
      addRecords(json, name);
    } else if (allOf(json, is_text)) {
      arrays_.push_back({name, {}, "", json.get<std::vector<std::string>>()});
    } else if (json.is_number() || isRow(json)) {
      const auto rows = static_cast<Eigen::Index>(json.is_number() ? 1 : json.size());
      Eigen::MatrixXd values(rows, 1);
      for (Eigen::Index i = 0; i < rows; ++i)
        values(i, 0) = valueOf(json.is_number() ? json : json[static_cast<size_t>(i)]);
      arrays_.push_back({name, std::move(values), "", {}});
    } else if (allOf(json, isRow)) {
      addRows(json, name);
    }
  }

  std::vector<NamedArray> take() { return std::move(arrays_); }

 private:
  static std::string inside(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "." + key;
  }

  void addRows(const Json& rows, const std::string& name) {
    const size_t width = rows.front().size();
    Eigen::MatrixXd values(rows.size(), width);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() != width) throw otherLength(i, name, rows[i].size(), width);
      for (size_t c = 0; c < width; ++c)
        values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) = valueOf(rows[i][c]);
    }
    arrays_.push_back({name, std::move(values), "", {}});
  }

  Error otherLength(size_t row, const std::string& name, size_t found, size_t expected) const {
    return Error(fmt::format("{}: record {}: {} has {} values, expected {} as in those before",
                             file_, row + 1, inQuotes(name), found, expected));
  }

  void addRecords(const Json& records, const std::string& name) {
    std::map<std::string, size_t> place;
    const size_t first = arrays_.size();
    const auto set = [&](size_t row, const std::string& key, const Json& values) {
      const size_t width = values.is_array() ? values.size() : 1;
      const auto [entry, fresh] = place.try_emplace(key, arrays_.size());
      if (fresh)
        arrays_.push_back({key,
                           Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(records.size()),
                                                     static_cast<Eigen::Index>(width), kMissing),
                           "",
                           {}});
      Eigen::MatrixXd& all = arrays_[entry->second].values;
      if (all.cols() != static_cast<Eigen::Index>(width))
        throw otherLength(row, key, width, static_cast<size_t>(all.cols()));
      for (size_t c = 0; c < width; ++c)
        all(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(c)) =
            valueOf(values.is_array() ? values[c] : values);
    };
    std::map<std::string, std::vector<std::string>> texts;
    const auto visit = [&](auto&& self, size_t row, const Json& json, const std::string& key,
                           int depth) -> void {
      if (depth > kDeepestRecord || arrays_.size() - first > kMostArrays)
        throw Error(
            fmt::format("{}: record {}: is nested deeper than {} levels or has more than "
                        "{} values",
                        file_, row + 1, kDeepestRecord, kMostArrays));
      const auto is_text = [](const Json& one) { return one.is_string(); };
      if (json.is_object()) {
        for (const auto& [inner, value] : json.items())
          self(self, row, value, inside(key, inner), depth + 1);
      } else if (json.is_number() || json.is_boolean() || isRow(json)) {
        set(row, key, json);
      } else if (allOf(json, is_text)) {
        const auto list = json.get<std::vector<std::string>>();
        const auto [entry, fresh] = texts.try_emplace(key, list);
        if (!fresh && entry->second != list)
          throw Error(
              fmt::format("{}: record {}: {} is another list than in those before; "
                          "expected the same joints in the same order",
                          file_, row + 1, inQuotes(key)));
      } else if (json.is_array()) {
        for (size_t i = 0; i < json.size(); ++i)
          self(self, row, json[i], fmt::format("{}[{}]", key, i), depth + 1);
      }
    };
    for (size_t row = 0; row < records.size(); ++row) visit(visit, row, records[row], name, 0);
    for (const auto& [key, list] : texts) arrays_.push_back({key, {}, "", list});
  }

  std::string file_;
  std::vector<NamedArray> arrays_;
};

/// One value per line, or one for the whole text.
Json parsed(const std::string& text, const std::string& file) {
  std::string whole_problem;
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& problem) {
    whole_problem = problem.what();
    whole_problem.erase(0, whole_problem.find("parse error"));
  }
  Json records = Json::array();
  size_t line = 0, begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view record = csv::trimmed(std::string_view(text).substr(begin, end - begin));
    ++line;
    begin = end + 1;
    if (record.empty()) continue;
    Json json = Json::parse(record, nullptr, false);
    if (json.is_discarded() && records.empty())
      throw Error(fmt::format("{}: is neither JSON ({}) nor one JSON record per line", file,
                              whole_problem));
    if (json.is_discarded() || !json.is_object())
      throw Error(fmt::format("{}:{}: is no JSON record, expected one per line", file, line));
    records.push_back(std::move(json));
  }
  return records;
}

}  // namespace

std::vector<Recording> readJsonLogText(const std::string& text, const std::string& file_name,
                                       std::vector<std::string>* notes) {
  JsonArrays arrays(file_name);
  arrays.add(parsed(text, file_name), "");
  return recordingsFromArrays(file_name, arrays.take(), '.', "", notes);
}

std::vector<Recording> readJsonLog(const std::string& path, std::vector<std::string>* notes) {
  return readJsonLogText(readFile(path), path, notes);
}

}  // namespace proprio
