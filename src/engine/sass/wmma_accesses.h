// Machine instructions of wmma.load and wmma.store, as ptxas 13.0 makes them for sm_90: requests, their addresses, and
// what brings elements to their lanes. Counted in the machine code of tests/h200/wmma.cu.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::sass {

struct WmmaCode {
  float lsu = 0;           // requests, and MOVM
  float alu = 0, fma = 0;  // addresses, and PRMT and IMAD of bytes
  float total() const { return lsu + alu + fma; }
};

// `constant_stride`: known to ptxas, so that one address serves all lines. Without the part that does not change in a
// loop: kWmmaLane once a kernel, and kWmmaStride for each stride.
WmmaCode wmma_code(const ptx::Instruction& i, bool constant_stride);

inline constexpr float kWmmaLane = 4;    // S2R, and the lane's line and place
inline constexpr float kWmmaStride = 2;  // the lane's distance from the matrix

}  // namespace warpgrind::sass
