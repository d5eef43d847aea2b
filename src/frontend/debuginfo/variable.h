// Variables of the source program, where their values are, and the scopes that hold them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "debuginfo/source_place.h"
#include "debuginfo/type.h"
#include "gpu/types.h"

namespace warpgrind::debuginfo {

// The value is in a register of the PTX function.
struct InRegister {
  ptx::RegId reg = ptx::kNoId;
};

// The value is in a PTX variable: a local depot, a parameter, or shared, constant or global memory.
struct InVariable {
  StateSpace space = StateSpace::none;    // the space of the PTX variable
  ptx::Scope scope = ptx::Scope::module;  // Module::variables or Function::variables
  std::uint32_t variable = ptx::kNoId;    // index into these
  std::int64_t offset = 0;                // bytes
};

// The value is in memory, at the address in a register plus `offset`. `space` generic: a generic address.
struct AtRegister {
  ptx::RegId reg = ptx::kNoId;
  std::int64_t offset = 0;
  StateSpace space = StateSpace::generic;
  bool indirect = false;  // the address is itself in memory there (8 bytes)
};

// The value is in memory at a fixed address of a space.
struct AtAddress {
  std::uint64_t address = 0;
  StateSpace space = StateSpace::generic;
};

// The compiler replaced the variable by a constant: these bytes, in memory order.
struct ConstantValue {
  std::vector<std::uint8_t> bytes;
};

// No value here. `why` is a text for the user.
struct NoValue {
  std::string why;
};

using PlainLocation = std::variant<NoValue, InRegister, InVariable, AtRegister, AtAddress, ConstantValue>;

// The value is in several pieces, first bytes first.
struct Pieces {
  struct Piece {
    PlainLocation location;
    std::uint64_t size = 0;  // bytes
  };
  std::vector<Piece> pieces;
};

using Location = std::variant<NoValue, InRegister, InVariable, AtRegister, AtAddress, ConstantValue, Pieces>;

// global: also static and __shared__ ones. template_value: `size` of `template <int size>`, a constant.
enum class VariableKind : std::uint8_t { parameter, local, global, template_value };

struct Variable {
  struct Range {
    CodeRange code;
    Location location;
  };
  std::string name;          // `i`, `this`; of a global with its namespaces
  std::string linkage_name;  // mangled; empty if the compiler gives none
  TypeId type = kVoidType;
  VariableKind kind = VariableKind::local;
  bool is_artificial = false;  // made by the compiler, such as `this`
  SourcePlace declared;
  // One location for all of the scope, or a list; the first range that holds an instruction is valid there.
  Location location = NoValue{"optimised away: the compiler gives no place for it"};
  std::vector<Range> ranges;  // not empty: a location list, and `location` is not used
};

// The place of the variable's value before `instruction` of its function is executed.
Location location_at(const Variable& variable, std::uint32_t instruction);

enum class ScopeKind : std::uint8_t { function, block, inlined };

// A function, a { } block, or an inlined call.
struct Scope {
  ScopeKind kind = ScopeKind::block;
  std::string name;           // function and inlined: as Frame::function
  std::string linkage_name;   // the same
  SourcePlace declared;       // function and inlined
  SourcePlace called;         // inlined: the call
  TypeId result = kVoidType;  // function and inlined: what it returns
  std::vector<CodeRange> code;
  std::vector<Variable> variables;  // parameters first
  std::vector<Scope> inner;
};

struct VisibleVariable {
  const Variable* variable = nullptr;
  Location location;
  std::uint32_t depth = 0;  // 0: the innermost block
  bool is_hidden = false;   // an inner variable has the same name
};

}  // namespace warpgrind::debuginfo
