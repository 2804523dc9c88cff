#include "proprio/report/identification_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// Known to 10 % is what has a standard deviation of less than a tenth of its value: not what was
// dropped or held fast, which has none. A value at its bound is counted apart and not called badly
// known.
TEST(IdentificationText, CountsWhatIsKnown) {
  IdentificationResult result = identified("tx40");
  Estimate& estimate = result.methods[0].estimate;
  estimate.beta[0] = 0.0;
  estimate.covariance.row(0).setZero();
  estimate.covariance.col(0).setZero();
  estimate.covariance.row(1).setZero();
  estimate.covariance.col(1).setZero();
  const Eigen::Index bound = estimate.beta.size() - 1;
  estimate.beta[bound] = 0.0;
  estimate.covariance(bound, bound) = 1.0;
  result.methods[0].base.assign(static_cast<size_t>(estimate.beta.size()), {});
  result.methods[0].base.back().at_bound = true;
  int known = 0;
  for (Eigen::Index i = 2; i < bound; ++i)
    known += std::sqrt(estimate.covariance(i, i)) < 0.1 * std::abs(estimate.beta[i]) ? 1 : 0;
  const std::string text = identificationText(result, false);
  EXPECT_TRUE(tells(text, std::to_string(known) + " of " + std::to_string(estimate.beta.size()) +
                              " are known to 10 %, 1 are at their bound"))
      << text;
  EXPECT_FALSE(tells(text, "> 10000")) << text;
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
