#include "proprio/dynamics/coordinates.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace proprio::internal {

void expandPosition(const Tree& tree, const double* free, ptrdiff_t free_stride, double* full,
                    ptrdiff_t full_stride) {
  for (size_t i = 0; i < tree.q_source.size(); ++i) {
    full[static_cast<ptrdiff_t>(i) * full_stride] =
        tree.q_ratio[i] * free[tree.q_source[i] * free_stride] + tree.q_offset[i];
  }
}

void expandVelocity(const Tree& tree, const double* free, ptrdiff_t free_stride, double* full,
                    ptrdiff_t full_stride) {
  for (size_t i = 0; i < tree.v_source.size(); ++i) {
    full[static_cast<ptrdiff_t>(i) * full_stride] =
        tree.v_ratio[i] * free[tree.v_source[i] * free_stride];
  }
}

void contractTorque(const Tree& tree, const double* full, ptrdiff_t full_stride, double* free,
                    ptrdiff_t free_stride) {
  for (int i = 0; i < tree.velocityCount(); ++i) free[i * free_stride] = 0.0;
  for (size_t i = 0; i < tree.v_source.size(); ++i) {
    free[tree.v_source[i] * free_stride] +=
        tree.v_ratio[i] * full[static_cast<ptrdiff_t>(i) * full_stride];
  }
}

void storeStructuralZeros(const Workspace& workspace, const kernels::MatrixView<double>& M,
                          Eigen::Index samples) {
  for (const Workspace::ZeroRun& run : workspace.structuralZeros()) {
    double* first = M.data + run.first * M.row_stride + run.column * M.column_stride;
    if (M.row_stride == samples) {
      std::fill_n(first, run.count * samples, 0.0);
      continue;
    }
    for (int i = 0; i < run.count; ++i) std::fill_n(first + i * M.row_stride, samples, 0.0);
  }
}

const double* bodyWrenches(const Tree& tree, Workspace& workspace, const char* function,
                           const LinkWrenches* external) {
  if (external == nullptr) return nullptr;
  requireSize(function, "external", external->cols(),
              static_cast<Eigen::Index>(tree.model().links.size()));
  double* out = workspace.external();
  for (int i = 0; i < tree.bodyCount(); ++i, out += 6) {
    const TreeBody& body = tree.bodies()[static_cast<size_t>(i)];
    Eigen::Map<Vector6d> wrench(out);
    if (body.link < 0) {
      wrench.setZero();
      continue;
    }
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(body.R_BL);
    const Eigen::Map<const Vector3d> p(body.p_BL);
    const Vector3d f = R * external->col(body.link).head<3>();
    wrench.head<3>() = f;
    wrench.tail<3>() = R * external->col(body.link).tail<3>() + p.cross(f);
  }
  return workspace.external();
}

Sample sample(const Tree& tree, Workspace& workspace, const double* q, const double* v,
              const double* a) {
  if (!tree.hasMimic()) return {{q, 1}, {v, 1}, {a, 1}};
  if (q != nullptr) expandPosition(tree, q, 1, workspace.fullPosition(), 1);
  if (v != nullptr) expandVelocity(tree, v, 1, workspace.fullVelocity(), 1);
  if (a != nullptr) expandVelocity(tree, a, 1, workspace.fullAcceleration(), 1);
  return {{workspace.fullPosition(), 1},
          {workspace.fullVelocity(), 1},
          {workspace.fullAcceleration(), 1}};
}

Eigen::Index blockCount(Eigen::Index samples, int lanes) { return (samples + lanes - 1) / lanes; }

Block block(const Tree& tree, Workspace& workspace, const BatchInput& input, Eigen::Index samples,
            int lanes, Eigen::Index index) {
  Block b;
  b.start = std::max<Eigen::Index>(0, std::min(index * lanes, samples - lanes));
  b.count = std::min<Eigen::Index>(lanes, samples - b.start);
  b.in_place = !tree.hasMimic() && b.count == lanes;
  if (b.in_place) {
    const auto view = [&](const Eigen::Ref<const Eigen::MatrixXd>* m) {
      return m == nullptr ? kernels::View<double>{nullptr, 0}
                          : kernels::View<double>{m->data() + b.start, m->outerStride()};
    };
    b.q = view(input.q);
    b.v = view(input.v);
    b.a = view(input.a);
    return b;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    const Eigen::Index row = b.start + std::min<Eigen::Index>(lane, b.count - 1);
    if (input.q != nullptr) {
      expandPosition(tree, input.q->data() + row, input.q->outerStride(),
                     workspace.fullPosition() + lane, lanes);
    }
    if (input.v != nullptr) {
      expandVelocity(tree, input.v->data() + row, input.v->outerStride(),
                     workspace.fullVelocity() + lane, lanes);
    }
    if (input.a != nullptr) {
      expandVelocity(tree, input.a->data() + row, input.a->outerStride(),
                     workspace.fullAcceleration() + lane, lanes);
    }
  }
  b.q = {workspace.fullPosition(), lanes};
  b.v = {workspace.fullVelocity(), lanes};
  b.a = {workspace.fullAcceleration(), lanes};
  return b;
}

}  // namespace proprio::internal
