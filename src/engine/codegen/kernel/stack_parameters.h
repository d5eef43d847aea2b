// Code at the start and the end of a function that moves its parameters on the stack
// (jit/parameters_on_stack.h).
#pragma once

#include <vector>

#include "codegen/kernel/parameters.h"
#include "codegen/kernel/sites.h"
#include "codegen/kernel/variables.h"
#include "jit/parameters_on_stack.h"

namespace warpgrind::jit {

class StackParameters {
 public:
  StackParameters(FunctionContext& context, Variables& variables, Sites& sites, Parameters& parameters)
      : f_(context),
        variables_(variables),
        sites_(sites),
        parameters_(parameters),
        all_(stack_parameters(context.function)) {}
  void enter();  // copies the caller's arguments to the stack
  void leave();  // copies results on the stack to the caller

 private:
  void move(const char* function, const StackParameter& parameter);

  FunctionContext& f_;
  Variables& variables_;
  Sites& sites_;
  Parameters& parameters_;
  const std::vector<StackParameter> all_;
};

}  // namespace warpgrind::jit
