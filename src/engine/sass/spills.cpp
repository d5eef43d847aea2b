// Choice of the spilled values by Belady's rule, and the number of times that spilling instructions run.
#include "sass/spills.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "sass/liveness.h"
#include "sass/registers.h"

namespace warpgrind::sass {
namespace {

using Set = Liveness::Set;
using OfBlock = Spills::OfBlock;

void put(Set& s, ptx::RegId r) {
  s[r / 64] |= 1ull << (r % 64);
}
void drop(Set& s, ptx::RegId r) {
  s[r / 64] &= ~(1ull << (r % 64));
}
std::vector<ptx::RegId> members(const Set& s) {
  std::vector<ptx::RegId> out;
  for (std::size_t w = 0; w < s.size(); ++w)
    for (std::uint64_t bits = s[w]; bits != 0; bits &= bits - 1)
      out.push_back(static_cast<ptx::RegId>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
  return out;
}

// ptxas spills more than Belady's rule: it orders instructions first, and splits values at each use. Fitted to the
// local loads and stores in the loops of 19 kernels with limits of 32 to 96 registers (ptxas 13.0, sm_90).
constexpr double kMoreThanRule = 1.4;
// Registers that hold no value (stack pointer, addresses), and fewest registers for values.
constexpr std::uint32_t kNotForValues = 2, kLeastValues = 14;

// Where a block has both, ptxas keeps loads and stores closer to each other than the rule: in the same loops, stores
// were 24 to 50 %.
void even_out(OfBlock& b) {
  for (const auto& [loads, stores] :
       {std::pair(&OfBlock::loads, &OfBlock::stores), std::pair(&OfBlock::load_words, &OfBlock::store_words)}) {
    const bool one_way = b.*loads == 0 || b.*stores == 0;
    b.*loads *= kMoreThanRule;
    b.*stores *= kMoreThanRule;
    if (one_way) continue;
    const double all = b.*loads + b.*stores;
    const double least = std::min(b.*loads, b.*stores);
    b.*stores = (least + all / 2) / 2;
    b.*loads = all - b.*stores;
  }
}

// Belady's rule over all blocks, in two passes. In the second, loops begin as their rounds end.
class Spilling {
 public:
  Spilling(const Code& code, const std::vector<flow::Definitions>& bodies, std::uint32_t limit)
      : code_(code), live_(code, bodies) {
    capacity_ = std::max(limit, kLeastValues + kNotForValues) - kNotForValues;
    find_predecessors();
    find_distances();
    slots_.assign(live_.words(), 0);
  }

  Spills run() {
    const std::vector<OfBlock> first = pass();
    again_ = true;
    Spills out;
    out.each = pass();
    for (std::size_t b = 0; b < first.size(); ++b) {
      const auto more = [&](double OfBlock::*m) { return std::max(0.0, first[b].*m - out.each[b].*m); };
      out.before.push_back(
          {more(&OfBlock::loads), more(&OfBlock::stores), more(&OfBlock::load_words), more(&OfBlock::store_words)});
    }
    out.bytes = 4 * std::uint64_t{live_.size(slots_)};
    if (out.bytes == 0) return {};
    for (OfBlock& b : out.each) even_out(b);
    for (OfBlock& b : out.before)
      for (double* n : {&b.loads, &b.stores, &b.load_words, &b.store_words}) *n *= kMoreThanRule;
    return out;
  }

 private:
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max() / 2;
  // Values in registers, and those with a valid copy in local memory.
  struct State {
    Set held, saved;
    bool known = false;
  };

  void find_predecessors() {
    before_.resize(code_.blocks.size());
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      for (const Edge& e : code_.blocks[b].successors)
        if (e.to != Edge::kLeaves) before_[e.to].push_back(b);
  }

  // Whether the instruction only gives a value another name.
  static bool renames(const Instruction& i) { return !i.added && Liveness::disappears(i) && i.writes.size() == 1; }

  // Values that the instruction needs in registers; those of a renaming may lie in local memory.
  std::vector<ptx::RegId> needs(const Instruction& i) const {
    if (i.added || (Liveness::disappears(i) && !renames(i))) return {};
    Set set(live_.words(), 0);
    for (const ptx::RegId r : i.reads) live_.add(r, set);
    std::vector<ptx::RegId> out = members(set);
    std::erase_if(out, [&](ptx::RegId r) { return live_.weight(r) == 0; });
    return out;
  }

  // By block and register: instructions until its next use after the beginning of the block.
  void find_distances() {
    distance_.assign(code_.blocks.size(), std::vector<std::uint32_t>(code_.registers, kNever));
    for (int round = 0; round < 4; ++round)
      for (std::size_t b = code_.blocks.size(); b-- > 0;) {
        std::vector<std::uint32_t> now = after(b);
        const auto& instructions = code_.blocks[b].instructions;
        for (std::uint32_t& d : now)
          if (d < kNever) d += static_cast<std::uint32_t>(instructions.size());
        for (std::size_t n = instructions.size(); n-- > 0;) {
          if (!instructions[n].added)
            for (const ptx::RegId r : instructions[n].writes) now[r] = kNever;
          for (const ptx::RegId r : needs(instructions[n])) now[r] = static_cast<std::uint32_t>(n);
        }
        distance_[b] = std::move(now);
      }
  }
  // ... after its end.
  std::vector<std::uint32_t> after(std::size_t b) const {
    std::vector<std::uint32_t> now(code_.registers, kNever);
    for (const Edge& e : code_.blocks[b].successors)
      if (e.to != Edge::kLeaves)
        for (std::size_t r = 0; r < now.size(); ++r) now[r] = std::min(now[r], distance_[e.to][r]);
    return now;
  }

  std::vector<OfBlock> pass() {
    std::vector<OfBlock> out(code_.blocks.size());
    states_.resize(code_.blocks.size());
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) states_[b] = block(b, beginning(b), out[b]);
    return out;
  }

  // The state at the end of the block before.
  State beginning(std::uint32_t b) const {
    const std::uint32_t* from = nullptr;
    for (const std::uint32_t& p : before_[b])
      if (states_[p].known && (p < b || again_) && (from == nullptr || p > *from)) from = &p;
    State s{Set(live_.words(), 0), Set(live_.words(), 0), true};
    if (from == nullptr) return s;
    s = states_[*from];
    for (std::size_t w = 0; w < live_.words(); ++w) {
      s.held[w] &= live_.in(b)[w];
      s.saved[w] &= live_.in(b)[w];
    }
    return s;
  }

  State block(std::uint32_t b, State s, OfBlock& count) {
    const auto& instructions = code_.blocks[b].instructions;
    const auto length = static_cast<std::uint32_t>(instructions.size());
    // Next uses by register, the last one first; then the one after the block.
    std::vector<std::vector<std::uint32_t>> uses(code_.registers);
    std::vector<std::vector<ptx::RegId>> of(length);
    for (std::uint32_t n = length; n-- > 0;) {
      of[n] = needs(instructions[n]);
      for (const ptx::RegId r : of[n]) uses[r].push_back(n);
    }
    const std::vector<std::uint32_t> later = after(b);
    const auto next = [&](ptx::RegId r) {
      return !uses[r].empty() ? uses[r].back() : later[r] < kNever ? length + later[r] : kNever;
    };
    for (std::uint32_t n = 0; n < length; ++n) {
      const Instruction& i = instructions[n];
      if (renames(i)) {
        rename(i.writes[0], of[n], s);
        for (const ptx::RegId r : of[n]) {
          uses[r].pop_back();
          if (next(r) == kNever) drop(s.held, r);
        }
        continue;
      }
      Set kept(live_.words(), 0);
      for (const ptx::RegId r : of[n]) {
        put(kept, r);
        if (Liveness::has(s.held, r)) continue;
        if (Liveness::has(s.saved, r)) count.loads += 1, count.load_words += live_.weight(r);
        put(s.held, r);
      }
      fit(s, kept, next, count);
      for (const ptx::RegId r : of[n]) {
        WG_ASSERT(!uses[r].empty() && uses[r].back() == n);
        uses[r].pop_back();
        if (next(r) == kNever) drop(s.held, r);
      }
      if (i.added || Liveness::disappears(i)) continue;
      Set written(live_.words(), 0);
      for (const ptx::RegId r : i.writes) {
        drop(s.saved, r);
        if (live_.weight(r) == 0 || next(r) == kNever) continue;
        put(s.held, r);
        put(written, r);
      }
      fit(s, written, next, count);
    }
    return s;
  }

  static void rename(ptx::RegId to, const std::vector<ptx::RegId>& from, State& s) {
    const bool one = from.size() == 1;
    for (Set State::*m : {&State::held, &State::saved}) (one && Liveness::has(s.*m, from[0]) ? put : drop)(s.*m, to);
    if (!one) put(s.held, to);
  }

  // Spills values until the others fit; those of `kept` stay.
  template <class Next>
  void fit(State& s, const Set& kept, Next next, OfBlock& count) {
    std::uint32_t size = live_.size(s.held);
    if (size <= capacity_) return;
    std::vector<std::pair<std::uint32_t, ptx::RegId>> order;
    for (const ptx::RegId r : members(s.held))
      if (!Liveness::has(kept, r) && live_.weight(r) != 0) order.emplace_back(next(r), r);
    std::sort(order.begin(), order.end(), std::greater<>());
    for (const auto& [at, r] : order) {
      if (size <= capacity_) return;
      size -= live_.weight(r);
      drop(s.held, r);
      if (at == kNever || Liveness::has(s.saved, r)) continue;
      put(s.saved, r);
      put(slots_, r);
      count.stores += 1;
      count.store_words += live_.weight(r);
    }
  }

  const Code& code_;
  Liveness live_;
  std::uint32_t capacity_ = 0;  // 32-bit registers for values
  bool again_ = false;          // the second pass
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<std::vector<std::uint32_t>> distance_;
  std::vector<State> states_;  // by block, at its end
  Set slots_;                  // values that were stored
};

// Mean width of the values at the place with the most of them.
double mean_words(const Code& code, const std::vector<flow::Definitions>& bodies) {
  const Liveness live(code, bodies);
  double most = 0, mean = 1;
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const Set& in = live.in(b);
    const double size = live.size(in);
    if (size <= most) continue;
    most = size;
    const std::vector<ptx::RegId> all = members(in);
    const auto values = std::count_if(all.begin(), all.end(), [&](ptx::RegId r) { return live.weight(r) != 0; });
    mean = size / static_cast<double>(std::max<std::ptrdiff_t>(1, values));
  }
  return mean;
}

void add(OfBlock& to, const OfBlock& n, double times) {
  to.loads += n.loads * times;
  to.stores += n.stores * times;
  to.load_words += n.load_words * times;
  to.store_words += n.store_words * times;
}

// Index of the block that holds each place of a binary.
std::vector<std::size_t> blocks_of(const std::vector<double>& places, const Code& code, const Flow& flow) {
  std::vector<double> ends;
  double sum = 0;
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const double copies = std::max(1.0, copies_of(code, flow, b));
    for (const Instruction& i : code.blocks[b].instructions) sum += i.issue * (i.of_loop ? 1 : copies);
    ends.push_back(sum);
  }
  std::vector<std::size_t> out;
  for (const double p : places) {
    const auto at = std::upper_bound(ends.begin(), ends.end(), p * sum);
    out.push_back(std::min<std::size_t>(static_cast<std::size_t>(at - ends.begin()), code.blocks.size() - 1));
  }
  return out;
}

}  // namespace

Spills estimate_spills(const Code& code, const ptx::Module& module, std::uint32_t limit) {
  constexpr std::size_t kMostDistances = 1u << 22;
  if (code.blocks.empty() || code.blocks.size() * code.registers > kMostDistances) return {};
  return Spilling(code, bodies_of(code, module), limit).run();
}

Spills spills_of_binary(const Code& code, const ptx::Module& module, std::span<const std::uint32_t> spills,
                        std::uint64_t instructions, std::uint64_t bytes) {
  Spills out;
  if (spills.empty() || code.blocks.empty() || instructions <= spills.size()) return out;
  const auto others = static_cast<double>(instructions - spills.size());
  for (std::size_t k = 0; k < spills.size(); ++k) {
    const double before = std::max(0.0, static_cast<double>(spills[k]) - static_cast<double>(k));
    out.places.push_back(std::min(1.0, before / others));
  }
  out.words = mean_words(code, bodies_of(code, module));
  out.bytes = bytes;
  return out;
}

double copies_of(const Code& code, const Flow& flow, std::size_t b) {
  const Block& block = code.blocks[b];
  if (block.unrolled == 1) return 1;
  double entries = flow.warps[b];
  for (std::size_t k = 0; k < block.successors.size(); ++k)
    if (block.successors[k].to == b) entries -= flow.edges[b][k];
  const double rounds = std::max(1.0, flow.warps[b] / std::max(1.0, entries));
  return block.unrolled == Block::kAltogether ? rounds : std::min<double>(block.unrolled, rounds);
}

SpillCounts count_spills(const Spills& spills, const Code& code, const Flow& flow) {
  SpillCounts out;
  out.blocks.resize(code.blocks.size());
  WG_ASSERT(flow.warps.size() == code.blocks.size());
  for (const std::size_t b : blocks_of(spills.places, code, flow)) {
    const double half = flow.warps[b] / std::max(1.0, copies_of(code, flow, b)) / 2;
    add(out.blocks[b], {1, 1, spills.words, spills.words}, half);
  }
  if (spills.each.size() == code.blocks.size()) {
    std::vector<double> entries(code.blocks.size(), 0);
    entries[code.entry] = flow.warps[code.entry];
    for (std::size_t b = 0; b < code.blocks.size(); ++b)
      for (std::size_t k = 0; k < code.blocks[b].successors.size(); ++k)
        if (const std::uint32_t to = code.blocks[b].successors[k].to; to != Edge::kLeaves && to > b)
          entries[to] += flow.edges[b][k];
    for (std::size_t b = 0; b < code.blocks.size(); ++b) {
      add(out.blocks[b], spills.each[b], flow.warps[b]);
      add(out.blocks[b], spills.before[b], std::min(entries[b], flow.warps[b]));
    }
  }
  for (const OfBlock& b : out.blocks) add(out.all, b, 1);
  return out;
}

}  // namespace warpgrind::sass
