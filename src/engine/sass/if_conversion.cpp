// If-conversion: joins straight-line blocks, makes one predicate of `p && q`, and puts short branch bodies under
// predicates. The rules are those of ptxas 13.0 for 60 small kernels, one for each shape and length.
#include "sass/if_conversion.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/assert.h"

namespace warpgrind::sass {
namespace {

// Longest body that ptxas puts under a predicate, in instructions.
constexpr std::size_t kLongest = 9;
// Longest code between the comparisons of `p && q` that ptxas executes in any case: four instructions and a comparison.
constexpr float kLongestCondition = 5;
constexpr float kPredicatedBranch = 0;  // free: the comparison gives the predicate

class Conversion {
 public:
  Conversion(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies)
      : code_(code), bodies_(bodies), dead_(code.blocks.size(), false) {
    for (std::uint32_t b = 0; b < facts.branches.size(); ++b)
      branch_at_[{facts.branches[b].function, facts.branches[b].instruction}] = b;
    for (std::uint32_t b = 0; b < facts.blocks.size(); ++b) {
      const events::BlockFacts& f = facts.blocks[b];
      const auto branch = branch_at_.find({f.function, f.first_instruction + f.instruction_count - 1});
      branch_of_.push_back(branch == branch_at_.end() ? kNone : branch->second);
    }
    WG_ASSERT(branch_of_.size() == code.blocks.size());
  }

  void run() {
    count_entries();
    predicate_exits();
    // In block order, and again from a block that has grown: linear in the joined code.
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (dead_[b]) continue;
      while (grow(b)) {
      }
    }
    // Handles blocks that were visited before their end had become simple.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
        while (!dead_[b] && grow(b)) changed = true;
    }
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (!dead_[b]) close_loop(b);
    renumber();
  }

 private:
  bool grow(std::uint32_t b) { return append_next(b) || append_condition(b) || append_guarded(b); }

  void count_entries() {
    entries_.assign(code_.blocks.size(), 0);
    before_.resize(code_.blocks.size());
    jumped_to_.assign(code_.blocks.size(), false);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const std::vector<Edge>& ways = code_.blocks[b].successors;
      for (const Edge& e : ways)
        if (e.to != Edge::kLeaves) ++entries_[e.to], before_[e.to].push_back(b);
      if (ways.size() == 2 && ways[0].to != Edge::kLeaves) jumped_to_[ways[0].to] = true;  // the taken direction
      for (const Instruction& i : code_.blocks[b].instructions)
        for (const ptx::RegId r : i.writes) {
          if (r >= writers_.size()) writers_.resize(r + 1);
          ++writers_[r];
        }
    }
    ++entries_[code_.entry];
    // Other functions are entered by calls.
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (entries_[b] == 0) ++entries_[b];
  }

  // A block that only ends the kernel: a branch to it is an EXIT under a predicate.
  bool only_leaves(std::uint32_t to) const {
    if (to == Edge::kLeaves) return true;
    const Block& block = code_.blocks[to];
    return block.instructions.size() == 1 && block.instructions[0].ends && block.successors.size() == 1 &&
           block.successors[0].to == Edge::kLeaves;
  }

  // A predicate replaces the branch at the block's end.
  void note_predicate(const Block& block) {
    const std::uint32_t branch = branch_of_[block.facts_blocks.back()];
    if (branch != kNone) code_.predicated[branch] = true;
  }

  void predicate_exits() {
    exits_.assign(code_.blocks.size(), false);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const Block& block = code_.blocks[b];
      const bool of_kernel = block.instructions.empty() || block.instructions.back().function == 0;
      if (!of_kernel || block.successors.size() != 2) continue;
      if (!only_leaves(block.successors[0].to) && !only_leaves(block.successors[1].to)) continue;
      exits_[b] = true;
      note_predicate(block);
    }
  }

  bool append_next(std::uint32_t b) {
    Block& block = code_.blocks[b];
    if (block.successors.size() != 1) return false;
    const std::uint32_t next = block.successors[0].to;
    if (next == Edge::kLeaves || next == b || entries_[next] != 1) return false;
    WG_ASSERT(!dead_[next]);
    drop_branch(block);
    take(block, next);
    leave_to(b, std::move(code_.blocks[next].successors));
    return true;
  }

  void leave_to(std::uint32_t b, std::vector<Edge> ways) {
    for (const Edge& e : ways)
      if (e.to != Edge::kLeaves) before_[e.to].push_back(b);
    code_.blocks[b].successors = std::move(ways);
  }

  // if (p && q), if (p || q): if little is computed between the comparisons, it is computed in any case, and one
  // predicate holds both.
  bool append_condition(std::uint32_t b) {
    Block& block = code_.blocks[b];
    if (block.successors.size() != 2 || exits_[block.facts_blocks.back()]) return false;
    for (const unsigned way : {0u, 1u}) {
      const std::uint32_t second = block.successors[way].to, shared = block.successors[1 - way].to;
      if (second == Edge::kLeaves || shared == Edge::kLeaves || second == b || second == shared) continue;
      const Block& inner = code_.blocks[second];
      if (entries_[second] != 1 || inner.successors.size() != 2 || exits_[inner.facts_blocks.back()]) continue;
      const unsigned other = inner.successors[0].to == shared ? 1 : 0;
      const std::uint32_t rest = inner.successors[other].to;
      if (inner.successors[1 - other].to != shared || rest == shared || rest == b || !harmless(inner)) continue;
      note_predicate(block);
      std::vector<Edge> ways = inner.successors;
      for (const std::uint32_t e : block.successors[1 - way].facts_edges) ways[1 - other].facts_edges.push_back(e);
      drop_branch(block);
      take(block, second);
      leave_to(b, std::move(ways));
      --entries_[shared];
      return true;
    }
    return false;
  }

  // Whether the block may also run for lanes that would go around it: its results are its own values.
  bool harmless(const Block& block) const {
    float issue = 0;
    for (const Instruction& i : block.instructions) {
      if (i.ends) continue;
      issue += i.issue;
      const bool computes = i.pipe == Pipe::none || i.pipe == Pipe::move || i.pipe == Pipe::alu ||
                            i.pipe == Pipe::fma || i.pipe == Pipe::imad || i.pipe == Pipe::half || i.pipe == Pipe::fp64;
      if (!computes || i.guarded || i.branches) return false;
      if (std::any_of(i.writes.begin(), i.writes.end(), [&](ptx::RegId r) { return writers_[r] > 1; })) return false;
    }
    return issue <= kLongestCondition;
  }

  // if (p) { small }: the body ends at the other successor.
  bool append_guarded(std::uint32_t b) {
    Block& block = code_.blocks[b];
    if (block.successors.size() != 2 || exits_[block.facts_blocks.back()]) return false;
    if (append_both(b)) return true;
    for (const unsigned way : {0u, 1u}) {
      const std::uint32_t body = block.successors[way].to, end = block.successors[1 - way].to;
      if (body == Edge::kLeaves || end == Edge::kLeaves || body == b || end == b || body == end) continue;
      const Block& inner = code_.blocks[body];
      if (entries_[body] != 1 || inner.successors.size() != 1 || inner.successors[0].to != end || !small(inner) ||
          !followed_by(body, end))
        continue;
      note_predicate(block);
      const ptx::RegId guard = guard_of(block);
      drop_branch(block);
      take(block, body, guard);
      drop_branch(block);
      // The other edge remains, for all warps.
      leave_to(b, {Edge{end, {}}});
      --entries_[end];
      return true;
    }
    return false;
  }

  // Whether `end` comes next in ptxas's order. Blocks that branches jump to come after those that control falls into:
  // the other side of an else-if stands between them.
  bool followed_by(std::uint32_t body, std::uint32_t end) const {
    return std::none_of(before_[end].begin(), before_[end].end(), [&](std::uint32_t other) {
      const Block& block = code_.blocks[other];
      return other != body && !dead_[other] && jumped_to_[other] && block.successors.size() == 1 &&
             block.successors[0].to == end;
    });
  }

  // if (p) { small } else { small }
  bool append_both(std::uint32_t b) {
    Block& block = code_.blocks[b];
    const std::uint32_t one = block.successors[0].to, other = block.successors[1].to;
    if (one == Edge::kLeaves || other == Edge::kLeaves || one == other || one == b || other == b) return false;
    for (const std::uint32_t side : {one, other}) {
      const Block& inner = code_.blocks[side];
      if (entries_[side] != 1 || inner.successors.size() != 1 || !small(inner)) return false;
    }
    const std::uint32_t end = code_.blocks[one].successors[0].to;
    if (end == Edge::kLeaves || end == b || end == one || end == other) return false;
    if (code_.blocks[other].successors[0].to != end) return false;
    if (length(code_.blocks[one]) + length(code_.blocks[other]) > static_cast<float>(kLongest)) return false;
    note_predicate(block);
    const ptx::RegId guard = guard_of(block);
    for (const std::uint32_t side : {one, other}) {
      drop_branch(block);
      take(block, side, guard);
    }
    drop_branch(block);
    leave_to(b, {Edge{end, {}}});
    --entries_[end];
    return true;
  }

  // Joins both halves of a loop with a constant end and its exit in the middle. The compiler makes such a loop if its
  // unrolling does not divide the number of iterations. If ptxas unrolls it, both halves are one. The second half then
  // counts as often as the first, which is once too often.
  void close_loop(std::uint32_t b) {
    Block& block = code_.blocks[b];
    if (block.successors.size() != 2 || block.instructions.empty()) return;
    for (const unsigned way : {0u, 1u}) {
      const std::uint32_t next = block.successors[way].to;
      if (next == Edge::kLeaves || next == b || block.successors[1 - way].to == b || entries_[next] != 1) continue;
      const Block& second = code_.blocks[next];
      if (second.successors.size() != 1 || second.successors[0].to != b || second.instructions.empty()) continue;
      if (stays(block) || stays(second) || !to_constant(block)) continue;
      Instruction branch = block.instructions.back();
      drop_branch(block);
      const Edge leave = block.successors[1 - way], back = second.successors[0];
      take(block, next);
      drop_branch(block);
      block.instructions.push_back(std::move(branch));
      block.successors = {back, leave};
      return;
    }
  }

  const ptx::Instruction& text(const Instruction& i) const { return bodies_[i.function].function.body[i.ptx]; }

  // Whether the block is too long for ptxas to unroll, or must not be unrolled.
  bool stays(const Block& block) const {
    constexpr float kLongestPiece = 32;
    float issue = 0;
    for (const Instruction& i : block.instructions) issue += i.issue;
    if (issue > kLongestPiece || block.instructions.front().pipe == Pipe::barrier) return true;
    const Instruction& first = block.instructions.front();
    const auto& labels = bodies_[first.function].function.labels;
    return std::any_of(labels.begin(), labels.end(),
                       [&](const ptx::Label& l) { return l.no_unroll && l.instruction == first.ptx; });
  }

  bool to_constant(const Block& block) const {
    const Instruction& last = block.instructions.back();
    const ptx::Guard guard = text(last).guard;
    if (!last.ends || !guard) return false;
    const auto compares = [&](const Instruction& i) {
      const ptx::Instruction& t = text(i);
      return t.opcode == ptx::Opcode::setp && t.operands.size() == 3 && t.operands[0].index == guard.reg &&
             t.operands[1].kind == ptx::OperandKind::reg && t.operands[2].kind == ptx::OperandKind::immediate;
    };
    return std::any_of(block.instructions.begin(), block.instructions.end(), compares);
  }

  // Divisions and similar instructions count as the sequence that they become.
  static float length(const Block& block) {
    constexpr float kSequence = 8;
    float sum = 0;
    for (const Instruction& i : block.instructions) sum += i.issue > kSequence ? i.issue : 1;
    return sum;
  }

  static bool small(const Block& block) {
    if (length(block) > static_cast<float>(kLongest)) return false;
    return std::none_of(block.instructions.begin(), block.instructions.end(), [](const Instruction& i) {
      return i.guarded || i.pipe == Pipe::barrier || i.pipe == Pipe::fence || i.pipe == Pipe::atomic_global ||
             (i.pipe == Pipe::control && !i.ends);
    });
  }

  static void drop_branch(Block& block) {
    if (block.instructions.empty() || !block.instructions.back().ends) return;
    Instruction& last = block.instructions.back();
    last.pipe = Pipe::none;
    last.issue = kPredicatedBranch;
    last.ends = false;
  }

  // The predicate of the branch at the block's end.
  ptx::RegId guard_of(const Block& block) const {
    if (block.instructions.empty()) return kNone;
    const Instruction& last = block.instructions.back();
    const ptx::Guard guard = text(last).guard;
    return last.ends && guard ? guard.reg + code_.first_register[last.function] : kNone;
  }

  // guard: the predicate under which the instructions run; kNone: they always do.
  void take(Block& block, std::uint32_t from, ptx::RegId guard = kNone) {
    Block& taken = code_.blocks[from];
    for (Instruction& i : taken.instructions) {
      if (guard != kNone) put_under(i, guard);
      block.instructions.push_back(std::move(i));
    }
    for (const std::uint32_t f : taken.facts_blocks) block.facts_blocks.push_back(f);
    taken.instructions.clear();
    dead_[from] = true;
  }

  // What it writes keeps its value if the predicate is false. That value is one of other instructions. A load takes so
  // long that the value is there before, in the same register.
  void put_under(Instruction& i, ptx::RegId guard) const {
    const auto reads = [&](ptx::RegId r) {
      if (std::find(i.reads.begin(), i.reads.end(), r) == i.reads.end()) i.reads.push_back(r);
    };
    i.guarded = true;
    reads(guard);
    if (i.load) return;
    for (const ptx::RegId r : i.writes)
      if (writers_[r] > 1) reads(r);
  }

  void renumber() {
    std::vector<std::uint32_t> number(code_.blocks.size(), kNone);
    std::vector<Block> kept;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (dead_[b]) continue;
      number[b] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(code_.blocks[b]));
    }
    code_.blocks = std::move(kept);
    code_.entry = number[code_.entry];
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      for (Edge& e : code_.blocks[b].successors)
        if (e.to != Edge::kLeaves) e.to = number[e.to];
      for (const std::uint32_t f : code_.blocks[b].facts_blocks) code_.block_of[f] = b;
    }
  }

  Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  std::vector<bool> dead_;
  std::vector<bool> exits_;                         // by facts block: its branch leaves the kernel
  std::vector<std::uint32_t> entries_;              // number of edges into each block
  std::vector<std::vector<std::uint32_t>> before_;  // blocks with an edge to each block, and blocks that had one
  std::vector<bool> jumped_to_;                     // by block: the target of a branch with two ways
  std::vector<std::uint32_t> writers_;              // by register: instructions that write it
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> branch_at_;
  std::vector<std::uint32_t> branch_of_;  // by facts block: index into KernelFacts::branches
};

}  // namespace

void convert_branches(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies) {
  if (!code.blocks.empty()) Conversion(code, facts, bodies).run();
}

}  // namespace warpgrind::sass
