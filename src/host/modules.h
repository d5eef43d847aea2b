// Code that a program loads while it runs: modules and libraries, their kernels and variables, and linking.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "host/objects.h"
#include "host/state.h"
#include "ptx/types.h"

namespace warpgrind::host {

// Kernels are made when they are asked for, once each.
struct LibraryHandle {
  session::Program* program = nullptr;
  int device = -1;  // of a module: that of the context it was loaded in; -1: a library, which is for all
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<KernelHandle>> kernels;
};
bool is_library(const LibraryHandle* handle);

// Options of the just-in-time compiler, as pairs of a number (CUjit_option; cudaJitOption has the same) and a value.
// Those that ask for messages are followed; the others choose between machine codes, of which there are none here.
class JitOptions {
 public:
  JitOptions() = default;
  JitOptions(unsigned count, const int* options, void** values);
  // Puts the messages into the program's buffers, cut to their sizes, and says in the values how long they are.
  void give(const std::string& errors, const std::string& info) const;

 private:
  struct Buffer {
    char* text = nullptr;
    void** size = nullptr;
    std::size_t room = 0;
  };
  static void fill(const Buffer& buffer, const std::string& text);
  Buffer info_, errors_;
};

// From an image in memory (fatbin::read_image), a file, or what was linked. The code is parsed at once: what is wrong
// with it goes into the buffers that the options name. device: as LibraryHandle's.
cudaError_t load_image(LibraryHandle** out, const void* image, int device, const JitOptions& options);
cudaError_t load_file(LibraryHandle** out, const char* path, int device, const JitOptions& options);
// Waits for the devices. Handles of its kernels are none any more.
cudaError_t unload(LibraryHandle* handle);

cudaError_t library_kernel(LibraryHandle& handle, const char* name, KernelHandle** out);  // cudaErrorSymbolNotFound
// Of all entries, in their order.
cudaError_t library_kernel_count(LibraryHandle& handle, unsigned* count);
cudaError_t library_kernels(LibraryHandle& handle, KernelHandle** out, unsigned room);
// A variable's address and size, each null where it is not asked for: on the module's device, a library's on that of
// the calling thread. No library: cudaErrorInvalidResourceHandle.
cudaError_t library_global(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes);
// Likewise of a variable of managed memory: one of another kind is none (cudaErrorSymbolNotFound).
cudaError_t library_managed(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes);
// The variable of a .texref or .surfref of that name: its address is what kernels use it by. The type is theirs.
cudaError_t library_reference(LibraryHandle& handle, int device, const char* name, ptx::ScalarType type,
                              std::uint64_t& out);

// What cuLinkCreate begins: pieces of PTX that become one image.
struct LinkState {
  JitOptions options;
  std::vector<fatbin::FatbinEntry> entries;
  std::string image;  // of the last completion: a fatbin
};
// One more piece, all of whose PTX takes part. name: for messages.
cudaError_t add_to_link(LinkState& state, Result<std::vector<fatbin::FatbinEntry>> piece, std::string& messages);
cudaError_t complete_link(LinkState& state, std::string& messages);

}  // namespace warpgrind::host
