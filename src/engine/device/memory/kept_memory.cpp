// Which launch has its memory kept, or why none has.
#include "device/memory/kept_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/memory/earlier_launches.h"
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
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !in_past_; });
  ++launches_;
  if (++running_ > 1) {
    why_ = "another launch ran at the same time, and its writes would be lost";
    return false;
  }
  why_ = limit == 0 ? "its memory was not kept" : shared_.load() ? kShared : why_never;
  if (!why_.empty()) {
    lose_all();
    return false;
  }
  EarlierLaunches& earlier = EarlierLaunches::instance();
  if (last_) earlier.close(*last_);
  last_ = nullptr;
  if (!memory.take(limit, shadow, kernel, earlier.is_on())) {
    why_ = fmt::format("the memory that the host uses, too, has more than {} MiB", limit >> 20);
    lose_all();
    return false;
  }
  kept_ = &memory;
  return true;
}

void KeptMemory::end(const MemorySnapshot& memory) {
  const std::lock_guard lock(mutex_);
  --running_;
  if (kept_ != &memory) return;
  kept_ = nullptr;
  if (!EarlierLaunches::instance().is_on())
    WrittenPages::instance().end();
  else if (why_.empty())
    last_ = &memory;  // protection goes on: what the host writes is a difference, too
  else
    lose_all();
}

// The newest launch cannot run again, so that no earlier one can be reached.
void KeptMemory::lose_all() {
  lose_earlier(fmt::format("launch {} cannot run again: {}", launches_, why_));
}

void KeptMemory::lose_earlier(const std::string& why) {
  WrittenPages::instance().end();
  EarlierLaunches::instance().forget_all(why);
  last_ = nullptr;
}

void KeptMemory::forget_earlier(const std::string& why) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !in_past_; });
  if (running_ > 0) {
    EarlierLaunches::instance().forget_all(why);
    return;
  }
  lose_earlier(why);
}

bool KeptMemory::leave_present(const MemorySnapshot& memory) {
  const std::lock_guard lock(mutex_);
  if (in_past_) return true;
  if (kept_ != &memory || !why_.empty() || WrittenPages::instance().is_full()) return false;
  if (!WrittenPages::instance().lift_limit()) return false;
  in_past_ = true;
  return true;
}

void KeptMemory::return_to_present() {
  const std::lock_guard lock(mutex_);
  in_past_ = false;
  returned_.notify_all();
}

void KeptMemory::host_writes(const char* what, std::uint64_t low, std::uint64_t high) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !in_past_; });
  writes_.push_back({what, low, high, ++host_writes_, launches_});
  if (writes_.size() > kMostWrites) writes_.pop_front();
  if (kept_ && why_.empty())
    why_ = fmt::format("{} by the host ran at the same time, and its writes would be lost", what);
  WrittenPages::instance().copy_before_write(low, high);
}

bool KeptMemory::host_wrote_just_before(std::uint64_t low, std::uint64_t high, std::uint64_t back) {
  const std::lock_guard lock(mutex_);
  return std::any_of(writes_.begin(), writes_.end(), [&](const HostWrite& w) {
    return w.high > low && w.low < high && w.launch + back + 1 == launches_;
  });
}

std::string KeptMemory::last_host_write(std::uint64_t low, std::uint64_t high, std::uint64_t back,
                                        std::uint64_t searched) {
  const std::lock_guard lock(mutex_);
  for (auto w = writes_.rbegin(); w != writes_.rend(); ++w) {
    if (w->high <= low || w->low >= high || w->launch + back >= launches_) continue;
    std::string text =
        fmt::format("{} by the host wrote it before (number {} of the program's copies and memsets, {} bytes)", w->what,
                    w->number, w->high - w->low);
    const std::uint64_t between = launches_ - back - 1 - w->launch;
    if (between <= searched) return text;
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
