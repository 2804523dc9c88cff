#include "proprio/model/robot_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "proprio/model/robot_fields_internal.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

Json range(Json schema, const Field& field) {
  if (std::isfinite(field.min))
    schema[field.above_min ? "exclusiveMinimum" : "minimum"] = field.min;
  if (std::isfinite(field.max)) schema["maximum"] = field.max;
  return schema;
}

Json listOf(Json items, size_t count) {
  Json schema = {{"type", "array"}, {"items", std::move(items)}};
  if (count > 0) schema["minItems"] = schema["maxItems"] = count;
  return schema;
}

Json mapOf(Json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json valueSchema(const Field& field) {
  Json number = range({{"type", "number"}}, field);
  Json text = {{"type", "string"}, {"minLength", 1}};
  Json angle = {
      {"anyOf",
       {{{"type", "number"}},
        {{"type", "string"},
         {"pattern",
          "^ *[+-]?(([0-9.]+ *[*] *)?pi( */ *[0-9.]+)?|[0-9.eE+-]+ */ *[0-9.eE+-]+) *$"}}}}};
  Json reference = {
      {"$ref", std::string("#/definitions/") + (field.table == nullptr ? "" : field.table)}};
  switch (field.type) {
    case FieldType::kNumber:
      return number;
    case FieldType::kAngle:
      return angle;
    case FieldType::kInteger:
      return range({{"type", "integer"}}, field);
    case FieldType::kBoolean:
      return {{"type", "boolean"}};
    case FieldType::kString:
      return text;
    case FieldType::kChoice:
      return {{"enum", field.choices}};
    case FieldType::kNumbers:
      return listOf(number, field.count);
    case FieldType::kAngles:
      return listOf(angle, field.count);
    case FieldType::kRows: {
      Json rows = listOf(listOf(number, field.count), 0);
      rows["minItems"] = 1;
      return rows;
    }
    case FieldType::kStrings:
      return listOf(text, 0);
    case FieldType::kTexts: {
      Json either = {{"type", {"string", "number"}}, {"minLength", 1}};
      return {{"anyOf", {either, listOf(either, 0)}}};
    }
    case FieldType::kNumberOrList:
      return {{"anyOf", {angle, listOf(angle, 0)}}};
    case FieldType::kChoices:
      return listOf({{"enum", field.choices}}, 0);
    case FieldType::kStringMap:
      return mapOf(text);
    case FieldType::kInfo:
      return mapOf({{"type", {"string", "number", "boolean"}}});
    case FieldType::kWeights:
      return {{"anyOf", {text, mapOf(number)}}};
    case FieldType::kObject:
      return reference;
    case FieldType::kObjects:
      return listOf(reference, 0);
    case FieldType::kObjectOrList:
      return {{"anyOf", {reference, listOf(reference, 0)}}};
    case FieldType::kObjectMap:
      return mapOf(reference);
  }
  return {};
}

Json ruleSchema(const FieldRule& rule) {
  Json options = Json::array();
  for (const char* name : rule.names) options.push_back({{"required", {name}}});
  if (rule.kind == FieldRule::Kind::kExactlyOne) return {{"oneOf", options}};
  return {{"not", {{"required", rule.names}}}};
}

// if the key has one of these values, then these keys must and those must not be there
Json caseSchema(const FieldTable& table, const FieldCase& one) {
  const Json is = {{"properties", {{one.key, {{"enum", one.values}}}}}, {"required", {one.key}}};
  Json properties = Json::object();
  for (const Field& field : table.fields) {
    if (!belongs(table, one, field.name)) properties[field.name] = false;
  }
  if (one.bias > 0) properties["bias"] = {{"minItems", one.bias}, {"maxItems", one.bias}};
  Json then = {{"properties", std::move(properties)}};
  if (!one.required.empty()) then["required"] = one.required;
  return {{"if", is}, {"then", std::move(then)}};
}

Json tableSchema(const FieldTable& table) {
  Json properties = Json::object(), required = Json::array(), rules = Json::array();
  for (const Field& field : table.fields) {
    Json schema = valueSchema(field);
    // draft 7 ignores what stands beside a $ref, so the description goes around it
    if (schema.contains("$ref")) schema = {{"allOf", {schema}}};
    Json described = {{"description", field.help}};
    described.update(schema);
    properties[field.name] = std::move(described);
    if (field.required) required.push_back(field.name);
  }
  Json schema = {{"description", table.help},
                 {"type", "object"},
                 {"additionalProperties", false},
                 {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  for (const FieldRule& rule : table.rules) rules.push_back(ruleSchema(rule));
  for (const FieldCase& one : table.cases) rules.push_back(caseSchema(table, one));
  if (!rules.empty()) schema["allOf"] = std::move(rules);
  return schema;
}

}  // namespace

std::string robotSchema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "robot.yaml"}};
  Json definitions = Json::object();
  bool first = true;
  for (const FieldTable& table : robotFields()) {
    if (first) {
      schema.update(tableSchema(table));
    } else {
      definitions[table.name] = tableSchema(table);
    }
    first = false;
  }
  schema["definitions"] = std::move(definitions);
  return schema.dump(2) + "\n";
}

namespace {

// "- with `type` imu: `link` required; `xyz`, `rpy`, `parts` optional"
std::string caseReference(const FieldCase& one) {
  const auto ticked = [](const std::vector<const char*>& names) {
    return fmt::format("`{}`", fmt::join(names, "`, `"));
  };
  std::string line = fmt::format("- with `{}` {}: ", one.key, fmt::join(one.values, ", "));
  if (!one.required.empty()) line += ticked(one.required) + " required";
  if (!one.optional.empty())
    line += fmt::format("{}{} optional", one.required.empty() ? "" : "; ", ticked(one.optional));
  if (one.bias > 0)
    line += fmt::format("; `bias` has {} number{}", one.bias, one.bias == 1 ? "" : "s");
  return line + "\n";
}

}  // namespace

std::string robotReference() {
  std::string page =
      "# robot.yaml\n\n"
      "Every field of the format, version 1; `docs/robot.schema.json` is the same as a JSON "
      "Schema. Both are generated "
      "from the\nreader's own table (`proprio/model/robot_fields.cc`). Examples: "
      "`examples/robots/`. Unknown keys, keys "
      "given twice, NaN and\ninfinite numbers are refused with file and line. SI units, radians.\n";
  for (const FieldTable& table : robotFields()) {
    page += fmt::format("\n## {}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n", table.name,
                        table.help);
    for (const Field& field : table.fields) {
      std::string value = expectation(field);
      if (field.table != nullptr) value += fmt::format(": [{}](#{})", field.table, field.table);
      page += fmt::format("| `{}`{} | {} | {} |\n", field.name, field.required ? " (required)" : "",
                          value, field.help);
    }
    for (const FieldRule& rule : table.rules) {
      const bool exactly = rule.kind == FieldRule::Kind::kExactlyOne;
      page += fmt::format("\n{} one of `{}`.\n", exactly ? "Exactly" : "At most",
                          fmt::join(rule.names, "`, `"));
    }
    if (!table.cases.empty()) page += "\nBeside the keys that are always required:\n\n";
    for (const FieldCase& one : table.cases) page += caseReference(one);
  }
  return page;
}

}  // namespace proprio
