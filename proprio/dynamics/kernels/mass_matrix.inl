// Joint-space mass matrix by composite bodies: S_c, h_c, m_c of every subtree in body coordinates,
// then the wrench (f, n) of a unit joint acceleration is walked up the path and dotted with the
// ancestors' axes.

template <class T>
struct CompositeNode {
  Mat3<T> R;
  Vec3<T> p;
  T m;
  Vec3<T> h;
  T sxx, sxy, sxz, syy, syz, szz;
};

/// R S R^T of a symmetric S.
template <class T>
PROPRIO_INLINE void rotateSymmetric(const Mat3<T>& R, T xx, T xy, T xz, T yy, T yz, T zz,
                                    T out[6]) {
  const Mat3<T> A = {R.xx * xx + R.xy * xy + R.xz * xz, R.xx * xy + R.xy * yy + R.xz * yz,
                     R.xx * xz + R.xy * yz + R.xz * zz, R.yx * xx + R.yy * xy + R.yz * xz,
                     R.yx * xy + R.yy * yy + R.yz * yz, R.yx * xz + R.yy * yz + R.yz * zz,
                     R.zx * xx + R.zy * xy + R.zz * xz, R.zx * xy + R.zy * yy + R.zz * yz,
                     R.zx * xz + R.zy * yz + R.zz * zz};
  out[0] = A.xx * R.xx + A.xy * R.xy + A.xz * R.xz;
  out[1] = A.xx * R.yx + A.xy * R.yy + A.xz * R.yz;
  out[2] = A.xx * R.zx + A.xy * R.zy + A.xz * R.zz;
  out[3] = A.yx * R.yx + A.yy * R.yy + A.yz * R.yz;
  out[4] = A.yx * R.zx + A.yy * R.zy + A.yz * R.zz;
  out[5] = A.zx * R.zx + A.zy * R.zy + A.zz * R.zz;
}

/// Entry (i, j) of a matrix at data + i * row_stride + j * column_stride.
template <class T>
struct MatrixOut {
  typename Memory<T>::Element* data;
  ptrdiff_t row_stride, column_stride;
  PROPRIO_INLINE void set(int i, int j, T x) const {
    Memory<T>::store(data + i * row_stride + j * column_stride, x);
  }
};

template <class T>
PROPRIO_INLINE void storeSymmetric(const MatrixOut<T>& M, int i, int j, T x) {
  M.set(i, j, x);
  M.set(j, i, x);
}

/// Entries of row v against the coordinates of `b`'s own joint, for a wrench (f, n) at its origin.
template <class T>
PROPRIO_INLINE void storeAgainst(const Body& b, const MatrixOut<T>& M, int v, const Vec3<T>& f,
                                 const Vec3<T>& n) {
  if (b.joint == kRevolute) {
    storeSymmetric(M, v, b.v, n.z);
  } else if (b.joint == kPrismatic) {
    storeSymmetric(M, v, b.v, f.z);
  } else if (b.joint == kFloating) {
    storeSymmetric(M, v, b.v, f.x), storeSymmetric(M, v, b.v + 1, f.y),
        storeSymmetric(M, v, b.v + 2, f.z);
    storeSymmetric(M, v, b.v + 3, n.x), storeSymmetric(M, v, b.v + 4, n.y),
        storeSymmetric(M, v, b.v + 5, n.z);
  }
}

/// Walks the wrench of a unit acceleration of coordinate v from body i to the root.
template <class T>
PROPRIO_INLINE void walkUp(const Tree& t, const CompositeNode<T>* node, int i, int v, Vec3<T> f,
                           Vec3<T> n, const MatrixOut<T>& M) {
  const bool grounded = t.grounded != 0;
  for (int parent = t.bodies[i].parent; parent > 0 || (parent == 0 && !grounded);
       i = parent, parent = t.bodies[i].parent) {
    const CompositeNode<T>& d = node[i];
    f = mul(d.R, f);
    n = mul(d.R, n) + cross(d.p, f);
    storeAgainst(t.bodies[parent], M, v, f, n);
  }
}

/// Structural zeros (coordinates on different branches) are not written.
template <class T, class P>
void massMatrix(const Tree& t, const Inertia<P>* inertia, const P* rotor, T* scratch,
                const Posture<T>& q, const MatrixOut<T>& M) {
  typedef CompositeNode<T> Node;
  static_assert(sizeof(Node) <= kMassMatrixScratch * sizeof(T), "scratch too small");
  Node* node = reinterpret_cast<Node*>(scratch);
  const int first = t.grounded ? 1 : 0;
  for (int i = first; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Node& d = node[i];
    placement(b, q, &d.R, &d.p);
    const Inertia<P>& I = inertia[i];
    d.m = I.m;
    d.h = {T(I.hx), T(I.hy), T(I.hz)};
    d.sxx = I.sxx, d.sxy = I.sxy, d.sxz = I.sxz, d.syy = I.syy, d.syz = I.syz, d.szz = I.szz;
  }
  for (int i = t.count - 1; i >= first; --i) {
    const Body& b = t.bodies[i];
    const Node& d = node[i];
    if (b.parent >= first) {
      Node& up = node[b.parent];
      const Vec3<T> h = mul(d.R, d.h);
      T s[6];
      rotateSymmetric(d.R, d.sxx, d.sxy, d.sxz, d.syy, d.syz, d.szz, s);
      const T half = T(0.5);
      const Vec3<T> k = {h.x + half * d.m * d.p.x, h.y + half * d.m * d.p.y,
                         h.z + half * d.m * d.p.z};
      const Vec3<T>& p = d.p;
      up.sxx += s[0] + (p.x + p.x) * k.x;
      up.sxy += s[1] + p.x * k.y + p.y * k.x;
      up.sxz += s[2] + p.x * k.z + p.z * k.x;
      up.syy += s[3] + (p.y + p.y) * k.y;
      up.syz += s[4] + p.y * k.z + p.z * k.y;
      up.szz += s[5] + (p.z + p.z) * k.z;
      up.h = {up.h.x + h.x + d.m * p.x, up.h.y + h.y + d.m * p.y, up.h.z + h.z + d.m * p.z};
      up.m += d.m;
    }
    const T zero = T(0.0);
    if (b.joint == kRevolute) {
      const T diagonal = d.sxx + d.syy;
      M.set(b.v, b.v, rotor ? diagonal + rotor[b.v] : diagonal);
      walkUp(t, node, i, b.v, Vec3<T>{-d.h.y, d.h.x, zero}, Vec3<T>{-d.sxz, -d.syz, diagonal}, M);
    } else if (b.joint == kPrismatic) {
      M.set(b.v, b.v, rotor ? d.m + rotor[b.v] : d.m);
      walkUp(t, node, i, b.v, Vec3<T>{zero, zero, d.m}, Vec3<T>{d.h.y, -d.h.x, zero}, M);
    } else if (b.joint == kFloating) {
      // wrench of a unit acceleration: linear e_k gives (m e_k, h x e_k), angular e_k gives (e_k x
      // h, I e_k)
      const T hx = d.h.x, hy = d.h.y, hz = d.h.z;
      const Vec3<T> f[6] = {{d.m, zero, zero}, {zero, d.m, zero}, {zero, zero, d.m},
                            {zero, -hz, hy},   {hz, zero, -hx},   {-hy, hx, zero}};
      const Vec3<T> n[6] = {{zero, hz, -hy},
                            {-hz, zero, hx},
                            {hy, -hx, zero},
                            {d.syy + d.szz, -d.sxy, -d.sxz},
                            {-d.sxy, d.sxx + d.szz, -d.syz},
                            {-d.sxz, -d.syz, d.sxx + d.syy}};
      for (int k = 0; k < 6; ++k) {
        storeAgainst(b, M, b.v + k, f[k], n[k]);
        walkUp(t, node, i, b.v + k, f[k], n[k], M);
      }
    }
  }
}
