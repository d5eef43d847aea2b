// What the code around a `.sync` operation of a warp says about lanes that are not there.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::checkers {

// Can lanes pass the instruction by, and do something before they leave the kernel that others see (a store, an atomic,
// another synchronisation, a call)? False: lanes that do not come to it return early.
bool can_be_passed_by(const ptx::Function& function, std::uint32_t instruction);

// Does every thread that executes the instruction use its first result, whatever way it takes from there: store it,
// branch on it, make an address of it? False also where it depends: a use behind a condition, a select or a guard may
// be one that throws the value away.
bool result_is_used(const ptx::Function& function, std::uint32_t instruction);

// The body of the function, null where the module has none of that name.
const ptx::Function* find_body(const ptx::Module& module, const std::string& name);

}  // namespace warpgrind::checkers
