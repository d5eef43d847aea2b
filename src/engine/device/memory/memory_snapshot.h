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
  void drop() { pieces_.clear(); }
  bool empty() const { return pieces_.empty(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Piece {
    std::uint64_t low = 0, high = 0;
    std::vector<std::uint8_t> bytes;  // empty: unused pages, which read as zero
  };
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpgrind::device
