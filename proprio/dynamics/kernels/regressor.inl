// Torque regressor: tau = Y(q, v, acc) pi, ten columns per link. The joint axes of all ancestors
// are carried down the tree (u: angular, w: velocity of the body origin per unit joint speed, in
// body coordinates) and dotted with the sparse 6x10 body regressor, so that no force column moves
// up:
//   row of coordinate j at body i:  m: w.a,  mc: B^T w + a x u,  I: from N = sym(B^T u^) (see
//   rowEntries)

template <class T>
struct Axis {
  Vec3<T> u, w;
};

/// What the ten entries need from the motion of a body.
template <class T>
struct RowMotion {
  Vec3<T> a, al;
  Mat3<T> B;
  T yx, xz, zy;  // B.yy - B.xx, B.xx - B.zz, B.zz - B.yy
};

template <class T>
PROPRIO_INLINE void rowEntries(const RowMotion<T>& k, const Axis<T>& s, T e[10]) {
  const Mat3<T>& B = k.B;
  const Vec3<T>&a = k.a, &u = s.u, &w = s.w;
  e[0] = dot(w, a);
  e[1] = B.xx * w.x + B.yx * w.y + B.zx * w.z + (a.y * u.z - a.z * u.y);
  e[2] = B.xy * w.x + B.yy * w.y + B.zy * w.z + (a.z * u.x - a.x * u.z);
  e[3] = B.xz * w.x + B.yz * w.y + B.zz * w.z + (a.x * u.y - a.y * u.x);
  const T ua = dot(u, k.al);
  e[4] = ua - (B.yx * u.z - B.zx * u.y);
  e[7] = ua - (B.zy * u.x - B.xy * u.z);
  e[9] = ua - (B.xz * u.y - B.yz * u.x);
  e[5] = B.zy * u.y - k.yx * u.z - B.zx * u.x;
  e[6] = B.yx * u.x - k.xz * u.y - B.yz * u.z;
  e[8] = B.xz * u.z - k.zy * u.x - B.xy * u.y;
}

/// Entries of a translational coordinate (u = 0): mass and first moments; the inertia entries are
/// structurally zero.
template <class T>
PROPRIO_INLINE void rowEntriesLinear(const RowMotion<T>& k, const Vec3<T>& w, T e[4]) {
  const Mat3<T>& B = k.B;
  e[0] = dot(w, k.a);
  e[1] = B.xx * w.x + B.yx * w.y + B.zx * w.z;
  e[2] = B.xy * w.x + B.yy * w.y + B.zy * w.z;
  e[3] = B.xz * w.x + B.yz * w.y + B.zz * w.z;
}

/// Entries of a body's own revolute axis: u = z, w = 0.
template <class T>
PROPRIO_INLINE void rowEntriesOwn(const RowMotion<T>& k, T e[10]) {
  const T zero = T(0.0);
  e[0] = zero;
  e[1] = k.a.y;
  e[2] = -k.a.x;
  e[3] = zero;
  e[4] = k.al.z - k.B.yx;
  e[5] = -k.yx;
  e[6] = -k.B.yz;
  e[7] = k.al.z + k.B.xy;
  e[8] = k.B.xz;
  e[9] = k.al.z;
}

template <class T>
PROPRIO_INLINE RowMotion<T> rowMotion(const Motion<T>& m) {
  return {m.a, m.al, m.B, m.B.yy - m.B.xx, m.B.xx - m.B.zz, m.B.zz - m.B.yy};
}

/// Where entry (row, column) goes: data + row * row_stride + column * column_stride.
template <class T>
struct RegressorOut {
  typename Memory<T>::Element* data;
  ptrdiff_t row_stride, column_stride;
};

template <class T, int kCount>
PROPRIO_INLINE void storeRow(const Body& b, const RegressorOut<T>& Y, int row, const T* e) {
  typename Memory<T>::Element* out = Y.data + row * Y.row_stride + 10 * b.link * Y.column_stride;
  if (b.column_case == kPermutation) {
    for (int k = 0; k < kCount; ++k) {
      Memory<T>::store(out + b.column[k] * Y.column_stride, e[k] * b.sign[k]);
    }
  } else {
    for (int k = 0; k < kCount; ++k) Memory<T>::store(out + k * Y.column_stride, e[k]);
  }
}

/// Row `row` (2 * coordinate, + 1 if it translates) of a body for an axis.
template <class T>
PROPRIO_INLINE void regressorRow(const Body& b, const RowMotion<T>& k, const Axis<T>& axis, int row,
                                 const RegressorOut<T>& Y) {
  T e[10];
  if (row & 1) {
    rowEntriesLinear(k, axis.w, e);
    storeRow<T, 4>(b, Y, row >> 1, e);
  } else {
    rowEntries(k, axis, e);
    storeRow<T, 10>(b, Y, row >> 1, e);
  }
}

/// `axes`: room for levels * max_axes axes; `index`: the velocity coordinate and kind of each axis
/// on the path (plain integers, the same for all samples, filled by the caller: see Workspace):
/// index[level * max_axes + k]. Structural zeros (links outside the subtree of a row) are not
/// written.
template <class T>
void torqueRegressor(const Tree& t, T* scratch, Axis<T>* axes, const int* row_of, const Posture<T>& q,
                     const In<T>& v, const In<T>& acc, const RegressorOut<T>& Y) {
  Motion<T>* motion = reinterpret_cast<Motion<T>*>(scratch);
  const bool grounded = t.grounded != 0;
  const T zero = T(0.0), one = T(1.0);
  const Vec3<T> none = {zero, zero, zero};
  const Vec3<T> unit[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Motion<T>& m = motion[i];
    if (i == 0 && grounded) {
      restingRoot(t, &m);
      continue;
    }
    Mat3<T> R;
    Vec3<T> p;
    placement(b, q, &R, &p);
    const Axis<T>* up = axes;
    if (b.parent < 0) {
      Motion<T> world;
      world.a = vec3<T>(t.gravity_world);
      propagateMotion(b, world, false, R, p, v, acc, &m);
    } else {
      propagateMotion(b, motion[b.parent], !(grounded && b.parent == 0), R, p, v, acc, &m);
      up = axes + t.bodies[b.parent].level * t.max_axes;
    }
    // what the rows need, in link axes where those are neither the body's nor a permutation of them
    Mat3<T> L;
    Vec3<T> o;
    const bool general = b.column_case == kGeneral;
    RowMotion<T> k;
    if (general) {
      L = mat3<T>(b.R_BL);
      o = vec3<T>(b.p_BL);
      Motion<T> ml;
      ml.w = mulT(L, m.w);
      ml.al = mulT(L, m.al);
      ml.a = mulT(L, m.a + mul(m.B, o));
      ml.B = accelerationMatrix(ml.w, ml.al);
      k = rowMotion(ml);
    } else {
      k = rowMotion(m);
    }
    Axis<T>* own = axes + b.level * t.max_axes;
    const int* rows = row_of + i * t.max_axes;
    const auto row = [&](int j) __attribute__((always_inline)) {
      if (general) {
        const Axis<T> axis = {mulT(L, own[j].u), mulT(L, own[j].w + cross(own[j].u, o))};
        regressorRow(b, k, axis, rows[j], Y);
      } else {
        regressorRow(b, k, own[j], rows[j], Y);
      }
    };
    // the ancestors' axes, moved from the parent's frame into this one
    for (int j = 0; j < b.axes; ++j) {
      own[j] = {mulT(R, up[j].u), mulT(R, up[j].w + cross(up[j].u, p))};
      if (b.link >= 0) row(j);
    }
    // the body's own
    if (b.joint == kRevolute) {
      own[b.axes] = {unit[2], none};
      if (b.link >= 0 && general) row(b.axes);
      if (b.link >= 0 && !general) {
        T e[10];
        rowEntriesOwn(k, e);
        storeRow<T, 10>(b, Y, rows[b.axes] >> 1, e);
      }
    } else if (b.joint == kPrismatic) {
      own[b.axes] = {none, unit[2]};
      if (b.link >= 0) row(b.axes);
    } else if (b.joint == kFloating) {
      for (int j = 0; j < 3; ++j) {
        own[b.axes + j] = {none, unit[j]};
        own[b.axes + 3 + j] = {unit[j], none};
      }
      for (int j = 0; b.link >= 0 && j < 6; ++j) row(b.axes + j);
    }
  }
}
