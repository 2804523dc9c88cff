#include "proprio/report/inertia_shares.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "proprio/identification/prior.h"
#include "proprio/model/repair.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

/// Of its declared mass a link keeps at least this share where its parts stay as they are.
constexpr double kLeastShare = 0.1;
/// A link without declared mass stays so while its parts change by less than this factor.
constexpr double kLikely = 3.0;
/// Bodies that are impossible as declared: as in priors.
constexpr double kRepairMargin = 0.05;
constexpr double kRepairDensity = 1000.0;  // kg/m^3

bool isPossible(const InertialParameters& body) {
  return consistencyMargins(body).fullyConsistent();
}

InertialParameters sphereOf(double mass, const Vector3d& centre) {
  const double radius = std::cbrt(3.0 * mass / (4.0 * M_PI * kRepairDensity));
  return InertialParameters::fromCom(mass, centre, sphereInertia(mass, radius).inertia);
}

/// The body as a description should have said it; nothing where it has no mass.
InertialParameters madePossible(const InertialParameters& body) {
  if (!(body.mass > 0.0)) return {};
  if (isPlaceholderInertia(body)) return sphereOf(body.mass, body.com());
  if (isPossible(body)) return body;
  return nearestPossible(body, sphereOf(body.mass, body.com()), kRepairMargin);
}

/// A^(1/2) of a symmetric positive definite matrix.
Matrix3d squareRoot(const Matrix3d& matrix) {
  return Eigen::SelfAdjointEigenSolver<Matrix3d>(matrix).operatorSqrt();
}

/// The map A of the header.
Eigen::Matrix4d leastMotion(const InertialParameters& from, const InertialParameters& to) {
  const Matrix3d S = squareRoot(centralSecondMoment(from) / from.mass);
  const Matrix3d target = centralSecondMoment(to) / to.mass;
  const Matrix3d inverse = S.inverse();
  const Matrix3d T = inverse * squareRoot(S * target * S) * inverse;
  Eigen::Matrix4d A = Eigen::Matrix4d::Identity();
  A.topLeftCorner<3, 3>() = T;
  A.topRightCorner<3, 1>() = to.com() - T * from.com();
  return std::sqrt(to.mass / from.mass) * A;
}

}  // namespace

InertiaShares divideInertia(const InertialParameters& whole, const InertialParameters& own,
                            const std::vector<FixedPart>& parts) {
  InertiaShares shares;
  // the sums with parts that have to stay, or have no mass to scale, left out
  InertialParameters rest = whole, to = whole, from = madePossible(own);
  for (const FixedPart& part : parts) {
    shares.parts.push_back(part.inertia);
    rest = rest - part.inertia;
    if (part.writable && part.inertia.mass > 0.0)
      from = from + madePossible(part.inertia);
    else
      to = to - part.inertia;
  }
  const double factor = to.mass / from.mass;
  const bool movable = isPossible(to) && isPossible(from);
  const bool enough = own.mass > 0.0 ? rest.mass >= kLeastShare * own.mass
                                     : !movable || factor > kLikely || factor < 1.0 / kLikely;
  if (parts.empty() || !movable || (enough && isPossible(rest))) return shares;
  shares.kept = false;
  shares.mass_factor = factor;
  const Eigen::Matrix4d A = leastMotion(from, to);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].writable || !(parts[k].inertia.mass > 0.0)) continue;
    const Eigen::Matrix4d D = pseudoInertia(madePossible(parts[k].inertia));
    shares.parts[k] = fromPseudoInertia(A * D * A.transpose());
  }
  return shares;
}

}  // namespace proprio
