// The tiled kernel as text: the phases of one block, and the accesses of the whole product by formula.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "harness/program.h"

namespace phases {

// A block of matmul_tiled<width> at (block_y, block_x) of an n x n product.
struct Block {
  int n, width, y, x;
  int count() const { return lab::blocks(n, width); }
  bool inside(int row, int column) const { return row < n && column < n; }
};

inline std::string element(const char* matrix, int row, int column) {
  return std::string(matrix) + "[" + std::to_string(row) + "][" + std::to_string(column) + "]";
}

// The three matrices as text: the phase in which this block loads each element of A and B, # for its elements of C.
inline std::string pictures(const Block& block) {
  const auto cell = [&](bool used, int phase) {
    char text[8];
    std::snprintf(text, sizeof text, used ? "%3d" : "  .", phase);
    return std::string(text);
  };
  const auto padded = [&](std::string text) {
    text.resize(3 * block.n + 3, ' ');
    return text;
  };
  std::string out = padded("  A") + padded("  B") + "  C\n";
  for (int row = 0; row < block.n; ++row) {
    std::string a, b, c;
    for (int column = 0; column < block.n; ++column) {
      const bool own_row = row / block.width == block.y, own_column = column / block.width == block.x;
      a += cell(own_row, column / block.width);
      b += cell(own_column, row / block.width);
      c += own_row && own_column ? "  #" : "  .";
    }
    out += padded(a) + padded(b) + c + "\n";
  }
  return out;
}

// The work of thread (ty, tx) in one phase: its two loads, and its products from the tiles.
inline std::string thread_line(const Block& block, int phase, int ty, int tx) {
  const int row = block.y * block.width + ty, column = block.x * block.width + tx, first = phase * block.width;
  const auto load = [&](const char* matrix, int r, int c) {
    return block.inside(r, c) ? element(matrix, r, c) : std::string("0 (outside)");
  };
  std::string sum = block.inside(row, column) ? "" : " (outside, not stored)";
  for (int i = 0; i < block.width && first + i < block.n && block.inside(row, column); ++i)
    sum += (i ? " + " : "") + element("A", row, first + i) + " " + element("B", first + i, column);
  char text[256];
  std::snprintf(text, sizeof text, "  (%d,%d)   %-12s %-12s %s %s\n", ty, tx, load("A", row, first + tx).c_str(),
                load("B", first + ty, column).c_str(), phase ? "+=" : " =", sum.c_str());
  return text;
}

inline std::string describe(const Block& block) {
  std::string out = pictures(block);
  out += "The digit is the phase in which the block loads the element; # is what it computes.\n";
  for (int phase = 0; phase < block.count(); ++phase) {
    out +=
        "phase " + std::to_string(phase) + "\n thread    load of A    load of B    then, after the barrier, its sum\n";
    for (int ty = 0; ty < block.width; ++ty)
      for (int tx = 0; tx < block.width; ++tx) out += thread_line(block, phase, ty, tx);
  }
  return out;
}

// Warps of a width x width block that have a lane in the block's first `rows` rows and `columns` columns.
inline int warps_touching(int width, int rows, int columns) {
  int warps = 0;
  for (int first = 0; first < width * width; first += 32) {
    bool touched = false;
    for (int thread = first; thread < first + 32 && thread < width * width; ++thread)
      touched |= thread / width < rows && thread % width < columns;
    warps += touched;
  }
  return warps;
}

// Requests if every width x width block loads one tile of a rows x columns matrix, each tile once. A tile is whole or
// cut off at the matrix edge, so there are at most four kinds.
inline double tile_requests(long rows, long columns, int width) {
  struct Edge {
    double count;
    int length;
  };
  const auto edges = [width](long length) {
    std::vector<Edge> out;
    if (length >= width) out.push_back({double(length / width), width});
    if (length % width) out.push_back({1, int(length % width)});
    return out;
  };
  double requests = 0;
  for (const Edge& y : edges(rows))
    for (const Edge& x : edges(columns)) requests += y.count * x.count * warps_touching(width, y.length, x.length);
  return requests;
}

// Load requests of matmul_tiled<width> over all blocks and phases. Width 1: those of matmul_naive with 16 x 16 blocks.
inline double load_requests(long m, long n, long k, int width) {
  if (width == 1) return 2.0 * k * tile_requests(m, n, 16);
  return tile_requests(m, k, width) * lab::blocks(n, width) + tile_requests(k, n, width) * lab::blocks(m, width);
}

// The document's count beside the kernel's, and the performance ceiling of that ratio if nothing is cached.
inline std::string accesses(long m, long n, long k, const std::vector<int>& widths, double gb_per_s, const char* gpu) {
  char text[200];
  std::string out = "width W   M N K/(16 W)   load requests   ratio   ceiling G80   ceiling " + std::string(gpu) + "\n";
  for (const int width : widths) {
    const double formula = double(m) * n * k / (16.0 * width);
    std::snprintf(text, sizeof text, "%5d %15.0f %15.0f %8d %9.1f %15.1f GFLOP/s\n", width, formula,
                  load_requests(m, n, k, width), width, 86.4 / 4 * width, gb_per_s / 4 * width);
    out += text;
  }
  return out +
         "The document's N^3/(16 W) counts W/32 requests for a row of a tile. It is exact where W x W is a multiple "
         "of\n"
         "32 and W divides the sizes; else warps are not full and a request brings fewer elements. Load requests:\n"
         "worked out from the blocks and their edges; `warpgrind lab` shows the counted ones beside each rung.\n"
         "ratio: operations for each element loaded from global memory. Ceiling: bandwidth / 4 bytes x ratio, when\n"
         "every load goes to device memory; caches lift it. G80 has 86.4 GB/s: 21.6 GFLOP/s without tiles (W = 1),\n"
         "345.6 with W = 16 (the document prints 347.6; 86.4 / 4 x 16 is 345.6). W = 1 is the kernel without tiles.\n";
}

// Blocks for each tile width: large tiles need large matrices, otherwise most of the GPU is idle.
inline std::string blocks_by_tile(long m, long n, int sms) {
  char text[160];
  std::string out;
  for (const auto& [tile, rungs] : {std::pair{16, "naive, tiled"}, std::pair{32, "tiled 32"},
                                    std::pair{64, "registers 4x4"}, std::pair{128, "registers 8x8, double buffer"}}) {
    const double blocks = double(lab::blocks(m, tile)) * lab::blocks(n, tile);
    std::snprintf(text, sizeof text, "%-30s %3d x %-3d %10.0f blocks for %d SMs%s\n", rungs, tile, tile, blocks, sms,
                  blocks < sms ? ": the others are idle" : "");
    out += text;
  }
  std::snprintf(
      text, sizeof text,
      "A rung whose blocks do not fill the GPU is slow whatever it saves: 128 x 128 needs sizes of %.0f up.\n",
      128 * std::ceil(std::sqrt(double(sms))));
  return out + text;
}

}  // namespace phases
