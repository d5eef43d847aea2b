// What a matrix product asks of the tensor cores, as Nsight Compute counts it on an H200: lab/results/h200/counters,
// asynchronous.csv, has the counts of every shape and type of wgmma and mma, wmma.csv those of wmma. Each figure is per
// warp; the four warps of a warpgroup have equal parts of its products.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::sass {

// Pipe that Nsight Compute counts an instruction for: floating point of 32 bits and less, integers and bits, doubles.
enum class TensorPipe : std::uint8_t { none, hmma, imma, dmma, count };

struct TensorUse {
  TensorPipe pipe = TensorPipe::none;  // none: not measured (tcgen05, block scaling)
  bool group = false;                  // a product of a warpgroup (wgmma)
  float instructions = 0;              // machine instructions of the tensor cores
  float cycles = 0;                    // of the tensor pipe of one scheduler
  float beside = 0;                    // others, which prepare operands of types that the tensor cores lack
  float wavefronts = 0;                // of shared memory, for the operands of wgmma; no swizzle has bank conflicts
};

TensorUse tensor_use(const ptx::Instruction& i);

// Cycles that the tensor core of a scheduler is busy with it, in time: longer than the counted ones where shared memory
// cannot deliver the operands.
float tensor_time(const TensorUse& use);

}  // namespace warpgrind::sass
