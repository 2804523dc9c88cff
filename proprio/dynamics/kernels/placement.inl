// Placement of a body in its parent for given joint positions, shared by all kernels.

/// The positions of all joints, and the scratch that is left to the kernel. Packs and duals take the
/// sine and cosine of a joint when they place its body.
template <class T>
struct Posture {
  In<T> q;
  T* free;
  PROPRIO_INLINE Posture(const Tree&, const In<T>& positions, T* scratch)
      : q(positions), free(scratch) {}
  PROPRIO_INLINE T operator[](int i) const { return q[i]; }
  PROPRIO_INLINE void turn(int i, T* s, T* c) const { sinCos(q[i], s, c); }
};

/// One sample takes them beforehand, for `lanes` positions at once, and keeps them at the start of
/// the scratch, each set padded to whole packs (kPostureRound).
template <>
struct Posture<double> {
  In<double> q;
  const double *sines, *cosines;
  double* free;
  PROPRIO_INLINE Posture(const Tree& t, const In<double>& positions, double* scratch)
      : q(positions) {
    const int room = (t.nq + kPostureRound - 1) / kPostureRound * kPostureRound;
    double *s = scratch, *c = scratch + room;
    for (int i = 0; i < t.nq; i += PROPRIO_LANES) {
      Pack angle, sine, cosine;
      for (int l = 0; l < PROPRIO_LANES; ++l) angle.v[l] = q[i + l < t.nq ? i + l : i];
      sinCos(angle, &sine, &cosine);
      Memory<Pack>::store(s + i, sine);
      Memory<Pack>::store(c + i, cosine);
    }
    sines = s;
    cosines = c;
    free = scratch + 2 * room;
  }
  PROPRIO_INLINE double operator[](int i) const { return q[i]; }
  PROPRIO_INLINE void turn(int i, double* s, double* c) const { *s = sines[i], *c = cosines[i]; }
};

/// R = R_PJ Rz(q): first two columns turn, the third is constant.
template <class T>
PROPRIO_INLINE Mat3<T> revoluteRotation(const Body& b, T s, T c) {
  return {c * b.R[0] + s * b.R[1], c * b.R[1] - s * b.R[0], T(b.R[2]),
          c * b.R[3] + s * b.R[4], c * b.R[4] - s * b.R[3], T(b.R[5]),
          c * b.R[6] + s * b.R[7], c * b.R[7] - s * b.R[6], T(b.R[8])};
}

/// Rotation of a quaternion (x, y, z, w) of any length whose square is a normal number.
template <class T>
PROPRIO_INLINE Mat3<T> quaternionRotation(T x, T y, T z, T w) {
  const T k = inverseSquareRoot(x * x + y * y + z * z + w * w);
  x = x * k, y = y * k, z = z * k, w = w * k;
  const T one = T(1.0), two = T(2.0);
  return {one - two * (y * y + z * z), two * (x * y - z * w),       two * (x * z + y * w),
          two * (x * y + z * w),       one - two * (x * x + z * z), two * (y * z - x * w),
          two * (x * z - y * w),       two * (y * z + x * w),       one - two * (x * x + y * y)};
}

template <class T>
PROPRIO_INLINE void placement(const Body& b, const Posture<T>& q, Mat3<T>* R, Vec3<T>* p) {
  if (b.joint == kRevolute) {
    T s, c;
    q.turn(b.q, &s, &c);
    *R = revoluteRotation(b, s, c);
    *p = vec3<T>(b.p);
  } else if (b.joint == kPrismatic) {
    const T d = q[b.q];
    *R = mat3<T>(b.R);
    *p = {b.p[0] + b.R[2] * d, b.p[1] + b.R[5] * d, b.p[2] + b.R[8] * d};
  } else if (b.joint == kFixed) {
    *R = mat3<T>(b.R);
    *p = vec3<T>(b.p);
  } else {
    const Mat3<T> J = mat3<T>(b.R);
    const Vec3<T> d = {q[b.q], q[b.q + 1], q[b.q + 2]};
    *R = mul(J, quaternionRotation(q[b.q + 3], q[b.q + 4], q[b.q + 5], q[b.q + 6]));
    *p = vec3<T>(b.p) + mul(J, d);
  }
}
