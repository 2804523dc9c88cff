// The main job from the command line: a recording in, a verdict and an exit code out.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "apps/testing/identify_test_base.h"
#include "proprio/core/text.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/hdf5.h"
#include "proprio/recording/read_recording.h"

namespace proprio {
namespace {

// Claim: an unconstrained method runs too, several are compared, unknown ones are named.
TEST_F(Identify, RunsSeveralMethods) {
  const CommandResult result = identify(file("log.csv"), "--method wls,ols,pc-wls");
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(result.out.find("pc-wls"), std::string::npos);
  const CommandResult wrong = identify(file("log.csv"), "--method pc-wsl");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.error.find("pc-wls"), std::string::npos) << wrong.error;
}

// Claim: the rule of essential parameters and its number are heard: a stricter threshold keeps no
// more parameters; a misspelt rule gets the nearest name, and a rule without the method is refused.
TEST_F(Identify, ChoosesTheRuleOfEssentialParameters) {
  const auto kept = [&](const std::string& rule) {
    const CommandResult result = identify(
        file("log.csv"), "--method essential --essential-rule " + rule + " --out " + file("out"));
    EXPECT_LE(result.code, 1) << result.error;
    const std::string name = rule.substr(0, rule.find(':'));
    EXPECT_NE(flat(result).find("essential by the rule " + name), std::string::npos) << result.out;
    int count = 0;
    for (const auto& parameter : json("out/estimate.json")["base_parameters"])
      count += parameter["value"] != 0.0;
    return count;
  };
  const int usual = kept("threshold");
  EXPECT_LT(kept("threshold:0.2"), usual);
  EXPECT_GT(usual, 0);
  for (const char* rule : {"fisher:0.01", "times-best", "ratio", "stepwise", "triangle"})
    EXPECT_GT(kept(rule), 0) << rule;
  const CommandResult wrong =
      identify(file("log.csv"), "--method essential --essential-rule tresholt");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.error.find("did you mean 'threshold'"), std::string::npos) << wrong.error;
  const CommandResult unused = identify(file("log.csv"), "--essential-rule fisher");
  EXPECT_EQ(unused.code, 2);
  EXPECT_NE(unused.error.find("--method essential"), std::string::npos) << unused.error;
}

// Claim: of two recordings the one with a hundred times the torque noise counts less, which is told
// and makes the standard deviations smaller than equal weights do; noise can be given, must fit the
// recordings, and is no word that nobody knows.
TEST_F(Identify, WeighsRecordingsByTheirNoise) {
  ASSERT_EQ(run("simulate " + robot(arm_) + " --trajectory " + file("motion.json") +
                " --encoder-noise 1e-5 --torque-noise 5 --seed 9 --out " + file("loud.csv"))
                .code,
            0);
  const std::string logs = file("log.csv") + " --log " + file("loud.csv");
  const auto spread = [&](const std::string& more) {
    const CommandResult result = identify(logs, "--method wls " + more + " --out " + file("out"));
    EXPECT_LE(result.code, 1) << result.error;
    const bool told = flat(result).find("recordings count by their noise") != std::string::npos;
    EXPECT_EQ(told, more.empty()) << result.out;
    double sum = 0.0;
    for (const auto& parameter : json("out/estimate.json")["base_parameters"])
      sum += parameter["sigma"].get<double>();
    return sum;
  };
  const double found = spread(""), alike = spread("--recording-noise alike");
  const double given = spread("--recording-noise 1,20");
  EXPECT_LT(found, 0.7 * alike);
  EXPECT_LT(given, 0.7 * alike);
  for (const char* wrong : {"1", "1,2,3", "1,0", "1,x", "automatic"})
    EXPECT_EQ(identify(logs, std::string("--recording-noise ") + wrong).code, 2) << wrong;
}

// Claim: no method is left out because of a bound on a mass; an option that a method does not use
// is told.
TEST_F(Identify, RunsAllMethodsUnderAConstraint) {
  const CommandResult all =
      identify(file("log.csv"), "--method all --mass forearm:0.1:30 --out " + file("out"));
  EXPECT_LE(all.code, 1) << all.out << all.error;
  EXPECT_EQ(flat(all).find("was left out"), std::string::npos) << all.out << all.error;
  EXPECT_GT(json("out/estimate.json")["methods"].size(), 8u);
  const CommandResult full = identify(file("log.csv"), "--method pc-wls --full-covariance");
  EXPECT_NE(flat(full).find("--full-covariance is for wls, irls and pc-irls"), std::string::npos)
      << full.out;
  EXPECT_EQ(flat(identify(file("log.csv"), "--method wls --full-covariance")).find("is for wls"),
            std::string::npos);
}

// Claim: of all methods those that cannot work with the recordings are left out, with the reason,
// and the others answer: correlations of joints that are never recorded together. A method that was
// asked for by name fails.
TEST_F(Identify, LeavesOutMethodsThatCannotWork) {
  const Recording whole = readRecordings(file("log.csv")).at(0);
  std::string shoulder = "time,q_shoulder,q_elbow,tau_shoulder\n",
              elbow = "time,q_shoulder,q_elbow,tau_elbow\n";
  for (Eigen::Index k = 0; k < whole.samples(); ++k) {
    const auto value = [&](const char* name) { return whole.values(k, whole.column(name)); };
    const std::string state =
        fmt::format("{},{},{}", whole.time[k], value("q_shoulder"), value("q_elbow"));
    shoulder += fmt::format("{},{}\n", state, value("tau_shoulder"));
    elbow += fmt::format("{},{}\n", state, value("tau_elbow"));
  }
  const std::string logs = write("shoulder.csv", shoulder) + " --log " + write("elbow.csv", elbow);
  const CommandResult all = identify(logs, "--method all --full-covariance --out " + file("out"));
  EXPECT_LE(all.code, 1) << all.out << all.error;
  for (const char* name : {"wls", "irls", "pc-irls"})
    EXPECT_NE(flat(all).find(std::string(name) + " was left out: only 0 samples have torques"),
              std::string::npos)
        << name << all.out;
  const nlohmann::json methods = json("out/estimate.json")["methods"];
  EXPECT_GT(methods.size(), 8u);
  for (const auto& method : methods) EXPECT_NE(method["method"], "wls");
  EXPECT_EQ(identify(logs, "--method pc-wls,wls --full-covariance").code, 2);
}

// Claim: rows without time, in no order or in order, are used as states of their own where
// velocities and accelerations are recorded; without accelerations they are refused with the
// reason.
TEST_F(Identify, TakesRowsInNoOrder) {
  std::vector<std::string> rows;
  changed("copy.csv", [&](int, const auto& header, auto& cells) {
    std::string row;
    for (const char* name : {"q_true_shoulder", "q_true_elbow", "v_true_shoulder", "v_true_elbow",
                             "a_true_shoulder", "a_true_elbow", "tau_shoulder", "tau_elbow"}) {
      for (size_t c = 0; c < cells.size(); ++c) {
        if (header[c].starts_with(name)) row += (row.empty() ? "" : ",") + cells[c];
      }
    }
    rows.push_back(row);
    return false;
  });
  std::string states = "q1,q2,dq1,dq2,ddq1,ddq2,tau1,tau2\n", bare = "q1,q2,tau1,tau2\n";
  std::string ordered = states;
  for (size_t k = 0; k < rows.size(); ++k) {
    const std::string& row = rows[k * 4801 % rows.size()];  // a prime: every row once
    const std::vector<std::string> cells = splitAt(row, ',');
    ASSERT_EQ(cells.size(), 8u);
    states += row + "\n";
    ordered += rows[k] + "\n";
    bare += cells[0] + "," + cells[1] + "," + cells[6] + "," + cells[7] + "\n";
  }
  const CommandResult result = identify(write("states.csv", states), "--out " + file("states"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(flat(result).find("rows are in no order of time"), std::string::npos) << result.out;
  for (const auto& joint : json("states/estimate.json")["errors"]["validation"]["joints"])
    EXPECT_LT(joint["percent"], 5.0);
  const CommandResult timeless = identify(write("ordered.csv", ordered));
  EXPECT_EQ(timeless.code, 0) << timeless.out << timeless.error;
  EXPECT_NE(flat(timeless).find("neither time stamps nor a rate"), std::string::npos)
      << timeless.out;
  const CommandResult refused = identify(write("bare.csv", bare), "--rate 100");
  EXPECT_EQ(refused.code, 1) << refused.out << refused.error;
  EXPECT_NE(flat(refused).find("give the time of every row"), std::string::npos) << refused.out;
}

// Claim: postures at rest tell first moments. Torques of the planar arm in closed form, with links
// that are 1.5 and 2 times as heavy as declared, are explained to their 0.1 % of rounding.
TEST_F(Identify, LearnsFromPosturesAtRest) {
  constexpr double kGravity = 9.81, kReach = 0.4;  // m, of the upper arm
  std::string text = "q_shoulder,q_elbow,tau_shoulder,tau_elbow\n";
  for (int k = 0; k < 80; ++k) {
    const double q1 = 3.0 * std::sin(1.3 * k), q2 = 2.5 * std::sin(2.9 * k + 1.0);
    const double forearm = 2.0 * 1.0 * 0.21 * kGravity * std::cos(q1 + q2);
    const double upper_arm = (1.5 * 2.0 * 0.28 + 2.0 * 1.0 * kReach) * kGravity * std::cos(q1);
    text += fmt::format("{:.4f},{:.4f},{:.4f},{:.4f}\n", q1, q2, upper_arm + forearm, forearm);
  }
  const CommandResult result =
      identify(write("postures.csv", text), "--at-rest --out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  for (const auto& joint : json("out/estimate.json")["errors"]["validation"]["joints"])
    EXPECT_LT(joint["percent"], 0.1) << result.out;
}

// Claim: a log of commanded torques alone is used, and that is told; beside measured ones they are
// not.
TEST_F(Identify, TakesCommandedTorquesWhereNoneAreMeasured) {
  const Recording whole = readRecordings(file("log.csv")).at(0);
  std::string table = "t,q1,q2,tau_cmd1,tau_cmd2\n";
  for (Eigen::Index k = 0; k < whole.samples(); ++k) {
    const auto value = [&](const char* name) { return whole.values(k, whole.column(name)); };
    table += fmt::format("{},{},{},{},{}\n", whole.time[k], value("q_shoulder"), value("q_elbow"),
                         value("tau_shoulder"), value("tau_elbow"));
  }
  const CommandResult result = identify(write("commanded.csv", table));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(flat(result).find("no torque is measured: those that were commanded are taken for "
                              "'shoulder', 'elbow'"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(flat(identify(file("log.csv"))).find("no torque is measured"), std::string::npos);
}

// Claim: a file with a part for training and one for test serves --log and --validate, each with
// its own part.
TEST_F(Identify, TakesTrainingAndTestFromOneFile) {
  const Recording whole = readRecordings(file("log.csv")).at(0);
  const Eigen::Index train = 2 * whole.samples() / 3;
  std::vector<Recording> parts = {cutByRows(whole, 0, train),
                                  cutByRows(whole, train, whole.samples() - train)};
  parts[0].topic = "train";
  parts[1].topic = "test";
  writeHdf5(file("both.h5"), parts);
  const CommandResult result =
      identify(file("both.h5"), "--validate " + file("both.h5") + " --out " + file("both"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(flat(result).find("validated on both.h5 (test)"), std::string::npos) << result.out;
}

// Claim: a plain URDF and a table with usual column names are enough: friction and rotor inertia
// are added and told, the files that are written say them, and predict as well.
TEST_F(IdentifySixAxes, TakesAPlainUrdfAndATable) {
  std::string table = "t";
  for (const char* prefix : {"q", "tau"}) {
    for (int j = 1; j <= 6; ++j) table += fmt::format(",{}{}", prefix, j);
  }
  table += "\n";
  changed("copy.csv", [&](int, const Header& header, Cells& cells) {
    table += cells[0];
    for (const char* prefix : {"q", "tau"}) {
      for (int j = 1; j <= 6; ++j)
        table += "," + cells[column(header, fmt::format("{}_joint_{}", prefix, j))];
    }
    table += "\n";
    return false;
  });
  const std::string log = write("table.csv", table);
  const std::string task = "identify " + robot("tx40.urdf") + " --log " + log + " --split 0.7 ";
  const CommandResult result = run(task + "--out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(flat(result).find("position is q1 to q6"), std::string::npos) << result.out;
  EXPECT_NE(flat(result).find("no friction is declared of joint_1"), std::string::npos);
  EXPECT_EQ(run("validate " + file("out") + "/robot.yaml --log " + log + " --limit 10").code, 0);
  EXPECT_EQ(run("check " + file("out") + "/robot.yaml").code, 0);
  // without friction the torques of this arm cannot be explained
  EXPECT_EQ(run(task + "--as-declared").code, 1);
}

// Claim: a joint that is not recorded at all, such as a gripper's, is held still and told; files
// are written with it.
TEST_F(IdentifySixAxes, HoldsJointsThatAreNotRecorded) {
  std::string urdf = readFile(robot("tx40.urdf"));
  urdf.replace(urdf.find("</robot>"), 8, R"(
  <link name="finger"><inertial><mass value="0.02"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="finger_joint" type="prismatic"><parent link="link_6"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="0.01" upper="0.04" effort="20" velocity="0.2"/></joint>
</robot>)");
  const std::string arm = write("with_gripper.urdf", urdf);
  const CommandResult result =
      run("identify " + arm + " --log " + file("log.csv") + " --split 0.7 --out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_EQ(flat(result).find("finger_joint:"), std::string::npos) << result.out;
  EXPECT_NE(flat(result).find("'finger_joint' is not recorded: it is held at 0.01"),
            std::string::npos)
      << result.out << result.error;
  EXPECT_EQ(readRobot(file("out") + "/robot.urdf").velocity_count, 7);
  EXPECT_EQ(run("validate " + file("out") + "/robot.yaml --limit 15 --log " + file("log.csv")).code,
            0);
}

// Claim: a scale inside a friction term that is declared wrong is found (it is told with its
// standard deviation), written to robot.yaml, and leaves less of the torques unexplained.
TEST_F(Identify, FitsFrictionConstants) {
  const auto with = [&](const std::string& name, double scale) {
    return write(name, fmt::format("version: 1\nname: {}\nurdf: {}\njoints:\n"
                                   "  shoulder: {{friction: {{viscous: 0.3, arctan: {{coefficient: "
                                   "1.5, scale: {}}}}}}}\n"
                                   "  elbow: {{friction: {{viscous: 0.2, arctan: {{coefficient: "
                                   "0.8, scale: {}}}}}}}\n",
                                   "rubbing", robot("planar_2r.urdf"), scale, scale));
  };
  const std::string truth = with("truth.yaml", 3.0), declared = with("declared.yaml", 30.0);
  ASSERT_EQ(run("simulate " + truth + " --trajectory " + file("motion.json") +
                " --encoder-noise 1e-6 --torque-noise 0.01 --out " + file("rubbing.csv"))
                .code,
            0);
  const std::string task = "identify " + declared + " --log " + file("rubbing.csv") +
                           " --split 0.7 --cutoff 20 --rows-at 100 --out ";
  ASSERT_LE(run(task + file("kept")).code, 1);
  const CommandResult fitted = run(task + file("fitted") + " --friction-constants fit");
  EXPECT_EQ(fitted.code, 0) << fitted.out << fitted.error;
  const nlohmann::json kept = json("kept/estimate.json"), found = json("fitted/estimate.json");
  for (size_t j = 0; j < 2; ++j) {
    const auto percent = [&](const nlohmann::json& estimate) {
      return estimate["errors"]["validation"]["joints"][j]["percent"].get<double>();
    };
    EXPECT_LT(percent(found), percent(kept)) << j;
  }
  const Model written = readRobot(file("fitted") + "/robot.yaml");
  for (const Joint& joint : written.joints) {
    for (const FrictionTerm& term : joint.friction.terms) {
      if (term.kind != FrictionTermKind::kArctan) continue;
      EXPECT_NEAR(term.scale, 3.0, 0.3) << joint.name;
    }
  }
}

// Claim: currents without a gain are refused with the joints' names; a drive that says nothing but
// its gain is enough, and stays as it is in the files that are written, but for the rotor found.
TEST_F(Identify, CurrentsNeedAGain) {
  std::string table = "t,q1,q2,current1,current2\n";
  changed("copy.csv", [&](int, const auto& header, auto& cells) {
    table += cells[0];
    for (const char* name : {"q_shoulder", "q_elbow", "tau_shoulder", "tau_elbow"}) {
      for (size_t c = 0; c < header.size(); ++c) {
        if (header[c].rfind(std::string(name) + " ", 0) == 0) table += "," + cells[c];
      }
    }
    table += "\n";
    return false;
  });
  const std::string log = write("currents.csv", table);
  const CommandResult refused =
      run("identify " + robot("planar_2r.urdf") + " --log " + log + " --split 0.7");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("currents are recorded for 'shoulder', 'elbow'"), std::string::npos)
      << refused.error;
  const std::string yaml =
      write("gains.yaml",
            fmt::format("version: 1\nurdf: {}\njoints:\n  shoulder: {{drive: {{gain: 1}}}}\n"
                        "  elbow:\n    drive:\n      gain: 1\n",
                        robot("planar_2r.urdf")));
  const CommandResult result =
      run("identify " + yaml + " --log " + log + " --split 0.7 --out " + file("out"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  const Model written = readRobot(file("out") + "/robot.yaml");
  for (const char* name : {"shoulder", "elbow"}) {
    const Drive& drive = written.joints[static_cast<size_t>(requireJoint(written, name))].drive;
    EXPECT_TRUE(drive.gain_declared) << name;
    EXPECT_GE(drive.rotor_inertia, 0.0) << name;
  }
}

// Claim: torques beside the currents need no gain.
TEST_F(Identify, TorquesBesideCurrentsNeedNoGain) {
  std::string table = "t,current1,current2,q1,q2,tau1,tau2\n";
  changed("copy.csv", [&](int, const auto& header, auto& cells) {
    table += cells[0] + ",0.1,0.2";
    for (const char* name : {"q_shoulder", "q_elbow", "tau_shoulder", "tau_elbow"}) {
      for (size_t c = 0; c < header.size(); ++c) {
        if (header[c].rfind(std::string(name) + " ", 0) == 0) table += "," + cells[c];
      }
    }
    table += "\n";
    return false;
  });
  const CommandResult result = run("identify " + robot("planar_2r.urdf") + " --log " +
                                   write("both.csv", table) + " --split 0.7");
  EXPECT_EQ(result.code, 0) << result.out << result.error;
}

// Claim: a right angle that was typed with four digits leaves the same base parameters, as well
// conditioned, as an exact one: no masses from axes that are parallel but for rounding.
TEST_F(IdentifySixAxes, TakesTypedRightAngles) {
  std::string text = readFile(robot("tx40.urdf"));
  const std::string exact = "1.5707963267948966";
  ASSERT_NE(text.find(exact), std::string::npos);
  write("exact.urdf", text);
  for (size_t at = text.find(exact); at != std::string::npos; at = text.find(exact))
    text.replace(at, exact.size(), "1.5708");
  write("typed.urdf", text);
  for (const char* name : {"exact", "typed"}) {
    const CommandResult result =
        run(fmt::format("identify {} --log {} --split 0.7 --out {}",
                        file(std::string(name) + ".urdf"), file("log.csv"), file(name)));
    EXPECT_EQ(result.code, 0) << result.out << result.error;
  }
  const nlohmann::json one = json("exact/estimate.json"), other = json("typed/estimate.json");
  EXPECT_EQ(one["base_parameters"].size(), other["base_parameters"].size());
  EXPECT_NEAR(other["condition_number"].get<double>(), one["condition_number"].get<double>(),
              1e-3 * one["condition_number"].get<double>());
}

// Claim: an angle that the recorder keeps within one turn gives what the continuous one gives. The
// first axis is vertical, so that half a turn more does not change the torques.
TEST_F(IdentifySixAxes, MakesAnglesContinuous) {
  const std::string log = changed("turns.csv", [](int, const Header& header, Cells& cells) {
    for (const char* name : {"q_joint_1", "q_des_joint_1"}) {
      std::string& cell = cells[column(header, name)];
      cell = fmt::format("{:.9f}", std::remainder(std::stod(cell) + 3.14159, 2.0 * M_PI));
    }
    return true;
  });
  const CommandResult result = identify(log, "--out " + file("turns"));
  EXPECT_EQ(result.code, 0) << result.out << result.error;
  EXPECT_NE(readFile(file("turns") + "/report.html").find("q_joint_1 jumps by a whole turn"),
            std::string::npos);
  ASSERT_EQ(identify(file("log.csv"), "--out " + file("plain")).code, 0);
  const std::vector<double> turned = errors("turns"), plain = errors("plain");
  for (size_t j = 0; j < plain.size(); ++j) EXPECT_NEAR(turned[j], plain[j], 0.05 * plain[j]) << j;
}

/// An arm of three joints with a tool behind a force-torque sensor.
std::string armWithTool(double tool_mass) {
  const auto link = [](const std::string& name, double mass, double length) {
    const double inertia = mass * length * length / 12.0 + 0.001;
    return fmt::format(
        "<link name='{}'><inertial><origin xyz='0.01 0.02 {}'/><mass value='{}'/><inertia ixx='{}' "
        "ixy='0' ixz='0' iyy='{}' iyz='0' izz='0.002'/></inertial></link>\n",
        name, 0.5 * length, mass, inertia, inertia);
  };
  const auto joint = [](const std::string& name, const std::string& type, const std::string& from,
                        const std::string& to, double z, const std::string& axis) {
    return fmt::format(
        "<joint name='{}' type='{}'><parent link='{}'/><child link='{}'/><origin xyz='0 0 {}' "
        "rpy='0.1 0 0.2'/><axis xyz='{}'/><limit lower='-2' upper='2' velocity='3' "
        "effort='200'/><dynamics damping='0.5' friction='0.8'/></joint>\n",
        name, type, from, to, z, axis);
  };
  return "<robot name='arm'>\n<link name='base'/>\n" + link("upper", 4.0, 0.4) +
         link("fore", 2.5, 0.3) + link("wrist", 1.0, 0.1) + link("tool", tool_mass, 0.2) +
         joint("shoulder", "revolute", "base", "upper", 0.2, "0 1 0") +
         joint("elbow", "revolute", "upper", "fore", 0.4, "0 1 0") +
         joint("roll", "revolute", "fore", "wrist", 0.3, "0 0 1") +
         joint("flange", "fixed", "wrist", "tool", 0.1, "0 0 1") + "</robot>\n";
}

std::string armYaml(const std::string& urdf, const std::string& bias) {
  return "version: 1\nname: arm\nurdf: " + urdf +
         "\nsensors:\n  - {name: ft, type: force_torque, joint: flange, link: tool, xyz: [0, 0, "
         "0.02], rpy: [0, 0, 0.5], noise: 0.02" +
         bias + "}\n";
}

/// A recorded force-torque sensor tells tool and offset, without joint torques just as well.
TEST_F(Identify, LearnsAToolFromItsSensor) {
  write("true.urdf", armWithTool(2.0));
  write("arm.urdf", armWithTool(1.2));
  write("true.yaml", armYaml("true.urdf", ", bias: [2, -1, 3, 0.1, -0.2, 0.05]"));
  write("arm.yaml", armYaml("arm.urdf", ""));
  ASSERT_EQ(run("motion " + file("true.yaml") +
                " --acceleration 10 --type fourier --period 8 "
                "--seed 3 --out " +
                file("motion.json"))
                .code,
            0);
  ASSERT_EQ(run("simulate " + file("true.yaml") + " --trajectory " + file("motion.json") +
                " --encoder-noise 1e-6 --torque-noise 0.1 --no-truth --out " + file("tool.csv"))
                .code,
            0);
  std::ifstream all(file("tool.csv"));
  std::ofstream few(file("no_torques.csv"));
  std::vector<size_t> kept;
  for (std::string line; std::getline(all, line);) {
    const std::vector<std::string> cells = splitAt(line, ',');
    if (kept.empty()) {
      for (size_t c = 0; c < cells.size(); ++c) {
        if (!cells[c].starts_with("tau")) kept.push_back(c);
      }
    }
    for (size_t k = 0; k < kept.size(); ++k) few << (k > 0 ? "," : "") << cells[kept[k]];
    few << '\n';
  }
  few.close();
  for (const std::string log : {"tool.csv", "no_torques.csv"}) {
    const CommandResult result = run("identify " + file("arm.yaml") + " --log " + file(log) +
                                     " --split 0.7 --out " + file("out"));
    EXPECT_EQ(result.code, 0) << result.out << result.error;
    EXPECT_NE(flat(result).find("wrenches of 'ft' are used too"), std::string::npos);
    const Model model = readRobot(file("out/robot.yaml"));
    const Link& tool = model.links[static_cast<size_t>(requireLink(model, "tool"))];
    EXPECT_NEAR(tool.inertia.mass, 2.0, 0.02) << log;
    EXPECT_LT((tool.inertia.com() - Vector3d(0.01, 0.02, 0.1)).norm(), 0.002) << log;
    ASSERT_EQ(model.sensors.size(), 1U);
    ASSERT_EQ(model.sensors[0].bias.size(), 6U);
    EXPECT_NEAR(model.sensors[0].bias[2], 3.0, 0.05) << log;
    EXPECT_NEAR(model.sensors[0].bias[4], -0.2, 0.01) << log;
  }
}

// Claim: blocks that are left out in turn are compared with the model as given: a constraint that
// spoils it fails by default as it does with held-out data, and the description itself passes.
TEST_F(IdentifySixAxes, ComparesWithTheModelAsGivenByDefault) {
  const std::string command = "identify " + robot(arm_) + " --log " + file("log.csv");
  const CommandResult spoilt = run(command + " --symmetric link_3:link_4");
  EXPECT_EQ(spoilt.code, 1) << spoilt.out << spoilt.error;
  EXPECT_NE(flat(spoilt).find("is predicted worse than by the model as given"), std::string::npos)
      << spoilt.out;
  EXPECT_EQ(run(command).code, 0);
}

// Claim: a recording does not validate what was identified from it, under whatever name.
TEST_F(Identify, RefusesToValidateOnTheTrainingRecording) {
  const std::string copy = changed("copy.csv", [](int, const auto&, auto&) { return true; });
  for (const std::string& name : {file("log.csv"), copy}) {
    const CommandResult result = identify(file("log.csv"), "--validate " + name);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_NE(result.error.find("has the same samples as --log"), std::string::npos)
        << result.error;
  }
}

// Claim: recordings of one name in two folders are judged one by one.
TEST_F(Identify, TellsFilesOfOneNameApart) {
  for (const int first : {300, 600}) {
    const std::string folder = file(fmt::format("take{}", first));
    std::filesystem::create_directories(folder);
    std::filesystem::rename(
        changed("test.csv", [first](int row, const auto&, auto&) { return row > first; }),
        folder + "/test.csv");
  }
  const CommandResult result =
      identify(file("log.csv"), "--validate " + file("take300") + "/test.csv --validate " +
                                    file("take600") + "/test.csv --out " + file("out"));
  ASSERT_LE(result.code, 1) << result.error;
  EXPECT_NE(flat(result).find("take300/test.csv and 1 more"), std::string::npos) << result.out;
  EXPECT_NE(flat(result).find("take600/test.csv ("), std::string::npos) << result.out;
}

// Claim: options that contradict each other or are no numbers are refused in one sentence.
TEST_F(Identify, RefusesBadOptions) {
  EXPECT_EQ(identify(file("log.csv"), "--split 0.5 --validate " + file("log.csv")).code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--prior-weight minus").code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--mass upper_arm:a:b").code, 2);
  EXPECT_EQ(identify(file("log.csv"), "--derivative twice").code, 2);
  EXPECT_EQ(run("identify " + robot("planar_2r.yaml") + " --log " + file("nothing.csv")).code, 2);
  for (const std::string unused :
       {"--method wls --total-mass 1:9", "--method wls --freeze forearm",
        "--method wls --prior none", "--method ols,wls --prior-weight 10",
        "--method wls --com-in-shapes", "--ridge 0.1", "--method wls --rescale-gains"}) {
    const CommandResult result = identify(file("log.csv"), unused);
    EXPECT_EQ(result.code, 2) << unused;
    EXPECT_NE(result.error.find("would ignore it"), std::string::npos) << result.error;
  }
  EXPECT_EQ(identify(file("log.csv"), "--method pc-wls,wls --prior none --ridge 0.1").code, 0);
}

}  // namespace
}  // namespace proprio
