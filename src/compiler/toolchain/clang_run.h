// One call of clang from within another program's process. The process's signal handlers, threads and other children
// stay untouched, and clang does not inherit its loader variables (LD_PRELOAD, LD_LIBRARY_PATH).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

enum class ClangEnd : std::uint8_t { good, failed, cancelled };

// `messages`: file for clang's stderr. `cancelled`: called from time to time while clang runs; empty: never.
Result<ClangEnd> run_clang(const std::vector<std::string>& command, const std::string& messages,
                           const std::function<bool()>& cancelled);

}  // namespace warpgrind::toolchain
