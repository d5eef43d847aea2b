// Where a kernel can be stopped by a debugger.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class StopAt : std::uint8_t { nowhere, lines, instructions };

}  // namespace warpgrind::jit
