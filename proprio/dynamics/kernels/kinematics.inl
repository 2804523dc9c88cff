// Forward kinematics: pose of every link frame in the world, twelve numbers per link (R row-major,
// then p).

template <class T>
void linkPoses(const Tree& t, T* scratch, const Posture<T>& q, const Out<T>& poses) {
  struct Node {
    Mat3<T> R;
    Vec3<T> p;
  };
  Node* node = reinterpret_cast<Node*>(scratch);
  for (int i = 0; i < t.count; ++i) {
    const Body& b = t.bodies[i];
    Mat3<T> R;
    Vec3<T> p;
    placement(b, q, &R, &p);
    Node& d = node[i];
    if (b.parent < 0) {
      d.R = R;
      d.p = p;
    } else {
      const Node& up = node[b.parent];
      d.R = mul(up.R, R);
      d.p = up.p + mul(up.R, p);
    }
    if (b.link < 0) continue;
    Mat3<T> L = d.R;
    Vec3<T> o = d.p;
    if (b.column_case != kIdentity) {
      L = mul(d.R, mat3<T>(b.R_BL));
      o = d.p + mul(d.R, vec3<T>(b.p_BL));
    }
    const ptrdiff_t k = 12 * b.link;
    poses.set(k, L.xx), poses.set(k + 1, L.xy), poses.set(k + 2, L.xz);
    poses.set(k + 3, L.yx), poses.set(k + 4, L.yy), poses.set(k + 5, L.yz);
    poses.set(k + 6, L.zx), poses.set(k + 7, L.zy), poses.set(k + 8, L.zz);
    poses.set(k + 9, o.x), poses.set(k + 10, o.y), poses.set(k + 11, o.z);
  }
}
