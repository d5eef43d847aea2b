// Code that a program loads while it runs: modules and libraries, their kernels and variables, and linking.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "ptx/types.h"
#include "semantics/objects.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

// A library or module. Each kernel handle is created at its first lookup.
struct LibraryHandle {
  session::Program* program = nullptr;
  int device = -1;  // of a module: the device of its context; -1: a library, which is for all devices
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<KernelHandle>> kernels;
};
bool is_library(const LibraryHandle* handle);

// Options of the just-in-time compiler, as pairs of a number (CUjit_option; cudaJitOption has the same) and a value.
// Only options about messages have an effect; the others concern machine code, which is not generated here.
class JitOptions {
 public:
  JitOptions() = default;
  JitOptions(unsigned count, const int* options, void** values);
  // Copies the messages into the program's buffers, cut to their sizes, and stores their lengths in the values.
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

// Load an image from memory (fatbin::read_image), also a linked one, or from a file. The code is parsed at once; its
// errors go into the message buffers of the options. device: as in LibraryHandle.
cudaError_t load_image(LibraryHandle** out, const void* image, int device, const JitOptions& options);
cudaError_t load_file(LibraryHandle** out, const char* path, int device, const JitOptions& options);
// Waits for the devices. The handles of the library's kernels become invalid.
cudaError_t unload(LibraryHandle* handle);

cudaError_t library_kernel(LibraryHandle& handle, const char* name, KernelHandle** out);  // cudaErrorSymbolNotFound
// Kernels: all entries, in their order in the code.
cudaError_t library_kernel_count(LibraryHandle& handle, unsigned* count);
cudaError_t library_kernels(LibraryHandle& handle, KernelHandle** out, unsigned room);
// Address and size of a variable; each pointer may be null. The variable is that of the module's device, for a library
// that of the calling thread's device. An invalid handle: cudaErrorInvalidResourceHandle.
cudaError_t library_global(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes);
// The same for a managed variable; other variables are not found (cudaErrorSymbolNotFound).
cudaError_t library_managed(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes);
// Value of the .texref or .surfref variable of that name (address and type bit), by which kernels use it. type: its PTX
// type.
cudaError_t library_reference(LibraryHandle& handle, int device, const char* name, ptx::ScalarType type,
                              std::uint64_t& out);

// State of a linker invocation (cuLinkCreate): pieces of PTX that become one image.
struct LinkState {
  JitOptions options;
  std::vector<fatbin::FatbinEntry> entries;
  std::string image;  // result of the last completion: a fatbin
};
// Adds a piece with all its PTX.
cudaError_t add_to_link(LinkState& state, Result<std::vector<fatbin::FatbinEntry>> piece, std::string& messages);
cudaError_t complete_link(LinkState& state, std::string& messages);

}  // namespace warpgrind::semantics
