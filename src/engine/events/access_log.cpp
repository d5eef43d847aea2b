#include "events/access_log.h"

#include <cstddef>
#include <utility>

namespace warpgrind::events {

namespace {

constexpr std::size_t kMostKept = 8, kLeastEntries = 1024;  // malloc() serves smaller logs without page faults

struct Kept {
  std::mutex mutex;
  std::vector<std::vector<LoggedAccess>> memory;
};

// Never destroyed: launches may end while the process exits.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

}  // namespace

void keep_memory(std::vector<BlockLog>&& logs) {
  std::vector<BlockLog> ended = std::move(logs);
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  for (BlockLog& log : ended) {
    if (log.accesses.capacity() < kLeastEntries || all.memory.size() == kMostKept) continue;
    all.memory.push_back(std::move(log.accesses));
    all.memory.back().clear();
  }
}

void take_memory(BlockLog& log) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  if (all.memory.empty()) return;
  log.accesses = std::move(all.memory.back());
  all.memory.pop_back();
}

}  // namespace warpgrind::events
