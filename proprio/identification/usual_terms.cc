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

/// Adds the usual terms that are not there yet, with coefficients of zero.
void completeTerms(FrictionModel* friction) {
  struct Usual {
    FrictionTermKind kind;
    const char* name;
  };
  constexpr Usual kUsual[] = {{FrictionTermKind::kViscous, "viscous"},
                              {FrictionTermKind::kCoulomb, "coulomb"},
                              {FrictionTermKind::kOffset, "offset"}};
  std::vector<FrictionTerm> terms;
  for (const Usual& usual : kUsual) {
    const auto stated =
        std::find_if(friction->terms.begin(), friction->terms.end(),
                     [&](const FrictionTerm& term) { return term.kind == usual.kind; });
    if (stated != friction->terms.end()) {
      terms.push_back(*stated);
      continue;
    }
    FrictionTerm term;
    term.kind = usual.kind;
    term.name = usual.name;
    terms.push_back(std::move(term));
  }
  friction->terms = std::move(terms);
}

/// What of friction with a state is left at steady speed, as it is declared for a fit.
std::string steadyPart(const Joint& joint) {
  const DynamicFriction& law = joint.friction.dynamic;
  return fmt::format("{}: {{friction: {{viscous: {:g}, coulomb: {:g}}}}}", joint.name, law.sigma2,
                     law.coulomb);
}

}  // namespace

Model withUsualTerms(const Model& model, std::vector<std::string>* told) {
  Model usual = model;
  std::vector<std::string> without, stated, with_state;
  for (Joint& joint : usual.joints) {
    if (velocityCount(joint.type) != 1 || joint.mimic) continue;
    if (joint.friction.dynamic.kind != DynamicFrictionKind::kNone && joint.friction.terms.empty())
      with_state.push_back(steadyPart(joint));
    const bool nothing = saysNothing(joint.friction);
    if (!joint.friction.from_urdf) {
      // zeros that are stated on purpose, beside a drive, stay as they are
      if (!nothing || (joint.drive.declared && !joint.friction.terms.empty())) continue;
    }
    (nothing ? without : stated).push_back(joint.name);
    completeTerms(&joint.friction);
    joint.friction.from_urdf = false;  // now it says all
    joint.drive.declared = true;
  }
  if (!without.empty())
    told->push_back(fmt::format(
        "no friction is declared of {}: viscous and Coulomb friction, an offset and the rotor's "
        "inertia are identified too (--as-declared leaves them out)",
        fmt::join(without, ", ")));
  if (!stated.empty())
    told->push_back(fmt::format(
        "of {} the URDF's <dynamics> states friction as far as it can: what it lacks of viscous "
        "and "
        "Coulomb friction, an offset and the rotor's inertia are identified too (--as-declared "
        "leaves them out)",
        fmt::join(stated, ", ")));
  if (!with_state.empty())
    told->push_back(fmt::format(
        "friction with a state ('dynamic') is for simulation and was not identified, nor is other "
        "friction of its joint; what is left of it at steady speed is, if robot.yaml declares it "
        "instead: {}",
        fmt::join(with_state, ", ")));
  return usual;
}

}  // namespace proprio
