// Pinocchio compiled with -O3 -DNDEBUG for the baseline instruction set.
#define PROPRIO_PINOCCHIO_NAME kPinocchioNormal
#define PROPRIO_PINOCCHIO_LABEL "normal"
#include "pinocchio_side.inl"
