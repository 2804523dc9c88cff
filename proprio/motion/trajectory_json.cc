#include "proprio/motion/trajectory_json.h"

#include <algorithm>
#include <set>

#include "proprio/core/text.h"
#include "proprio/motion/b_spline.h"
#include "proprio/motion/fourier_series.h"
#include "proprio/motion/json_fields_internal.h"
#include "proprio/motion/piecewise_polynomial.h"
#include "proprio/motion/sequence.h"

namespace proprio {
namespace {

using Pointer = std::shared_ptr<const Trajectory>;

constexpr const char* kFormat = "proprio-trajectory";
constexpr int kVersion = 1;
// sequences of sequences of ...: deeper than anybody writes, shallower than the stack
constexpr int kDeepest = 32;
const std::vector<std::string> kTypes = {"fourier", "polynomial", "b-spline", "sequence", "scaled"};

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

Json polynomialJson(const PiecewisePolynomial& polynomial) {
  checkPolynomial(polynomial);
  return {{"type", "polynomial"},
          {"degree", polynomial.degree},
          {"knots", polynomial.knots},
          {"coefficients", toJson(polynomial.coefficients)}};
}

Json splineJson(const BSpline& spline) {
  checkSpline(spline);
  return {{"type", "b-spline"},
          {"degree", spline.degree},
          {"knots", spline.knots},
          {"control_points", toJson(spline.control_points)}};
}

Json trajectoryJson(const Trajectory& trajectory) {
  if (const auto* series = dynamic_cast<const FourierSeries*>(&trajectory))
    return fourierJson(*series);
  if (const auto* polynomial = dynamic_cast<const PiecewisePolynomial*>(&trajectory))
    return polynomialJson(*polynomial);
  if (const auto* spline = dynamic_cast<const BSpline*>(&trajectory)) return splineJson(*spline);
  if (const auto* sequence = dynamic_cast<const Sequence*>(&trajectory)) {
    Json parts = Json::array();
    for (const Pointer& part : sequence->parts) parts.push_back(trajectoryJson(*part));
    return {{"type", "sequence"}, {"parts", parts}};
  }
  if (const auto* scaled = dynamic_cast<const TimeScaled*>(&trajectory))
    return {
        {"type", "scaled"}, {"speed", scaled->speed}, {"motion", trajectoryJson(*scaled->motion)}};
  throw Error(
      "this type of trajectory has no JSON form; write its samples instead (.csv or .yaml)");
}

std::vector<double> numbers(const JsonObject& object, const std::string& key) {
  const Eigen::VectorXd vector = object.vector(key);
  return {vector.begin(), vector.end()};
}

Pointer polynomialFrom(const JsonObject& object, int joints) {
  object.allow({"type", "degree", "knots", "coefficients"});
  auto polynomial = std::make_shared<PiecewisePolynomial>();
  polynomial->degree = object.integer("degree", 0);
  polynomial->knots = numbers(object, "knots");
  polynomial->coefficients = object.matrix("coefficients", joints);
  checkPolynomial(*polynomial);
  return polynomial;
}

Pointer splineFrom(const JsonObject& object, int joints) {
  object.allow({"type", "degree", "knots", "control_points"});
  auto spline = std::make_shared<BSpline>();
  spline->degree = object.integer("degree", 1);
  spline->knots = numbers(object, "knots");
  spline->control_points = object.matrix("control_points", joints);
  checkSpline(*spline);
  return spline;
}

Pointer trajectoryFrom(const JsonObject& object, int joints, int depth = 0) {
  if (depth > kDeepest) throw object.error("", fmt::format("nested more than {} times", kDeepest));
  const std::string type = object.text("type");
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
    throw object.error("type", fmt::format("there is no trajectory type {}{}", inQuotes(type),
                                           didYouMean(type, kTypes)));
  std::vector<Pointer> parts;
  if (type == "sequence") {
    object.allow({"type", "parts"});
    for (const JsonObject& part : object.objects("parts"))
      parts.push_back(trajectoryFrom(part, joints, depth + 1));
  } else if (type == "scaled") {
    object.allow({"type", "speed", "motion"});
    parts.push_back(trajectoryFrom(object.object("motion"), joints, depth + 1));
  }
  try {
    if (type == "fourier") return fourierFrom(object, joints);
    if (type == "polynomial") return polynomialFrom(object, joints);
    if (type == "b-spline") return splineFrom(object, joints);
    if (type == "scaled")
      return std::make_shared<TimeScaled>(atSpeed(parts.front(), object.positive("speed")));
    return std::make_shared<Sequence>(inSequence(std::move(parts)));
  } catch (const FieldError&) {
    throw;
  } catch (const Error& error) {  // from the checks of the type itself
    throw object.error("", error.what());
  }
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
  return readableJson(json) + "\n";
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
