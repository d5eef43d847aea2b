// Implementation of jit/host_code.h with LLVM's disassembler and debug-information reader.
#pragma once

#include "jit/host_code.h"

namespace warpgrind::jit {

ResultUse read_result_use(const void* return_address);
std::vector<HostPlace> read_host_places(const void* return_address);

}  // namespace warpgrind::jit
