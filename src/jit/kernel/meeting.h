// The lanes that execute a `.sync` operation together, and what each of them brought.
#pragma once

namespace llvm {
class Value;
}

namespace warpgrind::jit {

struct Meeting {
  llvm::Value* value;         // as given, with other lanes' values; null where none was given
  llvm::Value* participants;  // i32, or <32 x i32> where lanes name different members
  bool uniform;               // the former
};

}  // namespace warpgrind::jit
