#pragma once

#include <string>
#include <vector>

namespace proprio {

/// One friction term of a joint: coefficient * basis(velocity). Linear in its coefficient, so that
/// each term is one regressor column; its constants (scale, exponent) are fixed numbers of the
/// model. v = joint velocity, s(v) = sign, or the smooth sign that the joint's FrictionModel names.
enum class FrictionTermKind {
  kViscous,          ///< v
  kCoulomb,          ///< s(v)
  kOffset,           ///< 1 (asymmetric Coulomb friction, sensor bias)
  kViscousPositive,  ///< v for v > 0, else 0
  kViscousNegative,  ///< v for v < 0, else 0
  kCoulombPositive,  ///< s(v) for v > 0, else 0
  kCoulombNegative,  ///< s(v) for v < 0, else 0
  kPower,            ///< |v|^exponent s(v): polynomial models
  kArctan,           ///< atan(scale v)
  kStribeck,         ///< exp(-|v / scale|^exponent) s(v)
};

struct FrictionTerm {
  FrictionTermKind kind = FrictionTermKind::kViscous;
  std::string name;          ///< as in robot.yaml and in parameter names: "viscous", "coulomb", ...
  double coefficient = 0.0;  ///< N m s/rad, N m, ... (N s/m, N for prismatic joints)
  double scale = 1.0;        ///< kArctan: s/rad; kStribeck: Stribeck velocity, rad/s
  double exponent = 2.0;     ///< kPower, kStribeck
};

/// How sign(v) is realised: sign with s(0) = 0, tanh(gain v), or 2/pi atan(gain v).
enum class SmoothSign { kSign, kTanh, kArctan };

enum class DynamicFrictionKind { kNone, kDahl, kLuGre, kLeuven };

/// Friction with a state, for simulation.
/// LuGre: zdot = v - sigma0 |v| z / g(v), tau = sigma0 z + sigma1 zdot + sigma2 v,
///        g(v) = coulomb + (stiction - coulomb) exp(-|v / stribeck_velocity|^exponent).
/// Dahl:  zdot = v - sigma0 |v| z / coulomb, tau = sigma0 z.
/// Leuven: N Maxwell slip elements side by side, so that small loops of the motion close and are
///        then forgotten (LuGre and Dahl drift). Element j of stiffness k = sigma0 / N sticks,
///        zdot = v, until its force reaches its share a_j g(v), a_j = (2 j - 1) / N^2, of the curve
///        above; beyond, zdot = v - k |v| z / (a_j g(v)) leads back to it, no faster than |v|.
///        tau = sum k z + sigma1 mean zdot + sigma2 v. The first loading is the parabola
///        sigma0 x - (sigma0 x)^2 / (4 stiction), in N straight pieces.
///        (Generalised Maxwell slip of Al-Bender, Lampaert and Swevers 2005, which the authors of
///        the Leuven model of 2000 put in its place; here with a relaxation over the way.)
struct DynamicFriction {
  DynamicFrictionKind kind = DynamicFrictionKind::kNone;
  double sigma0 = 0.0, sigma1 = 0.0, sigma2 = 0.0;
  double coulomb = 0.0, stiction = 0.0, stribeck_velocity = 1.0, exponent = 2.0;
  int elements = 6;  ///< Leuven: N
};

struct FrictionModel {
  std::vector<FrictionTerm> terms;
  SmoothSign smooth_sign = SmoothSign::kSign;
  double smooth_gain = 100.0;  ///< s/rad
  DynamicFriction dynamic;
  bool from_urdf = false;  ///< a <dynamics> element states it, which knows two terms only
};

/// The basis function of a term at velocity v: the regressor entry of its coefficient.
double frictionBasis(const FrictionModel& model, const FrictionTerm& term, double velocity);
/// d basis / d v (the jump of the discontinuous sign is left out).
double frictionBasisDerivative(const FrictionModel& model, const FrictionTerm& term,
                               double velocity);
/// Sum over the static terms.
double frictionTorque(const FrictionModel& model, double velocity);
/// "LuGre", "Dahl", "Leuven"; "none".
std::string dynamicFrictionName(DynamicFrictionKind kind);
/// SI unit of a term's coefficient.
std::string frictionUnit(const FrictionTerm& term, bool prismatic);

}  // namespace proprio
