// From a recording to positions, velocities, accelerations and torques without noise.
#include <Eigen/LU>
#include <cmath>
#include <iostream>

#include "proprio/recording/signal_names.h"
#include "proprio/signal/decimation.h"
#include "proprio/signal/joint_signals.h"
using namespace proprio;

int main() {
  // ten seconds of one joint at 1 kHz, an encoder with 2^14 counts, tau = 2 a + 0.5 v
  Recording recording;  // usually: readRecordings("run.csv"), mapped through its robot
  recording.source = "example";
  recording.channels = {channelNamed("q_elbow"), channelNamed("tau_elbow")};
  recording.time = Eigen::VectorXd::LinSpaced(10001, 0.0, 10.0);
  recording.values.resize(10001, 2);
  const double count = 2.0 * M_PI / 16384.0, w = 2.0 * M_PI * 0.7;
  for (Eigen::Index k = 0; k < recording.samples(); ++k) {
    const double s = std::sin(w * recording.time[k]), c = std::cos(w * recording.time[k]);
    recording.values(k, 0) = count * std::round(0.4 * s / count);
    recording.values(k, 1) = -2.0 * 0.4 * w * w * s + 0.5 * 0.4 * w * c;
  }

  const JointSignals signals = jointSignals(recording);  // every option has a default
  for (const std::string& step : signals.steps) std::cout << step << "\n";
  std::cout << signals.time.size() << " samples at " << signals.rate_hz << " Hz\n";
  const Eigen::MatrixXd error = signals.tau - 2.0 * signals.a - 0.5 * signals.v;
  std::cout << "error of the model: " << 100.0 * error.norm() / signals.tau.norm() << " %\n";

  // the parts are there one by one, too: columns of a regressor and torques through one filter
  Eigen::MatrixXd W(signals.time.size(), 2);
  W << signals.a, signals.v;
  const Eigen::MatrixXd fewer = decimate(W, 2), tau = decimate(signals.tau, 2);
  const Eigen::Vector2d beta = (fewer.transpose() * fewer).inverse() * fewer.transpose() * tau;
  std::cout << "inertia " << beta[0] << ", friction " << beta[1] << "\n";
  return error.norm() < 0.02 * signals.tau.norm() && std::abs(beta[0] - 2.0) < 0.01 ? 0 : 1;
}
