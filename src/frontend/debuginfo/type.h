// Types of the source program, as a debugger shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "debuginfo/source_place.h"

namespace warpgrind::debuginfo {

using TypeId = std::uint32_t;           // for DebugInfo::type()
inline constexpr TypeId kVoidType = 0;  // `void`, and the type of what has none

enum class TypeKind : std::uint8_t {
  none,       // void
  base,       // a number, bool or character: see `format`
  pointer,    // target: what it points to
  reference,  // T&
  rvalue_reference,
  member_pointer,
  array,      // target: the element; dimensions
  structure,  // struct
  class_type,
  union_type,
  enumeration,  // target: the underlying type, kVoidType if unknown
  alias,        // typedef, using; target
  const_type,   // target
  volatile_type,
  restrict_type,
  function,     // target: what it returns
  unspecified,  // decltype(nullptr), or a kind that this reader does not know
};

// Format of the bits of a number. Types of cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h and cuda_fp4.h are
// structures that have one; `components` counts the numbers in it (2 for half2).
enum class NumberFormat : std::uint8_t {
  none,
  boolean,
  character,
  signed_integer,
  unsigned_integer,
  floating,  // IEEE 754, of the type's size
  half,
  bfloat16,
  fp8_e4m3,
  fp8_e5m2,
  fp8_e8m0,
  fp6_e2m3,
  fp6_e3m2,
  fp4_e2m1,
};

struct Member {
  std::string name;  // empty: an anonymous union or structure; of a base class its type's name
  TypeId type = kVoidType;
  std::uint64_t offset = 0;  // bytes from the start of the structure
  // Bit field: bit_size bits from bit `bit_offset` (0 to 7) of the little-endian number at `offset`. 0: not a bit
  // field.
  std::uint32_t bit_offset = 0, bit_size = 0;
  bool is_base = false;
  bool is_virtual = false;  // a virtual base: `offset` is not known
  bool is_static = false;   // has no offset; DebugInfo::globals() has its variable, if it is defined
  bool has_value = false;   // a static constant: `value`
  std::int64_t value = 0;
};

struct Enumerator {
  std::string name;
  std::int64_t value = 0;
};

struct Type {
  TypeKind kind = TypeKind::none;
  std::string name;  // with namespaces and template arguments, as far as the compiler gives them; empty if unnamed
  std::uint64_t size = 0;  // bytes; 0: unknown, or a declaration without a definition
  NumberFormat format = NumberFormat::none;
  std::uint32_t components = 1;
  TypeId target = kVoidType;
  std::vector<std::uint64_t> dimensions;  // outermost first; 0: unknown
  std::vector<Member> members;            // bases first, as they lie in memory
  std::vector<Enumerator> enumerators;
  std::vector<TypeId> parameters;  // of a function type
  bool is_scoped = false;          // enum class
  bool is_complete = true;         // false: only declared
  std::uint32_t part = 0;          // part of the module (ptx::DebugPart) whose DWARF defines it
  SourcePlace declared;
};

}  // namespace warpgrind::debuginfo
