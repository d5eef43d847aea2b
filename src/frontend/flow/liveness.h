// Live registers at the start of each basic block.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

class LiveRegisters {
 public:
  LiveRegisters(std::size_t blocks, std::size_t registers)
      : words_((registers + 63) / 64), in_(blocks, std::vector<std::uint64_t>(words_, 0)) {}
  bool live_in(std::uint32_t block, ptx::RegId r) const {
    WG_DEBUG_ASSERT(block < in_.size() && r / 64 < words_);
    return in_[block][r / 64] >> (r % 64) & 1;
  }
  std::vector<std::uint64_t>& words(std::uint32_t block) { return in_[block]; }
  const std::vector<std::uint64_t>& words(std::uint32_t block) const { return in_[block]; }

 private:
  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> in_;
};

LiveRegisters find_live_registers(const ptx::Function& function, const ControlFlow& cfg);
// Registers live before one instruction, as a bit for each register.
std::vector<std::uint64_t> live_registers_before(const ptx::Function& function, const ControlFlow& cfg,
                                                 const LiveRegisters& live, std::uint32_t instruction);

// Peak of live registers, in 32-bit units: a 64-bit register counts as two, a predicate as none.
std::uint32_t peak_live_registers(const ptx::Function& function, const ControlFlow& cfg);

}  // namespace warpgrind::flow
