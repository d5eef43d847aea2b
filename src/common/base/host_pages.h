// Watch on memory pages: records which addresses the program's own host code accesses. Watched pages are protected, so
// an access faults. The fault handler records the access, opens the page, lets that one instruction run and protects
// the page again. Code of this library calls pause() before it accesses watched pages; they are then open for all
// threads.
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

  // Whole pages [low, high). readable: only writes are recorded; else reads too.
  struct Run {
    std::uint64_t low = 0, high = 0;
    bool readable = false;
  };
  // True if pages may be watched. Work that uses such pages should then be done early. Cheap to call.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  void want(bool wanted);
  // Replaces the watched pages by these runs. They are sorted and disjoint.
  void watch(std::vector<Run> runs);

  // Between pause() and resume() all pages are open and nothing is recorded. Calls nest, across all threads.
  void pause();
  void resume();

  struct Touch {
    static constexpr unsigned kMostCallers = 12;
    std::uint64_t address = 0, bytes = 0;  // several adjacent accesses by one instruction count as one
    bool write = false;
    // Return addresses as in HostStack::callers; the first lies just behind the accessing instruction.
    std::array<const void*, kMostCallers> callers{};
    unsigned caller_count = 0;
  };
  // Accesses recorded since the last call, in order.
  std::vector<Touch> take();
  // Number of times that a page was left open early, because it was stepped over too often or the record was full.
  // Later accesses to it were not recorded.
  std::uint64_t pages_given_up() const { return given_up_; }

  // open() and close() go around a system call that uses memory of the program: on a protected page the call would fail
  // with EFAULT. caller: a return address further up this thread's stack; the access is attributed to it.
  void open(const void* memory, std::size_t bytes);
  void close(const void* memory, std::size_t bytes, std::size_t done, bool write, const void* caller);

  // Called by the signal handlers. Return false if the signal is not caused by a watched page.
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
  static constexpr std::size_t kSteppedPages = 4096;  // table entries of the step count, indexed by a hash of the page
  static constexpr std::uint32_t kMostSteps = 4096, kMostStepsTogether = 1 << 15;

  std::atomic<bool> wanted_{false};
  mutable std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
  // Guarded by the lock.
  std::vector<Run> runs_;
  unsigned paused_ = 0;
  bool closed_ = false;
  // kMostTouches entries, allocated before any page is protected: a handler must not allocate.
  std::vector<Touch> touches_;
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
