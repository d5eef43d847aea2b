// Symbolic addresses as sums, e.g. 4 * r7 + variable + 12, and their known alignment. They allow comparing two
// addresses without running the program.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flow/definitions.h"
#include "ptx/ast.h"

namespace warpgrind::sass {

struct AddressSum {
  // Multiplied term: a register (its web) of unknown value, or a variable. Sorted.
  struct Root {
    enum class Kind : std::uint8_t { register_, function_variable, module_variable, value } kind = Kind::register_;
    std::uint32_t index = 0;
    friend auto operator<=>(const Root&, const Root&) = default;
  };
  std::vector<std::pair<Root, std::int64_t>> terms;
  std::int64_t constant = 0;
  std::uint8_t zeros = 0;  // known trailing zero bits of the sum of the terms; at most kMostZeros

  static constexpr std::uint8_t kMostZeros = 5;
  bool same_terms(const AddressSum& other) const { return terms == other.terms; }
  // The variable that it points into, if there is exactly one.
  std::optional<Root> variable() const;
};

// Sums of one function. Instructions of a straight-line block are passed in order and known from then on. A register
// from elsewhere is known if it is written once, from operands that are written once.
class AddressSums {
 public:
  AddressSums(const ptx::Module& module, const flow::Definitions& definitions);

  void begin_block() { here_.clear(); }
  void pass(const ptx::Instruction& instruction);   // the next instruction of the block
  AddressSum address(const ptx::Operand& operand);  // of [register + offset] or [variable + offset]

 private:
  using Root = AddressSum::Root;
  AddressSum of(const ptx::Operand& operand, bool outside);
  AddressSum of_register(ptx::RegId r, bool outside);
  // nullopt: unknown; the caller makes a new opaque value. `outside`: use only registers that are written once.
  std::optional<AddressSum> result(const ptx::Instruction& i, bool outside);
  std::optional<AddressSum> product(const AddressSum& a, const AddressSum& b) const;
  AddressSum opaque(Root root, std::uint8_t zeros) const;
  static AddressSum sum(const AddressSum& a, const AddressSum& b, std::int64_t sign = 1);
  static AddressSum scaled(const AddressSum& a, std::int64_t by);
  std::uint8_t zeros_of_variable(Root root) const;
  void find_zeros();
  std::uint8_t zeros_of(const ptx::Operand& operand) const;
  std::uint8_t zeros_of_result(const ptx::Instruction& i) const;

  const ptx::Module& module_;
  const flow::Definitions& definitions_;
  std::vector<std::uint8_t> zeros_;                     // by register, minimum over all its writers
  std::unordered_map<ptx::RegId, AddressSum> here_;     // written in this block
  std::unordered_map<ptx::RegId, AddressSum> outside_;  // written once, elsewhere
  std::uint32_t values_ = 0;                            // number of opaque values so far
  unsigned depth_ = 0;
};

}  // namespace warpgrind::sass
