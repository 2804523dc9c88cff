#pragma once

/// What the dynamics functions take besides a tree and a state:
///   CompiledParameters  inertias moved into the tree's body frames, and rotor inertias; a value,
///   swappable Workspace           scratch of one thread for one tree; all memory is allocated in
///   the constructor
///
/// Wherever q, v, a, tau appear: sizes and order as documented in model/tree.h; base coordinates of
/// a floating base are position and quaternion in the world, body (left-trivialised) twist and its
/// plain time derivative, body wrench.

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "proprio/dynamics/kernels/kernels.h"
#include "proprio/model/parameters.h"
#include "proprio/model/tree.h"

namespace proprio {

using VectorRef = Eigen::Ref<Eigen::VectorXd>;
using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;
using MatrixRef = Eigen::Ref<Eigen::MatrixXd>;
using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd>;

/// One external wrench (f, n) per link, column = link index: acts on the link, given at the
/// link-frame origin in link axes.
using LinkWrenches = Eigen::Matrix<double, 6, Eigen::Dynamic>;

/// The same for many samples, on those links that have any: row = sample, six columns
/// fx fy fz nx ny nz for each of `links`. A link may stand there twice: its wrenches add up.
struct BatchWrenches {
  std::span<const int> links;
  ConstMatrixRef values;
};

template <class T>
struct CompiledParametersOf {
  std::vector<kernels::Inertia<T>> bodies;  ///< per body, in body coordinates
  std::vector<T> rotor;                     ///< per full velocity coordinate
  bool has_rotor = false;
  const T* rotorOrNull() const { return has_rotor ? rotor.data() : nullptr; }
};
using CompiledParameters = CompiledParametersOf<double>;

CompiledParameters compileParameters(const Tree& tree, const Parameters& parameters);
CompiledParametersOf<Dual> compileParameters(const Tree& tree,
                                             const ParametersOf<Dual>& parameters);
/// Real-time: the same into existing memory of the same tree.
void compileParameters(const Tree& tree, const Parameters& parameters,
                       CompiledParameters* compiled);

/// 64-byte aligned memory of doubles.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t doubles = 0);
  double* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(double* p) const;
  };
  std::unique_ptr<double, Free> data_;
};

class Workspace {
 public:
  explicit Workspace(const Tree& tree);

  // for the implementation of the dynamics functions
  const kernels::Tree& kernelTree() const { return tree_; }
  /// The same bodies without gravity.
  kernels::Tree weightlessTree() const;
  double* scratch() { return scratch_.data(); }
  const int* rowOf() const { return row_of_.data(); }
  /// Runs of entries M(first .. first + count - 1, column) = 0 whatever the state: coordinates on
  /// different branches.
  struct ZeroRun {
    int column, first, count;
  };
  const std::vector<ZeroRun>& structuralZeros() const { return structural_zeros_; }
  /// Room for one more set of full coordinates of `lanes` samples: q, v, a or tau, output.
  double* fullPosition() { return full_q_.data(); }
  double* fullVelocity() { return full_v_.data(); }
  double* fullAcceleration() { return full_a_.data(); }
  double* fullTorque() { return full_tau_.data(); }
  /// Room for kMaxLanes full mass matrices.
  double* fullMatrix() { return full_matrix_.data(); }
  /// Room for kMaxLanes full regressors.
  double* fullRegressor() { return full_regressor_.data(); }
  /// Room for kMaxLanes sets of link poses.
  double* widePoses() { return wide_poses_.data(); }
  /// Room for the wrenches on all bodies, for kMaxLanes samples; and on all links, for one.
  double* external() { return external_.data(); }
  LinkWrenches& linkWrenches() { return link_wrenches_; }
  /// velocityCount() x size of the model's parameter layout.
  Eigen::MatrixXd& regressor() { return regressor_; }
  /// For the mass matrix: velocity coordinates, parents first, and for each one the next towards
  /// the root (-1 at the root). Where joints mimic others all coordinates are related: one chain.
  const std::vector<int>& coordinateOrder() const { return coordinate_order_; }
  const std::vector<int>& coordinateUp() const { return coordinate_up_; }
  /// A right-hand side of three square matrices side by side: its columns (a multiple of the
  /// lanes), the distance of its rows (not a power of two, which would share few sets of the
  /// cache), and room for it.
  Eigen::Index solveColumns() const { return solve_columns_; }
  Eigen::Index solveStride() const { return solve_columns_ + 8; }
  double* solveRows() { return solve_rows_.data(); }
  Eigen::MatrixXd& square() { return square_; }
  Eigen::VectorXd& column() { return column_; }

 private:
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void fillCoordinateOrder(const Tree& tree);

  static constexpr int kMaxLanes = 4;
  std::vector<kernels::Body> bodies_;
  kernels::Tree tree_;
  std::vector<int> row_of_;
  std::vector<ZeroRun> structural_zeros_;
  std::vector<int> coordinate_order_, coordinate_up_;
  Eigen::Index solve_columns_ = 0;
  AlignedBuffer solve_rows_;
  AlignedBuffer scratch_, full_q_, full_v_, full_a_, full_tau_, full_matrix_, full_regressor_,
      external_, wide_poses_;
  LinkWrenches link_wrenches_;
  Eigen::MatrixXd square_, regressor_;
  Eigen::VectorXd column_;
};

/// @throws Error that names the function, the argument and both sizes.
[[noreturn]] void sizeError(const char* function, const char* argument, Eigen::Index found,
                            Eigen::Index expected);
inline void requireSize(const char* function, const char* argument, Eigen::Index found,
                        Eigen::Index expected) {
  if (found != expected) sizeError(function, argument, found, expected);
}

}  // namespace proprio
