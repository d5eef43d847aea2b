#include "checkers/turns.h"

#include <vector>

#include "flow/cfg.h"
#include "ptx/opcode.h"

namespace warpgrind::checkers {

namespace {

bool is_barrier(const ptx::Instruction& i) {
  return i.opcode == ptx::Opcode::bar || i.opcode == ptx::Opcode::barrier || i.opcode == ptx::Opcode::barrier_cluster;
}

}  // namespace

bool reaches_without_barrier(const ptx::Function& function, std::uint32_t from, std::uint32_t to) {
  if (from >= function.body.size() || to >= function.body.size()) return false;
  const flow::ControlFlow cfg = flow::build_control_flow(function);
  std::vector<bool> begun(cfg.blocks.size(), false);
  std::vector<std::uint32_t> starts = {from + 1};
  while (!starts.empty()) {
    std::uint32_t at = starts.back();
    starts.pop_back();
    if (at >= function.body.size()) continue;
    const flow::BasicBlock& block = cfg.blocks[cfg.block_of[at]];
    bool passed = false;
    for (; at < block.end && !passed; ++at) {
      if (at == to) return true;
      passed = is_barrier(function.body[at]);
    }
    if (passed) continue;
    for (const std::uint32_t next : block.successors) {
      if (next == cfg.exit() || begun[next]) continue;
      begun[next] = true;
      starts.push_back(cfg.blocks[next].first);
    }
  }
  return false;
}

}  // namespace warpgrind::checkers
