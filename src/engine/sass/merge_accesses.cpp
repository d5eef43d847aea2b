// Merging of accesses: open accesses of a block join until a conflicting instruction closes them.
#include "sass/merge_accesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/assert.h"
#include "base/wrapping.h"
#include "ptx/types.h"
#include "sass/address_sums.h"

namespace warpgrind::sass {
namespace {

constexpr unsigned kWidest = 16;  // bytes per lane of one access
constexpr unsigned kWord = 4;

// A plain load or store of a block, still open: no instruction after it prevents moving it.
struct Access {
  std::size_t at = 0;  // index into the block's instructions
  StateSpace space = StateSpace::shared;
  AddressSum address;
  unsigned bytes = 4, element = 4;
  bool store = false;
  std::uint32_t facts_block = 0;
  ptx::Guard guard{};
  bool guarded = false;
  bool non_coherent = false;
  bool alive = true;  // not replaced by a register or a later store

  // Whether the same lanes execute both, at addresses with the same terms.
  bool together(const Access& o) const {
    const bool same_lanes = (!guarded && !o.guarded) || (facts_block == o.facts_block && guard.reg == o.guard.reg &&
                                                         guard.negated == o.guard.negated);
    return space == o.space && store == o.store && same_lanes && non_coherent == o.non_coherent &&
           address.same_terms(o.address);
  }
  std::int64_t offset() const { return address.constant; }
  // Constant part modulo the widest access. Use it only if the terms are multiples of the widest access.
  std::uint64_t within() const { return static_cast<std::uint64_t>(address.constant) % kWidest; }
  std::int64_t end() const { return wrapping_add(address.constant, bytes); }
};

bool may_overlap(const Access& a, const Access& b) {
  if (a.address.same_terms(b.address)) {
    const auto from_a = static_cast<std::uint64_t>(b.offset()) - static_cast<std::uint64_t>(a.offset());
    return from_a < a.bytes || std::uint64_t{0} - from_a < b.bytes;
  }
  const auto x = a.address.variable(), y = b.address.variable();
  return !(x && y && *x != *y);  // false if they are in different variables
}

bool is_plain(const ptx::Instruction& i) {
  using M = ptx::Modifier;
  for (const M m : i.modifiers)
    if (m != M::weak && m != M::ca && m != M::wb && m != M::nc && m != M::shared_cta && m != M::global) return false;
  return true;
}

// Instructions that become code with a branch around a call, for operands that are not normal. They end a straight-line
// piece. ptxas 13.0 merges none of four loads that are each followed by one.
bool has_slow_path(const ptx::Instruction& i) {
  using ptx::Opcode;
  const bool division = i.opcode == Opcode::div || i.opcode == Opcode::rem;
  if (!division && i.opcode != Opcode::rcp && i.opcode != Opcode::sqrt) return false;
  if (!ptx::is_float(i.type())) return ptx::bits(i.type()) == 64;
  return !i.has(ptx::Modifier::approx) && !i.has(ptx::Modifier::full);
}

class Merging {
 public:
  Merging(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies)
      : code_(code), bodies_(bodies) {
    for (const flow::Definitions& d : bodies) sums_.emplace_back(module, d);
  }
  void run() {
    for (Block& block : code_.blocks) go_through(block);
  }

 private:
  void go_through(Block& block) {
    if (block.instructions.empty()) return;
    WG_ASSERT(block.instructions.front().function < sums_.size());
    AddressSums& sums = sums_[block.instructions.front().function];
    sums.begin_block();
    open_.clear();
    for (std::size_t n = 0; n < block.instructions.size(); ++n) {
      const Instruction& i = block.instructions[n];
      const ptx::Instruction& text = bodies_[i.function].function.body[i.ptx];
      step(block, n, i, text, sums);
      sums.pass(text);
    }
    close_all(block);
  }

  void step(Block& block, std::size_t n, const Instruction& i, const ptx::Instruction& text, AddressSums& sums) {
    using ptx::Opcode;
    if (i.pipe == Pipe::none && text.opcode != Opcode::call) return;
    if (i.pipe == Pipe::barrier || i.pipe == Pipe::fence || i.atomic || text.opcode == Opcode::call ||
        text.opcode == Opcode::bar_warp_sync || text.opcode == Opcode::brkpt || has_slow_path(text))
      return close_all(block);
    if (!i.load && !i.store) return;
    if ((text.opcode != Opcode::ld && text.opcode != Opcode::st) || !is_plain(text)) return close_all(block);
    // Accesses that block reordering, or that may be in any space.
    if (text.space == StateSpace::none || text.space == StateSpace::generic) return close_all(block);
    add(block, access_of(n, i, text, sums));
  }

  static Access access_of(std::size_t n, const Instruction& i, const ptx::Instruction& text, AddressSums& sums) {
    Access a;
    a.at = n;
    a.space = text.space;
    a.store = text.opcode == ptx::Opcode::st;
    a.address = sums.address(text.operands[a.store ? 0 : 1]);
    a.element = ptx::bytes(text.type());
    a.bytes = a.element * text.vector;
    a.facts_block = i.facts_block;
    a.guard = text.guard;
    a.guarded = i.guarded;
    a.non_coherent = text.has(ptx::Modifier::nc);
    return a;
  }

  void add(Block& block, Access a) {
    // Conflicting accesses keep their order: a load must not move past a store to the same place, nor a store past a
    // load.
    std::vector<Access> conflicts;
    for (Access& o : open_) {
      if (!o.alive || o.space != a.space || (!o.store && !a.store)) continue;
      const bool same_place = o.address.same_terms(a.address) && o.offset() == a.offset() && o.bytes == a.bytes;
      if (same_place && o.alive && same_lanes(o, a)) continue;  // handled below
      if (may_overlap(o, a)) conflicts.push_back(o);
    }
    for (const Access& o : conflicts) close(block, [&](const Access& x) { return x.together(o); });
    // A load must not join a load before the store that it depends on.
    if (!a.store && !conflicts.empty()) close(block, [&](const Access& x) { return x.space == a.space && !x.store; });
    for (Access& o : open_) {
      const bool same_place = o.alive && o.space == a.space && o.address.same_terms(a.address) &&
                              o.offset() == a.offset() && o.bytes == a.bytes && same_lanes(o, a);
      if (!same_place) continue;
      if (!a.store) {  // the value is already in a register
        absorb(block, a.at, o.at, false);
        const Instruction& source = block.instructions[o.at];
        block.instructions[a.at].reads = o.store ? source.reads : source.writes;
        return;
      }
      if (o.store) {  // overwritten before any other thread can have read it
        absorb(block, o.at, a.at, true);
        o.alive = false;
      } else {
        o.alive = false;  // its value is outdated: later loads get the stored value
        keep_.push_back(o);
        keep_.back().alive = true;
      }
    }
    open_.push_back(std::move(a));
  }

  static bool same_lanes(const Access& a, const Access& b) {
    return (!a.guarded && !b.guarded) ||
           (a.facts_block == b.facts_block && a.guard.reg == b.guard.reg && a.guard.negated == b.guard.negated);
  }

  // Removes the access `gone`: `by` has the value, or makes the same access.
  static void absorb(Block& block, std::size_t gone, std::size_t by, bool store) {
    WG_ASSERT(gone != by && by < block.instructions.size());
    Instruction& i = block.instructions[gone];
    i.issue = 0;
    i.bytes = 0;
    i.merged_into = static_cast<std::uint32_t>(by);
    i.pipe = store ? Pipe::none : Pipe::move;
    i.load = i.store = false;
    i.latency = store ? 0 : 1;
    i.result_words = 0;
  }

  void close_all(Block& block) {
    for (const StateSpace space : {StateSpace::shared, StateSpace::global, StateSpace::local, StateSpace::constant})
      for (const bool store : {false, true})
        close(block, [&](const Access& a) { return a.space == space && a.store == store; });
    open_.clear();
    keep_.clear();
  }

  // Closes all open accesses of the kind, and merges them.
  template <class Kind>
  void close(Block& block, Kind&& kind) {
    std::vector<Access> all;
    for (std::vector<Access>* from : {&open_, &keep_}) {
      for (const Access& a : *from)
        if (kind(a) && a.alive) all.push_back(a);
      std::erase_if(*from, kind);
    }
    std::vector<bool> used(all.size(), false);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (used[k]) continue;
      std::vector<Access> group;
      for (std::size_t m = k; m < all.size(); ++m)
        if (!used[m] && all[k].together(all[m])) {
          used[m] = true;
          group.push_back(all[m]);
        }
      join(block, std::move(group));
    }
  }

  // Greedy from the lowest address: takes the widest access that is aligned and has no gap.
  static void join(Block& block, std::vector<Access> group) {
    std::sort(group.begin(), group.end(), [](const Access& a, const Access& b) { return a.offset() < b.offset(); });
    for (std::size_t k = 0; k < group.size();) {
      std::size_t end = k + 1;
      for (unsigned width = kWidest; width > group[k].bytes; width /= 2) {
        std::size_t n = covers(group, k, width);
        if (n == 0 && width == kWidest) n = covers_nearly(group, k);
        if (n == 0) continue;
        widen(block, std::span(group).subspan(k, n), width);
        end = k + n;
        break;
      }
      k = end;
    }
  }

  // ptxas loads three of four words in shared memory as four, whichever one is unused. It does not do so in global
  // memory.
  static std::size_t covers_nearly(const std::vector<Access>& group, std::size_t first) {
    const Access& a = group[first];
    if (a.store || a.space != StateSpace::shared || a.element < kWord || (1u << a.address.zeros) < kWidest) return 0;
    unsigned covered = 0;
    std::size_t n = first;
    for (; n < group.size() && group[n].element >= kWord; ++n) {
      const bool follows = n == first || group[n].offset() >= group[n - 1].end();
      const std::uint64_t away = group[n].within() - a.within() + static_cast<std::uint64_t>(a.offset());
      const bool same_piece = away == static_cast<std::uint64_t>(group[n].offset());
      if (!follows || !same_piece || group[n].within() + group[n].bytes > kWidest) break;
      covered += group[n].bytes;
    }
    return covered == kWidest - kWord ? n - first : 0;
  }

  // Number of accesses from `first` on that together have exactly `width` bytes; 0: none do.
  static std::size_t covers(const std::vector<Access>& group, std::size_t first, unsigned width) {
    const Access& a = group[first];
    if (a.element < kWord) return 0;
    const std::uint64_t low = static_cast<std::uint64_t>(a.offset());
    if (low % width != 0 || (1u << a.address.zeros) < width) return 0;
    unsigned covered = a.bytes;
    std::size_t n = first + 1;
    while (n < group.size() && covered < width && group[n].offset() == group[n - 1].end() &&
           group[n].element >= kWord) {
      covered += group[n].bytes;
      ++n;
    }
    return covered == width ? n - first : 0;
  }

  static void widen(Block& block, std::span<const Access> parts, unsigned width) {
    // A merged load happens at its first part, a merged store at its last.
    const auto before = [](const Access& a, const Access& b) { return a.at < b.at; };
    const Access& leader = parts.front().store ? *std::max_element(parts.begin(), parts.end(), before)
                                               : *std::min_element(parts.begin(), parts.end(), before);
    WG_ASSERT(!parts.empty() && width <= kWidest);
    Instruction& joint = block.instructions[leader.at];
    const std::uint32_t site = block.instructions[parts.front().at].site;
    for (const Access& part : parts) {
      if (part.at == leader.at) continue;
      Instruction& i = block.instructions[part.at];
      for (const ptx::RegId r : i.writes) joint.writes.push_back(r);
      for (const ptx::RegId r : i.reads)
        if (std::find(joint.reads.begin(), joint.reads.end(), r) == joint.reads.end()) joint.reads.push_back(r);
      joint.result_words = static_cast<std::uint8_t>(joint.result_words + i.result_words);
      i.writes.clear();
      i.reads.clear();
      absorb(block, part.at, leader.at, true);
    }
    joint.bytes = static_cast<std::uint8_t>(width);
    joint.site = site;
  }

  Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  std::vector<AddressSums> sums_;
  std::vector<Access> open_;
  std::vector<Access> keep_;  // loads followed by stores to the same place; they may still join others
};

}  // namespace

void merge_accesses(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies) {
  Merging(code, module, bodies).run();
}

}  // namespace warpgrind::sass
