// Valid handles of cuBLASLt: its own and those of cuBLAS, since a cublasHandle_t can be used as a cublasLtHandle_t.
#pragma once

#include <cublasLt.h>

namespace warpgrind::libraries::blaslt {

bool is_handle(cublasLtHandle_t handle);

}  // namespace warpgrind::libraries::blaslt

extern "C" {
#pragma GCC visibility push(default)
// libcublas registers its handles here when it creates them, and removes them when it destroys them.
void warpgrind_cublaslt_add(void* handle);
void warpgrind_cublaslt_remove(void* handle);
#pragma GCC visibility pop
}
