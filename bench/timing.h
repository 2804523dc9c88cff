#pragma once

/// Interleaved timing: all candidates are run in turn, many times, and their best times are
/// compared. On a shared machine the best of many short runs is the one that nobody disturbed.

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace proprio::bench {

struct Candidate {
  std::string name;
  std::function<void()> run;  ///< handles `samples` samples
  double samples = 1.0;
  double nanoseconds = 0.0;  ///< result: best time per sample
};

inline void timeInterleaved(std::vector<Candidate*> candidates, int repetitions = 101) {
  std::vector<std::vector<double>> times(candidates.size());
  for (int r = 0; r < repetitions + 1; ++r) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      candidates[i]->run();
      const auto stop = std::chrono::steady_clock::now();
      if (r > 0) times[i].push_back(std::chrono::duration<double, std::nano>(stop - start).count());
    }
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i]->nanoseconds =
        *std::min_element(times[i].begin(), times[i].end()) / candidates[i]->samples;
  }
}

}  // namespace proprio::bench
