// Construction of the control flow graph.
#include "flow/cfg.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Opcode;

bool ends_block(const Instruction& i) {
  return ptx::info(i.opcode).has(ptx::Effects::ends_block);
}

namespace {

std::uint32_t label_target(const ptx::Function& f, ptx::LabelId label) {
  return f.labels[label].instruction;
}

// Labels without a jump to them do not begin a block. With -lineinfo, clang writes such a label at every line of an
// inlined function, and each block has two counters. (Jacobi's start was eight blocks instead of one, which took 5 % of
// its time.)
std::vector<bool> find_leaders(const ptx::Function& f) {
  std::vector<bool> leader(f.body.size() + 1, false);
  leader[0] = true;
  const auto lead = [&](ptx::LabelId label) {
    leader[std::min<std::size_t>(label_target(f, label), f.body.size())] = true;
  };
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    if (!ends_block(f.body[i])) continue;
    leader[i + 1] = true;
    if (f.body[i].opcode == Opcode::bra) lead(f.body[i].operands.back().index);
    if (f.body[i].opcode == Opcode::brx_idx)
      for (ptx::LabelId label : f.tables[f.body[i].operands.back().index].labels) lead(label);
  }
  return leader;
}

void add_unique(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

void connect(const ptx::Function& f, ControlFlow& cfg) {
  const auto block_at = [&](std::uint32_t instruction) {
    return instruction < f.body.size() ? cfg.block_of[instruction] : cfg.exit();
  };
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    BasicBlock& block = cfg.blocks[b];
    const Instruction& last = f.body[block.end - 1];
    if (last.opcode == Opcode::bra) {
      add_unique(block.successors, block_at(label_target(f, last.operands.back().index)));
      if (last.guard) add_unique(block.successors, block_at(block.end));
    } else if (last.opcode == Opcode::brx_idx) {
      for (ptx::LabelId label : f.tables[last.operands.back().index].labels)
        add_unique(block.successors, block_at(label_target(f, label)));
      if (last.guard) add_unique(block.successors, block_at(block.end));
    } else if (last.opcode == Opcode::ret || last.opcode == Opcode::exit || last.opcode == Opcode::trap) {
      block.successors.push_back(cfg.exit());
      if (last.guard) add_unique(block.successors, block_at(block.end));
    } else {
      block.successors.push_back(block_at(block.end));
    }
  }
}

// Iterative depth-first search that finds the order, reachability and loop heads.
void number_blocks(ControlFlow& cfg) {
  const std::uint32_t n = cfg.exit();
  enum : std::uint8_t { unseen, open, closed };
  std::vector<std::uint8_t> state(n, unseen);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
  state[0] = open;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < cfg.blocks[block].successors.size()) {
      const std::uint32_t s = cfg.blocks[block].successors[next++];
      if (s == n) continue;
      if (state[s] == open) cfg.blocks[s].loop_head = true;
      if (state[s] == unseen) {
        state[s] = open;
        stack.emplace_back(s, 0);
      }
    } else {
      state[block] = closed;
      cfg.order.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(cfg.order.begin(), cfg.order.end());
  for (std::uint32_t b : cfg.order) {
    cfg.blocks[b].reachable = true;
    for (std::uint32_t s : cfg.blocks[b].successors)
      if (s != n) cfg.blocks[s].predecessors.push_back(b);
  }
}

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph.
void find_post_dominators(ControlFlow& cfg) {
  const std::uint32_t n = cfg.exit();
  constexpr std::uint32_t undefined = ptx::kNoId;
  // Post-order of the reversed graph from exit. Blocks that cannot reach exit (endless loops) get an edge to it.
  std::vector<std::vector<std::uint32_t>> forward(n + 1), backward(n + 1);
  for (std::uint32_t b : cfg.order)
    for (std::uint32_t s : cfg.blocks[b].successors) {
      forward[b].push_back(s);
      backward[s].push_back(b);
    }
  std::vector<std::uint32_t> number(n + 1, undefined), post;
  const auto search = [&](std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
    number[root] = 0;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      if (next < backward[block].size()) {
        const std::uint32_t p = backward[block][next++];
        if (number[p] == undefined) {
          number[p] = 0;
          stack.emplace_back(p, 0);
        }
      } else {
        post.push_back(block);
        stack.pop_back();
      }
    }
  };
  search(n);
  for (auto it = cfg.order.rbegin(); it != cfg.order.rend(); ++it)
    if (number[*it] == undefined) {
      forward[*it].push_back(n);
      backward[n].push_back(*it);
      post.clear();
      std::fill(number.begin(), number.end(), undefined);
      search(n);
    }
  for (std::uint32_t i = 0; i < post.size(); ++i) number[post[i]] = i;
  std::vector<std::uint32_t> idom(n + 1, undefined);
  idom[n] = n;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = post.rbegin(); it != post.rend(); ++it) {
      if (*it == n) continue;
      std::uint32_t best = undefined;
      for (std::uint32_t s : forward[*it]) {
        if (idom[s] == undefined) continue;
        if (best == undefined) {
          best = s;
          continue;
        }
        std::uint32_t a = best, c = s;
        while (a != c) {
          while (number[a] < number[c]) a = idom[a];
          while (number[c] < number[a]) c = idom[c];
        }
        best = a;
      }
      if (idom[*it] != best) {
        idom[*it] = best;
        changed = true;
      }
    }
  }
  for (std::uint32_t b : cfg.order) cfg.blocks[b].post_dominator = idom[b] == undefined ? n : idom[b];
}

// Checks of what the code above has made.

bool blocks_cover(const ptx::Function& f, const ControlFlow& cfg) {
  std::uint32_t next = 0;
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const BasicBlock& block = cfg.blocks[b];
    if (block.first != next || block.end <= block.first) return false;
    for (next = block.first; next < block.end; ++next)
      if (next >= f.body.size() || cfg.block_of[next] != b) return false;
  }
  return next == f.body.size();
}

// Successors and predecessors are the same edges, among the reachable blocks.
bool edges_agree(const ControlFlow& cfg) {
  std::size_t out = 0, in = 0;
  for (const std::uint32_t b : cfg.order)
    for (const std::uint32_t s : cfg.blocks[b].successors) {
      if (s > cfg.exit()) return false;
      if (s == cfg.exit()) continue;
      const std::vector<std::uint32_t>& back = cfg.blocks[s].predecessors;
      if (!cfg.blocks[s].reachable || std::count(back.begin(), back.end(), b) != 1) return false;
      ++out;
    }
  for (const BasicBlock& block : cfg.blocks) in += block.predecessors.size();
  return in == out;
}

// Every reachable block once, the entry first. An edge back in this order enters a loop head.
bool is_reverse_post_order(const ControlFlow& cfg) {
  std::vector<std::uint32_t> place(cfg.blocks.size(), ptx::kNoId);
  for (std::uint32_t n = 0; n < cfg.order.size(); ++n) {
    if (place[cfg.order[n]] != ptx::kNoId || !cfg.blocks[cfg.order[n]].reachable) return false;
    place[cfg.order[n]] = n;
  }
  if (cfg.order.empty() || cfg.order.front() != 0) return false;
  for (const std::uint32_t b : cfg.order)
    for (const std::uint32_t s : cfg.blocks[b].successors)
      if (s != cfg.exit() && (place[s] == ptx::kNoId || (place[s] <= place[b] && !cfg.blocks[s].loop_head)))
        return false;
  return true;
}

// From each successor of a block, the chain of post-dominators leads to the block's own and on to the exit.
bool post_dominators_agree(const ControlFlow& cfg) {
  const auto leads_to = [&](std::uint32_t from, std::uint32_t to) {
    for (std::size_t steps = 0; from != to && from != cfg.exit(); from = cfg.blocks[from].post_dominator)
      if (++steps > cfg.blocks.size()) return false;
    return from == to;
  };
  return std::all_of(cfg.order.begin(), cfg.order.end(), [&](std::uint32_t b) {
    const BasicBlock& block = cfg.blocks[b];
    return block.post_dominator != b && block.post_dominator <= cfg.exit() && leads_to(b, cfg.exit()) &&
           std::all_of(block.successors.begin(), block.successors.end(),
                       [&](std::uint32_t s) { return leads_to(s, block.post_dominator); });
  });
}

}  // namespace

ControlFlow build_control_flow(const ptx::Function& function) {
  WG_ASSERT(!function.body.empty());
  ControlFlow cfg;
  const std::vector<bool> leader = find_leaders(function);
  cfg.block_of.resize(function.body.size());
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (leader[i]) {
      if (!cfg.blocks.empty()) cfg.blocks.back().end = i;
      cfg.blocks.emplace_back();
      cfg.blocks.back().first = i;
    }
    cfg.block_of[i] = static_cast<std::uint32_t>(cfg.blocks.size() - 1);
  }
  cfg.blocks.back().end = static_cast<std::uint32_t>(function.body.size());
  connect(function, cfg);
  number_blocks(cfg);
  find_post_dominators(cfg);
  WG_DEBUG_ASSERT(blocks_cover(function, cfg));
  WG_DEBUG_ASSERT(edges_agree(cfg));
  WG_DEBUG_ASSERT(is_reverse_post_order(cfg));
  WG_DEBUG_ASSERT(post_dominators_agree(cfg));
  return cfg;
}

namespace {

// Blocks that can be reached from `from` without entering `avoided`.
std::vector<bool> walk(const ControlFlow& cfg, std::uint32_t from, std::size_t avoided) {
  std::vector<bool> seen(cfg.blocks.size(), false);
  if (from == avoided) return seen;
  std::vector<std::uint32_t> work{from};
  seen[from] = true;
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (std::uint32_t s : cfg.blocks[b].successors)
      if (s != cfg.exit() && s != avoided && !seen[s]) seen[s] = true, work.push_back(s);
  }
  return seen;
}

}  // namespace

std::vector<bool> loop_body(const ControlFlow& cfg, std::uint32_t head) {
  WG_ASSERT(head < cfg.blocks.size() && cfg.blocks[head].reachable);
  const std::vector<bool> reached = walk(cfg, head, cfg.blocks.size());
  const std::vector<bool> beside = walk(cfg, cfg.order.front(), head);
  const std::vector<std::uint32_t>& before = cfg.blocks[head].predecessors;
  const bool natural = std::any_of(before.begin(), before.end(), [&](auto p) { return reached[p] && !beside[p]; });
  std::vector<bool> body(cfg.blocks.size(), false);
  body[head] = true;
  std::vector<std::uint32_t> work;
  for (std::uint32_t p : before)
    if (reached[p] && !(natural && beside[p]) && !body[p]) body[p] = true, work.push_back(p);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (std::uint32_t p : cfg.blocks[b].predecessors)
      if (reached[p] && !body[p]) body[p] = true, work.push_back(p);
  }
  return body;
}

}  // namespace warpgrind::flow
