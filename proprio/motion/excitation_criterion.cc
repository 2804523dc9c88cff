#include "proprio/motion/excitation_criterion.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "proprio/core/parallel.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/derivatives.h"
#include "proprio/dynamics/joint_effect_derivatives.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

// Samples per task: a whole number of SIMD packs, and several tasks for a design grid.
constexpr Eigen::Index kCriterionChunk = 32;
// Gram matrices square the condition number: beyond 1e4 the smallest singular value would keep
// fewer than 7 digits.
constexpr double kGramLimit = 1e-8;
// A singular value this much smaller than the largest is rounding.
constexpr double kRankLimit = 1e-13;
// Extreme singular values nearer than this share the gradient.
constexpr double kCoincide = 1e-9;
// A sum below this part of its terms is rounding.
constexpr double kCancelled = 1e-13;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct NamedCriterion {
  Criterion criterion;
  const char* name;
};
constexpr NamedCriterion kCriteria[] = {
    {Criterion::kCondition, "condition"},
    {Criterion::kConditionAndSigma, "condition_and_sigma"},
    {Criterion::kPublished, "published"},
    {Criterion::kTrace, "trace"},
    {Criterion::kD, "d"},
    {Criterion::kA, "a"},
    {Criterion::kE, "e"},
};

/// The p-norm of positive numbers x (p = 0: their maximum) and its derivative by each of them.
double largest(const Eigen::ArrayXd& x, double p, Eigen::ArrayXd* derivative) {
  const double top = x.maxCoeff();
  if (p == 0.0) {
    *derivative = (x >= top * (1.0 - kCoincide)).cast<double>();
    *derivative /= derivative->sum();
    return top;
  }
  const Eigen::ArrayXd ratio = (x / top).pow(p);
  const double norm = top * std::pow(ratio.sum(), 1.0 / p);
  *derivative = (x / norm).pow(p - 1.0);
  return norm;
}

}  // namespace

const char* toString(Criterion criterion) {
  for (const NamedCriterion& entry : kCriteria) {
    if (entry.criterion == criterion) return entry.name;
  }
  return "";
}

std::vector<std::string> criterionNames() {
  std::vector<std::string> names;
  for (const NamedCriterion& entry : kCriteria) names.emplace_back(entry.name);
  return names;
}

Criterion criterionOf(const std::string& name) {
  for (const NamedCriterion& entry : kCriteria) {
    if (entry.name == name) return entry.criterion;
  }
  throw Error(fmt::format("there is no criterion {}{}", inQuotes(name),
                          didYouMean(name, criterionNames())));
}

double criterionValue(const CriterionOptions& options, const Eigen::VectorXd& singular_values,
                      Eigen::VectorXd* derivative) {
  const Eigen::ArrayXd s = singular_values.array();
  if (derivative != nullptr) derivative->setZero(s.size());
  if (!(s.size() > 0 && s.minCoeff() > 0.0)) return kInfinity;
  const Eigen::ArrayXd inverse = s.inverse();
  double value = 0.0;
  Eigen::ArrayXd slope;
  switch (options.criterion) {
    case Criterion::kD:
      value = -2.0 * s.log().sum();
      slope = -2.0 * inverse;
      break;
    case Criterion::kA:
      value = inverse.square().sum();
      slope = -2.0 * inverse.cube();
      break;
    case Criterion::kTrace: {
      const double trace = s.square().sum(), inverse_trace = inverse.square().sum();
      value = std::sqrt(trace * inverse_trace);
      slope = (s * inverse_trace - inverse.cube() * trace) / value;
      break;
    }
    default: {
      Eigen::ArrayXd d_top, d_inverse;
      const double top = largest(s, options.smoothing, &d_top);
      const double bottom = largest(inverse, options.smoothing, &d_inverse);  // 1 / s_n
      const Eigen::ArrayXd d_bottom = -d_inverse * inverse.square();
      const double condition = top * bottom, k = options.sigma_weight;
      const Eigen::ArrayXd d_condition = d_top * bottom + d_bottom * top;
      if (options.criterion == Criterion::kCondition) {
        value = condition;
        slope = d_condition;
      } else if (options.criterion == Criterion::kConditionAndSigma) {
        value = condition + k * bottom;
        slope = d_condition + k * d_bottom;
      } else if (options.criterion == Criterion::kPublished) {
        value = condition * condition + k * bottom;
        slope = 2.0 * condition * d_condition + k * d_bottom;
      } else {
        value = bottom;
        slope = d_bottom;
      }
    }
  }
  if (derivative != nullptr) *derivative = slope.matrix();
  return value;
}

struct ExcitationCriterion::Scratch {
  Scratch(std::shared_ptr<const Tree> the_tree, std::shared_ptr<const ParameterLayout> the_layout,
          CriterionOptions the_options);

  /// Regressor entries of one velocity coordinate that may differ from zero.
  struct Row {
    int coordinate = 0;
    double scale = 1.0;
    std::vector<int> parameters;  ///< columns of the regressor
    std::vector<int> places;      ///< the same among the chosen columns
    Eigen::MatrixXd entries;      ///< samples x parameters, scaled
  };
  struct Worker {
    explicit Worker(const Scratch& s)
        : workspace(*s.tree), batch(*s.tree, kCriterionChunk, s.layout->size()) {}
    Workspace workspace;
    RegressorBatch batch;
    std::vector<JointEffectDerivative> effects;
    Eigen::VectorXd velocity;
  };

  double evaluate(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a);
  void gatherRows(Worker& worker, ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                  Eigen::Index start, Eigen::Index count);
  void decompose(Eigen::Index samples);
  void decomposeByQr(Eigen::Index samples);
  void gradientOfChunk(RegressorBatch& weights, Worker& worker, ConstMatrixRef q, ConstMatrixRef v,
                       ConstMatrixRef a, Eigen::Index start, Eigen::Index count,
                       MatrixRef gradient_q, MatrixRef gradient_v, MatrixRef gradient_a);

  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const ParameterLayout> layout;
  CriterionOptions options;
  std::vector<Row> rows;
  Eigen::VectorXd column_scale;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<RegressorBatch>> weights;  ///< per worker; unused entries stay zero
  std::vector<Eigen::MatrixXd> partial;                  ///< Gram matrix per chunk
  Eigen::MatrixXd earlier, gram, V, S;
  Eigen::VectorXd singular_values, derivative;
};

ExcitationCriterion::Scratch::Scratch(std::shared_ptr<const Tree> the_tree,
                                      std::shared_ptr<const ParameterLayout> the_layout,
                                      CriterionOptions the_options)
    : tree(std::move(the_tree)), layout(std::move(the_layout)), options(std::move(the_options)) {
  constexpr const char* kName = "ExcitationCriterion";
  const auto n = static_cast<Eigen::Index>(options.columns.size());
  const Eigen::Index nv = tree->velocityCount();
  if (n == 0)
    throw Error("ExcitationCriterion: no columns are chosen; name at least one parameter");
  if (options.row_scale.size() > 0) {
    requireSize(kName, "row_scale", options.row_scale.size(), nv);
  }
  if (options.column_scale.size() > 0) {
    requireSize(kName, "column_scale", options.column_scale.size(), n);
  }
  column_scale = options.column_scale.size() > 0 ? options.column_scale : Eigen::VectorXd::Ones(n);
  if (options.earlier.rows() > 0) {
    requireSize(kName, "columns of earlier", options.earlier.cols(), n);
    earlier = options.earlier * column_scale.asDiagonal();
  }
  // which coordinates move which links: an entry (row, link) is zero unless the row's body carries
  // the link
  std::vector<std::vector<bool>> carries(static_cast<size_t>(nv),
                                         std::vector<bool>(tree->model().links.size()));
  for (const TreeBody& body : tree->bodies()) {
    const int own = body.joint == BodyJoint::kFixed      ? 0
                    : body.joint == BodyJoint::kFloating ? 6
                                                         : 1;
    for (int k = 0; k < own; ++k) {
      const auto row = static_cast<size_t>(tree->v_source[static_cast<size_t>(body.v + k)]);
      const auto first = static_cast<int>(&body - tree->bodies().data());
      for (int b = first; b < body.subtree_end; ++b) {
        const int link = tree->bodies()[static_cast<size_t>(b)].link;
        if (link >= 0) carries[row][static_cast<size_t>(link)] = true;
      }
    }
  }
  for (int j = 0; j < nv; ++j) {
    Row row;
    row.coordinate = j;
    if (options.row_scale.size() > 0) row.scale = options.row_scale[j];
    if (row.scale == 0.0) continue;
    for (int c = 0; c < n; ++c) {
      const int parameter = options.columns[static_cast<size_t>(c)];
      if (parameter < 0 || parameter >= layout->size()) {
        throw Error(fmt::format("ExcitationCriterion: column {} of a layout with {} parameters",
                                parameter, layout->size()));
      }
      const ParameterInfo& info = (*layout)[parameter];
      const bool present =
          info.kind == ParameterKind::kInertial
              ? carries[static_cast<size_t>(j)][static_cast<size_t>(info.link)]
              : info.kind == ParameterKind::kCoupling || tree->velocityIndex(info.joint) == j;
      if (!present) continue;
      row.parameters.push_back(parameter);
      row.places.push_back(c);
    }
    rows.push_back(std::move(row));
  }
  for (int w = 0; w < workerCount(); ++w) {
    workers.push_back(std::make_unique<Worker>(*this));
    weights.push_back(std::make_unique<RegressorBatch>(*tree, kCriterionChunk, layout->size()));
  }
}

void ExcitationCriterion::Scratch::gatherRows(Worker& worker, ConstMatrixRef q, ConstMatrixRef v,
                                              ConstMatrixRef a, Eigen::Index start,
                                              Eigen::Index count) {
  augmentedRegressorBatch(*tree, *layout, worker.workspace, q.middleRows(start, count),
                          v.middleRows(start, count), a.middleRows(start, count), worker.batch);
  Eigen::MatrixXd& sum = partial[static_cast<size_t>(start / kCriterionChunk)];
  sum.setZero(gram.rows(), gram.cols());
  for (Row& row : rows) {
    const auto from = worker.batch.rows(row.coordinate, count);
    auto block = row.entries.middleRows(start, count);
    const auto k = static_cast<Eigen::Index>(row.parameters.size());
    for (Eigen::Index c = 0; c < k; ++c) {
      const auto i = static_cast<size_t>(c);
      block.col(c) = row.scale * column_scale[row.places[i]] * from.col(row.parameters[i]);
    }
    const Eigen::MatrixXd product = block.transpose() * block;
    for (Eigen::Index c = 0; c < k; ++c) {
      for (Eigen::Index r = 0; r < k; ++r) {
        sum(row.places[static_cast<size_t>(r)], row.places[static_cast<size_t>(c)]) +=
            product(r, c);
      }
    }
  }
}

double ExcitationCriterion::Scratch::evaluate(ConstMatrixRef q, ConstMatrixRef v,
                                              ConstMatrixRef a) {
  constexpr const char* kName = "ExcitationCriterion";
  const Eigen::Index samples = q.rows();
  requireSize(kName, "columns of q", q.cols(), tree->positionCount());
  requireSize(kName, "v", v.size(), samples * tree->velocityCount());
  requireSize(kName, "a", a.size(), samples * tree->velocityCount());
  for (Row& row : rows) {
    row.entries.resize(samples, static_cast<Eigen::Index>(row.parameters.size()));
  }
  const auto n = static_cast<Eigen::Index>(options.columns.size());
  gram.setZero(n, n);
  partial.resize(static_cast<size_t>((samples + kCriterionChunk - 1) / kCriterionChunk));
  parallelChunks(samples, kCriterionChunk,
                 [&](std::ptrdiff_t start, std::ptrdiff_t count, int worker) {
                   gatherRows(*workers[static_cast<size_t>(worker)], q, v, a, start, count);
                 });
  for (const Eigen::MatrixXd& part : partial) gram += part;
  if (earlier.rows() > 0) gram.noalias() += earlier.transpose() * earlier;
  decompose(samples);
  return criterionValue(options, singular_values, &derivative);
}

void ExcitationCriterion::Scratch::decompose(Eigen::Index samples) {
  const Eigen::Index n = gram.rows();
  if (!gram.allFinite()) {
    throw Error("the regressor of this motion is not finite; check its positions and velocities");
  }
  const SymmetricEigen eigen = symmetricEigen(gram);
  const double top = eigen.values[n - 1];
  if (!(top > 0.0) || eigen.values[0] < kGramLimit * top) return decomposeByQr(samples);
  singular_values = eigen.values.reverse().cwiseSqrt();
  V = eigen.vectors.rowwise().reverse();
}

void ExcitationCriterion::Scratch::decomposeByQr(Eigen::Index samples) {
  const Eigen::Index n = gram.rows();
  const auto own = static_cast<Eigen::Index>(rows.size()) * samples;
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(std::max(own + earlier.rows(), n), n);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].places.size(); ++c) {
      W.col(rows[r].places[c]).segment(static_cast<Eigen::Index>(r) * samples, samples) =
          rows[r].entries.col(static_cast<Eigen::Index>(c));
    }
  }
  if (earlier.rows() > 0) W.middleRows(own, earlier.rows()) = earlier;
  Svd parts = svd(triangularFactor(W));
  singular_values = std::move(parts.values);
  V = std::move(parts.V);
  if (!(singular_values[n - 1] > kRankLimit * singular_values[0])) singular_values[n - 1] = 0.0;
}

void ExcitationCriterion::Scratch::gradientOfChunk(RegressorBatch& weight, Worker& worker,
                                                   ConstMatrixRef q, ConstMatrixRef v,
                                                   ConstMatrixRef a, Eigen::Index start,
                                                   Eigen::Index count, MatrixRef gradient_q,
                                                   MatrixRef gradient_v, MatrixRef gradient_a) {
  // dJ/dY = scales * W S, row by row
  for (const Row& row : rows) {
    const auto k = static_cast<Eigen::Index>(row.parameters.size());
    Eigen::MatrixXd part(k, k);
    for (Eigen::Index c = 0; c < k; ++c) {
      const int place = row.places[static_cast<size_t>(c)];
      for (Eigen::Index r = 0; r < k; ++r) {
        part(r, c) = S(row.places[static_cast<size_t>(r)], place) * row.scale * column_scale[place];
      }
    }
    const Eigen::MatrixXd product = row.entries.middleRows(start, count) * part;
    auto to = weight.rows(row.coordinate, count);
    for (Eigen::Index c = 0; c < k; ++c) {
      to.col(row.parameters[static_cast<size_t>(c)]) = product.col(c);
    }
  }
  auto gq = gradient_q.middleRows(start, count);
  auto gv = gradient_v.middleRows(start, count);
  auto ga = gradient_a.middleRows(start, count);
  torqueRegressorGradientBatch(*tree, worker.workspace, q.middleRows(start, count),
                               v.middleRows(start, count), a.middleRows(start, count), weight, gq,
                               gv, ga);
  for (Eigen::Index s = 0; s < count; ++s) {
    worker.velocity = v.row(start + s).transpose();
    jointEffectDerivatives(*tree, *layout, worker.velocity, &worker.effects);
    for (const JointEffectDerivative& d : worker.effects) {
      const double w = weight.rows(d.row, count)(s, d.parameter);
      gq(s, d.coordinate) += w * d.dq;
      gv(s, d.coordinate) += w * d.dv;
      ga(s, d.coordinate) += w * d.da;
    }
  }
}

ExcitationCriterion::ExcitationCriterion(std::shared_ptr<const Tree> tree,
                                         std::shared_ptr<const ParameterLayout> layout,
                                         CriterionOptions options)
    : scratch_(std::make_unique<Scratch>(std::move(tree), std::move(layout), std::move(options))) {}

ExcitationCriterion::~ExcitationCriterion() = default;

const Eigen::VectorXd& ExcitationCriterion::singularValues() const {
  return scratch_->singular_values;
}
const Eigen::MatrixXd& ExcitationCriterion::gram() const { return scratch_->gram; }
const CriterionOptions& ExcitationCriterion::options() const { return scratch_->options; }

double ExcitationCriterion::value(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a) {
  return scratch_->evaluate(q, v, a);
}

double ExcitationCriterion::valueAndGradient(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                                             MatrixRef gradient_q, MatrixRef gradient_v,
                                             MatrixRef gradient_a) {
  Scratch& s = *scratch_;
  const double value = s.evaluate(q, v, a);
  for (MatrixRef* g : {&gradient_q, &gradient_v, &gradient_a}) {
    requireSize("ExcitationCriterion", "a gradient", g->size(), v.size());
  }
  if (!std::isfinite(value)) {
    for (MatrixRef* g : {&gradient_q, &gradient_v, &gradient_a}) g->setZero();
    return value;
  }
  const Eigen::VectorXd h = s.derivative.cwiseQuotient(s.singular_values);
  s.S.noalias() = s.V * h.asDiagonal() * s.V.transpose();
  parallelChunks(q.rows(), kCriterionChunk,
                 [&](std::ptrdiff_t start, std::ptrdiff_t count, int worker) {
                   const auto w = static_cast<size_t>(worker);
                   s.gradientOfChunk(*s.weights[w], *s.workers[w], q, v, a, start, count,
                                     gradient_q, gradient_v, gradient_a);
                 });
  return value;
}

LearningForecast forecastLearning(const BaseParameters& base, const Parameters& parameters,
                                  const Eigen::MatrixXd& gram, double repetition) {
  const Eigen::Index n = base.count();
  requireSize("forecastLearning", "rows of gram", gram.rows(), n);
  const Eigen::Map<const Eigen::VectorXd> chi(parameters.values.data(),
                                              static_cast<Eigen::Index>(parameters.values.size()));
  LearningForecast forecast;
  forecast.value = splitParameters(base, chi).beta;
  // terms that cancel leave rounding
  const Eigen::VectorXd sizes = baseMatrix(base).cwiseAbs() * chi.cwiseAbs();
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::abs(forecast.value[i]) < kCancelled * sizes[i]) forecast.value[i] = 0.0;
  }
  // scaled to a unit diagonal first: columns of very different sizes keep their digits
  const Eigen::VectorXd size = gram.diagonal().cwiseSqrt().cwiseMax(1e-300);
  const Eigen::MatrixXd scaled =
      size.cwiseInverse().asDiagonal() * gram * size.cwiseInverse().asDiagonal();
  const SymmetricEigen eigen = symmetricEigen(scaled);
  const Eigen::VectorXd inverse = eigen.values.unaryExpr(
      [&](double x) { return x > 1e-14 * eigen.values[n - 1] ? 1.0 / x : kInfinity; });
  forecast.sigma.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    double variance = 0.0;
    for (Eigen::Index k = 0; k < n; ++k) {
      const double part = eigen.vectors(i, k) * eigen.vectors(i, k);
      // directions that nothing excites count only where they take part
      if (std::isfinite(inverse[k]) || part > 1e-12) variance += part * inverse[k];
    }
    forecast.sigma[i] = std::sqrt(variance / repetition) / size[i];
  }
  forecast.relative = forecast.sigma.cwiseQuotient(forecast.value.cwiseAbs());
  return forecast;
}

}  // namespace proprio
