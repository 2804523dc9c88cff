#include "proprio/core/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "proprio/core/error.h"

namespace proprio {

void parallelChunks(std::ptrdiff_t total, std::ptrdiff_t chunk,
                    const std::function<void(std::ptrdiff_t, std::ptrdiff_t, int)>& work) {
  if (chunk <= 0) throw Error("parallelChunks: the chunk size must be positive.");
  const std::ptrdiff_t chunks = (total + chunk - 1) / chunk;
  // isolated: an exception in a loop around this one must not make this one return half-done
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::parallel_for(
      std::ptrdiff_t{0}, chunks,
      [&](std::ptrdiff_t k) {
        const std::ptrdiff_t start = k * chunk;
        work(start, std::min(chunk, total - start), tbb::this_task_arena::current_thread_index());
      },
      context);
}

int workerCount() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace proprio
