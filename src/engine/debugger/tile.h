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
  std::vector<std::string> cells;  // row by row; "?" where a row cannot be read, or bits were never written
  std::uint64_t undefined = 0;     // cells with such bits
  std::string error;               // of the first row that cannot be read
  // Of the numbers that are no NaN; indices into `cells`.
  bool has_extremes = false;
  std::uint64_t minimum = 0, maximum = 0, not_a_number = 0;
};

inline constexpr std::uint64_t kMaxTileCells = 65536;

// The shape of the numbers of an array, row by row: its last dimension is a row. One dimension has rows of 16 numbers,
// or 8. `as`: reads the bytes as another type; kVoidType: as they are. Error: the value is no array in memory.
Result<TileShape> shape_of(LaneContext context, const Value& array, TypeId as = kVoidType);

// Error: too many cells, an element of unknown size, or rows that end within an element.
Result<Tile> read_tile(LaneContext context, const TileShape& shape, Format format = Format::natural);
// A line for each row, with the numbers of rows and columns. Equal rows that follow each other are one line: "3-7:".
// `width`: characters of a line; columns that do not fit are printed in parts below each other. 0: no limit.
std::string tile_text(const Tile& tile, std::size_t width = 0);

}  // namespace warpgrind::debugger
