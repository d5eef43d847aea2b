// One call of clang from within somebody else's process: its signal handlers, its threads and its other children are
// left alone, and what the loader was told for it (LD_PRELOAD, LD_LIBRARY_PATH) is not clang's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::nvrtc {

enum class ClangEnd : std::uint8_t { good, failed, cancelled };

// messages: the file that its stderr goes to. cancelled: asked now and then while it runs; empty: never.
Result<ClangEnd> run_clang(const std::vector<std::string>& command, const std::string& messages,
                           const std::function<bool()>& cancelled);

}  // namespace warpgrind::nvrtc
