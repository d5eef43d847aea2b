// Device memory that several processes share. Exported memory lies in an unnamed file, and a handle gives its place.
// The other process maps it at its own address, as memory of the same device. It opens the file through /proc, which
// needs the same user, the same machine, and a live exporting process. Checkers do not see accesses of the other
// process, so exported and imported memory counts as written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "semantics/operation.h"

namespace warpgrind::semantics {

// First part of every handle: a file of a process.
struct FileOfProcess {
  std::uint64_t kind = 0;  // magic number of the kind of handle
  std::int32_t process = 0, file = 0;
  std::uint64_t inode = 0;
};
FileOfProcess describe_file(std::uint64_t kind, int file);
// A descriptor of that file in this process; -1: it does not exist, or no longer.
int open_file(const FileOfProcess& of);

// Name of a shareable file ("pool of GPU 1"), and the device at its end if the name begins with `what`.
std::string shareable_name(std::string_view what, int device);
std::optional<int> device_of_file(int file, std::string_view what);

// `bytes` of a file from `offset` on, mapped as memory of a device. Further imports give the same mapping and count it.
struct Piece {
  int file = -1;  // the caller keeps ownership
  std::uint64_t offset = 0, bytes = 0;
  int device = 0;
  bool of_pool = false;  // memory of a pool: the importing process frees it like its own
};
cudaError_t import_piece(void** out, const Piece& piece);
// pointer: start of the import. The last release unmaps it, after work that may still use it. False: no import begins
// there.
bool release_import(void* pointer, bool of_pool);
void release_imports(int device);  // cudaDeviceReset

// The file and offset of an allocation, for other processes; its pages become shared.
cudaError_t share_allocation(Piece& out, const Place& place);

// ---- The APIs' functions of the same names. They share the whole allocation that holds the pointer. It must be memory
// of cudaMalloc etc., else cudaErrorInvalidValue. A process cannot open its own memory: cudaErrorDeviceUninitialized.
cudaError_t ipc_get_memory_handle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t ipc_open_memory_handle(void** out, const cudaIpcMemHandle_t& handle, unsigned flags);
cudaError_t ipc_close_memory_handle(void* pointer);
bool is_exportable(const Place& place);  // by an IPC handle

}  // namespace warpgrind::semantics
