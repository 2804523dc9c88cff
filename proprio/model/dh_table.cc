#include "proprio/model/dh_table.h"

namespace proprio {
namespace {

Pose alongX(double angle, double distance) {
  return {rotationExp(angle * Vector3d::UnitX()), distance * Vector3d::UnitX()};
}
Pose alongZ(double angle, double distance) {
  return {rotationExp(angle * Vector3d::UnitZ()), distance * Vector3d::UnitZ()};
}

}  // namespace

Pose dhPose(DhConvention convention, const DhRow& row, double q) {
  const double turned = row.type == JointType::kPrismatic ? 0.0 : q;
  const double moved = row.type == JointType::kPrismatic ? q : 0.0;
  const Pose z = alongZ(row.theta + turned, row.d + moved);
  const Pose x = alongX(row.alpha, row.a);
  return convention == DhConvention::kModified ? x * z : z * x;
}

Model dhChain(DhConvention convention, const std::vector<DhRow>& rows, const std::string& base_link,
              const Pose& X_B0) {
  Model model;
  model.links.resize(1);
  model.links[0].name = base_link;
  for (const DhRow& row : rows) {
    Joint joint;
    joint.name = row.joint;
    joint.type = row.type;
    joint.first = static_cast<int>(model.links.size()) - 1;
    joint.second = joint.first + 1;
    joint.axis = Vector3d::UnitZ();
    // the motion along z commutes with the row's own theta and d, so it can stand after (modified)
    // or before (classic) the constant part
    const bool modified = convention == DhConvention::kModified;
    (modified ? joint.X_FJ : joint.X_JS) = dhPose(convention, row, 0.0);
    if (joint.first == 0) joint.X_FJ = X_B0 * joint.X_FJ;
    model.joints.push_back(std::move(joint));
    model.links.emplace_back();
    model.links.back().name = row.link;
  }
  return model;
}

}  // namespace proprio
