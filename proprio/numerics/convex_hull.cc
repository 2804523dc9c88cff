#include "proprio/numerics/convex_hull.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::Vector3d;

/// Distances below this part of the points' extent are rounding.
constexpr double kFlatHull = 1e-9;
/// Normals whose cosine is nearer to one belong to one face.
constexpr double kSameNormal = 1e-9;

struct HullTriangle {
  std::array<Index, 3> corners;
  Vector3d normal;
  double offset = 0.0;
  double area = 0.0;
};

class HullBuilder {
 public:
  explicit HullBuilder(const Eigen::MatrixX3d& points) : points_(points) {}

  std::vector<HullTriangle> build() {
    if (points_.rows() < 4 || !points_.allFinite()) return {};
    const Vector3d extent =
        (points_.colwise().maxCoeff() - points_.colwise().minCoeff()).transpose();
    rounding_ = kFlatHull * extent.norm();
    if (!start()) return {};
    for (Index i = 0; i < points_.rows(); ++i) add(i);
    return std::move(faces_);
  }

 private:
  Vector3d at(Index i) const { return points_.row(i).transpose(); }

  HullTriangle triangle(Index a, Index b, Index c) const {
    const Vector3d cross = (at(b) - at(a)).cross(at(c) - at(a));
    HullTriangle face{{a, b, c}, cross, 0.0, 0.5 * cross.norm()};
    if (face.area > 0.0) face.normal /= cross.norm();
    face.offset = face.normal.dot(at(a));
    return face;
  }

  /// The point farthest away in the sense of `distance`; -1 if all are at rounding.
  template <typename Distance>
  Index farthest(const Distance& distance) const {
    Index best = -1;
    double most = rounding_;
    for (Index i = 0; i < points_.rows(); ++i) {
      const double d = distance(at(i));
      if (d <= most) continue;
      most = d;
      best = i;
    }
    return best;
  }

  /// A tetrahedron of points far from each other.
  bool start() {
    Index a = 0;
    points_.col(0).minCoeff(&a);
    const Index b = farthest([&](const Vector3d& p) { return (p - at(a)).norm(); });
    if (b < 0) return false;
    const Vector3d along = (at(b) - at(a)).normalized();
    const Index c = farthest([&](const Vector3d& p) { return (p - at(a)).cross(along).norm(); });
    if (c < 0) return false;
    const HullTriangle base = triangle(a, b, c);
    const auto height = [&](const Vector3d& p) { return base.normal.dot(p) - base.offset; };
    const Index d = farthest([&](const Vector3d& p) { return std::abs(height(p)); });
    if (d < 0) return false;
    const bool below = height(at(d)) < 0.0;
    const Index second = below ? b : c, third = below ? c : b;
    for (const auto& [i, j, k] : {std::array{a, second, third}, std::array{a, d, second},
                                  std::array{second, d, third}, std::array{third, d, a}})
      faces_.push_back(triangle(i, j, k));
    return true;
  }

  void add(Index point) {
    const Vector3d p = at(point);
    const auto sees = [&](const HullTriangle& face) {
      return face.normal.dot(p) > face.offset + rounding_;
    };
    const auto visible = std::partition(faces_.begin(), faces_.end(),
                                        [&](const HullTriangle& face) { return !sees(face); });
    if (visible == faces_.end()) return;
    // an edge of the rim belongs to one visible face only
    std::set<std::pair<Index, Index>> rim;
    for (auto face = visible; face != faces_.end(); ++face) {
      for (size_t k = 0; k < 3; ++k) {
        const Index from = face->corners[k], to = face->corners[(k + 1) % 3];
        if (rim.erase({to, from}) == 0) rim.insert({from, to});
      }
    }
    faces_.erase(visible, faces_.end());
    for (const auto& [from, to] : rim) {
      const HullTriangle face = triangle(from, to, point);
      if (face.area > 0.0) faces_.push_back(face);
    }
  }

  const Eigen::MatrixX3d& points_;
  double rounding_ = 0.0;
  std::vector<HullTriangle> faces_;
};

}  // namespace

HullFaces convexHull(const Eigen::MatrixX3d& points) {
  std::vector<HullTriangle> merged;
  for (const HullTriangle& face : HullBuilder(points).build()) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const HullTriangle& other) {
      return other.normal.dot(face.normal) > 1.0 - kSameNormal;
    });
    if (same == merged.end()) {
      merged.push_back(face);
      continue;
    }
    same->area += face.area;
    same->offset = std::max(same->offset, face.offset);
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const HullTriangle& a, const HullTriangle& b) { return a.area > b.area; });
  HullFaces faces;
  const auto count = static_cast<Index>(merged.size());
  faces.normals.resize(count, 3);
  faces.offsets.resize(count);
  faces.areas.resize(count);
  for (Index i = 0; i < count; ++i) {
    const HullTriangle& face = merged[static_cast<size_t>(i)];
    faces.normals.row(i) = face.normal.transpose();
    faces.offsets[i] = face.offset;
    faces.areas[i] = face.area;
  }
  return faces;
}

}  // namespace proprio
