// Arithmetic of wgmma for one of the four warps: 16 of the 64 rows. src/engine/device/calls/warpgroup_matrix.cpp finds
// the matrices in shared memory.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

inline constexpr unsigned kWarpgroupWarps = 4, kWarpgroupRows = 16;  // rows of one warp; 64 in all
inline constexpr unsigned kMostWarpgroupColumns = 256;
// One wgmma multiplies 32 bytes of each row of A by 32 bytes of each column of B, whatever the type (256 bits, 32
// bytes, 16 halves, 8 tf32).
inline constexpr unsigned kWarpgroupDepthBytes = 32;

enum WarpgroupFlags : std::uint32_t {
  kWarpgroupNegateA = 1,
  kWarpgroupNegateB = 2,
  kWarpgroupAByDepth = 4,    // A is stored by depth in shared memory (imm-trans-a; 16-bit types)
  kWarpgroupBByDepth = 8,    // B likewise (imm-trans-b)
  kWarpgroupAInShared = 16,  // A is given by a descriptor, not in registers
  kWarpgroupSaturate = 32,   // .satfinite
};

// Description of a product. Encoded in plain integers, which are constants in machine code.
struct WarpgroupProduct {
  unsigned columns = 0;  // n: 8 to 256
  ptx::ScalarType d, a, b;
  std::uint32_t flags = 0;

  bool has(WarpgroupFlags f) const { return (flags & f) != 0; }
  std::uint32_t code() const {
    return (columns - 1) | static_cast<std::uint32_t>(d) << 8 | static_cast<std::uint32_t>(a) << 16 |
           static_cast<std::uint32_t>(b) << 24;
  }
  static WarpgroupProduct from_code(std::uint32_t code, std::uint32_t flags) {
    const auto type = [&](unsigned shift) { return static_cast<ptx::ScalarType>(code >> shift & 255); };
    return {(code & 255) + 1, type(8), type(16), type(24), flags};
  }
};

// Elements of A and B in order: by rows of A or columns of B, kWarpgroupDepthBytes each. 16-bit types may be stored by
// depth instead: 16 lines, each with all rows of A or all columns of B.
struct WarpgroupTiles {
  alignas(64) std::uint8_t a[kWarpgroupRows * kWarpgroupDepthBytes];
  alignas(64) std::uint8_t b[kMostWarpgroupColumns * kWarpgroupDepthBytes];
};

// Converts the warp's registers of A (4 planes of 32 words) to rows.
void warpgroup_rows(const std::uint32_t* planes, std::uint8_t* rows);

// `d`: planes of the warp's registers (columns/2 planes, for f16 columns/4). `add`: adds to d, otherwise overwrites it.
void multiply_warpgroup(const WarpgroupProduct& product, const WarpgroupTiles& tiles, bool add, std::uint32_t* d);

}  // namespace warpgrind::jit
