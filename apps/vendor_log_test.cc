/// Logs as vendors and laboratories write them, through `identify` with a plain URDF.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "apps/testing/command_test_base.h"
#include "proprio/recording/csv.h"

namespace proprio {
namespace {

/// A recording of the planar arm, written again in other ways: what is identified must stay the
/// same.
class VendorLog : public CommandTestBase {
 protected:
  void SetUp() override {
    const std::string arm = robot("planar_2r.yaml"), motion = file("motion.json");
    ASSERT_EQ(run("motion " + arm + " --type fourier --period 6 --seed 3 --out " + motion).code, 0);
    ASSERT_EQ(run("simulate " + arm + " --trajectory " + motion +
                  " --sample-rate 250 --torque-noise 0.05 --no-truth --out " + file("log.csv"))
                  .code,
              0);
    recording_ = readCsvRecording(file("log.csv"));
    masses_ = massesFrom(file("log.csv"));
  }

  double value(const std::string& name, Eigen::Index row) const {
    return recording_.values(row, recording_.column(name));
  }

  /// One line per sample.
  std::string lines(const std::function<std::string(Eigen::Index)>& line) const {
    std::string text;
    for (Eigen::Index i = 0; i < recording_.samples(); ++i) text += line(i) + "\n";
    return text;
  }

  /// Masses and centres of mass that are identified from a log.
  std::vector<double> massesFrom(const std::string& log) {
    const CommandResult result =
        run(fmt::format("identify {} --log {} --split 0.7 --json {}", robot("planar_2r.urdf"), log,
                        file("result.json")));
    EXPECT_EQ(result.code, 0) << result.out << result.error;
    told_ = result.out;
    std::vector<double> masses;
    if (result.code != 0) return masses;
    for (const auto& link : json("result.json")["links"]) {
      masses.push_back(link["mass"]);
      for (const double com : link["com"]) masses.push_back(com);
    }
    return masses;
  }

  void expectSame(const std::string& log) {
    const std::vector<double> masses = massesFrom(log);
    ASSERT_EQ(masses.size(), masses_.size()) << log;
    // nine digits of the samples are kept
    for (size_t k = 0; k < masses.size(); ++k) EXPECT_NEAR(masses[k], masses_[k], 1e-4) << log;
  }

  Recording recording_;
  std::vector<double> masses_;
  std::string told_;  ///< what was printed last
};

// Lines before the table, a line of units in degrees, decimal commas, dates, text: the same
// parameters come out, and every guess is told.
TEST_F(VendorLog, VendorsTable) {
  const std::string log = write(
      "trace.csv",
      "Robot;2R arm\r\nController;X1\r\nSample time;0,004\r\n\r\n"
      "Date;Mode;Pos_Shoulder;Pos_Elbow;Torque_Shoulder;Torque_Elbow;\r\n"
      ";;[deg];[deg];[mNm];[mNm];\r\n" +
          lines([&](Eigen::Index i) {
            const double degrees = 180.0 / M_PI;
            const int us = static_cast<int>(std::lround(1e6 * recording_.time[i]));
            std::string row = fmt::format(
                "2024-03-01 12:00:{:02d}.{:06d};AUTO;{:.9f};{:.9f};{:.7f};{:.7f};\r", us / 1000000,
                us % 1000000, degrees * value("q_shoulder", i), degrees * value("q_elbow", i),
                1e3 * value("tau_shoulder", i), 1e3 * value("tau_elbow", i));
            const size_t mode = row.find("AUTO");
            for (size_t k = mode; k < row.size(); ++k) row[k] = row[k] == '.' ? ',' : row[k];
            return row;
          }));
  expectSame(log);
  for (const char* guess : {"before the table", "units of the columns", "dates and times",
                            "with text was left out", "taken by their names"})
    EXPECT_NE(told_.find(guess), std::string::npos) << guess << "\n" << told_;
}

// One signal per file, as a folder and as one of the files.
TEST_F(VendorLog, OneSignalPerFile) {
  std::filesystem::create_directories(file("run"));
  for (const auto& [name, prefix] : {std::pair{"run1_pos.dat", "q"}, {"run1_trq.dat", "tau"}}) {
    const std::string letter = prefix;
    write(std::string("run/") + name, lines([&](Eigen::Index i) {
            return fmt::format("{:.6f} {:.9f} {:.9f}", recording_.time[i],
                               value(letter + "_shoulder", i), value(letter + "_elbow", i));
          }));
  }
  expectSame(file("run"));
  expectSame(file("run/run1_trq.dat"));
  const CommandResult twice =
      run(fmt::format("identify {} --log {} --log {}", robot("planar_2r.urdf"),
                      file("run/run1_pos.dat"), file("run/run1_trq.dat")));
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.error.find("are files of one recording"), std::string::npos) << twice.error;
}

// Two recordings in one file, whose time starts again, are two: `log` shows both and finds no
// error, and `identify` does not join them.
TEST_F(VendorLog, TimeStartsAgain) {
  const std::string once = lines([&](Eigen::Index i) {
    return fmt::format("{:.6f},{:.9f},{:.9f},{:.9f},{:.9f}", recording_.time[i],
                       value("q_shoulder", i), value("q_elbow", i), value("tau_shoulder", i),
                       value("tau_elbow", i));
  });
  const std::string log = write("twice.csv", "t,q1,q2,tau1,tau2\n" + once + once);
  const CommandResult shown = run("log " + log);
  EXPECT_EQ(shown.code, 0) << shown.out << shown.error;
  EXPECT_NE(shown.out.find("part 2 of 2"), std::string::npos) << shown.out;
  massesFrom(log);
  EXPECT_NE(told_.find("the time starts again 1 time"), std::string::npos) << told_;
}

// A log in which nothing fits is refused with lines for robot.yaml, with which it is identified.
TEST_F(VendorLog, LinesToPaste) {
  const std::string log = write(
      "plain.csv", "time,x1,x2,y1,y2\n" + lines([&](Eigen::Index i) {
                     return fmt::format("{:.6f},{:.9f},{:.9f},{:.9f},{:.9f}", recording_.time[i],
                                        value("q_shoulder", i), value("q_elbow", i),
                                        value("tau_shoulder", i), value("tau_elbow", i));
                   }));
  const CommandResult refused = run("identify " + robot("planar_2r.urdf") + " --log " + log);
  EXPECT_EQ(refused.code, 2);
  const size_t lines_at = refused.error.find("recording:\n");
  ASSERT_NE(lines_at, std::string::npos) << refused.error;
  const std::string yaml =
      write("pasted.yaml", fmt::format("version: 1\nurdf: {}\n{}\n", robot("planar_2r.urdf"),
                                       refused.error.substr(lines_at)));
  EXPECT_EQ(run("identify " + yaml + " --log " + log + " --split 0.7").code, 0);
}

// Of a log whose positions are called by an unknown word, the torques are known: the message names
// the channels that were left out, and so it does of torques. Observed is a word for measured.
TEST_F(VendorLog, PositionsByAnotherName) {
  const auto named = [&](const char* file, const char* names) {
    return write(file, names + lines([&](Eigen::Index i) {
                         return fmt::format("{:.6f},{:.9f},{:.9f},{:.9f},{:.9f}",
                                            recording_.time[i], value("q_shoulder", i),
                                            value("q_elbow", i), value("tau_shoulder", i),
                                            value("tau_elbow", i));
                       }));
  };
  const std::string begin = "identify " + robot("planar_2r.urdf") + " --log ";
  const CommandResult refused = run(begin + named("pose.csv", "time,pose_1,pose_2,tau_1,tau_2\n"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("nothing in it is the measured position of a joint"),
            std::string::npos)
      << refused.error;
  EXPECT_NE(refused.error.find("pose_1, pose_2"), std::string::npos) << refused.error;
  const CommandResult motors =
      run(begin + named("motors.csv", "time,q_1,q_2,tau_motor_1,tau_motor_2\n"));
  EXPECT_EQ(motors.code, 2);
  EXPECT_NE(motors.error.find("no torque (nor current) of any joint; joints of the log that the "
                              "robot does not have were ignored: motor_1, motor_2; if torques are"),
            std::string::npos)
      << motors.error;
  const std::string observed =
      named("observed.csv", "time,observed_q_1,observed_q_2,observed_tau_1,observed_tau_2\n");
  EXPECT_EQ(run(begin + observed + " --split 0.7").code, 0);
}

}  // namespace
}  // namespace proprio
