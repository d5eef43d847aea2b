// PTX of a program as linked modules, one for each binary in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fatbin/fatbin.h"
#include "ptx/ast.h"

namespace warpgrind::cli {

// An image without PTX is reported and left out, and sets *code to kUsageError.
Result<std::vector<std::shared_ptr<ptx::Module>>> read_modules(const std::vector<fatbin::FatbinEntry>& entries,
                                                               const std::string& path, int* code);

}  // namespace warpgrind::cli
