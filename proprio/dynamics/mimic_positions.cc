#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "proprio/dynamics/mimic_positions_internal.h"

namespace proprio::internal {
namespace {

/// Frequencies nearer than this are one.
constexpr double kSameFrequency = 1e-9;

/// Equally spaced points that tell all functions z^p exp(i w z) of one coordinate apart.
/// Empty: too many.
std::vector<double> distinguishingPoints(const ReferenceTree& reference, const FreeCoordinate& z) {
  const std::vector<TreeBody>& bodies = reference.tree().bodies();
  std::vector<double> frequencies = {0.0};
  int degree = 0;
  for (int b = 0; b < reference.tree().bodyCount(); ++b) {
    std::vector<double> sums = {0.0};
    int slides = 0;
    for (const DrivenTwist& drive : z.drives) {
      if (!reference.beyond(drive.body, b)) continue;
      if (bodies[static_cast<size_t>(drive.body)].joint == BodyJoint::kPrismatic) {
        ++slides;
        continue;
      }
      std::set<double> next;
      for (const double sum : sums) {
        for (int n = -2; n <= 2; ++n) next.insert(sum + n * drive.ratio);
      }
      sums.assign(next.begin(), next.end());
      sums.erase(std::unique(sums.begin(), sums.end(),
                             [](double x, double y) { return y - x < kSameFrequency; }),
                 sums.end());
      if (sums.size() > kMostPositions) return {};
    }
    degree = std::max(degree, 2 * slides);
    frequencies.insert(frequencies.end(), sums.begin(), sums.end());
  }
  std::sort(frequencies.begin(), frequencies.end());
  frequencies.erase(std::unique(frequencies.begin(), frequencies.end(),
                                [](double x, double y) { return y - x < kSameFrequency; }),
                    frequencies.end());
  const double largest = frequencies.back();
  double gap = frequencies.size() > 1 ? 2.0 * largest : 1.0;
  for (size_t k = 1; k < frequencies.size(); ++k) {
    gap = std::min(gap, frequencies[k] - frequencies[k - 1]);
  }
  const double spacing = largest > 0.0 ? 2.0 * std::numbers::pi / (2.0 * largest + gap) : 1.0;
  // as many as there are functions suffice; up to four times as many, over a whole period of the
  // smallest gap, where the frequencies are close to each other
  const double whole = largest > 0.0 ? std::ceil((2.0 * largest + gap) / gap - 1e-6) : 1.0;
  const auto functions = static_cast<double>(frequencies.size());
  const double most = std::floor(static_cast<double>(kMostPositions) / (degree + 1));
  if (functions > most) return {};
  const double count = (degree + 1) * std::clamp(whole, functions, std::min(4.0 * functions, most));
  std::vector<double> points;
  for (int k = 0; k < static_cast<int>(count); ++k) points.push_back(k * spacing);
  return points;
}

}  // namespace

ReferenceTree::ReferenceTree(const Tree& tree) : tree_(tree), size_(robotReach(tree)) {
  for (const TreeBody& body : tree.bodies()) {
    const Pose X_PB = {RowMajor3::Map(body.R_PJ), Vector3d::Map(body.p_PJ) / size_};
    // where the robot is mounted has no effect, but distances would drown in it; how it is turned
    // has
    poses_.push_back(body.parent < 0 ? Pose{X_PB.R, Vector3d::Zero()}
                                     : poses_[static_cast<size_t>(body.parent)] * X_PB);
  }
  coordinates_.resize(static_cast<size_t>(tree.velocityCount()));
  for (int b = 0; b < tree.bodyCount(); ++b) addTwists(b);
  for (int j = 0; j < static_cast<int>(tree.model().joints.size()); ++j) {
    const Joint& joint = tree.model().joints[static_cast<size_t>(j)];
    if (joint.mimic || joint.type == JointType::kFixed) continue;
    for (int k = 0; k < velocityCount(joint.type); ++k) {
      coordinates_[static_cast<size_t>(tree.velocityIndex(j) + k)].joint = j;
    }
  }
  // a sliding leader counts in units of the robot's size
  for (FreeCoordinate& z : coordinates_) {
    if (z.joint < 0 ||
        tree.model().joints[static_cast<size_t>(z.joint)].type != JointType::kPrismatic) {
      continue;
    }
    z.scale = size_;
    for (DrivenTwist& drive : z.drives) drive.ratio *= size_;
  }
}

void ReferenceTree::addTwists(int b) {
  const TreeBody& body = tree_.bodies()[static_cast<size_t>(b)];
  const std::vector<Vector6d> twists = jointTwists(body.joint);
  const bool slides = body.joint == BodyJoint::kPrismatic;
  for (size_t k = 0; k < twists.size(); ++k) {
    const size_t full = static_cast<size_t>(body.v) + k;
    DrivenTwist drive;
    drive.body = b;
    drive.S = velocityAdjoint(pose(b)) * twists[k];
    drive.ratio = tree_.v_ratio[full] / (slides ? size_ : 1.0);
    if (twists.size() == 1) {
      drive.offset = tree_.q_offset[static_cast<size_t>(body.q)] / (slides ? size_ : 1.0);
    }
    coordinates_[static_cast<size_t>(tree_.v_source[full])].drives.push_back(drive);
  }
}

std::vector<Positions> comparedPositions(const ReferenceTree& reference) {
  const std::vector<FreeCoordinate>& coordinates = reference.coordinates();
  std::vector<std::vector<double>> points(coordinates.size());
  for (size_t z = 0; z < coordinates.size(); ++z) {
    if (!coordinates[z].led()) continue;
    points[z] = distinguishingPoints(reference, coordinates[z]);
    if (points[z].empty()) return {};
  }
  std::set<Positions> all;
  for (int b = 0; b < reference.tree().bodyCount(); ++b) {
    std::vector<Positions> grid = {Positions(coordinates.size(), 0.0)};
    for (size_t z = 0; z < coordinates.size(); ++z) {
      const std::vector<DrivenTwist>& drives = coordinates[z].drives;
      if (!coordinates[z].led() ||
          std::none_of(drives.begin(), drives.end(),
                       [&](const DrivenTwist& d) { return reference.beyond(d.body, b); })) {
        continue;
      }
      std::vector<Positions> finer;
      for (const double point : points[z]) {
        for (Positions position : grid) {
          position[z] = point;
          finer.push_back(position);
        }
      }
      grid = std::move(finer);
      if (grid.size() > kMostPositions) return {};
    }
    all.insert(grid.begin(), grid.end());
    if (all.size() > kMostPositions) return {};
  }
  return {all.begin(), all.end()};
}

}  // namespace proprio::internal
