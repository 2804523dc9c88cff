// Derivatives of inverse dynamics with respect to q and v, analytic, in an inertial frame with
// world axes whose origin is the root's. With S the joint columns, V, A the body twists and
// accelerations (A starts from minus gravity):
//   Pd_k = V_parent x S_k,  Pdd_k = A_parent x S_k + V_parent x Pd_k,  Q_k = Pd_k + V_body x S_k
//   composite over the subtree: I (inertia), f (wrench), B(m) = (-p x m_w, N m_w), p = momentum, N
//   = -(w^ S2 + h^ v^) row k, column l on its path:     dq = S_k^T (2 B Pd_l + I Pdd_l), dv = S_k^T
//   (2 B S_l + I Q_l) row l above k, column k:         dq = S_l^T (2 B Pd_k + I Pdd_k + S_k x* f),
//   dv = S_l^T (2 B S_k + I Q_k)
// (composites of the body of k). Columns of a floating joint: right (body) perturbations of its
// pose. After Singh, Russell and Wensing 2022; the closed form of B for a rigid body (12 numbers)
// is worked out here: v x* I - I v x + (I v) xbar* = [0, -2 p^; 0, -2 (w^ S2 + h^ v^)] with S2 the
// second moments.

template <class T>
struct Vec6 {
  Vec3<T> v, w;
};
template <class T>
PROPRIO_INLINE Vec6<T> operator+(const Vec6<T>& a, const Vec6<T>& b) {
  return {a.v + b.v, a.w + b.w};
}
template <class T>
PROPRIO_INLINE T dot(const Vec6<T>& a, const Vec6<T>& b) {
  return dot(a.v, b.v) + dot(a.w, b.w);
}
template <class T>
PROPRIO_INLINE Vec6<T> motionCross(const Vec6<T>& a, const Vec6<T>& b) {
  return {cross(a.w, b.v) + cross(a.v, b.w), cross(a.w, b.w)};
}
template <class T>
PROPRIO_INLINE Vec6<T> forceCross(const Vec6<T>& a, const Vec6<T>& f) {
  return {cross(a.w, f.v), cross(a.v, f.v) + cross(a.w, f.w)};
}

template <class T>
struct Composite {
  T m;
  Vec3<T> h;
  T sxx, sxy, sxz, syy, syz, szz;
  Vec3<T> p;  // linear momentum
  Mat3<T> N;
  Vec6<T> f;
};

template <class T>
struct DerivativeNode {
  Mat3<T> R;
  Vec3<T> o;  // origin
  Vec6<T> V, A;
  Composite<T> c;
};

/// What one velocity coordinate contributes.
template <class T>
struct DerivativeColumn {
  Vec6<T> S, Pd, Pdd, Q;
};

/// I x for a rigid inertia given by second moments.
template <class T>
PROPRIO_INLINE Vec6<T> inertiaTimes(const Composite<T>& c, const Vec6<T>& x) {
  const T trace = c.sxx + c.syy + c.szz;
  const Vec3<T> Sw = {c.sxx * x.w.x + c.sxy * x.w.y + c.sxz * x.w.z,
                      c.sxy * x.w.x + c.syy * x.w.y + c.syz * x.w.z,
                      c.sxz * x.w.x + c.syz * x.w.y + c.szz * x.w.z};
  return {scaled(x.v, c.m) + cross(x.w, c.h), cross(c.h, x.v) + scaled(x.w, trace) - Sw};
}

template <class T>
PROPRIO_INLINE Vec6<T> twiceB(const Composite<T>& c, const Vec3<T>& w) {
  const Vec3<T> f = cross(w, c.p), n = mul(c.N, w);
  return {f + f, n + n};
}

/// Body inertia moved to the inertial frame, its momentum terms and wrench.
template <class T, class P>
PROPRIO_INLINE void bodyComposite(const Inertia<P>& I, const Mat3<T>& R, const Vec3<T>& o,
                                  const Vec6<T>& V, const Vec6<T>& A, Composite<T>* c) {
  const T m = I.m;
  const Vec3<T> h_axes = mul(R, Vec3<T>{T(I.hx), T(I.hy), T(I.hz)});
  T s[6];
  rotateSymmetric(R, T(I.sxx), T(I.sxy), T(I.sxz), T(I.syy), T(I.syz), T(I.szz), s);
  const T half = T(0.5);
  const Vec3<T> k = {h_axes.x + half * m * o.x, h_axes.y + half * m * o.y,
                     h_axes.z + half * m * o.z};
  c->m = m;
  c->h = h_axes + scaled(o, m);
  c->sxx = s[0] + (o.x + o.x) * k.x, c->sxy = s[1] + o.x * k.y + o.y * k.x,
  c->sxz = s[2] + o.x * k.z + o.z * k.x;
  c->syy = s[3] + (o.y + o.y) * k.y, c->syz = s[4] + o.y * k.z + o.z * k.y,
  c->szz = s[5] + (o.z + o.z) * k.z;
  const Vec6<T> momentum = inertiaTimes(*c, V);
  c->p = momentum.v;
  c->f = inertiaTimes(*c, A) + forceCross(V, momentum);
  // N = -(w^ S2 + h^ v^), h^ v^ = v h^T - (h.v) 1
  const Vec3<T>&w = V.w, &h = c->h, &v = V.v;
  const T hv = dot(h, v);
  c->N = {
      -(w.y * c->sxz - w.z * c->sxy + v.x * h.x - hv), -(w.y * c->syz - w.z * c->syy + v.x * h.y),
      -(w.y * c->szz - w.z * c->syz + v.x * h.z),      -(w.z * c->sxx - w.x * c->sxz + v.y * h.x),
      -(w.z * c->sxy - w.x * c->syz + v.y * h.y - hv), -(w.z * c->sxz - w.x * c->szz + v.y * h.z),
      -(w.x * c->sxy - w.y * c->sxx + v.z * h.x),      -(w.x * c->syy - w.y * c->sxy + v.z * h.y),
      -(w.x * c->syz - w.y * c->sxz + v.z * h.z - hv)};
}

template <class T>
PROPRIO_INLINE void addComposite(const Composite<T>& from, Composite<T>* to) {
  to->m += from.m;
  to->h = to->h + from.h;
  to->sxx += from.sxx, to->sxy += from.sxy, to->sxz += from.sxz;
  to->syy += from.syy, to->syz += from.syz, to->szz += from.szz;
  to->p = to->p + from.p;
  Mat3<T>& N = to->N;
  const Mat3<T>& M = from.N;
  N = {N.xx + M.xx, N.xy + M.xy, N.xz + M.xz, N.yx + M.yx, N.yy + M.yy,
       N.yz + M.yz, N.zx + M.zx, N.zy + M.zy, N.zz + M.zz};
  to->f = to->f + from.f;
}

/// The columns of a body's joint about the inertial origin; returns how many.
template <class T>
PROPRIO_INLINE int jointColumns(const Body& b, const Mat3<T>& R, const Vec3<T>& o,
                                DerivativeColumn<T>* column) {
  const T zero = T(0.0);
  const Vec3<T> none = {zero, zero, zero};
  const Vec3<T> axis[3] = {{R.xx, R.yx, R.zx}, {R.xy, R.yy, R.zy}, {R.xz, R.yz, R.zz}};
  if (b.joint == kRevolute) {
    column[0].S = {cross(o, axis[2]), axis[2]};
    return 1;
  }
  if (b.joint == kPrismatic) {
    column[0].S = {axis[2], none};
    return 1;
  }
  if (b.joint == kFixed) return 0;
  for (int k = 0; k < 3; ++k) {
    column[k].S = {axis[k], none};
    column[3 + k].S = {cross(o, axis[k]), axis[k]};
  }
  return 6;
}

/// `rows`: as for the regressor, 2 * coordinate per axis on the path. Entries between branches are
/// not written.
template <class T, class P>
void inverseDynamicsDerivatives(const Tree& t, const Inertia<P>* inertia, T* scratch,
                                const int* row_of, const Posture<T>& q, const In<T>& v, const In<T>& acc,
                                const T* external, const MatrixOut<T>& dq, const MatrixOut<T>& dv) {
  typedef DerivativeNode<T> Node;
  static_assert(sizeof(Node) <= kDerivativeNodeScratch * sizeof(T), "scratch too small");
  static_assert(sizeof(DerivativeColumn<T>) <= kDerivativeColumnScratch * sizeof(T),
                "scratch too small");
  Node* node = reinterpret_cast<Node*>(scratch);
  DerivativeColumn<T>* column =
      reinterpret_cast<DerivativeColumn<T>*>(scratch + kDerivativeNodeScratch * t.count);
  const T zero = T(0.0);
  const Vec3<T> none = {zero, zero, zero};
  const Vec6<T> still = {none, none};
  const Vec6<T> gravity = {vec3<T>(t.gravity_world), none};
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Node& d = node[i];
    Mat3<T> R;
    Vec3<T> p;
    placement(b, q, &R, &p);
    if (b.parent < 0) {
      d.R = R;
      d.o = none;
    } else {
      const Node& up = node[b.parent];
      d.R = mul(up.R, R);
      d.o = up.o + mul(up.R, p);
    }
    const Vec6<T>& Vp = b.parent < 0 ? still : node[b.parent].V;
    const Vec6<T>& Ap = b.parent < 0 ? gravity : node[b.parent].A;
    DerivativeColumn<T>* c = column + (b.v < 0 ? 0 : b.v);
    const int count = jointColumns(b, d.R, d.o, c);
    Vec6<T> joint = still, push = still;
    for (int k = 0; k < count; ++k) {
      const T rate = v[b.v + k], rate2 = acc[b.v + k];
      joint = {joint.v + scaled(c[k].S.v, rate), joint.w + scaled(c[k].S.w, rate)};
      push = {push.v + scaled(c[k].S.v, rate2), push.w + scaled(c[k].S.w, rate2)};
    }
    d.V = Vp + joint;
    d.A = Ap + push + motionCross(d.V, joint);
    for (int k = 0; k < count; ++k) {
      c[k].Pd = motionCross(Vp, c[k].S);
      c[k].Pdd = motionCross(Ap, c[k].S) + motionCross(Vp, c[k].Pd);
      c[k].Q = c[k].Pd + motionCross(d.V, c[k].S);
    }
    if (b.link >= 0) {
      bodyComposite(inertia[i], d.R, d.o, d.V, d.A, &d.c);
    } else {
      d.c = {zero, none, zero, zero, zero,
             zero, zero, zero, none, {zero, zero, zero, zero, zero, zero, zero, zero, zero},
             still};
    }
    if (external) {
      const T* e = external + 6 * i;
      const Vec3<T> f = mul(d.R, Vec3<T>{e[0], e[1], e[2]});
      d.c.f.v = d.c.f.v - f;
      d.c.f.w = d.c.f.w - mul(d.R, Vec3<T>{e[3], e[4], e[5]}) - cross(d.o, f);
    }
  }
  for (int i = t.count - 1; i >= 0; --i) {
    const Body& b = t.bodies[i];
    const Composite<T>& c = node[i].c;
    const int count = b.joint == kFloating ? 6 : (b.joint == kFixed ? 0 : 1);
    const int* rows = row_of + i * t.max_axes;
    for (int k = b.v; k < b.v + count; ++k) {
      const DerivativeColumn<T>& own = column[k];
      // row k: S^T 2 B acts on angular parts only, S^T I on all
      const Vec3<T> NS = {c.N.xx * own.S.w.x + c.N.yx * own.S.w.y + c.N.zx * own.S.w.z,
                          c.N.xy * own.S.w.x + c.N.yy * own.S.w.y + c.N.zy * own.S.w.z,
                          c.N.xz * own.S.w.x + c.N.yz * own.S.w.y + c.N.zz * own.S.w.z};
      const Vec3<T> half_row = cross(c.p, own.S.v) + NS;
      const Vec3<T> row_b = half_row + half_row;
      const Vec6<T> row_i = inertiaTimes(c, own.S);
      for (int l = 0; l < b.axes + count; ++l) {
        const int to = rows[l] >> 1;
        const DerivativeColumn<T>& other = column[to];
        dq.set(k, to, dot(row_b, other.Pd.w) + dot(row_i, other.Pdd));
        dv.set(k, to, dot(row_b, other.S.w) + dot(row_i, other.Q));
      }
      if (b.axes == 0) continue;
      const Vec6<T> for_q = twiceB(c, own.Pd.w) + inertiaTimes(c, own.Pdd) + forceCross(own.S, c.f);
      const Vec6<T> for_v = twiceB(c, own.S.w) + inertiaTimes(c, own.Q);
      for (int l = 0; l < b.axes; ++l) {
        const int to = rows[l] >> 1;
        dq.set(to, k, dot(column[to].S, for_q));
        dv.set(to, k, dot(column[to].S, for_v));
      }
    }
    if (b.parent >= 0) addComposite(c, &node[b.parent].c);
  }
}
