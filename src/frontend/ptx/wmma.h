// Requests that ptxas makes of wmma.load and wmma.store for Hopper, and the order of a wmma fragment in registers.
//
// A fragment has lines (the rows of A, the columns of B) and a depth (k). Its registers are those of mma: one holds a
// tile of 8 lines, with `width` elements of each in each of four lanes. C and D have rows as lines, and columns as
// depth; m8n32k16 is the product of the transposed matrices, so there columns are lines. The machine code of ptxas 13.0
// for sm_90 says it for every shape, type, layout and space (tests/h200/wmma.cu), and an H200 counts these requests
// (lab/results/h200/wmma.csv).
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// Encoded as a plain integer where it is a constant in machine code.
struct MatrixShape {
  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;
  std::uint32_t code() const { return m | std::uint32_t{n} << 8 | std::uint32_t{k} << 16; }
  static MatrixShape from_code(std::uint32_t c) {
    return {static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c >> 8), static_cast<std::uint16_t>(c >> 16)};
  }
};

// Shape of an mma or wmma instruction; nullopt: it names none.
std::optional<MatrixShape> matrix_shape(const Instruction& i);

// Whether the `index`-th .row or .col modifier is .col.
bool is_column_major(const Instruction& i, unsigned index);

struct WmmaMove {
  enum class Way : std::uint8_t {
    tiles,     // a request is a tile: a lane's elements are neighbours in memory
    turned,    // 16-bit elements in the other order: tiles as they lie in memory, then MOVM transposes them
    elements,  // other elements in the other order: a request has one element a lane
    rows,      // LDSM: each lane has the address of 16 bytes of a line. A and B in shared memory
    turned_rows
  };
  Way way = Way::tiles;
  std::uint8_t element_bits = 0;
  std::uint8_t width = 0;           // elements of a lane in a tile
  std::uint8_t lines = 0;           // of the fragment
  std::uint16_t depth = 0;          // likewise
  bool paired = false;              // tiles of two times eight lines follow each other; otherwise those of one line do
  std::uint8_t requests = 0;        // of the warp
  std::uint8_t request_bytes = 0;   // of a lane
  std::uint8_t request_tiles = 1;   // of LDSM: 1, 2 or 4
  std::uint8_t request_lanes = 32;  // that have an address

  // Registers of a lane, of 32 bits or one f64. f16 fragments of A and B have eight, which hold these several times.
  unsigned registers() const;
  unsigned register_bits() const { return unsigned{lines} * depth * element_bits / 32; }  // of a lane, together
  // Elements of a line in memory, if the lines lie side by side.
  unsigned dense_stride() const { return is_turned() ? lines : depth; }
  // Memory has the lines of the fragment as columns.
  bool is_turned() const { return way == Way::turned || way == Way::elements || way == Way::turned_rows; }

  // Of the first element that a lane has in a request: element line * stride + place of the memory.
  struct Place {
    unsigned line = 0, place = 0;
  };
  Place place(unsigned request, unsigned lane) const;
  // Different lines of lane 0: ptxas computes an address for each, and adds the places as constants.
  unsigned line_count() const;
};

// nullopt: no wmma.load or wmma.store, or a form that does not exist.
std::optional<WmmaMove> wmma_move(const Instruction& i);

}  // namespace warpgrind::ptx
