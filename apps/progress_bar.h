#pragma once

#include <chrono>
#include <string>

namespace proprio::apps {

/// A bar on a terminal with what is being done, when it takes a while; gone afterwards.
class ProgressBar {
 public:
  ProgressBar() = default;
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// @param done  share of the work before this step
  void show(const std::string& step, double done);

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace proprio::apps
