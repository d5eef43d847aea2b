// Loop unrolling: recognises the loops that ptxas unrolls and marks their loop-control instructions.
#include "sass/unroll_loops.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/wrapping.h"
#include "ptx/types.h"
#include "sass/uses.h"

namespace warpgrind::sass {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

// Limits in machine instructions of an iteration, fitted to the loops that ptxas 13.0 unrolled, and did not unroll, in
// the lab and the microbenchmark.
constexpr float kLongestRound = 32, kLongestWithMemory = 35.5f, kLongestAltogether = 400;
constexpr std::uint32_t kRounds = 4;
// Comparisons and branches around the pieces of four, two and one iterations.
constexpr float kAround = 8;

struct Counter {
  Where step;                          // add r, r, constant
  Where compare;                       // setp r, end: a constant, or a register that the loop does not write
  std::optional<std::int64_t> rounds;  // known at compile time
};

class Unrolling {
 public:
  Unrolling(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies)
      : code_(code), facts_(facts), bodies_(bodies), uses_(code, bodies) {}

  void run() {
    std::vector<std::uint32_t> around;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      Block& block = code_.blocks[b];
      if (!is_loop(b) || must_stay(block)) continue;
      const auto counter = find_counter(b);
      if (!counter) continue;
      const float length = round_length(block);
      if (counter->rounds && length * static_cast<float>(*counter->rounds) <= kLongestAltogether) {
        block.unrolled = Block::kAltogether;
      } else if (length <= (reads_memory(block) ? kLongestWithMemory : kLongestRound)) {
        block.unrolled = kRounds;
        around.push_back(b);
      } else {
        continue;
      }
      mark(b, *counter);
    }
    for (const std::uint32_t b : around) add_around(b);
  }

 private:
  bool is_loop(std::uint32_t b) const {
    const auto& ways = code_.blocks[b].successors;
    return ways.size() == 2 && (ways[0].to == b || ways[1].to == b);
  }

  bool must_stay(const Block& block) const {
    const events::BlockFacts& f = facts_.blocks[block.facts_blocks.front()];
    for (const flow::Definitions& d : bodies_)
      if (d.function.name == f.function)
        for (const ptx::Label& l : d.function.labels)
          if (l.no_unroll && l.instruction == f.first_instruction) return true;
    return std::any_of(block.instructions.begin(), block.instructions.end(),
                       [&](const Instruction& i) { return uses_.text(i).opcode == Opcode::call; });
  }

  static float round_length(const Block& block) {
    float sum = 0;
    for (const Instruction& i : block.instructions) sum += i.issue;
    return sum;
  }
  static bool reads_memory(const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(),
                       [](const Instruction& i) { return i.load && i.pipe != Pipe::constant; });
  }

  const Where* writer_in(ptx::RegId r, std::uint32_t b) const {
    const Where* found = nullptr;
    for (const Where& w : uses_.writers(r))
      if (w.block == b) {
        if (found) return nullptr;
        found = &w;
      }
    return found;
  }

  // The constant c of r = r + c, if the instruction is of this form.
  std::optional<std::int64_t> step_of(Where w) const {
    const Instruction& i = uses_.instruction(w);
    const ptx::Instruction& t = uses_.text(i);
    if ((t.opcode != Opcode::add && t.opcode != Opcode::sub) || i.guarded || i.writes.size() != 1) return std::nullopt;
    if (uses_.reg(i, t.operands[1]) != i.writes[0] || t.operands[2].kind != OperandKind::immediate) return std::nullopt;
    const auto by = static_cast<std::int64_t>(t.operands[2].bits);
    return t.opcode == Opcode::add ? by : wrapping_multiply(by, -1);
  }

  std::optional<Counter> find_counter(std::uint32_t b) const {
    const Instruction& last = code_.blocks[b].instructions.back();
    const ptx::Guard guard = uses_.text(last).guard;
    if (!guard || !last.ends) return std::nullopt;
    const Where* compare = writer_in(guard.reg + code_.first_register[last.function], b);
    if (compare == nullptr || uses_.text(*compare).opcode != Opcode::setp) return std::nullopt;
    const ptx::Instruction& t = uses_.text(*compare);
    if (t.operands.size() < 3) return std::nullopt;
    const Instruction& comparing = uses_.instruction(*compare);
    const bool constant = t.operands[2].kind == OperandKind::immediate;
    if (!constant && !stays(comparing, t.operands[2], b)) return std::nullopt;
    const ptx::RegId r = uses_.reg(comparing, t.operands[1]);
    const Where* step = r == kNone ? nullptr : writer_in(r, b);
    if (step == nullptr) return std::nullopt;
    const auto by = step_of(*step);
    if (!by || *by == 0) return std::nullopt;
    if (!constant) return Counter{*step, *compare, std::nullopt};
    return Counter{*step, *compare, rounds(r, b, *by, static_cast<std::int64_t>(t.operands[2].bits))};
  }

  // Whether the operand is a register that the block does not write.
  bool stays(const Instruction& i, const ptx::Operand& o, std::uint32_t b) const {
    const ptx::RegId r = uses_.reg(i, o);
    return r != kNone &&
           std::none_of(uses_.writers(r).begin(), uses_.writers(r).end(), [&](const Where& w) { return w.block == b; });
  }

  std::optional<std::int64_t> rounds(ptx::RegId r, std::uint32_t b, std::int64_t by, std::int64_t end) const {
    std::optional<std::int64_t> begin;
    for (const Where& w : uses_.writers(r)) {
      if (w.block == b) continue;
      const ptx::Instruction& t = uses_.text(w);
      if (begin || t.opcode != Opcode::mov || t.operands[1].kind != OperandKind::immediate) return std::nullopt;
      begin = static_cast<std::int64_t>(t.operands[1].bits);
    }
    if (!begin) return std::nullopt;
    const __int128 way = static_cast<__int128>(end) - *begin;
    const __int128 n = way / by + (way % by != 0 ? 1 : 0);
    if (way == 0 || (way > 0) != (by > 0) || n > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return static_cast<std::int64_t>(n);
  }

  // Marks the loop control, the steps by constants and the addresses made of them: those become offsets of later
  // iterations' accesses.
  void mark(std::uint32_t b, const Counter& counter) {
    Block& block = code_.blocks[b];
    const auto count = static_cast<std::uint32_t>(block.instructions.size());
    for (std::uint32_t n = 0; n < count; ++n) {
      const Where w{b, n};
      block.instructions[n].of_loop =
          w == counter.step || w == counter.compare || block.instructions[n].ends || may_be_offset(w, b);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t n = 0; n < count; ++n) {
        Instruction& i = block.instructions[n];
        if (!i.of_loop || i.ends || Where{b, n} == counter.compare || only_offsets(i, b)) continue;
        i.of_loop = false;
        changed = true;
      }
    }
  }

  // Whether the value moves by a constant each round: a multiple of a counter, and sums with values that stay. No
  // extension of 32-bit counters, which may wrap.
  bool moves_by_constant(Where w, std::uint32_t b) const {
    const Instruction& i = uses_.instruction(w);
    const ptx::Instruction& t = uses_.text(i);
    const bool scales = t.opcode == Opcode::shl || (t.opcode == Opcode::mul && !t.has(ptx::Modifier::wide));
    if (i.guarded || i.writes.size() != 1 || t.operands.size() != 3 || (!scales && t.opcode != Opcode::add) ||
        ptx::is_float(t.type()))
      return false;
    if (scales && t.operands[2].kind != OperandKind::immediate) return false;
    unsigned moving = 0;
    for (const ptx::RegId r : i.reads) {
      const Where* from = writer_in(r, b);
      if (from == nullptr) {
        if (std::any_of(uses_.writers(r).begin(), uses_.writers(r).end(), [&](Where x) { return x.block == b; }))
          return false;
      } else if (step_of(*from) || (from->at < w.at && moves_by_constant(*from, b))) {
        ++moving;
      } else {
        return false;
      }
    }
    return moving == 1;
  }

  bool may_be_offset(Where w, std::uint32_t b) const {
    if (step_of(w) || moves_by_constant(w, b)) return true;
    const Instruction& i = uses_.instruction(w);
    const ptx::Instruction& t = uses_.text(i);
    if (t.opcode != Opcode::add || ptx::is_float(t.type()) || i.guarded || i.writes.size() != 1) return false;
    unsigned steps = 0;
    for (const ptx::RegId r : i.reads) {
      const Where* from = writer_in(r, b);
      if (from == nullptr) continue;
      if (from->at > w.at && !step_of(*from)) return false;
      steps += step_of(*from) || uses_.instruction(*from).of_loop ? 1 : 2;
    }
    return steps == 1;
  }

  bool only_offsets(const Instruction& i, std::uint32_t b) const {
    const ptx::RegId r = i.writes[0];
    return std::all_of(uses_.readers(r).begin(), uses_.readers(r).end(), [&](const Where& reader) {
      if (reader.block != b) return true;  // after the loop
      const Instruction& to = uses_.instruction(reader);
      if (to.of_loop) return true;
      if (!to.load && !to.store && to.merged_into == kNone) return false;
      return uses_.address_base(to) == r;
    });
  }

  void add_around(std::uint32_t b) {
    for (std::uint32_t from = 0; from < code_.blocks.size(); ++from) {
      Block& block = code_.blocks[from];
      if (from == b || block.successors.size() != 1 || block.successors[0].to != b || block.instructions.empty())
        continue;
      Instruction i;
      i.function = block.instructions.back().function;
      i.ptx = block.instructions.back().ptx;
      i.added = true;
      i.facts_block = block.instructions.back().facts_block;
      i.pipe = Pipe::alu;
      i.issue = kAround;
      i.latency = kAround;
      block.instructions.insert(block.instructions.end() - (block.instructions.back().ends ? 1 : 0), std::move(i));
    }
  }

  Code& code_;
  const events::KernelFacts& facts_;
  const std::vector<flow::Definitions>& bodies_;
  Uses uses_;
};

}  // namespace

void unroll_loops(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies) {
  if (!code.blocks.empty()) Unrolling(code, facts, bodies).run();
}

}  // namespace warpgrind::sass
