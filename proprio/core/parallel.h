#pragma once

/// Work over ranges on several threads (oneTBB). Chunks have a fixed size, whatever the number of
/// threads, so that results that are combined chunk by chunk do not depend on it.

#include <cstddef>
#include <functional>

namespace proprio {

/// Calls work(start, count, worker) for consecutive chunks of [0, total), each of `chunk` items but
/// the last. `worker` is in [0, workerCount()) and never runs two chunks at once, so that each
/// worker can own scratch memory. An exception of one chunk stops the rest and is rethrown here.
void parallelChunks(
    std::ptrdiff_t total, std::ptrdiff_t chunk,
    const std::function<void(std::ptrdiff_t start, std::ptrdiff_t count, int worker)>& work);

/// Upper bound of `worker` + 1 for this process.
int workerCount();

}  // namespace proprio
