#include "proprio/motion/fourier_series.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>
#include <random>

#include "proprio/core/error.h"
#include "proprio/motion/testing/motion_checks.h"

namespace proprio {
namespace {

constexpr double kSeriesRounding = 1e-11;

FourierSeries exampleSeries(int harmonics = 7) {
  return randomFourierSeries(Eigen::Vector3d(0.3, -1.0, 2.0), harmonics, 6.0, 11);
}

// A single harmonic is the sine that the formula says.
TEST(FourierSeries, OneHarmonicIsASine) {
  FourierSeries series(1, 2, 4.0);
  series.offset[0] = 0.5;
  series.a(0, 1) = 3.0;  // second harmonic: 0.5 Hz
  const double w = std::numbers::pi;
  for (const double t : {0.0, 0.3, 1.7, 3.9}) {
    const StateAt state = stateAt(series, t);
    EXPECT_NEAR(state.q[0], 0.5 + 3.0 / w * std::sin(w * t), kSeriesRounding);
    EXPECT_NEAR(state.v[0], 3.0 * std::cos(w * t), kSeriesRounding);
    EXPECT_NEAR(state.a[0], -3.0 * w * std::sin(w * t), kSeriesRounding);
  }
}

// Velocity and acceleration are the derivatives of the position, also in later periods.
TEST(FourierSeries, DerivativesAreExact) {
  FourierSeries series = exampleSeries();
  expectDerivativesAgree(series);
  series.repeats = 3;
  expectDerivativesAgree(series, 1e-5);  // the step of the difference grows with the duration
}

// A random series starts and ends at rest at the given posture, and stays there outside its time.
TEST(FourierSeries, RandomOnesStartAndEndAtRest) {
  for (const int harmonics : {2, 5, 20}) {
    FourierSeries series = exampleSeries(harmonics);
    series.repeats = 2;
    expectRestAtBothEnds(series, kSeriesRounding * harmonics * 10);
    for (const double t : {0.0, 6.0, 12.0, -1.0, 99.0}) {
      const StateAt state = stateAt(series, t);
      EXPECT_LT((state.q - Eigen::Vector3d(0.3, -1.0, 2.0)).norm(), kSeriesRounding) << t;
    }
    EXPECT_EQ(stateAt(series, 13.0).v.norm(), 0.0);
    EXPECT_GT(stateAt(series, 1.0).v.norm(), 0.0);
  }
}

// The same seed gives the same motion (this number on every machine), another seed another.
TEST(FourierSeries, SeedDecides) {
  EXPECT_EQ(exampleSeries().coefficients(), exampleSeries().coefficients());
  EXPECT_NE(randomFourierSeries(Eigen::Vector3d::Zero(), 7, 6.0, 12).a, exampleSeries().a);
  std::mt19937_64 engine(11);  // the standard fixes its 1st output for every seed
  const double first = static_cast<double>(engine() >> 11) / 9007199254740992.0 * 2.0 - 1.0;
  FourierSeries raw = randomFourierSeries(Eigen::VectorXd::Zero(1), 2, 6.0, 11);
  engine();
  const double second = static_cast<double>(engine() >> 11) / 9007199254740992.0 * 2.0 - 1.0;
  EXPECT_NEAR(raw.a(0, 0), (first - second) / 2, kSeriesRounding);
}

// The basis matrices times the coefficients are the motion.
TEST(FourierSeries, BasisTimesCoefficientsIsTheMotion) {
  const FourierSeries series = exampleSeries();
  const Eigen::VectorXd times = Eigen::VectorXd::LinSpaced(50, 0.0, 6.0);
  const MotionBasis basis = fourierBasis(series.period, series.harmonics(), times);
  const Eigen::MatrixXd x = series.coefficients();
  for (Eigen::Index k = 0; k < times.size(); ++k) {
    const StateAt state = stateAt(series, times[k]);
    EXPECT_LT((basis.q.row(k) * x - state.q.transpose()).norm(), kSeriesRounding);
    EXPECT_LT((basis.v.row(k) * x - state.v.transpose()).norm(), kSeriesRounding);
    EXPECT_LT((basis.a.row(k) * x - state.a.transpose()).norm(), 100 * kSeriesRounding);
  }
  const FourierSeries same = FourierSeries::fromCoefficients(x, series.period);
  EXPECT_EQ(same.a, series.a);
  EXPECT_EQ(same.b, series.b);
  EXPECT_EQ(same.offset, series.offset);
}

// The rest basis spans exactly the coefficients that satisfy the rest equations.
TEST(FourierSeries, RestBasisIsTheNullSpaceOfTheRestEquations) {
  for (const int harmonics : {1, 2, 3, 20}) {
    const Eigen::MatrixXd basis = fourierRestBasis(6.0, harmonics);
    const FourierRestEquations equations = fourierRestEquations(6.0, harmonics, 0.7);
    ASSERT_EQ(basis.cols(), 2 * harmonics - 2);
    if (harmonics == 1) continue;
    EXPECT_LT((equations.matrix * basis).norm(), kSeriesRounding * 100);
    Eigen::VectorXd start = Eigen::VectorXd::Zero(2 * harmonics + 1);
    start[0] = 0.7;
    EXPECT_LT((equations.matrix * start - equations.right_side).norm(), kSeriesRounding);
    EXPECT_EQ(Eigen::FullPivLU<Eigen::MatrixXd>(basis).rank(), 2 * harmonics - 2);
    const Eigen::MatrixXd waves = basis.bottomRows(2 * harmonics);
    EXPECT_LT(
        (waves.transpose() * waves - Eigen::MatrixXd::Identity(basis.cols(), basis.cols())).norm(),
        kSeriesRounding);
    // the equations are those of the basis functions at t = 0
    const MotionBasis at_zero = fourierBasis(6.0, harmonics, Eigen::VectorXd::Zero(1));
    EXPECT_LT((equations.matrix.row(0) - at_zero.q.row(0)).norm(), kSeriesRounding);
    EXPECT_LT((equations.matrix.row(1) - at_zero.v.row(0)).norm(), kSeriesRounding);
    EXPECT_LT((equations.matrix.row(2) * (2 * std::numbers::pi / 6.0) - at_zero.a.row(0)).norm(),
              kSeriesRounding * 100);
  }
}

// startingAtRest moves the coefficients by the least amount: what it takes away is orthogonal to
// every series at rest.
TEST(FourierSeries, StartingAtRestIsTheNearest) {
  FourierSeries series(2, 5, 6.0);
  series.a.setRandom();
  series.b.setRandom();
  const FourierSeries rest = startingAtRest(series, Eigen::Vector2d(1.0, 2.0));
  const Eigen::MatrixXd basis = fourierRestBasis(6.0, 5).bottomRows(10);
  Eigen::MatrixXd removed(10, 2);
  removed << (series.a - rest.a).transpose(), (series.b - rest.b).transpose();
  EXPECT_LT((basis.transpose() * removed).norm(), kSeriesRounding);
  expectRestAtBothEnds(rest);
}

// Wrong sizes, numbers and counts are refused with a sentence that names them.
TEST(FourierSeries, BadInput) {
  const auto refused = [](const auto& call, const std::string& part) {
    EXPECT_NE(messageOf(call).find(part), std::string::npos) << messageOf(call);
  };
  refused([] { FourierSeries(1, 3, 0.0); }, "period of a Fourier series is 0");
  refused([] { FourierSeries(1, 3, NAN); }, "period of a Fourier series is nan");
  refused([] { FourierSeries(1, 0, 1.0); }, "0 harmonics");
  refused([] { randomFourierSeries(Eigen::VectorXd::Zero(1), 1, 1.0, 1); }, "at least two");
  refused([] { startingAtRest(exampleSeries(), Eigen::Vector2d::Zero()); }, "2 start positions");
  refused([] { FourierSeries::fromCoefficients(Eigen::MatrixXd::Zero(4, 1), 1.0); },
          "4 coefficients");
  refused([] { randomFourierSeries(Eigen::VectorXd::Constant(1, NAN), 3, 1.0, 1); },
          "not a finite");
  FourierSeries odd = exampleSeries();
  odd.b.conservativeResize(3, 2);
  refused([&] { checkSeries(odd); }, "b of size 3 x 2");
  odd = exampleSeries();
  odd.repeats = 0;
  refused([&] { checkSeries(odd); }, "0 periods");
}

}  // namespace
}  // namespace proprio
