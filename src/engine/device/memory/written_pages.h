// Copy on write for memory of the program: ranges are protected against writes, and what a piece of them holds is
// copied when it is first written. Under a debugger, for the snapshot of a launch (memory_snapshot.h). Copying 48 MiB
// at each launch took longer than a vector addition of them.
//
// A write to a protected piece is a SIGSEGV, which the handler of crash_guard.cpp passes on to copy_if_protected(). A
// system call that would write there fails with EFAULT instead, so that memory that the host may use directly is never
// protected.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/memory/page_store.h"

namespace warpgrind::device {

// [low, high), in whole pages.
struct Pages {
  std::uint64_t low = 0, high = 0;
};

class WrittenPages {
 public:
  static WrittenPages& instance();

  // Protects the ranges, sorted, until end() or the next begin(). Copies at most `limit` bytes. False: the host does
  // not allow it, and nothing is protected. One thread at a time may use all functions below. writer: what is going to
  // write, such as a kernel. The pieces that it wrote the last time are copied at once, without a fault, if they are at
  // most an eighth of the limit.
  bool begin(std::span<const Pages> ranges, std::uint64_t limit, const void* writer);
  void end();
  // More was written than the limit: protection ended early, and restore() must not be called.
  bool is_full() const { return full_.load(); }
  // Copies what was there back to all pieces that were written. They stay writable.
  void restore();
  // Writes what the written pieces in [low, high) held before to their places in `out`, which begins with `low`.
  void copy_before(std::uint64_t low, std::uint64_t high, std::uint8_t* out);
  std::uint64_t copied_bytes() const { return used_.load(); }
  // Gives away the copies of all pieces that were written. They stay protected or open as they are; call begin() next.
  KeptParts hand_over();
  // From now to end(), any number of bytes may be copied: restore() must stay possible. False: there is no room.
  bool lift_limit();
  // [low, high) is about to be written, maybe by a thread whose signals are not ours.
  void copy_before_write(std::uint64_t low, std::uint64_t high);

  // These pages are about to be freed or mapped anew: they lose their protection, and restore() leaves them alone. Any
  // thread.
  void forget(std::uint64_t low, std::uint64_t high);

  // These pages get a mapping that others share. They are never protected.
  void exclude(std::uint64_t low, std::uint64_t high);
  bool is_excluded(std::uint64_t low, std::uint64_t high);

  // In the child of a fork, where no kernel of the parent runs: makes all pages writable. Async-signal-safe.
  static void leave_after_fork();

  // Async-signal-safe. True: the address was protected and now is writable; the write can be repeated.
  bool copy_if_protected(std::uint64_t address);

 private:
  enum State : std::uint8_t { guarded, changing, open, forgotten };
  struct Area {
    Pages pages;
    std::uint64_t piece = 0;  // bytes; pieces begin at multiples
    std::size_t first = 0;    // index of its first piece
    std::uint64_t low_of(std::size_t k) const { return k == 0 ? pages.low : (pages.low / piece + k) * piece; }
    std::size_t pieces() const { return (pages.high - 1) / piece - pages.low / piece + 1; }
    std::uint64_t high_of(std::size_t k) const { return k + 1 == pieces() ? pages.high : low_of(k + 1); }
  };
  // Pieces that a writer wrote the last time, sorted. Every kLearnAgain-th time none is expected, because a piece that
  // is copied at once counts as written from then on.
  struct Expected {
    std::vector<Pages> written;
    unsigned times = 0;
  };
  static constexpr unsigned kLearnAgain = 16;
  static constexpr std::size_t kMostWriters = 256;

  class Change;
  void lay_out(std::span<const Pages> ranges);
  bool copy_piece_of(std::uint64_t address);
  bool guard_all_but(const std::vector<Pages>& expected);
  std::vector<Pages> open_pieces() const;
  const Area* find(std::uint64_t address) const;
  void lock_piece(std::size_t index);
  static bool protect(const Pages& pages, int how);  // empty: does nothing
  void learn();                                      // what writer_ has written
  void make_writable() const;                        // all pieces
  void unprotect_all();
  void forget_locked(std::uint64_t low, std::uint64_t high);

  static std::atomic<WrittenPages*> begun_;  // the instance, after the first begin()

  std::mutex mutex_;  // of all but the handler
  std::vector<Pages> excluded_;
  std::map<const void*, Expected> expected_;  // a freed kernel's address may return: only time is lost
  const void* writer_ = nullptr;
  std::vector<Area> areas_;
  std::vector<std::uint64_t> at_;  // by piece: of its copy in store_, if it is open
  std::unique_ptr<std::atomic<std::uint8_t>[]> states_;
  std::size_t state_capacity_ = 0;
  Chunks store_;
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<bool> active_{false}, full_{false};
  std::atomic<bool> is_changing_{false};
  std::atomic<unsigned> copying_{0};  // handlers
};

// True while the process's handler of SIGSEGV is the one that calls copy_if_protected(). Installs it if none was.
bool handles_protected_pages();

}  // namespace warpgrind::device
