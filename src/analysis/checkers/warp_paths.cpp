// Control-flow and data-flow analysis around `.sync` operations.
#include "checkers/warp_paths.h"

#include <algorithm>
#include <optional>
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

using Registers = std::vector<bool>;

// Follows a value through registers: an instruction may pass it on, use it, or overwrite it.
struct Follow {
  const ptx::Function& function;
  bool used = false;

  void step(const Instruction& i, Registers& holds) {
    std::vector<ptx::RegId> reads, writes;
    flow::registers_read(i, reads);
    flow::registers_written(i, writes);
    const auto held = [&](ptx::RegId r) { return holds[r]; };
    if (i.guard && holds[i.guard.reg]) used = true;
    const bool takes = std::any_of(reads.begin(), reads.end(), held);
    if (i.guard) {  // guarded: the result may or may not depend on the value
      for (ptx::RegId r : writes) holds[r] = false;
      return;
    }
    const ptx::OpcodeInfo& info = ptx::info(i.opcode);
    // Results of warp operations come from other lanes, whose values are unknown.
    const bool from_others = info.convergent || i.has(ptx::Modifier::sync);
    if (takes && !from_others && (writes.empty() || is_seen_by_others(i))) used = true;
    // The address of a load or the operand of a branch is a use. selp may discard the value.
    if (takes && !from_others && (info.reads_memory || i.opcode == Opcode::brx_idx)) used = true;
    const bool hands_on =
        takes && i.opcode != Opcode::selp && i.opcode != Opcode::slct && !from_others && !info.reads_memory;
    for (ptx::RegId r : writes) holds[r] = hands_on;
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

bool result_is_used(const ptx::Function& function, std::uint32_t instruction) {
  if (instruction >= function.body.size()) return false;
  const ControlFlow cfg = flow::build_control_flow(function);
  const std::uint32_t start = cfg.block_of[instruction];
  std::vector<ptx::RegId> written;
  flow::registers_written(function.body[instruction], written);
  if (written.empty() || function.body[instruction].guard) return false;
  // Blocks that every thread reaches after this instruction.
  std::vector<bool> certain(cfg.blocks.size(), false);
  for (std::uint32_t b = start; b != cfg.exit() && !certain[b]; b = cfg.blocks[b].post_dominator) certain[b] = true;

  // By block: registers that hold the value on every path from here. Iterated to the greatest fixed point.
  std::vector<std::optional<Registers>> at_end(cfg.blocks.size());
  bool used = false;
  const auto through = [&](std::uint32_t block, std::uint32_t first, Registers holds) {
    Follow follow{function};
    for (std::uint32_t n = first; n < cfg.blocks[block].end; ++n) follow.step(function.body[n], holds);
    used = follow.used;
    return holds;
  };
  Registers begin(function.registers.size(), false);
  begin[written[0]] = true;
  const Registers after_start = through(start, instruction + 1, begin);
  if (used) return true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t b : cfg.order) {
      std::optional<Registers> in;
      for (std::uint32_t p : cfg.blocks[b].predecessors) {
        const Registers* from = p == start ? &after_start : at_end[p] ? &*at_end[p] : nullptr;
        if (from) in = in ? both(*in, *from) : *from;
      }
      if (!in || b == start) continue;
      Registers out = through(b, cfg.blocks[b].first, *in);
      if (!at_end[b] || *at_end[b] != out) at_end[b] = std::move(out), changed = true;
    }
  }
  for (std::uint32_t b : cfg.order) {
    if (!certain[b] || b == start) continue;
    std::optional<Registers> in;
    for (std::uint32_t p : cfg.blocks[b].predecessors) {
      const Registers* from = p == start ? &after_start : at_end[p] ? &*at_end[p] : nullptr;
      if (from) in = in ? both(*in, *from) : *from;
    }
    if (!in) continue;
    used = false;
    through(b, cfg.blocks[b].first, *in);
    if (used) return true;
  }
  return false;
}

}  // namespace warpgrind::checkers
