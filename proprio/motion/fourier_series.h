#pragma once

/// Periodic motions as finite Fourier series. For each joint, with w = 2 pi / period and the
/// harmonics l = 1 .. L,
///   q(t) = offset + sum_l  a_l / (w l) sin(w l t) - b_l / (w l) cos(w l t)
///   v(t) =          sum_l  a_l cos(w l t) + b_l sin(w l t)
///   a(t) =          sum_l -a_l w l sin(w l t) + b_l w l cos(w l t)
/// so that a_l and b_l are velocity amplitudes. The motion starts, and because it is periodic also
/// ends, at rest at the position s exactly if
///   offset - sum_l b_l / (w l) = s,   sum_l a_l = 0,   sum_l l b_l = 0.
/// The band is limited: no frequency above L / period, which makes filtering and differentiation
/// exact in the frequency domain.
/// Source: Swevers et al. 1997; Leboutet 2022 section 5.2.2 (L-12), Ardiani 2023 section 1.10
///

#include <cstdint>

#include "proprio/motion/trajectory.h"

namespace proprio {

struct FourierSeries final : Trajectory {
  double period = 10.0;    ///< s
  int repeats = 1;         ///< the motion lasts so many periods
  Eigen::VectorXd offset;  ///< per joint: mean position
  Eigen::MatrixXd a, b;    ///< row = joint, column l - 1 = harmonic l; rad/s (m/s if prismatic)

  FourierSeries() = default;
  /// All coefficients zero.
  FourierSeries(int joints, int harmonics, double period_seconds);

  int harmonics() const { return static_cast<int>(a.cols()); }
  double baseFrequency() const;  ///< w in rad/s

  int size() const override { return static_cast<int>(offset.size()); }
  double duration() const override { return repeats * period; }
  void at(double t, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v,
          Eigen::Ref<Eigen::VectorXd> acceleration) const override;
  /// The whole is smooth; the pieces are as long as the shortest wave.
  std::vector<double> breaks() const override;

  /// The coefficients of each joint as a column x = (offset, a_1 .. a_L, b_1 .. b_L).
  Eigen::MatrixXd coefficients() const;
  /// The series of such columns. @throws Error if the number of rows is not odd.
  static FourierSeries fromCoefficients(const Eigen::Ref<const Eigen::MatrixXd>& columns,
                                        double period);
};

/// @throws Error that says what is wrong: sizes that differ, a number that is not finite, a period
/// or repeats that are not positive.
void checkSeries(const FourierSeries& series);

/// q, v and a of one joint at the times as matrices times x = (offset, a, b), 2 L + 1 columns.
MotionBasis fourierBasis(double period, int harmonics, const Eigen::VectorXd& times);

/// Coefficients at rest at both ends: columns N (2 L + 1 by 2 L - 2) such that
/// x = (s, 0, ..., 0) + N z starts and ends at rest at s for every z, and every x that does so is
/// one of these. The a and b parts of N have orthonormal columns. Without columns for L = 1: a
/// single harmonic cannot start at rest.
Eigen::MatrixXd fourierRestBasis(double period, int harmonics);

/// The same as equations: matrix x = right_side for one joint, rows q(0) = start, v(0) = 0,
/// acceleration(0) = 0 (the latter divided by w).
struct FourierRestEquations {
  Eigen::MatrixXd matrix;      ///< 3 by 2 L + 1
  Eigen::Vector3d right_side;  ///< (start, 0, 0)
};
FourierRestEquations fourierRestEquations(double period, int harmonics, double start);

/// The series whose coefficients a, b are nearest to those given and that starts and ends at rest
/// at `start` (one position per joint).
FourierSeries startingAtRest(FourierSeries series, const Eigen::VectorXd& start);

/// Uniform coefficients within [-amplitude, amplitude] rad/s, then startingAtRest(start). The same
/// seed gives the same motion on every machine. @throws Error for fewer than two harmonics.
FourierSeries randomFourierSeries(const Eigen::VectorXd& start, int harmonics, double period,
                                  uint64_t seed, double amplitude = 1.0);

}  // namespace proprio
