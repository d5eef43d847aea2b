// Live registers at each place of the modelled machine code, and the 32-bit registers that each of them takes.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"
#include "sass/register_words.h"
#include "sass/uses.h"

namespace warpgrind::sass {

class Liveness {
 public:
  using Set = std::vector<std::uint64_t>;  // one bit for each register of the code
  static bool has(const Set& set, ptx::RegId r) { return (set[r / 64] >> (r % 64) & 1) != 0; }

  // Both must outlive the object.
  Liveness(const Code& code, const std::vector<flow::Definitions>& bodies);

  const Uses& uses() const { return uses_; }
  std::size_t words() const { return words_; }           // of a Set
  const Set& in(std::size_t b) const { return in_[b]; }  // live at the beginning of a block
  Set out(std::size_t b) const;                          // ... at its end
  // Changes `now` from the registers live after an instruction to those live before it.
  void step(std::size_t b, std::size_t n, Set& now) const;
  // Adds what an instruction that reads `r` needs in registers: `r`, or the operands of a folded instruction.
  void add(ptx::RegId r, Set& now) const;
  // Calls `use` with each of these registers.
  template <class Use>
  void each_source(ptx::RegId r, const Use& use) const {
    register_words_.each_source(r, use);
  }
  // Whether no machine instruction remains, so that it needs no operands at its place.
  static bool disappears(const Instruction& i);
  // 32-bit registers of a value. 0: a predicate, in a uniform register, or part of the instruction that uses it.
  std::uint32_t weight(ptx::RegId r) const { return register_words_(r); }
  std::uint32_t size(const Set& now) const;  // sum of the weights

 private:
  const Code& code_;
  Uses uses_;
  RegisterWords register_words_;
  std::size_t words_;
  std::vector<Set> in_;  // by block
};

}  // namespace warpgrind::sass
