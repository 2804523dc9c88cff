#include "proprio/model/friction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace proprio {
namespace {

constexpr FrictionTermKind kKinds[] = {
    FrictionTermKind::kViscous,         FrictionTermKind::kCoulomb,
    FrictionTermKind::kOffset,          FrictionTermKind::kViscousPositive,
    FrictionTermKind::kViscousNegative, FrictionTermKind::kCoulombPositive,
    FrictionTermKind::kCoulombNegative, FrictionTermKind::kPower,
    FrictionTermKind::kArctan,          FrictionTermKind::kStribeck};
constexpr SmoothSign kSigns[] = {SmoothSign::kSign, SmoothSign::kTanh, SmoothSign::kArctan};

FrictionModel modelWith(SmoothSign sign) {
  FrictionModel model;
  model.smooth_sign = sign;
  model.smooth_gain = 20.0;
  return model;
}

// The derivative of every basis agrees with central differences away from rest.
TEST(Friction, DerivativesAgreeWithDifferences) {
  constexpr double kStep = 1e-5,
                   kTolerance = 1e-6;  // step^2 times third derivatives of order gain^3
  for (SmoothSign sign : kSigns) {
    const FrictionModel model = modelWith(sign);
    for (FrictionTermKind kind : kKinds) {
      for (double exponent : {0.5, 1.0, 2.0, 3.0}) {
        const FrictionTerm term{kind, "term", 1.0, 0.7, exponent};
        for (double v : {-2.0, -0.3, -0.01, 0.02, 0.4, 3.0}) {
          const double difference =
              (frictionBasis(model, term, v + kStep) - frictionBasis(model, term, v - kStep)) /
              (2 * kStep);
          EXPECT_NEAR(frictionBasisDerivative(model, term, v), difference,
                      kTolerance * (1 + 8 * std::abs(difference)))
              << static_cast<int>(kind) << " " << static_cast<int>(sign) << " " << v;
        }
        EXPECT_TRUE(std::isfinite(frictionBasisDerivative(model, term, 0.0)));
      }
    }
  }
}

// Split terms add up to the symmetric ones: positive + negative = whole.
TEST(Friction, PositiveAndNegativePartsAddUp) {
  for (SmoothSign sign : kSigns) {
    const FrictionModel model = modelWith(sign);
    const auto basis = [&](FrictionTermKind kind, double v) {
      return frictionBasis(model, {kind, ""}, v);
    };
    for (double v : {-1.5, -1e-3, 0.0, 1e-3, 2.0}) {
      EXPECT_EQ(basis(FrictionTermKind::kViscousPositive, v) +
                    basis(FrictionTermKind::kViscousNegative, v),
                v);
      EXPECT_EQ(basis(FrictionTermKind::kCoulombPositive, v) +
                    basis(FrictionTermKind::kCoulombNegative, v),
                basis(FrictionTermKind::kCoulomb, v));
    }
  }
}

// The smooth model of Ardiani (1.15): f_c S0 + f_sc atan(d v) + f_v v + offset + f_nlv |v|^a S0,
// written out.
TEST(Friction, SmoothModelEqualsItsFormula) {
  FrictionModel model;
  model.smooth_sign = SmoothSign::kArctan;
  model.smooth_gain = 100.0;
  model.terms = {{FrictionTermKind::kCoulomb, "coulomb", 4.0},
                 {FrictionTermKind::kArctan, "arctan", 1.5, 3.0},
                 {FrictionTermKind::kViscous, "viscous", 2.0},
                 {FrictionTermKind::kOffset, "offset", -0.2},
                 {FrictionTermKind::kPower, "power", 0.7, 1.0, 1.8}};
  for (double v : {-1.2, -0.01, 0.0, 0.03, 0.9}) {
    const double S0 = 2.0 / std::numbers::pi * std::atan(100.0 * v);
    const double expected =
        4.0 * S0 + 1.5 * std::atan(3.0 * v) + 2.0 * v - 0.2 + 0.7 * std::pow(std::abs(v), 1.8) * S0;
    EXPECT_NEAR(frictionTorque(model, v), expected, 1e-14 * 10);
  }
}

// Coulomb plus Stribeck terms give break-away friction near rest and Coulomb friction at speed.
TEST(Friction, StribeckDecaysFromStictionToCoulomb) {
  FrictionModel model;
  const double coulomb = 2.0, stiction = 3.0, velocity = 0.05;
  model.terms = {{FrictionTermKind::kCoulomb, "coulomb", coulomb},
                 {FrictionTermKind::kStribeck, "stribeck", stiction - coulomb, velocity, 2.0}};
  EXPECT_NEAR(frictionTorque(model, 1e-9), stiction, 1e-12);
  EXPECT_NEAR(frictionTorque(model, -1e-9), -stiction, 1e-12);
  EXPECT_NEAR(frictionTorque(model, velocity), coulomb + (stiction - coulomb) / std::numbers::e,
              1e-12);
  EXPECT_NEAR(frictionTorque(model, 1.0), coulomb, 1e-12);
  EXPECT_EQ(frictionTorque(model, 0.0), 0.0);
}

// Without an offset friction is odd and never drives the motion.
TEST(Friction, IsOddAndDissipates) {
  for (SmoothSign sign : kSigns) {
    const FrictionModel model = modelWith(sign);
    for (FrictionTermKind kind :
         {FrictionTermKind::kViscous, FrictionTermKind::kCoulomb, FrictionTermKind::kPower,
          FrictionTermKind::kArctan, FrictionTermKind::kStribeck}) {
      for (double v : {1e-6, 0.1, 5.0}) {
        const double forward = frictionBasis(model, {kind, ""}, v);
        EXPECT_EQ(forward, -frictionBasis(model, {kind, ""}, -v));
        EXPECT_GE(forward * v, 0.0);
      }
    }
  }
}

// A velocity that is not a number is not turned into an innocent torque.
TEST(Friction, NanStaysNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (SmoothSign sign : kSigns) {
    for (FrictionTermKind kind : kKinds) {
      if (kind == FrictionTermKind::kOffset) continue;
      EXPECT_TRUE(std::isnan(frictionBasis(modelWith(sign), {kind, ""}, nan)))
          << static_cast<int>(kind);
    }
  }
}

// Units follow from torque or force over the basis.
TEST(Friction, Units) {
  EXPECT_EQ(frictionUnit({FrictionTermKind::kViscous, ""}, false), "N m s/rad");
  EXPECT_EQ(frictionUnit({FrictionTermKind::kViscousNegative, ""}, true), "N s/m");
  EXPECT_EQ(frictionUnit({FrictionTermKind::kCoulomb, ""}, false), "N m");
  EXPECT_EQ(frictionUnit({FrictionTermKind::kStribeck, ""}, true), "N");
  EXPECT_EQ(frictionUnit({FrictionTermKind::kPower, "", 1.0, 1.0, 3.0}, false), "N m (s/rad)^3");
}

}  // namespace
}  // namespace proprio
