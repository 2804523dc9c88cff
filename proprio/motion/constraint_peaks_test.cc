#include "proprio/motion/constraint_peaks.h"

#include <gtest/gtest.h>

#include "proprio/model/testing/bundled_robot.h"
#include "proprio/motion/excitation_design.h"
#include "proprio/motion/random_motion.h"

namespace proprio {
namespace {

// Torques, planes and distances of a fast motion: the peak that a coarse grid finds between its
// samples is that of a grid 400 times finer, and above what the coarse samples themselves show.
TEST(ConstraintPeaks, BetweenSamplesAsOnAFineGrid) {
  const auto model = sharedBundledRobot("tx40_urdf.yaml");
  const auto tree = std::make_shared<const Tree>(model);
  CollisionOptions boxes;
  boxes.self = false;
  boxes.environment = {{"post", {Matrix3d::Identity(), {0.5, 0.0, 0.6}}, {0.2, 0.2, 1.4}}};
  int between = 0, checked = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    ConstraintOptions options;
    if (seed % 3 == 1) options.workspace = {workspaceLimitOf(*model, "flange z > 0.6")};
    if (seed % 3 == 2) options.collisions = std::make_shared<const RobotCollisions>(tree, boxes);
    // alone, so that the peak is theirs
    MotionLimits limits = limitsOf(*model, motionJoints(*model));
    const FourierSeries motion =
        randomFourierWithin(Eigen::VectorXd::Zero(limits.size()), 5, 4.0, seed, limits);
    limits.lower.setConstant(-std::numeric_limits<double>::infinity());
    limits.upper = -limits.lower;
    limits.velocity = limits.acceleration = limits.upper;
    if (seed % 3 == 0)
      limits.effort *= 0.1;
    else
      limits.effort = limits.upper;
    options.limits = limits;
    options.joints = limits.joints;
    const MotionConstraints constraints(tree, declaredParameters(model), options);
    constexpr int kSamples = 100, kFiner = 400;
    const GridSamples coarse = onGrid(motion, kSamples), fine = onGrid(motion, kSamples * kFiner);
    constexpr double kExact = -1000.0;
    const double on_grid =
        constraints.usage(coarse.q, coarse.v, coarse.a, kExact).cwiseAbs().maxCoeff();
    const Eigen::MatrixXd usage = constraints.usage(fine.q, fine.v, fine.a, kExact);
    double truth = 0.0;
    for (Eigen::Index c = 0; c < usage.cols(); ++c)
      truth = std::max(truth, usage.col(c)
                                  .unaryExpr([&](double u) {
                                    return constraints.list()[static_cast<size_t>(c)].measure(u);
                                  })
                                  .maxCoeff());
    if (truth <= 1.0) continue;
    ++checked;
    // a peak is passed by a thousandth of an interval at most; depths of overlaps are FCL's
    constexpr double kPart = 2e-3;
    double found = 0.0;
    for (const ConstraintPeak& peak : constraintPeaks(constraints, motion, kSamples, 1.0))
      found = std::max(found, peak.usage);
    EXPECT_NEAR(found, truth, kPart * truth) << seed;
    EXPECT_EQ(constraintPeaks(constraints, motion, kSamples, 1.0, true).size(), 1u);
    EXPECT_TRUE(constraintPeaks(constraints, motion, kSamples, 1.01 * truth).empty());
    between += truth > on_grid * (1.0 + 1e-6) && found > on_grid ? 1 : 0;
  }
  EXPECT_GE(checked, 4);
  EXPECT_GE(between, 2);
}

}  // namespace
}  // namespace proprio
