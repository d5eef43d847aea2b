// Programs linked with the static CUDA runtime (nvcc's default) carry their own copy of every cuda* function. Its
// symbols are still there, so each of these functions gets a jump to ours at its start.
#pragma once

namespace warpgrind::cudart {

// For the executable and every shared library that is loaded now. Where something cannot be redirected (no symbol
// table, code that may not be changed) the process ends with exit code 2 and says what to do.
void redirect_static_runtimes();

}  // namespace warpgrind::cudart
