#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "proprio/core/text.h"
#include "proprio/model/yaml_checks_internal.h"

namespace proprio {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr size_t kLargestYaml = size_t{16} << 20;
// an alias may repeat a large part many times in a small file; no real robot needs more values than
// this
constexpr size_t kMostValues = 1'000'000;

std::optional<double> finiteNumber(std::string_view text) {
  const std::optional<double> value = parseNumber(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// not quoted and without an explicit tag
bool isPlain(const YAML::Node& node) { return node.Tag() == "?" || node.Tag().empty(); }

// such as !!float; YAML calls quotes the tag "!"
bool hasTag(const YAML::Node& node) { return !isPlain(node) && node.Tag() != "!"; }

// Would other YAML programs take this unquoted text for something else than text?
bool looksLikeNoText(const YAML::Node& node) {
  if (!isPlain(node)) return false;
  std::string word = node.Scalar();
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr const char* kWords[] = {"yes",  "no", "on", "off",  "true", "false",
                                    "null", "~",  "",   ".nan", ".inf", "-.inf"};
  return parseNumber(word).has_value() || std::any_of(std::begin(kWords), std::end(kWords),
                                                      [&](const char* w) { return word == w; });
}

// Ignores everything.
class NullHandler : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll would tell, but it never ends on some texts, such as a document with a stray comma.
bool hasMoreDocuments(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NullHandler handler;
  return parser.HandleNextDocument(handler) && parser.HandleNextDocument(handler);
}

// A half sentence about an unknown key: those that look like it or begin with it, or else all.
std::string keysInstead(const std::string& name, const FieldTable& table) {
  constexpr size_t kShortest = 3;  // of a beginning that says what was meant
  std::vector<std::string> names, longer;
  for (const Field& field : table.fields) {
    names.emplace_back(field.name);
    if (name.size() >= kShortest && names.back().starts_with(name)) longer.push_back(field.name);
  }
  const std::vector<std::string> similar = nearestNames(name, names);
  const std::vector<std::string>& near = similar.empty() ? longer : similar;
  return near.empty() ? fmt::format("; there are '{}'", fmt::join(names, "', '"))
                      : fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
}

class Checker {
 public:
  explicit Checker(const std::string& file_name) : file_name_(file_name) {}
  void object(const YAML::Node& node, const std::string& path, const FieldTable& table);

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& sentence) const {
    throw errorAt(yamlLocation(node, file_name_), sentence);
  }
  [[noreturn]] void mismatch(const YAML::Node& node, const std::string& path,
                             const Field& field) const;
  void count(const YAML::Node& node);
  std::string key(const YAML::Node& node, const std::string& path,
                  std::set<std::string>& seen) const;
  void rules(const YAML::Node& node, const std::string& path, const FieldTable& table,
             const std::set<std::string>& seen) const;
  void value(const YAML::Node& node, const std::string& path, const Field& field);
  void scalar(const YAML::Node& node, const std::string& path, const Field& field) const;
  void list(const YAML::Node& node, const std::string& path, const Field& field,
            const Field& entry);
  void rows(const YAML::Node& node, const std::string& path, const Field& field);
  void map(const YAML::Node& node, const std::string& path, const Field& field, const Field& entry);
  void info(const YAML::Node& node, const std::string& path, const Field& field);

  std::string file_name_;
  size_t values_ = 0;
};

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

void Checker::mismatch(const YAML::Node& node, const std::string& path, const Field& field) const {
  std::string hint;
  if (node.IsNull() || (node.IsScalar() && node.Scalar().empty())) {
    hint = "; give a value or remove the key";
  } else if (node.IsScalar() && hasTag(node)) {
    hint = fmt::format("; remove the tag {}", inQuotes(node.Tag()));
  } else if (node.IsScalar() &&
             (field.type == FieldType::kStrings || field.type == FieldType::kChoices)) {
    hint = fmt::format("; put it in brackets: [{}]", inQuotes(node.Scalar()));
  } else if (node.IsScalar() && !isPlain(node) && finiteNumber(node.Scalar())) {
    hint = "; remove the quotes";
  } else if (node.IsScalar() && parseNumber(node.Scalar()) && !finiteNumber(node.Scalar())) {
    hint = ", finite";
  } else if (node.IsScalar() && field.type == FieldType::kString) {
    hint = "; put it in quotes";
  } else if (node.IsScalar() && field.type == FieldType::kChoice) {
    const std::vector<std::string> near =
        nearestNames(node.Scalar(), {field.choices.begin(), field.choices.end()}, 1);
    if (!near.empty()) hint = fmt::format("; did you mean {}?", near[0]);
  }
  fail(node, fmt::format("{} is {}, expected {}{} ({})", path, describe(node), expectation(field),
                         hint, field.help));
}

void Checker::count(const YAML::Node& node) {
  if (++values_ > kMostValues)
    fail(node, "more than a million values, aliases included; expected a robot");
}

// the key of a mapping's entry, which must be new
std::string Checker::key(const YAML::Node& node, const std::string& path,
                         std::set<std::string>& seen) const {
  const std::string where = path.empty() ? "the file" : path;
  if (!node.IsScalar())
    fail(node, fmt::format("{} has {} as a key, expected a name", where, describe(node)));
  const std::string& name = node.Scalar();
  if (name == "<<")
    fail(node,
         fmt::format("{} has the merge key '<<', which is not supported; write it out", where));
  if (looksLikeNoText(node)) {
    fail(node,
         fmt::format("{} has the key {}, which YAML does not read as a text; put it in quotes",
                     where, inQuotes(name)));
  }
  if (!seen.insert(name).second)
    fail(node, fmt::format("{} has the key {} twice; keep one", where, inQuotes(name)));
  return name;
}

void Checker::rules(const YAML::Node& node, const std::string& path, const FieldTable& table,
                    const std::set<std::string>& seen) const {
  const std::string where = path.empty() ? "the file" : path;
  for (const Field& field : table.fields) {
    if (field.required && seen.count(field.name) == 0) {
      fail(node, fmt::format("{} has no key '{}', expected {} ({})", where, field.name,
                             expectation(field), field.help));
    }
  }
  for (const FieldRule& rule : table.rules) {
    const auto present = std::count_if(rule.names.begin(), rule.names.end(),
                                       [&](const char* name) { return seen.count(name) > 0; });
    if (present > 1) {
      fail(node, fmt::format("{} has {}, expected only one of them", where,
                             fmt::join(rule.names, " and ")));
    }
    if (present == 0 && rule.kind == FieldRule::Kind::kExactlyOne) {
      fail(node, fmt::format("{} has neither {}; expected one of them", where,
                             fmt::join(rule.names, " nor ")));
    }
  }
}

void Checker::object(const YAML::Node& node, const std::string& path, const FieldTable& table) {
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = key(entry.first, path, seen);
    const auto field = std::find_if(table.fields.begin(), table.fields.end(),
                                    [&](const Field& f) { return name == f.name; });
    if (field == table.fields.end()) {
      const std::string where = path.empty() ? "the file" : path;
      fail(entry.first, fmt::format("{} has the unknown key {}{}", where, inQuotes(name),
                                    keysInstead(name, table)));
    }
    value(entry.second, joined(path, name), *field);
  }
  rules(node, path, table, seen);
}

void Checker::scalar(const YAML::Node& node, const std::string& path, const Field& field) const {
  if (!node.IsScalar()) mismatch(node, path, field);
  const std::string& text = node.Scalar();
  bool fits = true;
  switch (field.type) {
    case FieldType::kNumber:
    case FieldType::kInteger: {
      const std::optional<double> number = finiteNumber(text);
      fits = isPlain(node) && number && *number <= field.max &&
             (field.above_min ? *number > field.min : *number >= field.min) &&
             (field.type == FieldType::kNumber || *number == std::floor(*number));
      break;
    }
    case FieldType::kAngle:
      fits = parseAngle(text) && (isPlain(node) || !finiteNumber(text));
      break;
    case FieldType::kBoolean:
      fits = isPlain(node) && (text == "true" || text == "false");
      break;
    case FieldType::kChoice:
      fits = std::any_of(field.choices.begin(), field.choices.end(),
                         [&](const char* c) { return text == c; });
      break;
    default:
      fits = !looksLikeNoText(node) && !text.empty();
  }
  if (!fits) mismatch(node, path, field);
}

void Checker::list(const YAML::Node& node, const std::string& path, const Field& field,
                   const Field& entry) {
  if (!node.IsSequence()) mismatch(node, path, field);
  if (field.count > 0 && node.size() != field.count) mismatch(node, path, field);
  for (size_t i = 0; i < node.size(); ++i) value(node[i], fmt::format("{}[{}]", path, i), entry);
}

void Checker::rows(const YAML::Node& node, const std::string& path, const Field& field) {
  if (!node.IsSequence() || node.size() == 0) mismatch(node, path, field);
  Field row = field;
  row.type = FieldType::kNumbers;
  if (field.count == 0) row.count = node[0].IsSequence() ? node[0].size() : 0;
  for (size_t i = 0; i < node.size(); ++i) {
    const std::string row_path = fmt::format("{}[{}]", path, i);
    if (!node[i].IsSequence() || node[i].size() != row.count || row.count == 0)
      mismatch(node[i], row_path, row);
    value(node[i], row_path, row);
  }
}

void Checker::map(const YAML::Node& node, const std::string& path, const Field& field,
                  const Field& entry) {
  if (!node.IsMap()) mismatch(node, path, field);
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string name = key(pair.first, path, seen);
    value(pair.second, joined(path, name), entry);
  }
}

void Checker::info(const YAML::Node& node, const std::string& path, const Field& field) {
  if (!node.IsMap()) mismatch(node, path, field);
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string name = key(pair.first, path, seen);
    if (!pair.second.IsScalar()) mismatch(pair.second, joined(path, name), field);
    count(pair.second);
  }
}

void Checker::value(const YAML::Node& node, const std::string& path, const Field& field) {
  count(node);
  Field entry = field;
  entry.count = 0;
  const auto entryOf = [&](FieldType type) -> const Field& {
    entry.type = type;
    return entry;
  };
  switch (field.type) {
    case FieldType::kNumbers:
      return list(node, path, field, entryOf(FieldType::kNumber));
    case FieldType::kAngles:
      return list(node, path, field, entryOf(FieldType::kAngle));
    case FieldType::kStrings:
      return list(node, path, field, entryOf(FieldType::kString));
    case FieldType::kChoices:
      return list(node, path, field, entryOf(FieldType::kChoice));
    case FieldType::kNumberOrList:
      if (node.IsSequence()) return list(node, path, field, entryOf(FieldType::kAngle));
      return scalar(node, path, entryOf(FieldType::kAngle));
    case FieldType::kTexts:
      if (node.IsSequence()) return list(node, path, field, entryOf(FieldType::kTexts));
      if (!node.IsScalar() || node.Scalar().empty()) mismatch(node, path, field);
      return;
    case FieldType::kObjects:
      return list(node, path, field, entryOf(FieldType::kObject));
    case FieldType::kRows:
      return rows(node, path, field);
    case FieldType::kStringMap:
      return map(node, path, field, entryOf(FieldType::kString));
    case FieldType::kObjectMap:
      return map(node, path, field, entryOf(FieldType::kObject));
    case FieldType::kInfo:
      return info(node, path, field);
    case FieldType::kWeights:
      if (node.IsMap()) return map(node, path, field, entryOf(FieldType::kNumber));
      return scalar(node, path, field);
    case FieldType::kObjectOrList:
      if (node.IsSequence()) return list(node, path, field, entryOf(FieldType::kObject));
      [[fallthrough]];
    case FieldType::kObject:
      if (!node.IsMap()) mismatch(node, path, field);
      return object(node, path, robotFieldTable(field.table));
    default:
      return scalar(node, path, field);
  }
}

}  // namespace

YAML::Node parseYaml(const std::string& text, const std::string& file_name) {
  if (text.size() > kLargestYaml)
    throw errorAt({file_name, 0, 0}, "is larger than 16 MiB, expected a robot.yaml");
  try {
    const YAML::Node document = YAML::Load(text);
    if (hasMoreDocuments(text)) {
      throw errorAt({file_name, 0, 0},
                    "has more than one document, or a stray comma; expected one, without '---'");
    }
    if (!document.IsDefined() || document.IsNull()) {
      throw errorAt({file_name, 0, 0}, "is empty, expected a robot (version: 1, ...)");
    }
    return document;
  } catch (const YAML::DeepRecursion& error) {
    throw errorAt({file_name, error.mark.line + 1, error.mark.column + 1},
                  "lists and mappings are nested too deeply here; expected a robot");
  } catch (const YAML::Exception& error) {
    throw errorAt({file_name, error.mark.line + 1, error.mark.column + 1},
                  fmt::format("the YAML is broken here: {}", error.msg));
  }
}

FileLocation yamlLocation(const YAML::Node& node, const std::string& file_name) {
  const YAML::Mark mark = node.Mark();
  return {file_name, std::max(mark.line, -1) + 1, std::max(mark.column, -1) + 1};
}

void checkFields(const YAML::Node& node, const FieldTable& table, const std::string& file_name) {
  if (!node.IsMap()) {
    throw errorAt(
        yamlLocation(node, file_name),
        fmt::format("the file is {}, expected a mapping with keys such as version, name, urdf",
                    describe(node)));
  }
  Checker(file_name).object(node, "", table);
}

std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      if (node.Scalar().empty()) return "an empty text";
      return isPlain(node)  ? inQuotes(node.Scalar())
             : hasTag(node) ? inQuotes(node.Scalar()) + " with a tag"
                            : "the text " + inQuotes(node.Scalar());
    case YAML::NodeType::Sequence:
      return fmt::format("a list of {}", node.size());
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "empty";
  }
}

namespace {

/// "1/8192"
std::optional<double> quotientOf(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<double> above = finiteNumber(text.substr(0, slash)),
                              below = finiteNumber(text.substr(slash + 1));
  return above && below && *below != 0.0 ? std::optional<double>(*above / *below) : std::nullopt;
}

}  // namespace

std::optional<double> parseAngle(std::string_view text) {
  if (const std::optional<double> number = parseNumber(text)) return finiteNumber(text);
  std::string word(text);
  word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
  const size_t pi = word.find("pi");
  if (pi == std::string::npos) return quotientOf(word);
  double value = kPi;
  const std::string before = word.substr(0, pi), after = word.substr(pi + 2);
  if (before == "-") {
    value = -kPi;
  } else if (!before.empty() && before != "+") {
    const std::optional<double> factor = finiteNumber(before.substr(0, before.size() - 1));
    if (before.back() != '*' || !factor) return std::nullopt;
    value = *factor * kPi;
  }
  if (!after.empty()) {
    const std::optional<double> divisor = finiteNumber(after.substr(1));
    if (after[0] != '/' || !divisor || *divisor == 0.0) return std::nullopt;
    value /= *divisor;
  }
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

}  // namespace proprio
