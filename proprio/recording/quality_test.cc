#include "proprio/recording/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"
#include "proprio/recording/cut.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/state_quantities.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

VectorXd steady(Index count, double step) {
  return VectorXd::LinSpaced(count, 0.0, static_cast<double>(count - 1) * step);
}

bool has(const Quality& quality, Severity severity, const std::string& about,
         const std::string& part) {
  for (const QualityFinding& finding : quality.findings) {
    if (finding.severity == severity && finding.about == about &&
        finding.sentence.find(part) != std::string::npos)
      return true;
  }
  return false;
}

Recording recordingOf(const VectorXd& time, const std::vector<std::string>& names) {
  Recording recording;
  recording.source = "test";
  recording.time = time;
  for (const std::string& name : names) recording.channels.push_back(channelNamed(name));
  recording.values.setZero(time.size(), static_cast<Index>(names.size()));
  return recording;
}

// Torques in mN m and positions in degrees are far beyond what drives are made for, whatever limits
// of position say; one joint with a limit that nobody meant is not, and outliers are no unit.
TEST(Quality, BeyondWhatDrivesAreMadeFor) {
  const auto model = std::make_shared<const Model>(readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints: [{name: a, a: 1, velocity: 3, effort: 50}, {name: b, a: 1, velocity: 3, effort: 50},
           {name: c, a: 1, velocity: 0.001, effort: 0.001}]
)",
                                                                     "robot.yaml"));
  const auto assessed = [&](double angle, double torque) {
    Recording r = recordingOf(steady(500, 0.01), {"q_a", "q_b", "q_c", "tau_a", "tau_b", "tau_c"});
    for (Index i = 0; i < 500; ++i) {
      const double s = std::sin(0.02 * static_cast<double>(i));
      r.values.row(i) << angle * s, angle * s, s, torque * s, torque * s, s;
    }
    return assessQuality(r, model);
  };
  const char *fast = "limit of velocity most of the time", *strong = "limit of effort";
  EXPECT_FALSE(has(assessed(1.0, 40.0), Severity::kError, "", fast));
  EXPECT_FALSE(has(assessed(1.0, 40.0), Severity::kError, "", strong));
  EXPECT_TRUE(has(assessed(57.3, 40.0), Severity::kError, "", fast));
  EXPECT_TRUE(has(assessed(1.0, 4e4), Severity::kError, "", strong));
}

// Positions in millidegrees are far beyond the limits of their joint; a turn more, or an offset, is
// not, and joints without limits have none.
TEST(Quality, PositionsFarBeyondLimits) {
  const auto model = std::make_shared<const Model>(readRobotYamlText(R"(version: 1
dh:
  convention: modified
  joints: [{name: a, a: 1, lower: -3.1, upper: 3.1}, {name: b, a: 1, lower: -3.1, upper: 3.1},
           {name: c, a: 1}]
)",
                                                                     "robot.yaml"));
  Recording r = recordingOf(steady(500, 0.001), {"q_a", "q_b", "q_c"});
  for (Index i = 0; i < 500; ++i) {
    const double s = std::sin(0.02 * static_cast<double>(i));
    r.values.row(i) << -150000.0 * s, 6.0 + 3.0 * s, 1e5 * s;
  }
  const Quality quality = assessQuality(r, model);
  EXPECT_TRUE(has(quality, Severity::kError, "q_a", "far beyond the joint's limits (-3.1 to 3.1)"));
  EXPECT_FALSE(has(quality, Severity::kError, "q_b", "limits"));
  EXPECT_FALSE(has(quality, Severity::kError, "q_c", "limits"));
}

// Missing and infinite values are told with the first row of them.
TEST(Quality, FirstMissingValue) {
  Recording r = recordingOf(steady(500, 0.001), {"q_a"});
  for (Index i = 0; i < 500; ++i) r.values(i, 0) = std::sin(0.02 * static_cast<double>(i));
  r.values(41, 0) = std::numeric_limits<double>::infinity();
  r.values(99, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(assessQuality(r), Severity::kWarning, "q_a",
                  "2 of 500 values are missing or infinite, first at row 42 (0.041 s)"));
}

// Rate, jitter, gaps, repeated and reversed stamps are what was put in.
TEST(Quality, Time) {
  const TimeStatistics good = timeStatistics(steady(1001, 0.001), 1001);
  EXPECT_NEAR(good.rate_hz, 1000.0, 1e-6);
  EXPECT_NEAR(good.duration, 1.0, 1e-12);
  EXPECT_LT(good.jitter, 1e-9);
  EXPECT_EQ(good.gaps + good.repeated + good.reversed, 0);

  VectorXd bad = steady(1001, 0.001);
  bad.tail(500).array() += 0.02;
  bad[100] = bad[99];
  bad[300] = bad[298];
  const TimeStatistics t = timeStatistics(bad, 1001);
  EXPECT_EQ(t.gaps, 2);  // one of them where time comes back from row 300
  EXPECT_NEAR(t.longest_step, 0.021, 1e-9);
  EXPECT_EQ(t.longest_step_at, 500);
  EXPECT_EQ(t.repeated, 1);
  EXPECT_EQ(t.reversed, 1);
  EXPECT_EQ(t.first_repeated, 100);
  EXPECT_EQ(t.first_reversed, 300);
  const Quality quality = assessQuality(recordingOf(bad, {"x"}));
  EXPECT_TRUE(has(quality, Severity::kError, "time", "time goes back 1 time, first at row 301"));
  EXPECT_TRUE(has(quality, Severity::kWarning, "time", "is repeated, first at row 101"));
  EXPECT_TRUE(has(quality, Severity::kWarning, "time", "2 gaps; the longest is 0.021 s"));
  EXPECT_EQ(quality.findings[0].severity, Severity::kError);

  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  VectorXd unsteady = steady(5000, 0.01);
  for (double& stamp : unsteady) stamp += 0.001 * normal(random);
  // two independent deviations of 10 % each
  EXPECT_NEAR(timeStatistics(unsteady, 5000).jitter, 0.1 * std::sqrt(2.0), 0.01);
}

// A clean noisy signal of any kind gives no warning: sine, random walk, friction steps, encoder at
// rest.
TEST(Quality, CleanSignalsAreClean) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const Index n = 5000;
  Recording r = recordingOf(steady(n, 0.001), {"sine", "walk", "friction", "encoder"});
  double walk = 0.0;
  for (Index i = 0; i < n; ++i) {
    const double s = std::sin(0.01 * static_cast<double>(i));
    walk += normal(random);
    r.values.row(i) << s + 1e-3 * normal(random), walk, (s > 0 ? 5.0 : -5.0) + 0.1 * normal(random),
        std::round((i < 400 ? 1.0 : std::cos(0.01 * static_cast<double>(i - 400))) * 2048) / 2048;
  }
  const Quality quality = assessQuality(r);
  for (const QualityFinding& finding : quality.findings)
    EXPECT_EQ(finding.severity, Severity::kNote) << finding.about << ": " << finding.sentence;
  EXPECT_NEAR(quality.channels[3].step, 1.0 / 2048, 1e-9);
  EXPECT_EQ(quality.channels[0].step, 0.0);
  EXPECT_GE(quality.channels[3].longest_frozen, 400);
}

// Every kind of damage is found where it is.
TEST(Quality, DamageIsFound) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Index n = 4000;
  Recording r = recordingOf(steady(n, 0.001), {"clipped", "spiky", "holes", "dead", "empty"});
  for (Index i = 0; i < n; ++i) {
    const double s = std::sin(0.01 * static_cast<double>(i)) + 1e-4 * normal(random);
    r.values.row(i) << std::clamp(s, -2.0, 0.8), s, s, 3.5, std::nan("");
  }
  r.values(1000, 1) += 0.5;
  r.values(2000, 1) -= 0.2;
  r.values.block(50, 2, 7, 1).setConstant(std::nan(""));
  const Quality quality = assessQuality(r);
  EXPECT_TRUE(has(quality, Severity::kWarning, "clipped", "largest value 0.8"));
  EXPECT_FALSE(has(quality, Severity::kWarning, "clipped", "smallest"));
  EXPECT_TRUE(has(quality, Severity::kWarning, "spiky", "2 spikes"));
  EXPECT_EQ(quality.channels[1].first_spike, 1000);
  // clocks since 1970 are told from the first sample on
  Recording dated = r;
  dated.time.array() += 1.7e9;
  EXPECT_TRUE(
      has(assessQuality(dated), Severity::kWarning, "spiky", "row 1001 (1 s after the first)"));
  EXPECT_TRUE(has(quality, Severity::kWarning, "holes", "7 of 4000"));
  EXPECT_EQ(quality.channels[2].missing, 7);
  EXPECT_TRUE(has(quality, Severity::kWarning, "dead", "is 3.5 throughout"));
  EXPECT_TRUE(has(quality, Severity::kWarning, "empty", "no values"));  // of unknown meaning
  r.channels[4].quantity = Quantity::kTorque;
  EXPECT_TRUE(has(assessQuality(r), Severity::kError, "empty", "no values"));
}

// Positions that rest at the ends of their way and speeds that cruise are not saturated, by what
// the channel is known to be or by its name; torques with the same course are.
TEST(Quality, RestIsNoSaturation) {
  const Index n = 3000;
  Recording r = recordingOf(steady(n, 0.001), {"J1 pos", "a", "dq_1", "torque_1"});
  r.channels[1].quantity = Quantity::kPosition;
  for (Index i = 0; i < n; ++i) {
    const double way = std::clamp(0.001 * static_cast<double>(i - 1000), 0.0, 1.0);
    const double rest = i < 300 ? 0.01 * static_cast<double>(i - 300) : way;
    r.values.row(i).setConstant(i > 2900 ? 0.5 : rest);
  }
  const Quality quality = assessQuality(r);
  for (const char* name : {"J1 pos", "a", "dq_1"})
    EXPECT_FALSE(has(quality, Severity::kWarning, name, "saturated")) << name;
  EXPECT_TRUE(has(quality, Severity::kWarning, "torque_1", "saturated"));
}

// Time that starts again is another recording, not disorder; a single wrong stamp is.
TEST(Quality, TimeThatStartsAgain) {
  VectorXd twice(700);
  twice << steady(400, 0.01), steady(300, 0.01);
  EXPECT_EQ(timeRestarts(twice), std::vector<Index>{400});
  Recording r = recordingOf(twice, {"x"});
  r.values.col(0).setLinSpaced(0.0, 699.0);
  const Quality quality = assessQuality(r);
  EXPECT_TRUE(has(quality, Severity::kWarning, "time", "starts again 1 time, first at row 401"));
  for (const QualityFinding& finding : quality.findings)
    EXPECT_NE(finding.severity, Severity::kError) << finding.sentence;
  const std::vector<Recording> parts = splitAtRestarts(r);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].samples(), 400);
  EXPECT_EQ(parts[1].values(0, 0), 400.0);
  EXPECT_EQ(parts[1].time[0], 0.0);
  ASSERT_EQ(parts[1].notes.size(), 1u);
  for (const Index row : {Index{100}, Index{398}}) {
    VectorXd wrong = steady(400, 0.01);
    wrong[row] = 0.0;
    EXPECT_TRUE(timeRestarts(wrong).empty()) << row;
  }
  EXPECT_TRUE(timeRestarts(steady(400, 0.01)).empty());
  EXPECT_TRUE(timeRestarts(VectorXd()).empty());
  EXPECT_EQ(splitAtRestarts(recordingOf(steady(20, 0.01), {"x"})).size(), 1u);
}

// Spikes of one to three samples of either sign are found, with all their rows, also where the
// signal changes fast; four samples, a step, a corner, one sample beside a hole and an infinite one
// are not spikes.
TEST(Quality, SpikesAreShort) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  const Index n = 4000;
  const std::vector<std::string> names = {"one",  "two",  "opposite", "three",    "steep",
                                          "four", "step", "hole",     "infinite", "corner"};
  Recording r = recordingOf(steady(n, 0.01), names);
  for (Index i = 0; i < n; ++i)
    r.values.row(i).setConstant(std::sin(0.02 * static_cast<double>(i)) + 1e-4 * normal(random));
  const Index at = 1021;  // near the largest value
  r.values(at, 0) += 0.1;
  r.values.block(at, 1, 2, 1).array() -= 0.1;
  r.values(at, 2) += 0.5;
  r.values(at + 1, 2) -= 0.3;
  r.values.block(at, 3, 3, 1).array() += 0.1;
  const Index steepest = 943;  // 0.02 per sample
  r.values(steepest, 4) += 0.05;
  r.values.block(at, 5, 4, 1).array() += 0.5;
  r.values.block(at, 6, n - at, 1).array() += 0.5;
  r.values(at, 7) = std::nan("");
  r.values(at + 1, 7) += 0.5;
  r.values(at, 8) = std::numeric_limits<double>::infinity();
  for (Index i = at; i < n; ++i) r.values(i, 9) += 0.1 * static_cast<double>(i - at);
  const Quality quality = assessQuality(r);
  const auto rows = [&](int channel) {
    return quality.channels[static_cast<size_t>(channel)].spike_rows;
  };
  EXPECT_EQ(rows(0), (std::vector<Index>{at}));
  EXPECT_EQ(rows(1), (std::vector<Index>{at, at + 1}));
  EXPECT_EQ(rows(2), (std::vector<Index>{at, at + 1}));
  EXPECT_EQ(rows(3), (std::vector<Index>{at, at + 1, at + 2}));
  EXPECT_EQ(rows(4), (std::vector<Index>{steepest}));
  for (const int channel : {5, 6, 7, 8, 9}) {
    EXPECT_TRUE(rows(channel).empty()) << names[static_cast<size_t>(channel)];
  }
}

// Spikes that are close enough to hide each other, and those at either end, are found where a
// channel has others; one row in a hundred at random leaves none.
TEST(Quality, SpikesBesideSpikes) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const Index n = 20000;
  Recording r = recordingOf(steady(n, 0.01), {"x"});
  std::vector<bool> spoilt(static_cast<size_t>(n), false);
  VectorXd truth(n);
  for (Index i = 0; i < n; ++i) {
    truth[i] = std::sin(0.005 * static_cast<double>(i)) + 1e-4 * normal(random);
    r.values(i, 0) = truth[i];
    if (i > 1 && i + 2 < n && uniform(random) > 0.01 && i % 5000 != 12 && i % 5000 != 14) continue;
    if (i == 1 || i + 2 == n) continue;  // the first and the last row
    r.values(i, 0) += (uniform(random) > 0.5 ? 1.0 : -1.0) * (2.0 + 3.0 * uniform(random));
    spoilt[static_cast<size_t>(i)] = true;
  }
  const Quality quality = assessQuality(r);
  const std::vector<Index>& rows = quality.channels[0].spike_rows;
  for (Index i = 0; i < n; ++i) {
    if (spoilt[static_cast<size_t>(i)]) {
      EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), i)) << i;
    }
  }
  EXPECT_LT(rows.size(), 280u);  // 200 and the rows between those that are close
}

// Nothing, one sample and no time stamps are told, not crashed on.
TEST(Quality, Edges) {
  EXPECT_TRUE(
      has(assessQuality(recordingOf(VectorXd(), {"x"})), Severity::kWarning, "time", "no samples"));
  EXPECT_TRUE(has(assessQuality(recordingOf(VectorXd::Zero(1), {"x"})), Severity::kWarning, "time",
                  "only one sample"));
  Recording untimed = recordingOf(steady(5, 1.0), {"x"});
  untimed.time.resize(0);
  untimed.notes.push_back("2 bad rows dropped");
  const Quality quality = assessQuality(untimed);
  EXPECT_TRUE(has(quality, Severity::kWarning, "time", "no time stamps"));
  EXPECT_TRUE(has(quality, Severity::kNote, "", "2 bad rows dropped"));
}

/// Two coupled pendulums with friction, torques recorded `delay` late, with noise.
Recording pendulums(double rate, double delay, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto n = static_cast<Index>(10.0 * rate);
  Recording r = recordingOf(steady(n, 1.0 / rate), {"q_a", "q_b", "tau_a", "tau_b"});
  const auto motion = [](double t, double& q, double& v, double& a, double phase) {
    q = v = a = 0.0;
    for (const double w : {2.1, 3.7, 6.4}) {
      q += std::sin(w * t + phase * w) / w;
      v += std::cos(w * t + phase * w);
      a -= w * std::sin(w * t + phase * w);
    }
  };
  for (Index i = 0; i < n; ++i) {
    double q1, v1, a1, q2, v2, a2;
    motion(r.time[i], q1, v1, a1, 0.0);
    motion(r.time[i], q2, v2, a2, 1.3);
    r.values(i, 0) = q1 + 1e-5 * normal(random);
    r.values(i, 1) = q2 + 1e-5 * normal(random);
    motion(r.time[i] - delay, q1, v1, a1, 0.0);
    motion(r.time[i] - delay, q2, v2, a2, 1.3);
    const double f1 = v1 > 0 ? 1.0 : -1.0, f2 = v2 > 0 ? 0.5 : -0.5;
    r.values(i, 2) =
        0.8 * a1 + 0.2 * a2 + 4.0 * std::cos(q1) + 0.7 * v1 + f1 + noise * normal(random);
    r.values(i, 3) =
        0.2 * a1 + 0.3 * a2 + 1.5 * std::cos(q2) + 0.3 * v2 + f2 + noise * normal(random);
  }
  return r;
}

// The delay that was put in is found, at several rates and signs, to a fraction of a sample and
// within four of its standard errors (or a tenth of a sample, where the parabola's shape limits).
TEST(Delay, SyntheticShiftsAreFound) {
  for (const double rate : {100.0, 500.0, 1000.0}) {
    for (const double delay : {0.0, 0.004, -0.0123, 0.02}) {
      const Recording r = pendulums(rate, delay, 0.05, 11);
      const auto estimates = estimateDelays(r);
      ASSERT_EQ(estimates.size(), 2u);
      for (const DelayEstimate& d : estimates) {
        EXPECT_TRUE(d.reliable) << rate << " " << delay;
        EXPECT_NEAR(d.delay, delay, std::max(4.0 * d.standard_error, 0.1 / rate))
            << rate << " Hz, joint " << d.joint;
      }
    }
  }
  EXPECT_TRUE(has(assessQuality(pendulums(500.0, 0.01, 0.05, 4)), Severity::kWarning, "",
                  "ms after positions"));
  EXPECT_FALSE(
      has(assessQuality(pendulums(500.0, 0.0, 0.05, 4)), Severity::kWarning, "", "torques"));
}

// The standard error is honest: over repeated noise, errors are of its size.
TEST(Delay, StandardErrorIsHonest) {
  double squares = 0.0, stated = 0.0;
  constexpr int kRuns = 40;
  for (int run = 0; run < kRuns; ++run) {
    const DelayEstimate d = estimateDelays(pendulums(200.0, 0.0, 1.0, 100u + run))[0];
    squares += d.delay * d.delay;
    stated += d.standard_error * d.standard_error;
  }
  const double ratio = std::sqrt(squares / stated);
  EXPECT_GT(ratio, 0.5);
  EXPECT_LT(ratio, 2.0);
}

// With the robot at hand, its own regressor finds the delay, where the arm's weight and coupling
// are more than sines of single joints.
TEST(Delay, FoundWithTheRobotsRegressor) {
  const auto model = std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/planar_2r.yaml"));
  const Tree tree(model);
  const Index n = 2000;
  const double step = 0.005, delay = 0.012;
  Recording r =
      recordingOf(steady(n, step), {"q_shoulder", "q_elbow", "tau_shoulder", "tau_elbow"});
  StateTable states;
  states.q.resize(n, 2);
  states.v.resize(n, 2);
  states.a.resize(n, 2);
  states.has_v = states.has_a = true;
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 2; ++j) {
      const double w = 2.0 + 1.7 * static_cast<double>(j), t = r.time[i] - delay;
      r.values(i, j) = std::sin(w * r.time[i]) + std::sin(2.3 * w * r.time[i]);
      states.q(i, j) = std::sin(w * t) + std::sin(2.3 * w * t);
      states.v(i, j) = w * std::cos(w * t) + 2.3 * w * std::cos(2.3 * w * t);
      states.a(i, j) = -w * w * std::sin(w * t) - 2.3 * 2.3 * w * w * std::sin(2.3 * w * t);
    }
  }
  r.values.rightCols(2) =
      stateQuantities(tree, declaredParameters(model), states, {"tau"}).values.rightCols(2);
  for (Index i = 0; i < n; ++i) r.values(i, 2) += 0.1 * normal(random);
  // a joint that stands for a force-torque sensor moves nothing
  Model with_sensor = *model;
  Link tool;
  tool.name = "tool";
  Joint sensor;
  sensor.name = "sensor";
  sensor.type = JointType::kFloating;
  sensor.sensed = true;
  sensor.first = static_cast<int>(with_sensor.links.size()) - 1;
  sensor.second = sensor.first + 1;
  with_sensor.links.push_back(tool);
  with_sensor.joints.push_back(sensor);
  const auto sensed = std::make_shared<const Model>(finalize(std::move(with_sensor)));
  for (const auto& robot : {model, sensed}) {
    const auto estimates = estimateDelays(r, robot);
    EXPECT_EQ(estimates.size(), 2u);
    for (const DelayEstimate& d : estimates) {
      EXPECT_TRUE(d.reliable);
      EXPECT_GT(d.explained, 0.99) << d.joint;
      EXPECT_NEAR(d.delay, delay, 0.1 * step) << d.joint;
    }
  }
  EXPECT_TRUE(has(assessQuality(r, model), Severity::kWarning, "", "ms after positions"));
  // what a base that floats does is not known here
  Model floating = *model;
  floating.floating = true;
  EXPECT_TRUE(estimateDelays(r, std::make_shared<const Model>(finalize(floating))).empty());
}

/// Three pendulums at 500 Hz whose dry friction turns only 1e-3 rad after they do; torques recorded
/// late by `delays`.
Recording stickingPendulums(const Eigen::Vector3d& delays) {
  const Index n = 10000;
  const double step = 0.002;
  Recording r = recordingOf(steady(n, step), {"q_a", "q_b", "q_c", "tau_a", "tau_b", "tau_c"});
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (Index j = 0; j < 3; ++j) {
    const auto late = static_cast<Index>(std::lround(delays[j] / step));
    double sign = 1.0, farthest = -10.0;
    for (Index i = -200; i < n + 200; ++i) {
      double q = 0.0, v = 0.0, a = 0.0;
      for (const double w : {1.3, 2.9, 4.7}) {
        const double angle = w * static_cast<double>(i) * step + w * (1.0 + static_cast<double>(j));
        q += std::sin(angle) / w;
        v += std::cos(angle);
        a -= w * std::sin(angle);
      }
      farthest = sign > 0.0 ? std::max(farthest, q) : std::min(farthest, q);
      if (std::abs(farthest - q) > 1e-3) {
        sign = -sign;
        farthest = q;
      }
      if (i >= 0 && i < n) r.values(i, j) = q + 1e-5 * normal(random);
      if (i + late >= 0 && i + late < n)
        r.values(i + late, 3 + j) =
            0.5 * a + 3.0 * std::cos(q) + 0.4 * v + 2.0 * sign + 0.05 * normal(random);
    }
  }
  return r;
}

// Claim: where friction turns does not move the delay: torques of joints that stick at reversals
// are found at their time, and 8 ms late where they are, within four standard errors or a tenth of
// a sample; what to declare is a whole number of samples.
TEST(Delay, StickingDoesNotMoveIt) {
  for (const double delay : {0.0, 0.008, -0.008}) {
    const Recording r = stickingPendulums(Eigen::Vector3d::Constant(delay));
    for (const DelayEstimate& d : estimateDelays(r)) {
      EXPECT_TRUE(d.reliable) << d.joint;
      EXPECT_NEAR(d.delay, delay, 4.0 * d.standard_error + 2e-4) << d.joint;
      EXPECT_LT(d.standard_error, 1e-3) << d.joint;
    }
    const Quality quality = assessQuality(r);
    if (delay == 0.0) {
      EXPECT_TRUE(has(quality, Severity::kNote, "delay", "belong to the same times"));
    } else {
      EXPECT_TRUE(
          has(quality, Severity::kWarning, "", delay > 0.0 ? "'delay: 0.008'" : "'delay: -0.008'"));
    }
  }
}

// Claim: one joint whose torque was recorded 100 ms late is named, as an error; the others are not
// called late.
TEST(Delay, OneJointOfAnotherTimeIsNamed) {
  const Quality quality = assessQuality(stickingPendulums({0.0, 0.1, 0.0}));
  EXPECT_TRUE(has(quality, Severity::kError, "b", "ms after its position"));
  EXPECT_TRUE(has(quality, Severity::kNote, "delay", "belong to the same times"));
}

// Claim: a servo that holds its joints still says nothing about the delay.
TEST(Delay, HoldingStillSaysNothing) {
  Recording r = stickingPendulums(Eigen::Vector3d::Zero());
  r.values.leftCols(3) *= 1e-3;
  for (const DelayEstimate& d : estimateDelays(r)) EXPECT_FALSE(d.reliable) << d.joint;
  EXPECT_TRUE(has(assessQuality(r), Severity::kNote, "delay", "cannot be told"));
}

// A torque that has nothing to do with the motion, or a joint that rests, gives no reliable delay.
TEST(Delay, NoRelationIsNotReliable) {
  Recording r = pendulums(500.0, 0.0, 0.05, 5);
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  for (Index i = 0; i < r.samples(); ++i) r.values(i, 2) = normal(random);
  r.values.col(3).setConstant(2.0);
  for (const DelayEstimate& d : estimateDelays(r)) EXPECT_FALSE(d.reliable);
  EXPECT_TRUE(estimateDelays(recordingOf(steady(20, 0.01), {"q_a", "tau_a"})).empty());
}

// Cutting keeps stamps and values; putting the parts together again gives the whole.
TEST(Cut, PartsMakeTheWhole) {
  Recording whole = recordingOf(steady(100, 0.1), {"x", "y"});
  whole.values.setRandom();
  const Recording first = cutByTime(whole, -1.0, 4.05), second = cutByTime(whole, 4.05, 99.0);
  EXPECT_EQ(first.samples(), 41);
  const Recording again = concatenated({first, second});
  EXPECT_EQ(again.time, whole.time);
  EXPECT_EQ(again.values, whole.values);
  EXPECT_THROW(concatenated({second, first}), Error);
  const Recording moved = concatenated({second, first}, true);
  EXPECT_NEAR(moved.time[second.samples()], whole.time[99] + 0.1, 1e-12);
  EXPECT_EQ(cutByRows(whole, 3, 2).values, whole.values.middleRows(3, 2));
}

// Parts that are not there or do not fit are refused.
TEST(Cut, Refusals) {
  const Recording whole = recordingOf(steady(10, 0.1), {"x"});
  EXPECT_THROW(cutByTime(whole, 5.0, 6.0), Error);
  EXPECT_THROW(cutByRows(whole, 5, 6), Error);
  EXPECT_THROW(concatenated({}), Error);
  EXPECT_THROW(concatenated({whole, recordingOf(steady(10, 0.1), {"y"})}), Error);
  Recording untimed = whole;
  untimed.time.resize(0);
  EXPECT_THROW(cutByTime(untimed, 0.0, 1.0), Error);
  EXPECT_THROW(concatenated({whole, untimed}), Error);
  EXPECT_EQ(concatenated({untimed, untimed}).samples(), 20);
}

}  // namespace
}  // namespace proprio
