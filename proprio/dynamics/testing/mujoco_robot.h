#pragma once

/// Our models in MuJoCo, written as MJCF into memory; used by the oracle tests and the benchmark.
///
/// MuJoCo's velocity of a free body is (linear velocity of the frame origin in the world, angular
/// velocity in the body), ours the body twist (v, w). With the orientation R of the base and
/// T = diag(R, 1): v_mujoco = T v, a_mujoco = T a + (R (w x v), 0), tau = T^T tau_mujoco,
/// M = T^T M_mujoco T. A floating joint inside the tree is three slides and a ball, whose
/// velocities differ from ours in the same way, with R the rotation of the joint.

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
    if (motion.ball) {
      xml += fmt::format("<joint name=\"coordinate{}\" type=\"ball\" pos={}/>\n",
                         motion.shape_index, text(X_CM.p));
      continue;
    }
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
    if (model.floating) free_.push_back({0, 0});
    if (model.floating) {
      for (int i = 0; i < 6; ++i) v_of_.push_back(i);
    }
    v_of_.resize(static_cast<size_t>(m_->nv), -1);
    const int base_v = model.floating ? 6 : 0, base_q = model.floating ? 7 : 0;
    const auto place = [&](int coordinate) {
      return mj_name2id(m_.get(), mjOBJ_JOINT, fmt::format("coordinate{}", coordinate).c_str());
    };
    for (const Joint& joint : model.joints) {
      const bool free = joint.type == JointType::kFloating;
      const int q = base_q + joint.position_index, v = base_v + joint.velocity_index;
      for (int k = 0; k < (free ? 3 : velocityCount(joint.type)); ++k) {
        const int id = place(joint.velocity_index + k);
        q_pairs_.push_back({q + k, m_->jnt_qposadr[id]});
        v_of_[static_cast<size_t>(v + k)] = m_->jnt_dofadr[id];
      }
      if (!free) continue;
      const int id = place(joint.velocity_index + 3);
      // (x, y, z, w) is (w, x, y, z) there
      for (int k = 0; k < 4; ++k)
        q_pairs_.push_back({q + 3 + k, m_->jnt_qposadr[id] + (k + 1) % 4});
      for (int k = 0; k < 3; ++k) v_of_[static_cast<size_t>(v + 3 + k)] = m_->jnt_dofadr[id] + k;
      free_.push_back({q, v});
    }
    if (model.floating) {
      for (int k = 0; k < 3; ++k) q_pairs_.push_back({k, k});
      for (int k = 0; k < 4; ++k) q_pairs_.push_back({3 + k, 3 + (k + 1) % 4});
    }
  }

  void setState(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    for (FreePose& free : free_) {
      free.R = rotationFromQuaternion(q.segment<4>(free.q + 3));
      free.twist = v.segment<6>(free.v);
    }
    for (const auto& [ours, theirs] : q_pairs_) d_->qpos[theirs] = q[ours];
    store(velocityToMujoco(v), d_->qvel);
  }
  void setAcceleration(const Eigen::VectorXd& a) {
    Eigen::VectorXd theirs = velocityToMujoco(a);
    for (const FreePose& free : free_) theirs.segment<3>(free.v) += free.R * free.turning();
    store(theirs, d_->qacc);
  }
  void setTorque(const Eigen::VectorXd& tau) { store(velocityToMujoco(tau), d_->qfrc_applied); }
  Eigen::VectorXd acceleration() const {
    Eigen::VectorXd a = load(d_->qacc);
    for (const FreePose& free : free_) {
      const Vector3d own = free.R.transpose() * a.segment<3>(free.v) - free.turning();
      a.segment<3>(free.v) = own;
    }
    return a;
  }
  Eigen::VectorXd torque(const mjtNum* theirs) const {
    Eigen::VectorXd tau = load(theirs);
    for (const FreePose& free : free_)
      tau.segment<3>(free.v) = (free.R.transpose() * tau.segment<3>(free.v)).eval();
    return tau;
  }
  Eigen::MatrixXd massMatrix() const {
    std::vector<mjtNum> full(static_cast<size_t>(m_->nv * m_->nv));
    mj_fullM(m_.get(), full.data(), d_->qM);
    const Eigen::Index nv = m_->nv;
    Eigen::MatrixXd M(nv, nv);
    for (Eigen::Index i = 0; i < nv; ++i)
      for (Eigen::Index j = 0; j < nv; ++j) M(i, j) = full[static_cast<size_t>(at(i) * nv + at(j))];
    for (const FreePose& free : free_) {
      M.middleRows<3>(free.v) = (free.R.transpose() * M.middleRows<3>(free.v)).eval();
      M.middleCols<3>(free.v) = (M.middleCols<3>(free.v) * free.R).eval();
    }
    return M;
  }
  /// C v + G in our coordinates, whose zero acceleration is not MuJoCo's: M (w x v, 0) more.
  Eigen::VectorXd bias() const {
    Eigen::VectorXd tau = torque(d_->qfrc_bias);
    for (const FreePose& free : free_) tau += massMatrix().middleCols<3>(free.v) * free.turning();
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
  Eigen::Index at(Eigen::Index i) const { return v_of_[static_cast<size_t>(i)]; }
  Eigen::VectorXd load(const mjtNum* theirs) const {
    return Eigen::VectorXd::NullaryExpr(m_->nv, [&](Eigen::Index i) { return theirs[at(i)]; });
  }
  void store(const Eigen::VectorXd& ours, mjtNum* theirs) const {
    for (Eigen::Index i = 0; i < ours.size(); ++i) theirs[at(i)] = ours[i];
  }
  Eigen::VectorXd velocityToMujoco(Eigen::VectorXd v) const {
    for (const FreePose& free : free_)
      v.segment<3>(free.v) = (free.R * v.segment<3>(free.v)).eval();
    return v;
  }
  /// The base, or a floating joint: first coordinates, rotation and body twist.
  struct FreePose {
    int q = 0, v = 0;
    Matrix3d R = Matrix3d::Identity();
    Vector6d twist = Vector6d::Zero();
    Vector3d turning() const { return twist.tail<3>().cross(twist.head<3>()); }
  };

  const Model& model_;
  std::unique_ptr<mjModel, DeleteModel> m_;
  std::unique_ptr<mjData, DeleteData> d_;
  std::vector<int> v_of_;                     // per velocity coordinate of ours
  std::vector<std::pair<int, int>> q_pairs_;  // of ours, of theirs
  std::vector<FreePose> free_;
};

}  // namespace proprio
