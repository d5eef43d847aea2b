// Readers of swizzled boxes, in words and tables.
#include "report/tile_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/words.h"
#include "gpu/access_rules.h"
#include "gpu/shared_layouts.h"
#include "gpu/tensor_names.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/tensor_grid.h"

namespace warpgrind::report {
namespace {

using results::AccessPattern;
using results::KernelProfile;
using results::OperandProfile;
using results::SiteProfile;
using results::TileProfile;

constexpr unsigned kMatrixRows = 8;

// "tensor_transpose.cu:23"
std::string place_of(const TileProfile& tile, const KernelProfile& kernel) {
  for (const SiteProfile& s : kernel.sites)
    if (s.id == tile.site)
      return s.line != 0 ? fmt::format("{}:{}", base_name(s.file), s.line) : fmt::format("PTX line {}", s.ptx_line);
  return "another line";
}

// Bytes of an element; packed elements count as bytes.
unsigned element_bytes(const TileProfile& tile) {
  const auto element = tensor_value<TensorElement>(tile.element);
  return element ? std::max(1u, element_bits(*element) / 8) : 1;
}

std::string with_other_swizzle(TensorSwizzle is, TensorSwizzle other, std::uint64_t passes) {
  const std::string words =
      is != TensorSwizzle::none ? "without the swizzle" : fmt::format("with swizzle {}", name(other));
  return fmt::format("The same elements {}: {} pass{}", words, passes, passes == 1 ? "" : "es");
}

struct Cell {
  std::int64_t row = 0, column = 0;  // column: in elements
};

class Tile {
 public:
  Tile(const TileProfile& tile, TensorSwizzle swizzle) : tile_(tile), swizzle_(swizzle) {}
  std::uint64_t inside(std::uint64_t at) const { return SharedLayout{swizzle_}.place(at) - tile_.begin; }
  Cell cell(std::uint64_t at) const {
    const std::uint64_t byte = inside(at);
    return {static_cast<std::int64_t>(byte / tile_.pitch),
            static_cast<std::int64_t>(byte % tile_.pitch / element_bytes(tile_))};
  }
  TensorSwizzle other() const {
    return swizzle_ != TensorSwizzle::none ? TensorSwizzle::none : fitting_swizzle(tile_.pitch);
  }
  // Where the byte would lie with the other swizzle.
  std::int64_t elsewhere(std::uint64_t at) const {
    return static_cast<std::int64_t>(SharedLayout{other()}.place(tile_.begin + inside(at)));
  }

 private:
  const TileProfile& tile_;
  TensorSwizzle swizzle_;
};

// "5" or "3 + 2 k", if lane k has such a value in all lanes of the mask.
std::optional<std::string> rule_of(const std::array<std::int64_t, kWarpSize>& values, LaneMask mask) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const LaneMask rest = mask & (mask - 1);
  if (rest == 0) return std::to_string(values[first]);
  const auto second = static_cast<unsigned>(std::countr_zero(rest));
  const std::int64_t gap = second - first, difference = values[second] - values[first];
  if (difference % gap != 0) return std::nullopt;
  const std::int64_t step = difference / gap, begin = values[first] - step * first;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if ((mask >> l & 1) != 0 && values[l] != begin + step * l) return std::nullopt;
  if (step == 0) return std::to_string(begin);
  const std::string lanes = step == 1 ? "k" : fmt::format("{} k", step);
  return begin == 0 ? lanes : fmt::format("{} + {}", begin, lanes);
}

std::string lane_table(const std::array<Cell, kWarpSize>& cells, LaneMask mask) {
  constexpr unsigned kInLine = 16;
  std::string out;
  for (unsigned begin = 0; begin < kWarpSize; begin += kInLine) {
    if ((mask >> begin & 0xffff) == 0) continue;
    std::string lanes = "        lane |", rows = "         row |", columns = "      column |";
    for (unsigned l = begin; l < begin + kInLine; ++l) {
      const bool on = (mask >> l & 1) != 0;
      lanes += right(std::to_string(l), 4);
      rows += right(on ? std::to_string(cells[l].row) : "", 4);
      columns += right(on ? std::to_string(cells[l].column) : "", 4);
    }
    for (std::string* line : {&lanes, &rows, &columns}) out += line->substr(0, line->find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string sentence(const std::string& text) {
  return wrapped("    " + text, kTerminalWidth, "    ");
}

}  // namespace

std::string tile_view(const AccessPattern& p, const std::string& kind, const KernelProfile& kernel,
                      const GpuModel& model) {
  const auto swizzle = tensor_value<TensorSwizzle>(p.tile->swizzle);
  if (!swizzle || p.tile->pitch == 0 || p.mask == 0) return "";
  const Tile tile(*p.tile, *swizzle);
  std::array<Cell, kWarpSize> cells{};
  std::array<std::int64_t, kWarpSize> rows{}, columns{}, elsewhere{};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((p.mask >> l & 1) == 0) continue;
    const std::uint64_t at = p.base.offset + static_cast<std::uint64_t>(p.addresses[l]);
    cells[l] = tile.cell(at);
    rows[l] = cells[l].row;
    columns[l] = cells[l].column;
    elsewhere[l] = tile.elsewhere(at);
  }
  const bool packed = element_bytes(*p.tile) == 1;
  std::string text =
      fmt::format("This is the box of the tensor copy at {}, swizzle {}", place_of(*p.tile, kernel), p.tile->swizzle);
  const auto row = rule_of(rows, p.mask), column = rule_of(columns, p.mask);
  const char* const word = packed ? "byte" : "column";
  std::string out;
  if (row && column) {
    out = sentence(fmt::format("{}: lane k has row {}, {} {}.", text, *row, word, *column));
  } else {
    out = sentence(text + fmt::format(". Rows and {}s of the lanes:", word)) + lane_table(cells, p.mask);
  }
  constexpr std::uint32_t kMostBytes = 16;  // of a lane
  if (tile.other() == *swizzle || p.lane_bytes == 0 || p.lane_bytes > kMostBytes) return out;
  const AccessForm form{StateSpace::shared, kind == "store" ? AccessType::store : AccessType::load,
                        static_cast<std::uint8_t>(p.lane_bytes)};
  const AccessCost cost = access_cost(model.rules, form, elsewhere.data(), p.mask);
  return out + sentence(with_other_swizzle(*swizzle, tile.other(), cost.wavefronts) + ".");
}

namespace {

// Passes to read 8 rows of 16 bytes, the unit of tensor cores, from a row and byte of a box on.
std::uint64_t matrix_passes(const TileProfile& tile, TensorSwizzle swizzle, std::uint64_t row, std::uint64_t byte,
                            const GpuModel& model) {
  std::int64_t offsets[kWarpSize] = {};
  for (unsigned r = 0; r < kMatrixRows; ++r)
    offsets[r] = static_cast<std::int64_t>(SharedLayout{swizzle}.place(tile.begin + (row + r) * tile.pitch + byte));
  return access_cost(model.rules, {StateSpace::shared, AccessType::load, kBoxPiece}, offsets, (1u << kMatrixRows) - 1)
      .wavefronts;
}

}  // namespace

std::string operand_view(const OperandProfile& o, const KernelProfile& kernel, const GpuModel& model) {
  const std::string descriptor = fmt::format("descriptor with swizzle {}{}", o.swizzle,
                                             o.base != 0 ? fmt::format(" and base offset {}", o.base) : std::string());
  std::string out =
      "\n" + wrapped(fmt::format("  {}: {} pieces of 16 bytes, first from byte {} of shared memory", descriptor,
                                 grouped(static_cast<double>(o.pieces)), grouped(static_cast<double>(o.first))),
                     kTerminalWidth, "    ");
  if (!o.tile) return out + sentence("No tensor copy has written them.");
  const TileProfile& tile = *o.tile;
  const unsigned bytes = element_bytes(tile);
  out +=
      sentence(fmt::format("They lie in boxes of the tensor copy at {}, swizzle {}: rows {} to {}, {} {} to {} ({}).",
                           place_of(tile, kernel), tile.swizzle, o.first_row, o.last_row,
                           bytes == 1 ? "bytes" : "columns", o.first_byte / bytes, o.last_byte / bytes, tile.element));
  const auto written = tensor_value<TensorSwizzle>(tile.swizzle), read = tensor_value<TensorSwizzle>(o.swizzle);
  if (!written || !read || tile.pitch == 0) return out;
  if (*written != *read || o.base != 0)
    out += sentence(
        "The descriptor does not name the layout of the copy, so the product may read other elements than "
        "these. `warpgrind check` says which (shared-layout).");
  const TensorSwizzle other = *written != TensorSwizzle::none ? TensorSwizzle::none : fitting_swizzle(tile.pitch);
  const std::uint64_t passes = matrix_passes(tile, *written, o.first_row, o.first_byte, model);
  std::string banks = fmt::format("8 rows of 16 bytes: {} pass{} through the banks.", passes, passes == 1 ? "" : "es");
  if (other != *written)
    banks +=
        " " + with_other_swizzle(*written, other, matrix_passes(tile, other, o.first_row, o.first_byte, model)) + ".";
  return out + sentence(banks);
}

namespace {

bool same_layout(const OperandProfile& a, const OperandProfile& b, const KernelProfile& kernel) {
  if (a.swizzle != b.swizzle || a.base != b.base || a.tile.has_value() != b.tile.has_value()) return false;
  return !a.tile || (place_of(*a.tile, kernel) == place_of(*b.tile, kernel) && a.tile->pitch == b.tile->pitch &&
                     a.tile->swizzle == b.tile->swizzle);
}

void add_operand(OperandProfile& to, const OperandProfile& from) {
  to.pieces += from.pieces;
  to.first = std::min(to.first, from.first);
  to.first_row = std::min(to.first_row, from.first_row);
  to.last_row = std::max(to.last_row, from.last_row);
  to.first_byte = std::min(to.first_byte, from.first_byte);
  to.last_byte = std::max(to.last_byte, from.last_byte);
}

}  // namespace

std::string operands_view(const std::vector<const SiteProfile*>& sites, const KernelProfile& kernel,
                          const GpuModel& model, const TextOptions& options) {
  const std::string title = "matrices in shared memory";
  const std::size_t room = kTerminalWidth - title.size() - 3;
  const std::string& ptx = sites[0]->ptx;
  std::string out = "\n" + (options.colour ? "\033[1m" + title + "\033[0m" : title) + "   " +
                    (ptx.size() <= room ? ptx : ptx.substr(0, room - 3) + "...") + "\n";
  std::vector<std::uint32_t> lines;
  for (const SiteProfile* s : sites) lines.push_back(s->ptx_line);
  out += wrapped(fmt::format("  read by {} (PTX line{} {}), exact",
                             sites.size() == 1 ? "one instruction" : fmt::format("{} instructions", sites.size()),
                             plural(sites.size()), fmt::join(lines, ", ")),
                 kTerminalWidth, "  ");
  // Instructions of an unrolled loop read boxes of the same copies in the same order, at other rows and columns.
  std::vector<OperandProfile> all;
  for (const SiteProfile* s : sites) {
    std::vector<bool> used(all.size(), false);  // by this instruction
    for (const OperandProfile& o : s->operands) {
      std::size_t at = 0;
      while (at < used.size() && (used[at] || !same_layout(all[at], o, kernel))) ++at;
      if (at < used.size()) {
        add_operand(all[at], o);
        used[at] = true;
      } else {
        all.push_back(o);
      }
    }
  }
  for (const OperandProfile& o : all) out += operand_view(o, kernel, model);
  return out;
}

}  // namespace warpgrind::report
