// The launches before the newest one, kept under a debugger so that it can enter them again. Of each: what its kernel
// was called with, and the memory that the next launch found different, as it was when the launch began. Undoing these
// differences one after the other, from the newest on, leads to the beginning of an earlier launch. It does not matter
// what made a difference: kernels, copies and memsets of the host, or managed memory that the host wrote.
//
// Pinned and registered host memory is not undone: the host's program goes on and may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/memory/page_store.h"
#include "device/memory/shadow_snapshot.h"

namespace warpgrind::device {

class MemorySnapshot;
struct MadeLaunch;  // execution/made_launch.h

class EarlierLaunches {
 public:
  static EarlierLaunches& instance();

  // Most bytes of memory that are kept for all earlier launches. 0: none can be entered. Before the first launch.
  void set_limit(std::uint64_t bytes);
  bool is_on() const { return limit_ != 0; }

  // The newest launch begins, and its memory is in a snapshot. device: is only compared.
  void add(const void* device, std::shared_ptr<const MadeLaunch> made);
  // Another launch is about to begin: the newest becomes an earlier one, by what has changed since its snapshot, which
  // ends.
  void close(const MemorySnapshot& began);
  // No launch before this moment can be entered. why: for the user, "its module was unloaded".
  void forget_all(const std::string& why);

  // Earlier launches that can be entered. 1 is the launch just before the newest, and so on.
  std::uint64_t count();
  // back: 0 is the newest. Null: it cannot be entered.
  std::shared_ptr<const MadeLaunch> find(std::uint64_t back);
  // Why no launch before these can be entered. Empty: there was none.
  std::string why_no_more();

  // The memory of the newest launch's beginning becomes that of the `back`-th launch before it.
  // MemorySnapshot::restore() of the newest launch leads back. While this is so, no launch may begin or be forgotten.
  void undo(std::uint64_t back);

 private:
  static constexpr std::size_t kMostLaunches = 1000;  // a search enters them one after the other
  struct Earlier {
    std::shared_ptr<const MadeLaunch> made;
    KeptParts before;  // what the launch and the host changed, as it was when the launch began
    std::shared_ptr<const ShadowSnapshot> shadow;
    std::uint64_t bytes = 0;  // that count against the limit. A shadow counts for the first launch that has it.
  };
  void forget_locked(const std::string& why);
  void drop_oldest();

  std::mutex mutex_;
  std::uint64_t limit_ = 0;
  std::shared_ptr<const MadeLaunch> newest_;
  const void* device_ = nullptr;  // of all
  std::deque<Earlier> all_;       // the oldest first
  std::uint64_t bytes_ = 0;       // of all_
  std::string why_;
};

}  // namespace warpgrind::device
