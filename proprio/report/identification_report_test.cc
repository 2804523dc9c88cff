#include "proprio/report/identification_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/report/link_scene_internal.h"
#include "proprio/report/testing/identified.h"
#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

using testing::identified;

bool shows(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

/// Opened and closed equally often, for elements that must be closed.
void expectBalanced(const std::string& page) {
  for (const char* tag : {"section", "table", "tr", "td", "th", "div", "svg", "details", "p", "ul",
                          "span", "script", "style", "h2", "g"}) {
    size_t opened = 0, closed = 0;
    const std::string open = std::string("<") + tag, close = std::string("</") + tag + ">";
    for (size_t at = 0; (at = page.find(open, at)) != std::string::npos; ++at) {
      const char next = page[at + open.size()];
      opened += next == '>' || next == ' ' || next == '\n';
    }
    for (size_t at = 0; (at = page.find(close, at)) != std::string::npos; ++at) ++closed;
    EXPECT_EQ(opened, closed) << tag;
  }
}

// One file with everything in it: every section, joint, link and recording; nothing is fetched; no
// "nan" anywhere; elements are closed; 5000 samples of 7 joints stay below 3 MB.
TEST(IdentificationReport, IsWholeAndSmall) {
  const IdentificationResult result = identified("iiwa14", {"ols", "wls"}, 5000);
  const std::string page = identificationReport(result);
  EXPECT_LT(page.size(), 3u << 20);
  for (const char* part :
       {"<strong>Passed</strong>", "id=\"torques\"", "id=\"links\"", "id=\"parameters\"",
        "id=\"joints\"", "id=\"methods\"", "id=\"excitation\"", "id=\"statistics\"",
        "id=\"recordings\"", "id=\"sources\"", "joint_7", "link_7", "logs/train.csv",
        "Validation: validate.csv", "prefers-color-scheme:dark", "@media print", "Butterworth"})
    EXPECT_TRUE(shows(page, part)) << part;
  for (const char* part : {"src=", "url(", "<link ", "@import", ">nan", "nan<", " nan", "inf<"})
    EXPECT_FALSE(shows(page, part)) << part;
  // addresses are names of formats, never fetched
  for (size_t at = 0; (at = page.find("http", at)) != std::string::npos; ++at)
    EXPECT_EQ(page.compare(at, 18, "http://www.w3.org/"), 0) << page.substr(at, 40);
  expectBalanced(page);
}

// Names of files and robots cannot break out of their places.
TEST(IdentificationReport, TextIsEscaped) {
  IdentificationResult result = identified("planar_2r");
  result.recordings[0].path = "<script>alert(1)</script>.csv";
  result.verdict = "a < b & c";
  result.problem.data[0].name = "\"><b>.csv";
  const std::string page = identificationReport(result);
  EXPECT_FALSE(shows(page, "<script>alert"));
  EXPECT_FALSE(shows(page, "\"><b>"));
  EXPECT_TRUE(shows(page, "a &lt; b &amp; c"));
}

// Failures are red; missing validation, statistics, recordings and covariance leave no empty
// promises and no numbers that are none.
TEST(IdentificationReport, MissingParts) {
  IdentificationResult result = identified("tx40_coupled");
  result.passed = false;
  result.validation.clear();
  result.validation_baselines.clear();
  result.recordings.clear();
  result.stages.clear();
  MethodResult& method = result.methods[0];
  method.validation.clear();
  method.joints.clear();
  method.links.clear();
  method.origins.clear();
  method.estimate.covariance.resize(0, 0);
  method.estimate.sigma.resize(0);
  method.estimate.condition = INFINITY;
  method.estimate.undecided = {"MX3 against m2"};
  result.problem.data[0].use.col(2).setConstant(false);
  const std::string page = identificationReport(result);
  EXPECT_TRUE(shows(page, "verdict bad"));
  EXPECT_TRUE(shows(page, "MX3 against m2"));
  EXPECT_FALSE(shows(page, "id=\"statistics\""));
  EXPECT_FALSE(shows(page, "id=\"methods\""));
  EXPECT_FALSE(shows(page, ">nan"));
  expectBalanced(page);
}

// The ellipsoid of a solid ellipsoid is itself: semi-axes and centre come back from its ten
// parameters, in the world frame; impossible bodies are marked.
TEST(LinkScene, EllipsoidsAreThoseOfTheBodies) {
  const auto tree = testing::treeOf("tx40");
  Eigen::VectorXd chi = testing::declaredValues(*tree);
  const Vector3d half(0.03, 0.05, 0.2), centre(0.01, 0.02, 0.03);
  const double mass = 4.0;
  Vector3d moments;  // of a homogeneous ellipsoid
  for (int i = 0; i < 3; ++i) moments[i] = mass / 5.0 * (half.squaredNorm() - half[i] * half[i]);
  chi.segment<10>(60) =
      InertialParameters::fromCom(mass, centre, moments.asDiagonal().toDenseMatrix()).vector();
  Eigen::VectorXd wrong = chi;
  wrong[64] = -1.0;
  const Scene scene = linkScene(*tree, {}, wrong, chi);
  ASSERT_EQ(scene.links.size(), 6u);
  const SceneLink& link = scene.links[5];
  EXPECT_EQ(link.name, "link_6");
  EXPECT_TRUE(link.after.possible);
  EXPECT_FALSE(link.before.possible);
  Vector3d lengths = link.after.half_axes.colwise().norm();
  std::sort(lengths.begin(), lengths.end());
  EXPECT_LT((lengths - half).norm(), 1e-12);
  // at zero the wrist of the TX40 is above the base, upright
  EXPECT_NEAR(link.after.com.z(), 0.32 + 0.225 + 0.225 + 0.03, 1e-9);
  EXPECT_GT(scene.radius, 0.3);
  // bent beats stretched
  Eigen::VectorXd bent = Eigen::VectorXd::Zero(6);
  bent[1] = bent[2] = 0.8;
  const Scene other = linkScene(*tree, {Eigen::VectorXd::Zero(6), bent}, wrong, chi);
  EXPECT_LT(other.links[5].after.com.z(), link.after.com.z() - 0.05);
}

}  // namespace
}  // namespace proprio
