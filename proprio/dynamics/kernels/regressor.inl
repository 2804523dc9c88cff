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

/// Entries of a translational coordinate (u = 0).
template <class T>
PROPRIO_INLINE void rowEntriesLinear(const RowMotion<T>& k, const Vec3<T>& w, T e[10]) {
  const Mat3<T>& B = k.B;
  e[0] = dot(w, k.a);
  e[1] = B.xx * w.x + B.yx * w.y + B.zx * w.z;
  e[2] = B.xy * w.x + B.yy * w.y + B.zy * w.z;
  e[3] = B.xz * w.x + B.yz * w.y + B.zz * w.z;
  for (int k2 = 4; k2 < 10; ++k2) e[k2] = T(0.0);
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

template <class T>
PROPRIO_INLINE void storeRow(const Body& b, const RegressorOut<T>& Y, int row, const T e[10]) {
  typename Memory<T>::Element* out = Y.data + row * Y.row_stride + 10 * b.link * Y.column_stride;
  if (b.column_case == kPermutation) {
    for (int k = 0; k < 10; ++k)
      Memory<T>::store(out + b.column[k] * Y.column_stride, e[k] * b.sign[k]);
  } else {
    for (int k = 0; k < 10; ++k) Memory<T>::store(out + k * Y.column_stride, e[k]);
  }
}

/// `axes`: room for levels * max_axes axes; `index`: the velocity coordinate and kind of each axis
/// on the path (plain integers, the same for all samples, filled by the caller: see Workspace):
/// index[level * max_axes + k]. Structural zeros (links outside the subtree of a row) are not
/// written.
template <class T>
void torqueRegressor(const Tree& t, T* scratch, Axis<T>* axes, const int* row_of, const In<T>& q,
                     const In<T>& v, const In<T>& acc, const RegressorOut<T>& Y) {
  Motion<T>* motion = reinterpret_cast<Motion<T>*>(scratch);
  const bool grounded = t.grounded != 0;
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
    // axes of the ancestors, moved from the parent's frame into this one
    Axis<T>* own = axes + b.level * t.max_axes;
    if (b.parent < 0) {
      Motion<T> world;
      world.a = vec3<T>(t.gravity_world);
      propagateMotion(b, world, false, R, p, v, acc, &m);
    } else {
      propagateMotion(b, motion[b.parent], !(grounded && b.parent == 0), R, p, v, acc, &m);
      const Axis<T>* up = axes + t.bodies[b.parent].level * t.max_axes;
      for (int k = 0; k < b.axes; ++k) {
        own[k].u = mulT(R, up[k].u);
        own[k].w = mulT(R, up[k].w + cross(up[k].u, p));
      }
    }
    int count = b.axes;
    const T zero = T(0.0), one = T(1.0);
    if (b.joint == kRevolute) {
      own[count++] = {{zero, zero, one}, {zero, zero, zero}};
    } else if (b.joint == kPrismatic) {
      own[count++] = {{zero, zero, zero}, {zero, zero, one}};
    } else if (b.joint == kFloating) {
      own[count++] = {{zero, zero, zero}, {one, zero, zero}};
      own[count++] = {{zero, zero, zero}, {zero, one, zero}};
      own[count++] = {{zero, zero, zero}, {zero, zero, one}};
      own[count++] = {{one, zero, zero}, {zero, zero, zero}};
      own[count++] = {{zero, one, zero}, {zero, zero, zero}};
      own[count++] = {{zero, zero, one}, {zero, zero, zero}};
    }
    if (b.link < 0) continue;
    const int* rows = row_of + i * t.max_axes;
    RowMotion<T> k = rowMotion(m);
    T e[10];
    if (b.column_case == kGeneral) {
      // evaluate in the link frame itself
      const Mat3<T> L = mat3<T>(b.R_BL);
      const Vec3<T> o = vec3<T>(b.p_BL);
      Motion<T> ml;
      ml.w = mulT(L, m.w);
      ml.al = mulT(L, m.al);
      ml.a = mulT(L, m.a + mul(m.B, o));
      ml.B = accelerationMatrix(ml.w, ml.al);
      k = rowMotion(ml);
      for (int j = 0; j < count; ++j) {
        const Axis<T> s = {mulT(L, own[j].u), mulT(L, own[j].w + cross(own[j].u, o))};
        rowEntries(k, s, e);
        storeRow(b, Y, rows[j] >> 1, e);
      }
      continue;
    }
    const int inherited = b.joint == kRevolute ? count - 1 : count;
    for (int j = 0; j < inherited; ++j) {
      if (rows[j] & 1) {
        rowEntriesLinear(k, own[j].w, e);
      } else {
        rowEntries(k, own[j], e);
      }
      storeRow(b, Y, rows[j] >> 1, e);
    }
    if (b.joint == kRevolute) {
      rowEntriesOwn(k, e);
      storeRow(b, Y, rows[inherited] >> 1, e);
    }
  }
}
