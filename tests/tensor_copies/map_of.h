// The tensor map of a case, for the virtual GPU.
#pragma once

#include "cases.h"
#include "gpu/tensor_map.h"

namespace tensor_copies {

template <class To>
To number_of(const Case& c, const char* key, std::size_t i = 0, std::int64_t otherwise = 0) {
  return static_cast<To>(c.get(key, i, otherwise));
}

inline warpgrind::TensorMap map_of(const Case& c, std::uint64_t address) {
  // CUtensorMapDataType: see TensorElement.
  warpgrind::TensorMap map;
  map.kind = c.has("wide")   ? warpgrind::TensorMapKind::im2col_wide
             : c.is_im2col() ? warpgrind::TensorMapKind::im2col
                             : warpgrind::TensorMapKind::tiled;
  map.wide_mode = number_of<warpgrind::TensorWideMode>(c, "wide");
  map.element = number_of<warpgrind::TensorElement>(c, "element");
  map.rank = static_cast<std::uint8_t>(c.rank());
  map.interleave = number_of<warpgrind::TensorInterleave>(c, "interleave");
  map.swizzle = number_of<warpgrind::TensorSwizzle>(c, "swizzle");
  map.fill = number_of<warpgrind::TensorFill>(c, "fill");
  map.address = address;
  for (std::size_t d = 0; d < c.rank(); ++d) {
    map.sizes[d] = number_of<std::uint32_t>(c, "dims", d) - 1;
    if (d + 1 < c.rank()) map.strides[d] = number_of<std::uint64_t>(c, "strides", d);
    map.box[d] = number_of<std::uint16_t>(c, "box", d);
    map.element_strides[d] = number_of<std::uint8_t>(c, "steps", d, 1);
    if (d + 2 < c.rank()) {
      map.lower_corner[d] = number_of<std::int16_t>(c, "lower", d);
      map.upper_corner[d] = number_of<std::int16_t>(c, "upper", d);
    }
  }
  map.channels_per_pixel = number_of<std::uint16_t>(c, "channels");
  map.pixels_per_column = number_of<std::uint16_t>(c, "pixels");
  return map;
}

}  // namespace tensor_copies
