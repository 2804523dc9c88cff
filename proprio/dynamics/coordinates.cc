#include "proprio/dynamics/coordinates.h"

#include <algorithm>
#include <string>

namespace proprio::internal {
namespace {

/// Adds the wrench of a link to that of its body: f = R f_L, n = R n_L + p x f with X_BL = (R, p).
/// Entry k of a wrench is at k * stride.
template <class T>
void addBodyWrench(const Tree& tree, int link, const T* in, ptrdiff_t in_stride, T* bodies,
                   ptrdiff_t stride) {
  const int index = tree.bodyOfLink(link);
  const TreeBody& body = tree.bodies()[static_cast<size_t>(index)];
  const double* R = body.R_BL;
  const double* p = body.p_BL;
  T wrench[6];
  for (int half = 0; half < 6; half += 3) {
    const T x = in[half * in_stride], y = in[(half + 1) * in_stride],
            z = in[(half + 2) * in_stride];
    for (int k = 0; k < 3; ++k)
      wrench[half + k] = R[3 * k] * x + R[3 * k + 1] * y + R[3 * k + 2] * z;
  }
  wrench[3] += p[1] * wrench[2] - p[2] * wrench[1];
  wrench[4] += p[2] * wrench[0] - p[0] * wrench[2];
  wrench[5] += p[0] * wrench[1] - p[1] * wrench[0];
  T* out = bodies + 6 * index * stride;
  for (int k = 0; k < 6; ++k) out[k * stride] += wrench[k];
}

}  // namespace

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

void contractMatrix(const Tree& tree, const kernels::MatrixView<double>& full,
                    const kernels::MatrixView<double>& free) {
  const auto entry = [](const kernels::MatrixView<double>& M, int i, int j) -> double& {
    return M.data[i * M.row_stride + j * M.column_stride];
  };
  const int nv = tree.velocityCount(), nf = tree.fullVelocityCount();
  for (int j = 0; j < nv; ++j)
    for (int i = 0; i < nv; ++i) entry(free, i, j) = 0.0;
  for (int l = 0; l < nf; ++l) {
    const auto b = static_cast<size_t>(l);
    for (int k = 0; k < nf; ++k) {
      const auto a = static_cast<size_t>(k);
      entry(free, tree.v_source[a], tree.v_source[b]) +=
          tree.v_ratio[a] * tree.v_ratio[b] * entry(full, k, l);
    }
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
  const int links = static_cast<int>(tree.model().links.size());
  requireSize(function, "external", external->cols(), links);
  std::fill_n(workspace.external(), 6 * tree.bodyCount(), 0.0);
  for (int link = 0; link < links; ++link)
    addBodyWrench(tree, link, external->col(link).data(), 1, workspace.external(), 1);
  return workspace.external();
}

void requireWrenches(const Tree& tree, const char* function, const BatchWrenches* external,
                     Eigen::Index samples) {
  if (external == nullptr) return;
  const auto count = static_cast<Eigen::Index>(external->links.size());
  requireSize(function, "columns of the external wrenches", external->values.cols(), 6 * count);
  requireSize(function, "rows of the external wrenches", external->values.rows(), samples);
  const auto links = static_cast<int>(tree.model().links.size());
  for (const int link : external->links) {
    if (link >= 0 && link < links) continue;
    throw Error(std::string(function) + ": an external wrench acts on link " +
                std::to_string(link) + ", expected 0 to " + std::to_string(links - 1) + ".");
  }
}

DualSample dualSample(const Tree& tree, Workspace& workspace, const char* function,
                      const std::vector<Dual>& q, const std::vector<Dual>& v,
                      const std::vector<Dual>& a, const std::vector<Dual>* external) {
  const auto size = [](const std::vector<Dual>& x) { return static_cast<Eigen::Index>(x.size()); };
  requireSize(function, "q", size(q), tree.positionCount());
  requireSize(function, "v", size(v), tree.velocityCount());
  requireSize(function, "a or tau", size(a), tree.velocityCount());
  const auto room = [](double* memory) { return reinterpret_cast<Dual*>(memory); };
  DualSample s = {room(workspace.fullPosition()),     room(workspace.fullVelocity()),
                  room(workspace.fullAcceleration()), nullptr,
                  room(workspace.scratch()),          room(workspace.fullTorque())};
  for (size_t i = 0; i < tree.q_source.size(); ++i)
    s.q[i] = q[static_cast<size_t>(tree.q_source[i])] * tree.q_ratio[i] + tree.q_offset[i];
  for (size_t i = 0; i < tree.v_source.size(); ++i) {
    s.v[i] = v[static_cast<size_t>(tree.v_source[i])] * tree.v_ratio[i];
    s.a[i] = a[static_cast<size_t>(tree.v_source[i])] * tree.v_ratio[i];
  }
  if (external == nullptr) return s;
  const int links = static_cast<int>(tree.model().links.size());
  requireSize(function, "external", size(*external), 6 * links);
  s.external = room(workspace.external());
  std::fill_n(s.external, 6 * tree.bodyCount(), Dual());
  for (int link = 0; link < links; ++link)
    addBodyWrench(tree, link, external->data() + 6 * link, 1, s.external, 1);
  return s;
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

const double* blockWrenches(const Tree& tree, Workspace& workspace, const BatchWrenches* external,
                            const Block& block, int lanes) {
  if (external == nullptr) return nullptr;
  std::fill_n(workspace.external(), 6 * tree.bodyCount() * lanes, 0.0);
  const Eigen::Index stride = external->values.outerStride();
  const double* columns = external->values.data();
  for (const int link : external->links) {
    for (int lane = 0; lane < lanes; ++lane) {
      const Eigen::Index row = block.start + std::min<Eigen::Index>(lane, block.count - 1);
      addBodyWrench(tree, link, columns + row, stride, workspace.external() + lane, lanes);
    }
    columns += 6 * stride;
  }
  return workspace.external();
}

}  // namespace proprio::internal
