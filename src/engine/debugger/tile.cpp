#include "debugger/tile.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/words.h"
#include "debugger/number.h"
#include "debugger/scalar_text.h"

namespace warpgrind::debugger {

namespace {

Error bad_shape(std::string message) {
  return {ErrorKind::bad_input, std::move(message), {}};
}

class TileReader {
 public:
  TileReader(LaneContext context, const TileShape& shape, Format format)
      : context_(context), format_(format), layout_(number_layout(context.types, shape.element)) {
    tile_.shape = shape;
  }

  Result<Tile> read() {
    const TileShape& shape = tile_.shape;
    const std::uint64_t size = context_.types.size(shape.element);
    const std::uint64_t numbers = layout_ ? layout_->components : 1;
    if (size == 0) return bad_shape("the size of '" + context_.types.name(shape.element) + "' is not known");
    if (shape.rows == 0 || shape.columns == 0) return bad_shape("a tile needs a row and a column at least");
    if (shape.rows > kMaxTileCells || shape.columns > kMaxTileCells / shape.rows)
      return bad_shape("a tile of " + std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                       " is too large: " + std::to_string(kMaxTileCells) + " numbers at most");
    if (shape.columns % numbers != 0)
      return bad_shape("'" + context_.types.name(shape.element) + "' holds " + std::to_string(numbers) +
                       " numbers: the number of columns must be a multiple of it");
    const std::uint64_t elements = shape.columns / numbers;
    if (size > (1u << 26) / elements) return bad_shape("a row of the tile has more than 64 MiB");
    std::vector<std::uint8_t> row(elements * size);
    const std::uint64_t stride = shape.row_stride ? shape.row_stride : row.size();
    for (std::uint64_t r = 0; r < shape.rows; ++r) {
      const Address at{shape.address.space, shape.address.value + r * stride};
      if (Status read = context_.lane.read(at, row); !read.ok()) {
        if (tile_.error.empty()) tile_.error = "row " + std::to_string(r) + ": " + read.error().message;
        tile_.cells.insert(tile_.cells.end(), shape.columns, "?");
        continue;
      }
      for (std::uint64_t e = 0; e < elements; ++e) add_element(std::span(row).subspan(e * size, size));
    }
    return std::move(tile_);
  }

 private:
  void add_element(std::span<const std::uint8_t> bytes) {
    const Type& type = context_.types.stripped(tile_.shape.element);
    if (!layout_ || type.kind == TypeKind::enumeration) {
      Value value;
      value.type = tile_.shape.element;
      value.bytes.assign(bytes.begin(), bytes.end());
      TextOptions options;
      options.format = format_;
      options.describes_pointers = false;
      tile_.cells.push_back(text_of(context_, value, options));
      return;
    }
    // A byte is a number here and no character.
    NumberLayout layout = *layout_;
    if (layout.format == NumberFormat::character)
      layout.format = layout.is_signed ? NumberFormat::signed_integer : NumberFormat::unsigned_integer;
    for (std::uint32_t i = 0; i < layout.components; ++i) {
      const unsigned __int128 bits = bits_of(bytes) >> (i * layout.bits());
      compare(decode_bits(layout, bits));
      tile_.cells.push_back(number_text(layout, bits, format_));
    }
  }

  void compare(const Number& number) {
    const std::uint64_t at = tile_.cells.size();
    if (number.is_floating() && std::isnan(number.floating)) {
      ++tile_.not_a_number;
      return;
    }
    if (!minimum_ || number.as_double() < *minimum_) {
      minimum_ = number.as_double();
      tile_.minimum = at;
    }
    if (!maximum_ || number.as_double() > *maximum_) {
      maximum_ = number.as_double();
      tile_.maximum = at;
    }
    tile_.has_extremes = true;
  }

  LaneContext context_;
  Format format_;
  std::optional<NumberLayout> layout_;
  Tile tile_;
  std::optional<double> minimum_, maximum_;
};

std::string in_width(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

Result<Tile> read_tile(LaneContext context, const TileShape& shape, Format format) {
  return TileReader(context, shape, format).read();
}

std::string tile_text(const Tile& tile) {
  const std::uint64_t columns = tile.shape.columns;
  const std::size_t label = std::to_string(tile.shape.rows - 1).size();
  std::size_t width = std::to_string(columns - 1).size();
  for (const std::string& cell : tile.cells) width = std::max(width, cell.size());
  std::string text(label + 1, ' ');
  for (std::uint64_t c = 0; c < columns; ++c) text += " " + in_width(std::to_string(c), width);
  for (std::uint64_t r = 0; r < tile.shape.rows; ++r) {
    text += "\n" + in_width(std::to_string(r), label) + ":";
    for (std::uint64_t c = 0; c < columns; ++c) text += " " + in_width(tile.cells[r * columns + c], width);
  }
  text += "\n";
  const auto place = [&](std::uint64_t at) {
    return tile.cells[at] + " at [" + std::to_string(at / columns) + "][" + std::to_string(at % columns) + "]";
  };
  if (tile.has_extremes && tile.cells[tile.minimum] != tile.cells[tile.maximum])
    text += "minimum " + place(tile.minimum) + ", maximum " + place(tile.maximum) + "\n";
  if (tile.not_a_number)
    text += "NaN: " + std::to_string(tile.not_a_number) + " of " + counted(tile.cells.size(), "number") + "\n";
  if (!tile.error.empty()) text += "? " + tile.error + "\n";
  return text;
}

}  // namespace warpgrind::debugger
