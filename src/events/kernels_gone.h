// Who remembers kernels by the address of their facts forgets them all when one is gone: the next one may lie there.
#pragma once

#include <atomic>
#include <cstdint>

namespace warpgrind::events {

inline std::atomic<std::uint64_t> kernels_gone{0};  // in this process so far

// True at most once for each time that kernels have gone.
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
