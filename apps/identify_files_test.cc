// What `identify` writes: all of it or nothing, and nothing that belongs to another result.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>

#include "apps/testing/identify_test_base.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

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

/// Calls visit(object) for every object in it.
void forEachObject(const nlohmann::json& json,
                   const std::function<void(const nlohmann::json&)>& visit) {
  if (json.is_object()) visit(json);
  for (const auto& child : json) {
    if (child.is_structured()) forEachObject(child, visit);
  }
}

// Claim: no error's peak is below its rms, whatever was held out: blocks in turn (the default), the
// last part, another recording.
TEST_F(Identify, TellsPeaksEverywhere) {
  const std::string other = changed("other.csv", [](int row, auto&, auto&) { return row > 500; });
  const std::vector<std::string> ways = {"", "--split 0.7", "--validate " + other};
  for (const std::string& held_out : ways) {
    const CommandResult result = run("identify " + robot(arm_) + " --method pc-wls,wls --log " +
                                     file("log.csv") + " " + held_out + " --out " + file("out"));
    ASSERT_LE(result.code, 1) << result.error;
    int errors = 0;
    forEachObject(json("out/estimate.json"), [&](const nlohmann::json& object) {
      if (!object.contains("peak") || object["rms"].is_null()) return;
      ++errors;
      EXPECT_GE(object["peak"].get<double>(), object["rms"].get<double>()) << object;
    });
    // training and validation, each pooled and by recording, with three baselines, and two methods
    EXPECT_GE(errors, 24) << held_out;
  }
}

// Claim: validate has the floor of identify: torques that the model hardly predicts, or that come
// 100 ms late, are an answer of no with the reason, also where gravity alone is worse still.
TEST_F(Identify, ValidateHasAFloor) {
  const std::string robot_file = robot(arm_);
  EXPECT_EQ(run("validate " + robot_file + " --log " + file("log.csv")).code, 0);
  const std::string large = changed("large.csv", [](int, const auto& header, auto& cells) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (header[c].rfind("tau_", 0) == 0) scale(cells[c], 1000.0);
    }
    return true;
  });
  const CommandResult result = run("validate " + robot_file + " --log " + large);
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_NE(result.out.find("is predicted no better than by zero (100 %"), std::string::npos)
      << result.out;
}

// Claim: a joint that is a little worse than gravity alone (a tenth of a percent of its torque, by
// chance or a trifle) is no answer of no, one that is clearly worse is.
TEST_F(Identify, ValidateForgivesTrifles) {
  ASSERT_EQ(run("motion " + robot(arm_) + " --type fourier --period 40 --seed 3 --out " +
                file("slow.json"))
                .code,
            0);
  ASSERT_EQ(run("simulate " + robot(arm_) + " --trajectory " + file("slow.json") +
                " --torque-noise 0.05 --out " + file("slow.csv"))
                .code,
            0);
  const auto validated = [&](const std::string& joint) {
    return run("validate " +
               write("rubbing.yaml", "version: 1\nurdf: " + robot("planar_2r.urdf") +
                                         "\njoints: {" + joint +
                                         ": {friction: {viscous: 0.3}}}\n") +
               " --log " + file("slow.csv"));
  };
  EXPECT_EQ(validated("shoulder").code, 0);  // 0.8 % of its torque, by gravity alone 0.7 %
  const CommandResult worse = validated("elbow");
  EXPECT_EQ(worse.code, 1);
  EXPECT_NE(worse.out.find("'elbow' is off by 5.6 % of its torque, more than gravity only (1.1 %)"),
            std::string::npos)
      << worse.out;
}

// Claim: the result names what it depends on: the hash of the robot changes with its URDF, both
// files are listed, and 95 % intervals are about two standard deviations to either side.
TEST_F(Identify, NamesItsInputs) {
  const auto hashWith = [&](const std::string& comment) {
    write("arm.urdf", readFile(robot("planar_2r.urdf")) + "<!-- " + comment + " -->\n");
    write("arm.yaml", "version: 1\nurdf: arm.urdf\n");
    run("identify " + file("arm.yaml") + " --split 0.7 --log " + file("log.csv") + " --out " +
        file("out"));
    return json("out/estimate.json")["robot"];
  };
  const nlohmann::json one = hashWith("one"), other = hashWith("other");
  EXPECT_NE(one["sha256"], other["sha256"]);
  ASSERT_EQ(one["files"].size(), 2u);
  EXPECT_EQ(one["files"][0], other["files"][0]);
  EXPECT_NE(one["files"][1]["sha256"], other["files"][1]["sha256"]);
  for (const auto& base : json("out/estimate.json")["base_parameters"]) {
    const double half = base["high"].get<double>() - base["value"].get<double>();
    EXPECT_GT(half, 1.9 * base["sigma"].get<double>());
    EXPECT_LT(half, 3.0 * base["sigma"].get<double>());  // Student's with few degrees of freedom
  }
}

// Claim: Ctrl-C ends with 130 and leaves the folder of an earlier result as it was, or with all of
// the new one; never a temporary file. Early, and as soon as a file is being written.
TEST_F(Identify, CanBeInterrupted) {
  namespace fs = std::filesystem;
  const std::string out = file("out");
  ASSERT_EQ(identify(file("log.csv"), "--out " + out).code, 0);
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(out))
      files[entry.path().filename()] = readFile(entry.path());
    return files;
  };
  const auto temporaryThere = [&] {
    for (const auto& entry : fs::directory_iterator(out)) {
      if (entry.path().extension() == ".tmp") return true;
    }
    return false;
  };
  for (const bool while_writing : {false, true}) {
    const auto before = contents();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::signal(SIGINT, SIG_DFL);  // where the tests run in the background of a script
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      const std::string arm = robot(arm_), log = file("log.csv");
      ::execl(PROPRIO_COMMAND, "proprio", "identify", arm.c_str(), "--log", log.c_str(), "--split",
              "0.6", "--out", out.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    if (while_writing) {
      while (!temporaryThere() && ::waitpid(child, &status, WNOHANG) == 0) ::usleep(200);
    } else {
      ::usleep(50000);  // in the middle of reading or, on a slow machine, of starting
    }
    ::kill(child, SIGINT);
    if (::waitpid(child, &status, 0) != child) continue;  // it was done before a file was seen
    const auto after = contents();
    EXPECT_EQ(after.size(), 4u);
    int changed_files = 0;
    for (const auto& [name, text] : after) changed_files += before.at(name) != text;
    EXPECT_TRUE(changed_files == 0 || changed_files == 4) << changed_files;
    if (while_writing && changed_files == 0) {  // else it was done before the signal came
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    }
  }
}

// Claim: the description that is read is never overwritten by the result.
TEST_F(Identify, KeepsItsInput) {
  std::filesystem::create_directory(file("arm"));
  write("arm/robot.urdf", readFile(robot("planar_2r.urdf")));
  write("arm/robot.yaml", "version: 1\nurdf: robot.urdf\n");
  const CommandResult result = run("identify " + file("arm/robot.yaml") + " --split 0.7 --log " +
                                   file("log.csv") + " --out " + file("arm"));
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_NE(result.error.find("is read as ROBOT, and would be replaced"), std::string::npos)
      << result.error;
  EXPECT_EQ(readFile(file("arm/robot.yaml")), "version: 1\nurdf: robot.urdf\n");
}

// Claim: a result without robot.urdf does not stand beside that of an earlier one, which is removed
// and told; a robot.yaml that is the input, or no result's, is not touched.
TEST_F(IdentifySixAxes, RemovesWhatAnEarlierResultLeft) {
  const std::string out = file("out");
  const std::string task = "--method wls --out " + out;
  std::filesystem::create_directories(out);
  write("out/robot.yaml", "somebody's");
  const CommandResult refused = identify(file("log.csv"), task);
  ASSERT_NE(refused.error.find("robot.urdf is not written"), std::string::npos) << refused.error;
  EXPECT_EQ(readFile(out + "/robot.yaml"), "somebody's");
  ASSERT_EQ(identify(file("log.csv"), "--out " + out).code, 0);
  ASSERT_TRUE(std::filesystem::exists(out + "/robot.urdf"));
  const CommandResult again = identify(file("log.csv"), task);
  EXPECT_NE(again.error.find("robot.urdf was of an earlier result and is removed"),
            std::string::npos)
      << again.error;
  EXPECT_FALSE(std::filesystem::exists(out + "/robot.urdf"));
  EXPECT_FALSE(std::filesystem::exists(out + "/robot.yaml"));
  EXPECT_EQ(json("out/estimate.json")["method"], "wls");
  ASSERT_EQ(identify(file("log.csv"), "--out " + out).code, 0);
  run("identify " + out + "/robot.yaml --split 0.7 --log " + file("log.csv") + " " + task);
  EXPECT_TRUE(std::filesystem::exists(out + "/robot.yaml"));
}

// Claim: a tool with the unit matrix as inertia is no obstacle: the whole is identified, and what
// is written adds up to it and is possible.
TEST_F(IdentifySixAxes, DividesWhatAPlaceholderLeaves) {
  std::string urdf = readFile(robot("tx40.urdf"));
  urdf.replace(urdf.find("</robot>"), 8, R"(
  <link name="tool"><inertial><mass value="0.1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="link_6"/><child link="tool"/></joint>
</robot>)");
  const std::string arm = write("tool.urdf", urdf);
  const CommandResult result =
      run("identify " + arm + " --log " + file("log.csv") + " --split 0.7 --out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(flat(result).find("'tool' has the unit matrix as inertia"), std::string::npos)
      << result.out;
  EXPECT_NE(result.error.find("'tool', fixed to 'link_6', was identified together with it"),
            std::string::npos)
      << result.error;
  EXPECT_EQ(run("check " + file("out/robot.urdf")).code, 0);
  const Model model = readRobot(file("out/robot.urdf"));
  const Link& last = model.links[static_cast<size_t>(requireLink(model, "link_6"))];
  EXPECT_LT(last.inertia.inertia.maxCoeff(), 0.1);  // not the square metre of the placeholder
}

}  // namespace
}  // namespace proprio
