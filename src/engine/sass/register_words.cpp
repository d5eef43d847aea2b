#include "sass/register_words.h"

#include "ptx/types.h"
#include "ptx/wmma.h"

namespace warpgrind::sass {

RegisterWords::RegisterWords(const Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses)
    : uses_(uses), words_(code.registers, 0) {
  for (std::size_t f = 0; f < bodies.size(); ++f) {
    const auto& registers = bodies[f].function.registers;
    for (std::size_t r = 0; r < registers.size(); ++r)
      if (registers[r].type != ptx::ScalarType::pred)
        words_[code.first_register[f] + r] = static_cast<std::uint8_t>((ptx::bits(registers[r].type) + 31) / 32);
  }
  for (const Block& block : code.blocks)
    for (const Instruction& i : block.instructions)
      if (i.load && !i.added) forget_repeated(i);
  for (ptx::RegId r = 0; r < code.registers; ++r)
    if (!uses_.varies(r) || folded(r)) words_[r] = 0;
}

// f16 fragments of wmma hold each element twice or four times; ptxas keeps one register.
void RegisterWords::forget_repeated(const Instruction& i) {
  const ptx::Instruction& t = uses_.text(i);
  const auto w = t.opcode == ptx::Opcode::wmma_load ? ptx::wmma_move(t) : std::nullopt;
  if (!w) return;
  const std::vector<ptx::Operand>& fragment = t.operands[0].elements;
  for (std::size_t k = w->registers(); k < fragment.size(); ++k) {
    const ptx::RegId r = uses_.reg(i, fragment[k]);
    if (r != kNone && uses_.only_writer(r)) words_[r] = 0;
  }
}

bool RegisterWords::folded(ptx::RegId r) const {
  const Where* from = uses_.only_writer(r);
  if (from == nullptr) return false;
  const Instruction& i = uses_.instruction(*from);
  return i.issue == 0 && i.merged_into == kNone && !i.load && !i.reads.empty();
}

}  // namespace warpgrind::sass
