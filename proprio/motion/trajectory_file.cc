#include "proprio/motion/trajectory_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/motion/trajectory_json.h"
#include "proprio/recording/csv.h"
#include "proprio/recording/units.h"

namespace proprio {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

enum class Format { kJson, kCsv, kRosYaml };

Format formatOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  if (ending == ".json") return Format::kJson;
  if (ending == ".csv") return Format::kCsv;
  if (ending == ".yaml" || ending == ".yml") return Format::kRosYaml;
  throw Error(
      fmt::format("{}: the ending {} is of no motion file; expected .json (exact), .csv "
                  "(samples) or .yaml (ROS JointTrajectory)",
                  path, inQuotes(ending)));
}

// the samples, and the end of the motion where that is not one of them; instead of the last sample
// where that is nearer to the end than half a step, because drives stumble over tiny steps
MotionSamples samplesToTheEnd(const JointMotion& motion, double rate) {
  MotionSamples samples = sample(motion, rate);
  const double end = motion.trajectory->duration();
  Index last = samples.samples() - 1;
  const double rest = (end - samples.time[last]) * rate;  // in steps
  if (rest <= 1e-6) return samples;
  if (last == 0 || rest >= 0.5 - 1e-6) ++last;
  Eigen::VectorXd q(motion.trajectory->size()), v = q, a = q;
  motion.trajectory->at(end, q, v, a);
  samples.time.conservativeResize(last + 1);
  samples.time[last] = end;
  for (auto [matrix, row] : {std::pair(&samples.q, &q), {&samples.v, &v}, {&samples.a, &a}}) {
    matrix->conservativeResize(last + 1, Eigen::NoChange);
    matrix->row(last) = row->transpose();
  }
  return samples;
}

// The unit of a column: of an angle or a length, per s and s^2 for velocities and accelerations.
Unit motionUnit(const Recording& table, const Channel& channel, const std::string& prefix) {
  if (channel.unit.empty()) return {};
  const std::string rate = prefix == "q_" ? "" : prefix == "v_" ? "/s" : "/s^2";
  Unit unit = findUnit(channel.unit).value_or(Unit());
  if (unit.si != "rad" + rate && unit.si != "m" + rate) {
    throw Error(fmt::format(
        "{}: the column {} is in {}, expected rad{} or m{}, or a unit that is "
        "one of them, such as deg{}",
        table.source, inQuotes(channel.name), inQuotes(channel.unit), rate, rate, rate));
  }
  return unit;
}

// columns prefix_J of all joints in SI units, or none of them
void takeColumns(const Recording& table, const std::string& prefix,
                 const std::vector<std::string>& joints, MatrixXd& values) {
  std::vector<int> columns;
  std::string missing;
  for (const std::string& joint : joints) {
    const int column = table.column(prefix + joint);
    if (column < 0)
      missing = prefix + joint;
    else
      columns.push_back(column);
  }
  if (columns.empty()) return;
  if (!missing.empty())
    throw Error(fmt::format("{}: the column {} is missing, while others of that kind are there",
                            table.source, inQuotes(missing)));
  values.resize(table.samples(), static_cast<Index>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    const Channel& channel = table.channels[static_cast<size_t>(columns[i])];
    const Unit unit = motionUnit(table, channel, prefix);
    values.col(static_cast<Index>(i)) =
        unit.factor * table.values.col(columns[i]).array() + unit.offset;
  }
}

void appendColumns(CsvTable& table, const std::string& prefix, const MotionSamples& samples,
                   const MatrixXd& values) {
  if (values.rows() == 0) return;
  for (const std::string& joint : samples.joints) table.names.push_back(prefix + joint);
  const Index before = table.values.cols();
  table.values.conservativeResize(Eigen::NoChange, before + values.cols());
  table.values.rightCols(values.cols()) = values;
}

}  // namespace

JointMotion readMotion(const std::string& path, std::optional<MotionInterpolation> interpolation) {
  const Format format = formatOf(path);
  const std::string text = readFile(path);
  if (format == Format::kJson) return motionFromJson(text, path);
  const MotionSamples samples =
      format == Format::kCsv ? motionFromCsv(text, path) : motionFromRosYaml(text, path);
  try {
    return {samples.joints, std::make_shared<PiecewisePolynomial>(interpolated(
                                samples, interpolation.value_or(naturalInterpolation(samples))))};
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
}

std::string motionText(const std::string& path, const JointMotion& motion, double rate) {
  switch (formatOf(path)) {
    case Format::kJson:
      return motionJson(motion);
    case Format::kCsv:
      return motionCsv(samplesToTheEnd(motion, rate));
    case Format::kRosYaml:
      break;
  }
  return motionRosYaml(samplesToTheEnd(motion, rate));
}

void writeMotion(const std::string& path, const JointMotion& motion, double rate) {
  writeFileAtomically(path, motionText(path, motion, rate));
}

MotionSamples motionFromCsv(const std::string& text, const std::string& file_name) {
  CsvOptions options;
  options.finite = true;
  const Recording table = readCsvRecordingText(text, file_name, options);
  if (table.samples() == 0)
    throw Error(file_name + ": there is no sample; expected a row of numbers");
  if (table.time.size() == 0) throw Error(file_name + ": there is no column 'time'");
  MotionSamples samples;
  for (const Channel& channel : table.channels) {
    if (channel.name.rfind("q_", 0) != 0 || channel.role != Role::kMeasured) continue;
    if (channel.name.back() == ']')  // the reader takes off the units that it knows
      throw Error(fmt::format("{}: the column {} has an unknown unit; expected rad, deg, m, mm ...",
                              file_name, inQuotes(channel.name)));
    samples.joints.push_back(channel.name.substr(2));
  }
  if (samples.joints.empty())
    throw Error(file_name + ": there is no position column; expected q_J for every joint J");
  samples.time = table.time;
  takeColumns(table, "q_", samples.joints, samples.q);
  takeColumns(table, "v_", samples.joints, samples.v);
  takeColumns(table, "a_", samples.joints, samples.a);
  return samples;
}

std::string motionCsv(const MotionSamples& samples) {
  CsvTable table;
  table.names = {"time"};
  table.values = samples.time;
  appendColumns(table, "q_", samples, samples.q);
  appendColumns(table, "v_", samples, samples.v);
  appendColumns(table, "a_", samples, samples.a);
  return csvText(table);
}

}  // namespace proprio
