#include "jit/parameters_on_stack.h"

#include <algorithm>

namespace warpgrind::jit {

using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool names_parameter(const ptx::Function& f, const Operand& o) {
  return o.scope == ptx::Scope::function && o.index < f.parameter_count + f.result_count &&
         f.variables[o.index].space == StateSpace::param;
}

// True if .param means the function's own parameters. In a kernel, or with ::entry, it means the kernel's.
bool of_function(const ptx::Function& f, const ptx::Instruction& i) {
  return !f.is_entry && !i.has(ptx::Modifier::param_entry);
}

}  // namespace

std::vector<StackParameter> stack_parameters(const ptx::Function& function) {
  std::vector<StackParameter> out;
  if (function.is_entry) return out;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    for (const Operand& o : function.body[n].operands) {
      if (o.kind != OperandKind::variable || !names_parameter(function, o)) continue;
      const auto same = [&](const StackParameter& p) { return p.variable == o.index; };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back({o.index, n});
    }
  }
  return out;
}

void access_on_stack(ptx::Function& function) {
  const std::vector<StackParameter> on_stack = stack_parameters(function);
  for (ptx::Instruction& i : function.body) {
    if (i.space != StateSpace::param || !of_function(function, i)) continue;
    if (i.opcode != Opcode::ld && i.opcode != Opcode::st && i.opcode != Opcode::cvta) continue;
    const Operand& address = i.operands[i.opcode == Opcode::st ? 0 : 1];
    const bool by_name = address.base == OperandKind::variable || address.kind == OperandKind::variable;
    const auto same = [&](const StackParameter& p) { return p.variable == address.index; };
    const bool stacked = by_name
                             ? names_parameter(function, address) && std::any_of(on_stack.begin(), on_stack.end(), same)
                             : i.opcode != Opcode::cvta && address.base == OperandKind::reg;
    if (stacked) i.space = StateSpace::local;
  }
}

}  // namespace warpgrind::jit
