#include "proprio/report/identification_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "proprio/core/text_table.h"
#include "proprio/report/testing/identified.h"

namespace proprio {
namespace {

using testing::identified;

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The table names every joint and moving link, the verdict and its reasons, fits 100 columns and
// about 40 lines, and has no colour codes unless asked.
TEST(IdentificationText, FitsATerminal) {
  for (const char* robot : {"tx40", "iiwa14"}) {
    const IdentificationResult result = identified(robot, {"ols", "wls"});
    const std::string text = identificationText(result, false);
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      EXPECT_LE(displayWidth(line), 100) << line;
    EXPECT_LE(count, 48) << text;
    for (const char* part : {"joint_1", "joint_6", "link_1", "link_6", "PASSED", "as given",
                             "train.csv", "validate.csv", "▸", "speed"})
      EXPECT_TRUE(tells(text, part)) << part << "\n" << text;
    EXPECT_FALSE(tells(text, "nan")) << text;
    EXPECT_FALSE(tells(text, "\x1b"));
    EXPECT_TRUE(tells(identificationText(result, true), "\x1b"));
  }
}

// A failure says so; without validation the errors are those of training and nothing pretends
// otherwise; joints without rows show a dash.
TEST(IdentificationText, FailureAndMissingParts) {
  IdentificationResult result = identified("tx40");
  result.passed = false;
  result.validation.clear();
  result.validation_baselines.clear();
  MethodResult& method = result.methods[0];
  method.validation.clear();
  method.joints.clear();
  method.training[0].joints[5] = JointError{};
  method.training[0].joints[5].percent = NAN;
  const std::string text = identificationText(result, false);
  EXPECT_TRUE(tells(text, "FAILED")) << text;
  EXPECT_TRUE(tells(text, "not validated")) << text;
  EXPECT_FALSE(tells(text, "validation %")) << text;
  EXPECT_FALSE(tells(text, "nan")) << text;
}

// A model that is worse than the description as given is called that.
TEST(IdentificationText, WorseThanGivenIsTold) {
  IdentificationResult result = identified("tx40");
  result.methods[0].validation[0].joints[1].percent = 500.0;
  result.methods[0].validation[0].joints[1].rms *= 1000.0;
  EXPECT_TRUE(tells(identificationText(result, false), "worse than"));
}

}  // namespace
}  // namespace proprio
