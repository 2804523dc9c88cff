#include "apps/output_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"

namespace proprio::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOutputOptions[] = {"--out", "--json", "--plot", "--picture", "--repair"};
/// What the verbs that write into a folder may put there.
constexpr const char* kResultFiles[] = {"robot.urdf", "robot.yaml", "report.html", "estimate.json"};

struct OutputFile {
  std::string option, path;
  bool in_folder = false;
};

std::vector<OutputFile>& outputFiles() {
  static std::vector<OutputFile> of_the_verb;
  return of_the_verb;
}

bool isOutput(const CLI::Option& option) {
  return std::find(std::begin(kOutputOptions), std::end(kOutputOptions), option.get_name()) !=
         std::end(kOutputOptions);
}

bool isSameFile(const std::string& a, const std::string& b) {
  std::error_code failed;
  const fs::file_status there = fs::status(a, failed);
  if (fs::exists(there)) return fs::is_regular_file(there) && fs::equivalent(a, b, failed);
  // neither is there yet
  const fs::path first = fs::weakly_canonical(fs::absolute(a), failed);
  return !failed && first == fs::weakly_canonical(fs::absolute(b), failed) && !failed;
}

void addOutputs(const CLI::Option& option) {
  const std::string name = option.get_name();
  for (const std::string& path : option.results()) {
    if (path.empty()) throw Error(name + " is empty; expected the name of what is to be written");
    if (option.get_type_name() != "DIR") {
      outputFiles().push_back({name, path, false});
      continue;
    }
    for (const char* file : kResultFiles)
      outputFiles().push_back({name, (fs::path(path) / file).string(), true});
  }
}

// now, before something else is written beside it
void requireWritable(const std::string& path) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there)) throw Error(path + ": is a folder, expected the name of a file");
  if (!fs::exists(there) || fs::is_regular_file(there)) GrowingFile{path};  // leaves nothing
}

}  // namespace

void requireSeparateOutputs(const CLI::App& verb) {
  outputFiles().clear();
  for (const CLI::Option* option : verb.get_options()) {
    if (isOutput(*option)) addOutputs(*option);
  }
  for (const CLI::Option* option : verb.get_options()) {
    if (isOutput(*option) || option->get_items_expected_max() == 0) continue;
    for (const std::string& value : option->results()) {
      std::error_code ignored;
      if (!fs::is_regular_file(value, ignored)) continue;
      for (const OutputFile& output : outputFiles()) {
        if (isSameFile(output.path, value))
          throw Error(fmt::format("{} {}: is read as {}, and would be replaced; choose another {}",
                                  output.option, output.path, option->get_name(),
                                  output.in_folder ? "folder" : "name"));
      }
    }
  }
  for (const OutputFile& first : outputFiles()) {
    for (const OutputFile& other : outputFiles()) {
      if (first.in_folder || other.in_folder || first.option == other.option) continue;
      if (isSameFile(first.path, other.path))
        throw Error(fmt::format("{} and {} are the same file, {}; choose two", first.option,
                                other.option, first.path));
    }
  }
  for (const OutputFile& output : outputFiles()) {
    if (!output.in_folder) requireWritable(output.path);
  }
}

void requireNotReplaced(const std::string& read) {
  for (const OutputFile& output : outputFiles()) {
    if (!read.empty() && isSameFile(output.path, read))
      throw Error(fmt::format(
          "{} {}: is the description that was read, and would be replaced; choose another {}",
          output.option, output.path, output.in_folder ? "folder" : "name"));
  }
}

}  // namespace proprio::apps
