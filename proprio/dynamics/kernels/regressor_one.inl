// The torque regressor of one sample with SIMD lanes over the ancestors' axes: all rows of a body
// need the same operations on the same motion, so `lanes` rows are computed at once. Same numbers
// as torqueRegressor up to rounding.

/// Ten entries of `count` rows from lane 0 on; consecutive rows of a column-major matrix are stored
/// at once.
PROPRIO_INLINE void storeLanes(const Body& b, const RegressorOut<double>& Y, const int* rows,
                               int count, const Pack e[10]) {
  double* out = Y.data + 10 * b.link * Y.column_stride;
  const int first = rows[0] >> 1;
  bool together = count == PROPRIO_LANES && Y.row_stride == 1;
  for (int l = 1; together && l < PROPRIO_LANES; ++l) together = (rows[l] >> 1) == first + l;
  const bool permuted = b.column_case == kPermutation;
  for (int k = 0; k < 10; ++k) {
    double* column = out + (permuted ? b.column[k] : k) * Y.column_stride;
    const Pack x = permuted ? e[k] * Pack(b.sign[k]) : e[k];
    if (together) {
      Memory<Pack>::store(column + first, x);
    } else {
      for (int l = 0; l < count; ++l) column[(rows[l] >> 1) * Y.row_stride] = x.v[l];
    }
  }
}

PROPRIO_INLINE Vec3<Pack> broadcast(const Vec3<double>& u) {
  return {Pack(u.x), Pack(u.y), Pack(u.z)};
}
PROPRIO_INLINE Mat3<Pack> broadcast(const Mat3<double>& M) {
  return {Pack(M.xx), Pack(M.xy), Pack(M.xz), Pack(M.yx), Pack(M.yy),
          Pack(M.yz), Pack(M.zx), Pack(M.zy), Pack(M.zz)};
}

PROPRIO_INLINE void setLane(Axis<Pack>* axes, int index, const Vec3<double>& u,
                            const Vec3<double>& w) {
  Axis<Pack>& group = axes[index / PROPRIO_LANES];
  const int l = index % PROPRIO_LANES;
  if (l == 0) group = {broadcast(Vec3<double>{0, 0, 0}), broadcast(Vec3<double>{0, 0, 0})};
  group.u.x.v[l] = u.x, group.u.y.v[l] = u.y, group.u.z.v[l] = u.z;
  group.w.x.v[l] = w.x, group.w.y.v[l] = w.y, group.w.z.v[l] = w.z;
}

/// `axes`: levels * groups packs of axes, groups = max_axes / lanes rounded up.
inline void torqueRegressorOne(const Tree& t, double* scratch, Axis<Pack>* axes, const int* row_of,
                               const Posture<double>& q, const In<double>& v, const In<double>& acc,
                               const RegressorOut<double>& Y) {
  Motion<double>* motion = reinterpret_cast<Motion<double>*>(scratch);
  const bool grounded = t.grounded != 0;
  const int groups = (t.max_axes + PROPRIO_LANES - 1) / PROPRIO_LANES;
  const Vec3<double> none = {0, 0, 0}, unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Motion<double>& m = motion[i];
    if (i == 0 && grounded) {
      restingRoot(t, &m);
      continue;
    }
    Mat3<double> R;
    Vec3<double> p;
    placement(b, q, &R, &p);
    Axis<Pack>* own = axes + b.level * groups;
    if (b.parent < 0) {
      Motion<double> world;
      world.a = vec3<double>(t.gravity_world);
      propagateMotion(b, world, false, R, p, v, acc, &m);
    } else {
      propagateMotion(b, motion[b.parent], !(grounded && b.parent == 0), R, p, v, acc, &m);
      const Axis<Pack>* up = axes + t.bodies[b.parent].level * groups;
      const Mat3<Pack> Rp = broadcast(R);
      const Vec3<Pack> pp = broadcast(p);
      for (int g = 0; g * PROPRIO_LANES < b.axes; ++g) {
        own[g] = {mulT(Rp, up[g].u), mulT(Rp, up[g].w + cross(up[g].u, pp))};
      }
    }
    int count = b.axes;
    if (b.joint == kRevolute) setLane(own, count++, unit[2], none);
    if (b.joint == kPrismatic) setLane(own, count++, none, unit[2]);
    for (int k = 0; b.joint == kFloating && k < 6; ++k) {
      setLane(own, count++, k < 3 ? none : unit[k - 3], k < 3 ? unit[k] : none);
    }
    if (b.link < 0) continue;
    const bool general = b.column_case == kGeneral;
    Motion<double> ml = m;
    if (general) {  // evaluate in the link frame itself
      const Mat3<double> L = mat3<double>(b.R_BL);
      ml.w = mulT(L, m.w);
      ml.al = mulT(L, m.al);
      ml.a = mulT(L, m.a + mul(m.B, vec3<double>(b.p_BL)));
      ml.B = accelerationMatrix(ml.w, ml.al);
    }
    const RowMotion<Pack> k = {broadcast(ml.a),         broadcast(ml.al),
                               broadcast(ml.B),         Pack(ml.B.yy - ml.B.xx),
                               Pack(ml.B.xx - ml.B.zz), Pack(ml.B.zz - ml.B.yy)};
    const int* rows = row_of + i * t.max_axes;
    for (int g = 0; g * PROPRIO_LANES < count; ++g) {
      Axis<Pack> axis = own[g];
      if (general) {
        const Mat3<Pack> L = mat3<Pack>(b.R_BL);
        axis = {mulT(L, own[g].u), mulT(L, own[g].w + cross(own[g].u, vec3<Pack>(b.p_BL)))};
      }
      Pack e[10];
      rowEntries(k, axis, e);
      const int left = count - g * PROPRIO_LANES;
      storeLanes(b, Y, rows + g * PROPRIO_LANES, left < PROPRIO_LANES ? left : PROPRIO_LANES, e);
    }
  }
}
