#include "proprio/identification/usual_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace proprio {
namespace {

/// No friction, or only zeros of the two kinds that a URDF can state.
bool saysNothing(const FrictionModel& friction) {
  return friction.dynamic.kind == DynamicFrictionKind::kNone &&
         std::all_of(friction.terms.begin(), friction.terms.end(), [](const FrictionTerm& term) {
           return term.coefficient == 0.0 && (term.kind == FrictionTermKind::kViscous ||
                                              term.kind == FrictionTermKind::kCoulomb);
         });
}

FrictionTerm zeroTerm(FrictionTermKind kind, const char* name) {
  FrictionTerm term;
  term.kind = kind;
  term.name = name;
  return term;
}

}  // namespace

Model withUsualTerms(const Model& model, std::vector<std::string>* told) {
  Model usual = model;
  std::vector<std::string> joints;
  for (Joint& joint : usual.joints) {
    if (velocityCount(joint.type) != 1 || joint.mimic || !saysNothing(joint.friction)) continue;
    // zeros that are stated on purpose, beside a drive, stay as they are
    if (joint.drive.declared && !joint.friction.terms.empty()) continue;
    joint.friction.terms = {zeroTerm(FrictionTermKind::kViscous, "viscous"),
                            zeroTerm(FrictionTermKind::kCoulomb, "coulomb"),
                            zeroTerm(FrictionTermKind::kOffset, "offset")};
    joint.drive.declared = true;
    joints.push_back(joint.name);
  }
  if (!joints.empty())
    told->push_back(fmt::format(
        "no friction is declared of {}: viscous and Coulomb friction, an offset and the rotor's "
        "inertia are identified too (--as-declared leaves them out)",
        fmt::join(joints, ", ")));
  return usual;
}

}  // namespace proprio
