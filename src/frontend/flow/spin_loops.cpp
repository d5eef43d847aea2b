#include "flow/spin_loops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "flow/forms.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::RegId;

namespace {

bool reads_shared_state(const Instruction& i) {
  using M = ptx::Modifier;
  using ptx::Effects, ptx::ImpliedOrder;
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  if (!info.has(Effects::reads) || info.destinations == 0) return false;
  if (info.order == ImpliedOrder::relaxed || info.order == ImpliedOrder::acquire) return true;
  const bool strong = i.has(M::volatile_) || i.has(M::relaxed) || i.has(M::acquire) || i.has(M::mmio);
  return strong && !info.has(Effects::writes);
}

// A load of memory that other blocks may write, without `.volatile` and the like.
bool is_plain_load(const Instruction& i) {
  return i.opcode == Opcode::ld && (i.space == StateSpace::global || i.space == StateSpace::none) &&
         !i.has(ptx::Modifier::nc);
}

bool moves_shared(const Instruction& i, Opcode opcode) {
  return i.opcode == opcode && i.space == StateSpace::shared;
}

bool is_register(const Operand& o) {
  return o.kind == OperandKind::reg && o.component == 0xff;
}
bool is_register(const Operand& o, RegId r) {
  return is_register(o) && o.index == r;
}
bool is_factor(const Operand& o) {
  return o.kind == OperandKind::immediate && o.bits != 0;
}

// One loop. Definitions of a register: those in the loop.
class Loop {
 public:
  Loop(const ptx::Function& f, const ControlFlow& cfg, std::uint32_t head)
      : f_(f), cfg_(cfg), head_(head), body_(loop_body(cfg, head)), definitions_(f.registers.size()) {
    std::vector<RegId> written;
    each([&](std::uint32_t, std::uint32_t i) {
      registers_written(f_.body[i], written);
      for (RegId r : written) definitions_[r].push_back(i);
      fenced_ |= f.body[i].opcode == Opcode::membar || f.body[i].opcode == Opcode::fence;
    });
  }

  bool may_wait() {
    if (sleeps()) return true;
    if (retries()) return false;
    find_counters();
    return reads_others_words() && (exit_depends_on_others(false) || exit_depends_on_others(true));
  }

 private:
  template <class Found>  // found(block, instruction)
  void each(Found found) const {
    for (std::uint32_t b = 0; b < body_.size(); ++b)
      for (std::uint32_t i = cfg_.blocks[b].first; body_[b] && i < cfg_.blocks[b].end; ++i) found(b, i);
  }
  bool sleeps() const {
    bool some = false;
    each([&](std::uint32_t, std::uint32_t i) { some |= f_.body[i].opcode == Opcode::nanosleep; });
    return some;
  }
  // Index of the only definition, if it is executed without a guard.
  std::optional<std::uint32_t> definition(RegId r) const {
    const std::vector<std::uint32_t>& all = definitions_[r];
    if (all.size() != 1 || f_.body[all[0]].guard) return std::nullopt;
    return all[0];
  }

  // L: mov expected, seen; ... atom.cas seen, [p], expected, new; setp.ne again, expected, seen; @again bra L;
  // The copy may also come last.
  bool retries() const {
    if (std::count(body_.begin(), body_.end(), true) != 1) return false;
    const Instruction& last = f_.body[cfg_.blocks[head_].end - 1];
    if (last.opcode != Opcode::bra || !last.guard || last.guard.negated) return false;
    std::optional<std::uint32_t> swap;
    bool several = false;
    each([&](std::uint32_t, std::uint32_t i) {
      if (!reads_shared_state(f_.body[i])) return;
      several |= swap.has_value();
      swap = i;
    });
    if (!swap || several) return false;
    const Instruction& cas = f_.body[*swap];
    if (cas.guard || !cas.has(ptx::Modifier::cas) || cas.operands.size() != 4) return false;
    if (!is_register(cas.operands[0]) || !is_register(cas.operands[2])) return false;
    const RegId seen = cas.operands[0].index, expected = cas.operands[2].index;
    const auto copy = definition(expected), test = definition(last.guard.reg);
    if (!copy || !test || !definition(seen)) return false;
    const Instruction &mov = f_.body[*copy], &setp = f_.body[*test];
    if (mov.opcode != Opcode::mov || !is_register(mov.operands[1], seen)) return false;
    if (*test < *swap || (*copy > *swap && *copy < *test)) return false;
    if (setp.opcode != Opcode::setp || !setp.has(ptx::Modifier::ne) || setp.operands.size() != 3) return false;
    const Operand &a = setp.operands[1], &b = setp.operands[2];
    return (is_register(a, expected) && is_register(b, seen)) || (is_register(a, seen) && is_register(b, expected));
  }

  // Counters: registers that each iteration increases by the same number, in the only block that leads back.
  void find_counters() {
    counters_.assign(f_.registers.size(), false);
    std::optional<std::uint32_t> back;
    for (const std::uint32_t p : cfg_.blocks[head_].predecessors) {
      if (!body_[p]) continue;
      if (back) return;
      back = p;
    }
    if (!back) return;
    for (std::uint32_t i = cfg_.blocks[*back].first; i < cfg_.blocks[*back].end; ++i) {
      const Instruction& add = f_.body[i];
      if (add.opcode != Opcode::add || add.operands.size() != 3 || !is_register(add.operands[0])) continue;
      const RegId r = add.operands[0].index;
      if (ptx::is_integer(add.type()) && is_register(add.operands[1], r) && is_factor(add.operands[2]) &&
          definition(r) == i)
        counters_[r] = true;
    }
  }

  bool is_constant(const Operand& o) const {
    return o.kind == OperandKind::immediate || (is_register(o) && definitions_[o.index].empty());
  }
  // Whether the value is another one in each iteration: a counter, times a number, plus what the loop does not change.
  bool moves(const Operand& o, unsigned steps = 0) const {
    constexpr unsigned kSteps = 8;  // enough for an address
    if (steps == kSteps || !is_register(o)) return false;
    if (counters_[o.index]) return true;
    const auto at = definition(o.index);
    if (!at) return false;
    const Instruction& i = f_.body[*at];
    const auto source = [&](std::size_t k) { return moves(i.operands[k], steps + 1); };
    const auto constant = [&](std::size_t k) { return is_constant(i.operands[k]); };
    switch (i.opcode) {
      case Opcode::mov:
      case Opcode::cvta:
        return i.operands.size() == 2 && source(1);
      case Opcode::cvt:
        return i.types.size() == 2 && ptx::is_integer(i.type(0)) && ptx::is_integer(i.type(1)) &&
               ptx::bits(i.type(0)) >= ptx::bits(i.type(1)) && source(1);
      case Opcode::add:
        return ptx::is_integer(i.type()) && ((source(1) && constant(2)) || (source(2) && constant(1)));
      case Opcode::shl:
        return i.operands[2].kind == OperandKind::immediate && i.operands[2].bits < 8 && source(1);
      case Opcode::mul:
        return ptx::is_integer(i.type()) && !i.has(ptx::Modifier::hi) && is_factor(i.operands[2]) && source(1);
      case Opcode::mad:
        return ptx::is_integer(i.type()) && !i.has(ptx::Modifier::hi) && is_factor(i.operands[2]) && source(1) &&
               constant(3);
      default:
        return false;
    }
  }
  bool reads_another_word(const Instruction& i) const {
    return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) {
      if (o.kind != OperandKind::address || o.base != OperandKind::reg) return false;
      Operand base;
      base.kind = OperandKind::reg;
      base.index = o.index;
      return moves(base);
    });
  }

  bool may_wait_for(const Instruction& i) const {
    return (reads_shared_state(i) || (fenced_ && is_plain_load(i))) && !reads_another_word(i);
  }
  bool reads_others_words() const {
    bool some = false;
    each([&](std::uint32_t, std::uint32_t i) { some = some || may_wait_for(f_.body[i]); });
    return some;
  }

  // By block: the blocks of the loop whose branch decides whether an iteration executes it (control dependence: it lies
  // on the way from one of their successors to where all ways meet again).
  std::vector<std::vector<std::uint32_t>> find_deciders() const {
    std::vector<std::vector<std::uint32_t>> deciders(body_.size());
    for (std::uint32_t b = 0; b < body_.size(); ++b) {
      const BasicBlock& block = cfg_.blocks[b];
      if (!body_[b] || block.successors.size() < 2) continue;
      for (std::uint32_t s : block.successors)
        for (; s != cfg_.exit() && s != block.post_dominator; s = cfg_.blocks[s].post_dominator)
          if (body_[s]) deciders[s].push_back(b);
    }
    return deciders;
  }

  // Also true if the wait is an inner loop that begins at the same block. through_shared: one thread may load for all
  // of its block, so a value that comes from shared memory may be any that the loop stores there. Atomics do not count
  // then: where one thread takes an entry of a queue for its block, nothing waits.
  bool exit_depends_on_others(bool through_shared) const {
    std::vector<bool> wanted(f_.registers.size(), false);
    bool changed = false;
    const auto want = [&](RegId r) {
      if (!wanted[r]) wanted[r] = true, changed = true;
    };
    std::vector<std::vector<std::uint32_t>> deciders = find_deciders();
    std::vector<RegId> read, written;
    const auto want_to_execute = [&](std::uint32_t executed) {
      std::vector<std::uint32_t> left{executed};
      while (!left.empty()) {
        const std::vector<std::uint32_t> by = std::exchange(deciders[left.back()], {});  // once for each block
        left.pop_back();
        for (const std::uint32_t b : by) {
          registers_read(f_.body[cfg_.blocks[b].end - 1], read);
          for (const RegId r : read) want(r);
          left.push_back(b);
        }
      }
    };
    for (std::uint32_t b = 0; b < body_.size(); ++b) {
      if (!body_[b]) continue;
      const BasicBlock& block = cfg_.blocks[b];
      const Instruction& last = f_.body[block.end - 1];
      const bool leaves = std::any_of(block.successors.begin(), block.successors.end(),
                                      [&](std::uint32_t s) { return s == cfg_.exit() || s == head_ || !body_[s]; });
      if (leaves && last.guard) want(last.guard.reg);
    }
    bool waits = false, loads_shared = false;
    while (changed && !waits) {
      changed = false;
      const bool loaded_shared = loads_shared;
      each([&](std::uint32_t b, std::uint32_t i) {
        const Instruction& in = f_.body[i];
        registers_written(in, written);
        const bool stores = through_shared && loads_shared && moves_shared(in, Opcode::st);
        if (!stores && !std::any_of(written.begin(), written.end(), [&](RegId r) { return wanted[r]; })) return;
        loads_shared |= moves_shared(in, Opcode::ld);
        waits |= may_wait_for(in) && !(through_shared && ptx::info(in.opcode).has(ptx::Effects::writes));
        registers_read(in, read);
        for (RegId r : read) want(r);
        want_to_execute(b);
      });
      changed |= loads_shared != loaded_shared;
    }
    return waits;
  }

  const ptx::Function& f_;
  const ControlFlow& cfg_;
  std::uint32_t head_;
  std::vector<bool> body_;
  std::vector<std::vector<std::uint32_t>> definitions_;  // by register: instructions
  std::vector<bool> counters_;                           // by register
  bool fenced_ = false;                                  // the loop has a fence
};

// Whether an instruction of the function may read what another block has written during the launch.
bool reads_other_blocks(const ptx::Function& function) {
  using M = ptx::Modifier;
  return std::any_of(function.body.begin(), function.body.end(), [](const Instruction& i) {
    if (i.opcode == Opcode::nanosleep) return true;
    if (i.opcode == Opcode::membar || i.opcode == Opcode::fence) return !i.has(M::cta);
    return reads_shared_state(i) && i.space != StateSpace::shared;
  });
}

// The kernel, and all functions that it may call.
std::vector<std::uint32_t> find_called(const ptx::Module& module, std::uint32_t kernel) {
  std::vector<std::uint32_t> found{kernel};
  std::vector<bool> known(module.functions.size(), false);
  known[kernel] = true;
  const auto add = [&](std::uint32_t f) {
    if (!known[f] && module.functions[f].has_body) known[f] = true, found.push_back(f);
  };
  for (std::size_t n = 0; n < found.size(); ++n)
    for (const Instruction& i : module.functions[found[n]].body) {
      if (i.opcode != Opcode::call || i.operands.empty()) continue;
      if (i.operands[0].kind == OperandKind::function)
        add(i.operands[0].index);
      else  // by a pointer
        for (std::uint32_t f = 0; f < module.functions.size(); ++f)
          if (!module.functions[f].is_entry) add(f);
    }
  return found;
}

}  // namespace

bool may_wait_for_blocks(const ptx::Module& module, std::uint32_t kernel) {
  return std::ranges::any_of(find_called(module, kernel), [&](std::uint32_t f) {
    const ptx::Function& function = module.functions[f];
    if (!reads_other_blocks(function)) return false;
    if (f != kernel) return true;
    const std::vector<bool> heads = find_spin_loops(function, build_control_flow(function));
    return std::find(heads.begin(), heads.end(), true) != heads.end();
  });
}

std::vector<bool> find_spin_loops(const ptx::Function& function, const ControlFlow& cfg) {
  std::vector<bool> heads(cfg.blocks.size(), false);
  for (const std::uint32_t b : cfg.order)
    if (cfg.blocks[b].loop_head) heads[b] = Loop(function, cfg, b).may_wait();
  return heads;
}

}  // namespace warpgrind::flow
