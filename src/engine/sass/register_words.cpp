#include "sass/register_words.h"

#include "ptx/types.h"

namespace warpgrind::sass {

RegisterWords::RegisterWords(const Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses)
    : uses_(uses), words_(code.registers, 0) {
  for (std::size_t f = 0; f < bodies.size(); ++f) {
    const auto& registers = bodies[f].function.registers;
    for (std::size_t r = 0; r < registers.size(); ++r)
      if (registers[r].type != ptx::ScalarType::pred)
        words_[code.first_register[f] + r] = static_cast<std::uint8_t>((ptx::bits(registers[r].type) + 31) / 32);
  }
  for (ptx::RegId r = 0; r < code.registers; ++r)
    if (!uses_.varies(r) || folded(r)) words_[r] = 0;
}

bool RegisterWords::folded(ptx::RegId r) const {
  const Where* from = uses_.only_writer(r);
  if (from == nullptr) return false;
  const Instruction& i = uses_.instruction(*from);
  return i.issue == 0 && i.merged_into == kNone && !i.load && !i.reads.empty();
}

}  // namespace warpgrind::sass
