// Calls of device functions. The signature of each is `void f(WarpContext*, i32 mask, i32* arguments, i32* results)`.
#pragma once

#include <optional>
#include <string_view>

#include "codegen/kernel/divergence.h"
#include "codegen/kernel/parameters.h"
#include "codegen/kernel/signatures.h"

namespace warpgrind::jit {

class Calls {
 public:
  Calls(FunctionContext& context, LaneMasks& masks, Registers& registers, Sites& sites, Parameters& parameters,
        Divergence& divergence)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        registers_(registers),
        sites_(sites),
        parameters_(parameters),
        divergence_(divergence) {}
  void lower();  // the current instruction

 private:
  std::optional<Signature> callee_signature();
  void call_each(llvm::Value* functions, const Signature& signature, llvm::Value* mask, llvm::Value* arguments,
                 llvm::Value* results);
  void call(std::uint32_t callee, llvm::Value* mask, llvm::Value* arguments, llvm::Value* results);
  void after_call(llvm::Value* exited_before);
  void refuse_undefined(std::string_view function);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Sites& sites_;
  Parameters& parameters_;
  Divergence& divergence_;
};

}  // namespace warpgrind::jit
