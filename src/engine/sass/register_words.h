// 32-bit registers of the code's values, and what instructions that disappear leave to their readers.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"
#include "sass/uses.h"

namespace warpgrind::sass {

class RegisterWords {
 public:
  // All must outlive the object.
  RegisterWords(const Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses);

  // 32-bit registers of a value. 0: a predicate, in a uniform register, or part of the instruction that uses it.
  std::uint32_t operator()(ptx::RegId r) const { return words_[r]; }
  // Calls `use` with `r`, or with the operands of the folded instruction that writes it.
  template <class Use>
  void each_source(ptx::RegId r, const Use& use, unsigned depth = 0) const {
    constexpr unsigned kDeepest = 8;
    if (!folded(r) || depth >= kDeepest) return use(r);
    for (const ptx::RegId from : uses_.instruction(*uses_.only_writer(r)).reads) each_source(from, use, depth + 1);
  }

 private:
  // Whether its instruction disappears in machine code. Its operands are then needed in its place.
  bool folded(ptx::RegId r) const;
  void forget_repeated(const Instruction& i);

  const Uses& uses_;
  std::vector<std::uint8_t> words_;  // by register
};

}  // namespace warpgrind::sass
