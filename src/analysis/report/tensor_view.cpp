// Tensor copies in words, and their drawings.
#include "report/tensor_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/words.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/tensor_grid.h"

namespace warpgrind::report {
namespace {

using results::RecordedCopy;
using results::SiteProfile;
using results::TensorCopyProfile;
using results::TensorDimension;

bool same_tensor(const TensorDimension& a, const TensorDimension& b) {
  return a.size == b.size && a.stride == b.stride && a.box == b.box && a.element_stride == b.element_stride &&
         a.lower == b.lower && a.upper == b.upper;
}

bool same_map(const TensorCopyProfile& a, const TensorCopyProfile& b) {
  return a.operation == b.operation && a.mode == b.mode && a.element == b.element && a.interleave == b.interleave &&
         a.swizzle == b.swizzle && a.fill == b.fill && a.tensor.allocation == b.tensor.allocation &&
         a.tensor.offset == b.tensor.offset &&
         std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(), b.dimensions.end(), same_tensor);
}

// Kinds of two instructions that differ at most in their coordinates: usually of an unrolled loop.
bool same_look(const TensorCopyProfile& a, const TensorCopyProfile& b) {
  return same_map(a, b) && a.blocks == b.blocks && a.bytes == b.bytes && a.inside == b.inside &&
         a.sectors == b.sectors && a.shared % kSwizzlePattern == b.shared % kSwizzlePattern;
}

std::vector<TensorCopyProfile> kinds_of(const std::vector<const SiteProfile*>& sites) {
  std::vector<TensorCopyProfile> out;
  for (const SiteProfile* s : sites)
    for (const TensorCopyProfile& c : s->copies) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const auto& k) { return same_look(k, c); });
      if (same == out.end()) {
        out.push_back(c);
        continue;
      }
      same->count += c.count;
      for (std::size_t d = 0; d < c.dimensions.size(); ++d) {
        TensorDimension& to = same->dimensions[d];
        to.lowest = std::min(to.lowest, c.dimensions[d].lowest);
        to.highest = std::max(to.highest, c.dimensions[d].highest);
      }
    }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return out;
}

const char* title_of(std::string_view operation) {
  return operation == "load"     ? "tensor load to shared memory"
         : operation == "store"  ? "tensor store from shared memory"
         : operation == "reduce" ? "tensor reduction from shared memory"
                                 : "tensor prefetch into L2";
}

// What becomes of the part of the box outside of the tensor.
std::string outside_words(const TensorCopyProfile& c) {
  if (c.operation == "load") return c.fill == "NaN" ? "filled with NaN" : "filled with zeros";
  return c.operation == "prefetch" ? "not fetched" : "not written";
}

// "4,096 x 512": the values of all dimensions, innermost first.
template <class F>
std::string by_dimension(const TensorCopyProfile& c, const char* between, F&& f) {
  std::vector<std::string> parts;
  for (const TensorDimension& d : c.dimensions) parts.push_back(f(d));
  return fmt::format("{}", fmt::join(parts, between));
}

std::string tensor_words(const TensorCopyProfile& c) {
  const bool slices = c.interleave != "none";
  std::string out = by_dimension(c, " x ", [](const TensorDimension& d) { return std::to_string(d.size); });
  out += slices ? fmt::format(" slices of {} bytes, {}", c.interleave == "16B" ? 16 : 32, c.element) : " " + c.element;
  std::vector<std::string> strides;
  for (std::size_t d = 1; d < c.dimensions.size(); ++d)
    strides.push_back(grouped(static_cast<double>(c.dimensions[d].stride)));
  if (!strides.empty()) out += fmt::format(", strides {} bytes", fmt::join(strides, " and "));
  if (c.tensor.allocation) {
    out += fmt::format(", in allocation {}", *c.tensor.allocation);
    if (c.tensor.offset != 0) out += fmt::format(" + {}", grouped(static_cast<double>(c.tensor.offset)));
  }
  return out;
}

std::string range_words(const TensorDimension& d) {
  return d.lowest == d.highest ? std::to_string(d.lowest) : fmt::format("{} to {}", d.lowest, d.highest);
}

std::string box_words(const TensorCopyProfile& c) {
  const auto coordinate = [](const TensorDimension& d) { return std::to_string(d.coordinate); };
  std::string out;
  if (c.mode.starts_with("im2col")) {
    out = fmt::format("{} pixels of {} channels from ({}) on", c.pixels, c.channels, by_dimension(c, ", ", coordinate));
    if (c.halo != 0) out += fmt::format(", a halo of {}{}", c.halo, c.mode == "im2col::w::128" ? " a quarter" : "");
    std::string offsets;
    for (const TensorDimension& d : c.dimensions)
      if (d.lower != 0 || d.upper != 0 || d.offset != 0)
        offsets += fmt::format("; dimension {}: bounding box {} to {}, offset {}", &d - c.dimensions.data(), d.lower,
                               static_cast<std::int64_t>(d.size) - 1 + d.upper, d.offset);
    out += offsets;
  } else if (c.mode == "rows") {
    std::vector<std::int64_t> rows;
    for (const results::TensorRow& r : c.rows) rows.push_back(r.row);
    out = fmt::format("{} x 4 at column {}, rows {}", c.dimensions[0].box, c.dimensions[0].coordinate,
                      fmt::join(rows, ", "));
  } else {
    out = fmt::format("{} at ({})", by_dimension(c, " x ", [](const auto& d) { return std::to_string(d.box); }),
                      by_dimension(c, ", ", coordinate));
  }
  if (std::any_of(c.dimensions.begin(), c.dimensions.end(), [](const auto& d) { return d.element_stride != 1; }))
    out += fmt::format(", every ({})th element",
                       by_dimension(c, ", ", [](const auto& d) { return std::to_string(d.element_stride); }));
  const auto differs = [](const TensorDimension& d) { return d.lowest != d.highest; };
  if (c.count > 1 && std::any_of(c.dimensions.begin(), c.dimensions.end(), differs))
    out += fmt::format("; all copies: ({})", by_dimension(c, ", ", range_words));
  return out;
}

std::string bytes_words(const TensorCopyProfile& c) {
  std::string out = fmt::format("{} bytes, {} sector{} of L2", grouped(static_cast<double>(c.bytes)),
                                grouped(static_cast<double>(c.sectors)), plural(c.sectors));
  if (c.inside < c.bytes)
    out +=
        fmt::format("; {} bytes lie outside ({})", grouped(static_cast<double>(c.bytes - c.inside)), outside_words(c));
  if (c.blocks != 0) out += fmt::format("; to {} block{} of the cluster", c.blocks, plural(c.blocks));
  return out;
}

std::string map_words(const TensorCopyProfile& c) {
  std::string out = "swizzle " + c.swizzle;
  if (c.interleave != "none") out += ", interleave " + c.interleave;
  if (c.promotion != "none") out += ", L2 promotion " + c.promotion;
  return out + ", outside " + c.fill;
}

// The text beside a word, and the rest of a long one below its beginning.
std::string fact(const std::string& word, const std::string& text) {
  constexpr std::size_t kBegin = 12;
  std::string out = wrapped(std::string(kBegin, ' ') + text, kTerminalWidth, std::string(kBegin, ' '));
  return out.replace(4, word.size(), word);
}

class CopyDrawing {
 public:
  CopyDrawing(const TensorCopyProfile& c, const RecordedCopy& copy, const GpuModel& model, const TextOptions& options)
      : c_(c), copy_(copy), model_(model), options_(options) {}

  // short_form: without what another drawing has said of the same tensor.
  std::string run(bool short_form) {
    if (!short_form) out_ += fact("tensor", tensor_words(c_)) + fact("map", map_words(c_));
    out_ += fact("box", box_words(c_)) + fact("moves", bytes_words(c_));
    const std::string grid = box_grid(copy_, options_);
    if (!grid.empty()) out_ += "\n" + grid;
    out_ += grid_legend();
    if (c_.operation == "prefetch") return std::move(out_);
    shared();
    if (!short_form) readers();
    return std::move(out_);
  }

 private:
  std::string grid_legend() const {
    std::string legend = "#: the box, .: the rest of the tensor";
    if (c_.inside < c_.bytes) legend += ", o: outside, " + outside_words(c_);
    return std::string(13, ' ') + legend + "\n";
  }

  void shared() {
    const TensorRows rows = tensor_rows(copy_.map, copy_.copy);
    std::string text = fmt::format("    In shared memory, from byte {} on: {} row{} of {} bytes",
                                   grouped(static_cast<double>(c_.shared)), rows.count, plural(rows.count), rows.bytes);
    if (rows.pitch != rows.bytes) text += fmt::format(", {} bytes apart", rows.pitch);
    text += ". A cell has 16 bytes; 5.2 is piece 2 of row 5 of the box";
    if (c_.swizzle == "128B_ATOM_32B_FLIP_8B") text += ", ~ with its halves exchanged";
    out_ += "\n" + wrapped(text + ".", kTerminalWidth, "    ");
    if (c_.swizzle != "none" && c_.shared % kSwizzlePattern != 0)
      out_ += wrapped(
          fmt::format("    The swizzle repeats every 1,024 bytes of shared memory. The box begins in its line {}.",
                      c_.shared % kSwizzlePattern / kBankRow),
          kTerminalWidth, "    ");
    out_ += piece_grid(copy_, c_.shared, options_);
  }

  // What readers of the box pay, with the map's swizzle and with the other choice.
  void readers() {
    const TensorRows rows = tensor_rows(copy_.map, copy_.copy);
    if (rows.count < 2) return;
    const TensorSwizzle is = copy_.map.swizzle;
    const TensorSwizzle other = is == TensorSwizzle::none ? fitting_swizzle(rows.bytes) : TensorSwizzle::none;
    const std::string beside = is != TensorSwizzle::none      ? "without swizzle"
                               : other != TensorSwizzle::none ? fmt::format("with swizzle {}B", rows.bytes)
                                                              : "";
    out_ += fmt::format("\n    {:<48} {:>6}{}\n", "passes through the banks to read", "now",
                        beside.empty() ? "" : fmt::format(" {:>17}", beside));
    const auto line = [&](unsigned lanes, unsigned bytes, const char* how) {
      const unsigned used = std::min(lanes, rows.count);
      out_ += fmt::format("    {:<48} {:>6}", fmt::format("{} bytes of each of {} rows ({})", bytes, used, how),
                          column_passes(copy_, c_.shared, is, model_, used, bytes));
      if (!beside.empty()) out_ += fmt::format(" {:>17}", column_passes(copy_, c_.shared, other, model_, used, bytes));
      out_ += "\n";
    };
    constexpr unsigned kEightRows = 8, kWord = 4;
    line(kEightRows, kBoxPiece, "ldmatrix, wgmma");
    line(kWarpSize, kWord, "a column");
  }

  const TensorCopyProfile& c_;
  const RecordedCopy& copy_;
  const GpuModel& model_;
  const TextOptions& options_;
  std::string out_;
};

std::string share(std::uint64_t count, std::uint64_t all) {
  return percent(all == 0 ? 0 : 100 * static_cast<double>(count) / static_cast<double>(all));
}

// "2,048 of 16,384 bytes outside"
std::string kind_words(const TensorCopyProfile& c) {
  std::string out = c.inside == c.bytes
                        ? "whole box inside"
                        : fmt::format("{} of {} bytes outside", grouped(static_cast<double>(c.bytes - c.inside)),
                                      grouped(static_cast<double>(c.bytes)));
  out += fmt::format(", {} sector{}", grouped(static_cast<double>(c.sectors)), plural(c.sectors));
  if (c.operation != "prefetch" && c.swizzle != "none" && c.shared % kSwizzlePattern != 0)
    out += fmt::format(", from line {} of the pattern", c.shared % kSwizzlePattern / kBankRow);
  return out;
}

}  // namespace

std::string tensor_copy_text(const TensorCopyProfile& copy, const GpuModel& model, const TextOptions& options,
                             bool short_form) {
  const auto recorded = results::recorded_copy(copy);
  if (!recorded) return "    the map in the profile is none that this release can draw\n";
  return CopyDrawing(copy, *recorded, model, options).run(short_form);
}

std::string tensor_copies_view(const std::vector<const SiteProfile*>& sites, const GpuModel& model,
                               const TextOptions& options) {
  const std::vector<TensorCopyProfile> kinds = kinds_of(sites);
  std::uint64_t other = 0, all = 0;
  std::vector<std::uint32_t> lines;
  for (const SiteProfile* s : sites) {
    other += s->copies_other;
    lines.push_back(s->ptx_line);
  }
  for (const TensorCopyProfile& c : kinds) all += c.count;
  all += other;
  const std::string title = title_of(kinds[0].operation);
  const std::size_t room = kTerminalWidth - title.size() - 3;
  const std::string& ptx = sites[0]->ptx;
  std::string out = "\n" + (options.colour ? "\033[1m" + title + "\033[0m" : title) + "   " +
                    (ptx.size() <= room ? ptx : ptx.substr(0, room - 3) + "...") + "\n";
  out += wrapped(
      fmt::format("  {} cop{} by {} (PTX line{} {}), exact", grouped(static_cast<double>(all)), all == 1 ? "y" : "ies",
                  sites.size() == 1 ? "one instruction" : fmt::format("{} instructions", sites.size()),
                  plural(sites.size()), fmt::join(lines, ", ")),
      kTerminalWidth, "  ");
  if (kinds.size() + (other != 0) > 1) {
    for (const TensorCopyProfile& c : kinds)
      out += fmt::format("  {} {}  {}\n", right(grouped(static_cast<double>(c.count)), 12),
                         right(share(c.count, all), 7), kind_words(c));
    if (other != 0)
      out += fmt::format("  {} {}  of other kinds\n", right(grouped(static_cast<double>(other)), 12),
                         right(share(other, all), 7));
  }
  const auto outside = [](const auto& a, const auto& b) { return a.bytes - a.inside < b.bytes - b.inside; };
  const auto most = static_cast<std::size_t>(std::max_element(kinds.begin(), kinds.end(), outside) - kinds.begin());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i != 0 && i != most) continue;
    const TensorCopyProfile& c = kinds[i];
    const char* const which = kinds.size() == 1 && other == 0 ? "every copy" : i == 0 ? "typical" : "most outside";
    out += "\n" + wrapped(fmt::format("  {}: {} cop{} ({}), e.g. block ({}, {}, {}), warp {}", which,
                                      grouped(static_cast<double>(c.count)), c.count == 1 ? "y" : "ies",
                                      share(c.count, all), c.block.x, c.block.y, c.block.z, c.warp),
                          kTerminalWidth, "    ");
    const bool again = i != 0 && same_map(c, kinds[0]);
    out += tensor_copy_text(c, model, options, again);
  }
  return out;
}

}  // namespace warpgrind::report
