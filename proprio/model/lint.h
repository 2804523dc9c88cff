#pragma once

/// Is this robot description physically possible, and plausible?
///
/// Rules (id, severity, what is compared; J_i principal inertias and L_i = (J_j + J_k - J_i)/2
/// second moments, both about the centre of mass; geometry: link_solid.h):
///   mass-positive      error    m < 0, or m = 0 although an inertia is given
///   inertia-positive   error    smallest J_i > 0 (warning: a point or a line of mass, L_i >= 0,
///                               that is fixed to something with extent)
///   inertia-triangle   error    smallest L_i >= 0, the triangle inequality; with m > 0 this says
///                               exactly that the 4x4 pseudo-inertia is positive semidefinite
///   inertia-flat       warning  smallest L_i at least 1e-6 of their sum: thinner than any sheet
///   massless-end       error    links at the end of the chain move but have neither mass nor rotor
///   massless-between   warning  massless link between two moving joints, or massless free base
///   inertial-missing   warning  link that moves and has geometry but no inertia of its own
///   inertia-default    warning  unit inertia, or one inertia tensor copied to links that differ
///   density            warning  mass / volume of the geometry in [30, 12000] kg/m^3
///   mass-tiny          warning  bodies that move weigh 1e-6 kg and 1e-6 of the robot, or more
///   gyration-large     warning  sqrt(Sigma_ii / m) <= half the geometry's extent along i, the
///                               largest value that mass inside the geometry can have; without
///                               geometry <= the robot's own reach (its longest chain of joint
///                               offsets, at least 1 m)
///   gyration-small     warning  radius of gyration at least 1/5 of the homogeneous geometry's
///   com-outside        warning  centre of mass in the geometry's bounding box (1/10 of its
///                               diagonal around it allowed)
///   limit-missing      warning  position limits of revolute and prismatic joints; one of the two,
///                               which counts as 0 (note: velocity and effort limits)
///   limit-reversed     error    lower <= upper; velocity and effort not negative
///   limit-zero         warning  lower = upper; velocity or effort limit 0, as some exporters write
///   limit-degrees      warning  angles within +-4 turns
///   rotor-negative     error    rotor inertia >= 0
///   rotor-family       warning  rotor inertia relative to the arm it moves in [1e-4, 300]; motor
///                               inertia (rotor / ratio^2) within 300 times of the other motors
///   gear-zero          error    gear ratio not 0
///   gear-family        warning  |gear ratio| within 30 times of the others
///   friction-negative  warning  viscous and Coulomb coefficients >= 0
///   friction-stiction  warning  friction with a state: break-away torque at least Coulomb's
///   mimic-zero         warning  mimic ratio not 0
///   mesh               note     meshes that could not be used
///   duplicate-name, unreachable-link, mimic-unknown, mimic-loop   error   (lintUrdfStructure)
///
/// Not checked: whether shapes collide, and whether the numbers are those of the real robot.
/// Sources for the inertia rules: Traversaro 2017 section 6; Wensing, Kim, Slotine 2018.

#include <string>
#include <vector>

#include "proprio/model/model.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {

enum class Severity { kNote, kWarning, kError };
const char* toString(Severity severity);

struct Finding {
  Severity severity = Severity::kNote;
  std::string rule;
  std::string subject;         ///< "link forearm", "joint elbow"
  std::string message;         ///< half a sentence with what was found
  std::string advice;          ///< what to do
  double value = kNotStated;   ///< the number that was judged
  double margin = kNotStated;  ///< distance of the value from its bound, negative when violated
  std::string unit;            ///< of value and margin
  FileLocation location;
  int link = -1;  ///< index in the model, -1 if it is not about one link
  int joint = -1;
};

/// Checks a model as read with lump_fixed = false, so that every link is judged by its own numbers.
/// Errors first; in the order of the description within a severity.
std::vector<Finding> lint(const Model& model);

/// What can be said about a URDF that cannot be read as a robot.
struct UrdfStructure {
  /// All names used twice, links that no joint connects, mimic joints that follow nothing or each
  /// other, and after them what lint() says about the rest and the notes of its reader. Empty if
  /// the trouble is of another kind.
  std::vector<Finding> findings;
  /// Without the second of links with equal names, without unconnected links and their joints, and
  /// with one joint of every mimic loop free, as those that follow nothing. Empty if that cannot be
  /// read either.
  Model rest;
  std::string unreadable;  ///< then the reader's sentence about the rest
};
UrdfStructure lintUrdfStructure(const std::string& text, const std::string& file_name);

/// A remark of the reader, as a note.
Finding asFinding(const ReadNote& note);

int countOf(const std::vector<Finding>& findings, Severity severity);
/// A finding per paragraph, aligned, and a closing line with the counts.
std::string findingsText(const std::vector<Finding>& findings, bool colour, int width = 100);
/// For programs: robot, possible, errors, warnings, notes, findings (severity, rule, subject,
/// message, advice, value, margin, unit, file, line), links (name, mass, smallest principal inertia
/// and smallest second moment about the centre of mass, volume and density where there are shapes).
/// `model` may be empty, for findings about a file that is not a robot. `repair_json`, if given, is
/// put in as `repair`.
std::string findingsJson(const Model& model, const std::vector<Finding>& findings,
                         const std::string& repair_json = {});

}  // namespace proprio
