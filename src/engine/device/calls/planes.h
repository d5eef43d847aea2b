// Parameter layout of functions called from machine code: word w of lane l is at [w*32 + l].
#pragma once

#include <cstdint>

#include "gpu/types.h"
#include "jit/abi.h"

namespace warpgrind::device {

inline std::uint32_t plane32(const std::uint32_t* planes, unsigned word, unsigned lane) {
  return planes[word * kWarpSize + lane];
}
inline std::uint64_t plane64(const std::uint32_t* planes, unsigned word, unsigned lane) {
  return plane32(planes, word, lane) | std::uint64_t{plane32(planes, word + 1, lane)} << 32;
}
inline void set_plane32(std::uint32_t* planes, unsigned word, unsigned lane, std::uint32_t value) {
  planes[word * kWarpSize + lane] = value;
}
inline void set_plane64(std::uint32_t* planes, unsigned word, unsigned lane, std::uint64_t value) {
  set_plane32(planes, word, lane, static_cast<std::uint32_t>(value));
  set_plane32(planes, word + 1, lane, static_cast<std::uint32_t>(value >> 32));
}

}  // namespace warpgrind::device
