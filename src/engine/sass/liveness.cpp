// Liveness over the blocks of the modelled machine code.
#include "sass/liveness.h"

#include <bit>

#include "base/assert.h"
#include "ptx/types.h"

namespace warpgrind::sass {

Liveness::Liveness(const Code& code, const std::vector<flow::Definitions>& bodies)
    : code_(code), bodies_(bodies), uses_(code, bodies), words_((code.registers + 63) / 64) {
  weigh();
  in_.assign(code.blocks.size(), Set(words_, 0));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = code_.blocks.size(); b-- > 0;) {
      Set now = out(b);
      for (std::size_t n = code_.blocks[b].instructions.size(); n-- > 0;) step(b, n, now);
      if (now == in_[b]) continue;
      in_[b] = std::move(now);
      changed = true;
    }
  }
  WG_ASSERT(weight_.size() == code_.registers);
}

void Liveness::weigh() {
  weight_.assign(code_.registers, 0);
  for (std::size_t f = 0; f < bodies_.size(); ++f) {
    const auto& registers = bodies_[f].function.registers;
    for (std::size_t r = 0; r < registers.size(); ++r)
      if (registers[r].type != ptx::ScalarType::pred)
        weight_[code_.first_register[f] + r] = static_cast<std::uint8_t>((ptx::bits(registers[r].type) + 31) / 32);
  }
  for (ptx::RegId r = 0; r < code_.registers; ++r)
    if (!uses_.varies(r) || folded(r)) weight_[r] = 0;
}

bool Liveness::folded(ptx::RegId r) const {
  const Where* from = uses_.only_writer(r);
  if (from == nullptr) return false;
  const Instruction& i = uses_.instruction(*from);
  return i.issue == 0 && i.merged_into == kNone && !i.load && !i.reads.empty();
}

void Liveness::add(ptx::RegId r, Set& now, unsigned depth) const {
  WG_DEBUG_ASSERT(r < code_.registers);
  if (folded(r) && depth < 8) {
    for (const ptx::RegId from : uses_.instruction(*uses_.only_writer(r)).reads) add(from, now, depth + 1);
    return;
  }
  now[r / 64] |= 1ull << (r % 64);
}

Liveness::Set Liveness::out(std::size_t b) const {
  Set now(words_, 0);
  for (const Edge& e : code_.blocks[b].successors)
    if (e.to != Edge::kLeaves)
      for (std::size_t w = 0; w < words_; ++w) now[w] |= in_[e.to][w];
  return now;
}

bool Liveness::disappears(const Instruction& i) {
  return i.issue == 0 && i.merged_into == kNone && !i.writes.empty();
}

void Liveness::step(std::size_t b, std::size_t n, Set& now) const {
  const Instruction& i = code_.blocks[b].instructions[n];
  if (i.added) return;
  for (const ptx::RegId r : i.writes) now[r / 64] &= ~(1ull << (r % 64));
  if (disappears(i)) return;
  for (const ptx::RegId r : i.reads) add(r, now);
}

std::uint32_t Liveness::size(const Set& now) const {
  std::uint32_t sum = 0;
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t bits = now[w]; bits != 0; bits &= bits - 1)
      sum += weight_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
  return sum;
}

}  // namespace warpgrind::sass
