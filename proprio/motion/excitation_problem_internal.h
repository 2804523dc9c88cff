#pragma once

/// Inside the motion room: excitation design as a nonlinear program. Variables: per moving joint
/// its starting position and the free coefficients of its motion (rest_basis_internal.h), in units
/// that make them comparable. Not a public header.

#include "proprio/motion/excitation_design.h"
#include "proprio/motion/rest_basis_internal.h"
#include "proprio/numerics/nonlinear_program.h"

namespace proprio::internal {

/// Limits that the design keeps: margin and speed applied.
MotionLimits designLimits(const Model& model, const ExcitationOptions& options);

/// The motions that the options ask for. @throws Error for sizes that make no sense.
RestBasis restBasis(const ExcitationOptions& options);

/// Samples of the motion at which the search looks at the criterion.
Eigen::Index criterionSamples(const RestBasis& basis, const CriterionOptions& criterion,
                              const Tree& tree);

class ExcitationProblem {
 public:
  /// `smooth` has smooth signs; `constraints` belong to it.
  ExcitationProblem(RestBasis basis, const Tree& smooth,
                    std::shared_ptr<const MotionConstraints> constraints,
                    ExcitationCriterion* criterion);

  Eigen::Index variables() const { return unit_.size(); }
  Eigen::Index perJoint() const { return basis_.to_full.cols(); }
  Eigen::Index jointCount() const { return unit_.size() / perJoint(); }
  const RestBasis& basis() const { return basis_; }

  std::shared_ptr<const Trajectory> motion(const Eigen::VectorXd& x) const;
  GridSamples samples(const RestGrid& grid, const Eigen::VectorXd& x) const;
  /// q = centre + factor (q - centre), also for the velocities.
  Eigen::VectorXd scaled(const Eigen::VectorXd& x, double factor,
                         const Eigen::VectorXd& centre) const;
  Eigen::VectorXd start(const Eigen::VectorXd& x) const;
  /// x with the motion's mid-range at these positions.
  Eigen::VectorXd centredAt(const Eigen::VectorXd& x, const Eigen::VectorXd& centre) const;

  /// log of the smoothed criterion (D-optimality, a logarithm already: per column).
  double value(const Eigen::VectorXd& x);
  double valueAndGradient(const Eigen::VectorXd& x, Eigen::VectorXd* gradient);

  /// Constraint `constraint` is looked at at this time from now on; false if it was already, or
  /// nearly so.
  bool watch(double time, int constraint);
  int watched() const;
  NonlinearProgram program(const Eigen::VectorXd& x, double bound);

 private:
  struct TimePoint {
    double time = 0.0;
    Eigen::RowVectorXd q, v, a;  ///< basis, scaled per joint by unit_
    std::vector<int> chosen;
    int first_row = 0, first_entry = 0;
  };
  using Columns = Eigen::Map<const Eigen::MatrixXd>;
  Eigen::MatrixXd coefficients(const Eigen::VectorXd& x) const;
  void evaluate(const Eigen::VectorXd& x, Eigen::VectorXd& g) const;
  void jacobian(const Eigen::VectorXd& x, Eigen::VectorXd& values) const;

  RestBasis basis_;
  std::shared_ptr<const MotionConstraints> constraints_;
  ExcitationCriterion* criterion_;
  Eigen::VectorXd unit_;  ///< per variable
  MotionBasis grid_;      ///< at the criterion's times
  std::vector<TimePoint> points_;
};

}  // namespace proprio::internal
