#pragma once

/// Inside the simulation room: the robot as differential equations, for one robot or for several
/// side by side in SIMD lanes (the same tree, own parameters). Coordinate i of lane r is entry
/// i * lanes + r of every array.
///
///   M(q) a = tau - friction(v, z) - springs(q) - couplings(q, v, a) - C v - G + sum J^T f   (link)
/// Rigid joint: tau is the drive's torque and M contains its rotor. Flexible joint: tau is the
/// torque of the elasticity, K (theta - q) + D (theta' - q'), and the rotor obeys
///   I_rotor theta'' = tau_drive - tau                      Ardiani 2023, 1.5, R-11
/// LuGre, Dahl and Leuven bristles z as declared in model/friction.h. sign(v) is tanh(signGain()
/// v).
///
/// State y = (q, v, theta, theta', z, w); w are the two works of the energy balance, which rest
/// unless they are asked for: energy + lost - outside is constant while nothing is picked up.

#include <memory>

#include "proprio/servo/computed_torque.h"
#include "proprio/simulation/closed_loop.h"

namespace proprio::internal {

class Plant {
 public:
  /// One lane, or as many as the kernels have. The tree outlives the plant.
  Plant(const Tree& tree, const std::vector<const Parameters*>& lanes, double sign_gain);

  int lanes() const { return lanes_; }
  Eigen::Index coordinates() const { return n_; }
  /// Trees that only one lane can simulate: mimic joints, free poses, couplings of accelerations.
  static bool needsOneLane(const Tree& tree);

  Eigen::VectorXd state;   ///< y
  Eigen::VectorXd torque;  ///< of the drives, held during a step
  double time = 0.0;       ///< s, of the control period
  /// ClosedLoopOptions::friction_factor of each lane, or null; empty: none has one.
  std::vector<const std::function<double(const FrictionConditions&)>*> friction_factors;
  // parts of the state; positions and velocities of all coordinates
  double* q() { return state.data(); }
  double* v() { return state.data() + nq_ * lanes_; }
  /// Rotor angle of coordinate i (its position where the joint is rigid).
  double motorPosition(Eigen::Index i, int lane) const;
  double position(Eigen::Index i, int lane) const { return state[q_of_[i] * lanes_ + lane]; }
  bool flexible(Eigen::Index i) const { return flexible_of_[i] >= 0; }

  /// Rotors where they hold `link_torque` (per coordinate) at rest relative to their link.
  void alignMotors(int lane, ConstVectorRef link_torque);

  /// f(y) into rates(); then accelerations(), frictions() and forces are those of this state.
  void evaluate();
  /// One step of size h; uses the rates of evaluate(), which was called for this state.
  void advance(double h, Integrator integrator);
  const double* accelerations() const { return rates_.data() + nq_ * lanes_; }
  const double* frictions() const { return friction_.data(); }
  /// Torque that the link gets from its drive train: of the elasticity, or what the rotor leaves.
  double linkTorque(Eigen::Index i, int lane) const;

  /// What a link carries besides itself, from now on.
  void setPayload(int lane, int link, const InertialParameters& payload);
  const Parameters& parameters(int lane) const { return lane_[static_cast<size_t>(lane)].actual; }

  /// One lane only: half-spaces and points, and the wrenches that act now.
  void setSurroundings(const Surroundings* surroundings) { surroundings_ = surroundings; }
  std::vector<const AppliedWrench*> wrenches_now;
  const LinkWrenches& linkWrenches() const { return wrenches_; }
  const Eigen::VectorXd& contactForces() const { return contact_forces_; }

  /// One lane without drive torques: count work from here on. `lost`: to friction, couplings and
  /// the damping of drives, J; `outside`: of wrenches and contacts on the robot, J.
  void countWork() { counts_work_ = true; }
  double lost() const { return state[state.size() - 2]; }
  double outside() const { return state[state.size() - 1]; }
  struct Energy {
    double kinetic = 0.0;    ///< J: of links and rotors
    double potential = 0.0;  ///< J: of gravity, springs and elastic drives
  };
  /// Of this state; one lane.
  Energy energy();

  /// Fastest rate (1/s) of friction, bristles, elasticity and contacts at this state: h times it
  /// must stay below the integrator's limit.
  double fastestRate(const Eigen::VectorXd& velocity_limit) const;

 private:
  struct Lane {
    Parameters declared, actual;
    CompiledParameters compiled;
  };
  /// Friction terms that do not fit the arrays: own function of v, possibly of a mimic joint.
  struct OtherTerm {
    Eigen::Index row;
    double ratio;
    FrictionModel friction;
    size_t term;
    std::vector<double> coefficient;  ///< per lane
  };
  struct Bristle {
    Eigen::Index row;
    DynamicFriction law;
    Eigen::Index first, count;  ///< of its states
  };
  struct Coupling {
    Eigen::Index row;
    double ratio;
    Signal signal;
    std::vector<Eigen::Index> q, v;
    std::vector<double> weights, offsets;
    std::vector<double> value;  ///< per lane
    Eigen::Index sign = -1;     ///< where sign_ has its smooth signs, if it needs them
  };

  void readJoints(double sign_gain);
  void readTerms(int joint, double sign_gain);
  void readCouplings();
  void compileLane(int lane);
  void derivative(const double* y, double* dy);
  void positionRates(const double* q, const double* v, double* dq) const;
  void frictionTorques(const double* y, double* dz);
  double couplingSum(const Coupling& coupling, const double* q, const double* v, int lane) const;
  void driveTorques(const double* y, double* dy);
  void solve(const double* q, const double* v, double* a);
  void solveOne(ConstVectorRef q, ConstVectorRef v, VectorRef a);
  void updateKinematics(ConstVectorRef q, ConstVectorRef v);
  double lostPower(const double* y) const;
  double inertialCouplingPower(const double* v, const double* a) const;
  double outsidePower() const;
  void normalise();

  const Tree& tree_;
  const int lanes_;
  const Eigen::Index n_, nq_;
  const kernels::Table& table_;
  Workspace workspace_;
  std::vector<Lane> lane_;
  std::vector<Eigen::Index> q_of_;         ///< position index of a velocity coordinate
  std::vector<Eigen::Index> flexible_of_;  ///< index among the flexible joints, or -1
  std::vector<Eigen::Index> flexible_;
  std::vector<Bristle> bristles_;
  Eigen::Index bristle_states_ = 0, signs_ = 0;
  std::vector<OtherTerm> others_;
  std::vector<Coupling> couplings_;
  bool inertial_couplings_ = false, plain_ = true, counts_work_ = false;
  double sign_gain_;
  Eigen::VectorXd viscous_, coulomb_, gain_, offset_, spring_, preload_, stiffness_, damping_,
      rotor_;
  Eigen::VectorXd argument_, sign_, friction_, net_, drive_;
  Eigen::VectorXd rates_, sum_, stage_, stage_rates_;
  AlignedBuffer inertias_, link_rotor_;
  // one lane only
  const Surroundings* surroundings_ = nullptr;
  std::unique_ptr<Kinematics> kinematics_;
  LinkWrenches wrenches_;
  Eigen::VectorXd contact_forces_;
  Eigen::MatrixXd M_;
};

}  // namespace proprio::internal
