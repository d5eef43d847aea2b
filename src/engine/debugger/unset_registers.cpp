#include "debugger/unset_registers.h"

#include "flow/cfg.h"
#include "flow/transfer.h"

namespace warpgrind::debugger {

UnsetRegisters::UnsetRegisters(const ptx::Function& function) : function_(function) {
  const flow::ControlFlow cfg = flow::build_control_flow(function);
  block_of_ = cfg.block_of;
  std::vector<std::vector<bool>> writes(cfg.blocks.size(), std::vector<bool>(function.registers.size()));
  std::vector<ptx::RegId> regs;
  for (std::size_t b = 0; b < cfg.blocks.size(); ++b) {
    first_.push_back(cfg.blocks[b].first);
    for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) {
      regs.clear();
      flow::registers_written(function.body[i], regs);
      for (const ptx::RegId r : regs) writes[b][r] = true;
    }
  }
  written_before_.assign(cfg.blocks.size(), std::vector<bool>(function.registers.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : cfg.order) {
      for (const std::uint32_t next : cfg.blocks[b].successors) {
        if (next == cfg.exit()) continue;
        std::vector<bool>& before = written_before_[next];
        for (std::size_t r = 0; r < before.size(); ++r) {
          if (before[r] || !(written_before_[b][r] || writes[b][r])) continue;
          before[r] = changed = true;
        }
      }
    }
  }
}

bool UnsetRegisters::unset_before(std::uint32_t instruction, ptx::RegId reg) const {
  if (instruction >= block_of_.size() || reg >= function_.registers.size()) return false;
  const std::uint32_t block = block_of_[instruction];
  if (written_before_[block][reg]) return false;
  std::vector<ptx::RegId> regs;
  for (std::uint32_t i = first_[block]; i < instruction; ++i) {
    regs.clear();
    flow::registers_written(function_.body[i], regs);
    for (const ptx::RegId r : regs)
      if (r == reg) return false;
  }
  return true;
}

}  // namespace warpgrind::debugger
