// The mass matrix of one sample with the three components of vectors, and the columns of 3x3
// matrices, in SIMD lanes (the fourth is zero). Composite bodies in the axes of the root: mass m,
// first and second moments h, S of every subtree about the body's own origin p. A unit acceleration
// of a joint with axis u asks for the wrench
//   f = u x h,  n = (tr S) u - S u  (revolute),        f = m u,  n = h x u  (prismatic)
// and with N = n + p x f about the root's origin, M_ij = f . w_j + N . u_j for every ancestor j,
// w_j = p_j x u_j (revolute), or f . u_j (prismatic). Same numbers as massMatrix up to rounding.

#if PROPRIO_LANES == 4

/// Lane k in all lanes.
template <int k>
PROPRIO_INLINE PackVector lane(PackVector x) {
  return __builtin_shufflevector(x, x, k, k, k, k);
}
PROPRIO_INLINE PackVector rotated(PackVector x) {
  return __builtin_shufflevector(x, x, 1, 2, 0, 3);
}
PROPRIO_INLINE PackVector crossLanes(PackVector a, PackVector b) {
  return rotated(a * rotated(b) - rotated(a) * b);
}
PROPRIO_INLINE double sumLanes(PackVector x) {
  x += __builtin_shufflevector(x, x, 2, 3, 0, 1);
  return x[0] + x[1];
}

struct Columns {
  PackVector x, y, z;
};
PROPRIO_INLINE PackVector mulLanes(const Columns& A, double x, double y, double z) {
  return A.x * x + A.y * y + A.z * z;
}
PROPRIO_INLINE PackVector mulLanes(const Columns& A, PackVector u) {
  return A.x * lane<0>(u) + A.y * lane<1>(u) + A.z * lane<2>(u);
}

struct LaneNode {
  Columns R;                ///< axes of the body in those of the root
  PackVector p;             ///< its origin
  PackVector linear, turn;  ///< what f and N are multiplied with for this body's joint
  PackVector h;
  Columns S;
  double m, unused[3];
};

PROPRIO_INLINE void placeNode(const Body& b, const Posture<double>& q, const LaneNode& up,
                              LaneNode* d) {
  const double* R = b.R;
  const PackVector zero = {};
  d->p = up.p + mulLanes(up.R, b.p[0], b.p[1], b.p[2]);
  d->R = {mulLanes(up.R, R[0], R[3], R[6]), mulLanes(up.R, R[1], R[4], R[7]),
          mulLanes(up.R, R[2], R[5], R[8])};
  d->linear = d->turn = zero;
  if (b.joint == kRevolute) {
    double s, c;
    q.turn(b.q, &s, &c);
    const PackVector x = d->R.x, y = d->R.y;
    d->R.x = c * x + s * y;
    d->R.y = c * y - s * x;
    d->turn = d->R.z;
    d->linear = crossLanes(d->p, d->turn);
  } else if (b.joint == kPrismatic) {
    d->p += d->R.z * q[b.q];
    d->linear = d->R.z;
  }
}

/// The moments of the body itself, in the axes of the root.
PROPRIO_INLINE void setMoments(const Inertia<double>& I, LaneNode* d) {
  const Columns R = d->R;
  const Columns A = {mulLanes(R, I.sxx, I.sxy, I.sxz), mulLanes(R, I.sxy, I.syy, I.syz),
                     mulLanes(R, I.sxz, I.syz, I.szz)};
  d->m = I.m;
  d->h = mulLanes(R, I.hx, I.hy, I.hz);
  d->S = {A.x * lane<0>(R.x) + A.y * lane<0>(R.y) + A.z * lane<0>(R.z),
          A.x * lane<1>(R.x) + A.y * lane<1>(R.y) + A.z * lane<1>(R.z),
          A.x * lane<2>(R.x) + A.y * lane<2>(R.y) + A.z * lane<2>(R.z)};
}

PROPRIO_INLINE void addToParent(const LaneNode& d, LaneNode* up) {
  const PackVector r = d.p - up->p, moved = d.h + d.m * r;
  up->m += d.m;
  up->h += moved;
  up->S.x += d.S.x + d.h * lane<0>(r) + r * lane<0>(moved);
  up->S.y += d.S.y + d.h * lane<1>(r) + r * lane<1>(moved);
  up->S.z += d.S.z + d.h * lane<2>(r) + r * lane<2>(moved);
}

/// The block of a free root, whose axes are those that everything is in.
PROPRIO_INLINE void storeRoot(const Body& b, const LaneNode& d, const MatrixOut<double>& M) {
  const double trace = d.S.x[0] + d.S.y[1] + d.S.z[2];
  const PackVector inertia[3] = {PackVector{trace, 0, 0, 0} - d.S.x,
                                 PackVector{0, trace, 0, 0} - d.S.y,
                                 PackVector{0, 0, trace, 0} - d.S.z};
  const double hx = d.h[0], hy = d.h[1], hz = d.h[2];
  const double skew[3][3] = {{0, -hz, hy}, {hz, 0, -hx}, {-hy, hx, 0}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      M.set(b.v + i, b.v + j, i == j ? d.m : 0.0);
      storeSymmetric(M, b.v + 3 + i, b.v + j, skew[i][j]);
      if (j <= i) storeSymmetric(M, b.v + 3 + i, b.v + 3 + j, inertia[j][i]);
    }
  }
}

inline void massMatrixOne(const Tree& t, const Inertia<double>* inertia, const double* rotor,
                          double* scratch, const Posture<double>& q, const MatrixOut<double>& M) {
  static_assert(sizeof(LaneNode) == kLaneNodeScratch * sizeof(double), "scratch too small");
  LaneNode* node = reinterpret_cast<LaneNode*>(scratch);
  node[0].R = {PackVector{1, 0, 0, 0}, PackVector{0, 1, 0, 0}, PackVector{0, 0, 1, 0}};
  node[0].p = PackVector{};
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    if (i > 0) {
      // a free joint inside the tree: the kernel of all scalar types
      if (b.joint == kFloating) return massMatrix<double, double>(t, inertia, rotor, scratch, q, M);
      placeNode(b, q, node[b.parent], &node[i]);
    }
    setMoments(inertia[i], &node[i]);
  }
  for (int i = t.count - 1; i > 0; --i) {
    const Body& b = t.bodies[i];
    const LaneNode& d = node[i];
    addToParent(d, &node[b.parent]);
    if (b.joint == kFixed) continue;
    const PackVector u = d.R.z;
    PackVector f = d.m * u, n = crossLanes(d.h, u);
    double diagonal = d.m;
    if (b.joint == kRevolute) {
      f = -n;
      n = (d.S.x[0] + d.S.y[1] + d.S.z[2]) * u - mulLanes(d.S, u);
      diagonal = sumLanes(u * n);
    }
    M.set(b.v, b.v, rotor ? diagonal + rotor[b.v] : diagonal);
    const PackVector N = n + crossLanes(d.p, f);
    for (int j = b.parent; j > 0; j = t.bodies[j].parent) {
      if (t.bodies[j].joint == kFixed) continue;
      storeSymmetric(M, b.v, t.bodies[j].v, sumLanes(f * node[j].linear + N * node[j].turn));
    }
    if (t.grounded) continue;
    for (int k = 0; k < 3; ++k) {
      storeSymmetric(M, b.v, t.bodies[0].v + k, f[k]);
      storeSymmetric(M, b.v, t.bodies[0].v + 3 + k, N[k]);
    }
  }
  if (!t.grounded) storeRoot(t.bodies[0], node[0], M);
}

#endif
