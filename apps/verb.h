#pragma once

/// What the verbs of the command share. A verb is one file: a function `addNAME` that declares its
/// options and returns what runs it; main.cc lists them. The work itself is done by the library.
///
/// Exit codes: 0 done, 1 the answer is "no", 2 bad input (an Error, printed as one sentence),
/// 130 interrupted (nothing half-written is left).

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "proprio/model/robot_reader.h"

namespace proprio::apps {

/// Runs a verb and returns the exit code.
using Run = std::function<int()>;

Run addBase(CLI::App& verb);
Run addCheck(CLI::App& verb);
Run addShow(CLI::App& verb);
Run addIdentify(CLI::App& verb);
Run addGains(CLI::App& verb);
Run addValidate(CLI::App& verb);
Run addExcite(CLI::App& verb);
Run addDynamics(CLI::App& verb);
Run addMotion(CLI::App& verb);
Run addSimulate(CLI::App& verb);
Run addLog(CLI::App& verb);
Run addCompare(CLI::App& verb);
Run addSchema(CLI::App& verb);

/// The argument and options that every verb about a robot has.
struct RobotOptions {
  std::string robot;
  std::string base;
  bool floating = false;
  bool fixed = false;
  std::string json;
};
/// ROBOT, --base LINK, --floating, --fixed, --json FILE; `options` must outlive the parsing.
void addRobotOptions(CLI::App& verb, RobotOptions& options);
/// The robot that they name.
Model readRobot(const RobotOptions& options, bool lump_fixed = true,
                std::vector<ReadNote>* notes = nullptr);
/// Writes `content` to `path`, unless that is empty, and `json` as --json asks: both or neither.
void writeWithJson(const RobotOptions& options, const std::string& path, const std::string& content,
                   const std::string& json);
/// Writes the text where --json says, if it does.
void writeJson(const RobotOptions& options, const std::string& text);

/// Standard output is a terminal that shows colours (and NO_COLOR is not set).
bool colourWanted();
/// Columns of the terminal, at most 120; 100 if there is none.
int terminalWidth();
/// To standard output. @throws Error if it cannot be written.
void print(const std::string& text);

}  // namespace proprio::apps
