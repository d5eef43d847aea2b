// Linker of several PTX modules (-rdc=true: one for each object file) into one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::ptx {

// Resolves .extern declarations by .visible, .weak and .common definitions of other modules. The first of several weak
// definitions is used. A strong definition replaces weak and common ones. Two strong ones are an error. Undefined names
// stay declarations: built-in functions such as vprintf, and others that are reported when a kernel that needs them is
// launched. Texts and file tables are concatenated, and all line numbers are adjusted.
Result<std::shared_ptr<Module>> link(const std::vector<std::shared_ptr<Module>>& modules);

// Several modules' texts as one, to be linked when they are loaded. link() keeps their debug information, which print()
// of a linked module leaves out.
std::string join_texts(const std::vector<std::shared_ptr<Module>>& modules);
// The texts of such a text: each `.version` behind the first begins one. Numba joins its modules this way, too.
std::vector<std::string> split_texts(std::string text);

}  // namespace warpgrind::ptx
