#include "proprio/signal/friction_direction.h"

#include <cmath>

namespace proprio {

namespace {

using Eigen::Index;

constexpr double kMostMixed = 0.1;  // of the friction in a row, from samples that do not tell it

}  // namespace

Eigen::MatrixXd directions(const Eigen::MatrixXd& v, const Eigen::VectorXd& slow) {
  Eigen::MatrixXd sign(v.rows(), v.cols());
  for (Index j = 0; j < v.cols(); ++j) {
    double last = 0.0, travelled = 0.0, farthest = 0.0;
    Index turn = 0;  // sample after the farthest one in the direction `last`
    for (Index k = 0; k < v.rows(); ++k) {
      const bool fast = std::abs(v(k, j)) > slow[j];
      const double now = fast ? std::copysign(1.0, v(k, j)) : last;
      if (last != 0.0 && now != last) sign.col(j).segment(turn, k - turn).setConstant(now);
      sign(k, j) = now;
      last = now;
      travelled = fast ? 0.0 : travelled + v(k, j) * last;
      if (fast || travelled > farthest) {
        farthest = travelled;
        turn = k + 1;
      }
    }
  }
  return sign;
}

Eigen::MatrixXd lateDirections(const Eigen::MatrixXd& sign, const Eigen::MatrixXd& q,
                               double travel) {
  Eigen::MatrixXd late(sign.rows(), sign.cols());
  for (Index j = 0; j < q.cols(); ++j) {
    double last = 0.0, farthest = 0.0;
    for (Index k = 0; k < q.rows(); ++k) {
      const bool turned = last == 0.0 || last * (farthest - q(k, j)) > travel;
      if (turned) last = sign(k, j);
      if (turned || last * (q(k, j) - farthest) > 0.0) farthest = q(k, j);
      late(k, j) = last;
    }
  }
  return late;
}

Mask mixedWithSlow(const Mask& fast, double shortest,
                   const std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>& filter) {
  Eigen::MatrixXd slow = Eigen::MatrixXd::Zero(fast.rows(), fast.cols());
  for (Index j = 0; j < fast.cols(); ++j) {
    for (Index first = 0, next = 0; first < fast.rows(); first = next + 1) {
      for (next = first; next < fast.rows() && !fast(next, j);) ++next;
      const Index count = next - first;
      if (static_cast<double>(count) >= shortest) slow.col(j).segment(first, count).setOnes();
    }
  }
  return fast && filter(slow).array().abs() > kMostMixed;
}

}  // namespace proprio
