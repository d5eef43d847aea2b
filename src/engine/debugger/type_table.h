// Types of a module, and the types that expressions make from them: pointers, arrays, C's own numbers, uint3.
//
// Loops in broken type tables are cut: strip() and size() take a bounded number of steps.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debugger/symbols.h"

namespace warpgrind::debugger {

using debuginfo::kVoidType;
using debuginfo::NumberFormat;
using debuginfo::Type;
using debuginfo::TypeId;
using debuginfo::TypeKind;

enum class Builtin : std::uint8_t {
  boolean,
  character,
  signed_char,
  unsigned_char,
  short_int,
  unsigned_short,
  int_,
  unsigned_int,
  long_int,
  unsigned_long,
  long_long,
  unsigned_long_long,
  int128,
  unsigned_int128,
  float_,
  double_,
  half,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  fp8_e8m0,
  fp6_e2m3,
  fp6_e3m2,
  fp4_e2m1,
  fp4x2_e2m1,  // packed: two numbers in a byte, the lower bits first
  s4x2,
  u4x2,
  uint3,
  dim3,
};

class TypeTable {
 public:
  explicit TypeTable(const Symbols& symbols);  // must outlive it
  const Symbols& symbols() const { return symbols_; }

  const Type& type(TypeId id) const;
  const Type& stripped(TypeId id) const { return type(strip(id)); }
  TypeId strip(TypeId id) const;  // without aliases and qualifiers; kVoidType for a loop of them
  // Bytes; of an array all of it. 0: unknown, or larger than 2^48.
  std::uint64_t size(TypeId id) const;
  std::string name(TypeId id) const;
  // By the name in the program, or a spelling of C's and PTX's own numbers: `unsigned`, `half`, `e4m3`. kVoidType:
  // unknown.
  TypeId find(std::string_view name) const;

  TypeId builtin(Builtin which) const { return kFirstMade + static_cast<TypeId>(which); }
  TypeId pointer_to(TypeId target);
  TypeId array_of(TypeId element, std::vector<std::uint64_t> dimensions);
  // Type of `a[i]`: for float[16][17] it is float[17].
  TypeId element_of(TypeId array);

  bool is_integer(TypeId id) const;  // bool, characters, enumerations too
  bool is_number(TypeId id) const;   // a single one: half too, half2 not
  bool is_pointer(TypeId id) const;
  bool is_array(TypeId id) const;
  bool is_structure(TypeId id) const;  // struct, class or union, but no number
  bool is_reference(TypeId id) const;
  bool is_character(TypeId id) const;  // of one byte
  bool is_text(TypeId id) const;       // char: arrays of it are texts. Bytes of int8_t and uint8_t are mostly numbers.

 private:
  static constexpr TypeId kFirstMade = 0x8000'0000;
  TypeId add(Type type);

  const Symbols& symbols_;
  std::deque<Type> made_;
  Type unknown_;
  std::map<TypeId, TypeId> pointers_;
  std::map<std::pair<TypeId, std::vector<std::uint64_t>>, TypeId> arrays_;
};

}  // namespace warpgrind::debugger
