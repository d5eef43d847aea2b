// Layout of the texels of a texture, on the host and in the hardware.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/memory/texture.h"

namespace warpgrind::device {

struct TexelPlane {
  static constexpr unsigned kTileBytes = 16, kTileRows = 2;

  const std::uint8_t* data;
  std::int64_t size[3];                         // texels: width, rows, slices
  std::uint64_t row_bytes, slice_bytes, bytes;  // of a row, a slice, a texel
  bool tiled;
  std::uint64_t tiles, tile_rows, first_tile;

  explicit TexelPlane(const Texture& t) : bytes(t.format().bytes()) {
    const TextureResource& r = t.resource;
    if (r.kind == TextureResource::Kind::array) {
      const ArrayShape& shape = r.array->shape();
      data = r.array->data();
      row_bytes = r.array->row_bytes(), slice_bytes = r.array->slice_bytes();
      size[0] = static_cast<std::int64_t>(shape.width), size[1] = static_cast<std::int64_t>(shape.rows());
      size[2] = static_cast<std::int64_t>(shape.slices());
      tiled = shape.height != 0;
    } else {
      data = reinterpret_cast<const std::uint8_t*>(r.address);
      row_bytes = r.pitch, slice_bytes = 0;
      size[0] = static_cast<std::int64_t>(r.width);
      size[1] = static_cast<std::int64_t>(r.kind == TextureResource::Kind::pitched ? r.height : 1);
      size[2] = 1;
      tiled = false;
    }
    tiles = (row_bytes + kTileBytes - 1) / kTileBytes;
    tile_rows = (static_cast<std::uint64_t>(size[1]) + kTileRows - 1) / kTileRows;
    first_tile = reinterpret_cast<std::uint64_t>(data) & ~std::uint64_t{511};
  }

  bool holds(std::int64_t x, std::int64_t y, std::int64_t slice) const {
    return (x | y | slice) >= 0 && x < size[0] && y < size[1] && slice < size[2];
  }
  const std::uint8_t* at(std::uint64_t x, std::uint64_t y, std::uint64_t slice) const {
    return data + slice * slice_bytes + y * row_bytes + x * bytes;
  }
  // The hardware stores arrays of several rows in blocks. A 32-byte sector there is 16 bytes of one row and the 16
  // bytes below (measured on an H200 with linear filtering of 2D arrays of 4-byte texels: sectors to 0.003 %).
  std::uint64_t layout(std::uint64_t x, std::uint64_t y, std::uint64_t slice) const {
    if (!tiled) return reinterpret_cast<std::uint64_t>(at(x, y, slice));
    const std::uint64_t byte = x * bytes, tile = (slice * tile_rows + y / kTileRows) * tiles + byte / kTileBytes;
    return first_tile + tile * kTileBytes * kTileRows + y % kTileRows * kTileBytes + byte % kTileBytes;
  }
  // Bytes from the first to behind the last texel: the larger of the host's and the hardware's layout.
  std::uint64_t stretch() const {
    const std::uint64_t slices = static_cast<std::uint64_t>(size[2]), rows = static_cast<std::uint64_t>(size[1]);
    const std::uint64_t held = slices * tile_rows * tiles * kTileBytes * kTileRows, slice = rows * row_bytes;
    return std::max({held, slices * slice_bytes, slice});
  }
};

}  // namespace warpgrind::device
