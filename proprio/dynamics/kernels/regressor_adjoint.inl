// Gradient of phi = sum_{r,c} G(r, c) Y(r, c) over the torque regressor with respect to q, v, a,
// for given weights G: the regressor kernel run backwards. Every quantity of the forward pass has
// an adjoint (marked _b) that collects d phi / d quantity.
//   y = R^T x with R = R_PJ Rz(q):  x_b += R y_b,  q_b += -z . (y x y_b)
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

/// For ColumnCase kGeneral: weights of link columns turned into weights of body columns, g_B =
/// T^-T-free contraction: phi = g_L . pi_row(L) with row(L) = T^T row(B), so g_B = T g_L, T the
/// parameter transform of X_BL.
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

template <class T>
PROPRIO_INLINE T turned(const Vec3<T>& y, const Vec3<T>& yb) {
  return y.y * yb.x - y.x * yb.y;  // -z . (y x yb)
}
