// The tensor map of a case, made by the driver of a real GPU.
#pragma once

#include <cuda.h>

#include "cases.h"

namespace tensor_copies {

inline CUresult encode(const Case& c, std::uint64_t address, CUtensorMap* map) {
  cuuint64_t dims[5] = {}, strides[5] = {};
  cuuint32_t box[5] = {}, steps[5] = {};
  int lower[3] = {}, upper[3] = {};
  const std::size_t rank = c.rank();
  for (std::size_t d = 0; d < rank; ++d) {
    dims[d] = static_cast<cuuint64_t>(c.get("dims", d));
    strides[d] = static_cast<cuuint64_t>(c.get("strides", d));
    box[d] = static_cast<cuuint32_t>(c.get("box", d));
    steps[d] = static_cast<cuuint32_t>(c.get("steps", d, 1));
  }
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    // In the order D, H, W of the tensor's description; the cases have W first, as coordinates.
    lower[d] = static_cast<int>(c.get("lower", d));
    upper[d] = static_cast<int>(c.get("upper", d));
  }
  void* tensor = reinterpret_cast<void*>(address);
  const auto type = static_cast<CUtensorMapDataType>(c.get("element"));
  const auto interleave = static_cast<CUtensorMapInterleave>(c.get("interleave"));
  const auto swizzle = static_cast<CUtensorMapSwizzle>(c.get("swizzle"));
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(c.get("fill"));
  if (c.is_im2col())
    return cuTensorMapEncodeIm2col(map, type, static_cast<cuuint32_t>(rank), tensor, dims, strides, lower, upper,
                                   static_cast<cuuint32_t>(c.get("channels")), static_cast<cuuint32_t>(c.get("pixels")),
                                   steps, interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  return cuTensorMapEncodeTiled(map, type, static_cast<cuuint32_t>(rank), tensor, dims, strides, box, steps, interleave,
                                swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
}

}  // namespace tensor_copies
