// Text drawings of tensor copies.
#include "report/tensor_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/access_rules.h"
#include "report/format.h"

namespace warpgrind::report {
namespace {

using results::RecordedCopy;

constexpr int kBoxLabel = 11;  // columns before the bar, as in the grids of requests
constexpr unsigned kPieces = kBankRow / kBoxPiece;

constexpr char kBoxSign = '#', kOutsideSign = 'o', kTensorSign = '.';

std::string painted(const std::string& text, const char* code, const TextOptions& options) {
  return options.colour ? fmt::format("{}{}\033[0m", code, text) : text;
}
constexpr const char *kBright = "\033[1;36m", *kRed = "\033[1;31m", *kDim = "\033[2m";

std::string painted_cells(const std::string& cells, const TextOptions& options) {
  std::string out;
  for (std::size_t i = 0; i < cells.size();) {
    const std::size_t end = std::min(cells.find_first_not_of(cells[i], i), cells.size());
    const char* const code = cells[i] == kBoxSign ? kBright : cells[i] == kOutsideSign ? kRed : kDim;
    const std::string run = cells.substr(i, end - i);
    out += cells[i] == ' ' || cells[i] == '|' ? run : painted(run, code, options);
    i = end;
  }
  return out;
}

// One dimension of the drawing: its parts between the edges of the tensor and the box.
struct Axis {
  struct Part {
    std::int64_t begin = 0;
    bool tensor = false, box = false;
  };
  std::vector<Part> parts;
  std::int64_t end = 0;
};

Axis axis_of(std::int64_t size, const std::vector<std::pair<std::int64_t, std::int64_t>>& box) {
  std::set<std::int64_t> edges{0, size};
  for (const auto& [begin, end] : box) edges.insert({begin, end});
  Axis axis;
  axis.end = *edges.rbegin();
  for (const std::int64_t edge : edges) {
    if (edge == axis.end) break;
    const bool in_box = std::any_of(box.begin(), box.end(), [&](auto b) { return b.first <= edge && edge < b.second; });
    axis.parts.push_back({edge, edge >= 0 && edge < size, in_box});
  }
  return axis;
}

Axis axis_of(const RecordedCopy& c, unsigned d) {
  const std::int64_t size = std::int64_t{c.map.sizes[d]} + 1, first = c.copy.coordinates[d];
  std::vector<std::pair<std::int64_t, std::int64_t>> box;
  if (c.copy.mode == TensorMode::rows && d == 1)
    for (unsigned i = 1; i < kMaxTensorRank; ++i) box.emplace_back(c.copy.coordinates[i], c.copy.coordinates[i] + 1);
  else
    box.emplace_back(first, first + c.map.box[d]);
  return axis_of(size, box);
}

// Is the box wholly outside in a dimension that is not drawn?
bool misses_tensor(const RecordedCopy& c) {
  for (unsigned d = 2; d < c.map.rank; ++d) {
    const std::int64_t first = c.copy.coordinates[d], size = std::int64_t{c.map.sizes[d]} + 1;
    if (first >= size || first + c.map.box[d] <= 0) return true;
  }
  return false;
}

// "0         128       192": each edge above its bar.
std::string edges_text(const Axis& axis, unsigned width) {
  std::string out;
  for (std::size_t i = 0; i <= axis.parts.size(); ++i) {
    const std::int64_t edge = i < axis.parts.size() ? axis.parts[i].begin : axis.end;
    out += left(std::to_string(edge), static_cast<int>(width + 1));
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

std::string tile_grid(const RecordedCopy& c, const TextOptions& options) {
  constexpr unsigned kWidth = 15;
  const Axis across = axis_of(c, 0);
  const Axis down = c.map.rank > 1 ? axis_of(c, 1) : axis_of(1, {{0, 1}});
  const bool missed = misses_tensor(c);
  std::string out = fmt::format("{} {}\n", right("dimension 0", kBoxLabel), edges_text(across, kWidth));
  for (const Axis::Part& row : down.parts) {
    std::string cells = "|";
    for (const Axis::Part& part : across.parts) {
      const bool box = row.box && part.box, tensor = row.tensor && part.tensor;
      cells += std::string(kWidth, box      ? (tensor && !missed ? kBoxSign : kOutsideSign)
                                   : tensor ? kTensorSign
                                            : ' ') +
               '|';
    }
    const std::string label =
        c.map.rank > 1 ? right(std::to_string(row.begin), kBoxLabel) : std::string(kBoxLabel, ' ');
    out += label + " " + painted_cells(cells, options) + "\n";
    if (row.box && c.copy.mode == TensorMode::tile)
      out += std::string(kBoxLabel + 1, ' ') + painted_cells(cells, options) + "\n";
  }
  if (c.map.rank > 1) out += right(std::to_string(down.end), kBoxLabel) + "  dimension 1 downwards; not to scale\n";
  return out;
}

// A cell for each pixel of the plane of W and H around the column's first image (and first plane along D).
std::string pixel_grid(const RecordedCopy& c, const TextOptions& options) {
  constexpr std::int64_t kMostAcross = 64, kMostDown = 24;
  const unsigned w = c.map.interleave == TensorInterleave::none ? 1 : 0, spatial = c.map.rank - 2u;
  const auto rows = row_coordinates(c.map, c.copy);
  const std::int64_t width = std::int64_t{c.map.sizes[w]} + 1;
  const std::int64_t height = spatial > 1 ? std::int64_t{c.map.sizes[w + 1]} + 1 : 1;
  const auto height_of = [&](const auto& at) { return spatial > 1 ? at[w + 1] : 0; };
  const auto in_plane = [&](const auto& at) {
    for (unsigned d = w + 2; d < c.map.rank; ++d)
      if (at[d] != rows[0][d]) return false;
    return spatial > 1 || at[c.map.rank - 1u] == rows[0][c.map.rank - 1u];
  };
  std::int64_t left_edge = 0, right_edge = width, top = height_of(rows[0]), bottom = top + 1;
  for (const auto& at : rows) {
    if (!in_plane(at)) continue;
    left_edge = std::min(left_edge, at[w]);
    right_edge = std::max(right_edge, at[w] + 1);
    top = std::min(top, height_of(at));
    bottom = std::max(bottom, height_of(at) + 1);
  }
  top = std::max(top - 1, std::min<std::int64_t>(top, 0));
  bottom = std::min(bottom + 1, std::max(bottom, height));
  if (right_edge - left_edge > kMostAcross || bottom - top > kMostDown) return "";
  std::string out =
      fmt::format("{} W from {} to {}, H downwards\n", std::string(kBoxLabel + 1, ' '), left_edge, right_edge - 1);
  for (std::int64_t y = top; y < bottom; ++y) {
    std::string cells(static_cast<std::size_t>(right_edge - left_edge), ' ');
    for (std::int64_t x = 0; x < width && y >= 0 && y < height; ++x)
      cells[static_cast<std::size_t>(x - left_edge)] = kTensorSign;
    for (const auto& at : rows) {
      if (!in_plane(at) || height_of(at) != y) continue;
      char& cell = cells[static_cast<std::size_t>(at[w] - left_edge)];
      cell = cell == ' ' ? kOutsideSign : kBoxSign;
    }
    out += fmt::format("{} |{}|\n", right(std::to_string(y), kBoxLabel), painted_cells(cells, options));
  }
  return out;
}

// A piece of the box: 16 bytes, which every swizzle but one keeps together.
struct Piece {
  std::uint32_t row = 0, piece = 0;
  bool used = false, inside = false, outside = false;
  bool flipped = false;  // its halves of 8 bytes are exchanged
};

// By place: 16 bytes of shared memory, from the first line of 128 bytes that the box touches.
std::vector<Piece> pieces_by_place(const RecordedCopy& c, std::uint64_t shared) {
  const TensorRows rows = tensor_rows(c.map, c.copy);
  const std::uint64_t span = tensor_box(c.map, c.copy).span, begin = shared / kBankRow * kBankRow;
  std::vector<Piece> pieces((shared + span - begin + kBankRow - 1) / kBankRow * kPieces);
  std::vector<TensorRun> runs;
  tensor_runs(c.map, c.copy, runs);
  for (const TensorRun& run : runs)
    for (std::uint64_t at = run.shared / kBoxPiece * kBoxPiece; at < std::uint64_t{run.shared} + run.bytes;
         at += kBoxPiece) {
      const std::uint64_t place = swizzled(c.map.swizzle, shared + at);
      const std::uint64_t index = (place - begin) / kBoxPiece;
      if (index >= pieces.size()) pieces.resize((index / kPieces + 1) * kPieces);
      Piece& p = pieces[index];
      p.row = static_cast<std::uint32_t>(at / rows.pitch);
      p.piece = static_cast<std::uint32_t>(at % rows.pitch / kBoxPiece);
      p.used = true;
      (run.inside ? p.inside : p.outside) = true;
      p.flipped = (place & (kBoxPiece / 2)) != 0;
    }
  return pieces;
}

std::string cell_text(const Piece& p) {
  if (!p.used) return "";
  return fmt::format("{}.{}{}{}", p.row, p.piece, p.flipped ? "~" : "", p.outside ? "o" : "");
}

// The lines to draw: one pattern of the swizzle, each line whose outside differs from the line before, and the last.
std::vector<bool> shown_lines(const std::vector<Piece>& pieces) {
  constexpr std::size_t kMost = 24;
  const std::size_t lines = pieces.size() / kPieces, pattern = kSwizzlePattern / kBankRow;
  const auto sides = [&](std::size_t line) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < kPieces; ++i) bits |= (pieces[line * kPieces + i].outside ? 1u : 0u) << i;
    return std::popcount(bits);
  };
  std::vector<bool> out(lines, false);
  std::size_t shown = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    const bool differs = line > 0 && sides(line) != sides(line - 1);
    out[line] = line < pattern || line + 1 == lines || (differs && shown < kMost);
    if (differs && out[line]) out[line - 1] = true;
    shown += out[line];
  }
  // A gap of one line is not worth its mark.
  for (std::size_t line = 1; line + 1 < lines; ++line)
    if (!out[line] && out[line - 1] && out[line + 1]) out[line] = true;
  return out;
}

}  // namespace

TensorSwizzle fitting_swizzle(std::uint32_t row_bytes) {
  return row_bytes == 128  ? TensorSwizzle::b128
         : row_bytes == 64 ? TensorSwizzle::b64
         : row_bytes == 32 ? TensorSwizzle::b32
                           : TensorSwizzle::none;
}

std::string box_grid(const RecordedCopy& copy, const TextOptions& options) {
  return copy.copy.columns() ? pixel_grid(copy, options) : tile_grid(copy, options);
}

std::string piece_grid(const RecordedCopy& copy, std::uint64_t shared, const TextOptions& options) {
  const std::vector<Piece> pieces = pieces_by_place(copy, shared);
  std::size_t width = std::string_view("28-31").size();
  for (const Piece& p : pieces) width = std::max(width, cell_text(p).size());
  std::string out = right("banks", kBoxLabel) + " |";
  for (unsigned i = 0; i < kPieces; ++i)
    out += right(fmt::format("{}-{}", 4 * i, 4 * i + 3), static_cast<int>(width)) + "|";
  out += "\n";
  const std::vector<bool> shown = shown_lines(pieces);
  std::size_t left_out = 0;
  for (std::size_t line = 0; line < shown.size(); ++line) {
    if (!shown[line]) {
      ++left_out;
      continue;
    }
    if (left_out != 0)
      out += fmt::format("{}... {} more lines like these\n", std::string(kBoxLabel + 2, ' '), left_out);
    left_out = 0;
    out += right(fmt::format("+{}", line * kBankRow), kBoxLabel) + " |";
    for (std::size_t i = 0; i < kPieces; ++i) {
      const Piece& p = pieces[line * kPieces + i];
      const std::string cell = right(cell_text(p), static_cast<int>(width));
      const char* const code = p.outside ? kRed : p.piece == 0 ? kBright : nullptr;
      out += (p.used && code ? painted(cell, code, options) : cell) + "|";
    }
    out += "\n";
  }
  return out;
}

std::uint64_t column_passes(const RecordedCopy& copy, std::uint64_t shared, TensorSwizzle swizzle,
                            const GpuModel& model, unsigned lanes, unsigned bytes) {
  const TensorRows rows = tensor_rows(copy.map, copy.copy);
  const unsigned used = std::min(lanes, rows.count);
  const LaneMask mask = used == kWarpSize ? kFullMask : (LaneMask{1} << used) - 1;
  const AccessForm form{StateSpace::shared, AccessType::load, static_cast<std::uint8_t>(bytes)};
  std::uint64_t worst = 0;
  for (std::uint32_t column = 0; column + bytes <= rows.bytes; column += bytes) {
    std::int64_t offsets[kWarpSize] = {};
    for (unsigned l = 0; l < used; ++l)
      offsets[l] = static_cast<std::int64_t>(swizzled(swizzle, shared + std::uint64_t{l} * rows.pitch + column));
    worst = std::max(worst, access_cost(model.rules, form, offsets, mask).wavefronts);
  }
  return worst;
}

}  // namespace warpgrind::report
