// Redirection of the static CUDA runtime. A program linked with it (nvcc's default) contains its own copy of every
// cuda* function. The copy's symbols are still in the file, so the start of each function is overwritten with a jump to
// ours.
#pragma once

namespace warpgrind::runtime {

// Redirects the executable and every shared library that is loaded now. If a function cannot be redirected (no symbol
// table, code that must not be changed), the process prints advice and ends with exit code 2.
void redirect_static_runtimes();

}  // namespace warpgrind::runtime
