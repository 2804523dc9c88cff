#pragma once

/// Plain data that every kernel reads, whatever its scalar type and instruction set. Nothing here
/// has inline functions: files compiled for AVX2 may include it without emitting code that portable
/// files could pick up.

#include <stddef.h>

namespace proprio::kernels {

enum JointKind : int { kFixed = 0, kRevolute = 1, kPrismatic = 2, kFloating = 3 };

/// How a regressor row in body coordinates becomes one in link coordinates.
enum ColumnCase : int { kIdentity = 0, kPermutation = 1, kGeneral = 2 };

struct Body {
  int parent;  ///< -1 for the root
  int subtree_end;
  int joint;                ///< JointKind
  int q, v;                 ///< first coordinate
  int link;                 ///< -1: massless helper
  int axes;                 ///< velocity coordinates of all ancestors (not of the body itself)
  int level;                ///< depth in the tree; root 0
  int column_case;          ///< ColumnCase
  int column[10];           ///< kPermutation: place of body component k in the link's ten
  double sign[10];          ///< kPermutation: its sign
  double R[9], p[3];        ///< joint frame in the parent's body frame, row-major
  double R_BL[9], p_BL[3];  ///< link frame in the body frame
};

struct Tree {
  const Body* bodies;
  int count;
  int nq, nv;
  int links;
  int levels;    ///< deepest level + 1
  int max_axes;  ///< largest number of velocity coordinates on a path, own ones included
  int grounded;  ///< 1: the root is fixed
  double
      gravity_world[3];  ///< minus gravity in world axes: proper acceleration of the resting world
  double gravity_root[3];  ///< the same in the axes of a fixed root
};

/// Mass, first moment and second moments S = integral r r^T about the body-frame origin.
/// (rotational inertia I = tr(S) 1 - S)
template <class P>
struct Inertia {
  P m, hx, hy, hz, sxx, sxy, sxz, syy, syz, szz;
};

/// How many scalars of scratch each kernel wants per tree.
constexpr int kPostureRound = 8;              ///< twice nq, rounded up to this, before all else
constexpr int kMotionSize = 18;               ///< w, al, a, B
constexpr int kInverseDynamicsScratch = 48;   ///< per body
constexpr int kMassMatrixScratch = 24;        ///< per body
constexpr int kLaneNodeScratch = 44;          ///< per body
constexpr int kForwardDynamicsScratch = 96;   ///< per body
constexpr int kDerivativeNodeScratch = 56;    ///< per body
constexpr int kDerivativeColumnScratch = 24;  ///< per velocity coordinate

}  // namespace proprio::kernels
