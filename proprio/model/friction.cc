#include "proprio/model/friction.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace proprio {
namespace {

// s(v); a NaN stays a NaN
double smoothSign(const FrictionModel& model, double v) {
  switch (model.smooth_sign) {
    case SmoothSign::kSign:
      return v > 0.0 ? 1.0 : v < 0.0 ? -1.0 : v;
    case SmoothSign::kTanh:
      return std::tanh(model.smooth_gain * v);
    case SmoothSign::kArctan:
      return 2.0 / std::numbers::pi * std::atan(model.smooth_gain * v);
  }
  return 0.0;
}

// ds/dv without the jump
double smoothSignDerivative(const FrictionModel& model, double v) {
  const double gain = model.smooth_gain;
  switch (model.smooth_sign) {
    case SmoothSign::kSign:
      return 0.0;
    case SmoothSign::kTanh: {
      const double t = std::tanh(gain * v);
      return gain * (1.0 - t * t);
    }
    case SmoothSign::kArctan:
      return 2.0 / std::numbers::pi * gain / (1.0 + gain * gain * v * v);
  }
  return 0.0;
}

// sign(v) s(v) = |s(v)|; continued with 1 at rest for the plain sign
double signTimesSmoothSign(const FrictionModel& model, double v) {
  return model.smooth_sign == SmoothSign::kSign ? 1.0 : std::abs(smoothSign(model, v));
}

// d|x|^e / d|x|, zero where it is not finite
double powerSlope(double magnitude, double exponent) {
  if (magnitude == 0.0 && exponent < 1.0) return 0.0;
  return exponent == 0.0 ? 0.0 : exponent * std::pow(magnitude, exponent - 1.0);
}

}  // namespace

double frictionBasis(const FrictionModel& model, const FrictionTerm& term, double v) {
  switch (term.kind) {
    case FrictionTermKind::kViscous:
      return v;
    case FrictionTermKind::kCoulomb:
      return smoothSign(model, v);
    case FrictionTermKind::kOffset:
      return 1.0;
    case FrictionTermKind::kViscousPositive:
      return v < 0.0 ? 0.0 : v;
    case FrictionTermKind::kViscousNegative:
      return v > 0.0 ? 0.0 : v;
    case FrictionTermKind::kCoulombPositive:
      return v < 0.0 ? 0.0 : smoothSign(model, v);
    case FrictionTermKind::kCoulombNegative:
      return v > 0.0 ? 0.0 : smoothSign(model, v);
    case FrictionTermKind::kPower:
      return std::pow(std::abs(v), term.exponent) * smoothSign(model, v);
    case FrictionTermKind::kArctan:
      return std::atan(term.scale * v);
    case FrictionTermKind::kStribeck:
      return std::exp(-std::pow(std::abs(v / term.scale), term.exponent)) * smoothSign(model, v);
  }
  return 0.0;
}

double frictionBasisDerivative(const FrictionModel& model, const FrictionTerm& term, double v) {
  switch (term.kind) {
    case FrictionTermKind::kViscous:
      return 1.0;
    case FrictionTermKind::kCoulomb:
      return smoothSignDerivative(model, v);
    case FrictionTermKind::kOffset:
      return 0.0;
    case FrictionTermKind::kViscousPositive:
      return v > 0.0 ? 1.0 : 0.0;
    case FrictionTermKind::kViscousNegative:
      return v < 0.0 ? 1.0 : 0.0;
    case FrictionTermKind::kCoulombPositive:
      return v > 0.0 ? smoothSignDerivative(model, v) : 0.0;
    case FrictionTermKind::kCoulombNegative:
      return v < 0.0 ? smoothSignDerivative(model, v) : 0.0;
    case FrictionTermKind::kPower: {
      const double magnitude = std::abs(v);
      return powerSlope(magnitude, term.exponent) * signTimesSmoothSign(model, v) +
             std::pow(magnitude, term.exponent) * smoothSignDerivative(model, v);
    }
    case FrictionTermKind::kArctan:
      return term.scale / (1.0 + term.scale * term.scale * v * v);
    case FrictionTermKind::kStribeck: {
      const double ratio = std::abs(v / term.scale);
      const double decay = std::exp(-std::pow(ratio, term.exponent));
      return decay * (smoothSignDerivative(model, v) - powerSlope(ratio, term.exponent) /
                                                           std::abs(term.scale) *
                                                           signTimesSmoothSign(model, v));
    }
  }
  return 0.0;
}

double frictionTorque(const FrictionModel& model, double v) {
  double torque = 0.0;
  for (const FrictionTerm& term : model.terms) {
    torque += term.coefficient * frictionBasis(model, term, v);
  }
  return torque;
}

std::string dynamicFrictionName(DynamicFrictionKind kind) {
  switch (kind) {
    case DynamicFrictionKind::kNone:
      return "none";
    case DynamicFrictionKind::kDahl:
      return "Dahl";
    case DynamicFrictionKind::kLuGre:
      return "LuGre";
    case DynamicFrictionKind::kLeuven:
      return "Leuven";
  }
  return "none";
}

std::string frictionUnit(const FrictionTerm& term, bool prismatic) {
  switch (term.kind) {
    case FrictionTermKind::kViscous:
    case FrictionTermKind::kViscousPositive:
    case FrictionTermKind::kViscousNegative:
      return prismatic ? "N s/m" : "N m s/rad";
    case FrictionTermKind::kPower:
      return fmt::format("{}^{}", prismatic ? "N (s/m)" : "N m (s/rad)", term.exponent);
    default:
      return prismatic ? "N" : "N m";
  }
}

}  // namespace proprio
