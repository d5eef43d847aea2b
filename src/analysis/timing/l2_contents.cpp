#include "timing/l2_contents.h"

#include <algorithm>

namespace warpgrind::timing {

L2State L2Contents::before(const Stretches& allocations, const void* kernel) const {
  L2State state{dirty_, 0, 0};
  if (const auto code = code_.find(kernel); code != code_.end())
    state.code = still_there(model_, touched_ - code->second);
  double bytes = 0, there = 0;
  for (const auto& [address, size] : allocations) {
    bytes += static_cast<double>(size);
    const auto last = last_.find(address);
    if (last != last_.end()) there += static_cast<double>(size) * still_there(model_, touched_ - last->second);
  }
  if (bytes > 0) state.resident = there / bytes;
  return state;
}

void L2Contents::after_launch(const Stretches& allocations, double bytes, double allocated, const void* kernel) {
  code_[kernel] = touched_;
  for (const auto& [address, size] : allocations) last_[address] = touched_;
  touched_ += bytes;
  dirty_ = std::max(0.0, dirty_ - allocated);
}

void L2Contents::after_write(std::uint64_t address, double bytes) {
  last_[address] = touched_;
  touched_ += bytes;
  dirty_ = std::min(model_.timing.dirty_l2_bytes, dirty_ + bytes);
}

void L2Contents::after_flush() {
  dirty_ = 0;
  code_.clear();
  last_.clear();
}

}  // namespace warpgrind::timing
