// Several PTX modules (-rdc=true: one an object file) -> one.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::ptx {

// Resolves .extern declarations against .visible, .weak and .common definitions of the other modules. Of several weak
// definitions the first stays, a strong one wins over weak and common ones; two strong ones are an error. What stays
// undefined stays a declaration (built-in functions such as vprintf; the rest is reported when a kernel that needs it
// is launched). Texts are joined one after the other and all line numbers follow; file tables are joined as well.
Result<std::shared_ptr<Module>> link(const std::vector<std::shared_ptr<Module>>& modules);

}  // namespace warpgrind::ptx
