// Current position of the lowering in a function.
#pragma once

#include "ptx/ast.h"

namespace llvm {
class Value;
}

namespace warpgrind::jit {

struct Position {
  const ptx::Instruction* instruction = nullptr;
  std::uint32_t index = 0;          // of the instruction in its function
  std::uint32_t block = 0;          // index in flow::ControlFlow
  std::uint32_t site = ptx::kNoId;  // of the instruction, once Sites::number() was called
  llvm::Value* guard = nullptr;     // lanes whose guard is on, as i32; null: no guard, or a uniform one
  bool scalar = false;              // the instruction works on scalars
};

}  // namespace warpgrind::jit
