// Search for loops that only wait, and the flow with one turn for each of their exits.
#include "timing/polls.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/assert.h"

namespace warpgrind::timing {
namespace {

using sass::Instruction;
using sass::Pipe;

bool only_waits(const sass::Block& block) {
  return std::none_of(block.instructions.begin(), block.instructions.end(), [](const Instruction& i) {
    const bool copies = i.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tma)] > 0;
    return !i.polls && (i.store || i.atomic || copies || i.pipe == Pipe::barrier || i.pipe == Pipe::tensor_half ||
                        i.pipe == Pipe::tensor_double);
  });
}

class Polls {
  using Loop = std::vector<std::uint32_t>;

 public:
  Polls(const sass::Code& code, sass::Flow& flow) : code_(code), flow_(flow), before_(code.blocks.size()) {
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      for (const sass::Edge& e : code.blocks[b].successors)
        if (e.to != sass::Edge::kLeaves) before_[e.to].push_back(b);
  }

  void run() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const sass::Block& block = code_.blocks[b];
      if (flow_.warps[b] <= 0) continue;
      const auto any = [&](auto&& test) {
        return std::any_of(block.instructions.begin(), block.instructions.end(), test);
      };
      const bool polls = any([](const Instruction& i) { return i.polls; });
      if (!polls && !any([](const Instruction& i) { return i.observes; })) continue;
      if (const Loop loop = innermost_loop(b); !loop.empty() && (polls || !carries(loop))) leave_out(loop);
    }
  }

 private:
  static constexpr std::size_t kMostBlocks = 16;  // of a loop that only waits: libcu++ has 6

  // `head`, and the blocks that reach `tail` (itself included) without passing it. Empty: too many.
  Loop reaching(std::uint32_t tail, std::uint32_t head) const {
    Loop loop{head};
    if (tail != head) loop.push_back(tail);
    for (std::size_t k = 1; k < loop.size(); ++k)
      for (const std::uint32_t p : before_[loop[k]]) {
        if (contains(loop, p)) continue;
        if (loop.size() == kMostBlocks) return {};
        loop.push_back(p);
      }
    return loop;
  }
  static bool contains(const Loop& loop, std::uint32_t b) {
    return std::find(loop.begin(), loop.end(), b) != loop.end();
  }

  // The smallest natural loop with this block, its head first; empty: none, or one that does more than wait.
  Loop innermost_loop(std::uint32_t block) const {
    Loop best;
    for (std::uint32_t head = 0; head < code_.blocks.size(); ++head)
      for (const std::uint32_t tail : before_[head]) {
        Loop loop = reaching(tail, head);
        // If the loop has the kernel's first block, the head does not dominate the tail.
        if (!contains(loop, block) || (head != code_.entry && contains(loop, code_.entry))) continue;
        if (best.empty() || loop.size() < best.size()) best = std::move(loop);
      }
    const bool waits =
        std::all_of(best.begin(), best.end(), [this](std::uint32_t b) { return only_waits(code_.blocks[b]); });
    return waits ? best : Loop();
  }

  // Whether a turn of the loop reads a register that the turn before has written.
  bool carries(const Loop& loop) const {
    using Registers = std::set<ptx::RegId>;
    std::map<std::uint32_t, Registers> read_first,
        written;  // by block; read_first: before the block or later ones write it
    Registers all;
    for (const std::uint32_t b : loop)
      for (const Instruction& i : code_.blocks[b].instructions) {
        for (const ptx::RegId r : i.reads)
          if (!written[b].contains(r)) read_first[b].insert(r);
        written[b].insert(i.writes.begin(), i.writes.end());
        all.insert(i.writes.begin(), i.writes.end());
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t b : loop)
        for (const sass::Edge& e : code_.blocks[b].successors) {
          if (e.to == sass::Edge::kLeaves || e.to == loop.front() || !contains(loop, e.to)) continue;
          for (const ptx::RegId r : read_first[e.to])
            if (!written[b].contains(r)) changed |= read_first[b].insert(r).second;
        }
    }
    const Registers& of_head = read_first[loop.front()];
    return std::any_of(of_head.begin(), of_head.end(), [&](ptx::RegId r) { return all.contains(r); });
  }

  // Each warp that leaves the loop ran its head once, and of the other blocks those on its way out.
  void leave_out(const Loop& loop) {
    const std::uint32_t head = loop.front();
    const auto inside = [&](std::uint32_t b) { return contains(loop, b); };
    double left = 0;
    for (const std::uint32_t b : loop) {
      double ways_out = 0;
      for (std::size_t k = 0; k < code_.blocks[b].successors.size(); ++k) {
        const std::uint32_t to = code_.blocks[b].successors[k].to;
        if (to != sass::Edge::kLeaves && inside(to))
          flow_.edges[b][k] = 0;
        else
          ways_out += flow_.edges[b][k];
      }
      left += ways_out;
      if (b != head) set_warps(b, ways_out);
    }
    set_warps(head, left);
    // What leaves from another block came there from the head.
    for (std::size_t k = 0; k < code_.blocks[head].successors.size(); ++k) {
      const std::uint32_t to = code_.blocks[head].successors[k].to;
      if (to != sass::Edge::kLeaves && to != head && inside(to)) flow_.edges[head][k] = flow_.warps[to];
    }
  }

  void set_warps(std::uint32_t b, double warps) {
    WG_ASSERT(b < flow_.warps.size() && warps >= 0);
    const double now = std::min(warps, flow_.warps[b]);
    if (flow_.warps[b] > 0) flow_.lanes[b] *= now / flow_.warps[b];
    flow_.warps[b] = now;
    flow_.loop_share[b] = 1;
  }

  const sass::Code& code_;
  sass::Flow& flow_;
  std::vector<std::vector<std::uint32_t>> before_;  // predecessors
};

}  // namespace

sass::Flow without_polls(const sass::Code& code, sass::Flow flow) {
  if (!code.blocks.empty()) Polls(code, flow).run();
  return flow;
}

}  // namespace warpgrind::timing
