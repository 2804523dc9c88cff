#include "proprio/identification/friction_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

constexpr Eigen::Index kEnoughFrictionSamples = 2000;
/// Columns whose own part is below this, relative, add nothing.
constexpr double kFrictionRank = 1e-8;
/// A term that the other columns explain but for this (squared) has no coefficient of its own.
constexpr double kOwnPart = 1e-10;

bool hasScale(const FrictionTerm& term) {
  return term.kind == FrictionTermKind::kArctan || term.kind == FrictionTermKind::kStribeck;
}
bool hasExponent(const FrictionTerm& term) {
  return term.kind == FrictionTermKind::kPower || term.kind == FrictionTermKind::kStribeck;
}

/// d basis / d scale and d basis / d exponent; zero at rest.
double scaleSlope(const FrictionModel& friction, const FrictionTerm& term, double v) {
  if (term.kind == FrictionTermKind::kArctan) return v / (1.0 + term.scale * term.scale * v * v);
  if (v == 0.0) return 0.0;
  const double power = std::pow(std::abs(v / term.scale), term.exponent);
  return frictionBasis(friction, term, v) * term.exponent * power / term.scale;
}

double exponentSlope(const FrictionModel& friction, const FrictionTerm& term, double v) {
  if (v == 0.0) return 0.0;
  if (term.kind == FrictionTermKind::kPower)
    return frictionBasis(friction, term, v) * std::log(std::abs(v));
  const double ratio = std::abs(v / term.scale);
  return -frictionBasis(friction, term, v) * std::pow(ratio, term.exponent) * std::log(ratio);
}

/// Base parameters that are not the coefficient of a term with constants.
std::vector<int> linearColumns(const IdentificationProblem& problem,
                               const std::vector<FrictionConstant>& constants) {
  std::vector<int> linear;
  for (const int column : problem.stacked.columns) {
    const ParameterInfo& info = (*problem.layout)[column];
    const bool searched =
        std::any_of(constants.begin(), constants.end(), [&](const FrictionConstant& constant) {
          return info.kind == ParameterKind::kFriction && info.joint == constant.joint &&
                 info.component == constant.term;
        });
    if (!searched) linear.push_back(column);
  }
  return linear;
}

/// Where the rows of every sample and coordinate go, -1: nowhere; those of one coordinate follow
/// each other, from start[j] to start[j + 1].
std::vector<Eigen::MatrixXi> rowPlaces(const IdentificationProblem& problem,
                                       const Eigen::VectorXd& sigma,
                                       std::vector<Eigen::Index>* start) {
  std::vector<Eigen::MatrixXi> places;
  for (const MotionData& data : problem.data)
    places.push_back(Eigen::MatrixXi::Constant(data.samples(), data.tau.cols(), -1));
  int next = 0;
  for (Eigen::Index j = 0; j < sigma.size(); ++j) {
    start->push_back(next);
    for (size_t r = 0; r < problem.data.size() && std::isfinite(sigma[j]); ++r) {
      const MotionData& data = problem.data[r];
      const auto step = std::max<Eigen::Index>(1, data.samples() / kEnoughFrictionSamples);
      for (Eigen::Index i = 0; i < data.samples(); i += step) {
        if (data.use(i, j)) places[r](i, j) = next++;
      }
    }
  }
  start->push_back(next);
  return places;
}

}  // namespace

const FrictionTerm& frictionTerm(const Model& model, const FrictionConstant& constant) {
  return model.joints[static_cast<size_t>(constant.joint)]
      .friction.terms[static_cast<size_t>(constant.term)];
}

std::vector<FrictionConstant> frictionConstants(const Model& model) {
  std::vector<FrictionConstant> constants;
  const auto add = [&](size_t joint, size_t term, bool exponent, double value, double low,
                       double high) {
    FrictionConstant c;
    c.joint = static_cast<int>(joint);
    c.term = static_cast<int>(term);
    c.exponent = exponent;
    c.value = std::clamp(value, low, high);
    c.low = low;
    c.high = high;
    constants.push_back(c);
  };
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const std::vector<FrictionTerm>& terms = model.joints[j].friction.terms;
    for (size_t t = 0; t < terms.size(); ++t) {
      const bool stribeck = terms[t].kind == FrictionTermKind::kStribeck;
      if (hasScale(terms[t]))
        add(j, t, false, terms[t].scale, stribeck ? 1e-3 : 0.1, stribeck ? 1.0 : 100.0);
      if (hasExponent(terms[t]))
        add(j, t, true, terms[t].exponent, stribeck ? 0.5 : 1.2, stribeck ? 2.5 : 3.0);
    }
  }
  return constants;
}

std::string constantText(const Model& model, const FrictionConstant& constant) {
  const FrictionTerm& term = frictionTerm(model, constant);
  // as robot.yaml calls it
  const char* key = constant.exponent                          ? "exponent"
                    : term.kind == FrictionTermKind::kStribeck ? "velocity"
                                                               : "scale";
  return fmt::format("{} of {} at {}", key, inQuotes(term.name),
                     inQuotes(model.joints[static_cast<size_t>(constant.joint)].name));
}

Model withFrictionConstants(const Model& model, const std::vector<FrictionConstant>& constants) {
  Model changed = model;
  for (const FrictionConstant& c : constants) {
    FrictionTerm& term =
        changed.joints[static_cast<size_t>(c.joint)].friction.terms[static_cast<size_t>(c.term)];
    (c.exponent ? term.exponent : term.scale) = c.value;
  }
  return changed;
}

/// Inner products of the columns C = [F dF] and y after W has been projected out.
struct FrictionCost::Products {
  Eigen::MatrixXd S;  // C^T C
  Eigen::VectorXd s;  // C^T y
  double yy = 0.0;
};

FrictionCost::FrictionCost(const Model& model, const FrictionRows& rows,
                           std::vector<FrictionConstant> constants)
    : constants_(std::move(constants)), segments_(rows.segments), y_(rows.y) {
  Q_ = rangeBasis(rows.W, kFrictionRank);
  Qty_ = Q_.transpose() * y_;
  for (size_t k = 0; k < constants_.size(); ++k) {
    const FrictionConstant& c = constants_[k];
    for (size_t segment = 0; segment < segments_.size(); ++segment) {
      if (segments_[segment].joint != c.joint) continue;
      const bool again = !terms_.empty() && terms_.back().segment == segment &&
                         terms_.back().term.name == frictionTerm(model, c).name;
      if (!again) {
        Term term;
        term.friction = model.joints[static_cast<size_t>(c.joint)].friction;
        term.term = frictionTerm(model, c);
        term.segment = segment;
        terms_.push_back(std::move(term));
      }
      (c.exponent ? terms_.back().exponent : terms_.back().scale) = static_cast<int>(k);
    }
  }
}

FrictionCost::Products FrictionCost::products(const Eigen::VectorXd& values,
                                              bool derivatives) const {
  const auto t = static_cast<Eigen::Index>(terms_.size());
  const Eigen::Index m = t + (derivatives ? values.size() : 0);
  Products out;
  out.S = Eigen::MatrixXd::Zero(m, m);
  out.s = Eigen::VectorXd::Zero(m);
  out.yy = y_.squaredNorm() - Qty_.squaredNorm();
  Eigen::MatrixXd QtC = Eigen::MatrixXd::Zero(Q_.cols(), m);
  for (size_t s = 0; s < segments_.size(); ++s) {
    const FrictionRows::Segment& segment = segments_[s];
    // the columns that have entries here, and where they belong
    std::vector<Eigen::Index> places;
    for (size_t i = 0; i < terms_.size(); ++i) {
      if (terms_[i].segment != s) continue;
      places.push_back(static_cast<Eigen::Index>(i));
      if (!derivatives) continue;
      for (const int k : {terms_[i].scale, terms_[i].exponent}) {
        if (k >= 0) places.push_back(t + k);
      }
    }
    if (places.empty()) continue;
    Eigen::MatrixXd C(segment.velocity.size(), static_cast<Eigen::Index>(places.size()));
    Eigen::Index column = 0;
    for (const Term& owner : terms_) {
      if (owner.segment != s) continue;
      FrictionTerm term = owner.term;
      if (owner.scale >= 0) term.scale = values[owner.scale];
      if (owner.exponent >= 0) term.exponent = values[owner.exponent];
      const auto fill = [&](auto value) {
        for (Eigen::Index i = 0; i < C.rows(); ++i)
          C(i, column) = segment.weight[i] * value(owner.friction, term, segment.velocity[i]);
        ++column;
      };
      fill(frictionBasis);
      if (derivatives && owner.scale >= 0) fill(scaleSlope);
      if (derivatives && owner.exponent >= 0) fill(exponentSlope);
    }
    const auto Q = Q_.middleRows(segment.start, C.rows());
    const Eigen::MatrixXd inner = C.transpose() * C;
    out.s(places) += C.transpose() * y_.segment(segment.start, C.rows());
    out.S(places, places) += inner;
    QtC(Eigen::all, places) += Q.transpose() * C;
  }
  out.S.noalias() -= QtC.transpose() * QtC;
  out.s.noalias() -= QtC.transpose() * Qty_;
  return out;
}

double FrictionCost::operator()(const Eigen::VectorXd& values, Eigen::VectorXd* gradient,
                                Eigen::MatrixXd* normal) const {
  const bool derivatives = gradient != nullptr || normal != nullptr;
  const auto t = static_cast<Eigen::Index>(terms_.size());
  const Products p = products(values, derivatives);
  // S_FF^-1 on the part that is not explained by other columns
  const Eigen::VectorXd size = p.S.diagonal().head(t).cwiseMax(1e-300).cwiseSqrt();
  const SymmetricEigen eigen =
      symmetricEigen(size.cwiseInverse().asDiagonal() * p.S.topLeftCorner(t, t) *
                     size.cwiseInverse().asDiagonal());
  Eigen::VectorXd inverse = eigen.values;
  for (double& value : inverse) value = value > kOwnPart ? 1.0 / value : 0.0;
  const Eigen::MatrixXd vectors = size.cwiseInverse().asDiagonal() * eigen.vectors;
  const auto solve = [&](const Eigen::MatrixXd& right) -> Eigen::MatrixXd {
    return vectors * inverse.asDiagonal() * (vectors.transpose() * right);
  };
  const Eigen::VectorXd phi = solve(p.s.head(t));
  const double cost = std::max(p.yy - p.s.head(t).dot(phi), 0.0);
  if (!derivatives) return cost;

  Eigen::VectorXd coefficient = Eigen::VectorXd::Zero(values.size());
  for (size_t i = 0; i < terms_.size(); ++i) {
    for (const int k : {terms_[i].scale, terms_[i].exponent}) {
      if (k >= 0) coefficient[k] = phi[static_cast<Eigen::Index>(i)];
    }
  }
  const auto S_DF = p.S.bottomLeftCorner(values.size(), t);
  if (gradient != nullptr)
    *gradient = -2.0 * coefficient.cwiseProduct(p.s.tail(values.size()) - S_DF * phi);
  if (normal != nullptr)
    *normal =
        coefficient.asDiagonal() *
        (p.S.bottomRightCorner(values.size(), values.size()) - S_DF * solve(S_DF.transpose())) *
        coefficient.asDiagonal();
  return cost;
}

FrictionRows frictionRows(const IdentificationProblem& problem, const Eigen::VectorXd& sigma,
                          const std::vector<FrictionConstant>& constants) {
  const Tree& tree = *problem.tree;
  const std::vector<int> linear = linearColumns(problem, constants);
  std::vector<Eigen::Index> start;
  const std::vector<Eigen::MatrixXi> places = rowPlaces(problem, sigma, &start);
  FrictionRows rows;
  rows.W.setZero(start.back(), static_cast<Eigen::Index>(linear.size()));
  rows.y.resize(start.back());
  Eigen::VectorXd speeds(start.back()), weights(start.back());
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), problem.layout->size());
  for (size_t r = 0; r < problem.data.size(); ++r) {
    const MotionData& data = problem.data[r];
    forEachBatch(tree, *problem.layout, data, 0, data.samples(), workspace, batch,
                 [&](Eigen::Index first, Eigen::Index count, RegressorBatch& regressor) {
                   for (Eigen::Index j = 0; j < data.tau.cols(); ++j) {
                     const auto Y = regressor.rows(j, count);
                     for (Eigen::Index i = 0; i < count; ++i) {
                       const Eigen::Index row = places[r](first + i, j);
                       if (row < 0) continue;
                       weights[row] = data.rowWeight(j) / sigma[j];
                       speeds[row] = data.v(first + i, j);
                       rows.y[row] = weights[row] * data.tau(first + i, j);
                       for (size_t c = 0; c < linear.size(); ++c)
                         rows.W(row, static_cast<Eigen::Index>(c)) = weights[row] * Y(i, linear[c]);
                     }
                   }
                 });
  }
  for (size_t joint = 0; joint < tree.model().joints.size(); ++joint) {
    const Joint& declared = tree.model().joints[joint];
    const int j = tree.velocityIndex(static_cast<int>(joint));
    if (j < 0 || velocityCount(declared.type) != 1) continue;
    const auto ju = static_cast<size_t>(j);
    const Eigen::Index count = start[ju + 1] - start[ju];
    FrictionRows::Segment segment;
    segment.joint = static_cast<int>(joint);
    segment.start = start[ju];
    segment.velocity = declared.mimic_ratio * speeds.segment(start[ju], count);
    segment.weight = declared.mimic_ratio * weights.segment(start[ju], count);
    rows.segments.push_back(std::move(segment));
  }
  return rows;
}

}  // namespace proprio
