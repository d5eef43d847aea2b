// Parser of PTX text into a syntax tree.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::ptx {

// Reads the whole grammar of PTX ISA 9.x. Messages call the text `name`. An error's detail holds the first 20
// diagnostics with line, column and caret.
Result<std::shared_ptr<Module>> parse(std::string text, std::string name);

}  // namespace warpgrind::ptx
