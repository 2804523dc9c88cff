// Included by one source file per instruction set, with PROPRIO_ISA (namespace) and PROPRIO_LANES
// defined. Only names of that namespace and plain data may be used below: an inline function of the
// standard library or of Eigen compiled here with wider instructions could be picked by the linker
// for the whole program.

#include "proprio/dynamics/kernels/kernels.h"

namespace proprio::PROPRIO_ISA {

using namespace proprio::kernels;

// clang-format off
#include "proprio/dynamics/kernels/scalar.inl"
#include "proprio/dynamics/kernels/placement.inl"
#include "proprio/dynamics/kernels/inverse_dynamics.inl"
#include "proprio/dynamics/kernels/mass_matrix.inl"
#include "proprio/dynamics/kernels/mass_matrix_one.inl"
#include "proprio/dynamics/kernels/forward_dynamics.inl"
#include "proprio/dynamics/kernels/kinematics.inl"
#include "proprio/dynamics/kernels/regressor.inl"
#include "proprio/dynamics/kernels/regressor_one.inl"
#include "proprio/dynamics/kernels/regressor_adjoint.inl"
#include "proprio/dynamics/kernels/derivatives.inl"
#include "proprio/dynamics/kernels/tree_solve.inl"
#include "proprio/dynamics/kernels/elementary.inl"
// clang-format on

/// One sample in doubles has kernels of its own, with lanes over the components of vectors (mass
/// matrix) and over the rows (regressor).
template <class T, class P>
PROPRIO_INLINE void massMatrixDispatch(const Tree& t, const Inertia<P>* inertia, const P* rotor,
                                       T* scratch, const Posture<T>& q, const MatrixOut<T>& M) {
  massMatrix<T, P>(t, inertia, rotor, scratch, q, M);
}
#if PROPRIO_LANES == 4
template <>
PROPRIO_INLINE void massMatrixDispatch<double, double>(const Tree& t,
                                                       const Inertia<double>* inertia,
                                                       const double* rotor, double* scratch,
                                                       const Posture<double>& q,
                                                       const MatrixOut<double>& M) {
  massMatrixOne(t, inertia, rotor, scratch, q, M);
}
#endif
template <class T>
PROPRIO_INLINE void regressorDispatch(const Tree& t, T* scratch, const int* row_of, const Posture<T>& q,
                                      const In<T>& v, const In<T>& a, const RegressorOut<T>& Y) {
  torqueRegressor<T>(t, scratch, reinterpret_cast<Axis<T>*>(scratch + kMotionSize * t.count),
                     row_of, q, v, a, Y);
}
template <>
PROPRIO_INLINE void regressorDispatch<double>(const Tree& t, double* scratch, const int* row_of,
                                              const Posture<double>& q, const In<double>& v,
                                              const In<double>& a, const RegressorOut<double>& Y) {
  double* axes = scratch + (kMotionSize * t.count + 7) / 8 * 8;  // keeps the alignment of packs
  torqueRegressorOne(t, scratch, reinterpret_cast<Axis<Pack>*>(axes), row_of, q, v, a, Y);
}

/// The kernels for scalar T and inertia numbers P behind plain memory types E and PE.
template <class T, class P, class E, class PE>
struct Entry {
  static In<T> in(View<E> x) { return {x.data, x.stride}; }
  static void inverseDynamicsEntry(const Tree& t, const Inertia<PE>* inertia, const PE* rotor,
                                   E* scratch, View<E> q, View<E> v, View<E> a, const E* external,
                                   MutableView<E> tau, E* base) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    inverseDynamics<T, P>(t, reinterpret_cast<const Inertia<P>*>(inertia),
                          reinterpret_cast<const P*>(rotor), posture.free, posture,
                          in(v), in(a), reinterpret_cast<const T*>(external),
                          Out<T>{tau.data, tau.stride}, reinterpret_cast<T*>(base));
  }
  static void massMatrixEntry(const Tree& t, const Inertia<PE>* inertia, const PE* rotor,
                              E* scratch, View<E> q, MatrixView<E> M) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    massMatrixDispatch<T, P>(t, reinterpret_cast<const Inertia<P>*>(inertia),
                     reinterpret_cast<const P*>(rotor), posture.free, posture,
                     MatrixOut<T>{M.data, M.row_stride, M.column_stride});
  }
  static void forwardDynamicsEntry(const Tree& t, const Inertia<PE>* inertia, const PE* rotor,
                                   E* scratch, View<E> q, View<E> v, View<E> tau, const E* external,
                                   MutableView<E> a) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    forwardDynamics<T, P>(t, reinterpret_cast<const Inertia<P>*>(inertia),
                          reinterpret_cast<const P*>(rotor), posture.free, posture,
                          in(v), in(tau), reinterpret_cast<const T*>(external),
                          Out<T>{a.data, a.stride});
  }
  static void regressorEntry(const Tree& t, E* scratch, const int* row_of, View<E> q, View<E> v,
                             View<E> a, MatrixView<E> Y) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    regressorDispatch<T>(t, posture.free, row_of, posture, in(v), in(a),
                         RegressorOut<T>{Y.data, Y.row_stride, Y.column_stride});
  }
  static void adjointEntry(const Tree& t, E* scratch, const int* row_of, View<E> q, View<E> v,
                           View<E> a, MatrixView<E> weights, MutableView<E> gq, MutableView<E> gv,
                           MutableView<E> ga) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    torqueRegressorAdjoint<T>(
        t, posture.free, row_of, posture, in(v), in(a),
        RegressorOut<T>{weights.data, weights.row_stride, weights.column_stride},
        AdjointOut<T>{{gq.data, gq.stride}, {gv.data, gv.stride}, {ga.data, ga.stride}});
  }
  static void derivativesEntry(const Tree& t, const Inertia<PE>* inertia, E* scratch,
                               const int* row_of, View<E> q, View<E> v, View<E> a,
                               const E* external, MatrixView<E> dq, MatrixView<E> dv) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    inverseDynamicsDerivatives<T, P>(t, reinterpret_cast<const Inertia<P>*>(inertia),
                                     posture.free, row_of, posture, in(v), in(a),
                                     reinterpret_cast<const T*>(external),
                                     MatrixOut<T>{dq.data, dq.row_stride, dq.column_stride},
                                     MatrixOut<T>{dv.data, dv.row_stride, dv.column_stride});
  }
  static void linkPosesEntry(const Tree& t, E* scratch, View<E> q, MutableView<E> poses) {
    const Posture<T> posture(t, in(q), reinterpret_cast<T*>(scratch));
    linkPoses<T>(t, posture.free, posture, Out<T>{poses.data, poses.stride});
  }
  static constexpr Functions<E, PE> functions() {
    return {inverseDynamicsEntry, massMatrixEntry,  forwardDynamicsEntry, regressorEntry,
            adjointEntry,         derivativesEntry, linkPosesEntry};
  }
};

}  // namespace proprio::PROPRIO_ISA
