// Scalar types of the kernels: double, Pack (one sample per lane), Dual. Included inside the ISA
// namespace.

typedef double PackVector
    __attribute__((vector_size(8 * PROPRIO_LANES), aligned(8 * PROPRIO_LANES)));
typedef double PackVectorUnaligned __attribute__((vector_size(8 * PROPRIO_LANES), aligned(8)));
typedef long long PackBits __attribute__((vector_size(8 * PROPRIO_LANES)));

#define PROPRIO_INLINE inline __attribute__((always_inline))

struct Pack {
  PackVector v;
  Pack() = default;
  PROPRIO_INLINE Pack(PackVector x) : v(x) {}
  PROPRIO_INLINE Pack(double x) : v(x - PackVector{}) {}
};
PROPRIO_INLINE Pack operator+(Pack a, Pack b) { return a.v + b.v; }
PROPRIO_INLINE Pack operator-(Pack a, Pack b) { return a.v - b.v; }
PROPRIO_INLINE Pack operator-(Pack a) { return -a.v; }
PROPRIO_INLINE Pack operator*(Pack a, Pack b) { return a.v * b.v; }
PROPRIO_INLINE Pack operator/(Pack a, Pack b) { return a.v / b.v; }
PROPRIO_INLINE Pack& operator+=(Pack& a, Pack b) {
  a.v += b.v;
  return a;
}
PROPRIO_INLINE Pack& operator-=(Pack& a, Pack b) {
  a.v -= b.v;
  return a;
}

// ---- memory: element i of a vector of coordinates; for packs the samples are contiguous ----

template <class T>
struct Memory {
  typedef T Element;
  static PROPRIO_INLINE T load(const T* p) { return *p; }
  static PROPRIO_INLINE void store(T* p, T x) { *p = x; }
};
template <>
struct Memory<Pack> {
  typedef double Element;
  static PROPRIO_INLINE Pack load(const double* p) {
    return Pack(PackVector(*(const PackVectorUnaligned*)p));
  }
  static PROPRIO_INLINE void store(double* p, Pack x) { *(PackVectorUnaligned*)p = x.v; }
};

template <class T>
struct In {
  const typename Memory<T>::Element* data;
  ptrdiff_t stride;
  PROPRIO_INLINE T operator[](int i) const { return Memory<T>::load(data + i * stride); }
};
template <class T>
struct Out {
  typename Memory<T>::Element* data;
  ptrdiff_t stride;
  PROPRIO_INLINE void set(ptrdiff_t i, T x) const { Memory<T>::store(data + i * stride, x); }
};

// ---- sine and cosine together ----
// Reduction by multiples of pi/2 in three parts (Cody and Waite), polynomials on [-pi/4, pi/4]
// (coefficients of the Cephes library by S. Moshier); absolute error below 2e-16 + rounding for |x|
// <= kSinCosLimit, libm beyond.

constexpr double kSinCosLimit = 1e6;

template <class T>
PROPRIO_INLINE void sinCosReduced(T r, T* s, T* c) {
  const T z = r * r;
  const T ps = ((((1.58962301576546568060e-10 * z - 2.50507477628578072866e-8) * z +
                  2.75573136213857245213e-6) *
                     z -
                 1.98412698295895385996e-4) *
                    z +
                8.33333333332211858878e-3) *
                   z -
               1.66666666666666307295e-1;
  const T pc = ((((-1.13585365213876817300e-11 * z + 2.08757008419747316778e-9) * z -
                  2.75573141792967388112e-7) *
                     z +
                 2.48015872888517045348e-5) *
                    z -
                1.38888888888730564116e-3) *
                   z +
               4.16666666666665929218e-2;
  *s = r + r * z * ps;
  *c = 1.0 - 0.5 * z + z * z * pc;
}

constexpr double kTwoOverPi = 6.36619772367581382433e-1;
constexpr double kHalfPi1 = 1.57079625129699707031e0;
constexpr double kHalfPi2 = 7.54978941586159635335e-8;
constexpr double kHalfPi3 = 5.39030285815811905290e-15;
constexpr double kRoundMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer

PROPRIO_INLINE void sinCos(double x, double* s, double* c) {
  if (!(__builtin_fabs(x) <= kSinCosLimit)) {
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
    return;
  }
  const double shifted = x * kTwoOverPi + kRoundMagic;
  const double k = shifted - kRoundMagic;
  long long bits;
  __builtin_memcpy(&bits, &shifted, 8);
  const double r = ((x - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  double sr, cr;
  sinCosReduced(r, &sr, &cr);
  const double a = (bits & 1) ? cr : sr;
  const double b = (bits & 1) ? sr : cr;
  *s = (bits & 2) ? -a : a;
  *c = ((bits + 1) & 2) ? -b : b;
}

PROPRIO_INLINE void sinCos(Pack x, Pack* s, Pack* c) {
  const PackBits beyond = ~((x.v <= kSinCosLimit) & (x.v >= -kSinCosLimit));
  long long any = 0;
  for (int i = 0; i < PROPRIO_LANES; ++i) any |= beyond[i];
  if (__builtin_expect(any != 0, 0)) {
    for (int i = 0; i < PROPRIO_LANES; ++i) {
      double si, ci;
      sinCos(x.v[i], &si, &ci);
      s->v[i] = si;
      c->v[i] = ci;
    }
    return;
  }
  const PackVector shifted = x.v * kTwoOverPi + kRoundMagic;
  const PackVector k = shifted - kRoundMagic;
  const PackBits bits = (PackBits)shifted;
  const PackVector r = ((x.v - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  Pack sr, cr;
  sinCosReduced(Pack(r), &sr, &cr);
  const PackBits odd = -(bits & 1);
  const PackBits a = (odd & (PackBits)cr.v) | (~odd & (PackBits)sr.v);
  const PackBits b = (odd & (PackBits)sr.v) | (~odd & (PackBits)cr.v);
  s->v = (PackVector)(a ^ ((bits & 2) << 62));
  c->v = (PackVector)(b ^ (((bits + 1) & 2) << 62));
}

PROPRIO_INLINE void sinCos(Dual x, Dual* s, Dual* c) {
  double sv, cv;
  sinCos(x.value, &sv, &cv);
  *s = Dual(sv, cv * x.derivative);
  *c = Dual(cv, -sv * x.derivative);
}

PROPRIO_INLINE double inverseSquareRoot(double x) { return 1.0 / __builtin_sqrt(x); }
PROPRIO_INLINE Pack inverseSquareRoot(Pack x) {
  Pack y;
  for (int i = 0; i < PROPRIO_LANES; ++i) y.v[i] = 1.0 / __builtin_sqrt(x.v[i]);
  return y;
}
PROPRIO_INLINE Dual inverseSquareRoot(Dual x) {
  const double y = 1.0 / __builtin_sqrt(x.value);
  return Dual(y, -0.5 * y / x.value * x.derivative);
}

// ---- 3-vectors and 3x3 matrices ----

template <class T>
struct Vec3 {
  T x, y, z;
};
template <class T>
struct Mat3 {
  T xx, xy, xz, yx, yy, yz, zx, zy, zz;
};

template <class T>
PROPRIO_INLINE Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
PROPRIO_INLINE Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
PROPRIO_INLINE Vec3<T> scaled(const Vec3<T>& a, T k) {
  return {a.x * k, a.y * k, a.z * k};
}
template <class T>
PROPRIO_INLINE T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
PROPRIO_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// M u
template <class T>
PROPRIO_INLINE Vec3<T> mul(const Mat3<T>& M, const Vec3<T>& u) {
  return {M.xx * u.x + M.xy * u.y + M.xz * u.z, M.yx * u.x + M.yy * u.y + M.yz * u.z,
          M.zx * u.x + M.zy * u.y + M.zz * u.z};
}
/// M^T u
template <class T>
PROPRIO_INLINE Vec3<T> mulT(const Mat3<T>& M, const Vec3<T>& u) {
  return {M.xx * u.x + M.yx * u.y + M.zx * u.z, M.xy * u.x + M.yy * u.y + M.zy * u.z,
          M.xz * u.x + M.yz * u.y + M.zz * u.z};
}
template <class T>
PROPRIO_INLINE Mat3<T> mul(const Mat3<T>& A, const Mat3<T>& B) {
  return {A.xx * B.xx + A.xy * B.yx + A.xz * B.zx, A.xx * B.xy + A.xy * B.yy + A.xz * B.zy,
          A.xx * B.xz + A.xy * B.yz + A.xz * B.zz, A.yx * B.xx + A.yy * B.yx + A.yz * B.zx,
          A.yx * B.xy + A.yy * B.yy + A.yz * B.zy, A.yx * B.xz + A.yy * B.yz + A.yz * B.zz,
          A.zx * B.xx + A.zy * B.yx + A.zz * B.zx, A.zx * B.xy + A.zy * B.yy + A.zz * B.zy,
          A.zx * B.xz + A.zy * B.yz + A.zz * B.zz};
}
template <class T>
PROPRIO_INLINE Vec3<T> vec3(const double* p) {
  return {T(p[0]), T(p[1]), T(p[2])};
}
template <class T>
PROPRIO_INLINE Mat3<T> mat3(const double* R) {
  return {T(R[0]), T(R[1]), T(R[2]), T(R[3]), T(R[4]), T(R[5]), T(R[6]), T(R[7]), T(R[8])};
}
/// B = alpha^ + omega^ omega^: classical acceleration of a point r of the body is a + B r.
template <class T>
PROPRIO_INLINE Mat3<T> accelerationMatrix(const Vec3<T>& w, const Vec3<T>& al) {
  const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {-(yy + zz), xy - al.z, xz + al.y, xy + al.z, -(xx + zz),
          yz - al.x,  xz - al.y, yz + al.x, -(xx + yy)};
}
