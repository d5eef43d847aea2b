// Contents of all memory that kernels may write, kept when a launch begins so that it can run again.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::device {

class MemorySnapshot {
 public:
  // Keeps what the pages in use hold. False: they hold more than `limit` bytes, and nothing is kept.
  bool take(std::uint64_t limit);
  void restore() const;  // pages that were unused at the snapshot become zero

 private:
  static constexpr std::uint64_t kUnused = ~std::uint64_t{0};
  struct Piece {
    std::uint64_t low = 0, high = 0;
    std::uint64_t at = kUnused;  // of its bytes in kept_; kUnused: unused pages, which read as zero
  };
  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> kept_;  // grows and is used again: new pages would take longer than the copy
};

}  // namespace warpgrind::device
