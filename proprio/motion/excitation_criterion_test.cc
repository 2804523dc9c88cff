// Criteria of the regressor against a direct singular value decomposition, their gradients against
// central differences, and the forecast of what a motion teaches against simulated experiments.

#include "proprio/motion/excitation_criterion.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/sampled_identifiability.h"
#include "proprio/dynamics/testing/model_zoo.h"
#include "proprio/dynamics/testing/perturb.h"
#include "proprio/model/robot_reader.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

const Criterion kAll[] = {Criterion::kCondition, Criterion::kConditionAndSigma,
                          Criterion::kPublished, Criterion::kTrace,
                          Criterion::kD,         Criterion::kA,
                          Criterion::kE};

struct ExcitedRobot {
  explicit ExcitedRobot(const Model& robot)
      : model(std::make_shared<const Model>(robot)),
        tree(std::make_shared<const Tree>(model)),
        parameters(declaredParameters(model)),
        base(sampledBaseParameters(*tree, parameters.layout)) {}
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tree> tree;
  Parameters parameters;
  BaseParameters base;
};

ExcitedRobot excitedRobot(const std::string& name) {
  return ExcitedRobot(withSmoothSigns(
      readRobot(PROPRIO_SOURCE_DIR "/examples/robots/" + name + ".yaml", ReadOptions{}), 20.0));
}

struct Samples {
  Eigen::MatrixXd q, v, a;
};

Samples randomSamples(const Tree& tree, int count, double size = 1.0) {
  Samples x;
  x.q.resize(count, tree.positionCount());
  x.v.resize(count, tree.velocityCount());
  x.a.resize(count, tree.velocityCount());
  for (int k = 0; k < count; ++k) {
    const RandomState state = randomState(tree, static_cast<unsigned>(k + 1), size);
    x.q.row(k) = state.q.transpose();
    x.v.row(k) = state.v.transpose();
    x.a.row(k) = state.a.transpose();
  }
  return x;
}

/// W stacked sample by sample with the one-sample regressor.
Eigen::MatrixXd stacked(const ExcitedRobot& r, const CriterionOptions& options, const Samples& x) {
  const Eigen::Index nv = r.tree->velocityCount();
  const auto n = static_cast<Eigen::Index>(options.columns.size());
  Eigen::MatrixXd W(x.q.rows() * nv + options.earlier.rows(), n);
  Eigen::MatrixXd Y(nv, r.parameters.layout->size());
  Workspace workspace(*r.tree);
  for (Eigen::Index k = 0; k < x.q.rows(); ++k) {
    augmentedRegressor(*r.tree, *r.parameters.layout, workspace, x.q.row(k).transpose(),
                       x.v.row(k).transpose(), x.a.row(k).transpose(), Y);
    for (Eigen::Index c = 0; c < n; ++c) {
      W.col(c).segment(k * nv, nv) = Y.col(options.columns[static_cast<size_t>(c)]);
    }
    if (options.row_scale.size() > 0) {
      W.middleRows(k * nv, nv) = options.row_scale.asDiagonal() * W.middleRows(k * nv, nv);
    }
  }
  if (options.earlier.rows() > 0) W.bottomRows(options.earlier.rows()) = options.earlier;
  if (options.column_scale.size() > 0) W = (W * options.column_scale.asDiagonal()).eval();
  return W;
}

/// Singular values, largest first: pairs of columns are turned until all are orthogonal (one-sided
/// Jacobi), their lengths are then the singular values.
Eigen::VectorXd singularValues(Eigen::MatrixXd W) {
  constexpr double kOrthogonal = 1e-15;
  constexpr int kMostSweeps = 60;
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (Eigen::Index i = 0; i + 1 < W.cols(); ++i) {
      for (Eigen::Index j = i + 1; j < W.cols(); ++j) {
        const double a = W.col(i).squaredNorm(), b = W.col(j).squaredNorm();
        const double c = W.col(i).dot(W.col(j));
        if (std::abs(c) <= kOrthogonal * std::sqrt(a * b)) continue;
        turned = true;
        const double angle = 0.5 * std::atan2(2.0 * c, a - b);
        const Eigen::VectorXd first = W.col(i);
        W.col(i) = std::cos(angle) * first + std::sin(angle) * W.col(j);
        W.col(j) = std::cos(angle) * W.col(j) - std::sin(angle) * first;
      }
    }
  }
  Eigen::VectorXd s = W.colwise().norm();
  std::sort(s.begin(), s.end(), std::greater<>());
  return s;
}

double directCriterion(Criterion criterion, double k, const Eigen::MatrixXd& W) {
  const Eigen::MatrixXd G = W.transpose() * W;
  const Eigen::VectorXd s = singularValues(W);
  const double condition = s[0] / s[s.size() - 1];
  switch (criterion) {
    case Criterion::kCondition:
      return condition;
    case Criterion::kConditionAndSigma:
      return condition + k / s[s.size() - 1];
    case Criterion::kPublished:
      return condition * condition + k / s[s.size() - 1];
    case Criterion::kTrace:
      return std::sqrt(G.trace() * inverseOf(G).trace());
    case Criterion::kD:
      return -G.partialPivLu().matrixLU().diagonal().array().abs().log().sum();
    case Criterion::kA:
      return inverseOf(G).trace();
    case Criterion::kE:
      return 1.0 / s[s.size() - 1];
  }
  return 0.0;
}

// Every criterion is what its formula says of the stacked regressor, with scaled rows and columns
// and with the rows of an earlier recording. Inverses of W^T W lose cond(W)^2 digits.
TEST(ExcitationCriterion, EqualsTheFormulaOfTheStackedRegressor) {
  constexpr double kTolerance = 1e-8;
  for (const char* name : {"planar_2r", "tx40", "iiwa14"}) {
    SCOPED_TRACE(name);
    const ExcitedRobot r = excitedRobot(name);
    const Samples x = randomSamples(*r.tree, 70);
    CriterionOptions options;
    options.columns = r.base.independent;
    const Eigen::Index n = r.base.count();
    for (const bool scaled : {false, true}) {
      if (scaled) {
        options.row_scale = Eigen::VectorXd::LinSpaced(r.tree->velocityCount(), 0.5, 2.0);
        options.column_scale = Eigen::VectorXd::LinSpaced(n, 1.0, 3.0);
        options.earlier = Eigen::MatrixXd::Random(20, n);
      }
      const Eigen::MatrixXd W = stacked(r, options, x);
      for (const Criterion criterion : kAll) {
        SCOPED_TRACE(toString(criterion));
        options.criterion = criterion;
        ExcitationCriterion excitation(r.tree, r.parameters.layout, options);
        const double value = excitation.value(x.q, x.v, x.a);
        const double expected = directCriterion(criterion, options.sigma_weight, W);
        EXPECT_NEAR(value, expected, kTolerance * (1.0 + std::abs(expected)));
      }
    }
  }
}

// Singular values keep their digits where the Gram matrix would have lost them, and a motion that
// leaves a parameter undetermined is infinitely bad.
TEST(ExcitationCriterion, IllConditionedAndSingularMotions) {
  const ExcitedRobot r = excitedRobot("tx40");
  CriterionOptions options;
  options.columns = r.base.independent;
  ExcitationCriterion excitation(r.tree, r.parameters.layout, options);
  Samples x = randomSamples(*r.tree, 60);
  x.v *= 1e-3;
  x.a *= 1e-3;
  const Eigen::MatrixXd W = stacked(r, options, x);
  const Eigen::VectorXd s = singularValues(W);
  const double condition = s[0] / s[s.size() - 1];
  ASSERT_GT(condition, 1e5);
  // singular values have an absolute error of a few roundings of the largest one
  EXPECT_NEAR(excitation.value(x.q, x.v, x.a) / condition, 1.0, 1e-13 * condition);
  x.v.setZero();
  x.a.setZero();
  EXPECT_TRUE(std::isinf(excitation.value(x.q, x.v, x.a)));
  Eigen::MatrixXd gq(60, 6), gv(60, 6), ga(60, 6);
  EXPECT_TRUE(std::isinf(excitation.valueAndGradient(x.q, x.v, x.a, gq, gv, ga)));
  EXPECT_TRUE(gq.isZero() && gv.isZero() && ga.isZero());
  x.q(3, 2) = NAN;
  EXPECT_THROW(excitation.value(x.q, x.v, x.a), Error);
}

void expectGradient(const ExcitedRobot& r, const CriterionOptions& options, const Samples& x) {
  // central differences: h^2 times third derivatives and rounding / h, both about 1e-7 here
  constexpr double kStep = 1e-5, kTolerance = 2e-5;
  ExcitationCriterion excitation(r.tree, r.parameters.layout, options);
  const Eigen::Index samples = x.q.rows(), nv = r.tree->velocityCount();
  Eigen::MatrixXd gradient[3];
  for (Eigen::MatrixXd& g : gradient) g = Eigen::MatrixXd::Constant(samples, nv, NAN);
  const double value =
      excitation.valueAndGradient(x.q, x.v, x.a, gradient[0], gradient[1], gradient[2]);
  ASSERT_TRUE(std::isfinite(value));
  std::mt19937 random(5);
  double size = 0.0;
  for (const Eigen::MatrixXd& g : gradient) size = std::max(size, g.cwiseAbs().maxCoeff());
  for (int trial = 0; trial < 24; ++trial) {
    const int what = trial % 3;
    const auto k = static_cast<Eigen::Index>(random() % static_cast<unsigned>(samples));
    const auto j = static_cast<Eigen::Index>(random() % static_cast<unsigned>(nv));
    const auto at = [&](double step) {
      Samples y = x;
      if (what == 0) {
        y.q.row(k) =
            moved(*r.tree, x.q.row(k).transpose(), step * Eigen::VectorXd::Unit(nv, j)).transpose();
      }
      if (what == 1) y.v(k, j) += step;
      if (what == 2) y.a(k, j) += step;
      return excitation.value(y.q, y.v, y.a);
    };
    const double difference = (at(kStep) - at(-kStep)) / (2.0 * kStep);
    EXPECT_NEAR(gradient[what](k, j), difference, kTolerance * (size + 1e-4 * std::abs(value)))
        << "of "
        << "qva"[what] << " sample " << k << " coordinate " << j;
  }
}

// The gradient of every criterion, exact and smoothed, equals central differences; friction (smooth
// signs), rotors, couplings, row and column scales and earlier rows included.
TEST(ExcitationCriterion, GradientEqualsDifferences) {
  for (const char* name : {"planar_2r", "tx40", "tx40_coupled"}) {
    SCOPED_TRACE(name);
    const ExcitedRobot r = excitedRobot(name);
    const Samples x = randomSamples(*r.tree, 45);
    CriterionOptions options;
    options.columns = r.base.independent;
    for (const Criterion criterion : kAll) {
      SCOPED_TRACE(toString(criterion));
      options.criterion = criterion;
      options.smoothing = 0.0;
      expectGradient(r, options, x);
      options.smoothing = 8.0;
      expectGradient(r, options, x);
    }
    options.criterion = Criterion::kPublished;
    options.row_scale = Eigen::VectorXd::LinSpaced(r.tree->velocityCount(), 0.5, 2.0);
    options.column_scale = Eigen::VectorXd::LinSpaced(r.base.count(), 1.0, 3.0);
    options.earlier = Eigen::MatrixXd::Random(20, r.base.count());
    expectGradient(r, options, x);
  }
}

// The same for a floating base with its base rows, for mimic joints, and for a part of the
// parameters and rows.
TEST(ExcitationCriterion, GradientOfFloatingMimicAndPartialRegressors) {
  // differences of a criterion lose as many digits as the condition number has
  constexpr double kDifferencesWork = 1e3;
  int checked = 0;
  for (const ZooEntry& entry : modelZoo()) {
    if (entry.model->velocity_count > 12) continue;
    SCOPED_TRACE(entry.name);
    const ExcitedRobot r(*entry.model);
    CriterionOptions options;
    options.columns = r.base.independent;
    options.criterion = Criterion::kD;
    const Samples x = randomSamples(*r.tree, 60);
    ExcitationCriterion excitation(r.tree, r.parameters.layout, options);
    excitation.value(x.q, x.v, x.a);
    const Eigen::VectorXd& s = excitation.singularValues();
    if (s[s.size() - 1] < s[0] / kDifferencesWork) continue;
    ++checked;
    expectGradient(r, options, x);
  }
  EXPECT_GE(checked, 8);
  const ExcitedRobot r = excitedRobot("tx40");
  CriterionOptions wrist;
  for (const int parameter : r.base.independent) {
    const ParameterInfo& info = (*r.parameters.layout)[parameter];
    if (info.kind == ParameterKind::kInertial && info.link >= 5) wrist.columns.push_back(parameter);
  }
  wrist.row_scale = Eigen::VectorXd::Zero(6);
  wrist.row_scale.tail(3).setOnes();
  wrist.smoothing = 4.0;
  expectGradient(r, wrist, randomSamples(*r.tree, 33));
}

// Where extreme singular values coincide the gradient is still that of a direction downhill, and
// the smoothed criterion is an upper bound that tightens with the exponent.
TEST(ExcitationCriterion, RepeatedSingularValues) {
  CriterionOptions options;
  Eigen::VectorXd s(4), derivative(4);
  s << 2.0, 2.0, 1.0, 1.0;
  EXPECT_DOUBLE_EQ(criterionValue(options, s, &derivative), 2.0);
  EXPECT_DOUBLE_EQ(derivative[0], derivative[1]);
  EXPECT_DOUBLE_EQ(derivative[2], derivative[3]);
  double before = 1e9;
  for (const double p : {2.0, 4.0, 8.0, 32.0, 256.0}) {
    options.smoothing = p;
    const double smooth = criterionValue(options, s, &derivative);
    EXPECT_GE(smooth, 2.0);
    EXPECT_LT(smooth, before);
    before = smooth;
  }
  EXPECT_NEAR(before, 2.0, 2.0 * (std::pow(4.0, 2.0 / 256.0) - 1.0));
  options.smoothing = 2.0;
  const double smoothed = criterionValue(options, s, nullptr);
  options.criterion = Criterion::kTrace;
  EXPECT_NEAR(criterionValue(options, s, nullptr), smoothed, 1e-12);
}

// The forecast is the spread of the estimates of repeated noisy experiments. The standard deviation
// of 400 draws is known to 1 / sqrt(800) = 3.5 %; 5 times that over 52 parameters.
TEST(ExcitationCriterion, ForecastIsTheSpreadOfEstimates) {
  const ExcitedRobot r = excitedRobot("tx40");
  const Samples x = randomSamples(*r.tree, 80, 2.0);
  const Eigen::VectorXd noise = Eigen::VectorXd::LinSpaced(6, 2.0, 0.2);
  CriterionOptions options;
  options.columns = r.base.independent;
  options.row_scale = noise.cwiseInverse();
  ExcitationCriterion excitation(r.tree, r.parameters.layout, options);
  excitation.value(x.q, x.v, x.a);
  const LearningForecast forecast = forecastLearning(r.base, r.parameters, excitation.gram(), 1.0);
  const Eigen::MatrixXd W = stacked(r, options, x);
  const Eigen::LDLT<Eigen::MatrixXd> normal(W.transpose() * W);
  std::mt19937 random(3);
  std::normal_distribution<double> gauss;
  constexpr int kRuns = 400;
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(r.base.count());
  for (int run = 0; run < kRuns; ++run) {
    const Eigen::VectorXd error =
        Eigen::VectorXd::NullaryExpr(W.rows(), [&] { return gauss(random); });
    squares += normal.solve(W.transpose() * error).array().square();
  }
  const Eigen::ArrayXd ratio = (squares / kRuns).sqrt() / forecast.sigma.array();
  EXPECT_GT(ratio.minCoeff(), 1.0 - 5.0 / std::sqrt(2.0 * kRuns));
  EXPECT_LT(ratio.maxCoeff(), 1.0 + 5.0 / std::sqrt(2.0 * kRuns));
  EXPECT_NEAR(forecastLearning(r.base, r.parameters, excitation.gram(), 4.0).sigma[7],
              forecast.sigma[7] / 2.0, 1e-12 * forecast.sigma[7]);
  EXPECT_NEAR(forecast.relative[0], forecast.sigma[0] / std::abs(forecast.value[0]), 1e-12);
  // combinations whose terms cancel are zero, not their rounding: whatever is not is far above it
  EXPECT_TRUE((forecast.value.array() == 0.0 || forecast.value.array().abs() > 1e-12).all())
      << forecast.value.transpose();
}

// Wrong sizes, no columns and unknown names are refused with a sentence.
TEST(ExcitationCriterion, RefusesWhatDoesNotFit) {
  const ExcitedRobot r = excitedRobot("planar_2r");
  CriterionOptions options;
  EXPECT_THROW(ExcitationCriterion(r.tree, r.parameters.layout, options), Error);
  options.columns = {100000};
  EXPECT_THROW(ExcitationCriterion(r.tree, r.parameters.layout, options), Error);
  options.columns = r.base.independent;
  options.row_scale = Eigen::VectorXd::Ones(17);
  EXPECT_THROW(ExcitationCriterion(r.tree, r.parameters.layout, options), Error);
  EXPECT_EQ(criterionOf("published"), Criterion::kPublished);
  EXPECT_THROW(criterionOf("conditoin"), Error);
}

}  // namespace
}  // namespace proprio
