#include "proprio/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace proprio {
namespace {

// Every item is handled exactly once, and no worker runs two chunks at the same time.
TEST(Parallel, CoversEveryItemOnce) {
  for (const std::ptrdiff_t total : {0, 1, 7, 64, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(total));
    std::vector<std::atomic<int>> busy(static_cast<size_t>(workerCount()));
    std::atomic<bool> clash = false;
    parallelChunks(total, 7, [&](std::ptrdiff_t start, std::ptrdiff_t count, int worker) {
      if (busy[static_cast<size_t>(worker)]++ != 0) clash = true;
      for (std::ptrdiff_t i = start; i < start + count; ++i) ++seen[static_cast<size_t>(i)];
      --busy[static_cast<size_t>(worker)];
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
    EXPECT_FALSE(clash);
  }
}

// An exception in a chunk reaches the caller.
TEST(Parallel, RethrowsExceptions) {
  EXPECT_THROW(parallelChunks(10, 1,
                              [](std::ptrdiff_t start, std::ptrdiff_t, int) {
                                if (start == 5) throw std::runtime_error("five");
                              }),
               std::runtime_error);
  EXPECT_ANY_THROW(parallelChunks(10, 0, [](std::ptrdiff_t, std::ptrdiff_t, int) {}));
}

}  // namespace
}  // namespace proprio
