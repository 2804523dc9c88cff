#include "proprio/identification/body_program.h"

#include <Eigen/Geometry>
#include <array>
#include <limits>

#include "proprio/core/error.h"
#include "proprio/numerics/nonlinear_program.h"
#include "proprio/spatial/principal_inertia.h"

namespace proprio {
namespace {

using Eigen::VectorXd;
using RotationVector = Eigen::Matrix<double, 9, 1>;  // columns of R, one below the other

constexpr double kSmallestBodyMass = 1e-6;  // kg: the centre of a massless body could be anywhere
constexpr int kMass = 0, kCentre = 1, kMoments = 4, kRotation = 7;  // places among the unknowns

/// Gradient of a scalar with respect to p turned into one with respect to (m, c, R, L).
struct BodyAt {
  double mass;
  Vector3d com, moments;
  Matrix3d R;

  Vector10d parameters() const {
    const Matrix3d second = R * moments.asDiagonal() * R.transpose() + mass * com * com.transpose();
    InertialParameters body;
    body.mass = mass;
    body.first_moment = mass * com;
    body.inertia = second.trace() * Matrix3d::Identity() - second;
    return body.vector();
  }

  struct Gradient {
    double mass;
    Vector3d com, moments;
    Matrix3d R;
  };
  Gradient pulledBack(const Vector10d& slope) const {
    // the slope with respect to I as a symmetric matrix, then to Sigma: I = tr(Sigma) 1 - Sigma
    Matrix3d by_inertia;
    by_inertia << slope[4], 0.5 * slope[5], 0.5 * slope[6],  //
        0.5 * slope[5], slope[7], 0.5 * slope[8],            //
        0.5 * slope[6], 0.5 * slope[8], slope[9];
    const Matrix3d by_second = by_inertia.trace() * Matrix3d::Identity() - by_inertia;
    const Vector3d by_moment = slope.segment<3>(1);
    Gradient gradient;
    gradient.mass = slope[0] + by_moment.dot(com) + com.dot(by_second * com);
    gradient.com = mass * (by_moment + 2.0 * by_second * com);
    gradient.moments = (R.transpose() * by_second * R).diagonal();
    gradient.R = 2.0 * by_second * R * moments.asDiagonal();
    return gradient;
  }
};

class BodyProgram {
 public:
  BodyProgram(const Eigen::MatrixXd& A, const VectorXd& b, RotationUnknowns unknowns)
      : A_(A), b_(b), quaternion_(unknowns == RotationUnknowns::kQuaternion) {}

  DescentResult solve(const InertialParameters& start) const {
    NonlinearProgram program;
    program.start = unknownsOf(start);
    constexpr double kNone = std::numeric_limits<double>::infinity();
    program.lower = VectorXd::Constant(program.start.size(), -kNone);
    program.upper = VectorXd::Constant(program.start.size(), kNone);
    program.lower[kMass] = kSmallestBodyMass;
    program.lower.segment<3>(kMoments).setZero();
    program.value = [this](const VectorXd& x) {
      return (A_ * bodyOf(x).parameters() - b_).squaredNorm();
    };
    program.gradient = [this](const VectorXd& x, VectorXd& gradient) { slope(x, gradient); };
    addOrthogonality(&program);
    program.hessian = [this](const VectorXd& x, double weight, const VectorXd& multipliers,
                             Eigen::MatrixXd& H) { curvature(x, weight, multipliers, &H); };
    ProgramOptions options;
    options.iterations = 300;
    options.tolerance = 1e-9;
    const ProgramResult found = solveProgram(program, options);
    DescentResult result;
    result.x = bodyOf(found.x).parameters();
    result.objective = 0.5 * (A_ * result.x - b_).squaredNorm();
    result.iterations = found.iterations;
    result.converged = found.status == ProgramStatus::kSolved;
    for (int i = 0; i < 3; ++i)
      result.bounds_active += found.x[kMoments + i] < 1e-8 * found.x[kMass];
    return result;
  }

 private:
  VectorXd unknownsOf(const InertialParameters& start) const {
    const PrincipalInertia body = principalInertia(start);
    VectorXd x(quaternion_ ? 11 : 16);
    x[kMass] = std::max(body.mass, 10.0 * kSmallestBodyMass);
    x.segment<3>(kCentre) = body.com;
    x.segment<3>(kMoments) =
        body.second_moments.cwiseMax(1e-3 * body.second_moments.cwiseAbs().maxCoeff());
    if (quaternion_) {
      x.segment<4>(kRotation) = Eigen::Quaterniond(body.rotation).coeffs();
    } else {
      x.segment<9>(kRotation) = Eigen::Map<const RotationVector>(body.rotation.data());
    }
    return x;
  }

  BodyAt bodyOf(const VectorXd& x) const {
    BodyAt body{x[kMass], x.segment<3>(kCentre), x.segment<3>(kMoments), {}};
    if (quaternion_) {
      Eigen::Quaterniond q(Eigen::Vector4d(x.segment<4>(kRotation)));
      q.normalize();
      body.R = q.toRotationMatrix();
    } else {
      body.R = Eigen::Map<const Matrix3d>(x.data() + kRotation);
    }
    return body;
  }

  void slope(const VectorXd& x, VectorXd& gradient) const {
    const BodyAt body = bodyOf(x);
    const Vector10d by_parameters = 2.0 * A_.transpose() * (A_ * body.parameters() - b_);
    const BodyAt::Gradient g = body.pulledBack(by_parameters);
    gradient.resize(x.size());
    gradient[kMass] = g.mass;
    gradient.segment<3>(kCentre) = g.com;
    gradient.segment<3>(kMoments) = g.moments;
    if (!quaternion_) {
      gradient.segment<9>(kRotation) = Eigen::Map<const RotationVector>(g.R.data());
      return;
    }
    // R turns by the small rotation w in space: dR = w^ R, and dq of the unit quaternion is
    // 1/2 (w, 0) q; moving q along itself changes nothing
    const Matrix3d T = g.R * body.R.transpose();
    const Vector3d by_turn(T(2, 1) - T(1, 2), T(0, 2) - T(2, 0), T(1, 0) - T(0, 1));
    const Eigen::Vector4d coefficients = x.segment<4>(kRotation);
    const Eigen::Quaterniond q(coefficients);
    const Eigen::Quaterniond back = Eigen::Quaterniond(0.0, by_turn[0], by_turn[1], by_turn[2]) * q;
    gradient.segment<4>(kRotation) = 2.0 / coefficients.squaredNorm() * back.coeffs();
  }

  void curvature(const VectorXd& x, double weight, const VectorXd& multipliers,
                 Eigen::MatrixXd* H) const {
    constexpr double kStep = 1e-6;  // of unknowns of size 1: the differences have eight digits
    VectorXd at = x, after, before;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      at[i] = x[i] + kStep;
      slope(at, after);
      at[i] = x[i] - kStep;
      slope(at, before);
      at[i] = x[i];
      H->col(i) = weight / (2.0 * kStep) * (after - before);
    }
    *H = (0.5 * (*H + H->transpose())).eval();
    if (quaternion_) {
      for (int i = 0; i < 4; ++i) (*H)(kRotation + i, kRotation + i) += 2.0 * multipliers[0];
      return;
    }
    for (int row_of_g = 0; row_of_g < 6; ++row_of_g) {
      const auto [one, other] = kPairs[static_cast<size_t>(row_of_g)];
      for (int i = 0; i < 3; ++i) {
        const int a = kRotation + 3 * one + i, b = kRotation + 3 * other + i;
        (*H)(a, b) += multipliers[row_of_g];
        (*H)(b, a) += multipliers[row_of_g];
      }
    }
  }

  /// |q|^2 = 1, or the six products of columns of R.
  void addOrthogonality(NonlinearProgram* program) const {
    if (quaternion_) {
      program->g_lower = program->g_upper = VectorXd::Ones(1);
      program->jacobian_rows = {0, 0, 0, 0};
      program->jacobian_columns = {kRotation, kRotation + 1, kRotation + 2, kRotation + 3};
      program->constraints = [](const VectorXd& x, VectorXd& g) {
        g[0] = x.segment<4>(kRotation).squaredNorm();
      };
      program->jacobian = [](const VectorXd& x, VectorXd& values) {
        values = 2.0 * x.segment<4>(kRotation);
      };
      return;
    }
    program->g_lower = (VectorXd(6) << 1, 1, 1, 0, 0, 0).finished();
    program->g_upper = program->g_lower;
    for (int row = 0; row < 6; ++row) {
      const auto [one, other] = kPairs[static_cast<size_t>(row)];
      for (int i = 0; i < 3; ++i) {
        program->jacobian_rows.push_back(row);
        program->jacobian_columns.push_back(kRotation + 3 * one + i);
        if (other == one) continue;
        program->jacobian_rows.push_back(row);
        program->jacobian_columns.push_back(kRotation + 3 * other + i);
      }
    }
    const auto column = [](const VectorXd& x, int k) -> Vector3d {
      return x.segment<3>(kRotation + 3 * k);
    };
    program->constraints = [column](const VectorXd& x, VectorXd& g) {
      for (int row = 0; row < 6; ++row) {
        const auto [one, other] = kPairs[static_cast<size_t>(row)];
        g[row] = column(x, one).dot(column(x, other));
      }
    };
    program->jacobian = [column](const VectorXd& x, VectorXd& values) {
      Eigen::Index place = 0;
      for (const auto& [one, other] : kPairs) {
        for (int i = 0; i < 3; ++i) {
          if (other == one) {
            values[place++] = 2.0 * column(x, one)[i];
            continue;
          }
          values[place++] = column(x, other)[i];
          values[place++] = column(x, one)[i];
        }
      }
    };
  }

  /// Columns of R whose products are constraints.
  static constexpr std::array<std::array<int, 2>, 6> kPairs = {
      {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

  const Eigen::MatrixXd& A_;
  const VectorXd& b_;
  bool quaternion_;
};

}  // namespace

DescentResult fitBodyByProgram(const Eigen::MatrixXd& A, const VectorXd& b,
                               const InertialParameters& start, RotationUnknowns unknowns) {
  if (A.cols() != 10 || A.rows() != b.size())
    throw Error("fit of one body: expected ten columns and as many rows as wrenches");
  return BodyProgram(A, b, unknowns).solve(start);
}

}  // namespace proprio
