#include "codegen/kernel/stack_parameters.h"

#include <llvm/IR/Constants.h>

namespace warpgrind::jit {

using ptx::Operand;
using ptx::OperandKind;

// The device makes the copy and checks it like any access. It is not counted, because no instruction makes it.
void StackParameters::move(const char* function, const StackParameter& parameter) {
  f_.stand_at(parameter.instruction);
  Operand variable;
  variable.kind = OperandKind::variable;
  variable.scope = ptx::Scope::function;
  variable.index = parameter.variable;
  llvm::IRBuilder<>& ir = f_.ir();
  const std::uint64_t words = (f_.function.variables[parameter.variable].size + 3) / 4;
  f_.call(function, ir.getVoidTy(),
          {f_.context_argument, sites_.number(), f_.llvm_function->getArg(1), variables_.address(variable),
           parameters_.planes(parameter.variable), ir.getInt32(static_cast<std::uint32_t>(words))});
}

void StackParameters::enter() {
  for (const StackParameter& p : all_)
    if (p.variable < f_.function.parameter_count) move("wg_put_on_stack", p);
}

void StackParameters::leave() {
  for (const StackParameter& p : all_)
    if (p.variable >= f_.function.parameter_count) move("wg_take_from_stack", p);
}

}  // namespace warpgrind::jit
