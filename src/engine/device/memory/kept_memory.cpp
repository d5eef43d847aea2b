// Which launch has its memory kept, or why none has.
#include "device/memory/kept_memory.h"

#include <fmt/format.h>

#include "device/memory/memory_snapshot.h"
#include "device/memory/written_pages.h"

namespace warpgrind::device {

namespace {

constexpr const char* kShared = "memory is shared with another process, and its writes would be lost";

}  // namespace

KeptMemory& KeptMemory::instance() {
  static auto* const memory = new KeptMemory;  // never destroyed: launches may run until the process ends
  return *memory;
}

bool KeptMemory::begin(MemorySnapshot& memory, const ShadowMemory* shadow, std::uint64_t limit,
                       const std::string& why_never, const void* kernel) {
  const std::lock_guard lock(mutex_);
  ++launches_;
  if (++running_ > 1) {
    why_ = "another launch ran at the same time, and its writes would be lost";
    return false;
  }
  why_ = limit == 0 ? "its memory was not kept" : shared_.load() ? kShared : why_never;
  if (!why_.empty()) return false;
  if (!memory.take(limit, shadow, kernel)) {
    why_ = fmt::format("the memory that the host uses, too, has more than {} MiB", limit >> 20);
    return false;
  }
  kept_ = &memory;
  return true;
}

void KeptMemory::end(const MemorySnapshot& memory) {
  const std::lock_guard lock(mutex_);
  --running_;
  if (kept_ != &memory) return;
  WrittenPages::instance().end();
  kept_ = nullptr;
}

void KeptMemory::host_writes(const char* what, std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  writes_.push_back({what, low, high, ++host_writes_, launches_});
  if (writes_.size() > kMostWrites) writes_.pop_front();
  if (kept_ && why_.empty())
    why_ = fmt::format("{} by the host ran at the same time, and its writes would be lost", what);
}

std::string KeptMemory::last_host_write(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  for (auto w = writes_.rbegin(); w != writes_.rend(); ++w) {
    if (w->high <= low || w->low >= high || w->launch >= launches_) continue;
    std::string text =
        fmt::format("{} by the host wrote it before (number {} of the program's copies and memsets, {} bytes)", w->what,
                    w->number, w->high - w->low);
    const std::uint64_t between = launches_ - 1 - w->launch;
    if (between == 0) return text;
    if (between == 1) return text + ". The launch since then may have written it, too";
    return fmt::format("{}. One of the {} launches since then may have written it, too", text, between);
  }
  return {};
}

std::string KeptMemory::why_not(const MemorySnapshot* memory) {
  const std::lock_guard lock(mutex_);
  if (!why_.empty() || !memory || kept_ != memory) return why_.empty() ? "another launch ran at the same time" : why_;
  if (shared_.load()) return kShared;
  if (WrittenPages::instance().is_full()) return "it has changed more memory than is kept";
  return {};
}

}  // namespace warpgrind::device
