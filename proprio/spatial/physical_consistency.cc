#include "proprio/spatial/physical_consistency.h"

#include <Eigen/Eigenvalues>
#include <limits>

#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/spd_geometry.h"

namespace proprio {

ConsistencyMargins consistencyMargins(const InertialParameters& body) {
  const Matrix3d S = centralSecondMoment(body);
  const Eigen::Matrix4d D = pseudoInertia(body);
  if (!S.allFinite() || !D.allFinite()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan};
  }
  // ascending second moments L: the smallest principal inertia is L1 + L2
  const Eigen::SelfAdjointEigenSolver<Matrix3d> central(S, Eigen::EigenvaluesOnly);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> pseudo(D, Eigen::EigenvaluesOnly);
  const Vector3d& L = central.eigenvalues();
  return {body.mass, L[0] + L[1], L[0], pseudo.eigenvalues()[0]};
}

double relativeMargin(const InertialParameters& body, const InertialParameters& reference) {
  return smallestRelativeEigenvalue(pseudoInertia(reference), pseudoInertia(body));
}

}  // namespace proprio
