// tanh of many numbers at once (smooth Coulomb friction in simulations). Rational approximations of
// S. L. Moshier's Cephes: below 0.625 x + x^3 P(x^2) / Q(x^2), above 1 - 2 / (exp(2 x) + 1) with
// exp(x) = 2^k (B + A) / (B - A), A = r P(r^2), B = Q(r^2), r = x - k ln 2. Both are a number plus
// a quotient, so that one division serves. A NaN stays a NaN.

constexpr double kLog2E = 1.4426950408889634073599;
constexpr double kLn2High = 6.93145751953125e-1;
constexpr double kLn2Low = 1.42860682030941723212e-6;
constexpr double kTanhLargest = 20.0;  // tanh is 1 in double precision from 19.1

PROPRIO_INLINE PackVector select(PackBits mask, PackVector yes, PackVector no) {
  return (PackVector)((mask & (PackBits)yes) | (~mask & (PackBits)no));
}

PROPRIO_INLINE Pack tanhOf(Pack x) {
  const PackBits sign_mask = (PackBits)(-(PackVector{}));
  const PackBits sign = (PackBits)x.v & sign_mask;
  const PackVector magnitude = (PackVector)((PackBits)x.v & ~sign_mask);
  const PackVector limit = kTanhLargest - PackVector{};
  const PackBits beyond = magnitude > limit;
  const PackVector m = select(beyond, limit, magnitude);
  // small
  const PackVector z = m * m;
  const PackVector p =
      (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
  const PackVector q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z +
                       4.84406305325125486048e3;
  // large
  const PackVector twice = m + m;
  const PackVector shifted = twice * kLog2E + kRoundMagic;
  const PackVector k = shifted - kRoundMagic;
  const PackVector r = (twice - k * kLn2High) - k * kLn2Low;
  const PackVector rr = r * r;
  const PackVector A =
      r * ((1.26177193074810590878e-4 * rr + 3.02994407707441961300e-2) * rr + 1.0);
  const PackVector B = ((3.00198505138664455042e-6 * rr + 2.52448340349684104192e-3) * rr +
                        2.27265548208155028766e-1) *
                           rr +
                       2.0;
  const PackVector power = (PackVector)((((PackBits)shifted + 1023) << 52));
  // the one that applies
  const PackBits is_small = m < 0.625 - PackVector{};
  const PackVector start = select(is_small, m, 1.0 - PackVector{});
  const PackVector above = select(is_small, m * z * p, -2.0 * (B - A));
  const PackVector below = select(is_small, q, power * (B + A) + (B - A));
  const PackBits y = (PackBits)(start + above / below) | sign;
  const PackBits is_nan = ~(x.v == x.v);
  return Pack(select(is_nan, x.v, (PackVector)y));
}

inline void tanhMany(const double* x, double* y, ptrdiff_t count) {
  for (ptrdiff_t i = 0; i < count; i += PROPRIO_LANES)
    Memory<Pack>::store(y + i, tanhOf(Memory<Pack>::load(x + i)));
}
