#include "proprio/identification/stacked_problem.h"

#include <fmt/format.h>

#include <cmath>

#include "proprio/core/parallel.h"
#include "proprio/core/text.h"
#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/identification/sensed_wrenches.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

/// A block holds at least so many samples: fewer would not fill the panels of the factor.
constexpr Eigen::Index kShortestBlock = 64;
/// But short recordings fall into this many blocks too, if each has that many samples: parameters
/// are judged on blocks that are left out, and of one block nothing would be left to learn from.
constexpr Eigen::Index kFewestBlocks = 5, kSmallestBlock = 8;

void requireSamples(const Tree& tree, const MotionData& data) {
  const Eigen::Index n = data.samples();
  const auto check = [&](const char* what, Eigen::Index rows, Eigen::Index columns,
                         Eigen::Index expected) {
    if (rows != n || columns != expected)
      throw Error(fmt::format("{}: {} is {} x {}; expected {} samples x {} coordinates of {}",
                              data.name, what, rows, columns, n, expected, tree.model().name));
  };
  check("q", data.q.rows(), data.q.cols(), tree.positionCount());
  check("v", data.v.rows(), data.v.cols(), tree.velocityCount());
  check("a", data.a.rows(), data.a.cols(), tree.velocityCount());
  check("tau", data.tau.rows(), data.tau.cols(), tree.velocityCount());
  check("use", data.use.rows(), data.use.cols(), tree.velocityCount());
  if (data.sign.cols() > 0) check("sign", data.sign.rows(), data.sign.cols(), tree.velocityCount());
  for (const auto* values : {&data.q, &data.v, &data.a, &data.tau, &data.sign}) {
    if (values->allFinite()) continue;
    for (Eigen::Index row = 0; row < n; ++row) {
      if (values->row(row).allFinite()) continue;
      throw Error(
          fmt::format("{}: sample {} has a value that is not a number; cut it off or drop "
                      "bad rows when reading",
                      data.name, row + 1));
    }
  }
}

/// Rows of one coordinate on their way into its factor.
struct RowFolder {
  StreamingQr qr;
  Eigen::Index filled = 0;
  Eigen::Index rows = 0;

  explicit RowFolder(Eigen::Index columns) : qr(columns) {}

  void flush() {
    if (filled > 0) qr.fold(filled);
    filled = 0;
  }
};

/// The rows of coordinate j in `batch` that count, folded into its factor.
class BlockFolder {
 public:
  BlockFolder(const StackedProblem& problem, const MotionData& data,
              const Eigen::ArrayXXd* row_weights)
      : problem_(problem), data_(data), row_weights_(row_weights) {
    for (const std::vector<int>& touched : problem.touch)
      folders_.emplace_back(static_cast<Eigen::Index>(touched.size()) + 1);
    picked_.reserve(static_cast<size_t>(data.samples()));
  }

  void add(Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
    for (int j = 0; j < problem_.coordinates(); ++j) addRows(j, start, count, batch);
  }

  void finish(StackedBlock* block) {
    for (RowFolder& folder : folders_) {
      folder.flush();
      block->factor.push_back(folder.qr.factor());
      block->rows.push_back(folder.rows);
    }
  }

 private:
  void addRows(int j, Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
    picked_.clear();
    for (Eigen::Index i = 0; i < count; ++i) {
      if (data_.use(start + i, j)) picked_.push_back(i);
    }
    RowFolder& folder = folders_[static_cast<size_t>(j)];
    const auto rows = batch.rows(j, count);
    for (size_t done = 0; done < picked_.size();) {
      const auto room = static_cast<size_t>(folder.qr.blockRows() - folder.filled);
      const size_t taken = std::min(room, picked_.size() - done);
      copyRows(j, start, rows, &picked_[done], static_cast<Eigen::Index>(taken), &folder);
      done += taken;
      folder.filled += static_cast<Eigen::Index>(taken);
      folder.rows += static_cast<Eigen::Index>(taken);
      if (folder.filled == folder.qr.blockRows()) folder.flush();
    }
  }

  template <class Rows>
  void copyRows(int j, Eigen::Index start, const Rows& rows, const Eigen::Index* picked,
                Eigen::Index count, RowFolder* folder) {
    const std::vector<int>& touched = problem_.touch[static_cast<size_t>(j)];
    auto block = folder->qr.block();
    const bool contiguous = picked[count - 1] - picked[0] + 1 == count;
    const auto copyColumn = [&](const double* from, Eigen::Index to_column) {
      double* to = block.col(to_column).data() + folder->filled;
      if (contiguous) {
        std::copy_n(from + picked[0], count, to);
      } else {
        for (Eigen::Index i = 0; i < count; ++i) to[i] = from[picked[i]];
      }
    };
    for (size_t c = 0; c < touched.size(); ++c) {
      const int column = problem_.columns[static_cast<size_t>(touched[c])];
      copyColumn(rows.col(column).data(), static_cast<Eigen::Index>(c));
    }
    copyColumn(data_.tau.col(j).data() + start, static_cast<Eigen::Index>(touched.size()));
    if (row_weights_ == nullptr) return;
    for (Eigen::Index i = 0; i < count; ++i)
      block.row(folder->filled + i) *= (*row_weights_)(start + picked[i], j);
  }

  const StackedProblem& problem_;
  const MotionData& data_;
  const Eigen::ArrayXXd* row_weights_;
  std::vector<RowFolder> folders_;
  std::vector<Eigen::Index> picked_;
};

std::vector<StackedBlock> blocksOf(const std::vector<MotionData>& data, int per_recording) {
  std::vector<StackedBlock> blocks;
  for (size_t r = 0; r < data.size(); ++r) {
    const Eigen::Index samples = data[r].samples();
    const Eigen::Index fewest = std::min(kFewestBlocks, samples / kSmallestBlock);
    const Eigen::Index count = std::clamp<Eigen::Index>(std::max(samples / kShortestBlock, fewest),
                                                        1, std::max(per_recording, 1));
    for (Eigen::Index k = 0; k < count; ++k) {
      StackedBlock block;
      block.recording = static_cast<int>(r);
      block.start = samples * k / count;
      block.count = samples * (k + 1) / count - block.start;
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::vector<int> chosenBlocks(const StackedProblem& problem, const std::vector<int>& only) {
  if (!only.empty()) return only;
  std::vector<int> all;
  for (size_t k = 0; k < problem.blocks.size(); ++k) all.push_back(static_cast<int>(k));
  return all;
}

}  // namespace

Eigen::Index StackedProblem::rows(int coordinate) const {
  Eigen::Index count = 0;
  for (const StackedBlock& block : blocks) count += block.rows[static_cast<size_t>(coordinate)];
  return count;
}

Eigen::Index StackedProblem::rows() const {
  Eigen::Index count = 0;
  for (int j = 0; j < coordinates(); ++j) count += rows(j);
  return count;
}

std::vector<std::vector<int>> touchedColumns(const Tree& tree, const ParameterLayout& layout,
                                             const std::vector<int>& columns) {
  const Model& model = tree.model();
  const Traversal traversal = traverse(model, tree.baseLink());
  const auto coordinates = static_cast<size_t>(tree.velocityCount());
  std::vector<std::vector<int>> touch(coordinates);
  std::vector<bool> seen(coordinates);
  const auto mark = [&](int joint) {
    const int first = joint < 0 ? -1 : tree.velocityIndex(joint);
    const int count = first < 0 ? 0 : velocityCount(model.joints[static_cast<size_t>(joint)].type);
    for (int i = 0; i < count; ++i) seen[static_cast<size_t>(first + i)] = true;
  };
  const std::vector<int> offsets = sensorsOfOffsets(layout);
  // a force-torque sensor hides what is beyond it from all rows but its own
  const auto markInwards = [&](int link, bool up_to_sensor) {
    for (; link >= 0; link = traversal.parent[static_cast<size_t>(link)]) {
      const int joint = traversal.parent_joint[static_cast<size_t>(link)];
      mark(joint);
      if (up_to_sensor && joint >= 0 && model.joints[static_cast<size_t>(joint)].sensed) return;
    }
    for (int i = 0; tree.floating() && i < 6; ++i) seen[static_cast<size_t>(i)] = true;
  };
  for (size_t c = 0; c < columns.size(); ++c) {
    const ParameterInfo& info = layout[columns[c]];
    std::fill(seen.begin(), seen.end(), false);
    if (info.kind == ParameterKind::kInertial) {
      markInwards(info.link, true);
    } else if (const int sensor = offsets[static_cast<size_t>(columns[c])]; sensor >= 0) {
      const int joint = model.sensors[static_cast<size_t>(sensor)].joint;
      mark(joint);
      markInwards(model.joints[static_cast<size_t>(joint)].first, false);
    } else if (info.kind == ParameterKind::kCoupling) {
      const CouplingColumn& coupling = model.couplings[static_cast<size_t>(info.component)];
      for (const CouplingTerm& term : coupling.terms) mark(term.joint);
    } else {
      mark(info.joint);
    }
    for (size_t j = 0; j < coordinates; ++j) {
      if (seen[j]) touch[j].push_back(static_cast<int>(c));
    }
  }
  return touch;
}

namespace {

/// Columns of dry friction as filtered torques show them: F(s), F((1 + s) / 2), F((s - 1) / 2).
void putFilteredSigns(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                      Eigen::Index first, Eigen::Index count, RegressorBatch& batch) {
  for (int p = layout.inertialSize(); p < layout.size(); ++p) {
    const ParameterInfo& info = layout[p];
    if (info.kind != ParameterKind::kFriction) continue;
    const Joint& joint = tree.model().joints[static_cast<size_t>(info.joint)];
    const int i = tree.velocityIndex(info.joint);
    if (i < 0 || joint.mimic || joint.friction.smooth_sign != SmoothSign::kSign) continue;
    auto column = batch.rows(i, count).col(p);
    const auto sign = data.sign.col(i).segment(first, count);
    if (sign.isZero(0.0)) continue;  // at rest
    switch (joint.friction.terms[static_cast<size_t>(info.component)].kind) {
      case FrictionTermKind::kCoulomb:
        column = sign;
        break;
      case FrictionTermKind::kCoulombPositive:
        column = (0.5 * (1.0 + sign.array())).matrix();
        break;
      case FrictionTermKind::kCoulombNegative:
        column = (0.5 * (sign.array() - 1.0)).matrix();
        break;
      default:
        break;
    }
  }
}

/// Blocks in which rows of this coordinate count, without those to leave out.
std::vector<int> blocksWithRows(const StackedProblem& problem, int coordinate,
                                const std::vector<int>& omit) {
  std::vector<int> blocks;
  for (int k = 0; k < static_cast<int>(problem.blocks.size()); ++k) {
    const StackedBlock& block = problem.blocks[static_cast<size_t>(k)];
    if (block.rows[static_cast<size_t>(coordinate)] > 0 &&
        std::find(omit.begin(), omit.end(), k) == omit.end())
      blocks.push_back(k);
  }
  return blocks;
}

/// Rows of a triangular factor without those that are rounding errors in all of their columns, as
/// fewer equations than unknowns leave them.
Eigen::MatrixXd tellingRows(const Eigen::MatrixXd& factor) {
  const Eigen::RowVectorXd rounding = std::numeric_limits<double>::epsilon() *
                                      static_cast<double>(factor.cols()) * factor.colwise().norm();
  std::vector<Eigen::Index> telling;
  for (Eigen::Index i = 0; i < factor.rows(); ++i) {
    if ((factor.row(i).array().abs() > rounding.array()).any()) telling.push_back(i);
  }
  return factor(telling, Eigen::all);
}

/// The factors of these blocks as one, [R z; 0 rho] with weights of the recordings: of no more rows
/// than there are equations, or columns that the coordinate touches.
Eigen::MatrixXd weightedRows(const StackedProblem& problem, int coordinate,
                             const std::vector<int>& blocks) {
  const auto j = static_cast<size_t>(coordinate);
  const auto columns = static_cast<Eigen::Index>(problem.touch[j].size()) + 1;
  std::vector<Eigen::MatrixXd> parts;
  Eigen::Index count = 0;
  for (const int k : blocks) {
    const StackedBlock& block = problem.blocks[static_cast<size_t>(k)];
    const bool few = block.rows[j] < columns;
    parts.push_back(problem.weights(block.recording, coordinate) *
                    (few ? tellingRows(block.factor[j]) : block.factor[j]));
    count += parts.back().rows();
  }
  if (count > columns) {
    StreamingQr qr(columns);
    for (const Eigen::MatrixXd& part : parts) qr.add(part);
    return qr.factor();
  }
  Eigen::MatrixXd rows(count, columns);
  for (Eigen::Index next = 0; const Eigen::MatrixXd& part : parts) {
    rows.middleRows(next, part.rows()) = part;
    next += part.rows();
  }
  return rows;
}

}  // namespace

void forEachBatch(const Tree& tree, const ParameterLayout& layout, const MotionData& data,
                  Eigen::Index start, Eigen::Index count, Workspace& workspace,
                  RegressorBatch& batch, const VisitRows& visit) {
  for (Eigen::Index done = 0; done < count;) {
    const Eigen::Index now = std::min(batch.capacity(), count - done);
    const Eigen::Index first = start + done;
    augmentedRegressorBatch(tree, layout, workspace, data.q.middleRows(first, now),
                            data.v.middleRows(first, now), data.a.middleRows(first, now), batch);
    if (data.sign.cols() > 0) putFilteredSigns(tree, layout, data, first, now, batch);
    putWrenchOffsets(tree, layout, data, first, now, batch);
    visit(first, now, batch);
    done += now;
  }
}

StackedProblem stack(const Tree& tree, const std::shared_ptr<const ParameterLayout>& layout,
                     const std::vector<int>& columns, const std::vector<MotionData>& data,
                     const StackOptions& options) {
  if (!options.row_weights.empty() && options.row_weights.size() != data.size())
    throw Error(fmt::format("row weights are given for {} recordings of {}",
                            options.row_weights.size(), data.size()));
  StackedProblem problem;
  problem.layout = layout;
  problem.columns = columns;
  problem.touch = touchedColumns(tree, *layout, columns);
  for (const MotionData& recording : data) requireSamples(tree, recording);
  problem.weights = recordingWeights(data, tree.velocityCount());
  problem.blocks = blocksOf(data, options.blocks);

  struct Scratch {
    Workspace workspace;
    RegressorBatch batch;
    Scratch(const Tree& t, Eigen::Index size)
        : workspace(t), batch(t, RegressorBatch::recommendedSamples(t), size) {}
  };
  std::vector<std::unique_ptr<Scratch>> scratch(static_cast<size_t>(workerCount()));
  parallelChunks(
      static_cast<std::ptrdiff_t>(problem.blocks.size()), 1,
      [&](std::ptrdiff_t index, std::ptrdiff_t, int worker) {
        auto& mine = scratch[static_cast<size_t>(worker)];
        if (!mine) mine = std::make_unique<Scratch>(tree, layout->size());
        StackedBlock& block = problem.blocks[static_cast<size_t>(index)];
        const auto r = static_cast<size_t>(block.recording);
        BlockFolder folder(problem, data[r],
                           options.row_weights.empty() ? nullptr : &options.row_weights[r]);
        forEachBatch(tree, *layout, data[r], block.start, block.count, mine->workspace, mine->batch,
                     [&](Eigen::Index start, Eigen::Index count, RegressorBatch& batch) {
                       folder.add(start, count, batch);
                     });
        folder.finish(&block);
      });
  return problem;
}

Eigen::MatrixXd recordingWeights(const std::vector<MotionData>& data, Eigen::Index coordinates) {
  Eigen::MatrixXd weights(static_cast<Eigen::Index>(data.size()), coordinates);
  for (size_t r = 0; r < data.size(); ++r) {
    const Eigen::Index own = data[r].joint_weights.size();
    if (own != 0 && own != coordinates)
      throw Error(fmt::format("{}: weights are given for {} coordinates of {}", data[r].name, own,
                              coordinates));
    for (Eigen::Index j = 0; j < coordinates; ++j) {
      const double weight = data[r].rowWeight(j);
      if (!(weight > 0.0) || !std::isfinite(weight))
        throw Error(fmt::format("{}: the weight of coordinate {} is {}; expected a positive number",
                                data[r].name, j + 1, weight));
      weights(static_cast<Eigen::Index>(r), j) = weight;
    }
  }
  return weights;
}

TriangularSystem weightedSystem(const StackedProblem& problem, const Eigen::VectorXd& sigma,
                                const std::vector<int>& omit) {
  if (sigma.size() != problem.coordinates())
    throw Error(fmt::format("torque noise is given for {} coordinates of {}", sigma.size(),
                            problem.coordinates()));
  const Eigen::Index n = problem.unknowns();
  StreamingQr qr(n + 1);
  TriangularSystem system;
  for (int j = 0; j < problem.coordinates(); ++j) {
    const auto ju = static_cast<size_t>(j);
    const std::vector<int> blocks = blocksWithRows(problem, j, omit);
    if (blocks.empty()) continue;
    if (!(sigma[j] > 0.0))
      throw Error(fmt::format("torque noise of coordinate {} is {}; expected a positive number",
                              j + 1, sigma[j]));
    if (std::isinf(sigma[j])) continue;
    const Eigen::MatrixXd rows = weightedRows(problem, j, blocks) / sigma[j];
    const std::vector<int>& touched = problem.touch[ju];
    Eigen::MatrixXd scattered = Eigen::MatrixXd::Zero(rows.rows(), n + 1);
    for (size_t c = 0; c < touched.size(); ++c)
      scattered.col(touched[c]) = rows.col(static_cast<Eigen::Index>(c));
    scattered.col(n) = rows.rightCols(1);
    qr.add(scattered);
    for (const int k : blocks) system.rows += problem.blocks[static_cast<size_t>(k)].rows[ju];
  }
  if (system.rows == 0) {  // nothing is known
    system.A = Eigen::MatrixXd::Zero(n, n);
    system.b = Eigen::VectorXd::Zero(n);
    return system;
  }
  const Eigen::MatrixXd& R = qr.factor();
  system.A = R.topLeftCorner(n, n).triangularView<Eigen::Upper>();
  system.b = R.col(n).head(n);
  system.rest = std::abs(R(n, n));
  return system;
}

Eigen::VectorXd squaredResiduals(const StackedProblem& problem, const Eigen::VectorXd& x,
                                 const std::vector<int>& only) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(problem.coordinates());
  for (const int k : chosenBlocks(problem, only)) {
    const StackedBlock& block = problem.blocks[static_cast<size_t>(k)];
    for (int j = 0; j < problem.coordinates(); ++j) {
      const auto ju = static_cast<size_t>(j);
      if (block.rows[ju] == 0) continue;
      const std::vector<int>& touched = problem.touch[ju];
      Eigen::VectorXd with(static_cast<Eigen::Index>(touched.size()) + 1);
      for (size_t c = 0; c < touched.size(); ++c)
        with[static_cast<Eigen::Index>(c)] = -x[touched[c]];
      with[with.size() - 1] = 1.0;
      sum[j] += (block.factor[ju].triangularView<Eigen::Upper>() * with).squaredNorm();
    }
  }
  return sum;
}

Eigen::VectorXd weightedSquares(const StackedProblem& problem, const Eigen::VectorXd& x) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(problem.coordinates());
  for (size_t k = 0; k < problem.blocks.size(); ++k) {
    const Eigen::VectorXd squares = squaredResiduals(problem, x, {static_cast<int>(k)});
    for (int j = 0; j < problem.coordinates(); ++j) {
      const double weight = problem.weights(problem.blocks[k].recording, j);
      sum[j] += weight * weight * squares[j];
    }
  }
  return sum;
}

Eigen::VectorXd squaredTorques(const StackedProblem& problem, const std::vector<int>& only) {
  return squaredResiduals(problem, Eigen::VectorXd::Zero(problem.unknowns()), only);
}

Eigen::MatrixXd predictTorques(const Tree& tree, const ParameterLayout& layout,
                               const Eigen::VectorXd& chi, const MotionData& data) {
  if (chi.size() != layout.size())
    throw Error(
        fmt::format("{} parameters are given for a layout of {}", chi.size(), layout.size()));
  requireSamples(tree, data);
  Eigen::MatrixXd tau(data.samples(), tree.velocityCount());
  std::vector<int> all(static_cast<size_t>(layout.size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const std::vector<std::vector<int>> touch = touchedColumns(tree, layout, all);
  Workspace workspace(tree);
  RegressorBatch batch(tree, RegressorBatch::recommendedSamples(tree), layout.size());
  forEachBatch(tree, layout, data, 0, data.samples(), workspace, batch,
               [&](Eigen::Index start, Eigen::Index count, RegressorBatch& rows) {
                 for (Eigen::Index j = 0; j < tau.cols(); ++j) {
                   auto out = tau.col(j).segment(start, count);
                   out.setZero();
                   const auto Y = rows.rows(j, count);
                   for (const int c : touch[static_cast<size_t>(j)]) out += chi[c] * Y.col(c);
                 }
               });
  return tau;
}

}  // namespace proprio
