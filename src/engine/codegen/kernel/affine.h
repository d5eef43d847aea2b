// Value that is affine over the lanes: b + kx*X + ky*Y in 32 bits. If wide, a 64-bit value base + scale * extension of
// that (flow/forms.h).
#pragma once

#include <cstdint>

namespace llvm {
class Value;
}

namespace warpgrind::jit {

struct Affine {
  llvm::Value* b = nullptr;   // i32
  llvm::Value* kx = nullptr;  // i32
  llvm::Value* ky = nullptr;
  llvm::Value* base = nullptr;  // i64, wide only
  std::int64_t scale = 1;
  bool is_signed = false, wide = false;
  bool carries_lanes = false;  // wide: more than a uniform base
};

}  // namespace warpgrind::jit
