#include "proprio/dynamics/base_change.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "proprio/core/error.h"
#include "proprio/dynamics/inverse_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

using Rows6 = Eigen::Matrix<double, 6, Eigen::Dynamic>;

void requireFloating(const Tree& tree, const char* function) {
  if (!tree.floating())
    throw Error(std::string(function) + ": the tree must have a floating base.");
}

/// From the six rows J that give the new base velocity, v~_b = J v, and their derivative.
BaseChange fromRows(const Rows6& J, const Rows6& dJ) {
  const Eigen::Index nv = J.cols();
  BaseChange change;
  change.T.setIdentity(nv, nv);
  change.T.topRows<6>() = J;
  const Matrix6d inverse = Matrix6d(J.leftCols<6>()).inverse();
  change.T_inverse.setIdentity(nv, nv);
  change.T_inverse.topLeftCorner<6, 6>() = inverse;
  change.T_inverse.topRightCorner(6, nv - 6) = -inverse * J.rightCols(nv - 6);
  Eigen::MatrixXd dT = Eigen::MatrixXd::Zero(nv, nv);
  dT.topRows<6>() = dJ;
  change.T_inverse_rate = -change.T_inverse * dT * change.T_inverse;
  return change;
}

/// Jacobian of a link in a representation and its time derivative, base columns for the body twist.
void jacobianAndRate(const Tree& tree, const Kinematics& k, int link, Representation of, Rows6* J,
                     Rows6* dJ) {
  const Pose& X_WL = k.X_WL[static_cast<size_t>(link)];
  const Vector3d p = X_WL.p - k.origin;
  const auto body = static_cast<size_t>(tree.bodyOfLink(link));
  const Vector3d w = k.V[body].tail<3>();
  const Vector3d velocity = Vector3d(k.V[body].head<3>()) + w.cross(p);
  // adjoint from twists about O, and its derivative
  Matrix6d X, dX;
  if (of == Representation::kSpatial) {
    X = velocityAdjoint({Matrix3d::Identity(), k.origin});
    dX.setZero();
  } else if (of == Representation::kMixed) {
    X = velocityAdjoint({Matrix3d::Identity(), -p});
    dX.setZero();
    dX.topRightCorner<3, 3>() = -skew(velocity);
  } else if (of == Representation::kBody) {
    X = velocityAdjoint(Pose{X_WL.R, p}.inverse());
    dX = -X * motionCrossMatrix(k.V[body]);
  } else {
    throw Error("base velocities have body, spatial or mixed representation.");
  }
  J->setZero(6, tree.velocityCount());
  dJ->setZero(6, tree.velocityCount());
  for (int c = 0; c < tree.fullVelocityCount(); ++c) {
    const auto i = static_cast<size_t>(c);
    const int first = k.body_of[i];
    const int b = tree.bodyOfLink(link);
    if (b < first || b >= tree.bodies()[static_cast<size_t>(first)].subtree_end) continue;
    J->col(tree.v_source[i]) += tree.v_ratio[i] * (X * k.S.col(c));
    dJ->col(tree.v_source[i]) += tree.v_ratio[i] * (dX * k.S.col(c) + X * k.dS.col(c));
  }
}

}  // namespace

EquationsOfMotion equationsOfMotion(const Tree& tree, const CompiledParameters& parameters,
                                    Workspace& workspace, const Kinematics& kinematics,
                                    ConstVectorRef q, CoriolisFactorisation factorisation) {
  const int nv = tree.velocityCount();
  EquationsOfMotion equations;
  equations.M.setZero(nv, nv);
  equations.C.setZero(nv, nv);
  equations.G.setZero(nv);
  massMatrix(tree, parameters, workspace, q, equations.M);
  CoriolisWorkspace coriolis(tree);
  coriolisMatrix(tree, parameters, kinematics, factorisation, coriolis, equations.C);
  gravityTorque(tree, parameters, workspace, q, equations.G);
  return equations;
}

EquationsOfMotion transformed(const EquationsOfMotion& equations, const BaseChange& change) {
  const Eigen::MatrixXd& Ti = change.T_inverse;
  EquationsOfMotion out;
  out.M = Ti.transpose() * equations.M * Ti;
  out.C = Ti.transpose() * (equations.M * change.T_inverse_rate + equations.C * Ti);
  out.G = Ti.transpose() * equations.G;
  return out;
}

BaseChange toBaseRepresentation(const Tree& tree, const Kinematics& kinematics,
                                Representation representation) {
  return toBaseLink(tree, kinematics, tree.baseLink(), representation);
}

BaseChange toBaseLink(const Tree& tree, const Kinematics& kinematics, int link,
                      Representation representation) {
  requireFloating(tree, "toBaseLink");
  Rows6 J, dJ;
  jacobianAndRate(tree, kinematics, link, representation, &J, &dJ);
  return fromRows(J, dJ);
}

BaseChange toCompoundBase(const Tree& tree, const Kinematics& kinematics, int origin_link,
                          int orientation_link) {
  requireFloating(tree, "toCompoundBase");
  Rows6 J, dJ, J_orientation, dJ_orientation;
  jacobianAndRate(tree, kinematics, origin_link, Representation::kMixed, &J, &dJ);
  jacobianAndRate(tree, kinematics, orientation_link, Representation::kMixed, &J_orientation,
                  &dJ_orientation);
  J.bottomRows<3>() = J_orientation.bottomRows<3>();
  dJ.bottomRows<3>() = dJ_orientation.bottomRows<3>();
  return fromRows(J, dJ);
}

BaseChange toComBase(const Tree& tree, const CompiledParameters& parameters,
                     const Kinematics& kinematics) {
  requireFloating(tree, "toComBase");
  Rows6 J, dJ, A(6, tree.velocityCount()), dA(6, tree.velocityCount());
  jacobianAndRate(tree, kinematics, tree.baseLink(), Representation::kMixed, &J, &dJ);
  centroidalMomentumMatrix(tree, parameters, kinematics, A);
  centroidalMomentumMatrixRate(tree, parameters, kinematics, dA);
  const double mass = totalMass(parameters);
  J.topRows<3>() = A.topRows<3>() / mass;
  dJ.topRows<3>() = dA.topRows<3>() / mass;
  return fromRows(J, dJ);
}

BaseChange toCentroidalBase(const Tree& tree, const CompiledParameters& parameters,
                            const Kinematics& kinematics) {
  requireFloating(tree, "toCentroidalBase");
  const int nv = tree.velocityCount();
  Rows6 A(6, nv), dA(6, nv);
  centroidalMomentumMatrix(tree, parameters, kinematics, A);
  centroidalMomentumMatrixRate(tree, parameters, kinematics, dA);
  const CentroidalState state = centroidalState(tree, parameters, kinematics);
  // rate of I_G: with the locked robot's axes fixed, I' = sum (V xbar* M - M V x) taken at the
  // centre of mass
  Matrix3d rate = Matrix3d::Zero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const auto i = static_cast<size_t>(b);
    const Pose& X = kinematics.X_WB[i];
    const kernels::Inertia<double>& I = parameters.bodies[i];
    // without mass: an inertia that is the same about every point
    Vector3d c = X.p - kinematics.origin;
    if (I.m != 0.0) c += X.R * Vector3d(I.hx, I.hy, I.hz) / I.m;
    const Vector3d w = kinematics.V[i].tail<3>();
    const Vector3d r = c - (state.com - kinematics.origin);
    const Vector3d r_rate = Vector3d(kinematics.V[i].head<3>()) + w.cross(c) - state.com_velocity;
    const Matrix6d M = inertiaAboutOrigin(parameters, kinematics, b);
    const Matrix3d at_com = M.bottomRightCorner<3, 3>() + I.m * skew(c) * skew(c);
    rate += skew(w) * at_com - at_com * skew(w) -
            I.m * (skew(r_rate) * skew(r) + skew(r) * skew(r_rate));
  }
  Matrix6d dI = Matrix6d::Zero();
  dI.bottomRightCorner<3, 3>() = rate;
  const Matrix6d inverse = state.inertia.inverse();
  const Rows6 J = inverse * A;
  return fromRows(J, inverse * dA - inverse * dI * J);
}

}  // namespace proprio
