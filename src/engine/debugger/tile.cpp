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
      std::vector<std::uint8_t> undefined(row.size());
      context_.lane.read_undefined(at, undefined);
      for (std::uint64_t e = 0; e < elements; ++e)
        add_element(std::span(row).subspan(e * size, size), std::span(undefined).subspan(e * size, size));
    }
    return std::move(tile_);
  }

 private:
  static NumberLayout as_numbers(NumberLayout layout) {  // a byte is a number here and no character
    if (layout.format == NumberFormat::character)
      layout.format = layout.is_signed ? NumberFormat::signed_integer : NumberFormat::unsigned_integer;
    return layout;
  }

  // A structure without the names of its members: "{1,100,0,255}".
  std::string brief_text(const Value& value, unsigned depth = 0) {
    constexpr std::uint64_t kMostMembers = 16;
    constexpr unsigned kDeepest = 3;
    const TypeId type = value.type;
    const std::uint64_t count = child_count(context_.types, value);
    if (value.is_undefined()) return "?";
    if (count > 0 && !context_.types.is_pointer(type) && depth < kDeepest) {
      std::string out;
      for (const Child& child : children(context_, value, "", 0, std::min(count, kMostMembers))) {
        Value member = child.value;
        const bool good = child.error.empty() && load(context_, member).ok();
        out += (out.empty() ? "{" : ",") + (good ? brief_text(member, depth + 1) : std::string("?"));
      }
      return out + (count > kMostMembers ? ",...}" : "}");
    }
    const auto layout = number_layout(context_.types, type);
    if (layout && layout->components == 1 && context_.types.stripped(type).kind != TypeKind::enumeration)
      return number_text(as_numbers(*layout), bits_of(value.bytes), format_);
    TextOptions options;
    options.format = format_;
    options.describes_pointers = options.types_pointers = false;
    return text_of(context_, value, options);
  }

  void add_element(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> undefined) {
    const Type& type = context_.types.stripped(tile_.shape.element);
    if (!layout_ || type.kind == TypeKind::enumeration) {
      Value value;
      value.type = tile_.shape.element;
      value.bytes.assign(bytes.begin(), bytes.end());
      if (std::any_of(undefined.begin(), undefined.end(), [](std::uint8_t bits) { return bits != 0; })) {
        value.undefined.assign(undefined.begin(), undefined.end());
        ++tile_.undefined;
      }
      tile_.cells.push_back(brief_text(value));
      return;
    }
    const NumberLayout layout = as_numbers(*layout_);
    for (std::uint32_t i = 0; i < layout.components; ++i) {
      const unsigned __int128 bits = bits_of(bytes) >> (i * layout.bits());
      const unsigned __int128 own = layout.bits() < 128 ? (static_cast<unsigned __int128>(1) << layout.bits()) - 1 : ~0;
      if ((bits_of(undefined) >> (i * layout.bits()) & own) != 0) {
        ++tile_.undefined;
        tile_.cells.push_back("?");
        continue;
      }
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

Result<TileShape> shape_of(LaneContext context, const Value& array, TypeId as) {
  if (!array.address) return bad_shape("this value is not in memory: a tile is an array, or what a pointer points to");
  TileShape shape;
  shape.address = *array.address;
  shape.element = array.type;
  std::vector<std::uint64_t> dimensions;
  while (context.types.is_array(shape.element)) {
    const Type& type = context.types.stripped(shape.element);
    dimensions.insert(dimensions.end(), type.dimensions.begin(), type.dimensions.end());
    shape.element = type.target;
  }
  if (dimensions.empty()) dimensions.push_back(1);
  const std::uint64_t size = context.types.size(shape.element);
  std::uint64_t row = dimensions.back() * size;
  for (std::size_t d = 0; d + 1 < dimensions.size(); ++d) shape.rows *= dimensions[d];
  if (as != kVoidType) shape.element = as;
  const std::uint64_t element = context.types.size(shape.element);
  if (size == 0 || element == 0)
    return bad_shape("the size of '" + context.types.name(shape.element) + "' is not known");
  if (row % element != 0)
    return bad_shape("a row of " + std::to_string(row) + " bytes does not hold whole '" +
                     context.types.name(shape.element) + "'");
  const std::optional<NumberLayout> layout = number_layout(context.types, shape.element);
  shape.columns = row / element * (layout ? layout->components : 1);
  for (const std::uint64_t columns : {16u, 8u}) {
    if (dimensions.size() > 1 || shape.columns <= columns || shape.columns % columns != 0) continue;
    shape.rows = shape.columns / columns;
    shape.columns = columns;
    break;
  }
  return shape;
}

Result<Tile> read_tile(LaneContext context, const TileShape& shape, Format format) {
  return TileReader(context, shape, format).read();
}

namespace {

std::size_t cell_width(const Tile& tile) {
  std::size_t width = std::to_string(tile.shape.columns - 1).size();
  for (const std::string& cell : tile.cells) width = std::max(width, cell.size());
  return width;
}

// Of the names of rows, at most: "30-31:".
std::size_t name_width(const Tile& tile) {
  return 2 * std::to_string(tile.shape.rows).size() + 2;
}

// Columns first ... end-1 of all rows.
std::string part_text(const Tile& tile, std::uint64_t first, std::uint64_t end, std::size_t width) {
  const std::uint64_t rows = tile.shape.rows, columns = tile.shape.columns;
  const auto row_text = [&](std::uint64_t row) {
    std::string out;
    for (std::uint64_t c = first; c < end; ++c) out += " " + in_width(tile.cells[row * columns + c], width);
    return out.substr(0, out.find_last_not_of(' ') + 1);
  };
  std::string out;
  std::vector<std::pair<std::string, std::string>> lines;  // name, text
  for (std::uint64_t r = 0; r < rows;) {
    std::string text = row_text(r);
    std::uint64_t last = r;
    while (last + 1 < rows && row_text(last + 1) == text) ++last;
    std::string name = std::to_string(r);
    if (last != r) name += "-" + std::to_string(last);
    lines.emplace_back(std::move(name), std::move(text));
    r = last + 1;
  }
  std::size_t label = 0;
  for (const auto& line : lines) label = std::max(label, line.first.size());
  out += std::string(label + 1, ' ');
  for (std::uint64_t c = first; c < end; ++c) out += " " + in_width(std::to_string(c), width);
  for (const auto& [named, text] : lines) out += "\n" + in_width(named, label) + ":" + text;
  return out + "\n";
}

}  // namespace

std::string tile_text(const Tile& tile, std::size_t line) {
  const std::uint64_t columns = tile.shape.columns;
  const std::size_t width = cell_width(tile), label = name_width(tile);
  std::uint64_t in_part = columns;
  if (line > label) in_part = std::clamp<std::uint64_t>((line - label) / (width + 1), 1, columns);
  constexpr std::uint64_t kRound = 4;  // parts begin at multiples of it
  if (in_part < columns && in_part > kRound) in_part -= in_part % kRound;
  std::string text;
  for (std::uint64_t first = 0; first < columns; first += in_part)
    text += part_text(tile, first, std::min(first + in_part, columns), width);
  const auto place = [&](std::uint64_t at) {
    return tile.cells[at] + " at [" + std::to_string(at / columns) + "][" + std::to_string(at % columns) + "]";
  };
  if (tile.has_extremes && tile.cells[tile.minimum] != tile.cells[tile.maximum])
    text += "minimum " + place(tile.minimum) + ", maximum " + place(tile.maximum) + "\n";
  if (tile.not_a_number)
    text += "NaN: " + std::to_string(tile.not_a_number) + " of " + counted(tile.cells.size(), "number") + "\n";
  if (tile.undefined)
    text += "? never written: " + std::to_string(tile.undefined) + " of " + counted(tile.cells.size(), "number") + "\n";
  if (!tile.error.empty()) text += "? " + tile.error + "\n";
  return text;
}

}  // namespace warpgrind::debugger
