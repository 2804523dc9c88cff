#include "proprio/model/robot_schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_fields_internal.h"

namespace proprio {
namespace {

// The published file, or an updated one where PROPRIO_UPDATE_DOCS is set.
std::string published(const std::string& name, const std::string& generated) {
  const std::string path = std::string(PROPRIO_SOURCE_DIR) + "/docs/" + name;
  if (std::getenv("PROPRIO_UPDATE_DOCS") != nullptr) writeFileAtomically(path, generated);
  return readFile(path);
}

// The committed schema and reference page are what the reader's table of fields says today.
TEST(RobotSchema, PublishedFilesAreCurrent) {
  constexpr const char* kHint =
      "run model_test once with PROPRIO_UPDATE_DOCS=1 and commit the change";
  EXPECT_TRUE(published("robot.schema.json", robotSchema()) == robotSchema()) << kHint;
  EXPECT_TRUE(published("robot_yaml.md", robotReference()) == robotReference()) << kHint;
}

// Keys that a case names are fields of its table, and the schema requires and forbids what the
// reader does: per type of sensor, and where a coupling term needs 'of'.
TEST(RobotSchema, CasesAreConditions) {
  const nlohmann::json definitions = nlohmann::json::parse(robotSchema()).at("definitions");
  const auto conditionOf = [&](const char* table, const char* value) {
    for (const nlohmann::json& rule : definitions.at(table).at("allOf")) {
      if (rule.contains("if") && rule.at("if").dump().find(value) != std::string::npos)
        return rule.at("then");
    }
    return nlohmann::json();
  };
  EXPECT_EQ(conditionOf("sensor", "\"imu\"").at("properties").at("noise"), false);
  EXPECT_EQ(conditionOf("sensor", "\"imu\"").at("properties").at("bias"), false);
  EXPECT_EQ(conditionOf("sensor", "\"encoder\"").at("required"), nlohmann::json({"joint"}));
  EXPECT_EQ(conditionOf("sensor", "\"gyroscope\"").at("properties").at("sign"), false);
  EXPECT_EQ(conditionOf("sensor", "\"gyroscope\"").at("properties").at("bias").at("maxItems"), 3);
  EXPECT_EQ(conditionOf("sensor", "\"skin\"").at("required"), nlohmann::json({"link", "cells"}));
  EXPECT_EQ(conditionOf("coupling_term", "\"velocity\"").at("required"), nlohmann::json({"of"}));
  for (const FieldTable& table : robotFields()) {
    for (const FieldCase& one : table.cases) {
      for (const auto* names : {&one.required, &one.optional}) {
        for (const std::string name : *names)
          EXPECT_TRUE(definitions.at(table.name).at("properties").contains(name)) << name;
      }
    }
  }
}

// Every object forbids unknown keys, every reference has its target, and every table is used.
TEST(RobotSchema, IsClosed) {
  const nlohmann::json schema = nlohmann::json::parse(robotSchema());
  std::set<std::string> used;
  for (const FieldTable& table : robotFields()) {
    const bool first = &table == &robotFields().front();
    const nlohmann::json& object = first ? schema : schema.at("definitions").at(table.name);
    EXPECT_EQ(object.at("additionalProperties"), false) << table.name;
    for (const Field& field : table.fields) {
      EXPECT_TRUE(object.at("properties").contains(field.name));
      if (field.table != nullptr) used.insert(field.table);
    }
  }
  EXPECT_EQ(used.size(), robotFields().size() - 1);
  for (const std::string& table : used)
    EXPECT_TRUE(schema.at("definitions").contains(table)) << table;
}

}  // namespace
}  // namespace proprio
