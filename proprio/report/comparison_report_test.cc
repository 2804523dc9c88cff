#include "proprio/report/comparison_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/core/text_table.h"
#include "proprio/report/testing/identified.h"

namespace proprio {
namespace {

EstimateSummary summaryOf(const std::string& robot, const std::string& method,
                          const std::string& path) {
  const testing::TempFolder folder;
  const std::string file = folder.file("estimate.json");
  writeFileAtomically(file, estimateJson(testing::identified(robot, {method}, 600)));
  EstimateSummary summary = readEstimateJson(file);
  summary.path = path;
  return summary;
}

// Two methods on one robot share all base parameters; their distance is the difference divided by
// the combined standard deviation; a result agrees with a copy of itself everywhere.
TEST(ComparisonReport, DistancesAreCombinedDeviations) {
  const EstimateSummary ols = summaryOf("tx40", "ols", "a/estimate.json"),
                        wls = summaryOf("tx40", "wls", "b/");
  const Comparison comparison = compareEstimates({ols, wls, ols});
  EXPECT_EQ(comparison.names, (std::vector<std::string>{"a#1", "b", "a#2"}));
  ASSERT_EQ(comparison.base.size(), ols.base.size());
  EXPECT_EQ(comparison.shared[1], static_cast<int>(ols.base.size()));
  EXPECT_EQ(comparison.within_3[2], static_cast<int>(ols.base.size()));
  for (size_t i = 0; i < ols.base.size(); ++i) {
    const double sigma = std::sqrt(std::pow(ols.base[i].sigma, 2) + std::pow(wls.base[i].sigma, 2));
    EXPECT_NEAR(comparison.base[i].distances[1],
                std::abs(ols.base[i].value - wls.base[i].value) / sigma, 1e-9);
  }
}

// Text and JSON name results, joints, links; robots that share some joints can be compared, others
// are refused.
TEST(ComparisonReport, TextAndJson) {
  const EstimateSummary six = summaryOf("tx40", "wls", "six"),
                        seven = summaryOf("iiwa14", "wls", "seven");
  const Comparison comparison = compareEstimates({six, seven});
  const std::string text = comparisonText(comparison, false);
  for (const char* part : {"six", "seven", "joint_7", "link_7", "iiwa14", "validation"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(displayWidth(line), 100) << line;
  const auto json = nlohmann::json::parse(comparisonJson(comparison));
  EXPECT_EQ(json["joints"].size(), 7u);
  EXPECT_TRUE(json["joints"][6]["validation_percent"][0].is_null());
  EXPECT_EQ(comparisonFigures(comparison)[0].panels.size(), 3u);
  EXPECT_GT(html(comparisonFigures(comparison), "x").size(), 1000u);
  EXPECT_THROW(compareEstimates({six}), Error);
  EXPECT_THROW(compareEstimates({six, summaryOf("planar_2r", "wls", "planar")}), Error);
}

}  // namespace
}  // namespace proprio
