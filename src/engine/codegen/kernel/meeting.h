// Result of a `.sync` operation: the lanes that execute it together, and their values.
#pragma once

namespace llvm {
class Value;
}

namespace warpgrind::jit {

struct Meeting {
  llvm::Value* value;         // the given value, with other lanes' values added; null if none was given
  llvm::Value* participants;  // i32, or <32 x i32> if lanes name different members
  bool uniform;               // participants is an i32
};

}  // namespace warpgrind::jit
