// Sites: the instructions whose executions are watched and counted one by one (events::Site).
#pragma once

#include <optional>
#include <vector>

#include "jit/kernel/function_context.h"

namespace warpgrind::jit {

class Sites {
 public:
  explicit Sites(FunctionContext& context) : f_(context), parameters_(parameter_layout(context.function)) {}
  // The current instruction's, as i32 constant; made when somebody asks for it.
  llvm::ConstantInt* number();

 private:
  events::Site describe() const;
  std::vector<events::AddressOrigin> origins() const;
  std::optional<events::AddressOrigin> origin(const flow::AddressSource& source) const;

  FunctionContext& f_;
  const std::vector<ParameterLayout> parameters_;
};

}  // namespace warpgrind::jit
