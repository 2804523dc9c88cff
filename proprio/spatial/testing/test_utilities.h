#pragma once

#include <Eigen/Core>
#include <functional>
#include <random>

#include "proprio/spatial/inertial_parameters.h"
#include "proprio/spatial/pose.h"
#include "proprio/spatial/se3.h"

/// Random inputs and finite differences for the tests of this room; not part of the library.
namespace proprio::testing {

inline Vector3d randomVector(std::mt19937& rng, double scale = 1.0) {
  std::normal_distribution<double> normal(0.0, scale);
  const double x = normal(rng), y = normal(rng), z = normal(rng);
  return {x, y, z};
}

inline Vector6d randomVector6(std::mt19937& rng) {
  Vector6d v;
  v << randomVector(rng), randomVector(rng);
  return v;
}

inline Pose randomPose(std::mt19937& rng) {
  const Matrix3d R = rotationExp(randomVector(rng));
  return {R, randomVector(rng)};
}

/// A body made of a dozen point masses around a random centre.
inline InertialParameters randomBody(std::mt19937& rng) {
  std::uniform_real_distribution<double> mass(0.1, 1.0);
  const Vector3d centre = randomVector(rng, 0.3);
  InertialParameters body;
  for (int k = 0; k < 12; ++k) {
    const double m = mass(rng);
    const Vector3d r = centre + randomVector(rng, 0.2);
    body = body + InertialParameters::fromCom(m, r, Matrix3d::Zero());
  }
  return body;
}

/// A smooth motion X(t) that is none of the special ones (no fixed axis, no constant twist).
struct SmoothMotion {
  Vector6d a, b, c;

  static SmoothMotion random(std::mt19937& rng) {
    const Vector6d a = randomVector6(rng), b = randomVector6(rng), c = randomVector6(rng);
    return {a, b, c};
  }
  Pose operator()(double t) const {
    return poseExp(a * t + b * t * t) * poseExp(c * (1.0 + t * t * t - t));
  }
};

/// Central difference of sixth order; rounding dominates: about 1e-16 |f| / step.
template <class F>
auto derivative(const F& f, double t, double step = 5e-3) {
  auto difference = [&](double h) { return ((f(t + h) - f(t - h)) / (2.0 * h)).eval(); };
  return (1.5 * difference(step) - 0.6 * difference(2.0 * step) + 0.1 * difference(3.0 * step))
      .eval();
}

/// Columns of df/dx by central differences of sixth order.
inline Eigen::MatrixXd jacobian(const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& f,
                                const Eigen::VectorXd& x, double step = 1e-3) {
  Eigen::MatrixXd J(f(x).size(), x.size());
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(x.size(), k);
    J.col(k) = derivative([&](double s) { return f(x + s * unit); }, 0.0, step);
  }
  return J;
}

}  // namespace proprio::testing
