// Layout (swizzle) in which tensor copies have written each part of a block's shared memory. A reader with a layout of
// its own (the matrix descriptor of wgmma, the map of a tensor store) reads the elements in another order if its layout
// differs: the finding "shared-layout". `warpgrind explain` shows what of a box a reader touches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/tensor_map.h"

namespace warpgrind {

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
    std::uint32_t copy = 0;    // the number that the copy was given
    std::uint64_t begin = 0;   // of the copy's bytes
    std::uint64_t offset = 0;  // of the first piece
  };

  // An access has written these bytes. `layout` is null for bulk copies and ordinary stores: the program may have
  // arranged the elements itself. `copy` is a number of the caller's, such as that of the site.
  void write(std::uint64_t offset, std::uint64_t bytes, const std::optional<SharedLayout>& layout, std::uint32_t copy);
  // The copy that wrote the byte; nothing if no copy with a layout did.
  std::optional<Written> writer(std::uint64_t offset) const;
  // The first piece of these bytes that the reader's layout takes for another one than the writer's. Nothing if no
  // layout is known, or if both layouts put all these pieces in the same place.
  std::optional<Written> differs(std::uint64_t offset, std::uint64_t bytes, const SharedLayout& layout) const;
  void clear() { pieces_.clear(); }

 private:
  static constexpr std::uint64_t kPiece = 16;
  struct Piece {
    std::optional<SharedLayout> layout;
    std::uint32_t copy = 0;
    std::uint64_t begin = 0;
  };
  std::vector<Piece> pieces_;  // by offset / kPiece
};

}  // namespace warpgrind
