// Layout (swizzle) in which an asynchronous copy has written each part of a block's shared memory. A reader that names
// a layout itself (the matrix descriptor of wgmma or tcgen05.mma) and names another one reads the elements in another
// order: the finding "read by another swizzle than written".
//
// Nothing publishes layouts yet: the tensor copy knows that of its tensor map, wgmma that of its descriptors. With a
// member for it in events::Access, LaunchRaces keeps one SharedLayouts a block beside its shadow, and asks it after the
// races: only an ordered read can be wrong by its layout alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warpgrind::checkers {

// Adjacent pieces of 16 bytes that a swizzle permutes by the number of their line of 128 bytes.
enum class Swizzle : std::uint8_t { unknown, none, bytes_32, bytes_64, bytes_128 };

class SharedLayouts {
 public:
  struct Written {
    Swizzle swizzle = Swizzle::unknown;
    std::uint32_t site = 0;    // of the copy
    std::uint64_t offset = 0;  // of the first piece
  };

  // A copy has written these bytes. Bulk copies and ordinary stores have no layout (`unknown`): the program may have
  // arranged the elements itself.
  void write(std::uint64_t offset, std::uint64_t bytes, Swizzle swizzle, std::uint32_t site);
  // The first piece of these bytes whose layout is known and another one. Nothing if the reader's is unknown, or if the
  // two layouts put all these pieces in the same place.
  std::optional<Written> differs(std::uint64_t offset, std::uint64_t bytes, Swizzle swizzle) const;
  void clear() { pieces_.clear(); }

 private:
  static constexpr std::uint64_t kPiece = 16;
  struct Piece {
    Swizzle swizzle = Swizzle::unknown;
    std::uint32_t site = 0;
  };
  std::vector<Piece> pieces_;  // by offset / kPiece
};

// Offset at which a layout puts the piece that is at `offset` without swizzling. Both count from address 0: patterns
// repeat every 1024 bytes.
std::uint64_t swizzled(std::uint64_t offset, Swizzle swizzle);

}  // namespace warpgrind::checkers
