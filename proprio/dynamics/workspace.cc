#include "proprio/dynamics/workspace.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "proprio/core/error.h"

namespace proprio {
namespace {

constexpr int kCoordinates[4] = {0, 1, 1, 6};  // velocities of a kernels::JointKind

/// The link's ten numbers moved into the body frame, as second moments: with X_BL = (R, p),
/// h = R h_L + m p, S = R S_L R^T + p h'^T + h' p^T + m p p^T, h' = R h_L, S_L = tr(I)/2 1 - I.
template <class T>
kernels::Inertia<T> bodyInertia(const TreeBody& body, const T* link) {
  const T m = link[0];
  const T hl[3] = {link[1], link[2], link[3]};
  const T half_trace = (link[4] + link[7] + link[9]) * T(0.5);
  const T S[3][3] = {{half_trace - link[4], -link[5], -link[6]},
                     {-link[5], half_trace - link[7], -link[8]},
                     {-link[6], -link[8], half_trace - link[9]}};
  const double* R = body.R_BL;
  const double* p = body.p_BL;
  T h[3], A[3][3];
  for (int i = 0; i < 3; ++i) {
    h[i] = T(R[3 * i]) * hl[0] + T(R[3 * i + 1]) * hl[1] + T(R[3 * i + 2]) * hl[2];
    for (int j = 0; j < 3; ++j) {
      A[i][j] = T(R[3 * i]) * S[0][j] + T(R[3 * i + 1]) * S[1][j] + T(R[3 * i + 2]) * S[2][j];
    }
  }
  const auto moment = [&](int i, int j) {
    return A[i][0] * T(R[3 * j]) + A[i][1] * T(R[3 * j + 1]) + A[i][2] * T(R[3 * j + 2]) +
           T(p[i]) * h[j] + T(p[j]) * h[i] + m * T(p[i] * p[j]);
  };
  return {m,
          h[0] + m * T(p[0]),
          h[1] + m * T(p[1]),
          h[2] + m * T(p[2]),
          moment(0, 0),
          moment(0, 1),
          moment(0, 2),
          moment(1, 1),
          moment(1, 2),
          moment(2, 2)};
}

template <class T>
void compileInto(const Tree& tree, const ParametersOf<T>& parameters,
                 CompiledParametersOf<T>* out) {
  const ParameterLayout& layout = *parameters.layout;
  for (size_t i = 0; i < tree.bodies().size(); ++i) {
    const TreeBody& body = tree.bodies()[i];
    if (body.link < 0) {
      out->bodies[i] = {};
    } else {
      out->bodies[i] = bodyInertia(body, parameters.values.data() + layout.linkOffset(body.link));
    }
  }
  out->has_rotor = false;
  const Model& model = tree.model();
  for (auto& rotor : out->rotor) rotor = T(0.0);
  for (size_t j = 0; j < model.joints.size(); ++j) {
    const int index = tree.fullVelocityIndex(static_cast<int>(j));
    if (index < 0 || !model.joints[j].drive.declared) continue;
    const int place = layout.jointOffset(static_cast<int>(j));
    out->rotor[static_cast<size_t>(index)] = parameters.values[static_cast<size_t>(place)];
    out->has_rotor = true;
  }
}

template <class T>
CompiledParametersOf<T> compile(const Tree& tree, const ParametersOf<T>& parameters) {
  if (parameters.layout == nullptr ||
      static_cast<int>(parameters.values.size()) != parameters.layout->size() ||
      parameters.layout->model().links.size() != tree.model().links.size()) {
    throw Error("compileParameters: the parameters do not belong to the model of this tree.");
  }
  CompiledParametersOf<T> out;
  out.bodies.resize(tree.bodies().size());
  out.rotor.resize(static_cast<size_t>(tree.fullVelocityCount()));
  compileInto(tree, parameters, &out);
  return out;
}

/// Places and signs of the ten columns when the link axes are a signed permutation of the body
/// axes: body axis i is sign[i] times link axis axis[i].
void fillPermutation(const TreeBody& from, kernels::Body* body) {
  int axis[3] = {0, 1, 2};
  double sign[3] = {1.0, 1.0, 1.0};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (std::abs(from.R_BL[3 * i + j]) > 0.5) {
        axis[i] = j;
        sign[i] = from.R_BL[3 * i + j];
      }
    }
  }
  constexpr int kPlace[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  body->column[0] = 0;
  body->sign[0] = 1.0;
  for (int i = 0; i < 3; ++i) {
    body->column[1 + i] = 1 + axis[i];
    body->sign[1 + i] = sign[i];
    for (int j = i; j < 3; ++j) {
      body->column[kPlace[i][j]] = kPlace[axis[i]][axis[j]];
      body->sign[kPlace[i][j]] = sign[i] * sign[j];
    }
  }
}

kernels::Body kernelBody(const TreeBody& from, const kernels::Body* parent) {
  kernels::Body body = {};
  body.parent = from.parent;
  body.subtree_end = from.subtree_end;
  body.joint = static_cast<int>(from.joint);
  body.q = from.q;
  body.v = from.v;
  body.link = from.link;
  body.column_case = from.frame_case;
  for (int k = 0; k < 9; ++k) body.R[k] = from.R_PJ[k], body.R_BL[k] = from.R_BL[k];
  for (int k = 0; k < 3; ++k) body.p[k] = from.p_PJ[k], body.p_BL[k] = from.p_BL[k];
  fillPermutation(from, &body);
  if (parent != nullptr) {
    body.level = parent->level + 1;
    body.axes = parent->axes + kCoordinates[parent->joint];
  }
  return body;
}

}  // namespace

CompiledParameters compileParameters(const Tree& tree, const Parameters& parameters) {
  return compile(tree, parameters);
}
CompiledParametersOf<Dual> compileParameters(const Tree& tree,
                                             const ParametersOf<Dual>& parameters) {
  return compile(tree, parameters);
}
void compileParameters(const Tree& tree, const Parameters& parameters,
                       CompiledParameters* compiled) {
  compileInto(tree, parameters, compiled);
}

AlignedBuffer::AlignedBuffer(size_t doubles) {
  constexpr size_t kAlignment = 64;
  const size_t bytes =
      (doubles * sizeof(double) + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
  data_.reset(static_cast<double*>(std::aligned_alloc(kAlignment, bytes)));
  if (data_ == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < bytes / sizeof(double); ++i) data_.get()[i] = 0.0;
}
void AlignedBuffer::Free::operator()(double* p) const { std::free(p); }

Workspace::Workspace(const Tree& tree) {
  tree_ = {};
  for (const TreeBody& from : tree.bodies()) {
    const kernels::Body* parent =
        from.parent < 0 ? nullptr : &bodies_[static_cast<size_t>(from.parent)];
    bodies_.push_back(kernelBody(from, parent));
    const kernels::Body& body = bodies_.back();
    tree_.levels = std::max(tree_.levels, body.level + 1);
    tree_.max_axes = std::max(tree_.max_axes, body.axes + kCoordinates[body.joint]);
  }
  tree_.bodies = bodies_.data();
  tree_.count = tree.bodyCount();
  tree_.nq = tree.fullPositionCount();
  tree_.nv = tree.fullVelocityCount();
  tree_.links = static_cast<int>(tree.model().links.size());
  tree_.grounded = bodies_[0].joint == kernels::kFixed ? 1 : 0;
  const Vector3d up = -tree.model().gravity;
  const Vector3d up_root = tree.mounting().R.transpose() * up;
  for (int k = 0; k < 3; ++k) {
    tree_.gravity_world[k] = up[k];
    tree_.gravity_root[k] = up_root[k];
  }
  // rows of the axes on each body's path: 2 * row + (1 if the coordinate translates)
  row_of_.assign(static_cast<size_t>(tree_.count * std::max(1, tree_.max_axes)), 0);
  for (int i = 0; i < tree_.count; ++i) {
    const kernels::Body& body = bodies_[static_cast<size_t>(i)];
    int* rows = row_of_.data() + i * tree_.max_axes;
    for (int k = 0; k < body.axes; ++k)
      rows[k] = row_of_[static_cast<size_t>(body.parent * tree_.max_axes + k)];
    for (int k = 0; k < kCoordinates[body.joint]; ++k) {
      const bool translates =
          body.joint == kernels::kPrismatic || (body.joint == kernels::kFloating && k < 3);
      rows[body.axes + k] = 2 * (body.v + k) + (translates ? 1 : 0);
    }
  }
  fillCoordinateOrder(tree);
  // coordinates of two bodies are related when one body lies on the path of the other
  std::vector<char> related(static_cast<size_t>(tree_.nv * tree_.nv), 0);
  for (int i = 0; i < tree_.count; ++i) {
    const kernels::Body& body = bodies_[static_cast<size_t>(i)];
    const int* rows = row_of_.data() + i * tree_.max_axes;
    const int count = body.axes + kCoordinates[body.joint];
    for (int k = 0; k < count; ++k) {
      for (int l = 0; l < count; ++l)
        related[static_cast<size_t>((rows[k] >> 1) * tree_.nv + (rows[l] >> 1))] = 1;
    }
  }
  for (int j = 0; j < tree_.nv; ++j) {
    for (int i = 0; i < tree_.nv; ++i) {
      if (related[static_cast<size_t>(i * tree_.nv + j)]) continue;
      const bool extends = !structural_zeros_.empty() && structural_zeros_.back().column == j &&
                           structural_zeros_.back().first + structural_zeros_.back().count == i;
      if (extends) {
        ++structural_zeros_.back().count;
      } else {
        structural_zeros_.push_back({j, i, 1});
      }
    }
  }
  const auto nv = static_cast<size_t>(tree_.nv);
  scratch_ = AlignedBuffer(kernels::scratchSize(tree_) * kMaxLanes);
  constexpr Eigen::Index kBlock = 4 * kMaxLanes;
  solve_columns_ = (3 * tree_.nv + kBlock - 1) / kBlock * kBlock;
  solve_rows_ = AlignedBuffer(nv * static_cast<size_t>(solveStride()));
  full_q_ = AlignedBuffer(static_cast<size_t>(tree_.nq) * kMaxLanes);
  full_v_ = AlignedBuffer(nv * kMaxLanes);
  full_a_ = AlignedBuffer(nv * kMaxLanes);
  full_tau_ = AlignedBuffer(nv * kMaxLanes);
  full_matrix_ = AlignedBuffer(nv * nv * kMaxLanes);
  full_regressor_ = AlignedBuffer(nv * 10 * tree.model().links.size() * kMaxLanes);
  wide_poses_ = AlignedBuffer(12 * tree.model().links.size() * kMaxLanes);
  external_ = AlignedBuffer(6 * static_cast<size_t>(tree_.count) * kMaxLanes);
  link_wrenches_.setZero(6, tree_.links);
  regressor_.setZero(tree.velocityCount(), ParameterLayout(tree.sharedModel()).size());
  square_.setZero(tree.velocityCount(), tree.velocityCount());
  column_.setZero(tree.velocityCount());
}

void Workspace::fillCoordinateOrder(const Tree& tree) {
  const int n = tree.velocityCount();
  coordinate_up_.assign(static_cast<size_t>(n), -1);
  if (tree.hasMimic()) {
    for (int i = 0; i < n; ++i) {
      coordinate_order_.push_back(i);
      coordinate_up_[static_cast<size_t>(i)] = i - 1;
    }
    return;
  }
  // a body's first coordinate hangs on the last one of its nearest moving ancestor
  std::vector<int> last_of(static_cast<size_t>(tree_.count), -1);
  for (int i = 0; i < tree_.count; ++i) {
    const kernels::Body& body = bodies_[static_cast<size_t>(i)];
    int last = body.parent < 0 ? -1 : last_of[static_cast<size_t>(body.parent)];
    for (int k = 0; k < kCoordinates[body.joint]; ++k) {
      coordinate_up_[static_cast<size_t>(body.v + k)] = last;
      last = body.v + k;
      coordinate_order_.push_back(last);
    }
    last_of[static_cast<size_t>(i)] = last;
  }
}

kernels::Tree Workspace::weightlessTree() const {
  kernels::Tree tree = tree_;
  for (int k = 0; k < 3; ++k) tree.gravity_world[k] = tree.gravity_root[k] = 0.0;
  return tree;
}

void sizeError(const char* function, const char* argument, Eigen::Index found,
               Eigen::Index expected) {
  throw Error(std::string(function) + ": " + argument + " has " + std::to_string(found) +
              " entries, expected " + std::to_string(expected) + ".");
}

}  // namespace proprio
