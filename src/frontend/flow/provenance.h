// Objects from which an access's address is computed: parameters of a kernel, and variables whose address is used. With
// the arguments of a launch, they determine the allocation that the access should stay in. Each register has one
// answer, the union over its definitions. A value loaded from memory may be any pointer, so its sources are unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

struct AddressSource {
  enum class Kind : std::uint8_t {
    parameter,         // the 8 bytes at `offset` of an entry's parameter: a pointer or a number
    module_variable,   // the address of a module-level variable
    function_variable  // the address of a shared or local variable
  } kind = Kind::parameter;
  std::uint32_t index = 0;  // into Function::variables (parameters too) or Module::variables
  std::uint64_t offset = 0;
  friend auto operator<=>(const AddressSource&, const AddressSource&) = default;
};

class Provenance {
 public:
  Provenance(const ptx::Function& function, const ControlFlow& cfg);
  // Sources of a memory operand. Empty: unknown, or an address without such sources.
  std::vector<AddressSource> of(const ptx::Operand& address) const;

 private:
  // Sources of a value. `unknown`: the value may also contain a pointer from elsewhere.
  struct Value {
    std::vector<std::uint16_t> sources;  // sorted; indexes into sources_
    bool unknown = false;
    friend bool operator==(const Value&, const Value&) = default;
  };
  void add(Value& to, const Value& more) const;
  Value of_operand(const ptx::Operand& operand);
  Value from_variable(const ptx::Operand& operand);
  Value sum(const ptx::Instruction& i, std::size_t first, std::size_t end);
  Value loaded(const ptx::Instruction& i, std::size_t element, unsigned bits);
  Value result(const ptx::Instruction& i, std::size_t element, unsigned bits);
  bool pass(const ControlFlow& cfg);
  std::uint16_t number(const AddressSource& source);

  static constexpr std::size_t kMost = 6;          // sources of a value; with more it is unknown
  static constexpr std::size_t kMostInAll = 4096;  // in a function
  const ptx::Function& function_;
  std::vector<AddressSource> sources_;
  std::vector<Value> values_;  // by RegId
};

}  // namespace warpgrind::flow
