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
// with it is in `messages`.
cudaError_t load_image(LibraryHandle** out, const void* image, int device, std::string& messages);
cudaError_t load_file(LibraryHandle** out, const char* path, int device, std::string& messages);
// Waits for the devices. Handles of its kernels are none any more.
cudaError_t unload(LibraryHandle* handle);

cudaError_t library_kernel(LibraryHandle& handle, const char* name, KernelHandle** out);  // cudaErrorSymbolNotFound
// Of all entries, in their order.
cudaError_t library_kernel_count(LibraryHandle& handle, unsigned* count);
cudaError_t library_kernels(LibraryHandle& handle, KernelHandle** out, unsigned room);
cudaError_t library_global(LibraryHandle& handle, int device, const char* name, DeviceVariable& out);

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
