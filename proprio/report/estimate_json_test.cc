#include "proprio/report/estimate_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/report/testing/identified.h"

namespace proprio {
namespace {

using testing::identified;

class EstimateFile : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
  std::string write(const std::string& name, const std::string& text) const {
    writeFileAtomically(folder_.file(name), text);
    return folder_.file(name);
  }
  std::string messageFor(const std::string& text) const {
    try {
      readEstimateJson(write("estimate.json", text));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

// Files of a serial arm with couplings, of one with friction offsets, with one and with two
// methods, with and without validation satisfy the published schema, and one with a field missing
// or of another kind does not, according to a validator that nobody here wrote.
TEST_F(EstimateFile, SatisfiesThePublishedSchema) {
  const std::string schema = std::string(PROPRIO_SOURCE_DIR) + "/docs/estimate.schema.json";
  EXPECT_EQ(readFile(schema), estimateSchema());
  if (std::system(fmt::format("'{}' -c 'import jsonschema' 2>/dev/null", PROPRIO_PYTHON).c_str()) !=
      0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const auto valid = [&](const std::string& file) {
    const std::string program =
        "import json, jsonschema, sys; schema = json.load(open(sys.argv[1])); "
        "jsonschema.Draft7Validator.check_schema(schema); "
        "errors = "
        "list(jsonschema.Draft7Validator(schema).iter_errors(json.load(open(sys.argv[2]))));"
        " [print(e.json_path, e.message[:200]) for e in errors]; sys.exit(len(errors) > 0)";
    return std::system(fmt::format("'{}' -c '{}' '{}' '{}'", PROPRIO_PYTHON, program, schema, file)
                           .c_str()) == 0;
  };
  IdentificationResult result = identified("tx40_coupled", {"ols", "wls"});
  EXPECT_TRUE(valid(write("coupled.json", estimateJson(result))));
  result = identified("iiwa14");
  result.validation.clear();
  result.validation_baselines.clear();
  result.methods[0].validation.clear();
  result.methods[0].estimate.condition = INFINITY;
  const std::string text = estimateJson(result);
  EXPECT_TRUE(valid(write("iiwa.json", text)));
  auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(json["errors"]["validation"].is_null());
  EXPECT_TRUE(json["condition_number"].is_null());
  json.erase("method");
  EXPECT_FALSE(valid(write("bad.json", json.dump())));
  json["method"] = 3;
  EXPECT_FALSE(valid(write("bad.json", json.dump())));
}

// Values, standard deviations and errors arrive as they are in the result: ten parameters per link
// that belong to the mass and centre beside them, errors over two recordings as over one long one.
TEST_F(EstimateFile, HoldsTheResult) {
  IdentificationResult result = identified("tx40");
  const auto first = result.best().training[0];
  result.methods[0].training.push_back(first);
  const auto json = nlohmann::json::parse(estimateJson(result));
  const Estimate& estimate = result.best().estimate;
  ASSERT_EQ(json["base_parameters"].size(), static_cast<size_t>(estimate.beta.size()));
  EXPECT_EQ(json["base_parameters"][3]["value"], estimate.beta[3]);
  EXPECT_EQ(json["base_parameters"][3]["sigma"], std::sqrt(estimate.covariance(3, 3)));
  for (const auto& base : json["base_parameters"]) {
    const double value = base["value"], low = base["low"], high = base["high"];
    EXPECT_NEAR(0.5 * (low + high), value, 1e-12 * (1.0 + std::abs(value)));
    EXPECT_GT(high - low, 0.0);
  }
  EXPECT_GT(json["noise_bias"]["degrees"], 0.0);
  EXPECT_EQ(json["noise_bias"]["p"], result.noise_bias.result.p_value);
  EXPECT_EQ(json["robot"]["files"].size(), 2u);
  for (const char* key : {"proprio", "compiler", "eigen"})
    EXPECT_NE(json["software"][key], "") << key;
  ASSERT_EQ(json["links"].size(), 6u);  // the base does not move
  EXPECT_EQ(json["links"][1]["name"], "link_2");
  EXPECT_EQ(json["links"][1]["parameters"][0]["value"], json["links"][1]["mass"]);
  EXPECT_NEAR(json["links"][1]["parameters"][1]["value"].get<double>(),
              json["links"][1]["mass"].get<double>() * json["links"][1]["com"][0].get<double>(),
              1e-12);
  EXPECT_EQ(json["joints"][0]["parameters"][0]["name"], "rotor_inertia");
  const auto& joint = json["errors"]["training"]["joints"][2];
  EXPECT_EQ(joint["rows"], 2 * first.joints[2].rows);
  EXPECT_NEAR(joint["percent"].get<double>(), first.joints[2].percent, 1e-9);
  EXPECT_LT(joint["percent"], joint["baselines"]["as_given"]["percent"]);
  EXPECT_NEAR(joint["baselines"]["zero"]["percent"].get<double>(), 100.0, 1e-9);
}

// What is read back is what was written, from the file or from its folder.
TEST_F(EstimateFile, IsReadBack) {
  const IdentificationResult result = identified("iiwa14");
  write("estimate.json", estimateJson(result));
  const EstimateSummary summary = readEstimateJson(folder_.path().string());
  EXPECT_EQ(summary.robot, "iiwa14");
  EXPECT_EQ(summary.method, "wls");
  EXPECT_TRUE(summary.passed);
  ASSERT_EQ(summary.base.size(), static_cast<size_t>(result.problem.base.count()));
  for (size_t i = 0; i < summary.base.size(); ++i)
    EXPECT_EQ(summary.base[i].value, result.best().estimate.beta[static_cast<Eigen::Index>(i)]);
  ASSERT_EQ(summary.joints.size(), 7u);
  EXPECT_EQ(summary.joints[6].validation.rows, result.best().validation[0].joints[6].rows);
  EXPECT_NEAR(summary.joints[6].validation.rms, result.best().validation[0].joints[6].rms, 1e-12);
  EXPECT_GT(summary.joints[0].validation_as_given.percent, summary.joints[0].validation.percent);
  ASSERT_EQ(summary.links.size(), 7u);
  EXPECT_NEAR(summary.links[1].declared_mass, 1.25 * 6.3, 1e-12);
}

// Other files get a sentence that names the file and what is missing.
TEST_F(EstimateFile, BadFilesAreExplained) {
  EXPECT_NE(messageFor("{").find("not JSON"), std::string::npos);
  EXPECT_NE(messageFor("[]").find("'format'"), std::string::npos);
  EXPECT_NE(messageFor(R"({"format": "proprio estimate", "version": 2})").find("version"),
            std::string::npos);
  EXPECT_NE(messageFor(R"({"format": "proprio estimate", "version": 1})").find("'robot'"),
            std::string::npos);
  auto json = nlohmann::json::parse(estimateJson(identified("planar_2r")));
  json["condition_number"] = "large";
  EXPECT_NE(messageFor(json.dump()).find("'condition_number'"), std::string::npos);
  EXPECT_THROW(readEstimateJson(folder_.file("nothing")), Error);
}

}  // namespace
}  // namespace proprio
