#include "proprio/dynamics/kinematics.h"

#include <Eigen/Geometry>

#include "proprio/core/error.h"
#include "proprio/dynamics/coordinates.h"
#include "proprio/spatial/se3.h"

namespace proprio {
namespace {

using Row3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Pose constantPose(const double* R, const double* p) {
  return {Eigen::Map<const Row3>(R), Eigen::Map<const Vector3d>(p)};
}

double fullPosition(const Tree& tree, ConstVectorRef q, int i) {
  const auto k = static_cast<size_t>(i);
  return tree.q_ratio[k] * q[tree.q_source[k]] + tree.q_offset[k];
}

double fullVelocity(const Tree& tree, const double* v, int i) {
  const auto k = static_cast<size_t>(i);
  return tree.v_ratio[k] * v[tree.v_source[k]];
}

Pose jointMotion(const Tree& tree, const TreeBody& body, ConstVectorRef q) {
  Pose X;
  if (body.joint == BodyJoint::kRevolute) {
    const double angle = fullPosition(tree, q, body.q);
    const double c = std::cos(angle), s = std::sin(angle);
    X.R << c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0;
  } else if (body.joint == BodyJoint::kPrismatic) {
    X.p.z() = fullPosition(tree, q, body.q);
  } else if (body.joint == BodyJoint::kFloating) {
    const int start = tree.q_source[static_cast<size_t>(body.q)];
    X.p = q.segment<3>(start);
    const Eigen::Vector4d xyzw = q.segment<4>(start + 3) / q.segment<4>(start + 3).norm();
    X.R = Eigen::Quaterniond(xyzw[3], xyzw[0], xyzw[1], xyzw[2]).toRotationMatrix();
  }
  return X;
}

/// Columns of a body's joint about O.
void fillColumns(const TreeBody& body, const Pose& X_WB, const Vector3d& origin, Kinematics& k) {
  const Vector3d p = X_WB.p - origin;
  if (body.joint == BodyJoint::kRevolute) {
    const Vector3d z = X_WB.R.col(2);
    k.S.col(body.v) << p.cross(z), z;
  } else if (body.joint == BodyJoint::kPrismatic) {
    k.S.col(body.v) << X_WB.R.col(2), Vector3d::Zero();
  } else if (body.joint == BodyJoint::kFloating) {
    k.S.middleCols<6>(body.v) = velocityAdjoint({X_WB.R, p});
  }
}

int coordinateCount(BodyJoint joint) {
  switch (joint) {
    case BodyJoint::kFixed:
      return 0;
    case BodyJoint::kFloating:
      return 6;
    default:
      return 1;
  }
}

void compute(const Tree& tree, ConstVectorRef q, const double* v, const double* a, Kinematics& k) {
  requireSize("computeKinematics", "q", q.size(), tree.positionCount());
  for (int i = 0; i < tree.bodyCount(); ++i) {
    const auto b = static_cast<size_t>(i);
    const TreeBody& body = tree.bodies()[b];
    const Pose X_PB = constantPose(body.R_PJ, body.p_PJ) * jointMotion(tree, body, q);
    const bool root = body.parent < 0;
    const auto parent = static_cast<size_t>(root ? 0 : body.parent);
    k.X_WB[b] = root ? X_PB : k.X_WB[parent] * X_PB;
    if (root) k.origin = k.X_WB[b].p;
    if (body.link >= 0) {
      k.X_WL[static_cast<size_t>(body.link)] = k.X_WB[b] * constantPose(body.R_BL, body.p_BL);
    }
    fillColumns(body, k.X_WB[b], k.origin, k);
    k.V[b] = root ? Vector6d(Vector6d::Zero()) : k.V[parent];
    k.A[b] = root ? Vector6d(Vector6d::Zero()) : k.A[parent];
    k.bias[b] = root ? Vector6d(Vector6d::Zero()) : k.bias[parent];
    const int count = coordinateCount(body.joint);
    Vector6d joint_twist = Vector6d::Zero();
    for (int c = body.v; v != nullptr && c < body.v + count; ++c)
      joint_twist += k.S.col(c) * fullVelocity(tree, v, c);
    k.V[b] += joint_twist;
    const Vector6d product = motionCross(k.V[b], joint_twist);
    k.bias[b] += product;
    k.A[b] += product;
    for (int c = body.v; c < body.v + count; ++c) {
      k.dS.col(c) = motionCross(k.V[b], k.S.col(c));
      if (a != nullptr) k.A[b] += k.S.col(c) * fullVelocity(tree, a, c);
    }
  }
}

/// Adjoint from twists about O to the frame's twist in a representation.
Matrix6d fromOrigin(const Kinematics& k, const Pose& X_WF, Representation of) {
  const Vector3d p = X_WF.p - k.origin;
  switch (of) {
    case Representation::kSpatial:
      return velocityAdjoint({Matrix3d::Identity(), k.origin});
    case Representation::kMixed:
      return velocityAdjoint({Matrix3d::Identity(), -p});
    case Representation::kBody:
      return velocityAdjoint(Pose{X_WF.R, p}.inverse());
    case Representation::kSensor:
      break;
  }
  throw Error(
      "a Jacobian has body, spatial or mixed representation; the sensor form is for "
      "accelerations.");
}

/// For v_body = transform * v_in_representation of the base.
Matrix6d bodyFromBase(const Kinematics& k, Representation base) {
  if (base == Representation::kSensor) return fromOrigin(k, k.X_WB[0], base);
  return motionTransform(Representation::kBody, base, k.X_WB[0]);
}

/// Acceleration (spatial, about O) of a frame in a representation; twist of the frame about O.
Vector6d convertAcceleration(const Kinematics& k, const Pose& X_WF, const Vector6d& twist,
                             const Vector6d& acceleration, Representation of) {
  Vector6d converted = fromOrigin(k, X_WF, of) * acceleration;
  if (of != Representation::kMixed) return converted;
  // the mixed form is the classical acceleration: add w x v of the frame origin
  const Vector6d mixed_twist = fromOrigin(k, X_WF, of) * twist;
  converted.head<3>() += Vector3d(mixed_twist.tail<3>()).cross(Vector3d(mixed_twist.head<3>()));
  return converted;
}

template <class F>
void forPath(const Tree& tree, int body, F f) {
  for (int b = body; b >= 0; b = tree.bodies()[static_cast<size_t>(b)].parent) {
    const TreeBody& node = tree.bodies()[static_cast<size_t>(b)];
    for (int c = node.v; c < node.v + coordinateCount(node.joint); ++c) f(c);
  }
}

}  // namespace

Kinematics::Kinematics(const Tree& tree)
    : X_WB(tree.bodies().size()),
      X_WL(tree.model().links.size()),
      V(tree.bodies().size(), Vector6d::Zero()),
      A(V),
      bias(V),
      S(6, tree.fullVelocityCount()),
      dS(6, tree.fullVelocityCount()),
      body_of(static_cast<size_t>(tree.fullVelocityCount()), 0) {
  S.setZero();
  dS.setZero();
  for (int b = 0; b < tree.bodyCount(); ++b) {
    const TreeBody& body = tree.bodies()[static_cast<size_t>(b)];
    for (int c = 0; c < coordinateCount(body.joint); ++c)
      body_of[static_cast<size_t>(body.v + c)] = b;
  }
}

void computeKinematics(const Tree& tree, ConstVectorRef q, Kinematics& kinematics) {
  compute(tree, q, nullptr, nullptr, kinematics);
}
void computeKinematics(const Tree& tree, ConstVectorRef q, ConstVectorRef v,
                       Kinematics& kinematics) {
  requireSize("computeKinematics", "v", v.size(), tree.velocityCount());
  compute(tree, q, v.data(), nullptr, kinematics);
}
void computeKinematics(const Tree& tree, ConstVectorRef q, ConstVectorRef v, ConstVectorRef a,
                       Kinematics& kinematics) {
  requireSize("computeKinematics", "v", v.size(), tree.velocityCount());
  requireSize("computeKinematics", "a", a.size(), tree.velocityCount());
  compute(tree, q, v.data(), a.data(), kinematics);
}

Pose framePose(const Kinematics& kinematics, int link, const Pose& X_LF) {
  return kinematics.X_WL[static_cast<size_t>(link)] * X_LF;
}

BodyTwist frameTwist(const Tree& tree, const Kinematics& kinematics, int link, const Pose& X_LF) {
  const Pose X_WF = framePose(kinematics, link, X_LF);
  const auto body = static_cast<size_t>(tree.bodyOfLink(link));
  return BodyTwist::fromVector(fromOrigin(kinematics, X_WF, Representation::kBody) *
                               kinematics.V[body]);
}

BodyAcceleration frameAcceleration(const Tree& tree, const Kinematics& kinematics, int link,
                                   const Pose& X_LF) {
  const Pose X_WF = framePose(kinematics, link, X_LF);
  const auto body = static_cast<size_t>(tree.bodyOfLink(link));
  return BodyAcceleration::fromVector(fromOrigin(kinematics, X_WF, Representation::kBody) *
                                      kinematics.A[body]);
}

ProperSensorAcceleration frameProperAcceleration(const Tree& tree, const Kinematics& kinematics,
                                                 int link, const Pose& X_LF) {
  const Pose X_WF = framePose(kinematics, link, X_LF);
  const BodyTwist twist = frameTwist(tree, kinematics, link, X_LF);
  return toProper(X_WF, tree.model().gravity,
                  toSensor(X_WF, twist, frameAcceleration(tree, kinematics, link, X_LF)));
}

void frameJacobian(const Tree& tree, const Kinematics& kinematics, int link, const Pose& X_LF,
                   Representation of, Representation base,
                   Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> J) {
  requireSize("frameJacobian", "columns of J", J.cols(), tree.velocityCount());
  const Matrix6d X = fromOrigin(kinematics, framePose(kinematics, link, X_LF), of);
  J.setZero();
  forPath(tree, tree.bodyOfLink(link), [&](int c) {
    const auto k = static_cast<size_t>(c);
    J.col(tree.v_source[k]) += tree.v_ratio[k] * (X * kinematics.S.col(c));
  });
  if (tree.floating() && base != Representation::kBody) {
    const Matrix6d columns = J.leftCols<6>() * bodyFromBase(kinematics, base);
    J.leftCols<6>() = columns;
  }
}

Vector6d frameBias(const Tree& tree, const Kinematics& kinematics, int link, const Pose& X_LF,
                   Representation of, Representation base) {
  const Pose X_WF = framePose(kinematics, link, X_LF);
  const auto body = static_cast<size_t>(tree.bodyOfLink(link));
  Vector6d acceleration = kinematics.bias[body];
  if (tree.floating() && base == Representation::kMixed) {
    // zero derivative of the mixed base twist leaves the body acceleration (v x w, 0)
    const Vector6d twist =
        velocityAdjoint(Pose{kinematics.X_WB[0].R, Vector3d::Zero()}.inverse()) * kinematics.V[0];
    Vector6d rest = Vector6d::Zero();
    rest.head<3>() = Vector3d(twist.head<3>()).cross(Vector3d(twist.tail<3>()));
    acceleration += kinematics.S.leftCols<6>() * rest;
  }
  return convertAcceleration(kinematics, X_WF, kinematics.V[body], acceleration, of);
}

Pose relativePose(const Kinematics& kinematics, int from, int to) {
  return kinematics.X_WL[static_cast<size_t>(from)].inverse() *
         kinematics.X_WL[static_cast<size_t>(to)];
}

void relativeJacobian(const Tree& tree, const Kinematics& kinematics, int from, int to,
                      Representation of, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> S) {
  requireSize("relativeJacobian", "columns of S", S.cols(), tree.model().velocity_count);
  const int offset = tree.floating() ? 6 : 0;
  // the twist about O of `to` relative to `from`, then into the axes and origin of the two links
  const Pose& X_WF = kinematics.X_WL[static_cast<size_t>(from)];
  const Matrix6d in_from = velocityAdjoint(Pose{X_WF.R, X_WF.p - kinematics.origin}.inverse());
  if (of == Representation::kSensor)
    throw Error("relativeJacobian: choose body, spatial or mixed.");
  const Matrix6d X =
      motionTransform(of, Representation::kSpatial, relativePose(kinematics, from, to)) * in_from;
  S.setZero();
  const auto add = [&](int link, double sign) {
    forPath(tree, tree.bodyOfLink(link), [&](int c) {
      const auto k = static_cast<size_t>(c);
      const int source = tree.v_source[k] - offset;
      if (source >= 0) S.col(source) += sign * tree.v_ratio[k] * (X * kinematics.S.col(c));
    });
  };
  add(to, 1.0);
  add(from, -1.0);
}

Vector6d relativeBias(const Tree& tree, const Kinematics& kinematics, int from, int to,
                      Representation of) {
  if (of == Representation::kSensor) throw Error("relativeBias: choose body, spatial or mixed.");
  const auto body_from = static_cast<size_t>(tree.bodyOfLink(from));
  const auto body_to = static_cast<size_t>(tree.bodyOfLink(to));
  const Pose& X_WF = kinematics.X_WL[static_cast<size_t>(from)];
  const Matrix6d in_from = velocityAdjoint(Pose{X_WF.R, X_WF.p - kinematics.origin}.inverse());
  // in axes of `from`, which turn with it: d/dt (X V) = X (A - V_from x V)
  const Vector6d V_from = kinematics.V[body_from], V_O = kinematics.V[body_to] - V_from;
  const Vector3d v = V_from.head<3>(), w = V_from.tail<3>();
  const Vector3d v_O = V_O.head<3>(), w_O = V_O.tail<3>();
  Vector6d turned;
  turned << w.cross(v_O) + v.cross(w_O), w.cross(w_O);
  const Vector6d V = in_from * V_O;
  const Vector6d A = in_from * (kinematics.bias[body_to] - kinematics.bias[body_from] - turned);
  const Pose X = relativePose(kinematics, from, to);
  Vector6d bias = motionTransform(of, Representation::kSpatial, X) * A;
  if (of == Representation::kMixed) {
    // the point where the velocity is taken moves along
    const Vector3d w_rel = V.tail<3>();
    bias.head<3>() += w_rel.cross(Vector3d(V.head<3>()) + w_rel.cross(X.p));
  }
  return bias;
}

void linkPosesBatch(const Tree& tree, Workspace& workspace, ConstMatrixRef q, MatrixRef poses) {
  const Eigen::Index samples = q.rows();
  requireSize("linkPosesBatch", "columns of q", q.cols(), tree.positionCount());
  requireSize("linkPosesBatch", "rows of poses", poses.rows(), samples);
  requireSize("linkPosesBatch", "columns of poses", poses.cols(),
              static_cast<Eigen::Index>(12 * tree.model().links.size()));
  const kernels::Table& table = kernels::active();
  const internal::BatchInput input = {&q, nullptr, nullptr};
  for (Eigen::Index k = 0; k < internal::blockCount(samples, table.lanes); ++k) {
    const internal::Block b = internal::block(tree, workspace, input, samples, table.lanes, k);
    const bool direct = b.count == table.lanes;
    const kernels::MutableView<double> out =
        direct ? kernels::MutableView<double>{poses.data() + b.start, poses.outerStride()}
               : kernels::MutableView<double>{workspace.widePoses(), table.lanes};
    table.pack.link_poses(workspace.kernelTree(), workspace.scratch(), b.q, out);
    for (Eigen::Index c = 0; !direct && c < poses.cols(); ++c) {
      for (Eigen::Index lane = 0; lane < b.count; ++lane)
        poses(b.start + lane, c) = out.data[c * out.stride + lane];
    }
  }
}

}  // namespace proprio
