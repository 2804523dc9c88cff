#include "proprio/numerics/cma_es.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"

namespace proprio {
namespace {

/// Standard normal numbers by Box and Muller: the same on every machine, unlike the library's.
class Gauss {
 public:
  explicit Gauss(uint64_t seed) : random_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1.0p-53; }
  std::mt19937_64 random_;
};

/// Constants of the strategy for n coordinates (Hansen 2016, table 1).
struct Constants {
  Constants(double n, int lambda) : weights(lambda / 2) {
    const double mu = static_cast<double>(weights.size());
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      weights[i] = std::log(mu + 0.5) - std::log(static_cast<double>(i) + 1.0);
    }
    weights /= weights.sum();
    effective = 1.0 / weights.squaredNorm();
    sigma_rate = (effective + 2.0) / (n + effective + 5.0);
    damping =
        1.0 + 2.0 * std::max(0.0, std::sqrt((effective - 1.0) / (n + 1.0)) - 1.0) + sigma_rate;
    path_rate = (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n);
    rank_one = 2.0 / ((n + 1.3) * (n + 1.3) + effective);
    rank_mu = std::min(1.0 - rank_one, 2.0 * (effective - 2.0 + 1.0 / effective) /
                                           ((n + 2.0) * (n + 2.0) + effective));
    expected_norm = std::sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
    // decompositions cost n^3: only as often as C changes noticeably
    update_every = std::max(1, static_cast<int>(0.1 / ((rank_one + rank_mu) * n)));
  }
  Eigen::VectorXd weights;
  double effective, sigma_rate, damping, path_rate, rank_one, rank_mu, expected_norm;
  int update_every;
};

}  // namespace

CmaResult minimiseByCma(const std::function<double(const Eigen::VectorXd&)>& value,
                        const Eigen::VectorXd& start, double step, const CmaOptions& options,
                        const std::function<bool()>& stop) {
  const Eigen::Index n = start.size();
  if (n == 0 || !(step > 0.0)) throw Error("minimiseByCma: needs a start and a positive step");
  const double size = static_cast<double>(n);
  const int lambda =
      options.population > 3 ? options.population : 4 + static_cast<int>(3.0 * std::log(size));
  const Constants k(size, lambda);
  Gauss gauss(options.seed);
  CmaResult best;
  best.x = start;
  best.value = value(start);
  best.evaluations = 1;
  Eigen::VectorXd mean = start, D = Eigen::VectorXd::Ones(n);
  Eigen::VectorXd sigma_path = Eigen::VectorXd::Zero(n), path = sigma_path;
  Eigen::MatrixXd B = Eigen::MatrixXd::Identity(n, n), C = B, y(n, lambda), z(n, lambda);
  std::vector<double> values(static_cast<size_t>(lambda));
  std::vector<int> order(static_cast<size_t>(lambda));
  double sigma = step;
  for (int g = 0; g < options.generations && !(best.value <= options.target); ++g) {
    for (int i = 0; i < lambda; ++i) {
      for (double& x : z.col(i)) x = gauss();
      y.col(i) = B * D.cwiseProduct(z.col(i));
      const Eigen::VectorXd x = mean + sigma * y.col(i);
      double f = value(x);
      if (std::isnan(f)) f = std::numeric_limits<double>::infinity();
      values[static_cast<size_t>(i)] = f;
      if (f < best.value || std::isnan(best.value)) {
        best.value = f;
        best.x = x;
      }
    }
    best.evaluations += lambda;
    best.generations = g + 1;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return values[static_cast<size_t>(a)] < values[static_cast<size_t>(b)];
    });
    Eigen::VectorXd y_mean = Eigen::VectorXd::Zero(n), z_mean = y_mean;
    for (Eigen::Index i = 0; i < k.weights.size(); ++i) {
      y_mean += k.weights[i] * y.col(order[static_cast<size_t>(i)]);
      z_mean += k.weights[i] * z.col(order[static_cast<size_t>(i)]);
    }
    mean += sigma * y_mean;
    // paths: how far the mean went in the same direction
    sigma_path = (1.0 - k.sigma_rate) * sigma_path +
                 std::sqrt(k.sigma_rate * (2.0 - k.sigma_rate) * k.effective) * (B * z_mean);
    const double norm = sigma_path.norm();
    const double fading = 1.0 - std::pow(1.0 - k.sigma_rate, 2.0 * (g + 1));
    const bool steady = norm / std::sqrt(fading) < (1.4 + 2.0 / (size + 1.0)) * k.expected_norm;
    path *= 1.0 - k.path_rate;
    if (steady) path += std::sqrt(k.path_rate * (2.0 - k.path_rate) * k.effective) * y_mean;
    const double lost = steady ? 0.0 : k.rank_one * k.path_rate * (2.0 - k.path_rate);
    C *= 1.0 - k.rank_one - k.rank_mu + lost;
    C.noalias() += k.rank_one * path * path.transpose();
    for (Eigen::Index i = 0; i < k.weights.size(); ++i) {
      const auto chosen = y.col(order[static_cast<size_t>(i)]);
      C.noalias() += k.rank_mu * k.weights[i] * chosen * chosen.transpose();
    }
    sigma *= std::exp(k.sigma_rate / k.damping * (norm / k.expected_norm - 1.0));
    if ((g + 1) % k.update_every == 0) {
      const SymmetricEigen eigen = symmetricEigen(C);
      B = eigen.vectors;
      D = eigen.values.cwiseMax(1e-20).cwiseSqrt();
    }
    if (stop && stop()) break;
  }
  return best;
}

}  // namespace proprio
