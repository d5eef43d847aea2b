#include "debugger/value.h"

#include <algorithm>

#include "base/words.h"
#include "debugger/names.h"
#include "debugger/number.h"

namespace warpgrind::debugger {

using namespace debuginfo;

namespace {

Error no_value(const std::string& name, const std::string& why) {
  return {ErrorKind::bad_input, "'" + name + "' has no value here: " + why, {}};
}

Error bad(std::string message) {
  return {ErrorKind::bad_input, std::move(message), {}};
}

unsigned __int128 register_bits(const LaneView& lane, ptx::RegId reg) {
  const LaneView::RegisterBits bits = lane.read_register(reg);
  return static_cast<unsigned __int128>(bits.high) << 64 | bits.low;
}

unsigned __int128 mask_of(std::uint32_t bits) {
  return bits >= 128 ? ~static_cast<unsigned __int128>(0) : (static_cast<unsigned __int128>(1) << bits) - 1;
}

Result<Address> address_in_register(LaneContext context, const AtRegister& at) {
  Address address{at.space, static_cast<std::uint64_t>(register_bits(context.lane, at.reg)) +
                                static_cast<std::uint64_t>(at.offset)};
  if (!at.indirect) return address;
  std::uint8_t bytes[8];
  if (Status read = context.lane.read(address, bytes); !read.ok()) return read.error();
  return Address{StateSpace::generic, static_cast<std::uint64_t>(bits_of(bytes))};
}

Result<ValuePiece> place_piece(LaneContext context, const Pieces::Piece& piece) {
  ValuePiece result;
  result.size = piece.size;
  if (const auto* none = std::get_if<NoValue>(&piece.location)) {
    result.why = none->why;
  } else if (const auto* in_register = std::get_if<InRegister>(&piece.location)) {
    result.reg = in_register->reg;
  } else if (const auto* in_variable = std::get_if<InVariable>(&piece.location)) {
    Result<Address> address = context.lane.address_of(*in_variable);
    if (!address.ok()) return address.error();
    result.address = *address;
  } else if (const auto* at_register = std::get_if<AtRegister>(&piece.location)) {
    Result<Address> address = address_in_register(context, *at_register);
    if (!address.ok()) return address.error();
    result.address = *address;
  } else if (const auto* at_address = std::get_if<AtAddress>(&piece.location)) {
    result.address = Address{at_address->space, at_address->address};
  } else {
    result.constant = std::get<ConstantValue>(piece.location).bytes;
  }
  return result;
}

Status read_piece(const LaneView& lane, const ValuePiece& piece, std::span<std::uint8_t> bytes) {
  if (piece.address) return lane.read(*piece.address, bytes);
  if (piece.reg) {
    if (const std::string why = lane.why_unknown(*piece.reg); !why.empty()) return bad(why);
    put_bits(register_bits(lane, *piece.reg), bytes);
  } else if (piece.constant.size() >= bytes.size()) {
    std::copy_n(piece.constant.begin(), bytes.size(), bytes.begin());
  } else {
    return bad("a part of it has no value here: " +
               (piece.why.empty() ? "the compiler gives no place for it" : piece.why));
  }
  return Ok{};
}

Status read_pieces(const LaneView& lane, const Value& value, std::span<std::uint8_t> bytes) {
  std::uint64_t at = 0;
  for (const ValuePiece& piece : value.pieces) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.size, bytes.size() - at);
    if (Status read = read_piece(lane, piece, bytes.subspan(at, size)); !read.ok()) return read.error();
    at += size;
  }
  if (at < bytes.size()) return bad("the compiler gives a place only for the first " + counted(at, "byte") + " of it");
  return Ok{};
}

// Keeps the bits only if one of them is set.
void set_undefined(Value& value, std::vector<std::uint8_t> bits) {
  if (std::ranges::all_of(bits, [](std::uint8_t b) { return b == 0; })) bits.clear();
  value.undefined = std::move(bits);
}

void put_undefined(const LaneView& lane, ptx::RegId reg, std::span<std::uint8_t> bytes) {
  if (lane.is_unset(reg)) {
    std::ranges::fill(bytes, std::uint8_t{0xff});
    return;
  }
  const std::uint64_t bits = lane.undefined_bits(reg);
  for (std::size_t k = 0; k < std::min<std::size_t>(bytes.size(), 8); ++k)
    bytes[k] = static_cast<std::uint8_t>(bits >> (8 * k));
}

// Undefined bits of a value in one register, in memory or in pieces, which is no bit field.
std::vector<std::uint8_t> undefined_of_place(const LaneView& lane, const Value& value, std::size_t size) {
  std::vector<std::uint8_t> out(size);
  const std::span<std::uint8_t> all(out);
  if (value.address) {
    lane.read_undefined(*value.address, all);
  } else if (value.reg) {
    put_undefined(lane, *value.reg, all);
  } else {
    std::uint64_t at = 0;
    for (const ValuePiece& piece : value.pieces) {
      const auto part = all.subspan(at, std::min<std::uint64_t>(piece.size, size - at));
      if (piece.address) lane.read_undefined(*piece.address, part);
      if (piece.reg) put_undefined(lane, *piece.reg, part);
      at += part.size();
    }
  }
  return out;
}

// Bytes of memory that hold bits bit_offset ... of a number.
std::uint64_t field_bytes(const Value& value) {
  return (value.bit_offset + value.bit_size + 7) / 8;
}

// The bits of a field out of those around it, as many bytes as the field has.
std::vector<std::uint8_t> field_bits(const Value& field, unsigned __int128 around) {
  std::vector<std::uint8_t> out(field.bytes.size());
  put_bits(around >> field.bit_offset & mask_of(field.bit_size), out);
  return out;
}

std::vector<std::uint8_t> field_value(TypeTable& types, const Value& value, unsigned __int128 bits) {
  bits = bits >> value.bit_offset & mask_of(value.bit_size);
  const auto layout = number_layout(types, value.type);
  if (layout && layout->is_signed && value.bit_size > 0 && value.bit_size < 128 && (bits >> (value.bit_size - 1) & 1))
    bits |= ~mask_of(value.bit_size);
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(types.size(value.type), 16));
  put_bits(bits, bytes);
  return bytes;
}

// A register holds a number narrower than itself as the compiler's loads leave it: extended by its sign.
unsigned __int128 extended(const TypeTable& types, const Value& from) {
  unsigned __int128 bits = bits_of(from.bytes);
  const auto layout = number_layout(types, from.type);
  const auto width = static_cast<std::uint32_t>(std::min<std::size_t>(from.bytes.size(), 16) * 8);
  if (layout && layout->is_signed && width > 0 && width < 64 && (bits >> (width - 1) & 1)) bits |= ~mask_of(width);
  return bits;
}

Status write_register(LaneContext context, ptx::RegId reg, std::uint32_t offset, std::uint32_t size,
                      unsigned __int128 bits) {
  if (size != 0) {
    const unsigned __int128 mask = mask_of(size) << offset;
    bits = (register_bits(context.lane, reg) & ~mask) | (bits << offset & mask);
  }
  return context.lane.write_register(reg, {static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)});
}

Status write_pieces(LaneContext context, const Value& to, std::span<const std::uint8_t> bytes) {
  for (const ValuePiece& piece : to.pieces)
    if (!piece.address && !piece.reg) return bad("a part of it has no place that could be written");
  std::uint64_t at = 0;
  for (const ValuePiece& piece : to.pieces) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.size, bytes.size() - at);
    const auto part = bytes.subspan(at, size);
    Status written = piece.address
                         ? context.lane.write(*piece.address, part)
                         : write_register(context, *piece.reg, 0, static_cast<std::uint32_t>(size * 8), bits_of(part));
    if (!written.ok()) return written.error();
    at += size;
  }
  return Ok{};
}

}  // namespace

bool Value::is_undefined() const {
  if (undefined.empty()) return false;
  std::uint64_t bits = bit_size ? bit_size : 8 * std::uint64_t{undefined.size()};
  for (const std::uint8_t byte : undefined) {
    const auto here = static_cast<unsigned>(std::min<std::uint64_t>(bits, 8));
    const unsigned all = (1u << here) - 1;
    if ((byte & all) != all) return false;
    bits -= here;
  }
  return true;
}

Value place_at(TypeId type, Address address) {
  Value value;
  value.type = type;
  value.address = address;
  return value;
}

Result<Value> place_variable(LaneContext context, const std::string& name, TypeId type, const Location& location) {
  Value value;
  value.type = type;
  if (const auto* none = std::get_if<NoValue>(&location)) return no_value(name, none->why);
  if (const auto* in_register = std::get_if<InRegister>(&location)) {
    value.reg = in_register->reg;
  } else if (const auto* in_variable = std::get_if<InVariable>(&location)) {
    Result<Address> address = context.lane.address_of(*in_variable);
    if (!address.ok()) return no_value(name, address.error().message);
    value.address = *address;
  } else if (const auto* at_register = std::get_if<AtRegister>(&location)) {
    Result<Address> address = address_in_register(context, *at_register);
    if (!address.ok()) return no_value(name, address.error().message);
    value.address = *address;
  } else if (const auto* at_address = std::get_if<AtAddress>(&location)) {
    value.address = Address{at_address->space, at_address->address};
  } else if (const auto* constant = std::get_if<ConstantValue>(&location)) {
    value.bytes = constant->bytes;
    const std::uint64_t size = context.types.size(type);
    if (size > kLoadedBytes) return no_value(name, "its constant is shorter than its type");
    value.bytes.resize(size);
  } else {
    for (const Pieces::Piece& piece : std::get<Pieces>(location).pieces) {
      Result<ValuePiece> placed = place_piece(context, piece);
      if (!placed.ok()) return no_value(name, placed.error().message);
      value.pieces.push_back(placed.take());
    }
    if (value.pieces.empty()) return no_value(name, "optimised away: the compiler gives no place for it");
  }
  return value;
}

Result<Value> read_variable(LaneContext context, const VisibleVariable& variable) {
  Result<Value> value = find_variable(context, *variable.variable, variable.location);
  if (!value.ok()) return value;
  if (context.types.is_reference(value->type)) {
    value = pointee(context, *value);
    if (!value.ok()) return value;
  }
  if (Status loaded = load(context, *value); !loaded.ok())
    return no_value(variable.variable->name, loaded.error().message);
  return value;
}

Status load(LaneContext context, Value& value) {
  if (!value.bytes.empty() || !value.has_place()) return Ok{};
  const std::uint64_t size = context.types.size(value.type);
  if (size == 0) return Ok{};
  if (value.bit_size != 0) {
    unsigned __int128 bits = 0;
    if (value.reg) {
      if (const std::string why = context.lane.why_unknown(*value.reg); !why.empty()) return bad(why);
      bits = register_bits(context.lane, *value.reg);
    } else if (value.address) {
      std::uint8_t raw[16] = {};
      const std::span<std::uint8_t> span(raw, std::min<std::uint64_t>(field_bytes(value), 16));
      if (Status read = context.lane.read(*value.address, span); !read.ok()) return read.error();
      bits = bits_of(span);
    }
    if (size > 16) return bad("a bit field of more than 16 bytes");
    value.bytes = field_value(context.types, value, bits);
    std::vector<std::uint8_t> around(16);
    if (value.address) {
      context.lane.read_undefined(*value.address,
                                  std::span(around).first(std::min<std::uint64_t>(field_bytes(value), 16)));
    } else if (value.reg && context.lane.is_unset(*value.reg)) {
      std::ranges::fill(around, std::uint8_t{0xff});
    }
    set_undefined(value, field_bits(value, bits_of(around)));
    return Ok{};
  }
  if (size > kLoadedBytes) {
    if (value.address) return Ok{};
    return bad("it has " + counted(size, "byte") + ", and is not in memory");
  }
  std::vector<std::uint8_t> bytes(size);
  if (value.reg) {
    if (size > 16) return bad("its type has " + counted(size, "byte") + ", and a register holds 16 at most");
    if (const std::string why = context.lane.why_unknown(*value.reg); !why.empty()) return bad(why);
    put_bits(register_bits(context.lane, *value.reg), bytes);
  } else {
    Status read = value.address ? context.lane.read(*value.address, bytes) : read_pieces(context.lane, value, bytes);
    if (!read.ok()) return read.error();
  }
  value.bytes = std::move(bytes);
  set_undefined(value, undefined_of_place(context.lane, value, size));
  return Ok{};
}

void read_undefined_part(LaneContext context, const Value& value, std::uint64_t offset,
                         std::span<std::uint8_t> undefined) {
  if (value.bytes.empty() && value.address && value.bit_size == 0)
    return context.lane.read_undefined({value.address->space, value.address->value + offset}, undefined);
  Value loaded;
  const Value* from = &value;
  if (value.bytes.empty()) {
    loaded = value;
    if (!load(context, loaded).ok()) return;
    from = &loaded;
  }
  if (offset > from->undefined.size() || undefined.size() > from->undefined.size() - offset) return;
  std::copy_n(from->undefined.begin() + static_cast<std::ptrdiff_t>(offset), undefined.size(), undefined.begin());
}

Status read_part(LaneContext context, const Value& value, std::uint64_t offset, std::span<std::uint8_t> bytes) {
  if (value.bytes.empty() && value.address && value.bit_size == 0)
    return context.lane.read({value.address->space, value.address->value + offset}, bytes);
  Value loaded;
  const Value* from = &value;
  if (value.bytes.empty()) {
    loaded = value;
    if (Status read = load(context, loaded); !read.ok()) return read.error();
    from = &loaded;
  }
  if (offset > from->bytes.size() || bytes.size() > from->bytes.size() - offset) return bad("it ends before that");
  std::copy_n(from->bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  return Ok{};
}

Result<Value> part_of(LaneContext context, const Value& whole, std::uint64_t offset, TypeId type) {
  const std::uint64_t size = context.types.size(type);
  Value part;
  part.type = type;
  if (whole.address && whole.bit_size == 0) {
    part.address = Address{whole.address->space, whole.address->value + offset};
  } else if (whole.reg) {
    if (size == 0) return bad("its type has no known size");
    if (offset > 16 || size > 16 || whole.bit_offset / 8 + offset + size > 16)
      return bad("the register ends before that");
    part.reg = whole.reg;
    part.variable = whole.variable;
    part.bit_offset = whole.bit_offset + static_cast<std::uint32_t>(offset * 8);
    part.bit_size = static_cast<std::uint32_t>(size * 8);
  } else if (!whole.pieces.empty()) {
    std::uint64_t begin = 0;
    for (const ValuePiece& piece : whole.pieces) {
      if (offset >= begin && offset - begin <= piece.size && size <= piece.size - (offset - begin)) {
        part.address = piece.address;
        if (part.address) part.address->value += offset - begin;
        if (piece.reg && offset - begin < 16) {
          part.reg = piece.reg;
          part.bit_offset = static_cast<std::uint32_t>((offset - begin) * 8);
          part.bit_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size * 8, 128));
        }
        if (!part.has_place() && piece.constant.empty())
          return bad("it has no value here: " + (piece.why.empty() ? "the compiler gives no place for it" : piece.why));
        break;
      }
      begin += piece.size;
    }
    if (part.has_place()) return part;
  }
  if (!whole.bytes.empty() || !part.has_place()) {
    if (size > kLoadedBytes) return bad("it has " + counted(size, "byte") + ", and is not in memory");
    part.bytes.resize(size);
    if (Status read = read_part(context, whole, offset, part.bytes); !read.ok()) {
      if (!part.has_place()) return read.error();
      part.bytes.clear();
    } else if (whole.has_undefined() || whole.bytes.empty()) {
      std::vector<std::uint8_t> undefined(size);
      read_undefined_part(context, whole, offset, undefined);
      set_undefined(part, std::move(undefined));
    }
  }
  return part;
}

Result<Value> member_of(LaneContext context, const Value& structure, const Member& member) {
  if (member.is_static) {
    if (!member.has_value) return bad("'" + member.name + "' is a static member: write CLASS::" + member.name);
    Value value;
    value.type = member.type;
    const std::uint64_t size = context.types.size(member.type);
    if (size == 0 || size > 16) return bad("'" + member.name + "' has a type without a known size");
    value.bytes.resize(size);
    put_bits(static_cast<unsigned __int128>(static_cast<__int128>(member.value)), value.bytes);
    return value;
  }
  if (member.is_virtual) return bad("'" + member.name + "' is a virtual base class: its place is not known");
  if (member.bit_size == 0) return part_of(context, structure, member.offset, member.type);
  if (member.bit_size > 64) return bad("'" + member.name + "' is a bit field of more than 64 bits");
  Value field;
  field.type = member.type;
  field.bit_offset = member.bit_offset % 8;
  field.bit_size = member.bit_size;
  const std::uint64_t offset = member.offset + member.bit_offset / 8;
  if (structure.address && structure.bit_size == 0) {
    field.address = Address{structure.address->space, structure.address->value + offset};
    if (structure.bytes.empty()) return field;
  } else if (structure.reg) {
    if (offset >= 16 || structure.bit_offset + offset * 8 + member.bit_offset % 8 + member.bit_size > 128)
      return bad("the register ends before that");
    field.reg = structure.reg;
    field.variable = structure.variable;
    field.bit_offset += structure.bit_offset + static_cast<std::uint32_t>(offset * 8);
    return field;
  }
  std::uint8_t raw[16] = {};
  const std::span<std::uint8_t> span(raw, field_bytes(field));
  if (Status read = read_part(context, structure, offset, span); !read.ok()) return read.error();
  field.bytes = field_value(context.types, field, bits_of(span));
  std::uint8_t around[16] = {};
  read_undefined_part(context, structure, offset, std::span(around).first(span.size()));
  set_undefined(field, field_bits(field, bits_of(around)));
  if (!field.address) field.bit_offset = field.bit_size = 0;
  return field;
}

Result<Value> element_at(LaneContext context, const Value& array, std::uint64_t index) {
  const TypeId element = context.types.element_of(context.types.strip(array.type));
  const std::uint64_t size = context.types.size(element);
  if (size == 0) return bad("the size of '" + context.types.name(element) + "' is not known");
  return part_of(context, array, index * size, element);
}

Result<Value> pointee(LaneContext context, const Value& pointer, std::int64_t index) {
  const Type& type = context.types.stripped(pointer.type);
  const TypeId target = type.target;
  Value loaded = pointer;
  if (Status read = load(context, loaded); !read.ok()) return read.error();
  if (loaded.bytes.size() != 8) return bad("'" + context.types.name(pointer.type) + "' is not a pointer of 8 bytes");
  const auto at = static_cast<std::uint64_t>(bits_of(loaded.bytes));
  const std::uint64_t size = context.types.size(target);
  if (index != 0 && size == 0) return bad("the size of '" + context.types.name(target) + "' is not known");
  return place_at(target, {StateSpace::generic, at + static_cast<std::uint64_t>(index) * size});
}

Status assign(LaneContext context, Value& to, const Value& from) {
  if (!to.has_place()) return bad("only what is in memory or in a register can be assigned to");
  Value source = from;
  if (Status read = load(context, source); !read.ok()) return read.error();
  const std::uint64_t size = context.types.size(to.type);
  if (source.bytes.size() != size || size == 0)
    return bad("'" + context.types.name(to.type) + "' has " + counted(size, "byte") + ", and the new value " +
               std::to_string(source.bytes.size()));
  Status written = Ok{};
  if (to.address && to.bit_size != 0) {
    std::uint8_t raw[16] = {};
    const std::span<std::uint8_t> span(raw, std::min<std::uint64_t>(field_bytes(to), 16));
    if (Status read = context.lane.read(*to.address, span); !read.ok()) return read.error();
    const unsigned __int128 mask = mask_of(to.bit_size) << to.bit_offset;
    put_bits((bits_of(span) & ~mask) | (bits_of(source.bytes) << to.bit_offset & mask), span);
    written = context.lane.write(*to.address, span);
  } else if (to.address) {
    written = context.lane.write(*to.address, source.bytes);
  } else if (to.reg) {
    written = write_register(context, *to.reg, to.bit_offset, to.bit_size, extended(context.types, source));
  } else {
    written = write_pieces(context, to, source.bytes);
  }
  if (!written.ok()) return written.error();
  to.bytes.clear();
  to.undefined.clear();
  return load(context, to);
}

Result<std::uint64_t> generic_address(Address address) {
  switch (address.space) {
    case StateSpace::shared:
      return kSharedWindow + address.value;
    case StateSpace::local:
      return kLocalWindow + address.value;
    case StateSpace::generic:
    case StateSpace::global:
    case StateSpace::constant:
      return address.value;
    case StateSpace::param:
      return bad("a parameter of the kernel has no address that a pointer could hold");
    case StateSpace::none:
    case StateSpace::reg:
    case StateSpace::sreg:
    case StateSpace::texture:
      break;
  }
  return bad("it is not in memory");
}

}  // namespace warpgrind::debugger
