#pragma once

/// What a physically consistent estimate has to fulfil, what pulls it where the data are silent,
/// and the convex problem that both make of a triangular system:
///
///   minimise    1/2 |A B chi - b|^2 + w d(chi, chi0)
///   subject to  D_k(chi) >= eps D_k(chi0)   for every link that moves
///               linear inequalities
///
/// with B the base matrix, D_k the 4x4 pseudo-inertia of link k and chi0 the prior. Links that are
/// frozen or without effect keep their prior. What is fixed to a link is part of it, whatever its
/// own description says: report/write_back.h divides the whole again.
///
/// Coordinates: every link is written as D = L (1 + X) L^T, D(chi0) = L L^T, and its unknowns xi
/// are the entries of X (off-diagonal ones times sqrt 2); other parameters are counted in units of
/// their size. So xi = 0 is the prior, |xi|^2 the distance in the pull-back metric, and all numbers
/// are of order one. chi = F xi + f0.
///
/// Sources: Leboutet 2022, 2.3 (64, 72, 73) and (180) in its exactly linear form; Lee, Wensing,
/// Park 2020; Wensing, Kim, Slotine 2018 (bounding ellipsoid).

#include <Eigen/Core>
#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/numerics/lmi_least_squares.h"

namespace proprio {

struct IdentificationProblem;
struct TriangularSystem;

struct MassBounds {
  std::string link;
  double lower = 0.0, upper = kNotStated;  ///< kg
};

/// Links that are mirror images of each other in the posture zero. If one of them is frozen it
/// stays as it is and the other becomes its image.
struct SymmetricLinks {
  std::string one, other;
};

struct ConsistencyOptions {
  /// eps: a possible body keeps this part of the prior's second moments in every direction, so that
  /// it is still possible after it was rounded and written.
  double margin = 1e-4;
  /// Rotor inertias, viscous and Coulomb friction are not negative. (Not asked of viscous terms
  /// beside polynomial or arctangent ones, which share their work.)
  bool positive_joints = true;
  bool offset_below_coulomb = false;  ///< |offset| <= Coulomb friction of the joint
  std::vector<MassBounds> masses;
  double total_mass_lower = kNotStated, total_mass_upper = kNotStated;  ///< kg, of what moves
  /// Centre of mass inside the convex hull of the link's shapes (shape_hull.h). Links whose shapes
  /// are missing are left out.
  bool com_in_shapes = false;
  /// All mass inside the ellipsoid through the corners of the shapes' bounding box.
  bool mass_in_ellipsoid = false;
  std::vector<std::string> frozen;  ///< links that keep the prior
  std::vector<SymmetricLinks> symmetric;
  /// Normal of the mirror plane through the base frame.
  Vector3d mirror = Vector3d::UnitY();
};

enum class PriorKind {
  kNone,       ///< only directions that the data are silent about are pulled
  kEuclidean,  ///< |chi - chi0|^2 in SI units: depends on frames and units
  kEntropic,   ///< 2 (tr X - log det(1 + X)): infinitely far to impossible bodies
  kPullback    ///< tr X^2
};
/// "none", "euclidean", "entropic", "pullback". @throws Error with the nearest name.
PriorKind priorKind(const std::string& name);
const char* toString(PriorKind kind);

struct PriorOptions {
  PriorKind kind = PriorKind::kPullback;
  /// 1: one standard deviation is 100 % of the body; 100: 10 %. Positive.
  double weight = 1.0;
  /// Pull-back and entropic: one standard deviation of a link's mass, relative, at weight 1; three
  /// times that where the mass was guessed because none is declared.
  double mass_trust = 0.3;
  /// The weight that predicts blocks of data best which it did not see.
  bool automatic = false;
  bool doubting = true;  ///< descriptions that data contradict count less (doubtingPrior())
  /// Per link: its description counts for 1 / doubt^2 (doubtingPrior()). Empty: 1.
  std::vector<double> doubt;
};

/// The convex problem in xi, and the way back.
struct ConsistentProblem {
  LmiProblem lmi;
  Eigen::MatrixXd F;  ///< chi = F xi + f0
  Eigen::VectorXd f0;
  Eigen::MatrixXd base_map;  ///< beta = base_map xi + base_offset
  Eigen::VectorXd base_offset;
  std::vector<int> block_links;  ///< per block of `lmi`
  Eigen::VectorXd inside;        ///< xi of a strictly possible robot near the prior
  std::vector<int> links;        ///< those that are estimated, ascending; unknowns 10 k .. 10 k + 9
  std::vector<int> nonnegative;  ///< standard parameters of joints that may not be below zero
  std::vector<std::string> notes;
  bool geometric = false;  ///< has rows from shapes
  double margin = 0.0;     ///< eps
};

/// @throws Error for names that the robot does not have, weights or margins out of range, bounds
/// that contradict each other, a prior that is not possible.
ConsistentProblem consistentProblem(const IdentificationProblem& problem,
                                    const TriangularSystem& system,
                                    const ConsistencyOptions& constraints,
                                    const PriorOptions& prior);

/// The 10x10 map of the parameters of a body to those of its mirror image: D_other = H D H^T with
/// an improper H.
Eigen::Matrix<double, 10, 10> congruenceMap(const Eigen::Matrix4d& H);

}  // namespace proprio
