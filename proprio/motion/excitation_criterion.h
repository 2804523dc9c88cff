#pragma once

/// How well a motion determines parameters: criteria of the regressor W that its samples stack,
/// with true gradients. With singular values s_1 >= ... >= s_n of W,
///   condition            s_1 / s_n                                              (A-17, C1)
///   condition_and_sigma  s_1 / s_n + k / s_n                                    (A-17, C2)
///   published            (s_1 / s_n)^2 + k / s_n: cond(W^T W) + k / s_n, k = 100  (L-13, eq. 154)
///   trace                sqrt(trace(W^T W) trace((W^T W)^-1))                   (A-17, C3)
///   d                    -log det(W^T W) = -2 sum log s_i
///   a                    trace((W^T W)^-1) = sum 1 / s_i^2
///   e                    1 / s_n
/// all to be minimised. W has the chosen columns, each times its scale; the row of coordinate j is
/// multiplied by row_scale[j] (1 / noise of that torque; 0: not measured); rows of earlier
/// recordings, already weighted, may stand below, so that a motion is sought for what they left
/// open.
///
/// Gradient: with W = U S V^T, dJ/dW = W V diag(dJ/ds_i / s_i) V^T; the adjoint of the regressor
/// (torqueRegressorGradientBatch) takes that to q, v and a: no differences, whatever the number of
/// samples. s and V come from the Gram matrix while cond(W) < 1e4 (s_n then has at least 7 correct
/// digits) and from a QR factorisation beyond.
///
/// s_1 and s_n have kinks where singular values meet, and optima lie there. `smoothing` p > 0
/// replaces them by p-norms, s_1 -> (sum s_i^p)^(1/p) and 1 / s_n -> (sum s_i^-p)^(1/p): smooth and
/// never below the exact value (the trace criterion is the condition with p = 2). With p = 0 the
/// gradient is the mean over the singular values that coincide.
///
/// Friction: a plain sign has no gradient but its jump, which is left out. Design with
/// withSmoothSigns() (model/model.h), judge with the model itself.
///
/// Sources: Leboutet 2022 section 5.2.2 (L-13), Ardiani 2023 section 1.10.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "proprio/dynamics/base_parameters.h"
#include "proprio/dynamics/workspace.h"

namespace proprio {

enum class Criterion {
  kCondition,
  kConditionAndSigma,
  kPublished,
  kTrace,
  kD,
  kA,
  kE,
};
const char* toString(Criterion criterion);
/// Of the names above. @throws Error with the names that exist.
Criterion criterionOf(const std::string& name);
/// All names, in the order above.
std::vector<std::string> criterionNames();

struct CriterionOptions {
  Criterion criterion = Criterion::kCondition;
  double sigma_weight = 100.0;   ///< k
  double smoothing = 0.0;        ///< p; 0: exact
  std::vector<int> columns;      ///< parameters of the layout; they must be independent
  Eigen::VectorXd row_scale;     ///< per velocity coordinate; empty: 1
  Eigen::VectorXd column_scale;  ///< per chosen column, e.g. its expected size; empty: 1
  Eigen::MatrixXd earlier;       ///< rows (a triangular factor) of earlier recordings in the chosen
                            ///< columns, weighted by row_scale, columns not yet scaled; or empty
};

/// A criterion of singular values in descending order, and its derivative by each of them (null:
/// not wanted). Infinite if the last one is 0.
double criterionValue(const CriterionOptions& options, const Eigen::VectorXd& singular_values,
                      Eigen::VectorXd* derivative);

/// The criterion for one robot. Keeps scratch memory: one object per thread; inside, the samples
/// are shared out over all cores, with the same bits for any number of them.
class ExcitationCriterion {
 public:
  /// @throws Error for sizes that do not match or no columns.
  ExcitationCriterion(std::shared_ptr<const Tree> tree,
                      std::shared_ptr<const ParameterLayout> layout, CriterionOptions options);
  ~ExcitationCriterion();

  /// row = sample, column = coordinate. Infinite if W has not full rank.
  double value(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a);
  /// Gradients samples x velocityCount(), those of q along the velocity coordinates.
  double valueAndGradient(ConstMatrixRef q, ConstMatrixRef v, ConstMatrixRef a,
                          MatrixRef gradient_q, MatrixRef gradient_v, MatrixRef gradient_a);

  /// Of the last call: singular values, descending, and W^T W, with row and column scales.
  const Eigen::VectorXd& singularValues() const;
  const Eigen::MatrixXd& gram() const;
  const CriterionOptions& options() const;

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

/// What a motion will teach: standard deviation of every base parameter if torques have white
/// noise, from (W^T S^-1 W)^-1.
struct LearningForecast {
  Eigen::VectorXd value;     ///< of the base parameter in the model
  Eigen::VectorXd sigma;     ///< standard deviation
  Eigen::VectorXd relative;  ///< sigma / |value|; infinite for a value of 0
};
/// @param gram       W^T W of samples of the motion with row scales 1 / noise, columns not scaled
/// @param repetition how many independent measurements each of those samples stands for
LearningForecast forecastLearning(const BaseParameters& base, const Parameters& parameters,
                                  const Eigen::MatrixXd& gram, double repetition);

}  // namespace proprio
