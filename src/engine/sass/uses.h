// Writers and readers of each register of the code, after all merging of instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/definitions.h"
#include "ptx/ast.h"
#include "sass/code.h"

namespace warpgrind::sass {

struct Where {
  std::uint32_t block = 0, at = 0;  // index into Code::blocks, Block::instructions
  friend bool operator==(const Where&, const Where&) = default;
};

class Uses {
 public:
  Uses(const Code& code, const std::vector<flow::Definitions>& bodies);

  const std::vector<Where>& writers(ptx::RegId r) const { return writers_[r]; }
  const std::vector<Where>& readers(ptx::RegId r) const { return readers_[r]; }
  const Instruction& instruction(Where w) const { return code_.blocks[w.block].instructions[w.at]; }
  const ptx::Instruction& text(const Instruction& i) const { return bodies_[i.function].function.body[i.ptx]; }
  const ptx::Instruction& text(Where w) const { return text(instruction(w)); }
  // The number of an operand's register in the code. kNone: it is no register.
  ptx::RegId reg(const Instruction& i, const ptx::Operand& o) const;
  ptx::RegId address_base(const Instruction& i) const;  // base of a memory instruction's address; kNone: no register
  // The only instruction that writes the register; null if several do or none does.
  const Where* only_writer(ptx::RegId r) const { return writers_[r].size() == 1 ? &writers_[r][0] : nullptr; }
  // Whether the operand is a number, or a register that only a move of a number writes.
  bool is_number(const Instruction& i, const ptx::Operand& o) const;
  bool alive(Where w) const { return alive_[w.block][w.at]; }
  // Whether lanes of a warp may hold different values, or the value comes from memory. ptxas does not keep such values
  // in uniform registers.
  bool varies(ptx::RegId r) const { return varies_[r]; }

 private:
  void find_alive();
  void find_varying();

  const Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  std::vector<std::vector<Where>> writers_, readers_;  // by register
  std::vector<std::vector<bool>> alive_;               // by block, by instruction
  std::vector<bool> varies_;                           // by register
};

}  // namespace warpgrind::sass
