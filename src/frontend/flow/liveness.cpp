// Backward data flow over bit sets.
#include "flow/liveness.h"

#include <algorithm>

#include "base/assert.h"
#include "flow/forms.h"

namespace warpgrind::flow {

namespace {

void step_backward(const ptx::Instruction& i, std::vector<std::uint64_t>& live, std::vector<ptx::RegId>& scratch) {
  if (!i.guard) {
    registers_written(i, scratch);
    for (ptx::RegId r : scratch) live[r / 64] &= ~(1ull << (r % 64));
  }
  registers_read(i, scratch);
  for (ptx::RegId r : scratch) live[r / 64] |= 1ull << (r % 64);
}

std::vector<std::uint64_t> live_out(const LiveRegisters& live, const ControlFlow& cfg, std::uint32_t block,
                                    std::size_t words) {
  std::vector<std::uint64_t> out(words, 0);
  for (std::uint32_t s : cfg.blocks[block].successors)
    if (s != cfg.exit())
      for (std::size_t w = 0; w < words; ++w) out[w] |= live.words(s)[w];
  return out;
}

}  // namespace

LiveRegisters find_live_registers(const ptx::Function& function, const ControlFlow& cfg) {
  WG_ASSERT(cfg.block_of.size() == function.body.size());
  LiveRegisters live(cfg.blocks.size(), function.registers.size());
  const std::size_t words = (function.registers.size() + 63) / 64;
  std::vector<ptx::RegId> scratch;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = cfg.order.rbegin(); it != cfg.order.rend(); ++it) {
      std::vector<std::uint64_t> now = live_out(live, cfg, *it, words);
      for (std::uint32_t n = cfg.blocks[*it].end; n-- > cfg.blocks[*it].first;)
        step_backward(function.body[n], now, scratch);
      if (now != live.words(*it)) {
        live.words(*it) = std::move(now);
        changed = true;
      }
    }
  }
  return live;
}

std::vector<std::uint64_t> live_registers_before(const ptx::Function& function, const ControlFlow& cfg,
                                                 const LiveRegisters& live, std::uint32_t instruction) {
  WG_ASSERT(instruction < function.body.size() && cfg.block_of.size() == function.body.size());
  const std::uint32_t block = cfg.block_of[instruction];
  std::vector<std::uint64_t> now = live_out(live, cfg, block, (function.registers.size() + 63) / 64);
  std::vector<ptx::RegId> scratch;
  for (std::uint32_t n = cfg.blocks[block].end; n-- > instruction;) step_backward(function.body[n], now, scratch);
  return now;
}

std::uint32_t peak_live_registers(const ptx::Function& function, const ControlFlow& cfg) {
  const LiveRegisters live = find_live_registers(function, cfg);
  const std::size_t words = (function.registers.size() + 63) / 64;
  std::uint32_t peak = 0;
  std::vector<ptx::RegId> scratch;
  const auto weight = [&](const std::vector<std::uint64_t>& set) {
    std::uint32_t sum = 0;
    for (std::size_t r = 0; r < function.registers.size(); ++r)
      if (set[r / 64] >> (r % 64) & 1)
        sum +=
            (ptx::bits(function.registers[r].type) + 31) / 32 * (function.registers[r].type != ptx::ScalarType::pred);
    return sum;
  };
  for (std::uint32_t b : cfg.order) {
    std::vector<std::uint64_t> now = live_out(live, cfg, b, words);
    const std::uint32_t length = cfg.blocks[b].end - cfg.blocks[b].first;
    // Long blocks are sampled: an estimate is enough.
    const std::uint32_t stride = std::max<std::uint32_t>(1, length / 64);
    for (std::uint32_t n = cfg.blocks[b].end; n-- > cfg.blocks[b].first;) {
      step_backward(function.body[n], now, scratch);
      if (n % stride == 0) peak = std::max(peak, weight(now));
    }
  }
  return peak;
}

}  // namespace warpgrind::flow
