// A stopped lane made of plain arrays, and types as a compiler would give them, for the tests of values and
// expressions.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "debugger/expression.h"
#include "debugger/lane_view.h"
#include "debugger/symbols.h"
#include "debugger/value.h"

namespace debugger_test {

using namespace warpgrind;
using debugger::Address;
using debuginfo::CodePlace;
using debuginfo::kVoidType;
using debuginfo::Location;
using debuginfo::Member;
using debuginfo::NumberFormat;
using debuginfo::Type;
using debuginfo::TypeId;
using debuginfo::TypeKind;
using debuginfo::Variable;
using debuginfo::VisibleVariable;

class TestSymbols final : public debugger::Symbols {
 public:
  TestSymbols() { types.resize(1); }

  const Type& type(TypeId id) const override { return id < types.size() ? types[id] : types[0]; }
  // As C++ writes it, for the kinds that the tests use.
  std::string type_name(TypeId id) const override { return name_of(id, 0); }
  TypeId find_type(std::string_view name) const override {
    for (TypeId id = 1; id < types.size(); ++id)
      if (types[id].name == name) return id;
    return kVoidType;
  }
  std::vector<VisibleVariable> variables(CodePlace, std::uint32_t) const override {
    std::vector<VisibleVariable> visible;
    for (const auto& [variable, depth] : locals) visible.push_back({&variable, variable.location, depth, false});
    return visible;
  }
  const std::vector<Variable>& globals() const override { return global_variables; }
  std::string why_no_variables(std::uint32_t) const override { return why; }
  const std::vector<ptx::Register>& registers(std::uint32_t) const override { return register_names; }

  TypeId add(Type type) {
    types.push_back(std::move(type));
    return static_cast<TypeId>(types.size() - 1);
  }
  TypeId base(const char* name, std::uint64_t size, NumberFormat format, std::uint32_t components = 1) {
    Type type = make(TypeKind::base, name, size);
    type.format = format;
    type.components = components;
    return add(type);
  }
  TypeId layer(TypeKind kind, TypeId target, const char* name = "") {
    Type type = make(kind, name, kind == TypeKind::pointer || kind == TypeKind::reference ? 8 : types[target].size);
    type.target = target;
    return add(type);
  }
  TypeId array(TypeId element, std::vector<std::uint64_t> dimensions) {
    Type type = make(TypeKind::array, "", 0);
    type.target = element;
    type.dimensions = std::move(dimensions);
    return add(type);
  }
  TypeId structure(const char* name, std::uint64_t size, std::vector<Member> members,
                   TypeKind kind = TypeKind::structure) {
    Type type = make(kind, name, size);
    type.members = std::move(members);
    return add(type);
  }
  TypeId enumeration(const char* name, TypeId underlying, std::vector<debuginfo::Enumerator> enumerators) {
    Type type = make(TypeKind::enumeration, name, types[underlying].size);
    type.target = underlying;
    type.enumerators = std::move(enumerators);
    return add(type);
  }
  static Type make(TypeKind kind, const char* name, std::uint64_t size) {
    Type type;
    type.kind = kind;
    type.name = name;
    type.size = size;
    return type;
  }
  static Member member(const char* name, TypeId type, std::uint64_t offset) {
    Member member;
    member.name = name;
    member.type = type;
    member.offset = offset;
    return member;
  }

  void local(const char* name, TypeId type, Location location, std::uint32_t depth = 0) {
    locals.emplace_back(variable(name, type, std::move(location)), depth);
  }
  static Variable variable(const char* name, TypeId type, Location location) {
    Variable variable;
    variable.name = name;
    variable.type = type;
    variable.location = std::move(location);
    return variable;
  }

  std::vector<Type> types;
  std::vector<std::pair<Variable, std::uint32_t>> locals;
  std::vector<Variable> global_variables;
  std::vector<ptx::Register> register_names;
  std::string why;

 private:
  std::string name_of(TypeId id, int nesting) const {
    if (nesting > 50) return "...";
    const Type& t = type(id);
    if (!t.name.empty() || t.kind == TypeKind::none) return t.kind == TypeKind::none ? "void" : t.name;
    const std::string target = t.kind == TypeKind::enumeration ? "" : name_of(t.target, nesting + 1);
    switch (t.kind) {
      case TypeKind::pointer:
        return target + (target.ends_with('*') ? "*" : " *");
      case TypeKind::reference:
        return target + " &";
      case TypeKind::const_type:
        return "const " + target;
      case TypeKind::array: {
        std::string text = target;
        for (const std::uint64_t n : t.dimensions) text += "[" + std::to_string(n) + "]";
        return text;
      }
      default:
        return "{...}";
    }
  }
};

class TestLane final : public debugger::LaneView {
 public:
  debuginfo::DebugInfo& info() const override { WG_ASSERT(!"the tests have no DebugInfo"); }
  CodePlace code() const override { return place; }
  std::uint32_t frame() const override { return 0; }
  unsigned lane() const override { return lane_number; }
  std::uint32_t warp() const override { return 2; }
  Dim3 thread_index() const override { return {lane_number, 1, 0}; }
  Dim3 block_index() const override { return {3, 4, 5}; }
  Dim3 block_dim() const override { return {32, 4, 1}; }
  Dim3 grid_dim() const override { return {100, 10, 6}; }
  RegisterBits read_register(ptx::RegId reg) const override { return registers.at(reg); }
  Status write_register(ptx::RegId reg, RegisterBits bits) override {
    registers.at(reg) = bits;
    return Ok{};
  }
  Result<Address> address_of(const debuginfo::InVariable& in) const override {
    const auto found = variables.find(in.variable);
    if (found == variables.end()) return Error{ErrorKind::bad_input, "this kernel does not use it", {}};
    return Address{in.space, found->second + static_cast<std::uint64_t>(in.offset)};
  }
  Status read(Address from, std::span<std::uint8_t> bytes) const override {
    ++reads;
    bytes_read += bytes.size();
    const std::uint8_t* at = find(from, bytes.size());
    if (!at) return Error{ErrorKind::bad_input, "nothing is allocated at this address", {}};
    std::memcpy(bytes.data(), at, bytes.size());
    return Ok{};
  }
  Status write(Address to, std::span<const std::uint8_t> bytes) override {
    std::uint8_t* at = const_cast<std::uint8_t*>(find(to, bytes.size()));
    if (!at) return Error{ErrorKind::bad_input, "nothing is allocated at this address", {}};
    std::memcpy(at, bytes.data(), bytes.size());
    return Ok{};
  }
  void read_undefined(Address from, std::span<std::uint8_t> undefined) const override {
    if (from.space != StateSpace::shared) return;
    for (std::uint64_t i = 0; i < undefined.size(); ++i)
      if (const auto found = undefined_shared.find(from.value + i); found != undefined_shared.end())
        undefined[i] = found->second;
  }
  bool is_unset(ptx::RegId reg) const override { return unset.contains(reg); }
  std::string describe(Address address) const override {
    const std::uint64_t offset = address.value - kGlobal;
    return find(address, 1) && offset < global.size()
               ? "in a " + std::to_string(global.size()) + "-byte allocation, byte " + std::to_string(offset)
               : "";
  }

  template <class T>
  void put(Address address, const T& value) {
    ASSERT_TRUE(write(address, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value}).ok());
  }
  template <class T>
  T get(Address address) {
    T value{};
    EXPECT_TRUE(read(address, {reinterpret_cast<std::uint8_t*>(&value), sizeof value}).ok());
    return value;
  }

  static constexpr std::uint64_t kGlobal = 0x7f00'0000'1000;
  CodePlace place{0, 10};
  unsigned lane_number = 7;
  std::vector<RegisterBits> registers;
  std::map<std::uint32_t, std::uint64_t> variables;  // PTX variable -> offset in its space
  std::vector<std::uint8_t> global = std::vector<std::uint8_t>(1 << 16);
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(4096), local = std::vector<std::uint8_t>(4096);
  std::vector<std::uint8_t> param = std::vector<std::uint8_t>(256);
  std::map<std::uint64_t, std::uint8_t> undefined_shared;  // by offset: bits that were never written
  std::set<ptx::RegId> unset;
  mutable std::uint64_t reads = 0, bytes_read = 0;

 private:
  const std::uint8_t* find(Address address, std::uint64_t size) const {
    if (address.space == StateSpace::generic || address.space == StateSpace::global) {
      if (address.value - kSharedWindow < kWindowSize) return inside(shared, address.value - kSharedWindow, size);
      if (address.value - kLocalWindow < kWindowSize) return inside(local, address.value - kLocalWindow, size);
      return inside(global, address.value - kGlobal, size);
    }
    if (address.space == StateSpace::shared) return inside(shared, address.value, size);
    if (address.space == StateSpace::local) return inside(local, address.value, size);
    return address.space == StateSpace::param ? inside(param, address.value, size) : nullptr;
  }
  static const std::uint8_t* inside(const std::vector<std::uint8_t>& bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.data() + offset : nullptr;
  }
};

// A lane, its types, and the numbers of C among them.
struct Scene {
  TestSymbols symbols;
  TestLane lane;
  TypeId t_int = symbols.base("int", 4, NumberFormat::signed_integer);
  TypeId t_unsigned = symbols.base("unsigned int", 4, NumberFormat::unsigned_integer);
  TypeId t_long = symbols.base("long", 8, NumberFormat::signed_integer);
  TypeId t_char = symbols.base("char", 1, NumberFormat::character);
  TypeId t_bool = symbols.base("bool", 1, NumberFormat::boolean);
  TypeId t_float = symbols.base("float", 4, NumberFormat::floating);
  TypeId t_double = symbols.base("double", 8, NumberFormat::floating);
  TypeId t_short = symbols.base("short", 2, NumberFormat::signed_integer);
  debugger::TypeTable types{symbols};
  debugger::LaneContext context{lane, types};

  Result<debugger::Value> try_value(const std::string& text, bool may_assign = false) {
    Result<debugger::Expression> expression = debugger::parse_expression(text, types);
    if (!expression.ok()) return expression.error();
    return debugger::evaluate(context, *expression,
                              may_assign ? debugger::SideEffects::allowed : debugger::SideEffects::refused);
  }
  debugger::Value value(const std::string& text, bool may_assign = false) {
    Result<debugger::Value> result = try_value(text, may_assign);
    if (!result.ok()) ADD_FAILURE() << text << ": " << result.error().message << "\n" << result.error().detail;
    return result.ok() ? result.take() : debugger::Value{};
  }
  std::string error(const std::string& text, bool may_assign = false) {
    Result<debugger::Value> result = try_value(text, may_assign);
    return result.ok() ? "no error" : result.error().message;
  }
  // The bytes as a number of the host.
  template <class T>
  T get(const std::string& text) {
    const debugger::Value v = value(text);
    T result{};
    EXPECT_EQ(v.bytes.size(), sizeof result) << text << " is a " << types.name(v.type);
    if (v.bytes.size() == sizeof result) std::memcpy(&result, v.bytes.data(), sizeof result);
    return result;
  }
  ptx::RegId reg(const char* name, ptx::ScalarType type, std::uint64_t low) {
    symbols.register_names.push_back({name, type});
    lane.registers.push_back({low, 0});
    return static_cast<ptx::RegId>(lane.registers.size() - 1);
  }
};

}  // namespace debugger_test
