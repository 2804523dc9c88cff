// A figure of two panels: measured friction with its model, and estimates with their intervals.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "proprio/report/chart.h"
using namespace proprio;

int main() {
  const Eigen::VectorXd speed = Eigen::VectorXd::LinSpaced(41, -2.0, 2.0);
  const Eigen::VectorXd model = 0.8 * (8.0 * speed.array()).tanh() + 0.3 * speed.array();
  const Eigen::VectorXd ripple = 0.06 * (9.0 * speed.array()).cos();

  Panel friction;
  friction.title = "friction of the elbow";
  friction.x = {"speed", "rad/s"};
  friction.y = {"torque", "N m"};
  friction.series = {band("95 %", speed, model.array() - 0.12, model.array() + 0.12),
                     line("model", speed, model), points("measured", speed, model + ripple)};
  friction.series[0].colour = friction.series[1].colour = 0;  // the band belongs to the model
  friction.series[2].colour = 1;
  friction.markers = {{1.5, "limit"}};
  friction.shades = {{-0.1, 0.1, "masked"}};

  Panel estimates;
  estimates.title = "estimates";
  estimates.x.names = {"viscous", "Coulomb", "offset", "rotor inertia"};
  estimates.y = {"relative to the prior", ""};
  estimates.series = {bars("", Eigen::Vector4d(1.08, 0.93, 0.2, 1.3))};
  estimates.series[0].low = Eigen::Vector4d(1.02, 0.88, -0.1, 0.7);
  estimates.series[0].high = Eigen::Vector4d(1.14, 0.98, 0.5, 1.9);

  Figure figure;
  figure.title = "Elbow";
  figure.subtitle = "friction and what was found of it";
  figure.shared_x = false;
  figure.columns = 2;
  figure.panel_height = 190.0;
  figure.panels = {friction, estimates};
  const auto folder = std::filesystem::temp_directory_path();
  for (const char* name : {"elbow.svg", "elbow.png", "elbow.html"})
    writePicture({figure}, (folder / name).string());
  std::cout << "pictures in " << folder << "\n";
}
