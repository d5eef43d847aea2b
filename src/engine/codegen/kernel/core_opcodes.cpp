// Lowerings of the opcodes that need a part of the core, not a family: memory, calls, block ends.
#include "base/assert.h"
#include "codegen/kernel/function_lowering.h"

namespace warpgrind::jit {

using ptx::Opcode;

namespace {

FunctionLowering& core(Lowering& l) {
  return static_cast<FunctionLowering&>(l);
}

}  // namespace

void lower_ld(Lowering& l) {
  core(l).memory().load();
}

void lower_st(Lowering& l) {
  core(l).memory().store();
}

void lower_call(Lowering& l) {
  core(l).calls().lower();
}

void lower_terminator(Lowering&) {
  WG_ASSERT(!"such instructions end their block: Branches");
}

}  // namespace warpgrind::jit
