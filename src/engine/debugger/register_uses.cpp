#include "debugger/register_uses.h"

#include <algorithm>

#include "flow/cfg.h"
#include "flow/forms.h"

namespace warpgrind::debugger {

namespace {

using debuginfo::InRegister;
using debuginfo::Location;

constexpr ptx::RegId kNowhere = ptx::kNoId;

ptx::RegId register_in(const Location& location) {
  const auto* in = std::get_if<InRegister>(&location);
  return in ? in->reg : kNowhere;
}

// The register that `mov` copies; kNowhere: it is no such instruction.
ptx::RegId copied_by(const ptx::Instruction& i) {
  const bool copies = i.opcode == ptx::Opcode::mov && i.operands.size() == 2 &&
                      i.operands[0].kind == ptx::OperandKind::reg && i.operands[1].kind == ptx::OperandKind::reg;
  return copies ? i.operands[1].index : kNowhere;
}

class VariableUses {
 public:
  VariableUses(const ptx::Function& function, const debuginfo::Variable& variable)
      : function_(function), variable_(variable), holds_(function.registers.size()) {
    find_registers();
    if (is_anywhere_) find_joins();
  }

  RegisterUses find() const {
    RegisterUses out;
    if (!is_anywhere_) return out;
    const flow::ControlFlow cfg = flow::build_control_flow(function_);
    std::vector<ptx::RegId> regs;
    for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
      const ptx::Instruction& i = function_.body[n];
      flow::registers_written(i, regs);
      const ptx::RegId from = copied_by(i);
      if (from == kNowhere || !holds(from)) {
        for (const ptx::RegId r : regs)
          if (holds(r) && becomes_place(cfg, n, r)) out.writes.push_back({n, r});
      } else if (!regs.empty() && holds(regs[0])) {
        continue;  // the variable moves
      }
      const ptx::RegId here = register_in(location_at(variable_, n));
      if (here == kNowhere) continue;
      flow::registers_read(i, regs);
      if (std::find(regs.begin(), regs.end(), here) != regs.end()) out.reads.push_back({n, here});
    }
    return out;
  }

 private:
  bool holds(ptx::RegId r) const { return r < holds_.size() && holds_[r]; }

  void find_registers() {
    const auto add = [this](const Location& location) {
      const ptx::RegId r = register_in(location);
      if (r >= holds_.size()) return;
      holds_[r] = is_anywhere_ = true;
    };
    add(variable_.location);
    for (const auto& range : variable_.ranges) add(range.location);
  }

  // The register in which the ways into a loop meet has no name in the debug information. All its writers copy the
  // variable, and it is copied back.
  void find_joins() {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<bool> returns(holds_.size()), other(holds_.size());
      std::vector<ptx::RegId> regs;
      for (const ptx::Instruction& i : function_.body) {
        flow::registers_written(i, regs);
        const ptx::RegId from = copied_by(i);
        if (from < holds_.size() && holds(regs[0])) returns[from] = true;
        for (const ptx::RegId r : regs)
          if (r < holds_.size() && (from == kNowhere || !holds(from))) other[r] = true;
      }
      for (std::size_t r = 0; r < holds_.size(); ++r) {
        if (holds_[r] || !returns[r] || other[r]) continue;
        holds_[r] = changed = true;
      }
    }
  }

  // The variable is in the register behind the instruction, at once or later in its block, or where the block leads to.
  bool becomes_place(const flow::ControlFlow& cfg, std::uint32_t n, ptx::RegId reg) const {
    const flow::BasicBlock& block = cfg.blocks[cfg.block_of[n]];
    std::vector<ptx::RegId> regs;
    for (std::uint32_t next = n + 1; next < block.end; ++next) {
      if (register_in(location_at(variable_, next)) == reg) return true;
      flow::registers_written(function_.body[next], regs);
      if (std::find(regs.begin(), regs.end(), reg) != regs.end()) return false;
    }
    return std::any_of(block.successors.begin(), block.successors.end(), [&](std::uint32_t b) {
      return b != cfg.exit() && register_in(location_at(variable_, cfg.blocks[b].first)) == reg;
    });
  }

  const ptx::Function& function_;
  const debuginfo::Variable& variable_;
  std::vector<bool> holds_;  // by register: the variable is in it somewhere
  bool is_anywhere_ = false;
};

}  // namespace

RegisterUses uses_of_register(const ptx::Function& function, ptx::RegId reg) {
  RegisterUses out;
  std::vector<ptx::RegId> regs;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    flow::registers_written(function.body[n], regs);
    if (std::find(regs.begin(), regs.end(), reg) != regs.end()) out.writes.push_back({n, reg});
    flow::registers_read(function.body[n], regs);
    if (std::find(regs.begin(), regs.end(), reg) != regs.end()) out.reads.push_back({n, reg});
  }
  return out;
}

RegisterUses uses_of_variable(const ptx::Function& function, const debuginfo::Variable& variable) {
  return VariableUses(function, variable).find();
}

}  // namespace warpgrind::debugger
