#include "apps/verb.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "apps/output_files.h"
#include "proprio/core/atomic_file.h"

namespace proprio::apps {

void addRobotOptions(CLI::App& verb, RobotOptions& options) {
  verb.add_option("ROBOT", options.robot, "a URDF file, or a robot.yaml that names one")
      ->required();
  verb.add_option("--base", options.base, "use this link as the base")->type_name("LINK");
  auto* floating = verb.add_flag("--floating", options.floating, "base free in space");
  verb.add_flag("--fixed", options.fixed, "base fixed")->excludes(floating);
  verb.add_option("--json", options.json, "also write the result to this file, for programs")
      ->type_name("FILE");
}

Model readRobot(const RobotOptions& options, bool lump_fixed, std::vector<ReadNote>* notes) {
  ReadOptions read;
  read.lump_fixed = lump_fixed;
  read.notes = notes;
  if (options.floating || options.fixed) read.floating = options.floating;
  if (!options.base.empty()) read.base = options.base;
  Model model = proprio::readRobot(options.robot, read);
  for (const std::string& file : {model.source, model.urdf}) requireNotReplaced(file);
  return model;
}

void writeJson(const RobotOptions& options, const std::string& text) {
  if (!options.json.empty()) writeFileAtomically(options.json, text);
}

void writeWithJson(const RobotOptions& options, const std::string& path, const std::string& content,
                   const std::string& json) {
  std::vector<FileContent> files;
  if (!path.empty()) files.push_back({path, content});
  if (!options.json.empty()) files.push_back({options.json, json});
  writeFilesTogether(files);
}

bool colourWanted() {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool capable = terminal != nullptr && std::string_view(terminal) != "dumb";
  return isatty(STDOUT_FILENO) != 0 && capable && (off == nullptr || *off == '\0');
}

int terminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<int>(size.ws_col, 40, 120);
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw Error("the result cannot be written to standard output");
}

}  // namespace proprio::apps
