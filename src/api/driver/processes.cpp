// Memory and events shared with other processes through handles (cuIpc*).
#include <cstring>

#include "driver/addresses.h"
#include "driver/host_calls.h"
#include "semantics/shared_events.h"
#include "semantics/shared_memory.h"

namespace warpgrind::driver {

static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t));
static_assert(sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t));

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr memory) {
  return host_call([&] { return semantics::ipc_get_memory_handle(as<cudaIpcMemHandle_t>(handle), pointer(memory)); });
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const cudaError_t error = semantics::ipc_open_memory_handle(&memory, *as<cudaIpcMemHandle_t>(&handle), flags);
    if (error == cudaSuccess) *out = address(memory);
    return driver_error(error);
  });
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return cuIpcOpenMemHandle_v2(out, handle, flags);
}
CUresult cuIpcCloseMemHandle(CUdeviceptr memory) {
  return host_call([&] { return semantics::ipc_close_memory_handle(pointer(memory)); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return host_call([&] { return semantics::ipc_get_event_handle(as<cudaIpcEventHandle_t>(handle), event); });
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return host_call([&] { return semantics::ipc_open_event_handle(event, *as<cudaIpcEventHandle_t>(&handle)); });
}

}  // namespace warpgrind::driver
