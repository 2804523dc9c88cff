// Motion design: what a gradient costs beside the value alone, and how far ten random starts of the
// TX40 get over 10 s with 20 harmonics, and with B-splines of as many unknowns.

#include <fmt/format.h>

#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/model/robot_reader.h"
#include "proprio/motion/excitation_design.h"
#include "proprio/motion/fourier_series.h"
#include "timing.h"

namespace proprio {
namespace {

void gradientCost(const std::shared_ptr<const Model>& model) {
  const auto tree = std::make_shared<const Tree>(model);
  const Parameters parameters = declaredParameters(model);
  CriterionOptions options;
  options.columns = sampledBaseParameters(*tree, parameters.layout).independent;
  options.smoothing = 8.0;
  ExcitationCriterion criterion(tree, parameters.layout, options);
  for (const int samples : {100, 1000}) {
    const GridSamples s =
        onGrid(randomFourierSeries(Eigen::VectorXd::Zero(6), 20, 10.0, 1), samples);
    Eigen::MatrixXd dq(samples, 6), dv(samples, 6), da(samples, 6);
    bench::Candidate value = {"value", [&] { criterion.value(s.q, s.v, s.a); }};
    bench::Candidate both = {"value and gradient",
                             [&] { criterion.valueAndGradient(s.q, s.v, s.a, dq, dv, da); }};
    bench::timeInterleaved({&value, &both}, 51);
    fmt::print("{} samples: value {:.3f} ms, value and gradient {:.3f} ms, ratio {:.2f}\n", samples,
               value.nanoseconds * 1e-6, both.nanoseconds * 1e-6,
               both.nanoseconds / value.nanoseconds);
  }
}

void tenStarts(const std::shared_ptr<const Model>& model, ExcitationBasis basis) {
  fmt::print("{}\n", basis == ExcitationBasis::kFourier ? "Fourier series" : "B-splines");
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ExcitationOptions options;
    options.basis = basis;
    options.seed = seed;
    options.target = 30.0;
    options.time_limit = 60.0;
    const ExcitationDesign quick = designExcitation(model, options);
    options.target = 0.0;
    const ExcitationDesign full = designExcitation(model, options);
    fmt::print(
        "seed {:2}: cond(W) {:5.1f} at the start, {:.1f} after {:.1f} s, {:.1f} after {:.1f} s\n",
        seed, full.start_criterion, quick.condition, quick.elapsed, full.condition, full.elapsed);
  }
}

}  // namespace
}  // namespace proprio

int main(int argc, char** argv) {
  const std::string robot = argc > 1 ? argv[1] : "examples/robots/tx40.yaml";
  const auto model =
      std::make_shared<const proprio::Model>(proprio::readRobot(robot, proprio::ReadOptions{}));
  proprio::gradientCost(model);
  proprio::tenStarts(model, proprio::ExcitationBasis::kFourier);
  proprio::tenStarts(model, proprio::ExcitationBasis::kBSpline);
}
