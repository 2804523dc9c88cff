// Pinocchio compiled with -O3 -DNDEBUG -march=native.
#define PROPRIO_PINOCCHIO_NAME kPinocchioNative
#define PROPRIO_PINOCCHIO_LABEL "native"
#include "pinocchio_side.inl"
