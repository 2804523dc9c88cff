#pragma once

/// Links of a robot as ellipsoids of their inertia in space, before and after, on the skeleton of
/// its joints: drawn from one side in C++, turned by a script on the page.
///
/// A body of mass m with central second moments L_i along its principal axes is drawn as the
/// homogeneous ellipsoid that has them: semi-axes sqrt(5 L_i / m). Seen from afar (parallel
/// projection P) an ellipsoid { c + A^(1/2) u } has the outline of the ellipse with matrix P A P^T.

#include <string>
#include <vector>

#include "proprio/model/tree.h"

namespace proprio {

struct SceneBody {
  bool exists = false;  ///< it has mass
  bool possible = true;
  double mass = 0.0;
  Vector3d com = Vector3d::Zero();        ///< in the world
  Matrix3d half_axes = Matrix3d::Zero();  ///< columns: principal semi-axes in the world
};

struct SceneLink {
  std::string name;
  SceneBody before, after;
};

struct Scene {
  std::vector<SceneLink> links;
  std::vector<Vector3d> lines;   ///< pairs of ends: from joint to joint
  std::vector<Vector3d> joints;  ///< origins of the moving joints
  Vector3d centre = Vector3d::Zero();
  double radius = 1.0;
};

/// Links that move, at that of the postures where the joints lie farthest apart in the picture
/// (many arms stretch upwards at zero, link behind link); without postures at the neutral one.
/// @param before, after  parameters in the layout's order, ten per link
Scene linkScene(const Tree& tree, const std::vector<Eigen::VectorXd>& postures,
                const Eigen::VectorXd& before, const Eigen::VectorXd& after);

/// An <svg> element with the scene from one side, its data for the script, and switches.
std::string sceneHtml(const Scene& scene);
/// Style rules and script that sceneHtml() needs once per page.
const char* sceneStyle();
const char* sceneScript();

}  // namespace proprio
