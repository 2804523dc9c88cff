#pragma once

/// Our models in MuJoCo, written as MJCF into memory; used by the oracle tests and the benchmark.
///
/// MuJoCo's velocity of a free body is (linear velocity of the frame origin in the world, angular
/// velocity in the body), ours the body twist (v, w). With the orientation R of the base and
/// T = diag(R, 1): v_mujoco = T v, a_mujoco = T a + (R (w x v), 0), tau = T^T tau_mujoco,
/// M = T^T M_mujoco T.

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "proprio/dynamics/testing/rooted_model.h"
#include "proprio/dynamics/workspace.h"

namespace proprio {

inline std::string text(const Vector3d& u) {
  return fmt::format("\"{:.17g} {:.17g} {:.17g}\"", u.x(), u.y(), u.z());
}
inline std::string quaternionText(const Matrix3d& R) {
  const Eigen::Vector4d q = quaternionFromRotation(R);
  return fmt::format("\"{:.17g} {:.17g} {:.17g} {:.17g}\"", q[3], q[0], q[1], q[2]);
}

/// Principal moments and axes at full precision: MuJoCo's own diagonalisation stops earlier.
inline std::string inertialElement(const InertialParameters& inertia) {
  if (inertia.mass <= 0.0) return "";
  const Eigen::SelfAdjointEigenSolver<Matrix3d> principal(inertia.inertiaAtCom());
  Matrix3d R = principal.eigenvectors();
  if (R.determinant() < 0.0) R.col(2) *= -1.0;
  return fmt::format("<inertial mass=\"{:.17g}\" pos={} quat={} diaginertia={}/>", inertia.mass,
                     text(inertia.com()), quaternionText(R), text(principal.eigenvalues()));
}

/// The element of a link with everything that hangs on it; body frames are our link frames.
inline std::string bodyElement(const Model& model, const std::vector<RootedLink>& links, size_t k) {
  const RootedLink& link = links[k];
  const bool root = link.parent < 0;
  const Pose X_PC = root ? model.X_WB : link.X_PM * link.X_MC;
  std::string xml = fmt::format("<body name=\"link{}\" pos={} quat={}>\n", link.link, text(X_PC.p),
                                quaternionText(X_PC.R));
  xml += inertialElement(model.links[static_cast<size_t>(link.link)].inertia);
  if (root && model.floating) xml += "<freejoint name=\"base\"/>\n";
  const Pose X_CM = link.X_MC.inverse();
  for (const RootedMotion& motion : link.motions) {
    xml += fmt::format(
        "<joint name=\"coordinate{}\" type=\"{}\" pos={} axis={} armature=\"{:.17g}\"/>\n",
        motion.shape_index, motion.prismatic ? "slide" : "hinge", text(X_CM.p),
        text(X_CM.R * motion.axis), motion.rotor_inertia);
  }
  for (size_t i = k + 1; i < links.size(); ++i) {
    if (links[i].parent == link.link) xml += bodyElement(model, links, i);
  }
  return xml + "</body>\n";
}

inline std::string mjcf(const Model& model) {
  return fmt::format(
      "<mujoco><compiler angle=\"radian\" boundmass=\"0\" boundinertia=\"0\" "
      "balanceinertia=\"false\" inertiafromgeom=\"false\" fusestatic=\"false\"/>\n"
      "<option gravity={}><flag constraint=\"disable\" contact=\"disable\" limit=\"disable\" "
      "passive=\"disable\" "
      "clampctrl=\"disable\"/></option>\n<worldbody>\n{}</worldbody></mujoco>\n",
      text(model.gravity), bodyElement(model, rootedLinks(model), 0));
}

/// The same robot in MuJoCo, taking and giving our coordinates.
class MujocoRobot {
 public:
  explicit MujocoRobot(const Model& model) : model_(model) {
    const std::string xml = mjcf(model);
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "robot.xml", static_cast<int>(xml.size()));
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    char message[500] = "";
    m_.reset(mj_loadXML("robot.xml", files.get(), message, sizeof message));
    mj_deleteVFS(files.get());
    if (m_ == nullptr) throw Error(std::string("MuJoCo: ") + message);
    d_.reset(mj_makeData(m_.get()));
    base_v_ = model.floating ? 6 : 0;
    base_q_ = model.floating ? 7 : 0;
    for (int i = 0; i < model.velocity_count; ++i) {
      const int id = mj_name2id(m_.get(), mjOBJ_JOINT, fmt::format("coordinate{}", i).c_str());
      q_of_.push_back(m_->jnt_qposadr[id]);
      v_of_.push_back(m_->jnt_dofadr[id]);
    }
  }

  void setState(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    R_ = Matrix3d::Identity();
    if (model_.floating) {
      R_ = rotationFromQuaternion(q.segment<4>(3));
      for (int i = 0; i < 3; ++i) d_->qpos[i] = q[i];
      d_->qpos[3] = q[6];
      for (int i = 0; i < 3; ++i) d_->qpos[4 + i] = q[3 + i];
      twist_ = v.head<6>();
    }
    for (size_t i = 0; i < q_of_.size(); ++i) d_->qpos[q_of_[i]] = q[base_q_ + static_cast<int>(i)];
    store(velocityToMujoco(v), d_->qvel);
  }
  void setAcceleration(const Eigen::VectorXd& a) {
    Eigen::VectorXd theirs = velocityToMujoco(a);
    if (model_.floating) theirs.head<3>() += R_ * twist_.tail<3>().cross(twist_.head<3>());
    store(theirs, d_->qacc);
  }
  void setTorque(const Eigen::VectorXd& tau) {
    Eigen::VectorXd theirs = tau;
    if (model_.floating) theirs.head<3>() = R_ * tau.head<3>();
    store(theirs, d_->qfrc_applied);
  }
  Eigen::VectorXd acceleration() const {
    Eigen::VectorXd a = load(d_->qacc);
    if (model_.floating) {
      a.head<3>() = R_.transpose() * a.head<3>() - twist_.tail<3>().cross(twist_.head<3>());
    }
    return a;
  }
  Eigen::VectorXd torque(const mjtNum* theirs) const {
    Eigen::VectorXd tau = load(theirs);
    if (model_.floating) tau.head<3>() = R_.transpose() * tau.head<3>();
    return tau;
  }
  Eigen::MatrixXd massMatrix() const {
    std::vector<mjtNum> full(static_cast<size_t>(m_->nv * m_->nv));
    mj_fullM(m_.get(), full.data(), d_->qM);
    const Eigen::Index nv = m_->nv;
    Eigen::MatrixXd M(nv, nv);
    for (Eigen::Index i = 0; i < nv; ++i)
      for (Eigen::Index j = 0; j < nv; ++j) M(i, j) = full[static_cast<size_t>(at(i) * nv + at(j))];
    if (model_.floating) {
      M.topRows<3>() = (R_.transpose() * M.topRows<3>()).eval();
      M.leftCols<3>() = (M.leftCols<3>() * R_).eval();
    }
    return M;
  }
  /// C v + G in our coordinates, whose zero acceleration is not MuJoCo's: M (w x v, 0) more.
  Eigen::VectorXd bias() const {
    Eigen::VectorXd tau = torque(d_->qfrc_bias);
    if (model_.floating) {
      tau += massMatrix().leftCols<3>() * twist_.tail<3>().cross(twist_.head<3>());
    }
    return tau;
  }
  int body(size_t link) const {
    return mj_name2id(m_.get(), mjOBJ_BODY, fmt::format("link{}", link).c_str());
  }
  Pose linkPose(size_t link) const {
    Pose X;
    X.R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(d_->xmat + 9 * body(link));
    X.p = Eigen::Map<const Vector3d>(d_->xpos + 3 * body(link));
    return X;
  }
  /// Generalised force of wrenches at the link frames, by MuJoCo's Jacobians.
  Eigen::VectorXd generalisedForce(const LinkWrenches& wrenches) const {
    std::vector<mjtNum> force(static_cast<size_t>(m_->nv), 0.0);
    for (size_t k = 0; k < model_.links.size(); ++k) {
      const Pose X = linkPose(k);
      const Vector3d f = X.R * wrenches.col(static_cast<Eigen::Index>(k)).head<3>();
      const Vector3d n = X.R * wrenches.col(static_cast<Eigen::Index>(k)).tail<3>();
      mj_applyFT(m_.get(), d_.get(), f.data(), n.data(), X.p.data(), body(k), force.data());
    }
    return torque(force.data());
  }
  /// The wrenches as MuJoCo's forward dynamics wants them: at the centres of mass, in world axes.
  void applyAtCentresOfMass(const LinkWrenches& wrenches) {
    for (size_t k = 0; k < model_.links.size(); ++k) {
      const Pose X = linkPose(k);
      const Vector3d f = X.R * wrenches.col(static_cast<Eigen::Index>(k)).head<3>();
      const Vector3d n = X.R * wrenches.col(static_cast<Eigen::Index>(k)).tail<3>();
      const Eigen::Map<const Vector3d> com(d_->xipos + 3 * body(k));
      Eigen::Map<Vector6d> applied(d_->xfrc_applied + 6 * body(k));
      applied << f, n + (X.p - com).cross(f);
    }
  }
  mjModel* m() const { return m_.get(); }
  mjData* d() const { return d_.get(); }

 private:
  struct DeleteModel {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
  };
  struct DeleteData {
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  /// Place of our velocity coordinate in MuJoCo's vectors.
  Eigen::Index at(Eigen::Index i) const {
    return i < base_v_ ? i : v_of_[static_cast<size_t>(i - base_v_)];
  }
  Eigen::VectorXd load(const mjtNum* theirs) const {
    return Eigen::VectorXd::NullaryExpr(m_->nv, [&](Eigen::Index i) { return theirs[at(i)]; });
  }
  void store(const Eigen::VectorXd& ours, mjtNum* theirs) const {
    for (Eigen::Index i = 0; i < ours.size(); ++i) theirs[at(i)] = ours[i];
  }
  Eigen::VectorXd velocityToMujoco(Eigen::VectorXd v) const {
    if (model_.floating) v.head<3>() = (R_ * v.head<3>()).eval();
    return v;
  }

  const Model& model_;
  std::unique_ptr<mjModel, DeleteModel> m_;
  std::unique_ptr<mjData, DeleteData> d_;
  int base_q_ = 0, base_v_ = 0;
  std::vector<int> q_of_, v_of_;
  Matrix3d R_ = Matrix3d::Identity();
  Vector6d twist_ = Vector6d::Zero();
};

}  // namespace proprio
