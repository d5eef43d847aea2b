// Values of the source program: a type, bytes, and the place that they come from.
//
// A value in memory may have no bytes yet: an array of a million elements is read in the parts that someone asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debugger/lane_view.h"
#include "debugger/type_table.h"

namespace warpgrind::debugger {

inline constexpr std::uint64_t kLoadedBytes = 4096;  // load() leaves larger arrays and structures in memory

// Part of a value that is in several pieces.
struct ValuePiece {
  std::uint64_t size = 0;
  std::optional<Address> address;
  std::optional<ptx::RegId> reg;
  std::vector<std::uint8_t> constant;
  std::string why;  // there is no value
};

struct Value {
  TypeId type = kVoidType;
  std::vector<std::uint8_t> bytes;  // size(type) of them, or none: not read yet. Of a bit field: its own bits.
  // Set bits were never written. As long as `bytes`; empty: all bits are defined, or it is not known.
  std::vector<std::uint8_t> undefined;
  // The place; at most one of these three. None: a computed value, or a constant.
  std::optional<Address> address;
  std::optional<ptx::RegId> reg;
  std::vector<ValuePiece> pieces;
  const debuginfo::Variable* variable = nullptr;  // whose value, or a part of it, is in `reg`; null: the register's own
  // Part of the number at `address` or in `reg`: a bit field, or a member of a structure in a register. bit_size 0:
  // all.
  std::uint32_t bit_offset = 0, bit_size = 0;

  bool has_place() const { return address || reg || !pieces.empty(); }
  bool has_undefined() const { return !undefined.empty(); }
  bool is_undefined() const;  // all of its bits
};

class KeptValues;

// What values are read with. All must outlive it.
struct LaneContext {
  LaneView& lane;
  TypeTable& types;
  KeptValues* kept = nullptr;  // `$1`; null: there are none
};

// The place without its bytes: reads nothing but an address that is itself in a register or in memory.
// Error: the variable has no value here, with the compiler's reason.
Result<Value> place_variable(LaneContext context, const std::string& name, TypeId type,
                             const debuginfo::Location& location);
// The same with bytes, up to kLoadedBytes. A reference is followed.
Result<Value> read_variable(LaneContext context, const debuginfo::VisibleVariable& variable);

Value place_at(TypeId type, Address address);
// Reads the bytes, unless they are there or are more than kLoadedBytes.
Status load(LaneContext context, Value& value);
// Bytes of the value from `offset` on, out of `bytes` or of memory.
Status read_part(LaneContext context, const Value& value, std::uint64_t offset, std::span<std::uint8_t> bytes);

// Undefined bits of these bytes, into zeroed `undefined`.
void read_undefined_part(LaneContext context, const Value& value, std::uint64_t offset,
                         std::span<std::uint8_t> undefined);

// Parts of a value, not read where the whole is not.
Result<Value> member_of(LaneContext context, const Value& structure, const debuginfo::Member& member);
Result<Value> element_at(LaneContext context, const Value& array, std::uint64_t index);
// `size` bytes from `offset` on, as a value of another type.
Result<Value> part_of(LaneContext context, const Value& whole, std::uint64_t offset, TypeId type);
// What a pointer or a reference points to, `index` elements further on.
Result<Value> pointee(LaneContext context, const Value& pointer, std::int64_t index = 0);

// Writes the bytes of `from` to the place of `to`, which has a type of the same size. Conversions: cast() in
// arithmetic.h.
Status assign(LaneContext context, Value& to, const Value& from);

// The address as a pointer of the program holds it.
Result<std::uint64_t> generic_address(Address address);

}  // namespace warpgrind::debugger
