#include "proprio/identification/separable_friction.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "proprio/core/random.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

/// A constant is hardly told if its deviation is above this part of the bounds' distance.
constexpr double kHardlyTold = 0.25;
constexpr Eigen::Index kFewestSweepRows = 20;
constexpr double kOthersRest = 0.1;  // speed of other joints relative to the one that moves

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
    const std::string name = constantText(model, c);
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
  constexpr double kLargestStribeckScale = 1.0, kLowestStribeckExponent = 0.5;
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
        if (constants[k].exponent == exponent && frictionTerm(model, constants[k]).kind == kind)
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
  // scale and exponent of a Stribeck curve stand in for each other: in turn, until neither gains
  for (double before = INFINITY; best.cost < before;) {
    before = best.cost;
    scan(FrictionTermKind::kStribeck, false, scale_step, kLargestStribeckScale, scale_step);
    scan(FrictionTermKind::kStribeck, true, kLowestStribeckExponent, kHighestExponent,
         exponent_step);
  }
  finishResult(model, cost, best, &result);
  return result;
}

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
