#pragma once

/// Pinocchio behind plain arrays, so that each build of it (normal, native) is one object file of
/// its own and no Eigen type crosses the border between files compiled with different instruction
/// sets.

#include <vector>

namespace proprio::bench {

struct PlainBody {
  int parent = -1;  ///< body index, -1: the universe
  int axis = 2;     ///< 0 x, 1 y, 2 z, 3 general, 4 free-flyer, 5 fixed base
  double axis_vector[3] = {0, 0, 1};
  double R[9], p[3];                ///< joint placement in the parent
  double mass, com[3], inertia[9];  ///< inertia about the centre of mass, row-major
};

/// Functions of one build; q with the quaternion after the position, as ours.
struct PinocchioSide {
  const char* name;
  void* (*create)(const std::vector<PlainBody>& bodies);
  int (*nv)(void*);
  void (*inverse_dynamics)(void*, const double* q, const double* v, const double* a, double* tau);
  void (*mass_matrix)(void*, const double* q, double* M);
  void (*forward_dynamics)(void*, const double* q, const double* v, const double* tau, double* a);
  void (*regressor)(void*, const double* q, const double* v, const double* a, double* Y);
  void (*inverse_dynamics_derivatives)(void*, const double* q, const double* v, const double* a,
                                       double* dq, double* dv);
  void (*forward_dynamics_derivatives)(void*, const double* q, const double* v, const double* tau,
                                       double* dq, double* dv);
};

extern const PinocchioSide kPinocchioNormal;
extern const PinocchioSide kPinocchioNative;

}  // namespace proprio::bench
