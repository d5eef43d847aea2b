// Text drawings of a tensor copy: its box in the tensor, and its pieces of 16 bytes in the banks of shared memory.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/gpu_model.h"
#include "report/terminal.h"
#include "results/tensor_copies.h"

namespace warpgrind::report {

inline constexpr std::uint64_t kBoxPiece = 16;          // bytes that a swizzle keeps together
inline constexpr std::uint64_t kBankRow = 128;          // bytes of all banks
inline constexpr std::uint64_t kSwizzlePattern = 1024;  // bytes of shared memory after which every swizzle repeats

// The swizzle for rows of this many bytes with which 8 rows of 16 bytes lie in different banks; none: there is none.
TensorSwizzle fitting_swizzle(std::uint32_t row_bytes);

// The two innermost dimensions; im2col: the pixels of the first image. Not to scale: each edge of the tensor and the
// box has its coordinate. "#": the box; "o": the box outside of the tensor; ".": the rest of the tensor.
std::string box_grid(const results::RecordedCopy& copy, const TextOptions& options);

// Rows of 128 bytes. "12.3": piece 3 of row 12 of the box; "o": outside of the tensor; blank: not part of the box.
std::string piece_grid(const results::RecordedCopy& copy, std::uint64_t shared, const TextOptions& options);

// Passes through the banks (wavefronts) of `lanes` lanes that read `bytes` bytes each, lane k in row k of the box. The
// worst of all columns.
std::uint64_t column_passes(const results::RecordedCopy& copy, std::uint64_t shared, TensorSwizzle swizzle,
                            const GpuModel& model, unsigned lanes, unsigned bytes);

}  // namespace warpgrind::report
