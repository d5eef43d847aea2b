// The arithmetic of wgmma: what one warp of the four computes, 16 of the 64 rows. Where its matrices stand in shared
// memory is src/device/calls/warpgroup_matrix.cpp.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

inline constexpr unsigned kWarpgroupWarps = 4, kWarpgroupRows = 16;  // of a warp: 64 in all
inline constexpr unsigned kMostWarpgroupColumns = 256;
// One wgmma multiplies 32 bytes of each row of A with as many of each column of B, whatever the type (256 bits, 32
// bytes, 16 halves, 8 tf32).
inline constexpr unsigned kWarpgroupDepthBytes = 32;

enum WarpgroupFlags : std::uint32_t {
  kWarpgroupNegateA = 1,
  kWarpgroupNegateB = 2,
  kWarpgroupAByDepth = 4,    // A in shared memory has its rows side by side (imm-trans-a; 16-bit types)
  kWarpgroupBByDepth = 8,    // B its columns (imm-trans-b)
  kWarpgroupAInShared = 16,  // A by a descriptor, not in registers
  kWarpgroupSaturate = 32,   // .satfinite
};

// A constant of the code: plain integers for machine code.
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

// A matrix as its elements stand one behind the other: by rows of A or columns of B, kWarpgroupDepthBytes each; or, of
// 16-bit types, `by depth`: 16 lines, each with all rows of A or columns of B.
struct WarpgroupTiles {
  alignas(64) std::uint8_t a[kWarpgroupRows * kWarpgroupDepthBytes];
  alignas(64) std::uint8_t b[kMostWarpgroupColumns * kWarpgroupDepthBytes];
};

// The warp's registers of A (4 planes of 32 words) as rows.
void warpgroup_rows(const std::uint32_t* planes, std::uint8_t* rows);

// d: planes of the warp's registers (columns/2 of them, of f16 columns/4). add: to what d holds, else to zero.
void multiply_warpgroup(const WarpgroupProduct& product, const WarpgroupTiles& tiles, bool add, std::uint32_t* d);

}  // namespace warpgrind::jit
