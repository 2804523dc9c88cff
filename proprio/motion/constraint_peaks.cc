#include "proprio/motion/constraint_peaks.h"

#include <algorithm>
#include <cmath>

#include "proprio/numerics/golden_section.h"

namespace proprio {
namespace {

// Usage from which distances are exact: 50 mm beyond the clearance.
constexpr double kNearUsage = 0.5;
// 2 intervals * 0.618^16 is a thousandth of one
constexpr int kSections = 16;

class PeakSearch {
 public:
  PeakSearch(const MotionConstraints& constraints, const Trajectory& motion, int samples)
      : constraints_(constraints),
        motion_(motion),
        samples_(samples),
        q_(motion.size()),
        v_(motion.size()),
        a_(motion.size()) {}

  std::vector<ConstraintPeak> run(double above, bool first) {
    const Eigen::MatrixXd usage = onGrid();
    std::vector<ConstraintPeak> peaks;
    for (int c = 0; c < usage.cols(); ++c) {
      for (Eigen::Index k = 0; k <= samples_; ++k) {
        if (!mayPass(usage.col(c), k, above)) continue;
        const ConstraintPeak peak = highest(c, k, usage(k, c));
        if (peak.usage <= above) continue;
        peaks.push_back(peak);
        if (first) return peaks;
      }
    }
    return peaks;
  }

 private:
  double timeOf(Eigen::Index k) const {
    return motion_.duration() * static_cast<double>(std::clamp<Eigen::Index>(k, 0, samples_)) /
           static_cast<double>(samples_);
  }

  Eigen::MatrixXd onGrid() {
    Eigen::MatrixXd q(samples_ + 1, motion_.size()), v(q), a(q);
    for (Eigen::Index k = 0; k <= samples_; ++k) {
      motion_.at(timeOf(k), q_, v_, a_);
      q.row(k) = q_.transpose();
      v.row(k) = v_.transpose();
      a.row(k) = a_.transpose();
    }
    Eigen::MatrixXd usage = constraints_.usage(q, v, a, kNearUsage);
    for (Eigen::Index c = 0; c < usage.cols(); ++c) {
      const MotionConstraint& constraint = constraints_.list()[static_cast<size_t>(c)];
      for (double& u : usage.col(c)) u = constraint.measure(u);
    }
    return usage;
  }

  // a local maximum whose surroundings rise fast enough
  bool mayPass(const Eigen::Ref<const Eigen::VectorXd>& usage, Eigen::Index k, double above) const {
    const auto near = [&](Eigen::Index i) {
      return usage[std::clamp<Eigen::Index>(i, 0, samples_)];
    };
    if (usage[k] < near(k - 1) || usage[k] < near(k + 1)) return false;
    double rise = 0.0;
    for (Eigen::Index i = k - 2; i < k + 2; ++i)
      rise = std::max(rise, std::abs(near(i + 1) - near(i)));
    return !(usage[k] + rise <= above);
  }

  // the usage of constraint c
  double at(int c, double time) {
    motion_.at(time, q_, v_, a_);
    constraints_.evaluate({c}, q_, v_, a_, 0, usage_);
    return constraints_.list()[static_cast<size_t>(c)].measure(usage_[0]);
  }

  // between the neighbours of a sample
  ConstraintPeak highest(int c, Eigen::Index k, double usage) {
    const auto [time, between] =
        goldenMaximum(timeOf(k - 1), timeOf(k + 1), kSections, [&](double t) { return at(c, t); });
    return between > usage ? ConstraintPeak{c, between, time} : ConstraintPeak{c, usage, timeOf(k)};
  }

  const MotionConstraints& constraints_;
  const Trajectory& motion_;
  Eigen::Index samples_;
  Eigen::VectorXd q_, v_, a_, usage_ = Eigen::VectorXd(1);
};

}  // namespace

std::vector<ConstraintPeak> constraintPeaks(const MotionConstraints& constraints,
                                            const Trajectory& motion, int samples, double above,
                                            bool first) {
  return PeakSearch(constraints, motion, samples).run(above, first);
}

}  // namespace proprio
