// Contents of all memory that kernels may write, kept when a launch begins so that it can run again. Where undefined
// bits are tracked, they belong to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/memory/page_store.h"
#include "device/memory/shadow_snapshot.h"

namespace warpgrind::device {

class RangeTable;

class MemorySnapshot {
 public:
  // Keeps what the pages in use hold. False: they hold more than `limit` bytes, and nothing is kept.
  // shadow: null if undefined bits are not tracked. writer: the kernel that is going to run (WrittenPages::begin).
  // with_constants: also what kernels only read, and the host writes.
  bool take(std::uint64_t limit, const ShadowMemory* shadow, const void* writer, bool with_constants);
  void restore() const;  // pages that were unused at the snapshot become zero
  // Writes what [low, high) held at the snapshot to `out`. The memory itself stays as it is.
  void copy_before(std::uint64_t low, std::uint64_t high, std::uint8_t* out) const;

  // What all parts that differ now held at the snapshot, but for registered host memory. Ends the snapshot: it can
  // neither be restored nor read. Returns why it cannot; empty: it could.
  std::string take_differences(KeptParts* out) const;
  const ShadowSnapshot& shadow() const { return shadow_; }

 private:
  static constexpr std::uint64_t kUnused = ~std::uint64_t{0};
  struct Piece {
    std::uint64_t low = 0, high = 0;
    std::uint64_t at = kUnused;  // of its bytes in kept_; kUnused: unused pages, which read as zero
    bool host = false;           // registered host memory
  };
  template <class F>
  static void each_new_page(const Piece& piece, F&& f);
  std::shared_ptr<const RangeTable> table_;
  std::vector<Piece> pieces_;
  ShadowSnapshot shadow_;
  std::vector<std::uint8_t> kept_;  // grows and is used again: new pages would take longer than the copy
};

}  // namespace warpgrind::device
