#include "proprio/identification/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace proprio {
namespace {

struct ErrorSums {
  double error = 0.0, torque = 0.0, peak = 0.0;
  Eigen::Index rows = 0;

  void add(double measured, double predicted) {
    const double difference = measured - predicted;
    error += difference * difference;
    torque += measured * measured;
    peak = std::max(peak, std::abs(difference));
    ++rows;
  }

  void add(const JointError& joint) {
    const auto count = static_cast<double>(joint.rows);
    error += count * joint.rms * joint.rms;
    torque += count * joint.torque_rms * joint.torque_rms;
    peak = std::max(peak, joint.peak);
    rows += joint.rows;
  }

  JointError result() const { return jointError(error, torque, peak, rows); }
};

}  // namespace

JointError jointError(double squared_errors, double squared_torques, double peak,
                      Eigen::Index rows) {
  JointError out;
  const auto count = static_cast<double>(std::max<Eigen::Index>(rows, 1));
  out.rows = rows;
  out.rms = std::sqrt(squared_errors / count);
  out.torque_rms = std::sqrt(squared_torques / count);
  out.peak = peak;
  out.percent = squared_torques > 0.0 ? 100.0 * std::sqrt(squared_errors / squared_torques)
                                      : std::numeric_limits<double>::quiet_NaN();
  return out;
}

Evaluation evaluate(const std::string& model, const MotionData& data,
                    const Eigen::MatrixXd& predicted) {
  if (predicted.rows() != data.tau.rows() || predicted.cols() != data.tau.cols())
    throw Error(fmt::format("{}: predicted torques are {} x {}; measured are {} x {}", data.name,
                            predicted.rows(), predicted.cols(), data.tau.rows(), data.tau.cols()));
  Evaluation evaluation;
  evaluation.model = model;
  evaluation.recording = data.name;
  ErrorSums all;
  for (Eigen::Index j = 0; j < data.tau.cols(); ++j) {
    ErrorSums sums;
    for (Eigen::Index i = 0; i < data.samples(); ++i) {
      if (!data.use(i, j)) continue;
      sums.add(data.tau(i, j), predicted(i, j));
      all.add(data.tau(i, j), predicted(i, j));
    }
    evaluation.joints.push_back(sums.result());
  }
  evaluation.overall = all.result();
  return evaluation;
}

Evaluation pooled(const std::vector<Evaluation>& evaluations, const std::string& model) {
  std::vector<ErrorSums> joints;
  ErrorSums overall;
  Evaluation out;
  for (const Evaluation& evaluation : evaluations) {
    if (!model.empty() && evaluation.model != model) continue;
    out.model = evaluation.model;
    out.recording += (out.recording.empty() ? "" : ", ") + evaluation.recording;
    out.in_turn = evaluation.in_turn;
    joints.resize(std::max(joints.size(), evaluation.joints.size()));
    for (size_t j = 0; j < evaluation.joints.size(); ++j) joints[j].add(evaluation.joints[j]);
    overall.add(evaluation.overall);
  }
  for (const ErrorSums& joint : joints) out.joints.push_back(joint.result());
  out.overall = overall.result();
  return out;
}

void shareVectorNorms(const Tree& tree, Evaluation* evaluation) {
  std::vector<int> firsts;
  if (tree.floating()) firsts = {0, 3};
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const int first = tree.velocityIndex(static_cast<int>(j));
    if (tree.model().joints[j].sensed) firsts.insert(firsts.end(), {first, first + 3});
  }
  for (const int first : firsts) {
    double squares = 0.0;
    for (int k = 0; k < 3; ++k)
      squares += std::pow(evaluation->joints[static_cast<size_t>(first + k)].torque_rms, 2);
    for (int k = 0; k < 3 && squares > 0.0; ++k) {
      JointError& axis = evaluation->joints[static_cast<size_t>(first + k)];
      axis.torque_rms = std::sqrt(squares);
      axis.percent = 100.0 * axis.rms / axis.torque_rms;
    }
  }
}

Evaluation evaluate(const std::string& model, const Tree& tree, const ParameterLayout& layout,
                    const Eigen::VectorXd& chi, const MotionData& data) {
  Evaluation evaluation = evaluate(model, data, predictTorques(tree, layout, chi, data));
  shareVectorNorms(tree, &evaluation);
  return evaluation;
}

std::vector<Evaluation> baselines(const Tree& tree, const ParameterLayout& layout,
                                  const Eigen::VectorXd& declared, const MotionData& data) {
  MotionData at_rest = data;
  at_rest.v.setZero();
  at_rest.a.setZero();
  Eigen::VectorXd inertia = declared;
  inertia.tail(layout.size() - layout.inertialSize()).setZero();
  std::vector<Evaluation> all = {
      evaluate("as given", tree, layout, declared, data),
      evaluate("gravity only", data, predictTorques(tree, layout, inertia, at_rest)),
      evaluate("zero", data, Eigen::MatrixXd::Zero(data.tau.rows(), data.tau.cols()))};
  shareVectorNorms(tree, &all[1]);
  shareVectorNorms(tree, &all[2]);
  return all;
}

}  // namespace proprio
