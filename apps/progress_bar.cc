#include "apps/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace proprio::apps {
namespace {

constexpr double kSilence = 0.3;  // s; a step that is longer is announced before it
constexpr int kBarWidth = 24;

}  // namespace

ProgressBar::~ProgressBar() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(const std::string& step, double done) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (isatty(STDERR_FILENO) == 0 || (!shown_ && elapsed.count() < kSilence)) return;
  const auto filled = static_cast<int>(done * kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\033[K{} {:3.0f} %  {} ...", bar, 100.0 * done, step);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace proprio::apps
