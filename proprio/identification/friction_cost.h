#pragma once

/// The least-squares residual as a function of friction constants that torques are not linear in:
/// scales and exponents of atan(scale v), |v|^exponent s(v) and exp(-|v / scale|^exponent) s(v).
/// Everything linear is projected out,
///
///   cost(theta) = |r|^2,  r = (1 - [W F] [W F]^+) tau,   F = F(theta) friction columns,
///
/// with the exact gradient and Kaufman's approximation of J^T J, J = -(1 - [W F] [W F]^+) dF phi.
/// W is factorised once; a call costs inner products of the friction columns with it.
/// Sources: Golub and Pereyra 1973, Kaufman 1975. References: A-38.

#include "proprio/identification/method.h"

namespace proprio {

/// A number inside a friction term that torques are not linear in.
struct FrictionConstant {
  int joint = -1;
  int term = -1;          ///< of Joint::friction.terms
  bool exponent = false;  ///< else the scale
  double value = 0.0;
  double low = 0.0, high = 0.0;
  double sigma = 0.0;  ///< standard deviation, rows taken as independent; infinite: not told
  bool at_bound = false;
};

/// All of them, at their declared values (moved into the bounds): exponents of kPower in [1.2, 3],
/// of kStribeck in [0.5, 2.5]; scales of kArctan in [0.1, 100] s/rad, of kStribeck in [0.001, 1]
/// rad/s.
std::vector<FrictionConstant> frictionConstants(const Model& model);
const FrictionTerm& frictionTerm(const Model& model, const FrictionConstant& constant);
/// "scale of 'arctan' at 'shoulder'", with the key of robot.yaml
std::string constantText(const Model& model, const FrictionConstant& constant);
/// The model with these constants.
Model withFrictionConstants(const Model& model, const std::vector<FrictionConstant>& constants);

/// Rows of tau = W beta + F(theta) phi, weighted. F of a joint has entries in its own rows only.
struct FrictionRows {
  struct Segment {
    int joint = -1;
    Eigen::Index start = 0;    ///< first row
    Eigen::VectorXd velocity;  ///< of the joint, one per row
    Eigen::VectorXd weight;    ///< that the row was multiplied with
  };
  Eigen::MatrixXd W;
  Eigen::VectorXd y;
  std::vector<Segment> segments;
};

/// |r|^2 as a function of the constants.
class FrictionCost {
 public:
  /// Constants of joints that have no rows have no effect.
  FrictionCost(const Model& model, const FrictionRows& rows,
               std::vector<FrictionConstant> constants);

  const std::vector<FrictionConstant>& constants() const { return constants_; }
  Eigen::Index rows() const { return Q_.rows(); }
  /// Linear unknowns, projected out.
  Eigen::Index linearUnknowns() const {
    return Q_.cols() + static_cast<Eigen::Index>(terms_.size());
  }
  /// @param gradient  of |r|^2 in the values
  /// @param normal    Kaufman's J^T J in the values
  double operator()(const Eigen::VectorXd& values, Eigen::VectorXd* gradient = nullptr,
                    Eigen::MatrixXd* normal = nullptr) const;

 private:
  /// A term with constants, and where its rows are.
  struct Term {
    FrictionModel friction;  // for its smooth sign
    FrictionTerm term;
    size_t segment = 0;
    int scale = -1, exponent = -1;  // places in constants_
  };
  struct Products;
  Products products(const Eigen::VectorXd& values, bool derivatives) const;

  std::vector<FrictionConstant> constants_;
  std::vector<FrictionRows::Segment> segments_;
  std::vector<Term> terms_;
  Eigen::MatrixXd Q_;  // orthonormal columns that span W
  Eigen::VectorXd y_, Qty_;
};

/// The rows of a problem: every base parameter but the coefficients of terms with constants.
FrictionRows frictionRows(const IdentificationProblem& problem, const Eigen::VectorXd& sigma,
                          const std::vector<FrictionConstant>& constants);

}  // namespace proprio
