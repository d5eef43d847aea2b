// Lane addresses of a memory operand, in the same form as its register.
#pragma once

#include <optional>

#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

struct Address {
  enum class Kind { uniform, affine, varying } kind = Kind::uniform;
  StateSpace space = StateSpace::none;  // shared: offsets in the block's own memory; that of others lies around it
  llvm::Value* base = nullptr;          // i64: lane 0's address (uniform: the address)
  llvm::Value* kx = nullptr;            // i64
  llvm::Value* ky = nullptr;
  std::optional<std::int64_t> constant_kx, constant_ky;
  llvm::Value* exact = nullptr;   // i1: the affine form is right for all lanes; null: always
  llvm::Value* vector = nullptr;  // <32 x i64>, made on demand
  const ptx::Operand* operand = nullptr;
};

class Addresses {
 public:
  Addresses(FunctionContext& context, Registers& registers, Variables& variables)
      : f_(context), ir_(context.ir()), registers_(registers), variables_(variables) {}
  Address of(const ptx::Operand& operand, StateSpace space);
  llvm::Value* lanes(Address& address);  // <32 x i64>
  llvm::Value* area();                   // memory in which calls receive lanes()

 private:
  llvm::Value* no_wrap(const Affine& a);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  Registers& registers_;
  Variables& variables_;
  llvm::AllocaInst* area_ = nullptr;
};

}  // namespace warpgrind::jit
