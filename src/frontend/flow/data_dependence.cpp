// Data flow over a kernel and the functions that it calls, until nothing changes.
#include "flow/data_dependence.h"

#include <algorithm>
#include <vector>

#include "flow/cfg.h"
#include "flow/forms.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// Where a value that is not known comes from.
struct Place {
  std::uint32_t function = ptx::kNoId, instruction = 0;
  explicit operator bool() const { return function != ptx::kNoId; }
};

bool is_clock(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  return s == S::clock || s == S::clock_hi || s == S::clock64 || s == S::globaltimer || s == S::globaltimer_lo ||
         s == S::globaltimer_hi || s == S::pm || s == S::pm64;
}

// The same in all warps of a launch.
bool is_of_launch(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  switch (s) {
    case S::ntid_x:
    case S::ntid_y:
    case S::ntid_z:
    case S::nctaid_x:
    case S::nctaid_y:
    case S::nctaid_z:
    case S::laneid:
      return true;
    default:
      return false;
  }
}

// Copies in the background: all their operands decide what they access.
bool is_copy(SiteKind kind) {
  return kind == SiteKind::async_copy || kind == SiteKind::bulk_copy;
}

class DataFlow {
 public:
  // What counts as known. all_but_others: all but what other warps decide. all_but_one: all but a parameter.
  enum class Known : std::uint8_t { special_registers, launch, all_but_others, all_but_one };
  DataFlow(const ptx::Module& module, std::uint32_t kernel, Known known, std::uint32_t parameter = 0)
      : module_(module), known_(known), parameter_(parameter), states_(module.functions.size()) {
    reach(kernel);
    while (pass()) {
    }
  }

  std::optional<DataDependence> find() const {
    for (const std::uint32_t f : reached_)
      for (const std::uint32_t b : states_[f].cfg.order)
        for (std::uint32_t n = states_[f].cfg.blocks[b].first; n < states_[f].cfg.blocks[b].end; ++n)
          if (const auto found = look_at(f, n)) return found;
    return std::nullopt;
  }

  // Whether a branch on what is not known may change the rounds of a loop. directly: it does so itself. Otherwise also:
  // it lies in a loop or before one, and what it skips may be what the loop's end depends on.
  bool rounds_depend(bool directly) const {
    return std::any_of(reached_.begin(), reached_.end(), [&](std::uint32_t f) {
      const ControlFlow& cfg = states_[f].cfg;
      const std::vector<bool> to_loop = leads_to_loop(f);
      return std::any_of(cfg.order.begin(), cfg.order.end(), [&](std::uint32_t b) {
        if (!to_loop[b] || cfg.blocks[b].successors.size() < 2) return false;
        const auto found = look_at(f, cfg.blocks[b].end - 1);
        return found && found->kind == DataDependence::Kind::branch && (!directly || decides_rounds(f, b));
      });
    });
  }

 private:
  struct State {
    bool reached = false;
    ControlFlow cfg;
    std::vector<Place> registers;  // by RegId; empty place: known
    std::vector<Place> variables;  // by index: contents of parameters and results
    Place results;                 // of the function
  };

  void reach(std::uint32_t f) {
    State& s = states_[f];
    if (s.reached) return;
    s.reached = true;
    const ptx::Function& function = module_.functions[f];
    reached_.push_back(f);
    s.cfg = build_control_flow(function);
    s.registers.resize(function.registers.size());
    s.variables.resize(function.variables.size());
    for (const Instruction& i : function.body)
      if (const auto callee = callee_of(i)) reach(*callee);
  }

  // A loop begins in the block, or it calls a function, which may have one.
  bool begins_loop(std::uint32_t f, const BasicBlock& block) const {
    const auto& body = module_.functions[f].body;
    return block.loop_head || std::any_of(body.begin() + block.first, body.begin() + block.end,
                                          [this](const Instruction& i) { return callee_of(i).has_value(); });
  }

  // By block: it is in a loop, or a loop or the call of a function with one comes after it.
  std::vector<bool> leads_to_loop(std::uint32_t f) const {
    const ControlFlow& cfg = states_[f].cfg;
    std::vector<bool> leads(cfg.blocks.size());
    std::vector<std::uint32_t> left;
    for (const std::uint32_t b : cfg.order)
      if (begins_loop(f, cfg.blocks[b])) leads[b] = true, left.push_back(b);
    while (!left.empty()) {
      const std::uint32_t b = left.back();
      left.pop_back();
      for (const std::uint32_t from : cfg.blocks[b].predecessors)
        if (!leads[from]) leads[from] = true, left.push_back(from);
    }
    return leads;
  }

  // Whether a loop begins, or a function is called, on some way from the end of the block to where all ways meet again.
  bool decides_rounds(std::uint32_t f, std::uint32_t block) const {
    const ControlFlow& cfg = states_[f].cfg;
    std::vector<bool> seen(cfg.blocks.size() + 1);
    seen[cfg.blocks[block].post_dominator] = seen[cfg.exit()] = true;
    std::vector<std::uint32_t> left = cfg.blocks[block].successors;
    while (!left.empty()) {
      const std::uint32_t b = left.back();
      left.pop_back();
      if (seen[b]) continue;
      seen[b] = true;
      if (begins_loop(f, cfg.blocks[b])) return true;
      left.insert(left.end(), cfg.blocks[b].successors.begin(), cfg.blocks[b].successors.end());
    }
    return false;
  }

  // Function with a body that a call names.
  std::optional<std::uint32_t> callee_of(const Instruction& i) const {
    if (i.opcode != Opcode::call || i.operands.empty() || i.operands[0].kind != OperandKind::function)
      return std::nullopt;
    const std::uint32_t f = i.operands[0].index;
    return module_.functions[f].has_body ? std::optional(f) : std::nullopt;
  }

  // n: the instruction of the operand.
  Place of_operand(std::uint32_t f, std::uint32_t n, const Operand& o) const {
    const State& s = states_[f];
    switch (o.kind) {
      case OperandKind::reg:
        return s.registers[o.index];
      case OperandKind::sreg:
        if (known_ == Known::all_but_one) return {};
        return (known_ == Known::launch ? !is_of_launch(o.sreg) : is_clock(o.sreg)) ? Place{f, n} : Place{};
      case OperandKind::address:
      case OperandKind::vector: {
        if (o.kind == OperandKind::address && o.base == OperandKind::reg && s.registers[o.index])
          return s.registers[o.index];
        for (const Operand& e : o.elements)
          if (const Place p = of_operand(f, n, e)) return p;
        return {};
      }
      case OperandKind::variable:  // what is behind the address may be read in ways that are not followed here
        return is_unknown_parameter(f, o) ? Place{f, n} : Place{};
      default:
        return {};
    }
  }

  bool is_unknown_parameter(std::uint32_t f, const Operand& o) const {
    return known_ == Known::all_but_one && module_.functions[f].is_entry && o.scope == ptx::Scope::function &&
           o.index == parameter_;
  }

  Place of_sources(std::uint32_t f, std::uint32_t n) const {
    const Instruction& i = module_.functions[f].body[n];
    if (i.guard && states_[f].registers[i.guard.reg]) return states_[f].registers[i.guard.reg];
    const bool updates = ptx::info(i.opcode).has(ptx::Effects::updates);
    for (std::size_t k = updates ? 0 : destination_operands(i); k < i.operands.size(); ++k)
      if (const Place p = of_operand(f, n, i.operands[k])) return p;
    return {};
  }

  // Contents of parameter memory behind an address.
  Place of_parameter(std::uint32_t f, std::uint32_t n, const Operand& address) const {
    const ptx::Function& function = module_.functions[f];
    if (address.base == OperandKind::variable && is_unknown_parameter(f, address)) return {f, n};
    if (address.base == OperandKind::variable && address.scope == ptx::Scope::function)
      return states_[f].variables[address.index];
    if (function.is_entry) return {};
    for (const Place& p : states_[f].variables)
      if (p) return p;
    return {};
  }

  Place loaded(std::uint32_t f, std::uint32_t n) const {
    const Instruction& i = module_.functions[f].body[n];
    switch (i.space) {
      case StateSpace::constant:
        return of_sources(f, n);
      case StateSpace::param: {
        const Place address = of_sources(f, n);
        return address ? address : of_parameter(f, n, i.operands[1]);
      }
      case StateSpace::shared:
      case StateSpace::local: {
        const Place contents = i.space == StateSpace::shared ? shared_ : local_;
        return contents ? Place{f, n} : of_sources(f, n);
      }
      default:
        return known_ == Known::all_but_one ? of_sources(f, n) : Place{f, n};
    }
  }

  // What the results of an instruction that is no call come from.
  Place result(std::uint32_t f, std::uint32_t n) const {
    const Instruction& i = module_.functions[f].body[n];
    if (known_ == Known::all_but_others) return of_others(f, n);
    if (known_ == Known::all_but_one)
      return ptx::info(i.opcode).site == SiteKind::load && (i.opcode == Opcode::ld || i.opcode == Opcode::ldu)
                 ? loaded(f, n)
                 : of_sources(f, n);
    switch (ptx::info(i.opcode).site) {
      case SiteKind::load:
        return i.opcode == Opcode::ld || i.opcode == Opcode::ldu ? loaded(f, n) : Place{f, n};
      case SiteKind::texture:
      case SiteKind::surface:
      case SiteKind::atomic:
        return i.opcode == Opcode::txq || i.opcode == Opcode::suq || i.opcode == Opcode::istypep ? Place{}
                                                                                                 : Place{f, n};
      case SiteKind::mbarrier:  // a state, or whether a phase has ended: it will have
      case SiteKind::elect:
        return {};
      case SiteKind::launch_control:
      case SiteKind::matrix:  // factors may come from shared or tensor memory, by a descriptor
        return {f, n};
      default:
        return of_sources(f, n);
    }
  }

  Place of_others(std::uint32_t f, std::uint32_t n) const {
    const Instruction& i = module_.functions[f].body[n];
    const bool own = i.space == StateSpace::shared || i.space == StateSpace::local;
    switch (ptx::info(i.opcode).site) {
      case SiteKind::load:
        if (i.space == StateSpace::param || own) return loaded(f, n);
        return i.has(ptx::Modifier::volatile_) || i.has(ptx::Modifier::acquire) || i.has(ptx::Modifier::relaxed)
                   ? Place{f, n}
                   : Place{};
      case SiteKind::atomic:
        return own ? Place{} : Place{f, n};
      case SiteKind::launch_control:
        return {f, n};
      case SiteKind::texture:
      case SiteKind::surface:
      case SiteKind::mbarrier:
      case SiteKind::elect:
      case SiteKind::matrix:
        return {};
      default:
        return of_sources(f, n);
    }
  }

  static bool set(Place& to, const Place& from) {
    if (to || !from) return false;
    to = from;
    return true;
  }

  bool set_registers(std::uint32_t f, const Instruction& i, const Place& from) {
    if (!from) return false;
    bool changed = false;
    std::vector<ptx::RegId> written;
    registers_written(i, written);
    for (const ptx::RegId r : written) changed |= set(states_[f].registers[r], from);
    return changed;
  }

  // What the instruction writes to memory that was known.
  bool write_memory(std::uint32_t f, std::uint32_t n) {
    const Instruction& i = module_.functions[f].body[n];
    const auto& info = ptx::info(i.opcode);
    if (!info.has(ptx::Effects::writes)) return false;
    const Place here{f, n};
    bool changed = false;
    if (info.site == SiteKind::store && (i.opcode == Opcode::st)) {
      const Place value = of_sources(f, n);
      if (!value) return false;
      if (i.space == StateSpace::param) {
        const Operand& to = i.operands[0];
        if (to.base == OperandKind::variable && to.scope == ptx::Scope::function)
          return set(states_[f].variables[to.index], value);
        for (Place& v : states_[f].variables) changed |= set(v, value);
        return changed;
      }
      if (i.space != StateSpace::global && i.space != StateSpace::local) changed |= set(shared_, here);
      if (i.space != StateSpace::global && i.space != StateSpace::shared) changed |= set(local_, here);
      return changed;
    }
    if (is_copy(info.site)) return set(shared_, here);
    const bool moves =
        info.site == SiteKind::store || info.site == SiteKind::atomic || info.site == SiteKind::reduction;
    return moves && i.space != StateSpace::global && set(shared_, here);
  }

  bool call(std::uint32_t f, std::uint32_t n) {
    const Instruction& i = module_.functions[f].body[n];
    const auto content = [&](const Operand& o) {
      return o.kind == OperandKind::variable && o.scope == ptx::Scope::function ? states_[f].variables[o.index]
                                                                                : of_operand(f, n, o);
    };
    bool changed = false;
    Place result{f, n};
    if (const auto callee = callee_of(i)) {
      const ptx::Function& function = module_.functions[*callee];
      State& s = states_[*callee];
      for (std::size_t a = 0; a < i.arguments.size() && a < s.variables.size(); ++a) {
        const Place from = content(i.arguments[a]);
        changed |= set(s.variables[a], from);
        for (std::size_t r = 0; r < function.registers.size(); ++r)  // a parameter in a register has its name
          if (function.registers[r].name == function.variables[a].name) changed |= set(s.registers[r], from);
      }
      result = s.results;
    } else if (!i.operands.empty() && i.operands[0].kind == OperandKind::function) {
      const std::string& name = module_.functions[i.operands[0].index].name;
      if (name == "vprintf" || name == "__assertfail" || name == "free") result = {};
    }
    for (const Operand& r : i.results)
      if (r.kind == OperandKind::variable && r.scope == ptx::Scope::function)
        changed |= set(states_[f].variables[r.index], result);
    return set_registers(f, i, result) || changed;
  }

  bool pass() {
    bool changed = false;
    for (const std::uint32_t f : reached_) {
      const ptx::Function& function = module_.functions[f];
      State& s = states_[f];
      for (const std::uint32_t b : s.cfg.order)
        for (std::uint32_t n = s.cfg.blocks[b].first; n < s.cfg.blocks[b].end; ++n) {
          if (function.body[n].opcode == Opcode::call) {
            changed |= call(f, n);
            continue;
          }
          changed |= set_registers(f, function.body[n], result(f, n));
          changed |= write_memory(f, n);
        }
      for (std::size_t v = function.parameter_count;
           v < function.parameter_count + std::size_t{function.result_count} && v < s.variables.size(); ++v) {
        changed |= set(s.results, s.variables[v]);
        for (std::size_t r = 0; r < function.registers.size(); ++r)
          if (function.registers[r].name == function.variables[v].name) changed |= set(s.results, s.registers[r]);
      }
    }
    return changed;
  }

  std::optional<DataDependence> look_at(std::uint32_t f, std::uint32_t n) const {
    const Instruction& i = module_.functions[f].body[n];
    const auto found = [&](DataDependence::Kind kind, const Place& p) {
      return DataDependence{kind, f, n, p.function, p.instruction};
    };
    using Kind = DataDependence::Kind;
    if (i.guard && states_[f].registers[i.guard.reg])
      return found(i.opcode == Opcode::bra ? Kind::branch : Kind::guard, states_[f].registers[i.guard.reg]);
    if (i.opcode == Opcode::call && !i.operands.empty() && i.operands[0].kind != OperandKind::function)
      return found(Kind::callee, {f, n});
    const SiteKind site = ptx::info(i.opcode).site;
    if (site == SiteKind::matrix) return std::nullopt;  // whatever their operands are, they cost the same
    const bool all = is_copy(site) || i.opcode == Opcode::brx_idx || i.opcode == Opcode::bar ||
                     i.opcode == Opcode::barrier || i.opcode == Opcode::alloca;
    for (std::size_t k = destination_operands(i); k < i.operands.size(); ++k) {
      const Operand& o = i.operands[k];
      if (o.kind != OperandKind::address && !all) continue;
      if (const Place p = of_operand(f, n, o))
        return found(o.kind == OperandKind::address ? Kind::address
                     : i.opcode == Opcode::brx_idx  ? Kind::branch
                                                    : Kind::operand,
                     p);
    }
    return std::nullopt;
  }

  const ptx::Module& module_;
  const Known known_;
  const std::uint32_t parameter_;
  std::vector<State> states_;           // by function
  std::vector<std::uint32_t> reached_;  // the kernel, and functions that it calls
  Place shared_, local_;                // the first write of a value that is not known
};

}  // namespace

std::optional<DataDependence> find_data_dependence(const ptx::Module& module, std::uint32_t kernel) {
  return DataFlow(module, kernel, DataFlow::Known::special_registers).find();
}

std::vector<bool> deciding_parameters(const ptx::Module& module, std::uint32_t kernel) {
  std::vector<bool> out(module.functions[kernel].parameter_count);
  for (std::uint32_t p = 0; p < out.size(); ++p)
    out[p] = DataFlow(module, kernel, DataFlow::Known::all_but_one, p).find().has_value();
  return out;
}

Rounds rounds_of_loops(const ptx::Module& module, std::uint32_t kernel) {
  if (!DataFlow(module, kernel, DataFlow::Known::launch).rounds_depend(false)) return Rounds::equal;
  const bool asked = DataFlow(module, kernel, DataFlow::Known::all_but_others).rounds_depend(true);
  return asked ? Rounds::asked : Rounds::differ;
}

}  // namespace warpgrind::flow
