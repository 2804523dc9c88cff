#pragma once

/// The regressor rows of recordings in triangular form. For every velocity coordinate j and every
/// block k of consecutive samples of one recording
///
///   [Y_j tau_j] = Q [R z; 0 rho]
///
/// with Y_j the columns that this torque can depend on (a joint sees only what it carries). One
/// pass over the samples in batches that stay in the cache, constant memory besides the samples.
/// From the factors follow, without another pass, all estimates with weights per joint and per
/// recording, their residuals per joint, recording and block, and those with blocks left out.
///
/// Blocks are worked on by several threads; their number and borders do not depend on the number
/// of threads, so neither does the result.

#include <memory>
#include <vector>

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/regressor.h"
#include "proprio/identification/motion_data.h"

namespace proprio {

struct StackedBlock {
  int recording = 0;
  Eigen::Index start = 0, count = 0;    ///< samples
  std::vector<Eigen::MatrixXd> factor;  ///< per coordinate: upper triangular, columns_j + 1
  std::vector<Eigen::Index> rows;       ///< per coordinate: rows that counted
};

struct StackedProblem {
  std::shared_ptr<const ParameterLayout> layout;
  std::vector<int> columns;             ///< parameters of the layout that are estimated
  std::vector<std::vector<int>> touch;  ///< per coordinate: places in `columns` it can depend on
  Eigen::MatrixXd weights;              ///< recording x coordinate (MotionData::rowWeight())
  std::vector<StackedBlock> blocks;

  int coordinates() const { return static_cast<int>(touch.size()); }
  int unknowns() const { return static_cast<int>(columns.size()); }
  Eigen::Index rows(int coordinate) const;  ///< of all blocks
  Eigen::Index rows() const;
};

struct StackOptions {
  int blocks = 10;  ///< per recording, fewer for short ones
  /// Weights of single rows besides `use`, per recording sample x coordinate; empty: none.
  std::vector<Eigen::ArrayXXd> row_weights;
};

/// @param columns  parameters of the layout; other parameters are taken as zero
/// @throws Error for samples that do not fit the tree, or with values that are not numbers.
StackedProblem stack(const Tree& tree, const std::shared_ptr<const ParameterLayout>& layout,
                     const std::vector<int>& columns, const std::vector<MotionData>& data,
                     const StackOptions& options = {});

/// What StackedProblem::weights are for these recordings.
/// @throws Error for weights that are not positive numbers or do not fit the coordinates.
Eigen::MatrixXd recordingWeights(const std::vector<MotionData>& data, Eigen::Index coordinates);

/// Calls visit(start, count, batch) for consecutive batches of the samples [start, start + count)
/// with their regressor rows; `batch` holds them until the next call.
using VisitRows =
    std::function<void(Eigen::Index start, Eigen::Index count, RegressorBatch& batch)>;
void forEachBatch(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                  Eigen::Index start, Eigen::Index count, Workspace& workspace,
                  RegressorBatch& batch, const VisitRows& visit);

/// Which parameters the torque of each velocity coordinate can depend on, by structure.
std::vector<std::vector<int>> touchedColumns(const Tree& tree, const ParameterLayout& layout,
                                             const std::vector<int>& columns);

/// All of it as one small problem: min |A x - b|^2 + rest^2, A upper triangular.
struct TriangularSystem {
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
  double rest = 0.0;      ///< norm of what no x explains
  Eigen::Index rows = 0;  ///< equations behind it
};

/// @param sigma  standard deviation of the torque noise per coordinate; rows are divided by it
/// @param omit   blocks to leave out (indices into problem.blocks)
/// @throws Error for another number of coordinates, or a sigma that is not positive where there are
/// rows.
TriangularSystem weightedSystem(const StackedProblem& problem, const Eigen::VectorXd& sigma,
                                const std::vector<int>& omit = {});

/// Sum of squared residuals (N m)^2 per coordinate for x in the order of problem.columns.
/// @param only  these blocks; empty: all
Eigen::VectorXd squaredResiduals(const StackedProblem& problem, const Eigen::VectorXd& x,
                                 const std::vector<int>& only = {});
/// The same of rows as they are weighted: each recording's times the square of its weight.
Eigen::VectorXd weightedSquares(const StackedProblem& problem, const Eigen::VectorXd& x);
/// Sum of squared torques per coordinate.
Eigen::VectorXd squaredTorques(const StackedProblem& problem, const std::vector<int>& only = {});

/// Torques that the parameters predict: row = sample, column = velocity coordinate.
/// @param chi  in the order of the layout
Eigen::MatrixXd predictTorques(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data);

}  // namespace proprio
