// Memory and events shared with other processes through handles (cudaIpc*).
#include "runtime/call.h"
#include "semantics/shared_events.h"
#include "semantics/shared_memory.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return api([&] { return ipc_get_memory_handle(handle, pointer); });
}
WG_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return api([&] { return ipc_open_memory_handle(pointer, handle, flags); });
}
WG_API cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return api([&] { return ipc_close_memory_handle(pointer); });
}
WG_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return api([&] { return ipc_get_event_handle(handle, event); });
}
WG_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return api([&] { return ipc_open_event_handle(event, handle); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
