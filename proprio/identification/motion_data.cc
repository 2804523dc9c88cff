#include "proprio/identification/motion_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "proprio/core/text.h"
#include "proprio/signal/differences.h"

namespace proprio {
namespace {

/// Joints that a servo moves: one coordinate of their own.
std::vector<std::string> drivenJoints(const Tree& tree) {
  std::vector<std::string> names;
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    if (!joint.mimic && velocityCount(joint.type) == 1 &&
        tree.velocityIndex(static_cast<int>(j)) >= 0)
      names.push_back(joint.name);
  }
  return names;
}

/// The commanded quantity of every joint; no rows if one is missing or has gaps.
Eigen::MatrixXd commandedColumns(const Recording& recording, Quantity quantity,
                                 const std::vector<std::string>& joints) {
  Eigen::MatrixXd columns(recording.samples(), static_cast<Eigen::Index>(joints.size()));
  for (size_t j = 0; j < joints.size(); ++j) {
    const int column = recording.column(quantity, Role::kCommanded, joints[j]);
    if (column < 0 || !recording.values.col(column).allFinite()) return {};
    columns.col(static_cast<Eigen::Index>(j)) = recording.values.col(column);
  }
  return columns;
}

bool increases(const Eigen::VectorXd& time) {
  const Eigen::Index steps = time.size() - 1;
  return time.allFinite() && (time.tail(steps).array() > time.head(steps).array()).all();
}

}  // namespace

bool jumpsAtRest(const FrictionModel& friction) {
  if (friction.smooth_sign != SmoothSign::kSign) return false;
  return std::any_of(friction.terms.begin(), friction.terms.end(), [](const FrictionTerm& term) {
    return term.kind == FrictionTermKind::kCoulomb ||
           term.kind == FrictionTermKind::kCoulombPositive ||
           term.kind == FrictionTermKind::kCoulombNegative ||
           term.kind == FrictionTermKind::kStribeck;
  });
}

MotionData motionData(const Tree& tree, const JointSignals& signals) {
  const Model& model = tree.model();
  if (tree.floating() && signals.channels.cols() == 0)
    throw Error(model.name +
                ": its base floats; joint torques are identified on a fixed base (--fixed)");
  const int base = tree.floating() ? 6 : 0;
  const Eigen::Index samples = signals.q.rows();
  MotionData data;
  data.name = signals.source;
  data.time = signals.time;
  data.rate_hz = signals.rate_hz;
  data.treatment = signals.same;
  data.recorded_rate_hz = signals.recorded_rate_hz;
  data.q = Eigen::MatrixXd::Zero(samples, tree.positionCount());
  data.v = data.a = data.tau = Eigen::MatrixXd::Zero(samples, tree.velocityCount());
  if (signals.sign.cols() > 0) data.sign = data.late = data.v;
  if (signals.noise.rows() > 0) data.noise = Eigen::MatrixXd::Zero(tree.velocityCount(), 3);
  data.use = Mask::Constant(samples, tree.velocityCount(), false);
  if (signals.mixed.cols() > 0) data.mixed = data.use;
  std::vector<bool> recorded(static_cast<size_t>(tree.velocityCount()), false);
  for (size_t c = 0; c < signals.joints.size(); ++c) {
    const int joint = requireJoint(model, signals.joints[c]);
    const Joint& declared = model.joints[static_cast<size_t>(joint)];
    const int i = tree.velocityIndex(joint);
    if (declared.mimic || i < 0 || velocityCount(declared.type) != 1) continue;
    const auto column = static_cast<Eigen::Index>(c);
    recorded[static_cast<size_t>(i)] = true;
    data.q.col(tree.positionIndex(joint)) = signals.q.col(column);
    const bool moves =
        signals.cutoffs[c].moves && samples > 0 &&
        signals.q.col(column).maxCoeff() - signals.q.col(column).minCoeff() > kStandstill;
    if (moves) {
      data.v.col(i) = signals.v.col(column);
      data.a.col(i) = signals.a.col(column);
      if (data.sign.cols() > 0) {
        data.sign.col(i) = signals.sign.col(column);
        data.late.col(i) = signals.late.col(column);
      }
      if (data.noise.rows() > 0) data.noise.row(i) = signals.noise.row(column);
    }
    if (signals.tau.cols() == 0) continue;
    data.tau.col(i) = signals.tau.col(column);
    if (jumpsAtRest(declared.friction)) {
      if (!moves) continue;
      data.use.col(i) = signals.moving.col(column);
      if (data.mixed.cols() > 0) data.mixed.col(i) = signals.mixed.col(column);
    } else {
      data.use.col(i).setConstant(true);
    }
  }
  for (const Joint& joint : model.joints) {
    if (joint.velocity_index < 0 || joint.sensed) continue;
    if (recorded[static_cast<size_t>(joint.velocity_index + base)]) continue;
    throw Error(
        fmt::format("{}: joint {} moves in the model and has no position in the recording; record "
                    "it, or hold it with 'exclude: [{}]' in robot.yaml",
                    signals.source, inQuotes(joint.name), joint.name));
  }
  return data;
}

void attachReference(const Tree& tree, const Recording& recording, MotionData* data) {
  data->reference = nullptr;
  const Eigen::Index samples = recording.samples();
  const std::vector<Joint>& joints = tree.model().joints;
  const auto sensed = [](const Joint& joint) { return joint.sensed; };
  if (std::any_of(joints.begin(), joints.end(), sensed)) return;  // wrenches are not commanded
  if (samples < 3 || recording.time.size() != samples || !increases(recording.time)) return;
  MotionSamples motion;
  motion.joints = drivenJoints(tree);
  motion.time = recording.time;
  motion.q = commandedColumns(recording, Quantity::kPosition, motion.joints);
  if (motion.q.size() == 0) return;
  motion.v = commandedColumns(recording, Quantity::kVelocity, motion.joints);
  motion.a = commandedColumns(recording, Quantity::kAcceleration, motion.joints);
  if (motion.v.size() == 0) motion.v = centralDifferences(motion.q, motion.time).first;
  if (motion.a.size() == 0) motion.a = centralDifferences(motion.v, motion.time).first;
  data->reference = std::make_shared<const MotionSamples>(std::move(motion));
}

MotionData middleSamples(const MotionData& data, Eigen::Index start, Eigen::Index count) {
  MotionData part = data;
  part.time = data.time.segment(start, count);
  part.q = data.q.middleRows(start, count);
  part.v = data.v.middleRows(start, count);
  part.a = data.a.middleRows(start, count);
  part.tau = data.tau.middleRows(start, count);
  part.use = data.use.middleRows(start, count);
  if (data.sign.cols() > 0) part.sign = data.sign.middleRows(start, count);
  if (data.late.cols() > 0) part.late = data.late.middleRows(start, count);
  if (data.mixed.cols() > 0) part.mixed = data.mixed.middleRows(start, count);
  return part;
}

MotionData chosenSamples(const MotionData& data, const std::vector<Eigen::Index>& rows) {
  MotionData chosen = data;
  chosen.time = data.time(rows);
  for (auto signal : {&MotionData::q, &MotionData::v, &MotionData::a, &MotionData::tau})
    chosen.*signal = (data.*signal)(rows, Eigen::all).eval();
  chosen.use = data.use(rows, Eigen::all).eval();
  if (data.sign.cols() > 0) chosen.sign = data.sign(rows, Eigen::all).eval();
  if (data.late.cols() > 0) chosen.late = data.late(rows, Eigen::all).eval();
  if (data.mixed.cols() > 0) chosen.mixed = data.mixed(rows, Eigen::all).eval();
  return chosen;
}

MotionData everyNth(const MotionData& data, Eigen::Index step) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index k = 0; k < data.samples(); k += step) rows.push_back(k);
  MotionData thin = chosenSamples(data, rows);
  thin.rate_hz = data.rate_hz / static_cast<double>(step);
  return thin;
}

}  // namespace proprio
