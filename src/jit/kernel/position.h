// Where the lowering of a function stands.
#pragma once

#include "ptx/ast.h"

namespace llvm {
class Value;
}

namespace warpgrind::jit {

struct Position {
  const ptx::Instruction* instruction = nullptr;
  std::uint32_t index = 0;          // of the instruction in its function
  std::uint32_t block = 0;          // of flow::ControlFlow
  std::uint32_t site = ptx::kNoId;  // of the instruction, once somebody has asked for it (Sites)
  llvm::Value* guard = nullptr;     // lanes whose guard is on, as bits; null: no guard, or one for the whole warp
  bool scalar = false;              // the instruction works on scalars
};

}  // namespace warpgrind::jit
