#include "proprio/spatial/inertia_metric.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "proprio/core/error.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/spd_geometry.h"

namespace proprio {
namespace {

using Eigen::Matrix4d;

Eigen::LLT<Matrix4d> factorised(const InertialParameters& body, const char* role) {
  const Matrix4d D = pseudoInertia(body);
  Eigen::LLT<Matrix4d> llt(D);
  if (llt.info() != Eigen::Success || !D.allFinite()) {
    throw Error(
        fmt::format("inertia: the pseudo-inertia of the {} (mass {} kg) is not positive "
                    "definite; repair it first",
                    role, body.mass));
  }
  return llt;
}

Matrix4d basis(Eigen::Index k) {
  return pseudoInertia(InertialParameters::fromVector(Vector10d::Unit(k)));
}

}  // namespace

double inertiaDistance(const InertialParameters& a, const InertialParameters& b) {
  return spdDistance(pseudoInertia(a), pseudoInertia(b));
}

double inertiaDistance(std::span<const InertialParameters> a,
                       std::span<const InertialParameters> b) {
  if (a.size() != b.size()) {
    throw Error(
        fmt::format("inertia: one robot has {} links, the other {}; a distance needs equal "
                    "numbers",
                    a.size(), b.size()));
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double d = inertiaDistance(a[k], b[k]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

double inertiaDivergence(const InertialParameters& body, const InertialParameters& reference) {
  return entropicDivergence(pseudoInertia(body), pseudoInertia(reference));
}

Vector10d inertiaDivergenceGradient(const InertialParameters& body,
                                    const InertialParameters& reference) {
  const Matrix4d identity = Matrix4d::Identity();
  const Matrix4d difference = factorised(reference, "reference body").solve(identity) -
                              factorised(body, "body").solve(identity);
  Vector10d gradient;
  for (Eigen::Index k = 0; k < 10; ++k) gradient[k] = basis(k).cwiseProduct(difference).sum();
  return gradient;
}

Matrix10d pullbackMetric(const InertialParameters& reference) {
  // with B_i = L^-1 V_i L^-T the metric is the Gram matrix of the B_i: definite by form
  const auto llt = factorised(reference, "reference body");
  Eigen::Matrix<double, 16, 10> B;
  for (Eigen::Index k = 0; k < 10; ++k) {
    const Matrix4d left = llt.matrixL().solve(basis(k));
    const Matrix4d both = llt.matrixL().solve(left.transpose().eval());
    B.col(k) = both.reshaped();
  }
  return B.transpose() * B;
}

}  // namespace proprio
