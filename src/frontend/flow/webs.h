// Splitting of registers that hold several unrelated values. PTX for ptxas reuses registers freely: a zero that starts
// an accumulator also starts a loop counter. Each register has only one form (flow/forms.h), so unrelated values must
// not share one.
#pragma once

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

// Gives each web (definitions and uses that reach each other) its own register of the same name and type. Very large
// functions are not changed.
void split_webs(ptx::Function& function, const ControlFlow& cfg);

}  // namespace warpgrind::flow
