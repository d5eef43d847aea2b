// jit/host_code.h by LLVM's disassembler and its reader of debug information.
#pragma once

#include "jit/host_code.h"

namespace warpgrind::jit {

ResultUse read_result_use(const void* return_address);
std::vector<HostPlace> read_host_places(const void* return_address);

}  // namespace warpgrind::jit
