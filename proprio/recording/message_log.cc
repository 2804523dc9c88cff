#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/message_log_internal.h"
#include "proprio/recording/signal_names.h"
#include "proprio/recording/signal_words_internal.h"

namespace proprio {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr int kDeepestJson = 16;          // levels of a JSON message
constexpr size_t kMostColumns = 100'000;  // of a JSON message with long arrays

// Messages have no role; topics do, where proprio wrote them or the last word is about commands:
// /arm/joint_commands, /desired_joint_states.
Role roleOf(const std::string& topic) {
  for (const Role role : {Role::kCommanded, Role::kTruth, Role::kExternal}) {
    const std::string part = std::string("/") + toString(role);
    if (topic.ends_with(part) || topic.find(part + "/") != std::string::npos) return role;
  }
  const Words words = wordsOf(topic.substr(topic.rfind('/') + 1));
  const bool commanded = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && isCommandedWord(word);
  });
  return commanded ? Role::kCommanded : Role::kMeasured;
}

// "sensor_msgs/JointState" of "sensor_msgs/msg/JointState"
std::string plainType(const std::string& type) {
  const size_t at = type.find("/msg/");
  return at == std::string::npos ? type : type.substr(0, at) + type.substr(at + 4);
}

double seconds(int64_t nanoseconds) {
  const int64_t whole = nanoseconds / 1000000000;
  return static_cast<double>(whole) + static_cast<double>(nanoseconds - whole * 1000000000) / 1e9;
}

}  // namespace

/// The rows of one topic, column by column.
class TopicLog {
 public:
  TopicLog(std::string topic, std::string type)
      : topic_(std::move(topic)), type_(std::move(type)), role_(roleOf(topic_)) {}

  const std::string& type() const { return type_; }
  size_t messages() const { return messages_; }

  /// As add(), but what cannot be decoded leaves nothing behind.
  void addIfGood(const std::string& file, bool json, int64_t log_time_ns, std::string_view bytes) {
    const size_t rows = stamps_.size(), offsets = offsets_.size();
    try {
      add(file, json, log_time_ns, bytes);
    } catch (const Error& error) {
      if (bad_++ == 0) first_bad_ = error.what();
      stamps_.resize(rows);
      log_times_.resize(rows);
      offsets_.resize(offsets);
      for (std::vector<double>& cells : columns_) cells.resize(std::min(cells.size(), rows));
    }
  }

  void add(const std::string& file, bool json, int64_t log_time_ns, std::string_view bytes) {
    where_ = fmt::format("{}: topic {}, message {}", file, inQuotes(topic_), ++messages_);
    log_time_ns_ = log_time_ns;
    if (json) return addJson(bytes);
    if (type_ == "sensor_msgs/JointState") {
      decodeCdr(bytes, where_, joints_);
      addJointState();
    } else if (type_ == "sensor_msgs/Imu") {
      decodeCdr(bytes, where_, imu_);
      addImu();
    } else if (type_ == "trajectory_msgs/JointTrajectory") {
      decodeCdr(bytes, where_, trajectory_);
      addTrajectory();
    } else {
      const bool stamped = type_ == "geometry_msgs/WrenchStamped";
      decodeCdr(bytes, where_, stamped, wrench_);
      startRow(stamped ? wrench_.header.stamp_ns : 0);
      setVector(Quantity::kForce, wrench_.header.frame_id, wrench_.force);
      setVector(Quantity::kMoment, wrench_.header.frame_id, wrench_.torque);
    }
  }

  Recording finish(const std::string& source, Notes* notes) {
    Recording recording;
    recording.source = source;
    recording.topic = topic_;
    if (bad_ > 0) {
      note(notes,
           fmt::format("{}: topic {}: {} of {} messages cannot be decoded and were left out, "
                       "the first: {}",
                       source, inQuotes(topic_), bad_, messages_, first_bad_));
    }
    const auto rows = static_cast<Eigen::Index>(stamps_.size());
    const bool stamped =
        std::any_of(stamps_.begin(), stamps_.end(), [](int64_t stamp) { return stamp != 0; });
    const bool trajectory = !offsets_.empty();
    const bool alone = trajectory && messages_ == 1 && !stamped;
    recording.time.resize(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const auto k = static_cast<size_t>(i);
      const int64_t base = alone ? 0 : stamped ? stamps_[k] : log_times_[k];
      recording.time[i] = seconds(base + (trajectory ? offsets_[k] : 0));
    }
    if (!stamped && !alone && rows > 0) {
      note(notes, fmt::format("{}: topic {}: the messages have no time stamps; the time is when "
                              "the log received them",
                              source, inQuotes(topic_)));
    }
    if (trajectory && messages_ > 1) {
      note(notes, fmt::format("{}: topic {}: the points of {} trajectories follow each other and "
                              "may overlap in time",
                              source, inQuotes(topic_), messages_));
    }
    recording.values.resize(rows, static_cast<Eigen::Index>(columns_.size()));
    for (size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].resize(stamps_.size(), kNoValue);
      recording.values.col(static_cast<Eigen::Index>(c)) =
          Eigen::Map<const Eigen::VectorXd>(columns_[c].data(), rows);
      channels_[c].origin = fmt::format("{}: {}", source, topic_);
      recording.channels.push_back(std::move(channels_[c]));
    }
    return recording;
  }

 private:
  void startRow(int64_t stamp_ns) {
    stamps_.push_back(stamp_ns);
    log_times_.push_back(log_time_ns_);
  }

  size_t columnFor(const Channel& channel) {
    const auto [found, fresh] = by_name_.emplace(channel.name, columns_.size());
    if (fresh) {
      channels_.push_back(channel);
      columns_.emplace_back();
    }
    return found->second;
  }

  void set(size_t column, double value) {
    std::vector<double>& cells = columns_[column];
    if (cells.size() >= stamps_.size())
      throw Error(fmt::format("{}: {} appears twice", where_, inQuotes(channels_[column].name)));
    cells.resize(stamps_.size() - 1, kNoValue);
    cells.push_back(value);
  }

  // a vector of a sensor, which is called as its frame or, without one, as its topic
  template <size_t N>
  void setVector(Quantity quantity, const std::string& sensor,
                 const std::array<double, N>& values) {
    for (size_t i = 0; i < N; ++i) {
      Channel channel;
      channel.quantity = quantity;
      channel.role = role_;
      channel.component = std::string(1, "xyzw"[i]);
      channel.of = sensor.empty() ? topic_.substr(topic_.rfind('/') + 1) : sensor;
      channel.name = signalName(quantity, role_, channel.of, channel.component);
      channel.unit = unitOf(quantity);
      set(columnFor(channel), values[i]);
    }
  }

  // values of joints: none, or one per name
  void setJoints(Quantity quantity, Role role, const std::vector<std::string>& names,
                 const std::vector<double>& values) {
    if (values.empty()) return;
    const std::string what = toString(quantity);
    if (!names.empty() && names.size() != values.size()) {
      throw Error(fmt::format("{}: {} values of {} for {} joints, expected as many or none", where_,
                              values.size(), what, names.size()));
    }
    // messages mostly repeat the order of the one before
    Order& order = orders_[static_cast<size_t>(quantity)];
    if (order.names != names || order.columns.size() != values.size()) {
      order.names = names;
      order.columns.clear();
      for (size_t i = 0; i < values.size(); ++i) {
        Channel channel;
        channel.quantity = quantity;
        channel.role = role;
        channel.side = Side::kJoint;
        channel.of = names.empty() ? "" : names[i];
        channel.name =
            names.empty() ? fmt::format("{}[{}]", what, i) : signalName(quantity, role, names[i]);
        order.columns.push_back(columnFor(channel));
      }
    }
    for (size_t i = 0; i < values.size(); ++i) set(order.columns[i], values[i]);
  }

  void addJointState() {
    startRow(joints_.header.stamp_ns);
    setJoints(Quantity::kPosition, role_, joints_.name, joints_.position);
    setJoints(Quantity::kVelocity, role_, joints_.name, joints_.velocity);
    setJoints(Quantity::kTorque, role_, joints_.name, joints_.effort);
  }

  void addImu() {
    startRow(imu_.header.stamp_ns);
    const std::string& sensor = imu_.header.frame_id;
    // a first covariance of -1 says that the sensor does not measure this
    if (imu_.linear_acceleration_covariance[0] != -1)
      setVector(Quantity::kLinearAcceleration, sensor, imu_.linear_acceleration);
    if (imu_.angular_velocity_covariance[0] != -1)
      setVector(Quantity::kAngularVelocity, sensor, imu_.angular_velocity);
    if (imu_.orientation_covariance[0] != -1)
      setVector(Quantity::kOrientation, sensor, imu_.orientation);
  }

  void addTrajectory() {
    const std::vector<std::string>& names = trajectory_.joint_names;
    for (const JointTrajectoryMessage::Point& point : trajectory_.points) {
      startRow(trajectory_.header.stamp_ns);
      offsets_.push_back(point.time_from_start_ns);
      setJoints(Quantity::kPosition, Role::kCommanded, names, point.positions);
      setJoints(Quantity::kVelocity, Role::kCommanded, names, point.velocities);
      setJoints(Quantity::kAcceleration, Role::kCommanded, names, point.accelerations);
      setJoints(Quantity::kTorque, Role::kCommanded, names, point.effort);
    }
  }

  // {"sec": 1, "nanosec": 2} or the older "secs", "nsec", "nsecs"
  static std::optional<int64_t> timeIn(const nlohmann::json& json) {
    if (!json.is_object()) return std::nullopt;
    const auto number = [&](std::initializer_list<const char*> keys) -> std::optional<int64_t> {
      for (const char* key : keys) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_number_integer()) return found->get<int64_t>();
      }
      return std::nullopt;
    };
    const auto whole = number({"sec", "secs"});
    const auto fraction = number({"nanosec", "nsec", "nsecs"});
    constexpr int64_t kMost = int64_t{1} << 32;
    if (!whole || !fraction || *whole < -kMost || *whole > kMost || *fraction < 0 ||
        *fraction > kMost) {
      return std::nullopt;
    }
    return *whole * 1000000000 + *fraction;
  }

  static std::vector<double> numbersOf(const nlohmann::json& json, const char* key) {
    std::vector<double> numbers;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) return numbers;
    for (const nlohmann::json& value : *found)
      numbers.push_back(value.is_number() ? value.get<double>() : kNoValue);
    return numbers;
  }

  void addJson(std::string_view bytes) {
    nlohmann::json json = nlohmann::json::parse(bytes, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      throw Error(fmt::format("{}: expected a JSON object, found {}", where_,
                              inQuotes(bytes.substr(0, 60))));
    int64_t stamp = 0;
    if (const auto header = json.find("header"); header != json.end() && header->is_object()) {
      if (header->contains("stamp")) stamp = timeIn((*header)["stamp"]).value_or(0);
      if (stamp != 0) json.erase(header);
    }
    if (stamp == 0 && json.contains("timestamp")) {
      stamp = timeIn(json["timestamp"]).value_or(0);
      if (stamp != 0) json.erase("timestamp");
    }
    startRow(stamp);
    const auto names = json.find("name");
    const bool named = names != json.end() && names->is_array() && !names->empty() &&
                       std::all_of(names->begin(), names->end(),
                                   [](const nlohmann::json& name) { return name.is_string(); });
    if (named && (json.contains("position") || json.contains("velocity"))) {
      const auto joints = names->get<std::vector<std::string>>();
      setJoints(Quantity::kPosition, role_, joints, numbersOf(json, "position"));
      setJoints(Quantity::kVelocity, role_, joints, numbersOf(json, "velocity"));
      setJoints(Quantity::kTorque, role_, joints, numbersOf(json, "effort"));
      return;
    }
    setJson(json, "", 0);
  }

  void setJson(const nlohmann::json& json, const std::string& name, int depth) {
    if (depth > kDeepestJson || columns_.size() > kMostColumns)
      throw Error(
          fmt::format("{}: the JSON is nested deeper than {} levels or has more than {} "
                      "numbers",
                      where_, kDeepestJson, kMostColumns));
    if (json.is_object()) {
      for (const auto& [key, value] : json.items())
        setJson(value, name.empty() ? key : name + "." + key, depth + 1);
    } else if (json.is_array()) {
      for (size_t i = 0; i < json.size(); ++i)
        setJson(json[i], fmt::format("{}[{}]", name, i), depth + 1);
    } else if (!name.empty() && !json.is_string()) {
      const double value = json.is_number()    ? json.get<double>()
                           : json.is_boolean() ? (json.get<bool>() ? 1 : 0)
                                               : kNoValue;
      set(columnFor(channelNamed(name)), value);
    }
  }

  struct Order {
    std::vector<std::string> names;
    std::vector<size_t> columns;
  };

  std::string topic_, type_, where_, first_bad_;
  Role role_;
  size_t messages_ = 0, bad_ = 0;
  int64_t log_time_ns_ = 0;
  std::vector<int64_t> stamps_, log_times_;
  std::vector<int64_t> offsets_;  ///< from the start of a trajectory
  std::vector<Channel> channels_;
  std::vector<std::vector<double>> columns_;
  std::unordered_map<std::string, size_t> by_name_;
  std::map<size_t, Order> orders_;  ///< by quantity
  JointStateMessage joints_;
  ImuMessage imu_;
  WrenchMessage wrench_;
  JointTrajectoryMessage trajectory_;
};

MessageLog::MessageLog(std::string source, Notes* notes, bool skip_bad)
    : source_(std::move(source)), notes_(notes), skip_bad_(skip_bad) {}
MessageLog::~MessageLog() = default;

bool MessageLog::knows(const std::string& topic, const std::string& type,
                       const std::string& encoding) {
  const std::string plain = plainType(type);
  const bool cdr_type = plain == "sensor_msgs/JointState" || plain == "sensor_msgs/Imu" ||
                        plain == "geometry_msgs/WrenchStamped" || plain == "geometry_msgs/Wrench" ||
                        plain == "trajectory_msgs/JointTrajectory";
  if (encoding == "json" || (encoding == "cdr" && cdr_type)) return true;
  const std::string told =
      encoding == "cdr" ? inQuotes(type)
                        : fmt::format("{} in encoding {}", inQuotes(type), inQuotes(encoding));
  if (unknown_.emplace(topic, told).second) {
    note(notes_, fmt::format("{}: topic {} was not read: messages {} in encoding {}", source_,
                             inQuotes(topic), inQuotes(type), inQuotes(encoding)));
  }
  return false;
}

void MessageLog::add(const std::string& file, const std::string& topic, const std::string& type,
                     const std::string& encoding, int64_t log_time_ns, std::string_view bytes) {
  std::unique_ptr<TopicLog>& log = topics_[topic];
  if (!log) log = std::make_unique<TopicLog>(topic, plainType(type));
  if (log->type() != plainType(type)) {
    throw Error(fmt::format("{}: topic {} has messages of two types, {} and {}", file,
                            inQuotes(topic), inQuotes(log->type()), inQuotes(plainType(type))));
  }
  if (skip_bad_) {
    log->addIfGood(file, encoding == "json", log_time_ns, bytes);
  } else {
    log->add(file, encoding == "json", log_time_ns, bytes);
  }
}

std::vector<Recording> MessageLog::finish() {
  std::vector<Recording> recordings;
  for (const auto& [topic, log] : topics_) {
    Recording recording = log->finish(source_, notes_);
    if (recording.channels.empty()) {
      note(notes_, fmt::format("{}: topic {} holds no numbers", source_, inQuotes(topic)));
    } else {
      recordings.push_back(std::move(recording));
    }
  }
  if (recordings.empty()) {
    std::vector<std::string> types;
    for (const auto& [topic, type] : unknown_) types.push_back(type);
    throw Error(fmt::format(
        "{}: no topic in it can be read ({}); expected messages of ROS 2 in encoding 'cdr' "
        "(sensor_msgs/JointState, Imu, geometry_msgs/WrenchStamped, Wrench or "
        "trajectory_msgs/JointTrajectory) or any in encoding 'json'",
        source_,
        types.empty() ? "there are no messages" : fmt::format("{}", fmt::join(types, ", "))));
  }
  return recordings;
}

}  // namespace proprio
