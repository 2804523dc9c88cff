/// The verb `log` as a user runs it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/testing/command_test_base.h"
#include "proprio/core/atomic_file.h"
#include "proprio/recording/read_recording.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

using Result = CommandResult;

class Log : public CommandTestBase {
 protected:
  /// 2 s of two channels at 100 Hz: q_a moves like sin(2 pi t), noise is at 40 Hz.
  std::string sine(const std::string& name, const std::string& spoil = "") const {
    std::string text = "time [s],q_a [rad],noise\n";
    for (int i = 0; i <= 200; ++i) {
      const double t = 0.01 * i;
      text += fmt::format("{:.4f},{:.9f},{:.9f}\n", t, std::sin(6.283185307 * t),
                          std::sin(80.0 * 3.141592654 * t));
      if (i == 100) text += spoil;
    }
    return write(name, text);
  }
  Result run(const std::string& arguments) const {
    return CommandTestBase::run("log " + arguments);
  }
};

// Without options: samples, rate and ranges of every channel, in words and for programs.
TEST_F(Log, Info) {
  const Result result = run(fmt::format("{} --json {}", sine("a.csv"), file("a.json")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("201 samples over 2 s, 100 Hz"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("position of a"), std::string::npos) << result.out;
  const nlohmann::json about = json("a.json")["recordings"][0];
  EXPECT_EQ(about["samples"], 201);
  EXPECT_NEAR(about["time"]["rate_hz"], 100.0, 1e-6);
  EXPECT_EQ(about["channels"][0]["unit"], "rad");
  EXPECT_NEAR(about["channels"][0]["largest"], 1.0, 1e-6);
}

// In constant memory: the same numbers, stretches, tables and pictures; what needs all rows is
// refused.
TEST_F(Log, Stream) {
  const std::string log = sine("a.csv");
  Result result = run(fmt::format("{} --stream --json {}", log, file("a.json")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("201 samples over 2 s, 100 Hz"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("constant memory"), std::string::npos) << result.out;
  EXPECT_EQ(json("a.json")["recordings"][0]["samples"], 201);
  result = run(fmt::format("{} --stream --from 0.5 --to 1 --out {}", log, file("b.csv")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_NE(result.out.find("51 samples"), std::string::npos) << result.out;
  result = run(fmt::format("{} --stream --out {} --plot {}", log, file("c.csv"), file("c.svg")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_EQ(run(fmt::format("{} --out {}", log, file("whole.csv"))).code, 0);
  EXPECT_EQ(readFile(file("c.csv")), readFile(file("whole.csv")));
  EXPECT_NE(readFile(file("c.svg")).find("201 samples"), std::string::npos);
  for (const char* name : {"c.npz", "c.h5", "c.mcap"}) {
    result = run(fmt::format("{} --stream --out {}", log, file(name)));
    EXPECT_EQ(result.code, 0) << result.error;
    const std::string whole = file(std::string("whole_") + name);
    EXPECT_EQ(run(fmt::format("{} --out {}", log, whole)).code, 0);
    EXPECT_EQ(readRecordings(file(name)).at(0).values, readRecordings(whole).at(0).values) << name;
  }
  result = run(fmt::format("{} --stream --filter lowpass:5 --out {}", log, file("d.npz")));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.error.find("with --from and --to"), std::string::npos) << result.error;
  EXPECT_FALSE(fs::exists(file("d.npz")));
}

// Through a robot, in constant memory: the same table and findings as in memory.
TEST_F(Log, StreamThroughARobot) {
  const std::string log = write("deg.csv", [] {
    std::string text = "time,q1 [deg],q2 [deg],tau1,tau2\n";
    for (int i = 0; i < 400; ++i)
      text += fmt::format("{},{},{},{},{}\n", 0.01 * i, 40.0 * std::sin(0.03 * i),
                          90.0 * std::cos(0.02 * i), i % 5, i % 3);
    return text;
  }());
  const std::string through = log + " --robot " + robot("planar_2r.yaml");
  Result result = run(fmt::format("{} --stream --out {}", through, file("a.csv")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_EQ(run(fmt::format("{} --out {}", through, file("b.csv"))).code, 0);
  EXPECT_EQ(readFile(file("a.csv")), readFile(file("b.csv")));
  result = run(fmt::format("{} --stream --from 1 --to 2 --out {}", through, file("c.h5")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_EQ(readRecordings(file("c.h5")).at(0).samples(), 101);
}

// Several recordings of one source are all written, and read back one by one.
TEST_F(Log, WritesSeveral) {
  std::string text = "time,q_a\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("{},{}\n", 0.01 * (i % 100), i);
  const std::string log = write("twice.csv", text);
  Result result = run(fmt::format("{} --out {}", log, file("t.csv")));
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_EQ(readRecordings(file("t_1.csv")).at(0).values(0, 0), 0.0);
  EXPECT_EQ(readRecordings(file("t_2.csv")).at(0).values(0, 0), 100.0);
  for (const char* name : {"t.npz", "t.h5", "t.mcap"}) {
    result = run(fmt::format("{} --out {}", log, file(name)));
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(readRecordings(file(name)).size(), 2u) << name;
  }
  // names that are made from --out do not replace what is read either
  result = run(fmt::format("{} {} --out {}", file("t_1.csv"), file("t_2.csv"), file("t.csv")));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.error.find("would be replaced"), std::string::npos) << result.error;
}

// A cut keeps the stamps, a selection the order asked for; every format reads back the same.
TEST_F(Log, CutSelectConvert) {
  const std::string log = sine("a.csv");
  for (const char* name : {"b.csv", "b.npz", "b.h5", "b.mcap"}) {
    const Result result =
        run(fmt::format("{} --from 0.5 --to 1 --channels 'noise,q_*' --out {}", log, file(name)));
    ASSERT_EQ(result.code, 0) << result.error;
    std::vector<std::string> names;
    for (const Recording& part : readRecordings(file(name))) {  // MCAP: a topic per kind of signal
      ASSERT_EQ(part.samples(), 51) << name;
      EXPECT_NEAR(part.time[0], 0.5, 1e-9);
      for (const Channel& channel : part.channels) names.push_back(channel.name);
      const int column = part.column("q_a");
      if (column >= 0) {
        EXPECT_NEAR(part.values(25, column), std::sin(6.283185307 * 0.75), 1e-8);
      }
    }
    EXPECT_EQ(names.size(), 2u) << name;
    if (std::string(name) == "b.csv") {
      EXPECT_EQ(names, (std::vector<std::string>{"noise", "q_a"}));
    }
  }
}

// The filter passes 1 Hz and stops 40 Hz; resampling doubles the samples and keeps the shape.
TEST_F(Log, FilterAndResample) {
  const std::string log = sine("a.csv");
  ASSERT_EQ(run(fmt::format("{} --filter lowpass:10 --out {}", log, file("f.csv"))).code, 0);
  const Recording smooth = readRecordings(file("f.csv")).at(0);
  for (Eigen::Index i = 50; i < 150; ++i) {
    EXPECT_NEAR(smooth.values(i, 0), std::sin(6.283185307 * smooth.time[i]), 1e-3);
    EXPECT_NEAR(smooth.values(i, 1), 0.0, 1e-3);
  }
  const Result fine =
      run(fmt::format("{} --channels q_a --resample 200 --out {}", log, file("r.csv")));
  ASSERT_EQ(fine.code, 0) << fine.error;
  EXPECT_NE(fine.out.find("resampled from 201 to 401 samples"), std::string::npos) << fine.out;
  const Recording dense = readRecordings(file("r.csv")).at(0);
  EXPECT_NEAR(dense.values(101, 0), std::sin(6.283185307 * 0.505), 1e-3);
}

// Pictures of all three kinds; a wrong ending is refused before anything is read.
TEST_F(Log, Plot) {
  const std::string log = sine("a.csv");
  for (const char* name : {"p.png", "p.svg", "p.html"}) {
    EXPECT_EQ(run(fmt::format("{} --plot {}", log, file(name))).code, 0);
    EXPECT_GT(fs::file_size(file(name)), 1000u);
  }
  const Result wrong = run("missing.csv --plot p.jpg");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.error.find(".png, .svg or .html"), std::string::npos) << wrong.error;
}

// A bad row is an error with its place; asked to, it is dropped and told.
TEST_F(Log, BadRows) {
  const std::string log = sine("a.csv", "1.005,oops,0\n");
  const Result strict = run(log);
  EXPECT_EQ(strict.code, 2);
  EXPECT_NE(strict.error.find("a.csv:103"), std::string::npos) << strict.error;
  const Result lenient = run(log + " --drop-bad-rows");
  EXPECT_EQ(lenient.code, 0) << lenient.error;
  EXPECT_NE(lenient.out.find("201 samples"), std::string::npos);
  EXPECT_NE(lenient.out.find("1 bad row dropped"), std::string::npos) << lenient.out;
}

// Time that runs backwards is a finding of severity error: exit code 1.
TEST_F(Log, ReversedTimeIsAnError) {
  const std::string log = sine("a.csv", "0.2,0.1,0\n");
  const Result result = run(fmt::format("{} --json {}", log, file("a.json")));
  EXPECT_EQ(result.code, 1) << result.out << result.error;
  EXPECT_EQ(json("a.json")["usable"], false);
}

// Several files are shown one after the other, joined on request, and not written as one unasked.
TEST_F(Log, SeveralFiles) {
  const std::string files = sine("a.csv") + " " + sine("b.csv");
  const Result both = run(files);
  EXPECT_EQ(both.code, 0);
  EXPECT_NE(both.out.find("a.csv"), std::string::npos);
  EXPECT_NE(both.out.find("b.csv"), std::string::npos);
  const Result apart = run(fmt::format("{} --out {}", files, file("c.csv")));
  EXPECT_EQ(apart.code, 0) << apart.error;
  EXPECT_EQ(readRecordings(file("c_2.csv")).at(0).samples(), 201);
  EXPECT_FALSE(fs::exists(file("c.csv")));
  const Result joined = run(fmt::format("{} --join --out {}", files, file("c.csv")));
  EXPECT_EQ(joined.code, 0) << joined.error;
  EXPECT_EQ(readRecordings(file("c.csv")).at(0).samples(), 402);
}

// What does not fit is told in a sentence: unknown channel, missing stamps, nothing in the cut.
TEST_F(Log, Refusals) {
  const std::string log = sine("a.csv");
  const std::string bare = write("bare.csv", "u,v\n1,2\n3,4\n5,6\n");
  const std::pair<std::string, std::string> cases[] = {
      {log + " --channels q_b", "did you mean 'q_a'?"},
      {log + " --from 5", "a.csv"},
      {log + " --filter fast", "fast"},
      {log + " --rate 10", "time stamps of its own"},
      {bare + " --filter lowpass:1", "time stamps"},
      {bare + " --resample 10", "time stamps"},
      {log + " --resample 10:best", "best"},
      {log + " --out x.doc", "x.doc"},
      {file("missing.csv"), "missing.csv"}};
  for (const auto& [arguments, expected] : cases) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_NE(result.error.find(expected), std::string::npos) << result.error;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

// Real logs, if they are there: each shows its rate and can be plotted through its robot.
TEST_F(Log, RealRecordings) {
  const char* set = std::getenv("PROPRIO_DATA");
  const fs::path data =
      set != nullptr ? fs::path(set) : fs::path(PROPRIO_SOURCE_DIR) / ".." / "shared" / "data";
  if (!fs::exists(data / "panda"))
    GTEST_SKIP() << "no recordings at " << data << "; PROPRIO_DATA names their folder";
  const std::string robot = std::string(PROPRIO_SOURCE_DIR) + "/examples/real/panda.yaml";
  const Result result =
      run(fmt::format("'{}' --robot '{}' --plot {} --json {}", (data / "panda").string(), robot,
                      file("p.png"), file("p.json")));
  EXPECT_NE(result.code, 2) << result.error;
  EXPECT_EQ(json("p.json")["recordings"][0]["samples"], 20544);
  EXPECT_GT(fs::file_size(file("p.png")), 10000u);
}

}  // namespace
}  // namespace proprio
