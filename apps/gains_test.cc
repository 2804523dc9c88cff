// From recordings of motor currents to a robot.yaml that identify takes.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "apps/testing/command_test_base.h"
#include "proprio/core/text.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

class Gains : public CommandTestBase {
 protected:
  static constexpr double kShoulder = 12.5, kElbow = -3.0;  ///< N m per A

  /// A noisy recording of the planar arm, its torques as motor currents.
  void recordCurrents(const std::string& log, int seed, const std::string& payload) {
    ASSERT_EQ(run("motion " + arm_ + " --type fourier --period 8 --seed " + std::to_string(seed) +
                  " --out " + file("motion.json"))
                  .code,
              0);
    const CommandResult simulated =
        run("simulate " + arm_ + " --trajectory " + file("motion.json") +
            " --encoder-noise 1e-5 --torque-noise 0.05 --no-truth " + payload + " --out " +
            file("torques.csv"));
    ASSERT_EQ(simulated.code, 0) << simulated.error;
    std::ifstream in(file("torques.csv"));
    std::ofstream out(file(log));
    std::string line;
    std::getline(in, line);
    std::vector<std::string> header = splitAt(line, ',');
    std::vector<size_t> kept;
    std::vector<double> factors;
    for (size_t c = 0; c < header.size(); ++c) {
      const bool torque = header[c].rfind("tau_", 0) == 0;
      if (header[c].find("_des_") != std::string::npos) continue;
      factors.push_back(!torque                                           ? 1.0
                        : header[c].find("shoulder") != std::string::npos ? 1.0 / kShoulder
                                                                          : 1.0 / kElbow);
      if (torque) header[c] = "i_" + header[c].substr(4, header[c].find(' ') - 4) + " [A]";
      out << (kept.empty() ? "" : ",") << header[c];
      kept.push_back(c);
    }
    out << '\n';
    while (std::getline(in, line)) {
      const std::vector<std::string> cells = splitAt(line, ',');
      for (size_t k = 0; k < kept.size(); ++k)
        out << (k > 0 ? "," : "") << fmt::format("{:.9g}", std::stod(cells[kept[k]]) * factors[k]);
      out << '\n';
    }
  }

  void recordBoth() {
    recordCurrents("free.csv", 3, "");
    recordCurrents("loaded.csv", 4, "--payload forearm:1.5,0.25,0,0.02");
  }

  CommandResult gains(const std::string& more) {
    return run("gains " + arm_ + " --log " + file("free.csv") + " --loaded " + file("loaded.csv") +
               " " + more);
  }

  std::string arm_ = robot("planar_2r.yaml");
};

// Claim: currents alone are refused by identify with a message that names gains; gains finds them,
// and with the robot.yaml that it writes identify passes.
TEST_F(Gains, TurnCurrentsIntoAModel) {
  recordBoth();
  const CommandResult refused = run("identify " + arm_ + " --log " + file("free.csv"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("proprio gains"), std::string::npos) << refused.error;

  const CommandResult found =
      gains("--payload 1.5,0.25,0,0.02 --json " + file("gains.json") + " --out " + file("out"));
  ASSERT_EQ(found.code, 0) << found.out << found.error;
  const Model model = readRobot(file("out") + "/robot.yaml");
  for (const auto& joint : json("gains.json")["joints"]) {
    const std::string name = joint["joint"];
    const double truth = name == "shoulder" ? kShoulder : kElbow;
    EXPECT_NEAR(joint["gain"].get<double>() / truth, 1.0, 0.01) << found.out;
    EXPECT_LT(std::abs(joint["gain"].get<double>() - truth), 5.0 * joint["sigma"].get<double>());
    const Drive& drive = model.joints[static_cast<size_t>(requireJoint(model, name))].drive;
    EXPECT_TRUE(drive.gain_declared);
    EXPECT_EQ(drive.gain, joint["gain"].get<double>());
  }
  const CommandResult identified =
      run("identify " + file("out") + "/robot.yaml --log " + file("free.csv") + " --split 0.7");
  EXPECT_EQ(identified.code, 0) << identified.out << identified.error;
}

// Claim: a payload in a file, and least squares joint by joint, give the same within 1 %.
TEST_F(Gains, PayloadInAFile) {
  recordBoth();
  const CommandResult found =
      gains("--method separate --json " + file("gains.json") + " --payload " +
            write("load.yaml",
                  "{name: ball, link: forearm, mass: 1.5, com: [0.25, 0, 0.02], "
                  "inertia_at_com: [0, 0, 0, 0, 0, 0]}"));
  ASSERT_EQ(found.code, 0) << found.out << found.error;
  for (const auto& joint : json("gains.json")["joints"])
    EXPECT_NEAR(joint["gain"].get<double>() / (joint["joint"] == "shoulder" ? kShoulder : kElbow),
                1.0, 0.01);
}

// Claim: a payload that was not really there reveals nothing: exit code 1, no robot is written.
TEST_F(Gains, WithoutTheLoadTheAnswerIsNo) {
  recordBoth();
  const CommandResult none =
      run("gains " + arm_ + " --log " + file("free.csv") + " --loaded " + file("free.csv") +
          " --payload 0.0001,0.25,0,0 --out " + file("out"));
  EXPECT_EQ(none.code, 1) << none.out << none.error;
  EXPECT_NE(none.out.find("does not reveal"), std::string::npos) << none.out;
  EXPECT_FALSE(std::filesystem::exists(file("out") + "/robot.yaml"));
}

// Claim: what is wrong with the options is said in one sentence.
TEST_F(Gains, Mistakes) {
  recordBoth();
  const auto refusal = [&](const std::string& more) {
    const CommandResult result = gains(more);
    EXPECT_EQ(result.code, 2) << more;
    return result.error;
  };
  EXPECT_NE(refusal("--payload 1,2,3").find("MASS,X,Y,Z"), std::string::npos);
  EXPECT_NE(refusal("--payload nothing.yaml").find("nothing.yaml"), std::string::npos);
  EXPECT_NE(refusal("--payload 1,0,0,0 --at hand").find("hand"), std::string::npos);
  EXPECT_NE(refusal("--payload 0,0,0,0").find("mass"), std::string::npos);
  EXPECT_NE(refusal("--payload 1,0,0,0 --method both").find("separate"), std::string::npos);
  EXPECT_NE(run("gains " + arm_ + " --log " + file("torques.csv") + " --loaded " +
                file("loaded.csv") + " --payload 1,0,0,0")
                .error.find("no current"),
            std::string::npos);
}

}  // namespace
}  // namespace proprio
