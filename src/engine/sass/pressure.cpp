#include "sass/pressure.h"

#include <algorithm>

#include "sass/liveness.h"

namespace warpgrind::sass {
namespace {

void sort_once(std::vector<ptx::RegId>& registers) {
  std::sort(registers.begin(), registers.end());
  registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
}

}  // namespace

void find_pressure(Code& code, const std::vector<flow::Definitions>& bodies) {
  constexpr std::size_t kMostBits = 1u << 27;  // 16 MiB of sets
  if (code.blocks.empty() || code.blocks.size() * code.registers > kMostBits) return;
  const Liveness live(code, bodies);
  code.register_words.resize(code.registers);
  for (ptx::RegId r = 0; r < code.registers; ++r) code.register_words[r] = static_cast<std::uint8_t>(live.weight(r));
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    Block& block = code.blocks[b];
    const Liveness::Set out = live.out(b);
    block.entering_words = live.size(live.in(b));
    for (Instruction& i : block.instructions) {
      if (i.added || Liveness::disappears(i)) continue;
      for (const ptx::RegId r : i.reads)
        live.each_source(r, [&](ptx::RegId from) {
          if (code.register_words[from] != 0) i.needs.push_back(from);
        });
      sort_once(i.needs);
      for (const auto* registers : {&i.needs, &i.writes})
        for (const ptx::RegId r : *registers)
          if (Liveness::has(out, r)) block.leaving.push_back(r);
    }
    sort_once(block.leaving);
  }
}

}  // namespace warpgrind::sass
