#pragma once

/// Messages of a log (ROS 2 bag, MCAP) gathered into one Recording per topic.
///
/// Channels are called as signal_names.h says; a sensor is called as its frame or, where the frame
/// is empty, as the last part of its topic. Joints belong to a value by name, whatever the order in
/// a message; where a message lacks a joint the cell is NaN. Time is the header's stamp; where all
/// stamps of a topic are zero, or the messages have none, the time at which the log received them,
/// with a note. Points of a JointTrajectory are rows at stamp plus time from start (of a single
/// message without stamp: just the time from start). Topics .../commanded and .../truth, as mcap.h
/// writes them, hold commanded and true values; trajectories are commanded, and so are topics whose
/// own name says so (joint_commands, desired_states).

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proprio/recording/cdr.h"
#include "proprio/recording/named_arrays_internal.h"
#include "proprio/recording/recording.h"

namespace proprio {

class TopicLog;

class MessageLog {
 public:
  /// @param skip_bad messages that cannot be decoded are left out and counted in a note
  MessageLog(std::string source, Notes* notes, bool skip_bad = false);
  ~MessageLog();

  /// True if messages of that type can be decoded; else it is noted, once per topic.
  /// @param type "sensor_msgs/msg/JointState", with or without "msg/"
  /// @param encoding "cdr" or "json"
  bool knows(const std::string& topic, const std::string& type, const std::string& encoding);

  /// Adds a message of a known topic. @throws Error with file, topic and number of the message.
  void add(const std::string& file, const std::string& topic, const std::string& type,
           const std::string& encoding, int64_t log_time_ns, std::string_view bytes);

  /// One per topic that had messages, sorted by topic. @throws Error if there are none.
  std::vector<Recording> finish();

 private:
  std::string source_;
  Notes* notes_;
  bool skip_bad_;
  std::map<std::string, std::unique_ptr<TopicLog>> topics_;
  std::map<std::string, std::string> unknown_;  ///< topic -> type
};

}  // namespace proprio
