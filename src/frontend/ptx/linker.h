// Linker of several PTX modules (-rdc=true: one for each object file) into one.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::ptx {

// Resolves .extern declarations by .visible, .weak and .common definitions of other modules. The first of several weak
// definitions is used. A strong definition replaces weak and common ones. Two strong ones are an error. Undefined names
// stay declarations: built-in functions such as vprintf, and others that are reported when a kernel that needs them is
// launched. Texts and file tables are concatenated, and all line numbers are adjusted.
Result<std::shared_ptr<Module>> link(const std::vector<std::shared_ptr<Module>>& modules);

}  // namespace warpgrind::ptx
