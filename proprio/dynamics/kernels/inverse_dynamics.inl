// Inverse dynamics (recursive Newton-Euler) in classical accelerations: no linear velocity is
// needed.
//   down: w = R^T w_p + z qd,  al = R^T al_p + z qdd + (R^T w_p) x z qd,  B = al^ + w^ w^,
//         a = R^T (a_p + B_p p)         (proper: starts from minus gravity)
//   body: f = m a + B h,  n = h x a + axial(B S)   with S the second moments about the body origin
//   up:   f_p += R f,  n_p += R n + p x R f,  tau = n_z (revolute), f_z (prismatic), (f, n)
//   (floating)

template <class T>
struct Motion {
  Vec3<T> w, al, a;
  Mat3<T> B;
};

template <class T>
struct DynamicsNode {
  Mat3<T> R;
  Vec3<T> p, f, n;
  Motion<T> m;
};

/// Motion of a body from its parent's, by joint kind. `moving` false: the parent rests (fixed
/// base).
template <class T>
PROPRIO_INLINE void propagateMotion(const Body& b, const Motion<T>& parent, bool moving,
                                    const Mat3<T>& R, const Vec3<T>& p, const In<T>& v,
                                    const In<T>& acc, Motion<T>* out) {
  Vec3<T> w, al, a;
  if (moving) {
    w = mulT(R, parent.w);
    al = mulT(R, parent.al);
    a = mulT(R, parent.a + mul(parent.B, p));
  } else {
    w = al = {T(0.0), T(0.0), T(0.0)};
    a = mulT(R, parent.a);
  }
  if (b.joint == kRevolute) {
    const T qd = v[b.v], qdd = acc[b.v];
    al.x += w.y * qd;
    al.y -= w.x * qd;
    al.z += qdd;
    w.z += qd;
  } else if (b.joint == kPrismatic) {
    const T qd = v[b.v], qdd = acc[b.v];
    const T two_qd = qd + qd;
    a.x += w.y * two_qd;
    a.y -= w.x * two_qd;
    a.z += qdd;
  } else if (b.joint == kFloating) {
    const Vec3<T> vr = {v[b.v], v[b.v + 1], v[b.v + 2]}, wr = {v[b.v + 3], v[b.v + 4], v[b.v + 5]};
    const Vec3<T> dv = {acc[b.v], acc[b.v + 1], acc[b.v + 2]};
    const Vec3<T> dw = {acc[b.v + 3], acc[b.v + 4], acc[b.v + 5]};
    const Vec3<T> w2 = {w.x + w.x + wr.x, w.y + w.y + wr.y, w.z + w.z + wr.z};
    a = a + dv + cross(w2, vr);
    al = al + dw + cross(w, wr);
    w = w + wr;
  }
  out->w = w;
  out->al = al;
  out->a = a;
  out->B = accelerationMatrix(w, al);
}

/// Force and moment (about the body origin) that give the body this motion.
template <class T, class P>
PROPRIO_INLINE void bodyWrench(const Inertia<P>& I, const Motion<T>& k, Vec3<T>* f, Vec3<T>* n) {
  const Mat3<T>& B = k.B;
  const Vec3<T>& a = k.a;
  const T hx = I.hx, hy = I.hy, hz = I.hz;
  f->x = I.m * a.x + B.xx * hx + B.xy * hy + B.xz * hz;
  f->y = I.m * a.y + B.yx * hx + B.yy * hy + B.yz * hz;
  f->z = I.m * a.z + B.zx * hx + B.zy * hy + B.zz * hz;
  const T xy = B.xx * I.sxy + B.xy * I.syy + B.xz * I.syz;
  const T yx = B.yx * I.sxx + B.yy * I.sxy + B.yz * I.sxz;
  const T xz = B.xx * I.sxz + B.xy * I.syz + B.xz * I.szz;
  const T zx = B.zx * I.sxx + B.zy * I.sxy + B.zz * I.sxz;
  const T yz = B.yx * I.sxz + B.yy * I.syz + B.yz * I.szz;
  const T zy = B.zx * I.sxy + B.zy * I.syy + B.zz * I.syz;
  n->x = hy * a.z - hz * a.y + zy - yz;
  n->y = hz * a.x - hx * a.z + xz - zx;
  n->z = hx * a.y - hy * a.x + yx - xy;
}

template <class T>
PROPRIO_INLINE void restingRoot(const Tree& t, Motion<T>* m) {
  const T zero = T(0.0);
  m->w = m->al = {zero, zero, zero};
  m->B = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
  m->a = vec3<T>(t.gravity_root);
}

/// `external`: null, or per body the wrench (f, n) on it from outside, in body coordinates,
/// stride 6. `rotor`: null, or reflected rotor inertia per velocity coordinate. `base`: null, or
/// receives the wrench (f, n) that the ground exerts on a fixed root, in body coordinates.
template <class T, class P>
void inverseDynamics(const Tree& t, const Inertia<P>* inertia, const P* rotor, T* scratch,
                     const Posture<T>& q, const In<T>& v, const In<T>& acc, const T* external,
                     const Out<T>& tau, T* base) {
  typedef DynamicsNode<T> Node;
  static_assert(sizeof(Node) <= kInverseDynamicsScratch * sizeof(T), "scratch too small");
  Node* node = reinterpret_cast<Node*>(scratch);
  const bool grounded = t.grounded != 0;
  // down: motion and wrench of every body
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Node& d = node[i];
    if (i == 0 && grounded) {
      restingRoot(t, &d.m);
      d.R = mat3<T>(b.R);
      d.p = vec3<T>(b.p);
      if (!base) continue;
    } else {
      placement(b, q, &d.R, &d.p);
      if (b.parent < 0) {
        Motion<T> world;
        world.a = vec3<T>(t.gravity_world);
        propagateMotion(b, world, false, d.R, d.p, v, acc, &d.m);
      } else {
        propagateMotion(b, node[b.parent].m, !(grounded && b.parent == 0), d.R, d.p, v, acc, &d.m);
      }
    }
    if (b.link >= 0) {
      bodyWrench(inertia[i], d.m, &d.f, &d.n);
    } else {
      d.f = d.n = {T(0.0), T(0.0), T(0.0)};
    }
    if (external) {
      const T* e = external + 6 * i;
      d.f = d.f - Vec3<T>{e[0], e[1], e[2]};
      d.n = d.n - Vec3<T>{e[3], e[4], e[5]};
    }
  }
  // up: wrench across every joint
  for (int i = t.count - 1; i >= 0; --i) {
    const Body& b = t.bodies[i];
    const Node& d = node[i];
    if (b.joint == kRevolute) {
      tau.set(b.v, rotor ? d.n.z + rotor[b.v] * acc[b.v] : d.n.z);
    } else if (b.joint == kPrismatic) {
      tau.set(b.v, rotor ? d.f.z + rotor[b.v] * acc[b.v] : d.f.z);
    } else if (b.joint == kFloating) {
      tau.set(b.v, d.f.x), tau.set(b.v + 1, d.f.y), tau.set(b.v + 2, d.f.z);
      tau.set(b.v + 3, d.n.x), tau.set(b.v + 4, d.n.y), tau.set(b.v + 5, d.n.z);
    }
    if (b.parent < 0 || (b.parent == 0 && grounded && !base)) continue;
    const Vec3<T> f = mul(d.R, d.f);
    Node& parent = node[b.parent];
    parent.f = parent.f + f;
    parent.n = parent.n + mul(d.R, d.n) + cross(d.p, f);
  }
  if (base) {
    base[0] = node[0].f.x, base[1] = node[0].f.y, base[2] = node[0].f.z;
    base[3] = node[0].n.x, base[4] = node[0].n.y, base[5] = node[0].n.z;
  }
}
