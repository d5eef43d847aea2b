// The memory of the launch that runs under a debugger, as it was at its start. Only one launch of the process can have
// its memory kept: going back would also undo what another launch, or a copy of the host, has written meanwhile.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace warpgrind::device {

class MemorySnapshot;
class ShadowMemory;

class KeptMemory {
 public:
  static KeptMemory& instance();

  // A launch begins. True: `memory` holds what kernels may write, and their undefined bits (shadow: null if they are
  // not tracked). limit: in bytes; 0: nothing is kept. kernel: see MemorySnapshot::take(). Call end() with the same
  // snapshot in any case.
  bool begin(MemorySnapshot& memory, const ShadowMemory* shadow, std::uint64_t limit, const std::string& why_never,
             const void* kernel);
  void end(const MemorySnapshot& memory);
  // The host writes [low, high) of device memory now, by a copy or fill. A launch that runs cannot go back any more.
  void host_writes(const char* what, std::uint64_t low, std::uint64_t high);
  // Another process may write to memory of this one from now on, or the other way round: no launch can go back any
  // more, because that would undo the other's writes. Any thread, with any lock held.
  void shares_memory() { shared_.store(true); }
  // Text about the last copy or fill of the host that wrote one of these bytes before the `back`-th launch before the
  // newest (0: the newest). searched: launches before that one which have not written them. Empty: none is known. The
  // newest 4096 are.
  std::string last_host_write(std::uint64_t low, std::uint64_t high, std::uint64_t back, std::uint64_t searched);
  // Whether the host wrote one of these bytes after the launch before the `back`-th had begun, and before that one.
  bool host_wrote_just_before(std::uint64_t low, std::uint64_t high, std::uint64_t back);

  // Memory is about to be that of an earlier launch (EarlierLaunches::undo), or is that of the newest again. Meanwhile
  // copies and launches of the host wait. False: the newest launch cannot run again.
  bool leave_present(const MemorySnapshot& memory);
  void return_to_present();
  // Earlier launches cannot be entered any more. Waits while one is.
  void forget_earlier(const std::string& why);
  // Why the launch with this snapshot cannot run again. Empty: it can.
  std::string why_not(const MemorySnapshot* memory);

 private:
  void lose_all();
  void lose_earlier(const std::string& why);

  std::atomic<bool> shared_{false};
  std::mutex mutex_;
  std::condition_variable returned_;
  struct HostWrite {
    const char* what = "";
    std::uint64_t low = 0, high = 0;
    std::uint64_t number = 0, launch = 0;  // of all copies and fills; launches that had begun
  };
  static constexpr std::size_t kMostWrites = 4096;
  unsigned running_ = 0;
  std::uint64_t launches_ = 0, host_writes_ = 0;
  std::deque<HostWrite> writes_;  // the oldest first
  const MemorySnapshot* kept_ = nullptr;
  const MemorySnapshot* last_ = nullptr;  // of the launch that has ended, if all that changed since then is known
  bool in_past_ = false;
  std::string why_;  // of the newest launch
};

}  // namespace warpgrind::device
