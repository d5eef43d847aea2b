#include "debugger/format.h"

#include <algorithm>

#include "debugger/number.h"
#include "debugger/scalar_text.h"

namespace warpgrind::debugger {

using debuginfo::Member;

namespace {

constexpr std::size_t kMaxTextSize = 65536;      // a broken type table could go on for ever
constexpr int kMaxTextNesting = 20;              // as gdb's `print max-depth`
constexpr std::uint64_t kMaxScanned = 4u << 20;  // bytes that are compared for `<repeats n times>`
constexpr std::uint64_t kChunk = 4096;           // of an array that is read at once

class Printer {
 public:
  Printer(LaneContext context, const TextOptions& options)
      : context_(context), types_(context.types), options_(options) {
    options_.elements = std::clamp<std::uint32_t>(options.elements, 1, kMaxTextSize);
    elements_ = options_.elements;
  }

  std::string print(const Value& value) {
    put(value, 0);
    return std::move(text_);
  }

 private:
  bool is_full() const { return text_.size() >= kMaxTextSize; }
  void error(const std::string& why) { text_ += "<error: " + why + ">"; }

  void put(Value value, int nesting) {
    if (nesting > kMaxTextNesting || is_full()) {
      text_ += "{...}";
      return;
    }
    const Type& type = types_.stripped(value.type);
    if (types_.is_array(value.type)) return array(value, nesting);
    if (types_.is_structure(value.type)) return structure(value, type, nesting);
    if (types_.is_reference(value.type)) return reference(value, nesting);
    if (Status loaded = load(context_, value); !loaded.ok()) return error(loaded.error().message);
    if (value.is_undefined()) return undefined();
    if (types_.is_pointer(value.type)) return pointer(value, nesting);
    const auto layout = number_layout(types_, value.type);
    if (!layout || value.bytes.size() < layout->bytes) return plain_bytes(value, type);
    if (layout->components > 1) text_ += "{";
    for (std::uint32_t i = 0; i < layout->components; ++i) {
      const unsigned __int128 bits = bits_of(value.bytes) >> (i * layout->bits());
      if (i > 0) text_ += ", ";
      text_ += type.kind == TypeKind::enumeration && options_.format == Format::natural
                   ? enumeration_text(type, decode_bits(*layout, bits))
                   : number_text(*layout, bits, options_.format);
    }
    if (layout->components > 1) text_ += "}";
    if (value.has_undefined()) text_ += " <partly undefined>";
    if (elements_ > 0) --elements_;
  }

  void undefined() {
    text_ += "<undefined>";
    if (elements_ > 0) --elements_;
  }

  // What has no format: function, member pointer, a number of an unknown kind.
  void plain_bytes(const Value& value, const Type& type) {
    if (type.kind == TypeKind::none) {
      text_ += "void";
    } else if (value.bytes.empty()) {
      text_ += type.is_complete ? "<its type is not known>" : "<incomplete type>";
    } else {
      text_ += value.bytes.size() <= 16 ? hexadecimal_text(bits_of(value.bytes)) : "{...}";
    }
  }

  void reference(const Value& value, int nesting) {
    Result<Value> target = pointee(context_, value);
    if (!target.ok()) return error(target.error().message);
    text_ += "@" + hexadecimal_text(target->address->value);
    if (nesting > 0) return;
    text_ += ": ";
    put(target.take(), nesting + 1);
  }

  void pointer(const Value& value, int nesting) {
    const auto at = static_cast<std::uint64_t>(bits_of(value.bytes));
    if (options_.format == Format::string) return text_at(value);
    if (options_.format != Format::natural && options_.format != Format::address) {
      const NumberLayout layout{NumberFormat::unsigned_integer, value.bytes.size(), 1, false};
      text_ += number_text(layout, at, options_.format);
      return;
    }
    const TypeId target = types_.stripped(value.type).target;
    const bool is_natural = options_.format == Format::natural;
    const bool is_text = is_natural && types_.is_text(target);
    if (options_.types_pointers && nesting == 0 && is_natural && !is_text)
      text_ += "(" + types_.name(value.type) + ") ";
    text_ += hexadecimal_text(at);
    if (elements_ > 0) --elements_;
    if (at == 0) return;
    if (is_text) {
      text_ += " ";
      return text_at(value);
    }
    if (nesting > 0 || !options_.describes_pointers) return;
    if (const std::string place = context_.lane.describe({StateSpace::generic, at}); !place.empty())
      text_ += " <" + place + ">";
  }

  // Characters from a pointer up to a zero.
  void text_at(const Value& pointer) {
    const auto at = static_cast<std::uint64_t>(bits_of(pointer.bytes));
    std::vector<std::uint8_t> characters;
    for (;;) {
      std::uint8_t c = 0;
      if (Status read = context_.lane.read({StateSpace::generic, at + characters.size()}, {&c, 1}); !read.ok()) {
        if (characters.empty()) return error(read.error().message);
        break;
      }
      if (c == 0 || characters.size() == options_.elements) {
        text_ += string_text(characters, options_.repeats, c != 0);
        return;
      }
      characters.push_back(c);
    }
    text_ += string_text(characters, options_.repeats, true);
  }

  // Texts with undefined characters are shown as arrays.
  bool text_is_defined(const Value& value, std::uint64_t count) const {
    std::vector<std::uint8_t> bits(std::min<std::uint64_t>(count, options_.elements));
    read_undefined_part(context_, value, 0, bits);
    return std::ranges::all_of(bits, [](std::uint8_t b) { return b == 0; });
  }

  void text_array(const Value& value, std::uint64_t count) {
    std::vector<std::uint8_t> characters(std::min<std::uint64_t>(count, std::uint64_t{options_.elements} + 1));
    if (Status read = read_part(context_, value, 0, characters); !read.ok()) return error(read.error().message);
    bool is_cut = characters.size() > options_.elements;
    if (is_cut) characters.pop_back();
    if (options_.format == Format::string) {
      const auto zero = std::ranges::find(characters, 0);
      is_cut &= zero == characters.end();
      characters.erase(zero, characters.end());
    } else if (!is_cut && !characters.empty() && characters.back() == 0) {
      characters.pop_back();  // gdb does not show the last zero
    }
    text_ += string_text(characters, options_.repeats, is_cut);
  }

  void array(const Value& value, int nesting) {
    const TypeId element = types_.element_of(types_.strip(value.type));
    const Type& type = types_.stripped(value.type);
    const std::uint64_t size = types_.size(element);
    const std::uint64_t count = type.dimensions.empty() ? 0 : type.dimensions[0];
    if (size == 0) {
      text_ += count == 0 ? "{}" : "<incomplete type>";
      return;
    }
    const bool is_text = options_.format == Format::natural
                             ? types_.is_text(element)
                             : options_.format == Format::string && types_.is_character(element);
    if (is_text && count > 0 && text_is_defined(value, count)) return text_array(value, count);
    text_ += "{";
    for (std::uint64_t i = 0; i < count;) {
      if (i > 0) text_ += ", ";
      if (elements_ == 0 || is_full()) {
        if (i > 0) text_.resize(text_.size() - 2);
        text_ += "...";
        break;
      }
      std::string why;
      const std::uint64_t same = equal_elements(value, i, count, size, why);
      if (same == 0) {
        error(why);
        break;
      }
      Result<Value> first = part_of(context_, value, i * size, element);
      if (!first.ok()) {
        error(first.error().message);
        break;
      }
      put(first.take(), nesting + 1);
      i += same <= options_.repeats ? 1 : same;
      if (same <= options_.repeats) continue;
      text_ += " <repeats " + std::to_string(same) + " times>";
      elements_ -= std::min(elements_, options_.repeats);
    }
    text_ += "}";
  }

  // How many elements from `first` on are the same, as far as it matters. 0: the first cannot be read.
  std::uint64_t equal_elements(const Value& value, std::uint64_t first, std::uint64_t count, std::uint64_t size,
                               std::string& why) {
    if (size > kChunk) return 1;
    std::vector<std::uint8_t> one(size), chunk, one_bits(size), bits;
    const std::vector<std::uint8_t> all(size, 0xff);
    if (Status read = read_part(context_, value, first * size, one); !read.ok()) {
      why = read.error().message;
      return 0;
    }
    read_undefined_part(context_, value, first * size, one_bits);
    // What undefined elements hold does not matter.
    const bool undefined = one_bits == all;
    std::uint64_t same = 1;
    std::uint64_t at_once = options_.repeats + std::uint64_t{1};  // most runs are short
    while (first + same < count && scanned_ < kMaxScanned) {
      const std::uint64_t n = std::clamp<std::uint64_t>(std::min(count - first - same, at_once), 1,
                                                        std::max<std::uint64_t>(kChunk / size, 1));
      chunk.resize(n * size);
      if (!read_part(context_, value, (first + same) * size, chunk).ok()) {
        if (n == 1) return same;
        at_once = 1;
        continue;
      }
      scanned_ += chunk.size();
      bits.assign(chunk.size(), 0);
      read_undefined_part(context_, value, (first + same) * size, bits);
      for (std::uint64_t i = 0; i < n; ++i, ++same) {
        const auto at = static_cast<std::ptrdiff_t>(i * size);
        if (!std::equal(one_bits.begin(), one_bits.end(), bits.begin() + at)) return same;
        if (!undefined && !std::equal(one.begin(), one.end(), chunk.begin() + at)) return same;
      }
      if (at_once > 1) at_once = kChunk;
    }
    return same;
  }

  void structure(const Value& value, const Type& type, int nesting) {
    if (!type.is_complete) {
      text_ += "<incomplete type>";
      return;
    }
    text_ += "{";
    bool is_first = true;
    for (const Member& member : type.members) {
      if (member.is_static && !member.has_value) continue;
      if (is_full()) break;
      if (!is_first) text_ += ", ";
      is_first = false;
      if (member.is_static) text_ += "static ";
      if (member.is_base) {
        text_ += "<" + member.name + "> = ";
      } else if (!member.name.empty()) {
        text_ += member.name + " = ";
      }
      Result<Value> part = member_of(context_, value, member);
      if (part.ok()) {
        put(part.take(), nesting + 1);
      } else {
        error(part.error().message);
      }
    }
    text_ += "}";
  }

  LaneContext context_;
  TypeTable& types_;
  TextOptions options_;
  std::uint32_t elements_ = 0;  // that may still be written
  std::uint64_t scanned_ = 0;
  std::string text_;
};

}  // namespace

std::optional<Format> format_of_letter(char letter) {
  switch (letter) {
    case 'x':
      return Format::hexadecimal;
    case 'd':
      return Format::decimal;
    case 'u':
      return Format::unsigned_decimal;
    case 'o':
      return Format::octal;
    case 't':
      return Format::binary;
    case 'c':
      return Format::character;
    case 'f':
      return Format::floating;
    case 'a':
      return Format::address;
    case 's':
      return Format::string;
    default:
      return std::nullopt;
  }
}

std::string text_of(LaneContext context, const Value& value, const TextOptions& options) {
  return Printer(context, options).print(value);
}

}  // namespace warpgrind::debugger
