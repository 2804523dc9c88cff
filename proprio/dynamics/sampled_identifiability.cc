#include "proprio/dynamics/sampled_identifiability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "proprio/dynamics/augmented_regressor.h"
#include "proprio/dynamics/joint_signals_internal.h"
#include "proprio/dynamics/wrench_regressor.h"
#include "proprio/numerics/streaming_qr.h"

namespace proprio {
namespace {

constexpr double kVelocity = 3.0, kAcceleration = 10.0;
constexpr Eigen::Index kBlock = 64;
const Eigen::RowVectorXd kIdentityPose = (Eigen::RowVectorXd(7) << 0, 0, 0, 0, 0, 0, 1).finished();

/// The same numbers on every machine and library.
class Uniform {
 public:
  explicit Uniform(unsigned seed) : rng_(seed) {}
  double operator()(double lower, double upper) {
    return lower + (upper - lower) * static_cast<double>(rng_() >> 11) * 0x1.0p-53;
  }

 private:
  std::mt19937_64 rng_;
};

void fillPose(Uniform& random, Eigen::Ref<Eigen::MatrixXd> q) {
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    Eigen::Vector4d quaternion;
    // uniform in the unit ball gives uniform directions
    do {
      for (double& x : quaternion) x = random(-1.0, 1.0);
    } while (quaternion.squaredNorm() > 1.0 || quaternion.squaredNorm() < 0.01);
    for (int i = 0; i < 3; ++i) q(k, i) = random(-1.0, 1.0);
    q.row(k).tail<4>() = quaternion.normalized();
  }
}

std::pair<double, double> positionRange(const Joint& joint, int coordinate) {
  const bool turns = joint.type == JointType::kRevolute || joint.type == JointType::kContinuous ||
                     (joint.type == JointType::kPlanar && coordinate == 2);
  const double reach = turns ? std::numbers::pi : 1.0;
  const JointLimits& limits = joint.limits;
  const bool stated = joint.type != JointType::kContinuous && velocityCount(joint.type) == 1 &&
                      limits.upper > limits.lower && std::isfinite(limits.upper - limits.lower);
  return stated ? std::pair(limits.lower, limits.upper) : std::pair(-reach, reach);
}

RandomStates drawStates(const Tree& tree, Eigen::Index count, Uniform& random) {
  RandomStates x;
  x.q.resize(count, tree.positionCount());
  if (tree.floating()) fillPose(random, x.q.leftCols(7));
  const Model& model = tree.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    if (joint.type == JointType::kFixed || joint.mimic) continue;
    const int index = tree.positionIndex(j);
    if (joint.type == JointType::kFloating) {
      if (joint.sensed) {
        x.q.middleCols(index, 7).rowwise() = kIdentityPose;
      } else {
        fillPose(random, x.q.middleCols(index, 7));
      }
      continue;
    }
    for (int k = 0; k < positionCount(joint.type); ++k) {
      const auto [lower, upper] = positionRange(joint, k);
      for (double& q : x.q.col(index + k)) q = random(lower, upper);
    }
  }
  const auto uniform = [&](double size) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(count, tree.velocityCount(),
                                                        [&] { return random(-size, size); }));
  };
  x.v = uniform(kVelocity);
  x.a = uniform(kAcceleration);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (!model.joints[static_cast<size_t>(j)].sensed) continue;
    x.v.middleCols<6>(tree.velocityIndex(j)).setZero();
    x.a.middleCols<6>(tree.velocityIndex(j)).setZero();
  }
  return x;
}

/// Velocity coordinates whose rows are measured.
std::vector<int> measuredCoordinates(const Tree& tree, const MeasuredRows& measured) {
  std::vector<int> rows;
  if (tree.floating() && measured.base) {
    for (int k = 0; k < 6; ++k) rows.push_back(k);
  }
  const Model& model = tree.model();
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    if (!measured.joints[static_cast<size_t>(j)] || joint.mimic) continue;
    for (int k = 0; k < velocityCount(joint.type); ++k) rows.push_back(tree.velocityIndex(j) + k);
  }
  return rows;
}

/// Parts of the robot whose net wrench is measured, with the link at which it is taken.
struct CutPart {
  int reference;
  std::vector<int> links;
};

std::vector<CutPart> cutParts(const Tree& tree, const MeasuredRows& measured) {
  std::vector<CutPart> parts;
  if (measured.base && !tree.floating()) {
    parts.push_back({tree.baseLink(), subtree(tree.model(), tree.baseLink(), tree.baseLink())});
  }
  for (const int link : measured.cut_links) {
    parts.push_back({link, subtree(tree.model(), tree.baseLink(), link)});
  }
  return parts;
}

void addWrenchRows(const Tree& tree, const std::vector<CutPart>& parts, const RandomStates& x,
                   const ParameterLayout& layout, StreamingQr* qr) {
  if (parts.empty()) return;
  std::vector<LinkMotion> motions;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(6, layout.size());
  for (Eigen::Index k = 0; k < x.q.rows(); ++k) {
    linkMotions(tree, x.q.row(k).transpose(), x.v.row(k).transpose(), x.a.row(k).transpose(),
                &motions);
    for (const CutPart& part : parts) {
      wrenchRegressor(motions, part.links, part.reference, rows.leftCols(layout.inertialSize()));
      qr->add(rows);
    }
  }
}

/// Size of an effect: the largest column of the same kind, and at least what one unit of inertia,
/// friction or mass at a metre would give (a kind may have no effect at all, only rounding).
Eigen::VectorXd effectSizes(const ParameterLayout& layout, const Eigen::MatrixXd& R,
                            Eigen::Index samples) {
  const double least = std::sqrt(static_cast<double>(samples));
  std::map<std::pair<int, int>, double> largest;
  const auto key = [&](int i) {
    const bool inertial = layout[i].kind == ParameterKind::kInertial;
    const int component = layout[i].component;
    // the six moments of inertia compare with each other, so do the three first moments
    const int group = !inertial ? 0 : component == 0 ? 0 : component < 4 ? 1 : 2;
    return std::pair(static_cast<int>(layout[i].kind), group);
  };
  for (int i = 0; i < layout.size(); ++i) {
    double& size = largest[key(i)];
    size = std::max({size, least, R.col(i).norm()});
  }
  Eigen::VectorXd sizes(layout.size());
  for (int i = 0; i < layout.size(); ++i) sizes[i] = largest[key(i)];
  return sizes;
}

}  // namespace

BaseParameters sampledBaseParameters(const Tree& tree,
                                     std::shared_ptr<const ParameterLayout> layout,
                                     const Measurement& measurement,
                                     const SamplingOptions& options) {
  internal::requireSameModel("sampledBaseParameters", tree, *layout);
  const MeasuredRows measured = measuredRows(tree, measurement);
  const std::vector<int> coordinates = measuredCoordinates(tree, measured);
  const std::vector<CutPart> parts = cutParts(tree, measured);
  const auto rows_per_sample = static_cast<Eigen::Index>(coordinates.size() + 6 * parts.size());
  Eigen::Index samples = options.samples;
  if (samples <= 0) {
    samples = 120 + 4 * layout->size() / std::max<Eigen::Index>(1, rows_per_sample);
  }
  StreamingQr qr(layout->size());
  Workspace workspace(tree);
  RegressorBatch batch(tree, kBlock, layout->size());
  Uniform random(options.seed);
  for (Eigen::Index done = 0; done < samples; done += kBlock) {
    if (options.progress)
      options.progress(static_cast<double>(done) / static_cast<double>(samples));
    const Eigen::Index count = std::min(kBlock, samples - done);
    const RandomStates x = drawStates(tree, count, random);
    augmentedRegressorBatch(tree, *layout, workspace, x.q, x.v, x.a, batch);
    for (const int row : coordinates) qr.add(batch.rows(row, count));
    addWrenchRows(tree, parts, x, *layout, &qr);
  }
  return baseParametersOfFactor(tree, std::move(layout), qr.factor(), samples, options);
}

RandomStates randomStates(const Tree& tree, Eigen::Index count, unsigned seed) {
  Uniform random(seed);
  return drawStates(tree, count, random);
}

BaseParameters baseParametersOfFactor(const Tree& tree,
                                      std::shared_ptr<const ParameterLayout> layout,
                                      const Eigen::MatrixXd& R, Eigen::Index samples,
                                      ReductionOptions options) {
  if (options.preference.empty()) options.preference = defaultPreference(tree, *layout);
  const Eigen::VectorXd sizes = effectSizes(*layout, R, samples);
  return reduceRows(std::move(layout), R, sizes, options);
}

}  // namespace proprio
