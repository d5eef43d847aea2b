// Control-flow and data-flow analysis around `.sync` operations.
#include "checkers/warp_paths.h"

#include <algorithm>
#include <array>
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
  return info.has(ptx::Effects::writes) || (i.has(ptx::Modifier::sync) && i.opcode != Opcode::activemask);
}

// Whether a block's way to the exit exists that does not pass through `without`.
bool reaches_exit(const ControlFlow& cfg, std::uint32_t from, std::uint32_t without) {
  const std::vector<bool> seen = reached(cfg, from, without, false);
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
    for (std::uint32_t next : cfg.blocks[b].successors)
      if (seen[b] && next == cfg.exit()) return true;
  return false;
}

// By instruction, for one lane: the outcome of the guard, or of the condition of a selp without a guard.
enum class Decision : std::uint8_t { unknown, no, yes };
using Decisions = std::vector<Decision>;

Decisions decisions_of(const ptx::Function& function, LaneValues& values) {
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

// The lane whose value a shuffle gives, where the number of the lane alone decides that (PTX ISA, shfl.sync).
std::optional<std::uint8_t> source_of_shuffle(const Instruction& i, LaneValues& values, unsigned lane) {
  const std::size_t a = i.has_second_destination ? 2 : 1;
  if (!i.has(ptx::Modifier::sync) || i.operands.size() < a + 3) return std::nullopt;
  const std::optional<std::uint64_t> b = values.of(i.operands[a + 1]), c = values.of(i.operands[a + 2]);
  if (!b || !c) return std::nullopt;
  const auto distance = static_cast<unsigned>(*b & 31), clamp = static_cast<unsigned>(*c & 31);
  const auto segment = static_cast<unsigned>(*c >> 8 & 31);
  const unsigned highest = (lane & segment) | (clamp & ~segment & 31);
  unsigned from = (lane & segment) | (distance & ~segment);  // .idx
  bool in_range = from <= highest;
  if (i.has(ptx::Modifier::up)) {
    in_range = lane >= distance && lane - distance >= highest;
    from = lane - distance;
  } else if (i.has(ptx::Modifier::down) || i.has(ptx::Modifier::bfly)) {
    from = i.has(ptx::Modifier::down) ? lane + distance : lane ^ distance;
    in_range = from <= highest;
  }
  return static_cast<std::uint8_t>(in_range ? from : lane);
}

// Lanes that take the same branches.
struct Group {
  LaneMask lanes = 0;
  ControlFlow cfg;  // without what they do not take
};

// Follows the first result of a shuffle through the registers of all lanes of a warp: an instruction may pass it on,
// use it, or overwrite it, and a later shuffle may give it to another lane.
class Follow {
 public:
  // Masks of the lanes that hold the value, by register. Only registers that it can reach have a place.
  using Registers = std::vector<LaneMask>;

  Follow(const ptx::Function& function, std::uint32_t start) : function_(function), start_(start) { find_places(); }
  void add(LaneMask lanes, ControlFlow cfg, const Decisions& decisions);
  // Sources of the shuffles for one lane; without them, what a shuffle gives is unknown.
  void add_sources(unsigned lane, LaneValues& values);
  // Words of memory for the masks at the ends of all blocks.
  std::size_t words() const;
  // Lanes that use the value on every path, if the lanes `holding` have it after the shuffle.
  LaneMask users(LaneMask holding);

 private:
  struct State {
    Group group;
    const Decisions* decisions;
    Registers after_start;
    // By block: lanes that hold the value on every path from the shuffle. Iterated to the greatest fixed point.
    std::vector<std::optional<Registers>> at_end;
  };
  static constexpr std::uint32_t kNoPlace = ~0u;
  void find_places();
  LaneMask held(const Registers& holds, const std::vector<ptx::RegId>& registers) const;
  LaneMask step(State& s, std::uint32_t n, Registers& holds);
  LaneMask selects(const State& s, std::uint32_t n, const Registers& holds) const;
  LaneMask through_shuffle(State& s, std::uint32_t n, const Registers& holds);
  LaneMask through(State& s, std::uint32_t block, std::uint32_t first, Registers& holds);
  std::optional<Registers> at_begin(const State& s, std::uint32_t block) const;

  const ptx::Function& function_;
  const std::uint32_t start_;
  std::vector<std::uint32_t> place_;  // by register: index in Registers
  std::size_t places_ = 0;
  std::vector<State> states_;
  struct Shuffle {
    std::array<std::uint8_t, kWarpSize> source;  // by lane; kUnknown
    LaneMask given = 0;                          // lanes whose operand holds the value
  };
  static constexpr std::uint8_t kUnknown = 0xff;
  std::map<std::uint32_t, Shuffle> shuffles_;  // by instruction
  bool changed_ = false;
};

// Registers that the value can reach on any path.
void Follow::find_places() {
  place_.assign(function_.registers.size(), kNoPlace);
  std::vector<ptx::RegId> reads, writes;
  flow::registers_written(function_.body[start_], writes);
  if (writes.empty()) return;
  place_[writes[0]] = static_cast<std::uint32_t>(places_++);
  for (bool more = true; more;) {
    more = false;
    for (const Instruction& i : function_.body) {
      reads.clear(), writes.clear();
      flow::registers_read(i, reads);
      if (std::none_of(reads.begin(), reads.end(), [&](ptx::RegId r) { return place_[r] != kNoPlace; })) continue;
      flow::registers_written(i, writes);
      for (const ptx::RegId r : writes)
        if (place_[r] == kNoPlace) place_[r] = static_cast<std::uint32_t>(places_++), more = true;
    }
  }
}

void Follow::add(LaneMask lanes, ControlFlow cfg, const Decisions& decisions) {
  State& s = states_.emplace_back();
  s.group = {lanes, std::move(cfg)};
  s.decisions = &decisions;
  s.at_end.resize(s.group.cfg.blocks.size());
}

void Follow::add_sources(unsigned lane, LaneValues& values) {
  for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
    if (function_.body[n].opcode != Opcode::shfl) continue;
    const auto [it, is_new] = shuffles_.try_emplace(n);
    if (is_new) it->second.source.fill(kUnknown);
    it->second.source[lane] = source_of_shuffle(function_.body[n], values, lane).value_or(kUnknown);
  }
}

std::size_t Follow::words() const {
  std::size_t blocks = 0;
  for (const State& s : states_) blocks += s.group.cfg.blocks.size();
  return blocks * places_;
}

LaneMask Follow::held(const Registers& holds, const std::vector<ptx::RegId>& registers) const {
  LaneMask out = 0;
  for (const ptx::RegId r : registers)
    if (place_[r] != kNoPlace) out |= holds[place_[r]];
  return out;
}

// Lanes to which a later shuffle gives the value.
LaneMask Follow::through_shuffle(State& s, std::uint32_t n, const Registers& holds) {
  const auto it = shuffles_.find(n);
  if (it == shuffles_.end()) return 0;
  Shuffle& shuffle = it->second;
  const ptx::Operand& from = function_.body[n].operands[function_.body[n].has_second_destination ? 2 : 1];
  const bool has_place = from.kind == ptx::OperandKind::reg && place_[from.index] != kNoPlace;
  const LaneMask given = (shuffle.given & ~s.group.lanes) | (has_place ? holds[place_[from.index]] & s.group.lanes : 0);
  changed_ |= given != shuffle.given;
  shuffle.given = given;
  LaneMask out = 0;
  for (LaneMask left = s.group.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint8_t source = shuffle.source[lane];
    if (source != kUnknown && (given >> source & 1) != 0) out |= LaneMask{1} << lane;
  }
  return out;
}

// Lanes for which a selp is known to select the value.
LaneMask Follow::selects(const State& s, std::uint32_t n, const Registers& holds) const {
  const Instruction& i = function_.body[n];
  if (i.guard || (*s.decisions)[n] == Decision::unknown) return 0;
  const ptx::Operand& from = i.operands[(*s.decisions)[n] == Decision::yes ? 1 : 2];
  return from.kind == ptx::OperandKind::reg && place_[from.index] != kNoPlace ? holds[place_[from.index]] : 0;
}

// Returns the lanes that use the value here.
LaneMask Follow::step(State& s, std::uint32_t n, Registers& holds) {
  const Instruction& i = function_.body[n];
  const Decision decision = (*s.decisions)[n];
  // A shuffle that these lanes do not certainly execute gives nothing that is certain.
  if (const auto it = shuffles_.find(n); it != shuffles_.end() && i.guard && decision != Decision::yes)
    it->second.given &= ~s.group.lanes;
  if (i.guard && decision == Decision::no) return 0;
  std::vector<ptx::RegId> reads, writes;
  flow::registers_read(i, reads);
  flow::registers_written(i, writes);
  LaneMask used = i.guard ? held(holds, {i.guard.reg}) : 0;
  const LaneMask takes = held(holds, reads);
  const auto write_all = [&](LaneMask lanes) {
    for (const ptx::RegId r : writes)
      if (place_[r] != kNoPlace) holds[place_[r]] = lanes;
  };
  if (i.guard && decision == Decision::unknown) {  // the result may or may not depend on the value
    write_all(0);
    return used;
  }
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  if (i.opcode == Opcode::shfl) {
    const LaneMask given = through_shuffle(s, n, holds);
    write_all(0);
    if (!writes.empty() && place_[writes[0]] != kNoPlace) holds[place_[writes[0]]] = given;
    return used;
  }
  // Results of other warp operations come from other lanes, whose values are unknown.
  const bool from_others = info.has(ptx::Effects::convergent) || i.has(ptx::Modifier::sync);
  if (!from_others && (writes.empty() || is_seen_by_others(i))) used |= takes;
  // The address of a load or the operand of a branch is a use. selp may discard the value.
  if (!from_others && (info.has(ptx::Effects::reads) || i.opcode == Opcode::brx_idx)) used |= takes;
  const bool hands_on = i.opcode != Opcode::slct && !from_others && !info.has(ptx::Effects::reads);
  write_all(i.opcode == Opcode::selp ? selects(s, n, holds) : hands_on ? takes : 0);
  return used;
}

LaneMask Follow::through(State& s, std::uint32_t block, std::uint32_t first, Registers& holds) {
  LaneMask used = 0;
  for (std::uint32_t n = first; n < s.group.cfg.blocks[block].end; ++n) used |= step(s, n, holds);
  return used;
}

std::optional<Follow::Registers> Follow::at_begin(const State& s, std::uint32_t block) const {
  const std::uint32_t start = s.group.cfg.block_of[start_];
  std::optional<Registers> in;
  for (std::uint32_t p : s.group.cfg.blocks[block].predecessors) {
    const Registers* from = p == start ? &s.after_start : s.at_end[p] ? &*s.at_end[p] : nullptr;
    if (!from) continue;
    if (!in)
      in = *from;
    else
      for (std::size_t k = 0; k < in->size(); ++k) (*in)[k] &= (*from)[k];
  }
  return in;
}

LaneMask Follow::users(LaneMask holding) {
  if (places_ == 0) return 0;
  // A shuffle that lanes come to gives the value until it is known that their operand does not hold it.
  for (const State& s : states_) {
    const std::uint32_t start = s.group.cfg.block_of[start_];
    const std::vector<bool> later = reached(s.group.cfg, start, s.group.cfg.exit(), false);
    for (auto& [n, shuffle] : shuffles_)
      if (const std::uint32_t b = s.group.cfg.block_of[n]; b == start ? n > start_ : later[b])
        shuffle.given |= s.group.lanes;
  }
  LaneMask used = 0;
  for (changed_ = true; changed_;) {
    changed_ = used = 0;
    for (State& s : states_) {
      const std::uint32_t start = s.group.cfg.block_of[start_];
      Registers begin(places_, 0);
      begin[0] = holding & s.group.lanes;
      used |= through(s, start, start_ + 1, begin);
      s.after_start = std::move(begin);
      for (std::uint32_t b : s.group.cfg.order) {
        std::optional<Registers> in = b == start ? std::nullopt : at_begin(s, b);
        if (!in) continue;
        through(s, b, s.group.cfg.blocks[b].first, *in);
        if (s.at_end[b] != in) s.at_end[b] = std::move(in), changed_ = true;
      }
    }
  }
  for (State& s : states_) {
    const std::uint32_t start = s.group.cfg.block_of[start_];
    if (!reaches_exit(s.group.cfg, start, s.group.cfg.exit())) continue;
    for (std::uint32_t b : s.group.cfg.order) {
      std::optional<Registers> in = b == start ? std::nullopt : at_begin(s, b);
      if (!in) continue;
      const LaneMask here = through(s, b, s.group.cfg.blocks[b].first, *in);
      if ((here & ~used) != 0 && !reaches_exit(s.group.cfg, start, b)) used |= here;  // every lane comes here
    }
  }
  return used;
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
  if (instruction >= function.body.size() || function.body[instruction].guard) return false;
  const Decisions unknown(function.body.size(), Decision::unknown);
  Follow follow(function, instruction);
  follow.add(1, flow::build_control_flow(function), unknown);
  return follow.users(1) != 0;
}

LaneMask lanes_that_use_result(const ptx::Function& function, std::uint32_t instruction, LaneMask readers,
                               LaneMask executing, const std::function<LaneOfBlock(unsigned)>& place) {
  constexpr std::size_t kMostWords = std::size_t{1} << 23;  // 32 MiB
  if (instruction >= function.body.size()) return 0;
  const ControlFlow cfg = flow::build_control_flow(function);
  std::map<Decisions, LaneMask> groups;  // most lanes take the same ways
  Follow follow(function, instruction);
  for (LaneMask left = executing | readers; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    LaneValues values(function, place(lane));
    groups[decisions_of(function, values)] |= LaneMask{1} << lane;
    follow.add_sources(lane, values);
  }
  for (const auto& [decisions, lanes] : groups) follow.add(lanes, pruned(cfg, function, decisions), decisions);
  return follow.words() > kMostWords ? 0 : follow.users(readers);
}

}  // namespace warpgrind::checkers
