// From which objects the address of an access is made: the parameters of a kernel and the variables whose addresses go
// into it. With the arguments of a launch that says which allocation an access should stay in. One answer a register,
// the union of all its definitions; what came out of memory may be any pointer, and then nothing is said.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

struct AddressSource {
  enum class Kind : std::uint8_t {
    parameter,         // the 8 bytes at `offset` of an entry's parameter: a pointer, or a number
    module_variable,   // its address
    function_variable  // likewise: shared or local memory
  } kind = Kind::parameter;
  std::uint32_t index = 0;  // Function::variables (parameters too), Module::variables
  std::uint64_t offset = 0;
  friend auto operator<=>(const AddressSource&, const AddressSource&) = default;
};

class Provenance {
 public:
  Provenance(const ptx::Function& function, const ControlFlow& cfg);
  // Of a memory operand. Empty: not known, or an address that nothing of the kind goes into.
  std::vector<AddressSource> of(const ptx::Operand& address) const;

 private:
  // What goes into a value. `unknown`: a pointer from elsewhere may, as well.
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

  static constexpr std::size_t kMost = 6;          // sources of a value; more: unknown
  static constexpr std::size_t kMostInAll = 4096;  // of a function
  const ptx::Function& function_;
  std::vector<AddressSource> sources_;
  std::vector<Value> values_;  // by RegId
};

}  // namespace warpgrind::flow
