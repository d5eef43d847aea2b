// Code that moves what lies on the stack (jit/kernel/parameters_on_stack.h) at the begin and the end of a function.
#pragma once

#include <vector>

#include "jit/kernel/parameters.h"
#include "jit/kernel/parameters_on_stack.h"
#include "jit/kernel/sites.h"
#include "jit/kernel/variables.h"

namespace warpgrind::jit {

class StackParameters {
 public:
  StackParameters(FunctionContext& context, Variables& variables, Sites& sites, Parameters& parameters)
      : f_(context),
        variables_(variables),
        sites_(sites),
        parameters_(parameters),
        all_(stack_parameters(context.function)) {}
  void enter();  // what the caller passed goes onto the stack
  void leave();  // the results that lie there go to the caller

 private:
  void move(const char* function, const StackParameter& parameter);

  FunctionContext& f_;
  Variables& variables_;
  Sites& sites_;
  Parameters& parameters_;
  const std::vector<StackParameter> all_;
};

}  // namespace warpgrind::jit
