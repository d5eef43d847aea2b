// Basic types that every folder shares: lanes, dimensions, address windows, state spaces.
#pragma once

#include <cstdint>

namespace warpgrind {

inline constexpr unsigned kWarpSize = 32;

// Bit i is lane i of a warp.
using LaneMask = std::uint32_t;
inline constexpr LaneMask kFullMask = 0xffffffffu;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// Windows of generic addresses: generic address = window + offset in the space. cvta is an addition, isspacep a range
// check. The windows lie far above any user-space host address (47 bits), so they cannot overlap an allocation.
inline constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000ull;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000ull;
inline constexpr std::uint64_t kWindowSize = 0x0000'0001'0000'0000ull;
// Offsets in the shared window. The memory of the block of rank r of a cluster begins at r << kClusterShift, for that
// block too: programs clear rank bits to name the even block of a pair. kReservedShared bytes behind it begins memory
// of the driver: from compute capability 8.0 on, cooperative groups keep tiles of several warps there.
inline constexpr unsigned kClusterShift = 24;
inline constexpr std::uint64_t kReservedShared = 0x00ff'0000, kReservedSharedBytes = 1024;

// PTX ISA, "State Spaces".
enum class StateSpace : std::uint8_t { none, reg, sreg, constant, global, local, param, shared, generic, texture };

const char* name(StateSpace space);

}  // namespace warpgrind
