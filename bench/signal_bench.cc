// proprio_signal_bench: filters on many channels, ns per sample and channel on one core, beside a
// plain biquad loop over one column after the other. All see the same columns in turn.

#include <fmt/format.h>

#include <vector>

#include "proprio/signal/decimation.h"
#include "proprio/signal/filtering.h"
#include "timing.h"

namespace {

using proprio::DigitalFilter;
using proprio::FilterSection;
using proprio::bench::Candidate;

/// What one writes first: sample by sample through the cascade, forth and back, a column at a time.
void plainZeroPhase(const DigitalFilter& filter, const Eigen::MatrixXd& x, Eigen::MatrixXd& y) {
  std::vector<double> s1(filter.sections.size()), s2(s1.size());
  const auto step = [&](double value) {
    for (size_t i = 0; i < filter.sections.size(); ++i) {
      const FilterSection& s = filter.sections[i];
      const double out = s.b0 * value + s1[i];
      s1[i] = s.b1 * value - s.a1 * out + s2[i];
      s2[i] = s.b2 * value - s.a2 * out;
      value = out;
    }
    return value;
  };
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    std::fill(s1.begin(), s1.end(), 0.0), std::fill(s2.begin(), s2.end(), 0.0);
    for (Eigen::Index k = 0; k < x.rows(); ++k) y(k, c) = step(x(k, c));
    std::fill(s1.begin(), s1.end(), 0.0), std::fill(s2.begin(), s2.end(), 0.0);
    for (Eigen::Index k = x.rows() - 1; k >= 0; --k) y(k, c) = step(y(k, c));
  }
}

}  // namespace

int main() {
  fmt::print("| samples | channels | order | plain loop | filterZeroPhase | ratio |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const auto& [rows, columns] :
       {std::pair<Eigen::Index, Eigen::Index>{5000, 14}, {5000, 60}}) {
    for (const int order : {2, 4, 8}) {
      const Eigen::MatrixXd x = Eigen::MatrixXd::Random(rows, columns);
      Eigen::MatrixXd y(rows, columns), z;
      const DigitalFilter filter = proprio::butterworthLowpass(order, 20.0, 1000.0);
      const double samples = static_cast<double>(x.size());
      Candidate plain{"plain", [&] { plainZeroPhase(filter, x, y); }, samples};
      Candidate ours{"ours", [&] { z = filterZeroPhase(filter, x); }, samples};
      proprio::bench::timeInterleaved({&plain, &ours}, 51);
      fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.1f}x |\n", rows, columns, order,
                 plain.nanoseconds, ours.nanoseconds, plain.nanoseconds / ours.nanoseconds);
    }
  }
  // decimation of a regressor: whole, and in blocks of rows as they are made
  const Eigen::MatrixXd W = Eigen::MatrixXd::Random(20000, 60);
  Eigen::MatrixXd out;
  const double samples = static_cast<double>(W.size());
  Candidate whole{"whole", [&] { out = proprio::decimate(W, 20); }, samples};
  Candidate blocks{"blocks",
                   [&] {
                     proprio::StreamingDecimator decimator(W.cols(), 20);
                     for (Eigen::Index r = 0; r < W.rows(); r += 1000) {
                       out = decimator.add(W.middleRows(r, 1000));
                     }
                     out = decimator.finish();
                   },
                   samples};
  proprio::bench::timeInterleaved({&whole, &blocks}, 11);
  fmt::print("\ndecimation of 60 columns by 20 (order 8): {:.2f} ns whole, {:.2f} ns in blocks\n",
             whole.nanoseconds, blocks.nanoseconds);
}
