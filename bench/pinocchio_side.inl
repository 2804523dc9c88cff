// Included with PROPRIO_PINOCCHIO_NAME (variable) and PROPRIO_PINOCCHIO_LABEL defined; everything else is in an anonymous
// namespace, and Pinocchio's templates are kept local by -fvisibility and by linking each build as a shared object.

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include "pinocchio_side.h"

namespace proprio::bench {
namespace {

namespace pin = pinocchio;
using Row3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Side {
  pin::Model model;
  std::unique_ptr<pin::Data> data;
  Eigen::VectorXd q, v, a;
};

pin::JointIndex addJoint(pin::Model& model, const PlainBody& b, pin::JointIndex parent, const pin::SE3& placement,
                         const std::string& name) {
  const Eigen::Vector3d axis(b.axis_vector[0], b.axis_vector[1], b.axis_vector[2]);
  switch (b.axis) {
    case 0: return model.addJoint(parent, pin::JointModelRX(), placement, name);
    case 1: return model.addJoint(parent, pin::JointModelRY(), placement, name);
    case 2: return model.addJoint(parent, pin::JointModelRZ(), placement, name);
    case 4: return model.addJoint(parent, pin::JointModelFreeFlyer(), placement, name);
    default: return model.addJoint(parent, pin::JointModelRevoluteUnaligned(axis), placement, name);
  }
}

void* create(const std::vector<PlainBody>& bodies) {
  auto* side = new Side;
  std::vector<pin::JointIndex> joint(bodies.size(), 0);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const PlainBody& b = bodies[i];
    if (b.axis == 5) continue;
    const pin::SE3 placement(Eigen::Map<const Row3>(b.R), Eigen::Map<const Eigen::Vector3d>(b.p));
    const pin::JointIndex parent = b.parent < 0 ? 0 : joint[size_t(b.parent)];
    joint[i] = addJoint(side->model, b, parent, placement, "joint" + std::to_string(i));
    side->model.appendBodyToJoint(joint[i], pin::Inertia(b.mass, Eigen::Map<const Eigen::Vector3d>(b.com),
                                                         Eigen::Map<const Row3>(b.inertia)));
  }
  side->data = std::make_unique<pin::Data>(side->model);
  return side;
}

using In = Eigen::Map<const Eigen::VectorXd>;
Side& sideOf(void* p) { return *static_cast<Side*>(p); }
int nvOf(void* p) { return sideOf(p).model.nv; }

void inverseDynamics(void* p, const double* q, const double* v, const double* a, double* tau) {
  Side& s = sideOf(p);
  pin::rnea(s.model, *s.data, In(q, s.model.nq), In(v, s.model.nv), In(a, s.model.nv));
  if (tau) Eigen::Map<Eigen::VectorXd>(tau, s.model.nv) = s.data->tau;
}
void massMatrix(void* p, const double* q, double* M) {
  Side& s = sideOf(p);
  pin::crba(s.model, *s.data, In(q, s.model.nq), pin::Convention::LOCAL);
  if (!M) return;
  s.data->M.triangularView<Eigen::StrictlyLower>() = s.data->M.transpose().triangularView<Eigen::StrictlyLower>();
  Eigen::Map<Eigen::MatrixXd>(M, s.model.nv, s.model.nv) = s.data->M;
}
void forwardDynamics(void* p, const double* q, const double* v, const double* tau, double* a) {
  Side& s = sideOf(p);
  pin::aba(s.model, *s.data, In(q, s.model.nq), In(v, s.model.nv), In(tau, s.model.nv), pin::Convention::LOCAL);
  if (a) Eigen::Map<Eigen::VectorXd>(a, s.model.nv) = s.data->ddq;
}
void regressor(void* p, const double* q, const double* v, const double* a, double* Y) {
  Side& s = sideOf(p);
  pin::computeJointTorqueRegressor(s.model, *s.data, In(q, s.model.nq), In(v, s.model.nv), In(a, s.model.nv));
  if (!Y) return;
  const auto& R = s.data->jointTorqueRegressor;
  Eigen::Map<Eigen::MatrixXd>(Y, R.rows(), R.cols()) = R;
}
void inverseDynamicsDerivatives(void* p, const double* q, const double* v, const double* a, double* dq, double* dv) {
  Side& s = sideOf(p);
  pin::computeRNEADerivatives(s.model, *s.data, In(q, s.model.nq), In(v, s.model.nv), In(a, s.model.nv));
  if (!dq) return;
  Eigen::Map<Eigen::MatrixXd>(dq, s.model.nv, s.model.nv) = s.data->dtau_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, s.model.nv, s.model.nv) = s.data->dtau_dv;
}
void forwardDynamicsDerivatives(void* p, const double* q, const double* v, const double* tau, double* dq, double* dv) {
  Side& s = sideOf(p);
  pin::computeABADerivatives(s.model, *s.data, In(q, s.model.nq), In(v, s.model.nv), In(tau, s.model.nv));
  if (!dq) return;
  Eigen::Map<Eigen::MatrixXd>(dq, s.model.nv, s.model.nv) = s.data->ddq_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, s.model.nv, s.model.nv) = s.data->ddq_dv;
}

}  // namespace

extern const PinocchioSide PROPRIO_PINOCCHIO_NAME __attribute__((visibility("default")));
const PinocchioSide PROPRIO_PINOCCHIO_NAME = {PROPRIO_PINOCCHIO_LABEL, create,
                                              nvOf,  inverseDynamics,
                                              massMatrix, forwardDynamics,
                                              regressor, inverseDynamicsDerivatives,
                                              forwardDynamicsDerivatives};

}  // namespace proprio::bench
