// Arithmetic on affine and wide values. flow/transfer.cpp decides which results have these forms; this class builds
// them.
#pragma once

#include <optional>

#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

class AffineArithmetic {
 public:
  AffineArithmetic(FunctionContext& context, Registers& registers)
      : f_(context), ir_(context.ir()), registers_(registers) {}
  bool lower();  // lowers the current instruction; false: its result is not affine

 private:
  Affine operand(std::size_t index, unsigned width);
  Affine sum(const Affine& a, const Affine& b, bool minus);
  Affine scaled(Affine a, llvm::Value* by32, std::optional<std::int64_t> by);
  Affine product(bool widening);
  Affine multiply_add(unsigned width);
  Affine converted(unsigned width);
  Affine negated(Affine a);
  Affine address(unsigned width);
  std::optional<Affine> make(unsigned width);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  Registers& registers_;
};

}  // namespace warpgrind::jit
