#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/cdr.h"
#include "proprio/recording/growing_recording_internal.h"
#include "proprio/recording/mcap.h"
#include "proprio/recording/mcap_container_internal.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// Definitions of the messages, as tools that know no ROS need them.
constexpr char kHeaderDefinition[] = R"(
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
)";
constexpr char kVector3Definition[] =
    R"(================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
)";
constexpr char kJointStateDefinition[] = R"(std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
)";
constexpr char kImuDefinition[] = R"(std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
)";
constexpr char kQuaternionDefinition[] =
    R"(================================================================================
MSG: geometry_msgs/Quaternion
float64 x 0
float64 y 0
float64 z 0
float64 w 1
)";
constexpr char kWrenchStampedDefinition[] = R"(std_msgs/Header header
geometry_msgs/Wrench wrench
)";
constexpr char kWrenchDefinition[] =
    R"(================================================================================
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
)";

McapSchema jointStateSchema() {
  return {"sensor_msgs/msg/JointState", "ros2msg",
          std::string(kJointStateDefinition) + kHeaderDefinition};
}
McapSchema imuSchema() {
  return {
      "sensor_msgs/msg/Imu", "ros2msg",
      std::string(kImuDefinition) + kHeaderDefinition + kQuaternionDefinition + kVector3Definition};
}
McapSchema wrenchSchema() {
  return {"geometry_msgs/msg/WrenchStamped", "ros2msg",
          std::string(kWrenchStampedDefinition) + kHeaderDefinition + kWrenchDefinition +
              kVector3Definition};
}
McapSchema jsonSchema(const Recording& recording, const std::vector<int>& columns) {
  nlohmann::json properties;
  for (const int c : columns)
    properties[recording.channels[static_cast<size_t>(c)].name] = {{"type", "number"}};
  properties["timestamp"] = {
      {"type", "object"},
      {"properties", {{"sec", {{"type", "integer"}}}, {"nsec", {{"type", "integer"}}}}}};
  const nlohmann::json schema = {{"type", "object"}, {"properties", properties}};
  return {"proprio.Channels", "jsonschema",
          schema.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

// What goes to one topic: columns of a recording and how a row of them becomes a message.
struct Topic {
  enum class Kind { kJoints, kImu, kWrench, kJson };
  Kind kind = Kind::kJson;
  std::string name;
  std::string sensor;
  std::vector<int> columns;
  uint16_t channel = 0;
};

// Can a ROS message hold this channel as it is?
bool fitsRos(const Channel& channel) {
  const bool si = channel.unit.empty() || channel.unit == unitOf(channel.quantity, false) ||
                  channel.unit == unitOf(channel.quantity, true);
  return si && channel.side != Side::kMotor && !channel.of.empty();
}

Topic::Kind kindOf(const Channel& channel) {
  if (!fitsRos(channel)) return Topic::Kind::kJson;
  switch (channel.quantity) {
    case Quantity::kPosition:
    case Quantity::kVelocity:
    case Quantity::kTorque:
      return Topic::Kind::kJoints;
    case Quantity::kLinearAcceleration:
    case Quantity::kAngularVelocity:
    case Quantity::kOrientation:
      return Topic::Kind::kImu;
    case Quantity::kForce:
    case Quantity::kMoment:
      return Topic::Kind::kWrench;
    default:
      return Topic::Kind::kJson;
  }
}

std::string topicName(const std::string& base, Topic::Kind kind, const Channel& channel) {
  const std::string role =
      channel.role == Role::kMeasured ? "" : std::string("/") + toString(channel.role);
  switch (kind) {
    case Topic::Kind::kJoints:
      return base + role;
    case Topic::Kind::kImu:
      return base + role + "/" + channel.of + "/imu";
    case Topic::Kind::kWrench:
      return base + role + "/" + channel.of + "/wrench";
    case Topic::Kind::kJson:
      return base + "/other";
  }
  return base;
}

std::vector<Topic> topicsOf(const Recording& recording) {
  const std::string topic_name = recording.topic.empty() ? "joint_states" : recording.topic;
  const std::string base = fmt::format("{}{}", topic_name.front() == '/' ? "" : "/", topic_name);
  std::vector<Topic> topics;
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    const Channel& channel = recording.channels[c];
    const Topic::Kind kind = kindOf(channel);
    const std::string name = topicName(base, kind, channel);
    auto found = std::find_if(topics.begin(), topics.end(),
                              [&](const Topic& topic) { return topic.name == name; });
    if (found == topics.end()) {
      topics.push_back({kind, name, channel.of, {}, 0});
      found = topics.end() - 1;
    }
    found->columns.push_back(static_cast<int>(c));
  }
  // a recording of one sensor keeps its topic, unless the topic has to say the role
  const Role role = recording.channels.empty() ? Role::kMeasured : recording.channels[0].role;
  if (topics.size() == 1 && (role == Role::kMeasured || topics[0].kind == Topic::Kind::kJson))
    topics[0].name = base;
  return topics;
}

// A JointState of all rows of a topic; the caller fills the row.
class JointRows {
 public:
  JointRows(const Recording& recording, const Topic& topic) {
    for (const int c : topic.columns) {
      const Channel& channel = recording.channels[static_cast<size_t>(c)];
      auto found = std::find(message_.name.begin(), message_.name.end(), channel.of);
      if (found == message_.name.end()) found = message_.name.insert(found, channel.of);
      const auto joint = static_cast<size_t>(found - message_.name.begin());
      cells_.push_back({channel.quantity, joint, c});
      vectorOf(channel.quantity).push_back(kAbsent);
    }
    for (std::vector<double>* values : {&message_.position, &message_.velocity, &message_.effort}) {
      if (!values->empty()) values->assign(message_.name.size(), kAbsent);
    }
  }
  std::string row(const Recording& recording, Eigen::Index row, int64_t stamp_ns) {
    message_.header.stamp_ns = stamp_ns;
    for (const Cell& cell : cells_)
      vectorOf(cell.quantity)[cell.joint] = recording.values(row, cell.column);
    return encodeCdr(message_);
  }

 private:
  struct Cell {
    Quantity quantity;
    size_t joint;
    int column;
  };
  std::vector<double>& vectorOf(Quantity quantity) {
    return quantity == Quantity::kPosition   ? message_.position
           : quantity == Quantity::kVelocity ? message_.velocity
                                             : message_.effort;
  }
  JointStateMessage message_;
  std::vector<Cell> cells_;
};

size_t componentIndex(const Channel& channel) {
  const size_t index = std::string("xyzw").find(channel.component);
  return channel.component.size() == 1 && index < 4 ? index : 4;
}

std::string imuRow(const Recording& recording, const Topic& topic, Eigen::Index row,
                   int64_t stamp_ns) {
  ImuMessage message;
  message.header = {stamp_ns, topic.sensor};
  // what is not there is marked as not measured
  message.orientation_covariance[0] = -1;
  message.angular_velocity_covariance[0] = -1;
  message.linear_acceleration_covariance[0] = -1;
  message.orientation[3] = 1;
  for (const int c : topic.columns) {
    const Channel& channel = recording.channels[static_cast<size_t>(c)];
    const size_t i = componentIndex(channel);
    const double value = recording.values(row, c);
    if (channel.quantity == Quantity::kOrientation) {
      message.orientation.at(i) = value;
      message.orientation_covariance[0] = 0;
    } else if (channel.quantity == Quantity::kAngularVelocity) {
      message.angular_velocity.at(i) = value;
      message.angular_velocity_covariance[0] = 0;
    } else {
      message.linear_acceleration.at(i) = value;
      message.linear_acceleration_covariance[0] = 0;
    }
  }
  return encodeCdr(message);
}

std::string wrenchRow(const Recording& recording, const Topic& topic, Eigen::Index row,
                      int64_t stamp_ns) {
  WrenchMessage message;
  message.header = {stamp_ns, topic.sensor};
  message.force.fill(kAbsent);
  message.torque.fill(kAbsent);
  for (const int c : topic.columns) {
    const Channel& channel = recording.channels[static_cast<size_t>(c)];
    auto& values = channel.quantity == Quantity::kForce ? message.force : message.torque;
    values.at(componentIndex(channel)) = recording.values(row, c);
  }
  return encodeCdr(message);
}

std::string jsonRow(const Recording& recording, const Topic& topic, Eigen::Index row,
                    int64_t stamp_ns) {
  nlohmann::json json;
  json["timestamp"] = {{"sec", stamp_ns / 1000000000}, {"nsec", stamp_ns % 1000000000}};
  for (const int c : topic.columns) {
    const double value = recording.values(row, c);  // NaN and infinity become null
    json[recording.channels[static_cast<size_t>(c)].name] = value;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// In ns, by the shortest decimal number that reads back as this one: a stamp since 1970 is known to
// a few hundred ns only, and times 1e9 it would come out as other digits than were recorded.
int64_t nanoseconds(double seconds) {
  constexpr size_t kDigits = 9;
  char text[400];
  const char* end = std::to_chars(text, text + sizeof text, seconds, std::chars_format::fixed).ptr;
  const char* point = std::find(static_cast<const char*>(text), end, '.');
  std::string rest(point == end ? end : point + 1, end);
  const bool up = rest.size() > kDigits && rest[kDigits] >= '5';
  rest.resize(kDigits, '0');
  int64_t whole = 0, part = 0;
  std::from_chars(text, point, whole);
  std::from_chars(rest.data(), rest.data() + rest.size(), part);
  return whole * 1'000'000'000 + part + (up ? 1 : 0);
}

// rows before these were written already
void requireWritable(const Recording& recording, Eigen::Index before) {
  requireValid(recording);
  if (recording.time.size() == 0)
    throw Error(recording.source +
                ": has no time stamps, which MCAP needs; give the recording a rate first");
  for (Eigen::Index i = 0; i < recording.time.size(); ++i) {
    // stamps are unsigned nanoseconds, seconds of a ROS message 31 bits
    if (!(recording.time[i] >= 0 && recording.time[i] < 2147483647.0))
      throw Error(
          fmt::format("{}: time stamp {} of row {} cannot be written to MCAP, expected 0 to "
                      "2147483647 s",
                      recording.source, formatNumber(recording.time[i]), before + i + 1));
  }
  for (const Channel& channel : recording.channels) {
    const auto components = componentsOf(channel.quantity);
    const Topic::Kind kind = kindOf(channel);
    if ((kind == Topic::Kind::kImu || kind == Topic::Kind::kWrench) &&
        std::find(components.begin(), components.end(), channel.component) == components.end()) {
      throw Error(fmt::format("{}: channel {} has component {}, expected one of {}",
                              recording.source, inQuotes(channel.name), inQuotes(channel.component),
                              fmt::join(components, " ")));
    }
  }
}

/// The topics of a recording on their way into a file.
class McapTopics {
 public:
  McapTopics(const Recording& recording, std::set<std::string>& used, McapWriter& writer)
      : topics_(topicsOf(recording)), writer_(writer) {
    for (Topic& topic : topics_) {
      if (!used.insert(topic.name).second)
        throw Error(fmt::format("{}: two recordings would have the topic {}; name them apart",
                                recording.source, inQuotes(topic.name)));
      topic.channel = writer.addChannel(
          topic.name, topic.kind == Topic::Kind::kJoints   ? jointStateSchema()
                      : topic.kind == Topic::Kind::kImu    ? imuSchema()
                      : topic.kind == Topic::Kind::kWrench ? wrenchSchema()
                                                           : jsonSchema(recording, topic.columns));
      joints_.emplace_back(recording, topic.kind == Topic::Kind::kJoints ? topic : Topic{});
    }
  }

  /// All rows of a recording with the same channels.
  void add(const Recording& recording) {
    for (Eigen::Index i = 0; i < recording.samples(); ++i) {
      const int64_t stamp = nanoseconds(recording.time[i]);
      for (size_t t = 0; t < topics_.size(); ++t)
        writer_.addMessage(topics_[t].channel, static_cast<uint64_t>(stamp),
                           message(recording, t, i, stamp));
    }
  }

 private:
  std::string message(const Recording& recording, size_t t, Eigen::Index row, int64_t stamp) {
    const Topic& topic = topics_[t];
    return topic.kind == Topic::Kind::kJoints   ? joints_[t].row(recording, row, stamp)
           : topic.kind == Topic::Kind::kImu    ? imuRow(recording, topic, row, stamp)
           : topic.kind == Topic::Kind::kWrench ? wrenchRow(recording, topic, row, stamp)
                                                : jsonRow(recording, topic, row, stamp);
  }

  std::vector<Topic> topics_;
  std::vector<JointRows> joints_;
  McapWriter& writer_;
};

class GrowingMcap : public GrowingRecording {
 public:
  explicit GrowingMcap(const std::string& path) : file_(path), writer_(McapCompression::kZstd) {}

  void append(const Recording& piece) override {
    requireWritable(piece, rows_);
    rows_ += piece.samples();
    if (!topics_) topics_.emplace(piece, used_, writer_);
    topics_->add(piece);
    file_.append(writer_.take());
  }
  void finish() override {
    file_.append(writer_.finish());
    file_.finish();
  }

 private:
  GrowingFile file_;
  McapWriter writer_;
  std::set<std::string> used_;
  std::optional<McapTopics> topics_;
  Eigen::Index rows_ = 0;
};

}  // namespace

std::string mcapBytes(const std::vector<Recording>& recordings, McapCompression compression) {
  McapWriter writer(compression);
  std::set<std::string> used;
  for (const Recording& recording : recordings) {
    requireWritable(recording, 0);
    McapTopics(recording, used, writer).add(recording);
  }
  return writer.finish();
}

std::unique_ptr<GrowingRecording> growingMcap(const std::string& path, Eigen::Index) {
  return std::make_unique<GrowingMcap>(path);
}

void writeMcap(const std::string& path, const std::vector<Recording>& recordings,
               McapCompression compression) {
  writeFileAtomically(path, mcapBytes(recordings, compression));
}

}  // namespace proprio
