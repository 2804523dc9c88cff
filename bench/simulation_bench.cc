// proprio_simulation_bench: a TX40 under PD control at 5 kHz for 10 s, integrated by RK4, one run
// and a batch in SIMD lanes on one core, beside MuJoCo stepping the same arm under the same law.

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <functional>

#include "proprio/dynamics/kernels/kernels.h"
#include "proprio/simulation/testing/loop_robots.h"
#ifdef PROPRIO_HAVE_MUJOCO
#include "proprio/dynamics/testing/mujoco_robot.h"
#endif

namespace proprio {
namespace {

constexpr double kSeconds = 10.0, kRate = 5000.0;

// processor time, best of several: other programs on the machine hardly matter
double secondsOf(const std::function<void()>& work, int repetitions = 5) {
  double best = 1e300;
  for (int r = 0; r < repetitions; ++r) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void report(const std::string& what, double simulated, double took) {
  fmt::print("{:<58} {:8.1f} ms  {:7.1f} x real time\n", what, 1e3 * took, simulated / took);
}

#ifdef PROPRIO_HAVE_MUJOCO
// the same PD and friction around MuJoCo's own step
double mujocoSeconds(const Model& model, const ClosedLoopRun& run, int integrator) {
  MujocoRobot robot(model);
  robot.m()->opt.timestep = 1.0 / kRate;
  robot.m()->opt.integrator = integrator;
  const int n = robot.m()->nv;
  const auto steps = static_cast<int>(kSeconds * kRate);
  const MotionSamples& motion = *run.reference;
  return secondsOf(
      [&] {
        mj_resetData(robot.m(), robot.d());
        for (int k = 0; k < steps; ++k) {
          for (int i = 0; i < n; ++i) {
            const double q = robot.d()->qpos[i], v = robot.d()->qvel[i];
            const FrictionModel& friction = model.joints[static_cast<size_t>(i)].friction;
            robot.d()->qfrc_applied[i] =
                run.servo.gain[i] * (run.servo.kp[i] * (motion.q(k, i) - q) +
                                     run.servo.kd[i] * (motion.v(k, i) - v)) -
                friction.terms[0].coefficient * v -
                friction.terms[1].coefficient * std::tanh(100.0 * v);
          }
          mj_step(robot.m(), robot.d());
        }
      },
      2);
}
#endif

void run() {
  using namespace testing_loop;
  const auto model = bundled("tx40.yaml");
  const Tree tree(model);
  ClosedLoopRun one = runOf(tree, sineMotion(tree, 0.4, 0.3, kSeconds, kRate));
  one.options.encoder_noise = 1.7e-6;
  one.options.torque_noise = 0.05;
  one.options.physics_rate = kRate;
  // as many runs as lanes: one group, so one core
  std::vector<ClosedLoopRun> lanes(static_cast<size_t>(kernels::active().lanes), one);
  for (size_t r = 0; r < lanes.size(); ++r) {
    lanes[r].options.seed = r;
    for (double& value : lanes[r].plant.values) value *= 1.0 + 0.01 * static_cast<double>(r);
  }
  // in turns, because the speed of a shared machine changes from second to second
  double alone = 1e300, batch = 1e300;
  for (int turn = 0; turn < 10; ++turn) {
    alone = std::min(alone, secondsOf([&] { simulateClosedLoop(tree, one); }, 1));
    batch = std::min(batch, secondsOf([&] { simulateClosedLoops(tree, lanes); }, 1));
  }
  report("one run, 5 kHz control and physics, RK4, noise", kSeconds, alone);
  const double simulated = kSeconds * static_cast<double>(lanes.size());
  report(fmt::format("{} runs in lanes of one core", lanes.size()), simulated, batch);
  fmt::print("throughput of the lanes: {:.2f} times one run\n",
             alone / (batch / static_cast<double>(lanes.size())));

  one.options.physics_rate = 0.0;
  const double stable = secondsOf([&] { simulateClosedLoop(tree, one); });
  report("one run, physics rate chosen for stability (10 kHz)", kSeconds, stable);
#ifdef PROPRIO_HAVE_MUJOCO
  const double euler = mujocoSeconds(*model, one, mjINT_EULER);
  report("MuJoCo, Euler, no noise, no recording", kSeconds, euler);
  const double rk4 = mujocoSeconds(*model, one, mjINT_RK4);
  report("MuJoCo, RK4, no noise, no recording", kSeconds, rk4);
  fmt::print("one run is {:.1f} times as fast as MuJoCo with RK4, lanes {:.1f} times\n",
             rk4 / alone, rk4 / (batch / static_cast<double>(lanes.size())));
#endif
}

}  // namespace
}  // namespace proprio

int main() {
  proprio::run();
  return 0;
}
