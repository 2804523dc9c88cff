#include "proprio/dynamics/derivatives.h"

#include <Eigen/Cholesky>

#include "proprio/dynamics/coordinates.h"
#include "proprio/dynamics/forward_dynamics.h"
#include "proprio/dynamics/mass_matrix.h"

namespace proprio {
namespace {

/// free(i, j) += ratio_k ratio_l full(k, l) over the full coordinates of free ones i and j.
void contract(const Tree& tree, const double* full, MatrixRef free) {
  const int nf = tree.fullVelocityCount();
  free.setZero();
  for (int k = 0; k < nf; ++k) {
    for (int l = 0; l < nf; ++l) {
      const auto a = static_cast<size_t>(k), b = static_cast<size_t>(l);
      free(tree.v_source[a], tree.v_source[b]) +=
          tree.v_ratio[a] * tree.v_ratio[b] * full[k + l * nf];
    }
  }
}

}  // namespace

void inverseDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                                const LinkWrenches* external) {
  constexpr const char* kName = "inverseDynamicsDerivatives";
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  requireSize(kName, "q", q.size(), tree.positionCount());
  requireSize(kName, "v", v.size(), nv);
  requireSize(kName, "a", a.size(), nv);
  for (const auto& [name, matrix] :
       {std::pair{"dtau_dq", &dtau_dq}, std::pair{"dtau_dv", &dtau_dv}}) {
    requireSize(kName, name, matrix->size(), Eigen::Index{nv} * nv);
  }
  const double* wrenches = internal::bodyWrenches(tree, workspace, kName, external);
  const internal::Sample s = internal::sample(tree, workspace, q.data(), v.data(), a.data());
  const bool mimic = tree.hasMimic();
  double* full = workspace.fullMatrix();
  const kernels::MatrixView<double> dq =
      mimic ? kernels::MatrixView<double>{full, 1, nf}
            : kernels::MatrixView<double>{dtau_dq.data(), 1, dtau_dq.outerStride()};
  const kernels::MatrixView<double> dv =
      mimic ? kernels::MatrixView<double>{full + nf * nf, 1, nf}
            : kernels::MatrixView<double>{dtau_dv.data(), 1, dtau_dv.outerStride()};
  for (const auto& [i, j] : workspace.unrelated()) {
    for (const auto& view : {dq, dv}) {
      view.data[i * view.row_stride + j * view.column_stride] = 0.0;
      view.data[j * view.row_stride + i * view.column_stride] = 0.0;
    }
  }
  kernels::active().one.inverse_dynamics_derivatives(
      workspace.kernelTree(), parameters.bodies.data(), workspace.scratch(), workspace.rowOf(), s.q,
      s.v, s.a, wrenches, dq, dv);
  if (!mimic) return;
  contract(tree, dq.data, dtau_dq);
  contract(tree, dv.data, dtau_dv);
}

void forwardDynamicsDerivatives(const Tree& tree, const CompiledParameters& parameters,
                                Workspace& workspace, ConstVectorRef q, ConstVectorRef v,
                                ConstVectorRef tau, VectorRef a, MatrixRef da_dq, MatrixRef da_dv,
                                MatrixRef da_dtau, const LinkWrenches* external) {
  requireSize("forwardDynamicsDerivatives", "da_dtau", da_dtau.size(), da_dq.size());
  forwardDynamics(tree, parameters, workspace, q, v, tau, a, external);
  inverseDynamicsDerivatives(tree, parameters, workspace, q, v, a, da_dq, da_dv, external);
  massMatrix(tree, parameters, workspace, q, workspace.square());
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(workspace.square());
  da_dtau.setIdentity();
  llt.solveInPlace(da_dtau);
  // products with the inverse are cheaper than two more pairs of triangular solves
  Eigen::MatrixXd& product = workspace.square();
  product.noalias() = da_dtau * da_dq;
  da_dq = -product;
  product.noalias() = da_dtau * da_dv;
  da_dv = -product;
}

}  // namespace proprio
