// Units of memory traffic on every GPU since compute capability 3.0: sectors of 32 bytes, lines of 128 bytes (four
// sectors).
#pragma once

namespace warpgrind {

inline constexpr unsigned kSectorBytes = 32, kSectorShift = 5, kLineShift = 7;

}  // namespace warpgrind
