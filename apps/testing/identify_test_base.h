#pragma once

/// What the tests of `identify` share: recordings of simulated arms, and ways to spoil them.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "apps/testing/command_test_base.h"
#include "proprio/core/text.h"

namespace proprio {

class Identify : public CommandTestBase {
 protected:
  /// A noisy recording of the planar arm, whose torques depend on all of its parameters.
  void SetUp() override {
    CommandTestBase::SetUp();
    record(arm_, "log.csv");
  }

  void record(const std::string& arm, const std::string& log) {
    ASSERT_EQ(run("motion " + robot(arm) + " --type fourier --period 8 --seed 3 --out " +
                  file("motion.json"))
                  .code,
              0);
    ASSERT_EQ(run("simulate " + robot(arm) + " --trajectory " + file("motion.json") +
                  " --encoder-noise 1e-5 --torque-noise 0.05 --out " + file(log))
                  .code,
              0);
  }

  /// The recording with every row changed.
  template <class Change>
  std::string changed(const std::string& name, const Change& change) {
    std::ifstream in(file("log.csv"));
    std::ofstream out(file(name));
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = splitAt(line, ',');
    out << line << '\n';
    for (int row = 0; std::getline(in, line); ++row) {
      std::vector<std::string> cells = splitAt(line, ',');
      if (!change(row, header, cells)) continue;
      for (size_t c = 0; c < cells.size(); ++c) out << (c > 0 ? "," : "") << cells[c];
      out << '\n';
    }
    return file(name);
  }

  static void scale(std::string& cell, double factor) {
    cell = std::to_string(std::stod(cell) * factor);
  }

  CommandResult identify(const std::string& log, const std::string& more = "") {
    return run("identify " + robot(arm_) + " --log " + log +
               (more.find("--validate") == std::string::npos ? " --split 0.7 " : " ") + more);
  }

  /// What was printed, without the line breaks of a narrow terminal.
  static std::string flat(const CommandResult& result) {
    std::string text;
    for (const char c : result.out) {
      if (c != '\n' && c != ' ')
        text += c;
      else if (!text.empty() && text.back() != ' ')
        text += ' ';
    }
    return text;
  }

  std::string arm_ = "planar_2r.yaml";
};

/// The six-axis arm, for mistakes that two joints cannot show.
class IdentifySixAxes : public Identify {
 protected:
  IdentifySixAxes() { arm_ = "tx40.yaml"; }

  using Header = std::vector<std::string>;
  using Cells = std::vector<std::string>;

  /// Index of the column of that name, without its unit.
  static size_t column(const Header& header, const std::string& name) {
    for (size_t c = 0; c < header.size(); ++c) {
      if (header[c].rfind(name + " ", 0) == 0) return c;
    }
    ADD_FAILURE() << "no column " << name;
    return 0;
  }

  /// Columns of two joints change places.
  static void exchange(const Header& header, Cells& cells, const std::string& prefix,
                       const std::string& one, const std::string& other) {
    std::swap(cells[column(header, prefix + one)], cells[column(header, prefix + other)]);
  }

  /// Torques `steps` rows later than they were.
  std::string delayed(const std::string& name, int steps) {
    std::vector<Cells> all;
    changed("copy.csv", [&](int, const Header&, Cells& cells) {
      all.push_back(cells);
      return false;
    });
    return changed(name, [&](int row, const Header& header, Cells& cells) {
      const int from = row - steps;
      if (from < 0 || from >= static_cast<int>(all.size())) return false;
      for (size_t c = 0; c < cells.size(); ++c) {
        if (header[c].rfind("tau_joint", 0) == 0) cells[c] = all[static_cast<size_t>(from)][c];
      }
      return true;
    });
  }

  /// Percent of each joint's torque norm that remain on the validation recording.
  std::vector<double> errors(const std::string& folder) const {
    std::vector<double> percent;
    const nlohmann::json estimate = json(folder + "/estimate.json");
    for (const auto& joint : estimate["errors"]["validation"]["joints"])
      percent.push_back(joint["percent"].is_null() ? std::nan("") : joint["percent"].get<double>());
    return percent;
  }
};

}  // namespace proprio
