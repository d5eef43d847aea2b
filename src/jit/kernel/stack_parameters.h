// Parameters and results of a device function whose address it takes. PTX has them lie on the stack then: the address
// is one of local memory, and whoever has it reads and writes there (PTX ISA, "Device Function Parameters").
#pragma once

#include <vector>

#include "jit/kernel/parameters.h"
#include "jit/kernel/sites.h"
#include "jit/kernel/variables.h"

namespace warpgrind::jit {

struct StackParameter {
  std::uint32_t variable = 0;     // of the function
  std::uint32_t instruction = 0;  // the first that takes its address
};
std::vector<StackParameter> stack_parameters(const ptx::Function& function);

// Makes local accesses of those to parameters that lie on the stack: by name, and by any address in a register.
void access_on_stack(ptx::Function& function);

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
