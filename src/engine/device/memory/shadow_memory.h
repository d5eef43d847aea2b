// Shadow of global memory: one bit per bit, 1 if that bit was never written. It lies at a fixed distance from the
// memory it describes. Machine code thus finds it by one addition and moves it by the same instructions. It exists only
// if an observer wants undefined uses. Host memory that kernels reach (pinned, registered) has no shadow: it counts as
// written.
#pragma once

#include <cstdint>
#include <utility>

namespace warpgrind::device {

class ShadowMemory {
 public:
  // Reserves it once per process; null: the host has no address space left. Thread-safe.
  static ShadowMemory* open();

  std::uint64_t distance() const { return distance_; }  // from a byte to its shadow
  bool covers(std::uint64_t address, std::uint64_t bytes) const {
    return address - base_ < bytes_ && bytes <= bytes_ - (address - base_);
  }
  std::uint8_t* of(std::uint64_t address) const { return reinterpret_cast<std::uint8_t*>(address + distance_); }

  void undefine(std::uint64_t address, std::uint64_t bytes) const;
  void define(std::uint64_t address, std::uint64_t bytes) const;
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const;
  bool any(std::uint64_t address, std::uint64_t bytes) const;
  // Number of unwritten bytes, and the offset of the first.
  std::pair<std::uint64_t, std::uint64_t> count_undefined(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::uint64_t base_ = 0, bytes_ = 0, distance_ = 0;
};

}  // namespace warpgrind::device
