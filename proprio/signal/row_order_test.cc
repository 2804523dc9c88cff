#include "proprio/signal/row_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {
namespace {

struct StateRows {
  Eigen::MatrixXd q, v;
};

/// Three joints on sums of sines, with noise of an encoder and a tachometer.
StateRows stateRows(double rate, double encoder, double tachometer) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  StateRows rows;
  const Eigen::Index n = 3000;
  rows.q.resize(n, 3);
  rows.v.resize(n, 3);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index j = 0; j < 3; ++j) {
      const double t = static_cast<double>(k) / rate, w = 2.0 + 0.7 * static_cast<double>(j);
      rows.q(k, j) = std::sin(w * t) + 0.3 * std::sin(3.1 * w * t) + encoder * normal(random);
      rows.v(k, j) =
          w * std::cos(w * t) + 0.93 * w * std::cos(3.1 * w * t) + tachometer * normal(random);
    }
  }
  return rows;
}

StateRows chosen(const StateRows& all, const std::vector<Eigen::Index>& rows) {
  return {Eigen::MatrixXd(all.q(rows, Eigen::all)), Eigen::MatrixXd(all.v(rows, Eigen::all))};
}

// Rows that are one step apart are found so, at any rate, with noise and with coarse encoders.
TEST(RowOrder, EqualSteps) {
  for (const double rate : {20.0, 100.0, 1000.0, 5000.0}) {
    const StateRows m = stateRows(rate, 1e-5, 0.01);
    const RowOrder order = rowOrder(m.q, m.v);
    EXPECT_FALSE(order.shuffled) << rate;
    EXPECT_FALSE(order.gaps()) << rate << ": " << order.unequal << " of " << order.judged;
    const Eigen::MatrixXd coarse = (m.q / 1e-3).array().round() * 1e-3;
    EXPECT_FALSE(rowOrder(coarse, m.v).gaps()) << rate;
  }
}

// A robot that rests most of the time, as between the strokes of a friction sweep, has equal steps.
// At rest a filter makes small velocities of the encoder's noise, which are no measure of time.
TEST(RowOrder, RestsBetweenStrokes) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Eigen::Index n = 20000;
  constexpr double kStep = 1e-3, kLowPass = 0.01;
  Eigen::MatrixXd q = Eigen::MatrixXd::Zero(n, 2), v = q, noise = q;
  for (Eigen::Index k = 1; k < n; ++k) {
    const Eigen::Index stroke = k / 1000;
    v(k, stroke % 2) = stroke % 8 == 0 ? 1.2 : stroke % 8 == 1 ? 0.1 : 0.0;
    q.row(k) = q.row(k - 1) + 0.5 * kStep * (v.row(k) + v.row(k - 1));
    for (Eigen::Index j = 0; j < 2; ++j) noise(k, j) = 1e-5 * normal(random);
  }
  q += noise;
  v.bottomRows(n - 1) += kLowPass / kStep * (noise.bottomRows(n - 1) - noise.topRows(n - 1));
  const RowOrder order = rowOrder(q, v);
  EXPECT_GT(order.judged, 1000);
  EXPECT_FALSE(order.gaps()) << order.unequal << " of " << order.judged;
}

// Of rows that are left out at random, about that share of the steps is unequal.
TEST(RowOrder, MissingRows) {
  const StateRows all = stateRows(100.0, 1e-5, 0.01);
  std::mt19937 random(1);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < all.q.rows(); ++k) {
    if (random() % 10 != 0) kept.push_back(k);
  }
  const StateRows m = chosen(all, kept);
  const RowOrder order = rowOrder(m.q, m.v);
  EXPECT_TRUE(order.gaps());
  ASSERT_GT(order.judged, 2000);
  EXPECT_NEAR(static_cast<double>(order.unequal) / static_cast<double>(order.judged), 0.1, 0.03);
}

// Rows in random order are as different from their neighbours as from any other row.
TEST(RowOrder, ShuffledRows) {
  const StateRows all = stateRows(100.0, 0.0, 0.0);
  std::vector<Eigen::Index> rows(static_cast<size_t>(all.q.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  std::shuffle(rows.begin(), rows.end(), std::mt19937(2));
  const StateRows m = chosen(all, rows);
  EXPECT_TRUE(rowOrder(m.q, m.v).shuffled);
  EXPECT_TRUE(rowOrder(m.q, Eigen::MatrixXd()).shuffled);
}

// Little data, rest, velocities of zero and wrong sizes say nothing, or say so.
TEST(RowOrder, Edges) {
  EXPECT_FALSE(rowOrder(Eigen::MatrixXd(0, 2), Eigen::MatrixXd()).shuffled);
  EXPECT_FALSE(rowOrder(Eigen::MatrixXd::Random(5, 2), Eigen::MatrixXd()).shuffled);
  const Eigen::MatrixXd rest = Eigen::MatrixXd::Ones(200, 2);
  EXPECT_FALSE(rowOrder(rest, Eigen::MatrixXd::Zero(200, 2)).shuffled);
  EXPECT_FALSE(rowOrder(rest, Eigen::MatrixXd::Zero(200, 2)).gaps());
  EXPECT_FALSE(rowOrder(stateRows(100.0, 0.0, 0.0).q, Eigen::MatrixXd::Zero(3000, 3)).gaps());
  EXPECT_THROW(rowOrder(rest, Eigen::MatrixXd::Zero(200, 1)), Error);
}

}  // namespace
}  // namespace proprio
