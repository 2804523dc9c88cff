/// The built command as a user runs it: exit codes, messages, files.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"
#include "proprio/recording/csv.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

class Command : public CommandTestBase {};
using Result = CommandResult;

/// One link on one joint; inertia and joint can be spoilt.
std::string smallUrdf(const std::string& izz = "0.01", const std::string& more = "") {
  return "<robot name='small'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
         "<inertia ixx='0.01' ixy='0' ixz='0' iyy='0.01' iyz='0' izz='" +
         izz +
         "'/></inertial></link><joint name='j' type='revolute'><parent link='base'/>"
         "<child link='arm'/><limit lower='-1' upper='1' velocity='2' effort='3'/></joint>" +
         more + "</robot>";
}

// Help and version answer with 0, and the help of every verb has an example.
TEST_F(Command, HelpAndVersion) {
  EXPECT_EQ(run("--version").code, 0);
  EXPECT_EQ(run("--version").out.rfind("proprio ", 0), 0u);
  EXPECT_EQ(run("--help").code, 0);
  for (const char* verb :
       {"check", "show", "base", "dynamics", "motion", "simulate", "log", "compare", "schema"}) {
    const Result help = run(std::string(verb) + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_NE(help.out.find(std::string("Example: proprio ") + verb), std::string::npos) << verb;
    EXPECT_NE(help.out.find("--json"), std::string::npos) << verb;
  }
}

// Mistakes on the command line end with 2, one sentence and a suggestion.
TEST_F(Command, WrongArguments) {
  EXPECT_EQ(run("").code, 2);
  const Result verb = run("chek x.urdf");
  EXPECT_EQ(verb.code, 2);
  EXPECT_EQ(verb.error, "proprio: there is no verb 'chek'; did you mean 'check'?\n");
  const Result option = run("check x.urdf --strikt");
  EXPECT_EQ(option.code, 2);
  EXPECT_EQ(option.error, "proprio: there is no option '--strikt'; did you mean '--strict'?\n");
  for (const char* arguments : {"check", "check a b", "show --floating --fixed x", "dynamics x",
                                "simulate x --seconds y", "--nonsense", "check x --margin 0.1"}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(result.error.rfind("proprio: ", 0), 0u) << result.error;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

// No verb replaces what it reads, or writes two contents to one file, whatever the file is called;
// nothing changes, and the sentence names the option.
TEST_F(Command, OutputsDoNotReplaceInputs) {
  const std::string urdf = write("a.urdf", smallUrdf()), yaml = file("a.yaml");
  const std::string states = write("s.csv", "q_j,v_j,a_j\n0,0,0\n");
  const std::string log = write("l.csv", "time,q_j\n0,0\n1,1\n");
  write("a.yaml", "version: 1\nurdf: a.urdf\n");
  fs::create_symlink(urdf, file("link.urdf"));
  const std::string before = readFile(urdf);
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_NE(result.error.find(words), std::string::npos) << result.error;
  };
  refused(fmt::format("check {0} --json {0}", urdf), "--json");
  refused(fmt::format("check {0} --repair {0}", urdf), "is read as ROBOT");
  refused(fmt::format("check {} --json {}", urdf, file("link.urdf")), "would be replaced");
  refused(fmt::format("check {} --json {}", file("link.urdf"), urdf), "would be replaced");
  refused(fmt::format("show {} --json {}", yaml, urdf), "is the description that was read");
  refused(fmt::format("dynamics {0} --state {1} --out {0}", urdf, states), "--out");
  refused(fmt::format("dynamics {0} --state {1} --out {1}", urdf, states), "is read as --state");
  refused(fmt::format("dynamics {} --state {} --out {} --json {}", urdf, states, file("new"),
                      file("./new")),
          "are the same file");
  refused(fmt::format("log {0} --out {0}", log), "is read as FILE");
  refused(fmt::format("log {0} --robot {1} --json {1}", log, urdf), "is read as --robot");
  refused(fmt::format("log {} --robot {} --json {}", log, yaml, urdf), "description");
  refused(fmt::format("simulate {0} --out {1} --plot {1}", urdf, file("x.svg")), "choose two");
  refused(fmt::format("check {} --json ''", urdf), "--json is empty");
  EXPECT_EQ(readFile(urdf), before);
  EXPECT_FALSE(fs::exists(file("new")));
}

// An output that cannot be written is found before another one is: nothing is left.
TEST_F(Command, AllOutputsOrNone) {
  const std::string urdf = robot("../impossible_arm.urdf"),
                    states = write("s.csv", "q_shoulder\n0\n");
  for (const std::string& arguments :
       {fmt::format("check {} --repair {} --json {}", urdf, file("y"), file("no/x.json")),
        fmt::format("check {} --repair {} --json {}", urdf, file("y"),
                    fs::path(urdf).parent_path().string()),
        fmt::format("dynamics {} --state {} --out {} --json {}", robot("planar_2r.urdf"), states,
                    file("y"), file("no/x.json")),
        fmt::format("simulate {} --out {} --json {}", robot("planar_2r.urdf"), file("y"),
                    file("no/x.json"))}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_FALSE(fs::exists(file("y"))) << arguments;
  }
}

// Links and joints are counted alike: a payload and a fixed joint are parts of a link.
TEST_F(Command, CountsLikeShow) {
  const std::string yaml =
      write("p.yaml",
            "version: 1\ndh:\n  convention: modified\n  joints: [{name: a}, {name: b, type: "
            "fixed}]\n  links: {link_1: {mass: 1, inertia_at_com: [1, 0, 0, 1, 0, 1]}}\n"
            "payloads: [{name: box, link: link_1, mass: 1, inertia_at_com: [1, 0, 0, 1, 0, "
            "1]}]\n");
  EXPECT_NE(run("show " + yaml).out.find("2 links, 1 joint"), std::string::npos);
  EXPECT_NE(run("check " + yaml).out.find("2 links, 1 joint"), std::string::npos);
}

// Devices may get several outputs, and stay what they are.
TEST_F(Command, OutputsGoThroughPipes) {
  const std::string urdf = write("a.urdf", smallUrdf()), states = write("s.csv", "q_j\n0\n");
  const std::string fifo = file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string content;
  std::thread reader([&] { content = readFile(fifo); });
  EXPECT_EQ(run(fmt::format("check {} --json {}", urdf, fifo)).code, 0);
  reader.join();
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_TRUE(nlohmann::json::parse(content).contains("findings")) << content;
  const Result piped = run(fmt::format("schema robot --json /dev/stdout | head -c 1"));
  EXPECT_EQ(piped.out, "{");
}

// Files that are missing or not a robot end with 2 and name the file.
TEST_F(Command, Unreadable) {
  for (const char* verb : {"check", "show"}) {
    const Result missing = run(fmt::format("{} {}", verb, file("no.urdf")));
    EXPECT_EQ(missing.code, 2);
    EXPECT_NE(missing.error.find("no.urdf"), std::string::npos);
    const Result broken = run(fmt::format("{} {}", verb, write("b.urdf", "<robot><link")));
    EXPECT_EQ(broken.code, 2);
    EXPECT_NE(broken.error.find("b.urdf:1"), std::string::npos) << broken.error;
  }
}

// check: 0 for a possible robot, 1 for an impossible one, --strict counts warnings, JSON agrees.
TEST_F(Command, CheckAnswersByExitCode) {
  EXPECT_EQ(run("check " + robot("humanoid.yaml")).code, 0);
  EXPECT_EQ(run("check --strict " + robot("humanoid.yaml")).code, 0);
  const std::string odd = write("odd.urdf", smallUrdf("0.02"));  // flat: only a warning
  EXPECT_EQ(run("check " + odd).code, 0);
  EXPECT_EQ(run("check --strict " + odd).code, 1);
  const std::string bad = write("bad.urdf", smallUrdf("0.03"));
  const Result result = run(fmt::format("check {} --json {}", bad, file("f.json")));
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.error, "");
  EXPECT_NE(result.out.find("inertia-triangle"), std::string::npos);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  const auto json = nlohmann::json::parse(readFile(file("f.json")));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["findings"][0]["subject"], "link arm");
}

// Names used twice, loose links and loops of mimic joints are findings, not a crash of the reader.
TEST_F(Command, CheckFindsStructuralFaults) {
  const std::string path =
      write("s.urdf", smallUrdf("0.01", "<link name='arm'/><link name='loose'/>"));
  const Result result = run(fmt::format("check {} --json {}", path, file("s.json")));
  EXPECT_EQ(result.code, 1) << result.error;
  EXPECT_NE(result.out.find("duplicate-name"), std::string::npos);
  EXPECT_NE(result.out.find("unreachable-link"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(readFile(file("s.json")))["errors"], 2);
  EXPECT_EQ(run("show " + path).code, 2);
  // the same through a robot.yaml
  const Result named = run("check " + write("s.yaml", "version: 1\nurdf: s.urdf\n"));
  EXPECT_EQ(named.code, 1) << named.error;
  EXPECT_NE(named.out.find("duplicate-name"), std::string::npos);
}

// What the reader cannot make sense of keeps its sentence with the line and exit code 2, also
// beside structural faults, which are printed.
TEST_F(Command, CheckOfUnreadableFiles) {
  const std::string joint =
      "\n<link name='hand'/><joint name='wrist' type='Revolute'><parent link='arm'/>"
      "<child link='hand'/></joint>";
  for (const char* more : {"", "<link name='arm'/>"}) {
    const Result result = run("check " + write("t.urdf", smallUrdf("0.01", joint + more)));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.error.find("t.urdf:2: joint 'wrist' has type='Revolute'"), std::string::npos)
        << result.error;
    EXPECT_EQ(result.out.find("duplicate-name") != std::string::npos, *more != '\0');
    EXPECT_EQ(result.out.find("unreachable"), std::string::npos) << result.out;
  }
}

// Beyond a floating joint no tree can be built: show refuses such a base as base and dynamics do.
TEST_F(Command, ShowRefusesWhatCannotBeComputed) {
  const std::string path =
      write("f.urdf", smallUrdf("0.01",
                                "<link name='world'/><joint name='free' type='floating'>"
                                "<parent link='world'/><child link='base'/></joint>"));
  EXPECT_EQ(run("show " + path).code, 0);
  const Result show = run("show " + path + " --base arm"),
               base = run("base " + path + " --base arm");
  EXPECT_EQ(show.code, 2);
  EXPECT_EQ(show.error, base.error);
}

// check --repair writes a URDF that passes, says what changed, and leaves the original alone.
TEST_F(Command, CheckRepairs) {
  const std::string text = smallUrdf("0.03"), path = write("bad.urdf", text);
  const Result result = run(fmt::format("check {} --repair {} --margin 0.1 --json {}", path,
                                        file("good.urdf"), file("r.json")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("repaired link"), std::string::npos);
  EXPECT_EQ(readFile(path), text);
  EXPECT_EQ(run("check --strict " + file("good.urdf")).code, 0);
  EXPECT_EQ(nlohmann::json::parse(readFile(file("r.json")))["repair"].size(), 1u);
  // a robot without URDF cannot be repaired, nothing is written
  EXPECT_EQ(run(fmt::format("check {} --repair {}", robot("tx40.yaml"), file("no.urdf"))).code, 2);
  EXPECT_FALSE(fs::exists(file("no.urdf")));
  EXPECT_EQ(run(fmt::format("check {} --repair {} --margin 2", path, file("no.urdf"))).code, 2);
}

// Values of robot.yaml are found there and are not written into the copy of the URDF, which stays
// as it is; the answer is that errors remain.
TEST_F(Command, CheckLeavesTheUrdfWhatRobotYamlStates) {
  const std::string text = smallUrdf("0.01"), urdf = write("a.urdf", text);
  const std::string yaml = write("a.yaml",
                                 "version: 1\nurdf: a.urdf\njoints:\n  j:\n"
                                 "    limits: {lower: 2, upper: 1}\n");
  const Result result =
      run(fmt::format("check {} --repair {} --json {}", yaml, file("copy.urdf"), file("y.json")));
  EXPECT_EQ(result.code, 1) << result.error;
  EXPECT_NE(result.out.find("correct those of " + yaml + " there"), std::string::npos)
      << result.out;
  EXPECT_EQ(readFile(file("copy.urdf")), text);
  const auto finding = nlohmann::json::parse(readFile(file("y.json")))["findings"][0];
  EXPECT_EQ(finding["rule"], "limit-reversed");
  EXPECT_EQ(finding["file"], yaml);
  EXPECT_EQ(finding["line"], 5);
}

// show prints the tree; the base can be chosen.
TEST_F(Command, Show) {
  const Result result = run("show " + robot("planar_2r.yaml"));
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("└─ forearm"), std::string::npos);
  const Result turned = run(fmt::format("show {} --base forearm --floating --json {}",
                                        robot("planar_2r.yaml"), file("s.json")));
  EXPECT_NE(turned.out.find("base 'forearm', free in space"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(readFile(file("s.json")))["degrees_of_freedom"], 8);
  EXPECT_EQ(run(fmt::format("show {} --base forarm", robot("planar_2r.yaml"))).code, 2);
}

// dynamics: numbers of the closed form, also written to a file; a bad cell is named, and then
// nothing is written.
TEST_F(Command, Dynamics) {
  const std::string states = write("s.csv", "q_shoulder,q_elbow\n0,0\n1,0.5\n");
  const Result result =
      run(fmt::format("dynamics {} --state {} --out {} --quantities tau,M,tau --json {}",
                      robot("planar_2r.yaml"), states, file("o.csv"), file("o.json")));
  EXPECT_EQ(result.code, 0) << result.error;
  const CsvTable table = readCsv(file("o.csv"));
  EXPECT_EQ(table.names.size(), 6u);
  EXPECT_NEAR(table.values(0, table.column("tau_elbow")), 9.81 * 0.21, 1e-10);
  EXPECT_EQ(table.values(1, table.column("M_shoulder_elbow")),
            table.values(1, table.column("M_elbow_shoulder")));
  EXPECT_EQ(nlohmann::json::parse(readFile(file("o.json")))["samples"], 2);

  const std::string bad = write("b.csv", "q_shoulder,q_elbow\n0,0\n1,five\n");
  const Result refused = run(fmt::format("dynamics {} --state {} --out {}", robot("planar_2r.yaml"),
                                         bad, file("never.csv")));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("b.csv:3:2: column 'q_elbow' has 'five'"), std::string::npos);
  EXPECT_FALSE(fs::exists(file("never.csv")));
  const Result unknown = run(fmt::format("dynamics {} --state {} --out {} --quantities taw",
                                         robot("planar_2r.yaml"), states, file("never.csv")));
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.error.find("did you mean 'tau'"), std::string::npos) << unknown.error;
}

// A force (fx, fz) at the elbow in the axes of the forearm and a moment ty about its y axis turn
// the planar arm by the closed form l1 (fx sin q2 + fz cos q2) - ty and -ty: the drives have to
// supply that much less, and forward dynamics takes the wrench into account again. A link that does
// not exist and columns that are missing are named; simulate takes no wrenches or torques for a
// state.
TEST_F(Command, DynamicsWithExternalWrenches) {
  const double q1 = 1.0, q2 = 0.5, fx = 3.0, fz = -7.0, ty = 0.4;
  const std::string head =
      "q_shoulder,q_elbow,wrench_forearm_fx,wrench_forearm_fy,wrench_forearm_fz,wrench_forearm_tx,"
      "wrench_forearm_ty,wrench_forearm_tz";
  const std::string row = fmt::format("{},{},{},2,{},0.1,{},0.2", q1, q2, fx, fz, ty);
  const std::string states = write("w.csv", fmt::format("{}\n{}\n", head, row));
  const Result result = run(fmt::format("dynamics {} --state {} --out {} --quantities tau,external",
                                        robot("planar_2r.yaml"), states, file("w_out.csv")));
  ASSERT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("wrenches on forearm"), std::string::npos) << result.out;
  const CsvTable out = readCsv(file("w_out.csv"));
  const double shoulder = 0.4 * (fx * std::sin(q2) + fz * std::cos(q2)) - ty, elbow = -ty;
  const double holds_elbow = 2.0601 * std::cos(q1 + q2);
  const double holds_shoulder = 9.4176 * std::cos(q1) + holds_elbow;
  EXPECT_NEAR(out.values(0, out.column("external_shoulder")), shoulder, 1e-12);
  EXPECT_NEAR(out.values(0, out.column("external_elbow")), elbow, 1e-12);
  const double tau1 = out.values(0, out.column("tau_shoulder"));
  const double tau2 = out.values(0, out.column("tau_elbow"));
  EXPECT_NEAR(tau1, holds_shoulder - shoulder, 1e-12);
  EXPECT_NEAR(tau2, holds_elbow - elbow, 1e-12);

  const std::string held =
      write("h.csv",
            fmt::format("{},tau_shoulder,tau_elbow\n{},{:.17g},{:.17g}\n", head, row, tau1, tau2));
  ASSERT_EQ(run(fmt::format("dynamics {} --state {} --out {} --quantities acceleration",
                            robot("planar_2r.yaml"), held, file("h_out.csv")))
                .code,
            0);
  EXPECT_LT(readCsv(file("h_out.csv")).values.cwiseAbs().maxCoeff(), 1e-11);

  const auto refused = [&](const std::string& verb, const std::string& text, const char* what) {
    const Result bad = run(fmt::format("{} {} --state {} --out {}", verb, robot("planar_2r.yaml"),
                                       write("bad.csv", text), file("never.csv")));
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.error.find(what), std::string::npos) << bad.error;
  };
  refused("dynamics", "q_shoulder,q_elbow,wrench_forarm_fx\n0,0,1\n", "'wrench_forearm_fx'");
  refused("dynamics", "q_shoulder,q_elbow,wrench_forearm_fx\n0,0,1\n", "5 columns are missing");
  refused("simulate", head + "\n" + row + "\n", "wrench columns");
  refused("simulate", "q_shoulder,q_elbow,tau_shoulder,tau_elbow\n0,0,1,1\n", "torque columns");
}

// Accelerations that do not exist are an error with the joint, and nothing is written; names with
// commas stay one column.
TEST_F(Command, DynamicsOfOddRobots) {
  const std::string end =
      "<link name='tip'/><joint name='a,b' type='continuous'>"
      "<parent link='arm'/><child link='tip'/></joint>";
  const std::string path = write("m.urdf", smallUrdf("0.01", end));
  const std::string states = write("m.csv", "q_j,\"q_a,b\",tau_j,\"tau_a,b\"\n0,0,1,1\n");
  const Result singular =
      run(fmt::format("dynamics {} --state {} --out {} --quantities acceleration", path, states,
                      file("never.csv")));
  EXPECT_EQ(singular.code, 2);
  EXPECT_NE(singular.error.find("of 'a,b'"), std::string::npos) << singular.error;
  EXPECT_FALSE(fs::exists(file("never.csv")));
  EXPECT_EQ(
      run(fmt::format("dynamics {} --state {} --out {}", path, states, file("m_out.csv"))).code, 0);
  EXPECT_EQ(readCsv(file("m_out.csv")).names, (std::vector<std::string>{"tau_j", "tau_a,b"}));
}

// A simulated free fall fed back through dynamics needs no drive torques.
TEST_F(Command, SimulationAndDynamicsAgree) {
  const Result simulated =
      run(fmt::format("simulate {} --seconds 0.3 --out {} --plot {} --json {}",
                      robot("planar_2r.yaml"), file("log.csv"), file("sim.svg"), file("sim.json")));
  EXPECT_EQ(simulated.code, 0) << simulated.error;
  EXPECT_NE(readFile(file("sim.svg")).find("shoulder"), std::string::npos);
  EXPECT_LT(nlohmann::json::parse(readFile(file("sim.json")))["relative_energy_drift"], 1e-6);
  const Result again = run(fmt::format("dynamics {} --state {} --out {}", robot("planar_2r.yaml"),
                                       file("log.csv"), file("tau.csv")));
  EXPECT_EQ(again.code, 0) << again.error;
  EXPECT_LT(readCsv(file("tau.csv")).values.rightCols(2).cwiseAbs().maxCoeff(), 1e-9);
}

// The TX40 follows a motion: the log has measured, commanded and true channels, the summary agrees
// with it, and the same seed gives the same bytes.
TEST_F(Command, SimulateFollowsATrajectory) {
  std::string motion = "time,q_joint_1,v_joint_1,a_joint_1\n";
  for (int i = 0; i <= 100; ++i) {
    const double t = 0.002 * i, w = 10.0;
    motion += fmt::format("{},{},{},{}\n", t, 0.1 - 0.1 * std::cos(w * t),
                          0.1 * w * std::sin(w * t), 0.1 * w * w * std::cos(w * t));
  }
  const std::string path = write("motion.csv", motion);
  const std::string arguments = fmt::format(
      "simulate {} --trajectory {} --encoder-noise 1e-4deg --torque-noise 0.1 --seed 7 "
      "--payload link_6:1.5,0,0,0.1@0.1 --latency 0.0002 --out {} --json {}",
      robot("tx40.yaml"), path, file("log.csv"), file("sim.json"));
  const Result result = run(arguments);
  ASSERT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("joint_6"), std::string::npos) << result.out;
  const auto json = nlohmann::json::parse(readFile(file("sim.json")));
  EXPECT_EQ(json["samples"], 201);
  EXPECT_EQ(json["control_rate"], 5000.0);
  EXPECT_NEAR(json["joints"][1]["torque_noise"], 0.1, 0.03);
  const std::string log = readFile(file("log.csv"));
  for (const char* name : {"tau_joint_3", "q_des_joint_1", "tau_true_joint_6"})
    EXPECT_NE(log.find(name), std::string::npos) << name;
  EXPECT_EQ(run(arguments).code, 0);
  EXPECT_EQ(readFile(file("log.csv")), log);
  EXPECT_EQ(run(arguments + " --no-truth").code, 0);
  EXPECT_EQ(readFile(file("log.csv")).find("true"), std::string::npos);
}

// A motion beyond the limits, an unstable servo and wrong options end with 2, a sentence, and no
// file.
TEST_F(Command, SimulateRefusals) {
  const std::string far = write("far.csv", "time,q_joint_1\n0,0\n1,4\n");
  const std::string rest = write("rest.csv", "time,q_joint_1\n0,0.2\n0.5,0.2\n");
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const Result result = run(
        fmt::format("simulate {} --out {} {}", robot("tx40.yaml"), file("never.csv"), arguments));
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
    EXPECT_FALSE(fs::exists(file("never.csv")));
  };
  refused("--trajectory " + far, "joint_1");
  refused("--trajectory " + rest + " --latency 0.02,0.02 --encoder-noise 1deg", "stops at");
  refused("--trajectory " + rest + " --encoder-noise ten", "--encoder-noise is 'ten'");
  refused("--trajectory " + rest + " --encoder-noise 1kg", "--encoder-noise");
  refused("--trajectory " + rest + " --payload link_9:1", "link_9");
  refused("--trajectory " + rest + " --push link_6:1,2", "expected 3 numbers");
  refused("--trajectory " + rest + " --sample-rate 3000", "whole multiple");
  refused("--trajectory " + file("none.csv"), "none.csv");
}

// The schema is JSON, on the screen or in a file.
TEST_F(Command, Schema) {
  const Result result = run("schema");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(nlohmann::json::parse(result.out).contains("$schema"));
  EXPECT_EQ(run("schema --json " + file("schema.json")).code, 0);
  EXPECT_EQ(readFile(file("schema.json")), result.out);
}

// An output that cannot be written ends with 2.
TEST_F(Command, UnwritableOutput) {
  EXPECT_EQ(
      run(fmt::format("show {} --json {}", robot("planar_2r.yaml"), file("no/such/f.json"))).code,
      2);
  EXPECT_EQ(run("show " + robot("planar_2r.yaml") + " > /dev/full").code, 2);
}

}  // namespace
}  // namespace proprio
