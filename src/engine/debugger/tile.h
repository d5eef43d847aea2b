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
  std::uint64_t last_row = 0;  // columns of the last row; 0: as many as the others have
};

struct Tile {
  TileShape shape;
  std::vector<std::string> cells;  // row by row; "?" where a row cannot be read, or was never written
  std::string error;               // of the first row that cannot be read
  std::uint64_t undefined = 0;     // cells that were never written
  // Of the numbers that are no NaN; indices into `cells`.
  bool has_extremes = false;
  std::uint64_t minimum = 0, maximum = 0, not_a_number = 0;
};

inline constexpr std::uint64_t kMaxTileCells = 65536;

// Error: too many cells, an element of unknown size, or rows that end within an element.
Result<Tile> read_tile(LaneContext context, const TileShape& shape, Format format = Format::natural);
struct TileLayout {
  std::size_t width = 0;   // characters of a line: more columns are printed in parts below each other. 0: no limit
  bool is_linear = false;  // a row is named by the index of its first number, not by its own
};
// Other rows for an array of one dimension: as many columns as fit into `width`, a power of two.
void fit_columns(Tile& tile, std::size_t width);
// A line for each row, with the numbers of rows and columns. Equal rows that follow each other are one line: "3-7:".
std::string tile_text(const Tile& tile, const TileLayout& layout = {});

}  // namespace warpgrind::debugger
