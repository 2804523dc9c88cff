#include "proprio/identification/separable_friction.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/random.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

constexpr Eigen::Index kEnoughFrictionSamples = 2000;
/// Columns whose own part is below this, relative, add nothing.
constexpr double kFrictionRank = 1e-8;
/// A term that the other columns explain but for this (squared) has no coefficient of its own.
constexpr double kOwnPart = 1e-10;
/// A constant is hardly told if its deviation is above this part of the bounds' distance.
constexpr double kHardlyTold = 0.25;
constexpr Eigen::Index kFewestSweepRows = 20;
constexpr double kOthersRest = 0.1;  // speed of other joints relative to the one that moves

bool hasScale(const FrictionTerm& term) {
  return term.kind == FrictionTermKind::kArctan || term.kind == FrictionTermKind::kStribeck;
}
bool hasExponent(const FrictionTerm& term) {
  return term.kind == FrictionTermKind::kPower || term.kind == FrictionTermKind::kStribeck;
}

const FrictionTerm& termOf(const Model& model, const FrictionConstant& constant) {
  return model.joints[static_cast<size_t>(constant.joint)]
      .friction.terms[static_cast<size_t>(constant.term)];
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

/// What is searched: the logarithm of scales, exponents as they are.
double toSearch(const FrictionConstant& c, double value) {
  return c.exponent ? value : std::log(value);
}
double fromSearch(const FrictionConstant& c, double x) { return c.exponent ? x : std::exp(x); }

struct SearchResult {
  Eigen::VectorXd values;
  double cost = std::numeric_limits<double>::infinity();
  int iterations = 0;
};

/// Gauss-Newton with damping inside the bounds.
SearchResult searchConstants(const FrictionCost& cost, const Eigen::VectorXd& start,
                             const SeparableOptions& options) {
  const std::vector<FrictionConstant>& constants = cost.constants();
  const Eigen::Index n = start.size();
  Eigen::VectorXd low(n), high(n), x(n), gradient;
  Eigen::MatrixXd normal;
  for (Eigen::Index k = 0; k < n; ++k) {
    const FrictionConstant& c = constants[static_cast<size_t>(k)];
    low[k] = toSearch(c, c.low);
    high[k] = toSearch(c, c.high);
    x[k] = std::clamp(toSearch(c, start[k]), low[k], high[k]);
  }
  const auto valuesAt = [&](const Eigen::VectorXd& place) {
    Eigen::VectorXd values(n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const FrictionConstant& c = constants[static_cast<size_t>(k)];
      values[k] = std::clamp(fromSearch(c, place[k]), c.low, c.high);
    }
    return values;
  };
  SearchResult result;
  result.values = valuesAt(x);
  result.cost = cost(result.values, &gradient, &normal);
  double damping = 1e-3;
  while (result.iterations < options.max_iterations && damping < 1e12) {
    ++result.iterations;
    // to the searched coordinates; those that would leave the bounds are held
    Eigen::VectorXd g = 0.5 * gradient, slope(n);
    for (Eigen::Index k = 0; k < n; ++k)
      slope[k] = constants[static_cast<size_t>(k)].exponent ? 1.0 : result.values[k];
    g = g.cwiseProduct(slope);
    Eigen::MatrixXd H = slope.asDiagonal() * normal * slope.asDiagonal();
    for (Eigen::Index k = 0; k < n; ++k) {
      const bool held = (x[k] <= low[k] && g[k] > 0.0) || (x[k] >= high[k] && g[k] < 0.0);
      if (!held && H(k, k) > 0.0) {
        H(k, k) *= 1.0 + damping;
        continue;
      }
      H.row(k).setZero();
      H.col(k).setZero();
      H(k, k) = 1.0;
      g[k] = 0.0;
    }
    const Eigen::VectorXd next = (x - H.ldlt().solve(g)).cwiseMax(low).cwiseMin(high);
    const Eigen::VectorXd values = valuesAt(next);
    Eigen::VectorXd next_gradient;
    Eigen::MatrixXd next_normal;
    const double next_cost = cost(values, &next_gradient, &next_normal);
    if (!(next_cost < result.cost)) {
      damping *= 4.0;
      if ((next - x).norm() <= 1e-12 * (1.0 + x.norm())) break;
      continue;
    }
    const double decrease = result.cost - next_cost;
    x = next;
    result.values = values;
    result.cost = next_cost;
    gradient = std::move(next_gradient);
    normal = std::move(next_normal);
    damping = std::max(damping / 5.0, 1e-12);
    if (decrease < options.tolerance * next_cost) break;
  }
  return result;
}

Eigen::VectorXd spreadStart(const std::vector<FrictionConstant>& constants, int start) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(constants.size()));
  for (size_t k = 0; k < constants.size(); ++k) {
    const FrictionConstant& c = constants[k];
    const double share = uniformNumber(1, k, static_cast<std::uint64_t>(start));
    const double low = toSearch(c, c.low), high = toSearch(c, c.high);
    values[static_cast<Eigen::Index>(k)] =
        start == 0 ? c.value : fromSearch(c, low + share * (high - low));
  }
  return values;
}

/// Several starts, the best of each joint combined, and once more from there.
SearchResult searchFromMany(const FrictionCost& cost, const SeparableOptions& options) {
  const std::vector<FrictionConstant>& constants = cost.constants();
  std::vector<SearchResult> ends;
  for (int s = 0; s < std::max(options.starts, 1); ++s)
    ends.push_back(searchConstants(cost, spreadStart(constants, s), options));
  SearchResult best = *std::min_element(
      ends.begin(), ends.end(),
      [](const SearchResult& a, const SearchResult& b) { return a.cost < b.cost; });
  bool mixed = false;
  for (size_t first = 0; first < constants.size();) {
    size_t last = first;
    while (last < constants.size() && constants[last].joint == constants[first].joint) ++last;
    for (const SearchResult& end : ends) {
      Eigen::VectorXd values = best.values;
      const auto count = static_cast<Eigen::Index>(last - first);
      const auto from = static_cast<Eigen::Index>(first);
      values.segment(from, count) = end.values.segment(from, count);
      if (values == best.values) continue;
      const double mixed_cost = cost(values);
      if (!(mixed_cost < best.cost)) continue;
      best.values = values;
      best.cost = mixed_cost;
      mixed = true;
    }
    first = last;
  }
  if (mixed) best = searchConstants(cost, best.values, options);
  for (const SearchResult& end : ends) best.iterations += end.iterations;
  return best;
}

/// Values, deviations and bounds into the result, and the words.
void finishResult(const Model& model, const FrictionCost& cost, const SearchResult& found,
                  SeparableFriction* result) {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd normal;
  cost(found.values, &gradient, &normal);
  const auto free =
      static_cast<double>(std::max<Eigen::Index>(cost.rows() - cost.linearUnknowns(), 1));
  for (size_t k = 0; k < cost.constants().size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    FrictionConstant c = cost.constants()[k];
    c.value = found.values[i];
    const double span = toSearch(c, c.high) - toSearch(c, c.low);
    const double place = toSearch(c, c.value) - toSearch(c, c.low);
    c.at_bound = place < 1e-6 * span || place > (1.0 - 1e-6) * span;
    // with the other constants of the joint known as badly as they are
    Eigen::MatrixXd own = normal;
    Eigen::VectorXd unit = Eigen::VectorXd::Unit(normal.rows(), i);
    for (Eigen::Index o = 0; o < own.rows(); ++o) {
      if (own(o, o) > 0.0) continue;
      own(o, o) = o == i ? 0.0 : 1.0;
    }
    const double variance = own(i, i) > 0.0 ? own.ldlt().solve(unit)[i] : -1.0;
    c.sigma = variance > 0.0 ? std::sqrt(variance * found.cost / free)
                             : std::numeric_limits<double>::infinity();
    const std::string name = fmt::format("{} of {} at {}", c.exponent ? "exponent" : "scale",
                                         inQuotes(termOf(model, c).name),
                                         inQuotes(model.joints[static_cast<size_t>(c.joint)].name));
    if (c.at_bound)
      result->notes.push_back(fmt::format("the {} ended on its bound {:.3g}", name, c.value));
    else if (c.sigma > kHardlyTold * (c.high - c.low))
      result->notes.push_back(fmt::format("the motion hardly tells the {}", name));
    result->constants.push_back(c);
  }
  result->cost += found.cost;
  result->iterations += found.iterations;
}

Eigen::VectorXd valuesOf(const std::vector<FrictionConstant>& constants) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(constants.size()));
  for (size_t k = 0; k < constants.size(); ++k)
    values[static_cast<Eigen::Index>(k)] = constants[k].value;
  return values;
}

std::vector<FrictionConstant> requiredConstants(const Model& model,
                                                const SeparableOptions& options) {
  std::vector<FrictionConstant> constants =
      options.constants.empty() ? frictionConstants(model) : options.constants;
  if (constants.empty())
    throw Error(model.name +
                ": no friction term has constants to search (arctan, power or stribeck)");
  for (const FrictionConstant& c : constants) {
    if (!(c.low < c.high) || !(c.exponent || c.low > 0.0))
      throw Error(
          fmt::format("{}: bounds {} and {} of a friction constant; expected low < high, "
                      "and scales above zero",
                      model.name, c.low, c.high));
  }
  return constants;
}

}  // namespace

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
  // an orthonormal basis of W, columns brought to one length first
  Eigen::VectorXd inverse = rows.W.colwise().norm().transpose();
  for (double& length : inverse) length = length > 0.0 ? 1.0 / length : 0.0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(rows.W * inverse.asDiagonal());
  qr.setThreshold(kFrictionRank);
  Q_ = qr.householderQ() * Eigen::MatrixXd::Identity(rows.W.rows(), qr.rank());
  Qty_ = Q_.transpose() * y_;
  for (size_t k = 0; k < constants_.size(); ++k) {
    const FrictionConstant& c = constants_[k];
    for (size_t segment = 0; segment < segments_.size(); ++segment) {
      if (segments_[segment].joint != c.joint) continue;
      const bool again = !terms_.empty() && terms_.back().segment == segment &&
                         terms_.back().term.name == termOf(model, c).name;
      if (!again) {
        Term term;
        term.friction = model.joints[static_cast<size_t>(c.joint)].friction;
        term.term = termOf(model, c);
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
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(size.cwiseInverse().asDiagonal() *
                                                             p.S.topLeftCorner(t, t) *
                                                             size.cwiseInverse().asDiagonal());
  Eigen::VectorXd inverse = eigen.eigenvalues();
  for (double& value : inverse) value = value > kOwnPart ? 1.0 / value : 0.0;
  const Eigen::MatrixXd vectors = size.cwiseInverse().asDiagonal() * eigen.eigenvectors();
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
  const StackedProblem& stacked = problem.stacked;
  std::vector<int> linear;  // places in stacked.columns
  for (size_t c = 0; c < stacked.columns.size(); ++c) {
    const ParameterInfo& info = (*problem.layout)[stacked.columns[c]];
    const bool searched =
        std::any_of(constants.begin(), constants.end(), [&](const FrictionConstant& constant) {
          return info.kind == ParameterKind::kFriction && info.joint == constant.joint &&
                 info.component == constant.term;
        });
    if (!searched) linear.push_back(stacked.columns[c]);
  }
  // samples that are looked at: every n-th
  struct Chosen {
    const MotionData* data;
    Eigen::Index step;
  };
  std::vector<Chosen> chosen;
  for (const MotionData& data : problem.data)
    chosen.push_back({&data, std::max<Eigen::Index>(1, data.samples() / kEnoughFrictionSamples)});
  FrictionRows rows;
  Eigen::Index total = 0;
  const auto counts = [&](const Chosen& c, Eigen::Index i, Eigen::Index j) {
    return i % c.step == 0 && c.data->use(i, j) && std::isfinite(sigma[j]);
  };
  for (const Chosen& c : chosen) {
    for (Eigen::Index j = 0; j < c.data->use.cols(); ++j) {
      for (Eigen::Index i = 0; i < c.data->samples(); ++i) total += counts(c, i, j);
    }
  }
  rows.W.setZero(total, static_cast<Eigen::Index>(linear.size()));
  rows.y.resize(total);
  std::vector<std::vector<double>> speeds(static_cast<size_t>(tree.velocityCount())),
      weights = speeds;
  std::vector<Eigen::Index> next(speeds.size() + 1, 0);
  for (size_t j = 0; j < speeds.size(); ++j) {
    next[j + 1] = next[j];
    for (const Chosen& c : chosen) {
      for (Eigen::Index i = 0; i < c.data->samples(); ++i)
        next[j + 1] += counts(c, i, static_cast<Eigen::Index>(j));
    }
  }
  const std::vector<Eigen::Index> first = next;
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), problem.layout->size());
  for (const Chosen& c : chosen) {
    forEachBatch(tree, *problem.layout, *c.data, 0, c.data->samples(), workspace, batch,
                 [&](Eigen::Index start, Eigen::Index count, RegressorBatch& regressor) {
                   for (size_t j = 0; j < speeds.size(); ++j) {
                     const auto column = static_cast<Eigen::Index>(j);
                     const auto Y = regressor.rows(column, count);
                     for (Eigen::Index i = 0; i < count; ++i) {
                       if (!counts(c, start + i, column)) continue;
                       const double weight = c.data->weight / sigma[column];
                       const Eigen::Index row = next[j]++;
                       for (size_t l = 0; l < linear.size(); ++l)
                         rows.W(row, static_cast<Eigen::Index>(l)) = weight * Y(i, linear[l]);
                       rows.y[row] = weight * c.data->tau(start + i, column);
                       speeds[j].push_back(c.data->v(start + i, column));
                       weights[j].push_back(weight);
                     }
                   }
                 });
  }
  for (size_t joint = 0; joint < tree.model().joints.size(); ++joint) {
    const Joint& declared = tree.model().joints[joint];
    const int j = tree.velocityIndex(static_cast<int>(joint));
    if (j < 0 || velocityCount(declared.type) != 1) continue;
    const auto ju = static_cast<size_t>(j);
    const auto count = static_cast<Eigen::Index>(speeds[ju].size());
    FrictionRows::Segment segment;
    segment.joint = static_cast<int>(joint);
    segment.start = first[ju];
    segment.velocity =
        declared.mimic_ratio * Eigen::Map<const Eigen::VectorXd>(speeds[ju].data(), count);
    segment.weight =
        declared.mimic_ratio * Eigen::Map<const Eigen::VectorXd>(weights[ju].data(), count);
    rows.segments.push_back(std::move(segment));
  }
  return rows;
}

SeparableFriction separableFriction(const IdentificationProblem& problem,
                                    const Eigen::VectorXd& sigma, const SeparableOptions& options) {
  const Model& model = problem.tree->model();
  const std::vector<FrictionConstant> constants = requiredConstants(model, options);
  const FrictionCost cost(model, frictionRows(problem, sigma, constants), constants);
  SeparableFriction result;
  result.cost_before = cost(valuesOf(constants));
  finishResult(model, cost, searchFromMany(cost, options), &result);
  return result;
}

SeparableFriction sharedFrictionGrid(const IdentificationProblem& problem,
                                     const Eigen::VectorXd& sigma, double scale_step,
                                     double exponent_step) {
  constexpr double kLargestScale = 10.0, kLowestExponent = 1.5, kHighestExponent = 2.5;
  const Model& model = problem.tree->model();
  std::vector<FrictionConstant> constants = requiredConstants(model, {});
  const FrictionCost cost(model, frictionRows(problem, sigma, constants), constants);
  Eigen::VectorXd values = valuesOf(constants);
  SeparableFriction result;
  SearchResult best;
  best.values = values;
  best.cost = result.cost_before = cost(values);
  const auto scan = [&](FrictionTermKind kind, bool exponent, double low, double high,
                        double step) {
    values = best.values;
    const auto count = static_cast<int>(std::floor((high - low) / step + 1e-9));
    for (int i = 0; i <= count; ++i) {
      for (size_t k = 0; k < constants.size(); ++k) {
        if (constants[k].exponent == exponent && termOf(model, constants[k]).kind == kind)
          values[static_cast<Eigen::Index>(k)] = low + i * step;
      }
      const double here = cost(values);
      ++best.iterations;
      if (!(here < best.cost)) continue;
      best.cost = here;
      best.values = values;
    }
  };
  scan(FrictionTermKind::kArctan, false, scale_step, kLargestScale, scale_step);
  scan(FrictionTermKind::kPower, true, kLowestExponent, kHighestExponent, exponent_step);
  finishResult(model, cost, best, &result);
  return result;
}

namespace {

/// The samples of one joint moving alone at constant speed; what friction leaves of the torque.
FrictionRows sweepRows(const IdentificationProblem& problem, const Eigen::VectorXd& rigid,
                       int joint, double acceleration_limit,
                       const std::vector<FrictionConstant>& constants) {
  const Tree& tree = *problem.tree;
  const Joint& declared = tree.model().joints[static_cast<size_t>(joint)];
  const Eigen::Index j = tree.velocityIndex(joint);
  std::vector<double> speeds, torques;
  for (const MotionData& data : problem.data) {
    const Eigen::MatrixXd known = predictTorques(tree, *problem.layout, rigid, data);
    for (Eigen::Index i = 0; i < data.samples(); ++i) {
      if (!data.use(i, j) || std::abs(data.a(i, j)) > acceleration_limit) continue;
      Eigen::VectorXd others = data.v.row(i).transpose().cwiseAbs();
      others[j] = 0.0;
      const double speed = std::abs(data.v(i, j));
      if (speed == 0.0 || others.maxCoeff() > kOthersRest * speed) continue;
      speeds.push_back(declared.mimic_ratio * data.v(i, j));
      torques.push_back(data.tau(i, j) - known(i, j));
    }
  }
  const auto count = static_cast<Eigen::Index>(speeds.size());
  if (count < kFewestSweepRows)
    throw Error(fmt::format(
        "joint {}: {} samples at constant speed with the other joints at rest; expected at least "
        "{} (record a friction sweep of this joint)",
        inQuotes(declared.name), count, kFewestSweepRows));
  FrictionRows rows;
  FrictionRows::Segment segment;
  segment.joint = joint;
  segment.velocity = Eigen::Map<const Eigen::VectorXd>(speeds.data(), count);
  segment.weight = Eigen::VectorXd::Constant(count, declared.mimic_ratio);
  rows.y = Eigen::Map<const Eigen::VectorXd>(torques.data(), count);
  const std::vector<FrictionTerm>& terms = declared.friction.terms;
  for (size_t t = 0; t < terms.size(); ++t) {
    const bool searched =
        std::any_of(constants.begin(), constants.end(), [&](const FrictionConstant& c) {
          return c.joint == joint && c.term == static_cast<int>(t);
        });
    if (searched) continue;
    rows.W.conservativeResize(count, rows.W.cols() + 1);
    for (Eigen::Index i = 0; i < count; ++i)
      rows.W(i, rows.W.cols() - 1) =
          segment.weight[i] * frictionBasis(declared.friction, terms[t], segment.velocity[i]);
  }
  if (rows.W.cols() == 0) rows.W.resize(count, 0);
  rows.segments.push_back(std::move(segment));
  return rows;
}

}  // namespace

SeparableFriction constantSpeedFriction(const IdentificationProblem& problem,
                                        const Eigen::VectorXd& chi, double acceleration_limit,
                                        const SeparableOptions& options) {
  const Model& model = problem.tree->model();
  const std::vector<FrictionConstant> constants = requiredConstants(model, options);
  Eigen::VectorXd rigid = chi;
  for (int p = 0; p < problem.layout->size(); ++p) {
    if ((*problem.layout)[p].kind == ParameterKind::kFriction) rigid[p] = 0.0;
  }
  SeparableFriction result;
  for (size_t first = 0; first < constants.size();) {
    std::vector<FrictionConstant> own;
    const int joint = constants[first].joint;
    for (; first < constants.size() && constants[first].joint == joint; ++first)
      own.push_back(constants[first]);
    const FrictionCost cost(model, sweepRows(problem, rigid, joint, acceleration_limit, own), own);
    result.cost_before += cost(valuesOf(own));
    finishResult(model, cost, searchFromMany(cost, options), &result);
  }
  return result;
}

}  // namespace proprio
