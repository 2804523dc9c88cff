// Forward dynamics: M acc = tau - bias. The bias is inverse dynamics at zero acceleration (gravity,
// velocity terms and external wrenches included); what remains is the articulated-body solve of a
// robot at rest without gravity, which needs no velocity products:
//   up:   U = IA S, D = S^T U + rotor, u = r - S^T pA;  to the parent: IA - U U^T / D, pA + U u / D
//   down: acc = (u - U^T a) / D,  a = X a_parent + S acc

/// Articulated inertia [M, H; H^T, J] for twists (linear, angular): 21 numbers.
template <class T>
struct Articulated {
  T mxx, mxy, mxz, myy, myz, mzz;
  Mat3<T> H;
  T jxx, jxy, jxz, jyy, jyz, jzz;
};

template <class T>
struct SolveNode {
  Articulated<T> A;
  Vec3<T> pf, pn;  // articulated bias wrench
  Vec3<T> Uf, Un;  // IA S
  T inverse_D, u;
  Vec3<T> lin, ang;  // acceleration
};

/// out += X^T A X: the articulated inertia seen from the parent's frame.
template <class T>
PROPRIO_INLINE void addToParent(const Mat3<T>& R, const Vec3<T>& p, const Articulated<T>& A,
                                Articulated<T>* out) {
  T m[6], j[6];
  rotateSymmetric(R, A.mxx, A.mxy, A.mxz, A.myy, A.myz, A.mzz, m);
  rotateSymmetric(R, A.jxx, A.jxy, A.jxz, A.jyy, A.jyz, A.jzz, j);
  const Mat3<T> RH = mul(R, A.H);
  const Mat3<T> H = {
      RH.xx * R.xx + RH.xy * R.xy + RH.xz * R.xz, RH.xx * R.yx + RH.xy * R.yy + RH.xz * R.yz,
      RH.xx * R.zx + RH.xy * R.zy + RH.xz * R.zz, RH.yx * R.xx + RH.yy * R.xy + RH.yz * R.xz,
      RH.yx * R.yx + RH.yy * R.yy + RH.yz * R.yz, RH.yx * R.zx + RH.yy * R.zy + RH.yz * R.zz,
      RH.zx * R.xx + RH.zy * R.xy + RH.zz * R.xz, RH.zx * R.yx + RH.zy * R.yy + RH.zz * R.yz,
      RH.zx * R.zx + RH.zy * R.zy + RH.zz * R.zz};
  // G = H - M p^ ; p^ = [0 -pz py; pz 0 -px; -py px 0]
  const Mat3<T> G = {H.xx - (m[1] * p.z - m[2] * p.y), H.xy - (m[2] * p.x - m[0] * p.z),
                     H.xz - (m[0] * p.y - m[1] * p.x), H.yx - (m[3] * p.z - m[4] * p.y),
                     H.yy - (m[4] * p.x - m[1] * p.z), H.yz - (m[1] * p.y - m[3] * p.x),
                     H.zx - (m[4] * p.z - m[5] * p.y), H.zy - (m[5] * p.x - m[2] * p.z),
                     H.zz - (m[2] * p.y - m[4] * p.x)};
  // J' = J + p^ G + (p^ H)^T
  out->jxx += j[0] + (p.y * G.zx - p.z * G.yx) + (p.y * H.zx - p.z * H.yx);
  out->jxy += j[1] + (p.y * G.zy - p.z * G.yy) + (p.z * H.xx - p.x * H.zx);
  out->jxz += j[2] + (p.y * G.zz - p.z * G.yz) + (p.x * H.yx - p.y * H.xx);
  out->jyy += j[3] + (p.z * G.xy - p.x * G.zy) + (p.z * H.xy - p.x * H.zy);
  out->jyz += j[4] + (p.z * G.xz - p.x * G.zz) + (p.x * H.yy - p.y * H.xy);
  out->jzz += j[5] + (p.x * G.yz - p.y * G.xz) + (p.x * H.yz - p.y * H.xz);
  out->mxx += m[0], out->mxy += m[1], out->mxz += m[2], out->myy += m[3], out->myz += m[4],
      out->mzz += m[5];
  Mat3<T>& K = out->H;
  K.xx += G.xx, K.xy += G.xy, K.xz += G.xz, K.yx += G.yx, K.yy += G.yy, K.yz += G.yz;
  K.zx += G.zx, K.zy += G.zy, K.zz += G.zz;
}

/// A - U U^T / D.
template <class T>
PROPRIO_INLINE Articulated<T> projected(const Articulated<T>& A, const Vec3<T>& Uf,
                                        const Vec3<T>& Un, T inverse_D) {
  const Vec3<T> kf = scaled(Uf, inverse_D), kn = scaled(Un, inverse_D);
  Articulated<T> o;
  o.mxx = A.mxx - Uf.x * kf.x, o.mxy = A.mxy - Uf.x * kf.y, o.mxz = A.mxz - Uf.x * kf.z;
  o.myy = A.myy - Uf.y * kf.y, o.myz = A.myz - Uf.y * kf.z, o.mzz = A.mzz - Uf.z * kf.z;
  o.H = {A.H.xx - Uf.x * kn.x, A.H.xy - Uf.x * kn.y, A.H.xz - Uf.x * kn.z,
         A.H.yx - Uf.y * kn.x, A.H.yy - Uf.y * kn.y, A.H.yz - Uf.y * kn.z,
         A.H.zx - Uf.z * kn.x, A.H.zy - Uf.z * kn.y, A.H.zz - Uf.z * kn.z};
  o.jxx = A.jxx - Un.x * kn.x, o.jxy = A.jxy - Un.x * kn.y, o.jxz = A.jxz - Un.x * kn.z;
  o.jyy = A.jyy - Un.y * kn.y, o.jyz = A.jyz - Un.y * kn.z, o.jzz = A.jzz - Un.z * kn.z;
  return o;
}

/// x = A^-1 b for the symmetric positive definite 6x6 A, by L D L^T.
template <class T>
PROPRIO_INLINE void solve6(const Articulated<T>& A, const T b[6], T x[6]) {
  const T a[6][6] = {
      {A.mxx, A.mxy, A.mxz, A.H.xx, A.H.xy, A.H.xz}, {A.mxy, A.myy, A.myz, A.H.yx, A.H.yy, A.H.yz},
      {A.mxz, A.myz, A.mzz, A.H.zx, A.H.zy, A.H.zz}, {A.H.xx, A.H.yx, A.H.zx, A.jxx, A.jxy, A.jxz},
      {A.H.xy, A.H.yy, A.H.zy, A.jxy, A.jyy, A.jyz}, {A.H.xz, A.H.yz, A.H.zz, A.jxz, A.jyz, A.jzz}};
  T L[6][6], inverse_d[6], d[6];
  for (int j = 0; j < 6; ++j) {
    d[j] = a[j][j];
    for (int k = 0; k < j; ++k) d[j] -= L[j][k] * L[j][k] * d[k];
    inverse_d[j] = T(1.0) / d[j];
    for (int i = j + 1; i < 6; ++i) {
      T s = a[i][j];
      for (int k = 0; k < j; ++k) s -= L[i][k] * L[j][k] * d[k];
      L[i][j] = s * inverse_d[j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    x[i] = b[i];
    for (int k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
  }
  for (int i = 5; i >= 0; --i) {
    x[i] = x[i] * inverse_d[i];
    for (int k = i + 1; k < 6; ++k) x[i] -= L[k][i] * x[k];
  }
}

/// Solves M acc = r for placements already in node[i].R, node[i].p (inverse-dynamics nodes).
template <class T, class P, class PlacementNode>
PROPRIO_INLINE void articulatedSolve(const Tree& t, const Inertia<P>* inertia, const P* rotor,
                                     const PlacementNode* place, SolveNode<T>* node, const In<T>& r,
                                     const Out<T>& acc) {
  const T zero = T(0.0);
  const int first = t.grounded ? 1 : 0;
  for (int i = first; i < t.count; ++i) {
    SolveNode<T>& d = node[i];
    const Inertia<P>& I = inertia[i];
    const T m = I.m, hx = I.hx, hy = I.hy, hz = I.hz, sxx = I.sxx, syy = I.syy, szz = I.szz;
    d.A.mxx = d.A.myy = d.A.mzz = m;
    d.A.mxy = d.A.mxz = d.A.myz = zero;
    d.A.H = {zero, hz, -hy, -hz, zero, hx, hy, -hx, zero};
    d.A.jxx = syy + szz, d.A.jyy = sxx + szz, d.A.jzz = sxx + syy;
    d.A.jxy = -T(I.sxy), d.A.jxz = -T(I.sxz), d.A.jyz = -T(I.syz);
    d.pf = d.pn = {zero, zero, zero};
  }
  for (int i = t.count - 1; i >= first; --i) {
    const Body& b = t.bodies[i];
    SolveNode<T>& d = node[i];
    const Mat3<T>& R = place[i].R;
    const Vec3<T>& p = place[i].p;
    const bool has_parent = b.parent >= first;
    Vec3<T> pf = d.pf, pn = d.pn;
    if (b.joint == kRevolute || b.joint == kPrismatic) {
      const bool turns = b.joint == kRevolute;
      if (turns) {
        d.Uf = {d.A.H.xz, d.A.H.yz, d.A.H.zz};
        d.Un = {d.A.jxz, d.A.jyz, d.A.jzz};
      } else {
        d.Uf = {d.A.mxz, d.A.myz, d.A.mzz};
        d.Un = {d.A.H.zx, d.A.H.zy, d.A.H.zz};
      }
      const T D = (turns ? d.Un.z : d.Uf.z) + (rotor ? T(rotor[b.v]) : zero);
      d.inverse_D = T(1.0) / D;
      d.u = r[b.v] - (turns ? pn.z : pf.z);
      if (!has_parent) continue;
      const T k = d.u * d.inverse_D;
      pf = pf + scaled(d.Uf, k);
      pn = pn + scaled(d.Un, k);
      addToParent(R, p, projected(d.A, d.Uf, d.Un, d.inverse_D), &node[b.parent].A);
    } else if (b.joint == kFixed) {
      if (!has_parent) continue;
      addToParent(R, p, d.A, &node[b.parent].A);
    } else {
      if (!has_parent) continue;
      pf = {r[b.v], r[b.v + 1], r[b.v + 2]};  // a free joint passes on its own wrench only
      pn = {r[b.v + 3], r[b.v + 4], r[b.v + 5]};
    }
    SolveNode<T>& up = node[b.parent];
    const Vec3<T> f = mul(R, pf);
    up.pf = up.pf + f;
    up.pn = up.pn + mul(R, pn) + cross(p, f);
  }
  for (int i = first; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    SolveNode<T>& d = node[i];
    Vec3<T> lin = {zero, zero, zero}, ang = {zero, zero, zero};
    const bool has_parent = b.parent >= first;
    if (has_parent) {
      const SolveNode<T>& up = node[b.parent];
      lin = mulT(place[i].R, up.lin + cross(up.ang, place[i].p));
      ang = mulT(place[i].R, up.ang);
    }
    if (b.joint == kRevolute || b.joint == kPrismatic) {
      const T x =
          has_parent ? (d.u - dot(d.Uf, lin) - dot(d.Un, ang)) * d.inverse_D : d.u * d.inverse_D;
      acc.set(b.v, x);
      if (b.joint == kRevolute) {
        ang.z += x;
      } else {
        lin.z += x;
      }
    } else if (b.joint == kFloating) {
      // total acceleration from the wrench balance, minus what the parent already gives
      const T rhs[6] = {r[b.v] - d.pf.x,     r[b.v + 1] - d.pf.y, r[b.v + 2] - d.pf.z,
                        r[b.v + 3] - d.pn.x, r[b.v + 4] - d.pn.y, r[b.v + 5] - d.pn.z};
      T x[6];
      solve6(d.A, rhs, x);
      acc.set(b.v, x[0] - lin.x), acc.set(b.v + 1, x[1] - lin.y), acc.set(b.v + 2, x[2] - lin.z);
      acc.set(b.v + 3, x[3] - ang.x), acc.set(b.v + 4, x[4] - ang.y),
          acc.set(b.v + 5, x[5] - ang.z);
      lin = {x[0], x[1], x[2]};
      ang = {x[3], x[4], x[5]};
    }
    d.lin = lin;
    d.ang = ang;
  }
}

/// `scratch`: kForwardDynamicsScratch scalars per body plus nv scalars.
template <class T, class P>
void forwardDynamics(const Tree& t, const Inertia<P>* inertia, const P* rotor, T* scratch,
                     const Posture<T>& q, const In<T>& v, const In<T>& tau, const T* external,
                     const Out<T>& acc) {
  static_assert(sizeof(SolveNode<T>) + kInverseDynamicsScratch * sizeof(T) <=
                    kForwardDynamicsScratch * sizeof(T),
                "scratch too small");
  typedef typename Memory<T>::Element Element;
  T* bias = scratch + kForwardDynamicsScratch * t.count;
  T zero_storage = T(0.0);
  const In<T> zero = {reinterpret_cast<const Element*>(&zero_storage), 0};
  const ptrdiff_t lanes = (ptrdiff_t)(sizeof(T) / sizeof(Element));
  const Out<T> bias_out = {reinterpret_cast<Element*>(bias), lanes};
  inverseDynamics<T, P>(t, inertia, nullptr, scratch, q, v, zero, external, bias_out, nullptr);
  for (int k = 0; k < t.nv; ++k) bias[k] = tau[k] - bias[k];
  SolveNode<T>* node = reinterpret_cast<SolveNode<T>*>(scratch + kInverseDynamicsScratch * t.count);
  const In<T> r = {reinterpret_cast<const Element*>(bias), lanes};
  articulatedSolve(t, inertia, rotor, reinterpret_cast<const DynamicsNode<T>*>(scratch), node, r,
                   acc);
}
