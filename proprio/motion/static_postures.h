#pragma once

/// Postures to rest in, chosen so that gravity alone tells as much as possible: the way to begin
/// with a humanoid, which can stand still in many postures but not follow a fast motion. At rest
/// only masses and first moments act (and what is constant or a function of position at the
/// joints), so that the criterion looks at the base parameters of the static regressor.
///
/// From a list of candidates the set of M postures with the largest determinant is sought
/// (D-optimality, singular directions counted by a small prior), first greedily, each time the
/// candidate that adds most,
///   log det(G + Y^T Y) - log det(G) = log det(I + Y G^-1 Y^T),
/// then by exchanges of one chosen posture for another candidate until none helps (Fedorov).
/// Sources: Bonnet et al. 2016 as described in Leboutet 2022 section 2.4.2 (L-43); Fedorov 1972.

#include <cstdint>

#include "proprio/motion/excitation_criterion.h"
#include "proprio/motion/motion_constraints.h"

namespace proprio {

struct StaticPostures {
  Eigen::MatrixXd q;         ///< chosen postures, row = posture, all coordinates of the tree
  std::vector<int> chosen;   ///< rows of the candidates
  std::vector<int> columns;  ///< parameters that rest can tell: independent static columns
  double criterion = 0.0;    ///< -log det(W^T W) of the static regressor, as Criterion::kD
  double condition = 0.0;    ///< of that regressor
};

/// Random postures of the constraints' joints that keep every limit at rest, as full positions; at
/// most `count`, fewer if `tries` random ones do not hold more. Those that break a limit are taken
/// nearer to one that does not (the held posture, or the first that was found).
Eigen::MatrixXd candidatePostures(const MotionConstraints& constraints, int count, uint64_t seed,
                                  int tries = 0);

/// @param row_scale  per velocity coordinate, as in CriterionOptions; empty: 1
/// @throws Error for fewer candidates than postures, or candidates that tell nothing.
StaticPostures chooseStaticPostures(const std::shared_ptr<const Tree>& tree,
                                    const std::shared_ptr<const ParameterLayout>& layout,
                                    const Eigen::MatrixXd& candidates, int count,
                                    const Eigen::VectorXd& row_scale = {});

}  // namespace proprio
