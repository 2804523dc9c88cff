#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "proprio/core/text_table.h"
#include "proprio/model/lint_internal.h"

namespace proprio::internal {
namespace {

constexpr double kMostTurns = 4.0 * 2.0 * std::numbers::pi;
constexpr double kSmallestRotor = 1e-4, kLargestRotor = 300.0;  // of the inertia beyond the joint
constexpr double kMotorFamily = 300.0;                          // ratio to the median of the motors
constexpr double kGearFamily = 30.0;                            // ratio to the median of the gears
constexpr size_t kFamily = 3;                                   // joints that make a family

bool isLinear(const Joint& joint) { return joint.type == JointType::kPrismatic; }
const char* positionUnit(const Joint& joint) { return isLinear(joint) ? "m" : "rad"; }
const char* effortUnit(const Joint& joint) { return isLinear(joint) ? "N" : "N m"; }
const char* inertiaUnit(const Joint& joint) { return isLinear(joint) ? "kg" : "kg m²"; }

// ---- limits ----

const char* leftOut(bool left_out) { return left_out ? " (left out)" : ""; }

void lintPositionLimits(const Model& model, int j, std::vector<Finding>& findings) {
  const Joint& joint = model.joints[static_cast<size_t>(j)];
  const JointLimits& limits = joint.limits;
  if (joint.type != JointType::kRevolute && joint.type != JointType::kPrismatic) return;
  Finding out =
      jointFinding(Severity::kWarning, "limit-missing", model, j, {"limits.lower", "limits.upper"});
  out.unit = positionUnit(joint);
  if (std::isnan(limits.lower) || std::isnan(limits.upper)) {
    out.message = fmt::format("a {} joint without position limits", toString(joint.type));
    out.advice = isLinear(joint) ? "give lower and upper in m"
                                 : "give lower and upper in rad, or make it continuous";
  } else if (limits.lower > limits.upper) {
    out.severity = Severity::kError;
    out.rule = "limit-reversed";
    out.message = fmt::format("the lower limit {}{} lies above the upper limit {}{}",
                              readable(limits.lower), leftOut(limits.lower_left_out),
                              readable(limits.upper), leftOut(limits.upper_left_out));
    out.advice = limits.lower_left_out   ? "give lower, too"
                 : limits.upper_left_out ? "give upper, too"
                 : inUrdf(model, out)    ? "swap them; check --repair does so"
                                         : "swap them";
    out.value = out.margin = limits.upper - limits.lower;
  } else if (limits.lower_left_out || limits.upper_left_out) {
    const char* missing = limits.lower_left_out ? "lower" : "upper";
    out.message = fmt::format("no {} position limit, which counts as 0", missing);
    out.advice = fmt::format("give {} in {}, also where it is 0", missing, positionUnit(joint));
    out.value = 0.0;
  } else if (limits.lower == limits.upper) {
    out.rule = "limit-zero";
    out.message = fmt::format("both position limits are {}: it cannot move", limits.lower);
    out.advice = "give its range, or make it a fixed joint";
    out.value = limits.upper - limits.lower;
  } else if (!isLinear(joint) &&
             std::max(std::abs(limits.lower), std::abs(limits.upper)) > kMostTurns) {
    out.rule = "limit-degrees";
    out.message = fmt::format("position limits {} and {} rad are more than four turns",
                              readable(limits.lower), readable(limits.upper));
    out.advice = "limits are in radians; degrees must be converted";
    out.value = std::max(std::abs(limits.lower), std::abs(limits.upper));
    out.margin = kMostTurns - out.value;
  } else {
    return;
  }
  findings.push_back(out);
}

void lintBound(const Model& model, int j, const char* what, double bound, const std::string& unit,
               std::vector<Finding>& findings) {
  const bool missing = std::isnan(bound);
  if (bound > 0.0) return;
  Finding out = jointFinding(missing        ? Severity::kNote
                             : bound == 0.0 ? Severity::kWarning
                                            : Severity::kError,
                             missing        ? "limit-missing"
                             : bound == 0.0 ? "limit-zero"
                                            : "limit-reversed",
                             model, j, {std::string("limits.") + what});
  out.message = missing        ? fmt::format("no {} limit", what)
                : bound == 0.0 ? fmt::format("the {} limit is zero: it cannot move", what)
                               : fmt::format("the {} limit is negative", what);
  out.advice = fmt::format(
      "give the largest {} in {}{}", what, unit,
      bound < 0.0 && inUrdf(model, out) ? "; check --repair takes its absolute value" : "");
  out.value = out.margin = bound;
  out.unit = unit;
  findings.push_back(out);
}

void lintLimits(const Model& model, int j, std::vector<Finding>& findings) {
  const Joint& joint = model.joints[static_cast<size_t>(j)];
  if (velocityCount(joint.type) != 1 || joint.mimic) return;
  lintPositionLimits(model, j, findings);
  if (std::isnan(joint.limits.velocity) && std::isnan(joint.limits.effort)) {
    Finding out = jointFinding(Severity::kNote, "limit-missing", model, j);
    out.message = "no velocity and no effort limit";
    out.advice = "give them to design motions and to protect the drive";
    findings.push_back(out);
    return;
  }
  lintBound(model, j, "velocity", joint.limits.velocity, std::string(positionUnit(joint)) + "/s",
            findings);
  lintBound(model, j, "effort", joint.limits.effort, effortUnit(joint), findings);
}

// ---- drives ----

struct DriveFamily {
  std::optional<double> motor, gear;  // medians, where there are enough joints
};

std::optional<double> medianOf(std::vector<double> values) {
  if (values.size() < kFamily) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double motorInertia(const Drive& drive) {
  return drive.rotor_inertia / (drive.gear_ratio * drive.gear_ratio);
}

DriveFamily driveFamily(const Model& model) {
  std::vector<double> motors, gears;
  for (const Joint& joint : model.joints) {
    if (!joint.drive.declared || isLinear(joint) || joint.drive.gear_ratio == 0.0) continue;
    if (joint.drive.rotor_inertia > 0.0) motors.push_back(motorInertia(joint.drive));
    if (std::abs(joint.drive.gear_ratio) != 1.0) gears.push_back(std::abs(joint.drive.gear_ratio));
  }
  return {medianOf(motors), medianOf(gears)};
}

// times above or below one
double aside(double ratio) { return ratio < 1.0 ? 1.0 / ratio : ratio; }

void lintDrive(const Model& model, int j, const DriveFamily& family,
               const InertialParameters& beyond, std::vector<Finding>& findings) {
  const Joint& joint = model.joints[static_cast<size_t>(j)];
  const Drive& drive = joint.drive;
  if (velocityCount(joint.type) != 1) return;
  const auto add = [&](Severity severity, const char* rule, double value, double margin,
                       const char* unit, const std::string& message, const char* advice) {
    const bool gear = std::string_view(rule).starts_with("gear");
    Finding out = gear ? jointFinding(severity, rule, model, j, {"drive.gear_ratio"})
                       : jointFinding(severity, rule, model, j,
                                      {"drive.rotor_inertia", "drive.motor_inertia"});
    out.value = value;
    out.margin = margin;
    out.unit = unit;
    out.message = message;
    out.advice = advice;
    findings.push_back(out);
  };
  if (drive.rotor_inertia < 0.0) {
    add(Severity::kError, "rotor-negative", drive.rotor_inertia, drive.rotor_inertia,
        inertiaUnit(joint), "the rotor inertia is negative",
        "give it in kg m², reflected to the joint (motor inertia times ratio squared)");
  }
  if (drive.gear_ratio == 0.0) {
    add(Severity::kError, "gear-zero", 0.0, 0.0, "", "the gear ratio is zero",
        "give motor turns per joint turn; 1 for a direct drive");
    return;
  }
  if (!drive.declared) return;
  if (!isLinear(joint) && family.gear && std::abs(drive.gear_ratio) != 1.0) {
    const double ratio = aside(std::abs(drive.gear_ratio) / *family.gear);
    if (ratio > kGearFamily) {
      add(Severity::kWarning, "gear-family", drive.gear_ratio, kGearFamily - ratio, "",
          fmt::format("the gear ratio is {} times away from the other joints' ({})",
                      readable(ratio, 3), readable(*family.gear)),
          "check for an inverse (1/ratio) or a missing decimal point");
    }
  }
  if (!(drive.rotor_inertia > 0.0)) return;
  if (!isLinear(joint) && family.motor) {
    const double ratio = aside(motorInertia(drive) / *family.motor);
    if (ratio > kMotorFamily) {
      add(Severity::kWarning, "rotor-family", drive.rotor_inertia, kMotorFamily - ratio,
          inertiaUnit(joint),
          fmt::format("its motor inertia {} kg m² (rotor / ratio²) is {} times away from the other "
                      "motors' ({})",
                      readable(motorInertia(drive)), readable(ratio, 3), readable(*family.motor)),
          "rotor_inertia is at the joint, motor_inertia before the gear; check which one this is");
      return;
    }
  }
  const double arm = isLinear(joint) ? beyond.mass : joint.axis.dot(beyond.inertia * joint.axis);
  if (!(arm > 0.0)) return;
  const double share = drive.rotor_inertia / arm;
  if (share < kSmallestRotor || share > kLargestRotor) {
    add(Severity::kWarning, "rotor-family", drive.rotor_inertia,
        share < kSmallestRotor ? share / kSmallestRotor - 1.0 : 1.0 - share / kLargestRotor,
        inertiaUnit(joint),
        fmt::format("the rotor has {} times the inertia of what the joint moves ({} {})",
                    readable(share, 3), readable(arm), inertiaUnit(joint)),
        "check that it is reflected to the joint once: motor inertia times ratio squared");
  }
}

void lintFriction(const Model& model, int j, std::vector<Finding>& findings) {
  const Joint& joint = model.joints[static_cast<size_t>(j)];
  for (const FrictionTerm& term : joint.friction.terms) {
    if (!(term.coefficient < 0.0)) continue;
    switch (term.kind) {
      case FrictionTermKind::kOffset:
      case FrictionTermKind::kPower:
      case FrictionTermKind::kArctan:
      case FrictionTermKind::kStribeck:
        continue;  // may be negative as a part of a sum
      default:
        break;
    }
    Finding out = jointFinding(Severity::kWarning, "friction-negative", model, j,
                               {"friction." + term.name, "friction"});
    out.message = fmt::format("its {} friction is negative and would drive the joint", term.name);
    out.advice = "friction opposes motion: give a coefficient that is not negative";
    out.value = out.margin = term.coefficient;
    out.unit = frictionUnit(term, isLinear(joint));
    findings.push_back(out);
  }
  const DynamicFriction& dynamic = joint.friction.dynamic;
  const bool breaks_away =
      dynamic.kind == DynamicFrictionKind::kLuGre || dynamic.kind == DynamicFrictionKind::kLeuven;
  if (breaks_away && dynamic.stiction < dynamic.coulomb) {
    Finding out =
        jointFinding(Severity::kWarning, "friction-stiction", model, j, {"friction.dynamic"});
    out.message = fmt::format("it breaks away at {}, below its Coulomb friction of {}",
                              readable(dynamic.stiction), readable(dynamic.coulomb));
    out.advice = "stiction is the torque that starts the motion: give at least coulomb";
    out.value = dynamic.stiction;
    out.margin = dynamic.stiction - dynamic.coulomb;
    out.unit = effortUnit(joint);
    findings.push_back(out);
  }
}

}  // namespace

void lintJoints(const Model& model, std::vector<Finding>& findings) {
  const DriveFamily family = driveFamily(model);
  const std::vector<InertialParameters> beyond = inertiaBeyondJoints(model);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[static_cast<size_t>(j)];
    lintLimits(model, j, findings);
    lintDrive(model, j, family, beyond[static_cast<size_t>(j)], findings);
    lintFriction(model, j, findings);
    if (joint.mimic && joint.mimic->ratio == 0.0) {
      Finding out =
          jointFinding(Severity::kWarning, "mimic-zero", model, j, {"mimic.ratio", "mimic"});
      out.message = fmt::format("it mimics '{}' with the ratio zero", joint.mimic->leader);
      out.advice = "give the ratio, or make the joint fixed";
      out.value = 0.0;
      findings.push_back(out);
    }
  }
}

}  // namespace proprio::internal
