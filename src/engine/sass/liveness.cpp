// Liveness over the blocks of the modelled machine code.
#include "sass/liveness.h"

#include <bit>

namespace warpgrind::sass {

Liveness::Liveness(const Code& code, const std::vector<flow::Definitions>& bodies)
    : code_(code), uses_(code, bodies), register_words_(code, bodies, uses_), words_((code.registers + 63) / 64) {
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
}

void Liveness::add(ptx::RegId r, Set& now) const {
  register_words_.each_source(r, [&](ptx::RegId from) { now[from / 64] |= 1ull << (from % 64); });
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
      sum += register_words_(static_cast<ptx::RegId>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
  return sum;
}

}  // namespace warpgrind::sass
