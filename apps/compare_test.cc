/// `proprio compare` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "proprio/core/atomic_file.h"
#include "proprio/core/testing/temp_folder.h"
#include "proprio/report/estimate_json.h"
#include "proprio/report/testing/identified.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

class Compare : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
  void SetUp() override {
    for (const char* method : {"ols", "wls"}) {
      fs::create_directories(folder_.path() / method);
      writeFileAtomically(file(std::string(method) + "/estimate.json"),
                          estimateJson(testing::identified("tx40", {method}, 500)));
    }
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  int run(const std::string& arguments, std::string* out) const {
    const int status = std::system(
        fmt::format("'{}' compare {} >'{}' 2>&1", PROPRIO_COMMAND, arguments, file("o")).c_str());
    *out = readFile(file("o"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
};

// Folders or files: a table, numbers for programs and a picture.
TEST_F(Compare, SideBySide) {
  std::string out;
  EXPECT_EQ(run(fmt::format("'{}' '{}' --json '{}' --plot '{}'", file("ols"),
                            file("wls/estimate.json"), file("c.json"), file("c.html")),
                &out),
            0)
      << out;
  EXPECT_NE(out.find("joint_6"), std::string::npos) << out;
  const auto json = nlohmann::json::parse(readFile(file("c.json")));
  EXPECT_EQ(json["results"][0]["name"], "ols");
  EXPECT_EQ(json["results"][1]["method"], "wls");
  EXPECT_EQ(json["base_parameters"].size(), 52u);
  EXPECT_NE(readFile(file("c.html")).find("<svg"), std::string::npos);
}

// One result, a folder without a result, another kind of file and a strange picture are bad input.
TEST_F(Compare, BadInput) {
  std::string out;
  EXPECT_EQ(run(fmt::format("'{}'", file("ols")), &out), 2);
  EXPECT_EQ(run(fmt::format("'{}' '{}'", file("ols"), folder_.path().string()), &out), 2);
  EXPECT_NE(out.find("estimate.json"), std::string::npos) << out;
  writeFileAtomically(file("x.json"), "{}");
  EXPECT_EQ(run(fmt::format("'{}' '{}'", file("ols"), file("x.json")), &out), 2);
  EXPECT_NE(out.find("x.json"), std::string::npos) << out;
  EXPECT_EQ(run(fmt::format("'{0}' '{0}' --plot a.bmp", file("ols")), &out), 2);
}

}  // namespace
}  // namespace proprio
