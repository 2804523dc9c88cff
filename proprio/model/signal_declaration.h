#pragma once

/// How a robot's logs are laid out, as declared under `recording` in robot.yaml: which channels are
/// which joints' positions, torques and so on, in which unit, on which side of the gear. Applied by
/// recording/signal_map.h, which documents the meaning.

#include <string>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {

/// Where the time stamps are, if the reader cannot find them by their name.
struct TimeDeclaration {
  std::string file, topic;
  std::string channel;  ///< name, or number from 1
  std::string unit;     ///< s, ms, us, ns; empty: as the file says, or s
  int columns = 0;      ///< > 0: text with one value per line
};

struct SignalDeclaration {
  std::string quantity;  ///< position, velocity, ..., wrench
  std::string role = "measured";
  std::string side = "joint";
  std::string file;                   ///< glob on the file's name; empty: any
  std::string topic;                  ///< of a bag, group of an archive; empty: any
  std::vector<std::string> channels;  ///< names, numbers from 1, one array or one pattern
  std::vector<std::string> joints;    ///< empty: all that move, in the model's order
  std::string sensor;                 ///< of wrenches, IMU parts and contacts
  std::string unit;                   ///< empty: as the file says, or SI
  std::vector<double> scale;          ///< none, one for all, or one per channel
  std::vector<double> offset;         ///< the same; SI, on the joint side
  double delay = 0.0;                 ///< s by which the signal was recorded too late
  int columns = 0;                    ///< > 0: text with one value per line
  FileLocation location;
};

/// How streams with different time stamps come together.
struct JoinDeclaration {
  std::string method;  ///< nearest, linear; empty: only identical stamps
  double limit = 0.0;  ///< s, between a stamp and the samples it is filled from
};

struct RecordingDeclaration {
  double rate_hz = 0.0;  ///< of logs without time stamps; 0: not stated
  TimeDeclaration time;
  JoinDeclaration join;
  int first_row = 0, last_row = 0;  ///< samples used, from 1, both included; 0: all
  std::vector<SignalDeclaration> signals;
  FileLocation location;
};

}  // namespace proprio
