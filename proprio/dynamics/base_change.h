#pragma once

/// Changes of the base variables of a floating robot (Traversaro 2017, 3.6-3.9; T-25 to T-33).
///   v~ = T v,  T = [T_bb T_bs; 0 1]   (pure joint velocities stay themselves)
///   M~ = T^-T M T^-1,  C~ = T^-T (M d/dt(T^-1) + C T^-1),  G~ = T^-T G,  J~ = J T^-1,  generalised
///   forces by T^-T
/// Kinetic energy, positive definiteness and skewness of Mdot - 2 C are preserved, and pure joint
/// torques (0; tau) do not change; a wrench on the old base shows up as joint torques between the
/// old base and the new. v here starts with the body twist of the tree's base link. These functions
/// allocate.

#include "proprio/dynamics/centroidal.h"
#include "proprio/dynamics/coriolis.h"

namespace proprio {

/// M v' + C v + G = (0; tau) + sum J^T f.
struct EquationsOfMotion {
  Eigen::MatrixXd M, C;
  Eigen::VectorXd G;
};
/// For the body twist of the base. @param kinematics computed with q and v
EquationsOfMotion equationsOfMotion(
    const Tree& tree, const CompiledParameters& parameters, Workspace& workspace,
    const Kinematics& kinematics, ConstVectorRef q,
    CoriolisFactorisation factorisation = CoriolisFactorisation::kBody);

/// T, its inverse and the time derivative of the inverse.
struct BaseChange {
  Eigen::MatrixXd T, T_inverse, T_inverse_rate;
};
EquationsOfMotion transformed(const EquationsOfMotion& equations, const BaseChange& change);

/// From the body twist of the base to its spatial or mixed twist (T-26).
BaseChange toBaseRepresentation(const Tree& tree, const Kinematics& kinematics,
                                Representation representation);
/// From the body twist of the base link to the twist of another link, in a representation (T-27).
BaseChange toBaseLink(const Tree& tree, const Kinematics& kinematics, int link,
                      Representation representation);
/// To the twist of the compound frame E[F]: origin of link E, orientation of link F, mixed (T-29).
BaseChange toCompoundBase(const Tree& tree, const Kinematics& kinematics, int origin_link,
                          int orientation_link);
/// To (velocity of the centre of mass, angular velocity of the base in world axes) (T-32).
BaseChange toComBase(const Tree& tree, const CompiledParameters& parameters,
                     const Kinematics& kinematics);
/// To the average velocity of the robot (T-33): M becomes blkdiag(m 1, L, H - F^T I^-1 F), G
/// becomes (-m g, 0, 0). A link without mass must have no first moment.
BaseChange toCentroidalBase(const Tree& tree, const CompiledParameters& parameters,
                            const Kinematics& kinematics);

}  // namespace proprio
