#include "proprio/report/motion_chart.h"

#include <fmt/format.h>

#include "proprio/core/error.h"
#include "proprio/core/text_table.h"
#include "proprio/recording/signal_names.h"
#include "proprio/report/recording_chart.h"

namespace proprio {
namespace {

void addChannels(const MotionSamples& samples, const Model& model, Quantity quantity,
                 const Eigen::MatrixXd& values, Recording& recording) {
  const auto joints = static_cast<Eigen::Index>(samples.joints.size());
  if (values.rows() != samples.time.size() || values.cols() != joints) {
    throw Error(fmt::format("a motion of {} joints at {} times has a table of {} x {} for its {}s",
                            joints, samples.time.size(), values.rows(), values.cols(),
                            toString(quantity)));
  }
  const Eigen::Index first = recording.values.cols();
  recording.values.conservativeResize(values.rows(), first + joints);
  recording.values.rightCols(joints) = values;
  for (const std::string& joint : samples.joints) {
    const int index = model.jointIndex(joint);
    const bool prismatic =
        index >= 0 && model.joints[static_cast<size_t>(index)].type == JointType::kPrismatic;
    Channel channel;
    channel.name = signalName(quantity, Role::kMeasured, joint);
    channel.quantity = quantity;
    channel.side = Side::kJoint;
    channel.of = joint;
    channel.unit = unitOf(quantity, prismatic);
    recording.channels.push_back(std::move(channel));
  }
}

}  // namespace

Figure motionFigure(const MotionSamples& samples, const Model& model, const Eigen::MatrixXd& tau) {
  Recording recording;
  recording.time = samples.time;
  addChannels(samples, model, Quantity::kPosition, samples.q, recording);
  addChannels(samples, model, Quantity::kVelocity, samples.v, recording);
  addChannels(samples, model, Quantity::kAcceleration, samples.a, recording);
  if (tau.size() > 0) addChannels(samples, model, Quantity::kTorque, tau, recording);
  std::vector<Figure> figures = recordingFigures(recording, &model);
  Figure figure = figures.empty() ? Figure{} : std::move(figures.front());
  figure.title = model.name.empty() ? "motion" : model.name;
  const double seconds = samples.time.size() > 0 ? samples.time.tail(1)[0] - samples.time[0] : 0.0;
  figure.subtitle = fmt::format("motion of {} s", readable(seconds));
  return figure;
}

}  // namespace proprio
