// proprio_stacking_bench: 100 000 samples of a seven-axis arm with friction, all columns and the
// torques, into one triangular factor on one core, ns per sample; beside the one-sample regressor
// written into a dense matrix with Eigen's HouseholderQR, and beside Eigen's QR of [R; block] for
// blocks of 256 samples. Agreement of the factors is printed, too.

#include <fmt/format.h>
#include <sched.h>

#include <Eigen/QR>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/identification/stacked_problem.h"
#include "proprio/model/robot_reader.h"

namespace {

using namespace proprio;

constexpr Eigen::Index kSamples = 100000, kBlock = 256;

MotionData randomMotion(const Tree& tree) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(-2.0, 2.0);
  const auto fill = [&](Eigen::Index columns) {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(kSamples, columns, [&] { return value(random); }));
  };
  MotionData data;
  data.name = "random";
  data.q = fill(tree.positionCount());
  data.v = fill(tree.velocityCount());
  data.a = fill(tree.velocityCount());
  data.tau = fill(tree.velocityCount());
  data.use = Mask::Constant(kSamples, tree.velocityCount(), true);
  return data;
}

/// Rows of the samples [start, start + count), the torques last.
void fillRows(const Tree& tree, const ParameterLayout& layout, Workspace& workspace,
              const MotionData& data, Eigen::Index start, Eigen::Index count,
              Eigen::Ref<Eigen::MatrixXd> rows) {
  const Eigen::Index n = tree.velocityCount(), p = layout.size();
  Eigen::MatrixXd Y(n, p);
  for (Eigen::Index i = 0; i < count; ++i) {
    augmentedRegressor(tree, layout, workspace, data.q.row(start + i).transpose(),
                       data.v.row(start + i).transpose(), data.a.row(start + i).transpose(), Y);
    rows.block(n * i, 0, n, p) = Y;
    rows.block(n * i, p, n, 1) = data.tau.row(start + i).transpose();
  }
}

double secondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double difference(const Eigen::MatrixXd& R, const Eigen::MatrixXd& S) {
  const Eigen::MatrixXd a = R.transpose() * R, b = S.transpose() * S;
  return (a - b).norm() / b.norm();
}

}  // namespace

int main() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);

  const auto model = std::make_shared<const Model>(
      readRobot(std::string(PROPRIO_SOURCE_DIR) + "/examples/robots/iiwa14.yaml"));
  const Tree tree(model);
  const auto layout = std::make_shared<const ParameterLayout>(model);
  const MotionData data = randomMotion(tree);
  std::vector<int> columns(static_cast<size_t>(layout->size()));
  std::iota(columns.begin(), columns.end(), 0);
  const Eigen::Index n = tree.velocityCount(), p = layout->size();
  Workspace workspace(tree);

  Eigen::MatrixXd ours, dense, incremental;
  double our_seconds = 1e300, incremental_seconds = 1e300, dense_seconds = 1e300;
  for (int repetition = 0; repetition < 3; ++repetition) {
    our_seconds = std::min(our_seconds, secondsOf([&] {
                             const TriangularSystem system = weightedSystem(
                                 stack(tree, layout, columns, {data}), Eigen::VectorXd::Ones(n));
                             ours = Eigen::MatrixXd::Zero(p + 1, p + 1);
                             ours.topLeftCorner(p, p) = system.A;
                             ours.col(p).head(p) = system.b;
                             ours(p, p) = system.rest;
                           }));
    incremental_seconds = std::min(
        incremental_seconds, secondsOf([&] {
          Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(p + 1 + n * kBlock, p + 1);
          for (Eigen::Index start = 0; start < kSamples; start += kBlock) {
            const Eigen::Index count = std::min(kBlock, kSamples - start);
            fillRows(tree, *layout, workspace, data, start, count,
                     rows.middleRows(p + 1, n * count));
            Eigen::HouseholderQR<Eigen::MatrixXd> qr(rows.topRows(p + 1 + n * count));
            rows.topRows(p + 1) =
                qr.matrixQR().topRows(p + 1).triangularView<Eigen::Upper>().toDenseMatrix();
          }
          incremental = rows.topRows(p + 1);
        }));
    dense_seconds = std::min(dense_seconds, secondsOf([&] {
                               Eigen::MatrixXd rows(n * kSamples, p + 1);
                               fillRows(tree, *layout, workspace, data, 0, kSamples, rows);
                               Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> qr(rows);
                               dense = rows.topRows(p + 1).triangularView<Eigen::Upper>();
                             }));
  }
  const double each = 1e9 / static_cast<double>(kSamples);
  fmt::print("| {} samples, {} joints, {} columns | ns per sample | ratio | Gram difference |\n",
             kSamples, n, p + 1);
  fmt::print("|---|---|---|---|\n");
  fmt::print("| stacked factor | {:.0f} | 1 | 0 |\n", our_seconds * each);
  fmt::print("| Eigen QR in blocks of {} samples | {:.0f} | {:.1f}x | {:.1e} |\n", kBlock,
             incremental_seconds * each, incremental_seconds / our_seconds,
             difference(incremental, ours));
  fmt::print("| dense matrix and Eigen HouseholderQR | {:.0f} | {:.1f}x | {:.1e} |\n",
             dense_seconds * each, dense_seconds / our_seconds, difference(dense, ours));
  return 0;
}
