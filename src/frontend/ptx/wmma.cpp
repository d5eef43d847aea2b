#include "ptx/wmma.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::ptx {
namespace {

constexpr unsigned kTileLines = 8, kTileLanes = 4;

// 0: not a type of wmma.
unsigned element_bits(ScalarType type) {
  switch (type) {
    case ScalarType::b1:
      return 1;
    case ScalarType::s4:
    case ScalarType::u4:
      return 4;
    case ScalarType::s8:
    case ScalarType::u8:
      return 8;
    case ScalarType::f16:
    case ScalarType::bf16:
      return 16;
    case ScalarType::tf32:
    case ScalarType::f32:
    case ScalarType::s32:
      return 32;
    case ScalarType::f64:
      return 64;
    default:
      return 0;
  }
}

}  // namespace

std::optional<MatrixShape> matrix_shape(const Instruction& i) {
  static constexpr struct {
    Modifier modifier;
    MatrixShape shape;
  } kShapes[] = {
      {Modifier::m8n8k4, {8, 8, 4}},       {Modifier::m8n8k16, {8, 8, 16}},     {Modifier::m8n8k32, {8, 8, 32}},
      {Modifier::m8n8k128, {8, 8, 128}},   {Modifier::m16n8k4, {16, 8, 4}},     {Modifier::m16n8k8, {16, 8, 8}},
      {Modifier::m16n8k16, {16, 8, 16}},   {Modifier::m16n8k32, {16, 8, 32}},   {Modifier::m16n8k64, {16, 8, 64}},
      {Modifier::m16n8k128, {16, 8, 128}}, {Modifier::m16n8k256, {16, 8, 256}}, {Modifier::m16n16k8, {16, 16, 8}},
      {Modifier::m16n16k16, {16, 16, 16}}, {Modifier::m32n8k16, {32, 8, 16}},   {Modifier::m8n32k16, {8, 32, 16}},
  };
  for (const auto& s : kShapes)
    if (i.has(s.modifier)) return s.shape;
  return std::nullopt;
}

bool is_column_major(const Instruction& i, unsigned index) {
  for (Modifier m : i.modifiers)
    if (m == Modifier::row || m == Modifier::col)
      if (index-- == 0) return m == Modifier::col;
  return false;
}

std::optional<WmmaMove> wmma_move(const Instruction& i) {
  using Way = WmmaMove::Way;
  const auto shape = matrix_shape(i);
  if (!shape || (i.opcode != Opcode::wmma_load && i.opcode != Opcode::wmma_store)) return std::nullopt;
  const bool is_a = i.has(Modifier::a), is_b = i.has(Modifier::b), factor = is_a || is_b;
  const bool transposed = shape->n == 32;  // the product of the transposed matrices
  WmmaMove w;
  const unsigned bits = element_bits(i.type());
  if (bits == 0 || (!factor && bits < 16)) return std::nullopt;
  w.element_bits = static_cast<std::uint8_t>(bits);
  w.width = static_cast<std::uint8_t>(factor ? std::max(1u, 32 / bits) : 2);
  w.lines = factor ? (is_a ? shape->m : shape->n) : (transposed ? shape->n : shape->m);
  w.depth = factor ? shape->k : (transposed ? shape->m : shape->n);
  const unsigned tile_depth = kTileLanes * w.width;
  if (w.depth % tile_depth != 0 || w.lines % kTileLines != 0) return std::nullopt;
  const unsigned tiles = w.lines / kTileLines * (w.depth / tile_depth);
  w.paired = w.lines > kTileLines && (!factor || is_b == transposed);
  const bool column = is_column_major(i, 0), lines_first = column != (is_b || (!factor && transposed));
  if (lines_first && bits < 8) return std::nullopt;
  const unsigned whole = w.width * bits / 8;  // bytes of a lane in a tile
  const bool by_rows = factor && i.space == StateSpace::shared && (bits == 16 || (bits < 16 && !lines_first));
  if (by_rows) {
    w.way = lines_first ? Way::turned_rows : Way::rows;
    w.request_tiles = static_cast<std::uint8_t>(std::min(4u, w.lines > 16 ? tiles / 2 : tiles));
    w.request_bytes = kTileLanes * sizeof(std::uint32_t);
    w.request_lanes = static_cast<std::uint8_t>(kTileLines * w.request_tiles);
  } else {
    w.way = !lines_first ? Way::tiles : bits == 16 ? Way::turned : Way::elements;
    w.request_bytes = static_cast<std::uint8_t>(w.way == Way::elements ? bits / 8 : whole);
  }
  w.requests = static_cast<std::uint8_t>(w.way == Way::elements ? tiles * w.width : tiles / w.request_tiles);
  return w;
}

unsigned WmmaMove::registers() const {
  const unsigned tiles = unsigned{lines} / kTileLines * (depth / (kTileLanes * width));
  return tiles * std::max(1u, width * element_bits / std::max(32u, unsigned{element_bits}));
}

WmmaMove::Place WmmaMove::place(unsigned request, unsigned lane) const {
  const unsigned tile_depth = kTileLanes * width, across = depth / tile_depth;
  const bool by_rows = way == Way::rows || way == Way::turned_rows;
  const unsigned tile = by_rows                ? request * request_tiles + lane / kTileLines % request_tiles
                        : way == Way::elements ? request / width
                                               : request;
  WG_ASSERT(request < requests && lane < 32 && across > 0);
  const unsigned line = kTileLines * (paired ? tile / (2 * across) * 2 + tile % 2 : tile / across);
  const unsigned at = tile_depth * (paired ? tile / 2 % across : tile % across);
  const unsigned row = lane / kTileLanes, quarter = lane % kTileLanes;
  switch (way) {
    case Way::tiles:
      return {line + row, at + quarter * width};
    case Way::turned:
      return {at + row, line + quarter * width};
    case Way::elements:
      return {at + quarter * width + request % width, line + row};
    case Way::rows:
      return {line + lane % kTileLines, at};
    case Way::turned_rows:
      return {at + lane % kTileLines, line};
  }
  return {};
}

unsigned WmmaMove::line_count() const {
  std::uint64_t seen[4] = {};  // depth is at most 128
  unsigned count = 0;
  for (unsigned r = 0; r < requests; ++r) {
    const unsigned line = place(r, 0).line;
    std::uint64_t& word = seen[line / 64 % 4];
    const std::uint64_t bit = std::uint64_t{1} << line % 64;
    count += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }
  return count;
}

}  // namespace warpgrind::ptx
