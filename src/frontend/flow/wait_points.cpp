// Search for wait points: regions behind divergent branches, and stores that overtake other warps' reads.
#include "flow/wait_points.h"

#include <algorithm>

#include "base/assert.h"
#include "ptx/waits.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Opcode;

namespace {

// True if one side of the branch ends its lanes, so that no other lanes remain to wait for.
bool one_way_leaves(const ptx::Function& f, const ControlFlow& cfg, std::uint32_t block) {
  const BasicBlock& b = cfg.blocks[block];
  if (b.successors.size() != 2) return false;
  return std::any_of(b.successors.begin(), b.successors.end(), [&](std::uint32_t s) {
    return s == cfg.exit() || (f.is_entry && s == b.post_dominator && only_leaves(f, cfg.blocks[s]));
  });
}

void reach(const ControlFlow& cfg, std::uint32_t from, std::uint32_t stop, std::vector<bool>& seen) {
  std::vector<std::uint32_t> work;
  const auto visit = [&](std::uint32_t s) {
    if (s != cfg.exit() && s != stop && !seen[s]) seen[s] = true, work.push_back(s);
  };
  for (std::uint32_t s : cfg.blocks[from].successors) visit(s);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (std::uint32_t s : cfg.blocks[b].successors) visit(s);
  }
}

// Actions of a warp since the last barrier.
struct SinceBarrier {
  bool barrier = false, read = false, read_one = false;  // read_one: one element for the whole warp
  friend bool operator==(const SinceBarrier&, const SinceBarrier&) = default;
};

std::vector<bool> find_overtaking(const ptx::Function& f, const ControlFlow& cfg, const FormAnalysis& analysis,
                                  const LaneLayout& layout) {
  std::vector<bool> found(f.body.size(), false);
  std::vector<SinceBarrier> out(cfg.blocks.size());
  const auto one_element = [&](const ptx::Operand& address) {
    return operand_form(address, analysis.forms, layout, f).kind == FormKind::uniform;
  };
  const auto step = [&](std::uint32_t n, SinceBarrier& s) {
    const Instruction& i = f.body[n];
    if ((i.opcode == Opcode::bar || i.opcode == Opcode::barrier) && !i.has(ptx::Modifier::arrive)) {
      s = {true, false, false};
    } else if (i.space == StateSpace::shared && i.opcode == Opcode::ld && s.barrier) {
      s.read = true;
      s.read_one |= one_element(i.operands[1]);
    } else if (i.space == StateSpace::shared && s.read &&
               (i.opcode == Opcode::st || i.opcode == Opcode::atom || i.opcode == Opcode::red)) {
      if (!s.read_one && !one_element(i.operands[i.opcode == Opcode::atom ? 1 : 0])) return;
      found[n] = true;
      s = {};
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t b : cfg.order) {
      SinceBarrier s;
      for (std::uint32_t p : cfg.blocks[b].predecessors) {
        s.barrier |= out[p].barrier;
        s.read |= out[p].read;
        s.read_one |= out[p].read_one;
      }
      for (std::uint32_t n = cfg.blocks[b].first; n < cfg.blocks[b].end; ++n) step(n, s);
      // Flags are never cleared in `out`, so the iteration ends.
      s = {s.barrier || out[b].barrier, s.read || out[b].read, s.read_one || out[b].read_one};
      if (s == out[b]) continue;
      out[b] = s;
      changed = true;
    }
  }
  return found;
}

}  // namespace

bool only_leaves(const ptx::Function& f, const BasicBlock& block) {
  WG_ASSERT(block.first < block.end && block.end <= f.body.size());
  const Instruction& i = f.body[block.first];
  return block.end == block.first + 1 && !i.guard && (i.opcode == Opcode::ret || i.opcode == Opcode::exit);
}

bool leads_only_out(const ptx::Function& f, const ControlFlow& cfg, std::uint32_t block) {
  for (std::size_t jumps = 0; jumps < cfg.blocks.size(); ++jumps) {
    if (block == cfg.exit() || only_leaves(f, cfg.blocks[block])) return true;
    const BasicBlock& b = cfg.blocks[block];
    const Instruction& only = f.body[b.first];
    if (b.end != b.first + 1 || only.opcode != Opcode::bra || only.guard || b.successors.size() != 1) return false;
    block = b.successors[0];
  }
  return false;  // an endless loop
}

WaitPoints::WaitPoints(const ptx::Function& f, const ControlFlow& cfg, const FormAnalysis& analysis,
                       const LaneLayout& layout)
    : function_(f),
      cfg_(cfg),
      at_(f.body.size(), false),
      spins_(analysis.spin_head),
      overtakes_(find_overtaking(f, cfg, analysis, layout)),
      live_(cfg.blocks.size(), f.registers.size()) {
  WG_ASSERT(analysis.divergent.size() == cfg.blocks.size() && spins_.size() == cfg.blocks.size());
  std::vector<std::uint32_t> splits;
  for (std::uint32_t b : cfg.order)
    if (analysis.divergent[b] && !one_way_leaves(f, cfg, b)) splits.push_back(b);
  // Lanes wait for each other at the end of a branch. If a lane waits inside the branch, the other lanes go past that
  // end.
  std::vector<bool> within(cfg.blocks.size(), false), beyond(cfg.blocks.size(), false);
  for (std::uint32_t b : splits) {
    reach(cfg, b, cfg.blocks[b].post_dominator, within);
    reach(cfg, b, cfg.exit(), beyond);
  }
  const auto waits_in = [&](const std::vector<bool>& blocks) {
    bool some = false;
    for (std::uint32_t b : cfg.order)
      for (std::uint32_t n = cfg.blocks[b].first; blocks[b] && n < cfg.blocks[b].end; ++n)
        some |= ptx::waits_for_others(f.body[n]);
    return some;
  };
  const bool spins = std::find(spins_.begin(), spins_.end(), true) != spins_.end();
  any_ = !splits.empty() && (spins || waits_in(within));
  if (!any_) return;
  for (std::uint32_t b : cfg.order)
    for (std::uint32_t n = cfg.blocks[b].first; beyond[b] && n < cfg.blocks[b].end; ++n)
      at_[n] = ptx::waits_for_others(f.body[n]);
  live_ = find_live_registers(f, cfg);
}

std::vector<ptx::RegId> WaitPoints::live_before(std::uint32_t instruction) const {
  const std::vector<std::uint64_t> live = live_registers_before(function_, cfg_, live_, instruction);
  std::vector<ptx::RegId> out;
  for (ptx::RegId r = 0; r < function_.registers.size(); ++r)
    if (live[r / 64] >> (r % 64) & 1) out.push_back(r);
  return out;
}

}  // namespace warpgrind::flow
