#include "proprio/dynamics/coriolis.h"

#include "proprio/dynamics/coordinates.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

Matrix3d bodyRotationalInertia(const kernels::Inertia<double>& I) {
  Matrix3d J;
  J << I.syy + I.szz, -I.sxy, -I.sxz, -I.sxy, I.sxx + I.szz, -I.syz, -I.sxz, -I.syz, I.sxx + I.syy;
  return J;
}

/// The factor of the centre-of-mass form, about O, of a body with mass.
Matrix6d centreOfMassFactor(const CompiledParameters& parameters, const Kinematics& k, int body) {
  const kernels::Inertia<double>& I = parameters.bodies[static_cast<size_t>(body)];
  const Pose& X = k.X_WB[static_cast<size_t>(body)];
  const Vector3d c = Vector3d(I.hx, I.hy, I.hz) / I.m;
  const Matrix3d at_com =
      X.R * (bodyRotationalInertia(I) + I.m * skew(c) * skew(c)) * X.R.transpose();
  const Vector3d w = k.V[static_cast<size_t>(body)].tail<3>();
  Matrix6d factor = Matrix6d::Zero();
  factor.topLeftCorner<3, 3>() = I.m * skew(w);
  factor.bottomRightCorner<3, 3>() = -skew(at_com * w);
  const Matrix6d G = velocityAdjoint({Matrix3d::Identity(), -(X * c - k.origin)});
  return G.transpose() * factor * G;
}

}  // namespace

CoriolisWorkspace::CoriolisWorkspace(const Tree& tree)
    : M(tree.bodies().size()),
      D(tree.bodies().size()),
      full(tree.fullVelocityCount(), tree.fullVelocityCount()) {}

Matrix6d inertiaAboutOrigin(const CompiledParameters& parameters, const Kinematics& kinematics,
                            int body) {
  const kernels::Inertia<double>& I = parameters.bodies[static_cast<size_t>(body)];
  const Pose& X = kinematics.X_WB[static_cast<size_t>(body)];
  const Vector3d p = X.p - kinematics.origin;
  const Vector3d h_rotated = X.R * Vector3d(I.hx, I.hy, I.hz);
  const Vector3d h = h_rotated + I.m * p;
  const Matrix3d J = X.R * bodyRotationalInertia(I) * X.R.transpose();
  Matrix6d M;
  M.topLeftCorner<3, 3>() = I.m * Matrix3d::Identity();
  M.topRightCorner<3, 3>() = -skew(h);
  M.bottomLeftCorner<3, 3>() = skew(h);
  M.bottomRightCorner<3, 3>() = J - skew(p) * skew(h_rotated) - skew(h) * skew(p);
  return M;
}

void coriolisMatrix(const Tree& tree, const CompiledParameters& parameters,
                    const Kinematics& kinematics, CoriolisFactorisation factorisation,
                    CoriolisWorkspace& workspace, MatrixRef C) {
  requireSize("coriolisMatrix", "rows of C", C.rows(), tree.velocityCount());
  requireSize("coriolisMatrix", "columns of C", C.cols(), tree.velocityCount());
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const auto i = static_cast<size_t>(b);
    const Matrix6d M = inertiaAboutOrigin(parameters, kinematics, b);
    workspace.M[i] = M;
    const bool has_centre = parameters.bodies[i].m != 0.0;
    if (factorisation == CoriolisFactorisation::kBody || !has_centre) {
      workspace.D[i].noalias() = forceCrossMatrix(kinematics.V[i]) * M;
    } else {
      workspace.D[i] = centreOfMassFactor(parameters, kinematics, b);
      workspace.D[i].noalias() -= M * motionCrossMatrix(kinematics.V[i]);
    }
  }
  for (int b = tree.bodyCount() - 1; b > 0; --b) {
    const auto parent = static_cast<size_t>(tree.bodies()[static_cast<size_t>(b)].parent);
    workspace.M[parent] += workspace.M[static_cast<size_t>(b)];
    workspace.D[parent] += workspace.D[static_cast<size_t>(b)];
  }
  workspace.full.setZero();
  // for the deeper coordinate's body: row j on its path and column k on its path
  const auto entry = [&](int j, int k, size_t body) {
    const Vector6d column =
        workspace.D[body] * kinematics.S.col(k) + workspace.M[body] * kinematics.dS.col(k);
    workspace.full(j, k) = kinematics.S.col(j).dot(column);
  };
  for (int j = 0; j < tree.fullVelocityCount(); ++j) {
    const int deep = kinematics.body_of[static_cast<size_t>(j)];
    for (int b = deep; b >= 0; b = tree.bodies()[static_cast<size_t>(b)].parent) {
      const TreeBody& body = tree.bodies()[static_cast<size_t>(b)];
      const int count =
          body.joint == BodyJoint::kFloating ? 6 : (body.joint == BodyJoint::kFixed ? 0 : 1);
      for (int k = body.v; k < body.v + count; ++k) {
        entry(j, k, static_cast<size_t>(deep));
        if (b != deep) entry(k, j, static_cast<size_t>(deep));
      }
    }
  }
  internal::contractMatrix(tree, {workspace.full.data(), 1, workspace.full.outerStride()},
                           {C.data(), 1, C.outerStride()});
}

}  // namespace proprio
