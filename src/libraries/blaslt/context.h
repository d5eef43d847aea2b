// Handles of cuBLASLt: its own, and those of cuBLAS, each of which contains one.
#pragma once

#include <cublasLt.h>

namespace warpgrind::libraries::blaslt {

bool is_handle(cublasLtHandle_t handle);

}  // namespace warpgrind::libraries::blaslt

extern "C" {
#pragma GCC visibility push(default)
// libcublas says which of its handles exist.
void warpgrind_cublaslt_add(void* handle);
void warpgrind_cublaslt_remove(void* handle);
#pragma GCC visibility pop
}
