// Layout (swizzle) in which tensor copies have written each part of a block's shared memory. A reader with a layout of
// its own (the matrix descriptor of wgmma, the map of a tensor store) reads the elements in another order if its layout
// differs: the finding "shared-layout".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/tensor_map.h"

namespace warpgrind::checkers {

// `base`: line of 128 bytes at which the pattern begins (base offset of wgmma's descriptor); 0 for tensor maps.
struct SharedLayout {
  TensorSwizzle swizzle = TensorSwizzle::none;
  std::uint8_t base = 0;

  // Offset at which the layout puts the piece that is at `offset` without swizzling, and the reverse. Both count from
  // address 0: patterns repeat every 1024 bytes.
  std::uint64_t place(std::uint64_t offset) const;
  friend bool operator==(const SharedLayout&, const SharedLayout&) = default;
};

class SharedLayouts {
 public:
  struct Written {
    SharedLayout layout;
    std::uint32_t site = 0;    // of the copy
    std::uint64_t offset = 0;  // of the first piece
  };

  // An access has written these bytes. `layout` is null for bulk copies and ordinary stores: the program may have
  // arranged the elements itself.
  void write(std::uint64_t offset, std::uint64_t bytes, const std::optional<SharedLayout>& layout, std::uint32_t site);
  // The first piece of these bytes that the reader's layout takes for another one than the writer's. Nothing if no
  // layout is known, or if both layouts put all these pieces in the same place.
  std::optional<Written> differs(std::uint64_t offset, std::uint64_t bytes, const SharedLayout& layout) const;
  void clear() { pieces_.clear(); }

 private:
  static constexpr std::uint64_t kPiece = 16;
  struct Piece {
    std::optional<SharedLayout> layout;
    std::uint32_t site = 0;
  };
  std::vector<Piece> pieces_;  // by offset / kPiece
};

}  // namespace warpgrind::checkers
