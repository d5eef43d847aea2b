// Sites: the instructions whose executions are watched and counted one by one (events::Site).
#pragma once

#include "jit/kernel/function_context.h"

namespace warpgrind::jit {

class Sites {
 public:
  explicit Sites(FunctionContext& context) : f_(context) {}
  // The current instruction's, as i32 constant; made when somebody asks for it.
  llvm::ConstantInt* number();

 private:
  events::Site describe() const;

  FunctionContext& f_;
};

}  // namespace warpgrind::jit
