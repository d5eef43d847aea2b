// The box that one tensor copy moves, taken apart into runs of neighbouring bytes (PTX ISA, "Tensors"). What the manual
// leaves open is as an H200 does it: tests/tensor_copies holds what one did.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/tensor_map.h"

namespace warpgrind {

enum class TensorMode : std::uint8_t {
  tile,
  rows,  // .tile::gather4 and .tile::scatter4: four rows of a matrix
  im2col,
  im2col_w,     // pixels along W alone: one row of each image. Not held against hardware, as im2col_w_128
  im2col_w_128  // 128 such pixels
};

struct TensorCopy {
  TensorMode mode = TensorMode::tile;
  bool stores = false;                                     // to global memory
  std::array<std::int32_t, kMaxTensorRank> coordinates{};  // rows: the column, and four rows
  std::array<std::uint16_t, 3> offsets{};                  // im2col: of W, H, D; im2col_w: wHalo and wOffset

  bool columns() const { return mode == TensorMode::im2col || along_width(); }
  bool along_width() const { return mode == TensorMode::im2col_w || mode == TensorMode::im2col_w_128; }
  std::uint16_t halo() const { return along_width() ? offsets[0] : 0; }
};

// Neighbouring bytes, in global as in shared memory.
struct TensorRun {
  std::uint64_t address = 0;  // in global memory; 0 if outside
  std::uint32_t shared = 0;   // offset in the box, before the swizzle
  std::uint32_t bytes = 0;    // in shared memory; in global memory packed elements may take fewer
  bool inside = false;        // false: outside of the tensor; filled, and not stored
};

// What a step along dimension 0 moves: an element, 16 packed ones, or in an interleaved tensor (NC/8HWC8: dimensions W,
// H, C/8, N) a slice of channels.
struct TensorGroup {
  std::uint32_t elements = 1;
  std::uint32_t memory = 1;  // bytes in global memory
  std::uint32_t shared = 1;  // and in shared memory
};
TensorGroup tensor_group(const TensorMap& map);

struct TensorBox {
  std::uint32_t bytes = 0;  // in shared memory; an mbarrier counts those in global memory
  std::uint32_t span = 0;   // bytes from the first to the last one in shared memory
};

unsigned element_bits(TensorElement element);
bool is_floating(TensorElement element);

// Why a map cannot serve such a copy of `rank` dimensions; empty: it can. The other functions need a map without a
// problem.
std::string tensor_problem(const TensorMap& map, TensorMode mode, unsigned rank);

// Why a copy at these coordinates is an illegal instruction; empty: it is none.
std::string coordinate_problem(const TensorMap& map, const TensorCopy& copy);

TensorBox tensor_box(const TensorMap& map, const TensorCopy& copy);
// Replaces `runs`, in ascending order of `shared`. They cover the box's bytes. Stores move whole chunks of 16 bytes: a
// row that the tensor's end cuts may write up to 15 bytes beyond it, which lie before the next row.
void tensor_runs(const TensorMap& map, const TensorCopy& copy, std::vector<TensorRun>& runs);

// The rows of the box in the order of shared memory: rows of a tile, gathered rows, or pixels of a column.
struct TensorRows {
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  // of a row
  std::uint32_t pitch = 0;  // bytes from one row to the next, before the swizzle
};
TensorRows tensor_rows(const TensorMap& map, const TensorCopy& copy);
// Coordinates of the first element of each row.
std::vector<std::array<std::int64_t, kMaxTensorRank>> row_coordinates(const TensorMap& map, const TensorCopy& copy);

// Where the byte of this address of shared memory lies instead.
std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t address);

// Sets `bytes` bytes to what a load gives outside of the tensor. `bytes` is a multiple of the element's.
void fill_outside(const TensorMap& map, std::uint8_t* to, std::size_t bytes);
// A load rounds floats to tf32 for such a map. Nothing else changes values: FTZ matters to reductions alone.
bool rounds_elements(TensorElement element);
void round_elements(std::uint8_t* bytes, std::size_t count);

}  // namespace warpgrind
