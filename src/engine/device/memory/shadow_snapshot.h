// Undefined bits of all memory that kernels may write, kept when a launch begins so that it can run again.
#pragma once

#include <cstdint>
#include <vector>

#include "device/memory/shadow_memory.h"

namespace warpgrind::device {

class ShadowSnapshot {
 public:
  void take(const ShadowMemory* shadow);  // null: undefined bits are not tracked
  void restore() const;
  std::uint64_t bytes() const { return pieces_.size() * sizeof(Piece) + kept_.size(); }
  friend bool operator==(const ShadowSnapshot&, const ShadowSnapshot&) = default;

 private:
  // Most pages are as a whole defined or undefined; only the others are copied.
  enum class Kind : std::uint8_t { defined, undefined, mixed };
  struct Piece {
    std::uint64_t low = 0, high = 0;  // addresses of the memory
    Kind kind = Kind::defined;
    std::uint64_t at = 0;  // mixed: of its shadow in kept_
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  const ShadowMemory* shadow_ = nullptr;
  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> kept_;
};

}  // namespace warpgrind::device
