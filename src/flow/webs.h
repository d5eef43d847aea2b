// Splits registers that are used for several unrelated values. ptxas-bound PTX reuses a register freely (a zero that
// starts an accumulator also starts a loop counter); register forms are found once a register, so unrelated values must
// not share one.
#pragma once

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

// Gives each web (definitions and uses that reach each other) a register of its own, of the same name and type. Very
// large functions are left as they are.
void split_webs(ptx::Function& function, const ControlFlow& cfg);

}  // namespace warpgrind::flow
