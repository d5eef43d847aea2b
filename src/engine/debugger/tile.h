// Memory as a grid of numbers: a tile in shared memory, a part of a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "debugger/format.h"
#include "debugger/value.h"

namespace warpgrind::debugger {

struct TileShape {
  Address address;
  // Columns count numbers: of an array of half2 or of packed fp4 there are two in each element.
  std::uint64_t rows = 1, columns = 1;
  std::uint64_t row_stride = 0;  // bytes; 0: rows follow each other
  TypeId element = kVoidType;
};

struct Tile {
  TileShape shape;
  std::vector<std::string> cells;  // row by row; "?" where a row cannot be read
  std::string error;               // of the first such row
  // Of the numbers that are no NaN; indices into `cells`.
  bool has_extremes = false;
  std::uint64_t minimum = 0, maximum = 0, not_a_number = 0;
};

inline constexpr std::uint64_t kMaxTileCells = 65536;

// Error: too many cells, an element of unknown size, or rows that end within an element.
Result<Tile> read_tile(LaneContext context, const TileShape& shape, Format format = Format::natural);
// A line for each row, with the numbers of rows and columns.
std::string tile_text(const Tile& tile);

}  // namespace warpgrind::debugger
