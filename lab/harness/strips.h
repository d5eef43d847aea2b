// Partition of a plane into strips of columns: each warp streams down one.
#pragma once

#include <algorithm>

#include "harness/cuda.h"

namespace lab {

struct Strips {
  int chunk;  // rows that a warp finishes; it starts some rows earlier and ends some later
  int grid;   // blocks
};

// Cuts strips of `width` columns into chunks of rows, so that all warps that fit on the GPU at once are busy for
// `waves` waves. Long chunks repeat few rows, but the last wave must be full.
inline Strips cut_strips(long rows, long columns, int width, int warps_a_block, int blocks_an_sm, int waves) {
  constexpr int kShortest = 16;
  const long strips = blocks(columns, width);
  const long warps = static_cast<long>(blocks_an_sm) * warps_a_block * device_attribute(cudaDevAttrMultiProcessorCount);
  const long pieces = std::max(1L, std::min(warps * waves / strips, rows / kShortest));
  const int chunk = blocks(rows, pieces);
  return {chunk, blocks(strips * blocks(rows, chunk), warps_a_block)};
}

}  // namespace lab
