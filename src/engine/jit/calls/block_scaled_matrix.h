// mma and mma.sp with block scaling (.block_scale, compute capability 12): each block of a row of A, and of a column of
// B, has a scale. Nothing here is held against hardware: layouts are those of the PTX manual, sums those that the
// authors of MMA-Sim (Xie et al., 2025) found on an RTX PRO 6000.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

// Flags of wg_mma_block_scaled.
inline constexpr std::uint32_t kScalesOfRow = 7;         // 1, 2 or 4: .scale_vec_size
inline constexpr std::uint32_t kScalesHaveMantissa = 8;  // .ue4m3 instead of .ue8m0

void register_block_scaled_symbols();  // wg_mma_block_scaled

}  // namespace warpgrind::jit
