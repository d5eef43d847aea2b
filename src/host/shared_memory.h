// Device memory of two processes. What one exports lies in a file without a name; a handle says where, and the other
// process maps it: at an address of its own, as memory of the same device. A handle is opened by way of /proc, while
// the exporting process lives, by the same user on the same machine. What the other process does to it no checker sees:
// exported and imported memory counts as written.
#pragma once

#include <optional>
#include <string>

#include "host/operation.h"

namespace warpgrind::host {

// What a handle of any kind begins with: a file of a process.
struct FileOfProcess {
  std::uint64_t kind = 0;  // of the handle; nobody else's bytes begin so
  std::int32_t process = 0, file = 0;
  std::uint64_t inode = 0;
};
FileOfProcess describe_file(std::uint64_t kind, int file);
// A descriptor of that file in this process; -1: there is none (any more).
int open_file(const FileOfProcess& of);

// The device that the name of a shareable file ends with ("pool of GPU 1"), if it begins with `what`.
std::string shareable_name(const std::string& what, int device);
std::optional<int> device_of_file(int file, const std::string& what);

// `bytes` of a file from `offset` on, mapped here as memory of a device. Mapped again it is counted, and the same.
struct Piece {
  int file = -1;  // stays the caller's
  std::uint64_t offset = 0, bytes = 0;
  int device = 0;
  bool of_pool = false;  // the importing process frees it like its own
};
cudaError_t import_piece(void** out, const Piece& piece);
// Its start; unmapped with the last of its imports. Waits for what may still use it. False: no import begins there.
bool release_import(void* pointer, bool of_pool);
void release_imports(int device);  // cudaDeviceReset

// Where an allocation lies for other processes; its pages become shared.
cudaError_t share_allocation(Piece& out, const Place& place);

// ---- As the APIs' functions of these names. Memory of cudaMalloc and its like, the whole allocation that a pointer is
// in: cudaErrorInvalidValue for all other memory. A process cannot open what is its own: cudaErrorDeviceUninitialized.
cudaError_t ipc_get_memory_handle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t ipc_open_memory_handle(void** out, const cudaIpcMemHandle_t& handle, unsigned flags);
cudaError_t ipc_close_memory_handle(void* pointer);
bool is_exportable(const Place& place);  // by such a handle

}  // namespace warpgrind::host
