// Addresses as sums, so that two of them can be compared without running the program: 4 * r7 + variable + 12. And the
// alignment that is sure of them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flow/definitions.h"
#include "ptx/ast.h"

namespace warpgrind::machine {

struct AddressSum {
  // What is multiplied: a register (its web) with a value that nothing more is known of, or a variable. Sorted.
  struct Root {
    enum class Kind : std::uint8_t { register_, function_variable, module_variable, value } kind = Kind::register_;
    std::uint32_t index = 0;
    friend auto operator<=>(const Root&, const Root&) = default;
  };
  std::vector<std::pair<Root, std::int64_t>> terms;
  std::int64_t constant = 0;
  std::uint8_t zeros = 0;  // trailing zero bits that the sum of the terms is known to have; at most kMostZeros

  static constexpr std::uint8_t kMostZeros = 5;
  bool same_terms(const AddressSum& other) const { return terms == other.terms; }
  // The variable that it points into, if that is one; kNoId: not known.
  std::optional<Root> variable() const;
};

// Sums of one function. What a piece of straight code computes is known while it is gone through in order; registers
// from elsewhere where they are written once, from what is written once.
class AddressSums {
 public:
  AddressSums(const ptx::Module& module, const flow::Definitions& definitions);

  void begin_block() { here_.clear(); }
  void pass(const ptx::Instruction& instruction);   // the next one of the block
  AddressSum address(const ptx::Operand& operand);  // of [register + offset] or [variable + offset]

 private:
  using Root = AddressSum::Root;
  AddressSum of(const ptx::Operand& operand, bool outside);
  AddressSum of_register(ptx::RegId r, bool outside);
  // nullopt: nothing better than a value of its own. `outside`: may only use what is written once.
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
  std::vector<std::uint8_t> zeros_;                     // by register, over all that write it
  std::unordered_map<ptx::RegId, AddressSum> here_;     // written in this block
  std::unordered_map<ptx::RegId, AddressSum> outside_;  // written once, elsewhere
  std::uint32_t values_ = 0;                            // numbers of values given out
  unsigned depth_ = 0;
};

}  // namespace warpgrind::machine
