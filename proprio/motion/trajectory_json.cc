#include "proprio/motion/trajectory_json.h"

#include <set>

#include "proprio/core/text.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/json_fields_internal.h"

namespace proprio {
namespace {

using Pointer = std::shared_ptr<const Trajectory>;

constexpr const char* kFormat = "proprio-trajectory";
constexpr int kVersion = 1;

Json fourierJson(const FourierSeries& series) {
  checkSeries(series);
  return {{"type", "fourier"},         {"period", series.period},
          {"repeats", series.repeats}, {"offset", toJson(series.offset)},
          {"a", toJson(series.a)},     {"b", toJson(series.b)}};
}

Pointer fourierFrom(const JsonObject& object, int joints) {
  object.allow({"type", "period", "repeats", "offset", "a", "b"});
  auto series = std::make_shared<FourierSeries>();
  series->period = object.positive("period");
  series->repeats = object.has("repeats") ? object.integer("repeats", 1) : 1;
  series->offset = object.vector("offset", joints);
  series->a = object.matrix("a", joints);
  series->b = object.matrix("b", joints, series->a.cols());
  return series;
}

Json trajectoryJson(const Trajectory& trajectory) {
  if (const auto* series = dynamic_cast<const FourierSeries*>(&trajectory))
    return fourierJson(*series);
  throw Error(
      "this type of trajectory has no JSON form; write its samples instead (.csv or .yaml)");
}

Pointer trajectoryFrom(const JsonObject& object, int joints) {
  const std::string type = object.text("type");
  if (type == "fourier") return fourierFrom(object, joints);
  throw object.error("type", fmt::format("there is no trajectory type {}{}", inQuotes(type),
                                         didYouMean(type, {"fourier"})));
}

void checkJoints(const JsonObject& top, const std::vector<std::string>& joints) {
  if (joints.empty()) throw top.error("joints", "the list is empty; expected at least one joint");
  std::set<std::string> seen;
  for (const std::string& joint : joints) {
    if (joint.empty()) throw top.error("joints", "a joint has an empty name");
    if (!seen.insert(joint).second)
      throw top.error("joints", fmt::format("{} is there twice", inQuotes(joint)));
  }
}

}  // namespace

std::string motionJson(const JointMotion& motion) {
  if (motion.trajectory == nullptr) throw Error("motionJson: the motion has no trajectory");
  if (static_cast<int>(motion.joints.size()) != motion.trajectory->size())
    throw Error(fmt::format("{} joint names for a trajectory of {} joints", motion.joints.size(),
                            motion.trajectory->size()));
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"joints", motion.joints},
                     {"trajectory", trajectoryJson(*motion.trajectory)}};
  return json.dump(1) + "\n";
}

JointMotion motionFromJson(const std::string& text, const std::string& file_name) {
  const Json json = parseJson(text, file_name);
  const JsonObject top(json, "", file_name);
  top.allow({"format", "version", "joints", "trajectory", "info"});
  if (top.text("format") != kFormat)
    throw top.error("format",
                    fmt::format("found {}, expected '{}'", inQuotes(top.text("format")), kFormat));
  if (top.integer("version", 1) != kVersion)
    throw top.error("version", fmt::format("found {}, this program reads version {}",
                                           top.integer("version", 1), kVersion));
  JointMotion motion;
  motion.joints = top.texts("joints");
  checkJoints(top, motion.joints);
  motion.trajectory =
      trajectoryFrom(top.object("trajectory"), static_cast<int>(motion.joints.size()));
  return motion;
}

}  // namespace proprio
