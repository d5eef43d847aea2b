// Counter of destroyed kernels. A cache keyed by the address of a kernel's facts must be cleared when it changes: a new
// kernel may get the same address.
#pragma once

#include <atomic>
#include <cstdint>

namespace warpgrind::events {

inline std::atomic<std::uint64_t> kernels_gone{0};  // so far, in this process

// True at most once after each destruction of kernels.
class KernelsGone {
 public:
  bool again() {
    const std::uint64_t now = kernels_gone.load(std::memory_order_acquire);
    if (now == seen_) return false;
    seen_ = now;
    return true;
  }

 private:
  std::uint64_t seen_ = 0;
};

}  // namespace warpgrind::events
