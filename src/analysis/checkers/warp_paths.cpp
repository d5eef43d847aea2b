// Control-flow and data-flow analysis around `.sync` operations.
#include "checkers/warp_paths.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "flow/cfg.h"
#include "flow/forms.h"
#include "ptx/opcode.h"

namespace warpgrind::checkers {

namespace {

using flow::ControlFlow;
using ptx::Instruction;
using ptx::Opcode;

// Blocks that can be reached from `from` (inclusive) without passing through `without`.
std::vector<bool> reached(const ControlFlow& cfg, std::uint32_t from, std::uint32_t without, bool backwards) {
  std::vector<bool> seen(cfg.blocks.size(), false);
  std::vector<std::uint32_t> work;
  const auto visit = [&](std::uint32_t b) {
    if (b != cfg.exit() && b != without && !seen[b]) seen[b] = true, work.push_back(b);
  };
  visit(from);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (std::uint32_t next : backwards ? cfg.blocks[b].predecessors : cfg.blocks[b].successors) visit(next);
  }
  return seen;
}

bool is_seen_by_others(const Instruction& i) {
  if (i.opcode == Opcode::ret || i.opcode == Opcode::exit || i.opcode == Opcode::bra) return false;
  if (i.opcode == Opcode::call) return true;
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  return info.writes_memory || (i.has(ptx::Modifier::sync) && i.opcode != Opcode::activemask);
}

// Whether a block's way to the exit exists that does not pass through `without`.
bool reaches_exit(const ControlFlow& cfg, std::uint32_t from, std::uint32_t without) {
  const std::vector<bool> seen = reached(cfg, from, without, false);
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
    for (std::uint32_t next : cfg.blocks[b].successors)
      if (seen[b] && next == cfg.exit()) return true;
  return false;
}

using Registers = std::vector<bool>;

// By instruction, for one lane: the outcome of the guard, or of the condition of a selp without a guard.
enum class Decision : std::uint8_t { unknown, no, yes };
using Decisions = std::vector<Decision>;

Decisions decisions_of(const ptx::Function& function, const LaneOfBlock& lane) {
  LaneValues values(function, lane);
  Decisions out(function.body.size(), Decision::unknown);
  for (std::size_t n = 0; n < out.size(); ++n) {
    const Instruction& i = function.body[n];
    std::optional<bool> is;
    if (i.guard)
      is = values.of(i.guard);
    else if (i.opcode == Opcode::selp && i.operands.back().kind == ptx::OperandKind::reg && !i.operands.back().negated)
      is = values.of(ptx::Guard{i.operands.back().index, false});
    if (is) out[n] = *is ? Decision::yes : Decision::no;
  }
  return out;
}

// Without the edges that the lane does not take.
ControlFlow pruned(ControlFlow cfg, const ptx::Function& function, const Decisions& decisions) {
  for (flow::BasicBlock& block : cfg.blocks) {
    block.predecessors.clear();
    const std::uint32_t last = block.end - 1;
    const Decision decision = function.body[last].guard ? decisions[last] : Decision::unknown;
    if (decision == Decision::unknown || block.successors.size() != 2 || function.body[last].opcode == Opcode::brx_idx)
      continue;
    block.successors = {block.successors[decision == Decision::yes ? 0 : 1]};
  }
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
    for (std::uint32_t next : cfg.blocks[b].successors)
      if (next != cfg.exit()) cfg.blocks[next].predecessors.push_back(b);
  return cfg;
}

// Follows a value through registers: an instruction may pass it on, use it, or overwrite it.
struct Follow {
  const ptx::Function& function;
  const Decisions& decisions;
  bool used = false;

  void step(std::uint32_t n, Registers& holds) {
    const Instruction& i = function.body[n];
    if (i.guard && decisions[n] == Decision::no) return;
    std::vector<ptx::RegId> reads, writes;
    flow::registers_read(i, reads);
    flow::registers_written(i, writes);
    const auto held = [&](ptx::RegId r) { return holds[r]; };
    if (i.guard && holds[i.guard.reg]) used = true;
    const bool takes = std::any_of(reads.begin(), reads.end(), held);
    if (i.guard && decisions[n] == Decision::unknown) {  // the result may or may not depend on the value
      for (ptx::RegId r : writes) holds[r] = false;
      return;
    }
    const ptx::OpcodeInfo& info = ptx::info(i.opcode);
    // Results of warp operations come from other lanes, whose values are unknown.
    const bool from_others = info.convergent || i.has(ptx::Modifier::sync);
    if (takes && !from_others && (writes.empty() || is_seen_by_others(i))) used = true;
    // The address of a load or the operand of a branch is a use. selp may discard the value.
    if (takes && !from_others && (info.reads_memory || i.opcode == Opcode::brx_idx)) used = true;
    const bool hands_on = i.opcode == Opcode::selp
                              ? selects(i, n, holds)
                              : takes && i.opcode != Opcode::slct && !from_others && !info.reads_memory;
    for (ptx::RegId r : writes) holds[r] = hands_on;
  }

  // Whether a selp is known to select the value.
  bool selects(const Instruction& i, std::uint32_t n, const Registers& holds) const {
    if (i.guard || decisions[n] == Decision::unknown) return false;
    const ptx::Operand& from = i.operands[decisions[n] == Decision::yes ? 1 : 2];
    return from.kind == ptx::OperandKind::reg && holds[from.index];
  }
};

Registers both(const Registers& a, const Registers& b) {
  Registers out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] && b[k];
  return out;
}

}  // namespace

const ptx::Function* find_body(const ptx::Module& module, const std::string& name) {
  for (const ptx::Function& f : module.functions)
    if (f.has_body && f.name == name) return &f;
  return nullptr;
}

bool can_be_passed_by(const ptx::Function& function, std::uint32_t instruction) {
  if (instruction >= function.body.size()) return false;
  const ControlFlow cfg = flow::build_control_flow(function);
  const std::uint32_t here = cfg.block_of[instruction];
  const std::vector<bool> leads_here = reached(cfg, here, cfg.exit(), true);
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    if (!cfg.blocks[b].reachable || !leads_here[b] || cfg.blocks[b].successors.size() < 2) continue;
    for (std::uint32_t next : cfg.blocks[b].successors) {
      if (next == cfg.exit() || next == here || leads_here[next]) continue;  // the lanes exit, or can still get here
      const std::vector<bool> on_the_way = reached(cfg, next, here, false);
      for (std::uint32_t k = 0; k < on_the_way.size(); ++k) {
        if (!on_the_way[k]) continue;
        for (std::uint32_t n = cfg.blocks[k].first; n < cfg.blocks[k].end; ++n)
          if (is_seen_by_others(function.body[n])) return true;
      }
    }
  }
  return false;
}

namespace {

// Whether the first result of the instruction is used on every path from there.
bool is_used(const ptx::Function& function, const ControlFlow& cfg, std::uint32_t instruction,
             const Decisions& decisions) {
  const std::uint32_t start = cfg.block_of[instruction];
  std::vector<ptx::RegId> written;
  flow::registers_written(function.body[instruction], written);
  if (written.empty()) return false;

  // By block: registers that hold the value on every path from here. Iterated to the greatest fixed point.
  std::vector<std::optional<Registers>> at_end(cfg.blocks.size());
  bool used = false;
  const auto through = [&](std::uint32_t block, std::uint32_t first, Registers holds) {
    Follow follow{function, decisions};
    for (std::uint32_t n = first; n < cfg.blocks[block].end; ++n) follow.step(n, holds);
    used = follow.used;
    return holds;
  };
  Registers begin(function.registers.size(), false);
  begin[written[0]] = true;
  const Registers after_start = through(start, instruction + 1, begin);
  if (used) return true;
  const auto at_begin = [&](std::uint32_t block) {
    std::optional<Registers> in;
    for (std::uint32_t p : cfg.blocks[block].predecessors) {
      const Registers* from = p == start ? &after_start : at_end[p] ? &*at_end[p] : nullptr;
      if (from) in = in ? both(*in, *from) : *from;
    }
    return in;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t b : cfg.order) {
      const std::optional<Registers> in = at_begin(b);
      if (!in || b == start) continue;
      Registers out = through(b, cfg.blocks[b].first, *in);
      if (!at_end[b] || *at_end[b] != out) at_end[b] = std::move(out), changed = true;
    }
  }
  if (!reaches_exit(cfg, start, cfg.exit())) return false;
  for (std::uint32_t b : cfg.order) {
    const std::optional<Registers> in = b == start ? std::nullopt : at_begin(b);
    if (!in) continue;
    used = false;
    through(b, cfg.blocks[b].first, *in);
    if (used && !reaches_exit(cfg, start, b)) return true;  // every lane comes here
  }
  return false;
}

}  // namespace

bool result_is_used(const ptx::Function& function, std::uint32_t instruction) {
  if (instruction >= function.body.size() || function.body[instruction].guard) return false;
  return is_used(function, flow::build_control_flow(function), instruction,
                 Decisions(function.body.size(), Decision::unknown));
}

LaneMask lanes_that_use_result(const ptx::Function& function, std::uint32_t instruction, LaneMask lanes,
                               const std::function<LaneOfBlock(unsigned)>& place) {
  constexpr std::size_t kMostBits = std::size_t{1} << 28;  // of registers at the ends of all blocks: 32 MiB
  if (instruction >= function.body.size()) return 0;
  const ControlFlow cfg = flow::build_control_flow(function);
  if (cfg.blocks.size() * function.registers.size() > kMostBits) return 0;
  std::map<Decisions, bool> known;  // most lanes take the same ways
  LaneMask out = 0;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto [it, is_new] = known.try_emplace(decisions_of(function, place(lane)), false);
    if (is_new) it->second = is_used(function, pruned(cfg, function, it->first), instruction, it->first);
    if (it->second) out |= LaneMask{1} << lane;
  }
  return out;
}

}  // namespace warpgrind::checkers
