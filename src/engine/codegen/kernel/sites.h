// Sites (events::Site): the instructions whose executions are observed and counted individually.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class Sites {
 public:
  explicit Sites(FunctionContext& context) : f_(context), parameters_(parameter_layout(context.function)) {}
  // Number of the current instruction's site, an i32 constant. The first call creates the site.
  llvm::ConstantInt* number();

 private:
  events::Site describe() const;
  std::vector<events::AddressOrigin> origins() const;
  std::optional<events::AddressOrigin> origin(const flow::AddressSource& source) const;

  FunctionContext& f_;
  const std::vector<ParameterLayout> parameters_;
};

}  // namespace warpgrind::jit
