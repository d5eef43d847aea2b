// Pages of the process's memory whose accesses by the program's own code are to be known: they are protected, a fault
// notes the access, and the one instruction then runs with its page open. Other code of ours that works with these
// pages says when it does, and they are open meanwhile, for all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warpgrind {

class HostPages {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static HostPages& instance();

  // Whole pages [low, high). readable: only writes are to be known.
  struct Run {
    std::uint64_t low = 0, high = 0;
    bool readable = false;
  };
  // Somebody may watch pages: work that uses them should be done early. Cheap.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  void want(bool wanted);
  // These from now on, sorted, none twice; instead of those before.
  void watch(std::vector<Run> runs);

  // Between these nothing is noted, and everything is open. They nest, over all threads.
  void pause();
  void resume();

  struct Touch {
    static constexpr unsigned kMostCallers = 12;
    std::uint64_t address = 0, bytes = 0;  // of several accesses by one instruction, side by side
    bool write = false;
    // As in HostStack::callers; the first is behind the instruction itself.
    std::array<const void*, kMostCallers> callers{};
    unsigned caller_count = 0;
  };
  // What has been noted since the last time, in order.
  std::vector<Touch> take();
  // Accesses beyond those that are noted one by one: how many pages have been left open early.
  std::uint64_t pages_given_up() const { return given_up_; }

  // Around a system call that works with memory of the program: it would fail with EFAULT. caller: the return address,
  // below this on the stack, of who is said to have made it.
  void open(const void* memory, std::size_t bytes);
  void close(const void* memory, std::size_t bytes, std::size_t done, bool write, const void* caller);

  // For the handlers of signals. False: it is not ours.
  bool on_fault(int signal, void* info, void* context);
  bool on_step(void* context);

 private:
  HostPages() = default;
  class Lock;
  const Run* run_at(std::uint64_t address) const;
  void set(std::uint64_t low, std::uint64_t high, bool open, bool readable) const;
  void apply(bool open);
  void note(const Touch& touch);
  bool give_up(std::uint64_t page);
  void install();

  static constexpr std::size_t kMostTouches = 8192, kMostRuns = 4096;
  static constexpr std::size_t kSteppedPages = 4096;  // that are counted, by a hash of the page
  static constexpr std::uint32_t kMostSteps = 4096, kMostStepsTogether = 1 << 15;

  std::atomic<bool> wanted_{false};
  mutable std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
  // Under the lock.
  std::vector<Run> runs_;
  unsigned paused_ = 0;
  bool closed_ = false;
  std::vector<Touch> touches_;  // kMostTouches, made before anything is closed: a handler allocates nothing
  std::size_t touch_count_ = 0;
  struct PageSteps {
    std::uint64_t page = 0;
    std::uint32_t steps = 0;
  };
  std::vector<PageSteps> page_steps_;
  std::uint32_t steps_ = 0;
  std::atomic<std::uint64_t> given_up_{0};
};

}  // namespace warpgrind
