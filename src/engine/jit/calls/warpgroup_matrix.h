// Arithmetic of wgmma for one of the four warps: 16 of the 64 rows. src/engine/device/calls/warpgroup_matrix.cpp finds
// the matrices in shared memory.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

inline constexpr unsigned kWarpgroupWarps = 4, kWarpgroupRows = 16;  // rows of one warp; 64 in all
inline constexpr unsigned kMostWarpgroupColumns = 256;
// One wgmma multiplies 32 bytes of each row of A by 32 bytes of each column of B, whatever the type (256 bits, 32
// bytes, 16 halves, 8 tf32). A sparse A has 32 bytes of stored elements, and a column of B 64 bytes.
inline constexpr unsigned kWarpgroupDepthBytes = 32;

enum WarpgroupFlags : std::uint32_t {
  kWarpgroupNegateA = 1,
  kWarpgroupNegateB = 2,
  kWarpgroupAByDepth = 4,    // A is stored by depth in shared memory (imm-trans-a; 16-bit types)
  kWarpgroupBByDepth = 8,    // B likewise (imm-trans-b)
  kWarpgroupAInShared = 16,  // A is given by a descriptor, not in registers
  kWarpgroupSaturate = 32,   // .satfinite
  kWarpgroupSparse = 64,     // half of A's elements are stored, and B is twice as deep
};
inline constexpr unsigned kWarpgroupSelectorShift = 8;  // of the sparsity selector in the flags

// Description of a product. Encoded in plain integers, which are constants in machine code.
struct WarpgroupProduct {
  unsigned columns = 0;  // n: 8 to 256
  ptx::ScalarType d, a, b;
  std::uint32_t flags = 0;

  bool has(WarpgroupFlags f) const { return (flags & f) != 0; }
  unsigned selector() const { return flags >> kWarpgroupSelectorShift; }
  unsigned depth_bytes_of_b() const { return has(kWarpgroupSparse) ? 2 * kWarpgroupDepthBytes : kWarpgroupDepthBytes; }
  std::uint32_t code() const {
    return (columns - 1) | static_cast<std::uint32_t>(d) << 8 | static_cast<std::uint32_t>(a) << 16 |
           static_cast<std::uint32_t>(b) << 24;
  }
  static WarpgroupProduct from_code(std::uint32_t code, std::uint32_t flags) {
    const auto type = [&](unsigned shift) { return static_cast<ptx::ScalarType>(code >> shift & 255); };
    return {(code & 255) + 1, type(8), type(16), type(24), flags};
  }
};

// Elements of A and B in order: by rows of A or columns of B, kWarpgroupDepthBytes each (of a column of B twice as many
// if A is sparse). 16-bit types may be stored by depth instead: 16 lines (of B 32), each with all rows of A or all
// columns of B. metadata: a word a lane.
struct WarpgroupTiles {
  alignas(64) std::uint8_t a[kWarpgroupRows * kWarpgroupDepthBytes];
  alignas(64) std::uint8_t b[kMostWarpgroupColumns * 2 * kWarpgroupDepthBytes];
  const std::uint32_t* metadata = nullptr;
};

// Converts the warp's registers of A (4 planes of 32 words) to rows.
void warpgroup_rows(const std::uint32_t* planes, std::uint8_t* rows);

// `d`: planes of the warp's registers (columns/2 planes, for f16 columns/4). `add`: adds to d, otherwise overwrites it.
// `capability`: of the GPU, times 10.
void multiply_warpgroup(const WarpgroupProduct& product, const WarpgroupTiles& tiles, bool add, unsigned capability,
                        std::uint32_t* d);

}  // namespace warpgrind::jit
