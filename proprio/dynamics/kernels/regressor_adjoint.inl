// Gradient of phi = sum_{r,c} G(r, c) Y(r, c) over the torque regressor with respect to q, v, a,
// for given weights G: the regressor kernel run backwards. Every quantity of the forward pass has
// an adjoint (marked _b) that collects d phi / d quantity.
//   y = R^T x with R = R_PJ Rz(q):  x_b += R y_b,  q_b += z . (y_b x y)
//   w_axis = R^T (w_p + u_p x p):    u_p_b += p x (R w_b),  p_b += (R w_b) x u_p
//   B = al^ + w w^T - |w|^2 1:       al_b = 2 axial(B_b),  w_b = (B_b + B_b^T) w - 2 tr(B_b) w
// One revolute, prismatic or floating joint per body; the floating joint's q gradient is the
// left-trivialised one (six numbers, right perturbation of the pose), so `gradient_q` has one entry
// per velocity coordinate.

/// Adjoint of rowEntries: adds the weights g of one row to the adjoints of motion (a, al, B) and
/// axis.
template <class T>
PROPRIO_INLINE void rowEntriesAdjoint(const Motion<T>& m, const Axis<T>& s, const T g[10],
                                      Motion<T>* mb, Axis<T>* sb) {
  const Mat3<T>& B = m.B;
  const Vec3<T>&a = m.a, &u = s.u, &w = s.w;
  const Vec3<T> gh = {g[1], g[2], g[3]};
  // e0 = w.a
  sb->w = sb->w + scaled(a, g[0]);
  mb->a = mb->a + scaled(w, g[0]);
  // eh = B^T w + a x u
  sb->w = sb->w + mul(B, gh);
  mb->a = mb->a + cross(u, gh);
  sb->u = sb->u + cross(gh, a);
  // inertia entries: (u.al)(g4 + g7 + g9) - tr(B^T u^ W), W = [g4 g5 g6; g5 g7 g8; g6 g8 g9] as
  // coefficients of sym(N)
  const T trace = g[4] + g[7] + g[9];
  sb->u = sb->u + scaled(m.al, trace);
  mb->al = mb->al + scaled(u, trace);
  // sum_ij W_ij N_ij with N = B^T u^: d/dB = u^ W, d/du = axial of (B W)
  const Mat3<T> uW = {u.y * g[6] - u.z * g[5], u.y * g[8] - u.z * g[7], u.y * g[9] - u.z * g[8],
                      u.z * g[4] - u.x * g[6], u.z * g[5] - u.x * g[8], u.z * g[6] - u.x * g[9],
                      u.x * g[5] - u.y * g[4], u.x * g[7] - u.y * g[5], u.x * g[8] - u.y * g[6]};
  Mat3<T>& Bb = mb->B;
  Bb = {Bb.xx + w.x * gh.x - uW.xx, Bb.xy + w.x * gh.y - uW.xy, Bb.xz + w.x * gh.z - uW.xz,
        Bb.yx + w.y * gh.x - uW.yx, Bb.yy + w.y * gh.y - uW.yy, Bb.yz + w.y * gh.z - uW.yz,
        Bb.zx + w.z * gh.x - uW.zx, Bb.zy + w.z * gh.y - uW.zy, Bb.zz + w.z * gh.z - uW.zz};
  const Mat3<T> W = {g[4], g[5], g[6], g[5], g[7], g[8], g[6], g[8], g[9]};
  const Mat3<T> BW = mul(B, W);
  // tr(B^T u^ W) = sum_k (B W)_kj-type contraction: u . (BW_zy - BW_yz, BW_xz - BW_zx, BW_yx -
  // BW_xy)
  sb->u = sb->u - Vec3<T>{BW.zy - BW.yz, BW.xz - BW.zx, BW.yx - BW.xy};
}

/// Weights of row `row` for the ten columns of a body, in body coordinates.
template <class T>
PROPRIO_INLINE void loadRow(const Body& b, const RegressorOut<T>& G, int row, T g[10]) {
  const typename Memory<T>::Element* in =
      G.data + row * G.row_stride + 10 * b.link * G.column_stride;
  if (b.column_case == kPermutation) {
    for (int k = 0; k < 10; ++k)
      g[k] = Memory<T>::load(in + b.column[k] * G.column_stride) * b.sign[k];
  } else {
    for (int k = 0; k < 10; ++k) g[k] = Memory<T>::load(in + k * G.column_stride);
  }
}

/// For ColumnCase kGeneral: the weights of link columns as weights of body columns. A row in link
/// columns is T^T times the row in body columns, T the parameter transform of X_BL, so the weights
/// transform like parameters: g_B = T g_L.
template <class T>
PROPRIO_INLINE void weightsToBody(const Body& b, T g[10]) {
  // T maps link parameters to body parameters; as a linear map on the ten weights it acts like on
  // parameters
  const Mat3<T> R = mat3<T>(b.R_BL);
  const Vec3<T> p = vec3<T>(b.p_BL);
  const T m = g[0];
  const Vec3<T> h = mul(R, Vec3<T>{g[1], g[2], g[3]});
  const T half = T(0.5);
  const T trace = (g[4] + g[7] + g[9]) * half;
  T s[6];
  rotateSymmetric(R, trace - g[4], -g[5], -g[6], trace - g[7], -g[8], trace - g[9], s);
  const Vec3<T> k = {h.x + half * m * p.x, h.y + half * m * p.y, h.z + half * m * p.z};
  s[0] += (p.x + p.x) * k.x, s[1] += p.x * k.y + p.y * k.x, s[2] += p.x * k.z + p.z * k.x;
  s[3] += (p.y + p.y) * k.y, s[4] += p.y * k.z + p.z * k.y, s[5] += (p.z + p.z) * k.z;
  g[1] = h.x + m * p.x, g[2] = h.y + m * p.y, g[3] = h.z + m * p.z;
  g[4] = s[3] + s[5], g[5] = -s[1], g[6] = -s[2], g[7] = s[0] + s[5], g[8] = -s[4],
  g[9] = s[0] + s[3];
}

/// Where the gradients go.
template <class T>
struct AdjointOut {
  Out<T> q, v, a;
};

/// Forward pass of the regressor, keeping motion and axes of every body.
template <class T>
PROPRIO_INLINE void regressorForward(const Tree& t, Motion<T>* motion, Axis<T>* axes,
                                     const Posture<T>& q, const In<T>& v, const In<T>& acc) {
  const bool grounded = t.grounded != 0;
  const T zero = T(0.0), one = T(1.0);
  const Vec3<T> none = {zero, zero, zero};
  const Vec3<T> unit[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    if (i == 0 && grounded) {
      restingRoot(t, &motion[i]);
      continue;
    }
    Mat3<T> R;
    Vec3<T> p;
    placement(b, q, &R, &p);
    Axis<T>* own = axes + i * t.max_axes;
    if (b.parent < 0) {
      Motion<T> world;
      world.a = vec3<T>(t.gravity_world);
      propagateMotion(b, world, false, R, p, v, acc, &motion[i]);
    } else {
      propagateMotion(b, motion[b.parent], !(grounded && b.parent == 0), R, p, v, acc, &motion[i]);
      const Axis<T>* up = axes + b.parent * t.max_axes;
      for (int k = 0; k < b.axes; ++k) {
        own[k] = {mulT(R, up[k].u), mulT(R, up[k].w + cross(up[k].u, p))};
      }
    }
    if (b.joint == kRevolute) own[b.axes] = {unit[2], none};
    if (b.joint == kPrismatic) own[b.axes] = {none, unit[2]};
    for (int k = 0; b.joint == kFloating && k < 3; ++k) {
      own[b.axes + k] = {none, unit[k]};
      own[b.axes + 3 + k] = {unit[k], none};
    }
  }
}

/// Scratch: 2 * kMotionSize per body, then 12 * max_axes per body. Gradients have nv entries each.
template <class T>
void torqueRegressorAdjoint(const Tree& t, T* scratch, const int* row_of, const Posture<T>& q,
                            const In<T>& v, const In<T>& acc, const RegressorOut<T>& G,
                            const AdjointOut<T>& out) {
  Motion<T>* motion = reinterpret_cast<Motion<T>*>(scratch);
  Motion<T>* motion_b = motion + t.count;
  Axis<T>* axes = reinterpret_cast<Axis<T>*>(motion_b + t.count);
  Axis<T>* axes_b = axes + t.count * t.max_axes;
  regressorForward(t, motion, axes, q, v, acc);
  const bool grounded = t.grounded != 0;
  const T zero = T(0.0);
  const Vec3<T> none = {zero, zero, zero};
  for (int i = 0; i < t.count; ++i) {
    motion_b[i] = {none, none, none, {zero, zero, zero, zero, zero, zero, zero, zero, zero}};
    for (int k = 0; k < t.max_axes; ++k) axes_b[i * t.max_axes + k] = {none, none};
  }
  for (int i = t.count - 1; i >= (grounded ? 1 : 0); --i) {
    const Body& b = t.bodies[i];
    const Motion<T>& m = motion[i];
    Motion<T>& mb = motion_b[i];
    const Axis<T>* own = axes + i * t.max_axes;
    Axis<T>* own_b = axes_b + i * t.max_axes;
    const int count = b.joint == kFloating ? 6 : (b.joint == kFixed ? 0 : 1);
    const int* rows = row_of + i * t.max_axes;
    for (int k = 0; b.link >= 0 && k < b.axes + count; ++k) {
      T g[10];
      loadRow(b, G, rows[k] >> 1, g);
      if (b.column_case == kGeneral) weightsToBody(b, g);
      rowEntriesAdjoint(m, own[k], g, &mb, &own_b[k]);
    }
    // through B = al^ + w w^T - |w|^2 1
    const Mat3<T>& Bb = mb.B;
    Vec3<T> w_b = mb.w, al_b = mb.al, a_b = mb.a;
    al_b = al_b + Vec3<T>{Bb.zy - Bb.yz, Bb.xz - Bb.zx, Bb.yx - Bb.xy};
    const T twice_trace = T(2.0) * (Bb.xx + Bb.yy + Bb.zz);
    w_b = w_b + mul(Bb, m.w) + mulT(Bb, m.w) - scaled(m.w, twice_trace);
    // through the joint: w1, al1, a1 are the parent's motion turned into this frame
    Mat3<T> R;
    Vec3<T> p;
    placement(b, q, &R, &p);
    Vec3<T> w1 = m.w, al1 = m.al, a1 = m.a;
    if (b.joint == kRevolute) {
      const T qd = v[b.v];
      out.v.set(b.v, w_b.z + al_b.x * m.w.y - al_b.y * m.w.x);
      out.a.set(b.v, al_b.z);
      al1.x -= m.w.y * qd;
      al1.y += m.w.x * qd;
      w_b.x -= al_b.y * qd;
      w_b.y += al_b.x * qd;
      w1.z -= qd;
    } else if (b.joint == kPrismatic) {
      const T two_qd = v[b.v] + v[b.v];
      out.v.set(b.v, T(2.0) * (a_b.x * m.w.y - a_b.y * m.w.x));
      out.a.set(b.v, a_b.z);
      w_b.x -= a_b.y * two_qd;
      w_b.y += a_b.x * two_qd;
    } else if (b.joint == kFloating) {
      const Vec3<T> vr = {v[b.v], v[b.v + 1], v[b.v + 2]},
                    wr = {v[b.v + 3], v[b.v + 4], v[b.v + 5]};
      const Vec3<T> dv = {acc[b.v], acc[b.v + 1], acc[b.v + 2]};
      const Vec3<T> dw = {acc[b.v + 3], acc[b.v + 4], acc[b.v + 5]};
      w1 = m.w - wr;
      const Vec3<T> w2 = w1 + m.w;
      al1 = m.al - dw - cross(w1, wr);
      a1 = m.a - dv - cross(w2, vr);
      const Vec3<T> vr_b = cross(a_b, w2), va = cross(vr, a_b);
      const Vec3<T> wr_b = w_b + cross(al_b, w1) + va;
      const T gv[6] = {vr_b.x, vr_b.y, vr_b.z, wr_b.x, wr_b.y, wr_b.z};
      const T ga[6] = {a_b.x, a_b.y, a_b.z, al_b.x, al_b.y, al_b.z};
      for (int k = 0; k < 6; ++k) out.v.set(b.v + k, gv[k]), out.a.set(b.v + k, ga[k]);
      w_b = w_b + cross(wr, al_b) + va + va;
    }
    // adjoint of a right perturbation of the orientation: sum of y_b x y
    Vec3<T> turn_b = cross(w_b, w1) + cross(al_b, al1) + cross(a_b, a1);
    for (int k = 0; k < b.axes; ++k) {
      turn_b = turn_b + cross(own_b[k].u, own[k].u) + cross(own_b[k].w, own[k].w);
    }
    Vec3<T> p_b = none;
    if (b.parent >= 0 && !(grounded && b.parent == 0)) {
      const Motion<T>& mp = motion[b.parent];
      Motion<T>& mpb = motion_b[b.parent];
      const Vec3<T> x = mul(R, a_b);
      mpb.w = mpb.w + mul(R, w_b);
      mpb.al = mpb.al + mul(R, al_b);
      mpb.a = mpb.a + x;
      Mat3<T>& B = mpb.B;
      B = {B.xx + x.x * p.x, B.xy + x.x * p.y, B.xz + x.x * p.z, B.yx + x.y * p.x, B.yy + x.y * p.y,
           B.yz + x.y * p.z, B.zx + x.z * p.x, B.zy + x.z * p.y, B.zz + x.z * p.z};
      p_b = mulT(mp.B, x);
      const Axis<T>* up = axes + b.parent * t.max_axes;
      Axis<T>* up_b = axes_b + b.parent * t.max_axes;
      for (int k = 0; k < b.axes; ++k) {
        const Vec3<T> xw = mul(R, own_b[k].w);
        up_b[k].w = up_b[k].w + xw;
        up_b[k].u = up_b[k].u + mul(R, own_b[k].u) + cross(p, xw);
        p_b = p_b + cross(xw, up[k].u);
      }
    }
    if (b.joint == kRevolute) {
      out.q.set(b.v, turn_b.z);
    } else if (b.joint == kPrismatic) {
      out.q.set(b.v, p_b.x * b.R[2] + p_b.y * b.R[5] + p_b.z * b.R[8]);
    } else if (b.joint == kFloating) {
      const Vec3<T> r_b = mulT(R, p_b);
      const T gq[6] = {r_b.x, r_b.y, r_b.z, turn_b.x, turn_b.y, turn_b.z};
      for (int k = 0; k < 6; ++k) out.q.set(b.v + k, gq[k]);
    }
  }
}
