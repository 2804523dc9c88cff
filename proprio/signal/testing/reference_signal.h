#pragma once

/// The signal behind the stored reference numbers of SciPy, and how they are compared.

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

namespace proprio {

/// k = numpy.arange(120); x = sin(0.05 k) + 0.3 cos(0.4 k) + 0.01 k
inline Eigen::VectorXd referenceSignal() {
  Eigen::VectorXd x(120);
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const double t = static_cast<double>(k);
    x[k] = std::sin(0.05 * t) + 0.3 * std::cos(0.4 * t) + 0.01 * t;
  }
  return x;
}

/// Rows at which reference numbers are stored.
inline const std::vector<Eigen::Index> kReferenceRows = {0, 1, 2, 17, 60, 100, 118, 119};

inline void expectAt(const Eigen::VectorXd& y, const std::vector<Eigen::Index>& rows,
                     const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_LT(rows[i], y.size());
    EXPECT_NEAR(y[rows[i]], expected[i], tolerance) << "row " << rows[i];
  }
}

}  // namespace proprio
