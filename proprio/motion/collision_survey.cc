#include "proprio/motion/collision_survey.h"

#include <cmath>

#include "proprio/motion/uniform_internal.h"

namespace proprio {

std::vector<PermanentContact> permanentContacts(const Tree& tree, const ConstraintOptions& options,
                                                const ContactSurvey& survey) {
  if (!options.collisions) return {};
  const RobotCollisions& collisions = *options.collisions;
  const Model& model = tree.model();
  const MotionLimits limits =
      limitsOf(model, options.joints.empty() ? motionJoints(model) : options.joints);
  Eigen::VectorXd q = options.posture.size() > 0 ? options.posture : tree.neutralPosition();
  struct Suspect {
    int pair, apart;
  };
  std::vector<Suspect> suspects;
  for (int pair = 0; pair < collisions.pairCount(); ++pair) {
    if (collisions.links(pair).second >= 0) suspects.push_back({pair, 0});
  }
  const int most_apart = static_cast<int>(std::floor((1.0 - survey.least) * survey.postures));
  Uniform random(survey.seed);
  Kinematics kinematics(tree);
  for (int k = 0; k < survey.postures && !suspects.empty(); ++k) {
    for (int j = 0; j < limits.size(); ++j) {
      const bool stated = std::isfinite(limits.lower[j]) && std::isfinite(limits.upper[j]);
      q[tree.positionIndex(requireJoint(model, limits.joints[static_cast<size_t>(j)]))] =
          stated ? random(limits.lower[j], limits.upper[j]) : random(-M_PI, M_PI);
    }
    computeKinematics(tree, q, kinematics);
    std::vector<Suspect> left;
    for (Suspect s : suspects) {
      const double distance = collisions.distance(kinematics, s.pair, options.clearance).distance;
      if (distance >= options.clearance) ++s.apart;
      if (s.apart <= most_apart) left.push_back(s);
    }
    suspects = std::move(left);
  }
  std::vector<PermanentContact> contacts;
  for (const Suspect& s : suspects) {
    contacts.push_back({s.pair, 1.0 - static_cast<double>(s.apart) / survey.postures});
  }
  return contacts;
}

}  // namespace proprio
