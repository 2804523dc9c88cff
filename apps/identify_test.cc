// The main job from the command line: a recording in, files, a verdict and an exit code out; and
// recordings with mistakes, each of which is noticed or survived.

#include <gtest/gtest.h>

#include <fstream>

#include "apps/testing/command_test_base.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

class Identify : public CommandTestBase {
 protected:
  /// A noisy recording of the planar arm, whose torques depend on all of its parameters.
  void SetUp() override {
    CommandTestBase::SetUp();
    ASSERT_EQ(run("motion " + robot("planar_2r.yaml") +
                  " --type fourier --period 8 --seed 3 --out " + file("motion.json"))
                  .code,
              0);
    ASSERT_EQ(run("simulate " + robot("planar_2r.yaml") + " --trajectory " + file("motion.json") +
                  " --encoder-noise 1e-5 --torque-noise 0.05 --out " + file("log.csv"))
                  .code,
              0);
  }

  /// The recording with every row changed.
  template <class Change>
  std::string changed(const std::string& name, const Change& change) {
    std::ifstream in(file("log.csv"));
    std::ofstream out(file(name));
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = splitAt(line, ',');
    out << line << '\n';
    for (int row = 0; std::getline(in, line); ++row) {
      std::vector<std::string> cells = splitAt(line, ',');
      if (!change(row, header, cells)) continue;
      for (size_t c = 0; c < cells.size(); ++c) out << (c > 0 ? "," : "") << cells[c];
      out << '\n';
    }
    return file(name);
  }

  static void scale(std::string& cell, double factor) {
    cell = std::to_string(std::stod(cell) * factor);
  }

  CommandResult identify(const std::string& log, const std::string& more = "") {
    return run("identify " + robot("planar_2r.yaml") + " --log " + log + " --split 0.7 " + more);
  }
};

// Claim: the documented call writes all four files, which the other verbs can read, and says
// passed.
TEST_F(Identify, WritesWhatItPromises) {
  const CommandResult result = identify(file("log.csv"), "--out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(result.out.find("PASSED"), std::string::npos) << result.out;
  for (const char* name : {"estimate.json", "robot.urdf", "robot.yaml", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(file("out") + "/" + name)) << name;
  EXPECT_EQ(run("check " + file("out") + "/robot.yaml").code, 0);
  EXPECT_EQ(run("validate " + file("out") + "/robot.yaml --log " + file("log.csv")).code, 0);
  EXPECT_EQ(run("compare " + file("out") + " " + file("out")).code, 0);
}

// Claim: an unconstrained method runs too, several are compared, unknown ones are named.
TEST_F(Identify, RunsSeveralMethods) {
  const CommandResult result = identify(file("log.csv"), "--method wls,ols,pc-wls");
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(result.out.find("pc-wls"), std::string::npos);
  const CommandResult wrong = identify(file("log.csv"), "--method pc-wsl");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.error.find("pc-wls"), std::string::npos) << wrong.error;
}

// Claim: torques of the wrong sign are noticed, and the answer is no.
TEST_F(Identify, NoticesAWrongSign) {
  const std::string log = changed("sign.csv", [](int, const auto& header, auto& cells) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (header[c].rfind("tau_shoulder", 0) == 0) scale(cells[c], -1.0);
    }
    return true;
  });
  const CommandResult result = identify(log);
  EXPECT_EQ(result.code, 1) << result.out << result.error;
  EXPECT_NE(result.out.find("negative"), std::string::npos) << result.out;
}

// Claim: one row in twenty missing is survived: the gaps are bridged and told.
TEST_F(Identify, SurvivesMissingRows) {
  const std::string log =
      changed("holes.csv", [](int row, const auto&, auto&) { return (row * 7919) % 20 != 3; });
  const CommandResult result = identify(log);
  EXPECT_EQ(result.code, 0) << result.out << result.error;
}

// Claim: positions in degrees are noticed where the file does not say so.
TEST_F(Identify, NoticesDegrees) {
  const std::string log = changed("degrees.csv", [](int, const auto& header, auto& cells) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (header[c].rfind("q_", 0) == 0) scale(cells[c], 57.29577951308232);
    }
    return true;
  });
  const CommandResult result = identify(log);
  EXPECT_NE(result.code, 0) << result.out << result.error;
}

// Claim: options that contradict each other or are no numbers are refused in one sentence.
TEST_F(Identify, RefusesBadOptions) {
  EXPECT_EQ(identify(file("log.csv"), "--validate " + file("log.csv")).code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--prior-weight minus").code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--mass upper_arm:a:b").code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--derivative twice").code, 2);
  EXPECT_EQ(run("identify " + robot("planar_2r.yaml") + " --log " + file("nothing.csv")).code, 2);
}

}  // namespace
}  // namespace proprio
