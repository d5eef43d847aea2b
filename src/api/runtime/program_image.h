// Minimal ELF reader for the start of a process: whether a file has CUDA code, and the location of its copy of the CUDA
// runtime. Small, since the preload library inspects every process of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/elf_image.h"

namespace warpgrind::runtime {

struct LoadedObject {
  std::string path;
  std::uintptr_t base = 0;  // load address minus the file's addresses
  bool is_executable = false;
};
std::vector<LoadedObject> loaded_objects();

// Loaded objects of the process that are new since the last call, so that each library is inspected only once. After
// any library was closed, all objects count as new, since another one may lie at the same address.
class NewObjects {
 public:
  std::vector<LoadedObject> operator()();

 private:
  std::vector<LoadedObject> known_;  // by path
  unsigned long long closed_ = 0;    // how many objects had been closed
};

class ProgramImage {
 public:
  ProgramImage() = default;
  ~ProgramImage();
  ProgramImage(const ProgramImage&) = delete;
  ProgramImage& operator=(const ProgramImage&) = delete;

  bool open(const std::string& path);  // false: not a 64-bit ELF file with sections that can be read
  bool has_cuda_code() const;          // true: it has a section with fatbins or their wrappers
  bool has_symbol_table() const;
  // True if the file defines the functions of the CUDA runtime, with or without CUDA code of its own (bindings for
  // other languages have none). Always false for an object without a symbol table.
  bool has_static_runtime() const;
  bool needs_shared_runtime() const;  // DT_NEEDED libcudart.so.*

  struct Function {
    std::string name;
    std::uint64_t value = 0;  // address in the file
    std::uint64_t room = 0;   // bytes up to its end, with padding
  };
  // Functions named cuda* and __cuda* that the file defines, if __cudaRegisterFatBinary is one of them.
  std::vector<Function> runtime_functions() const;
  // CUDA release of these functions: 11, 12, 13 (or later), or 10 for all before 11. Inferred from functions that CUDA
  // added or removed, since the file does not name its release.
  static int runtime_release(const std::vector<Function>& functions);
  bool defines(std::string_view function) const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<fatbin::ElfImage> elf_;
};

}  // namespace warpgrind::runtime
