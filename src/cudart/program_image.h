// The little that the start of a process needs to know of an ELF file: whether it has CUDA code, and where its copy of
// the CUDA runtime is. Small, since the preload library looks at every process that a run starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/elf_image.h"

namespace warpgrind::cudart {

struct LoadedObject {
  std::string path;
  std::uintptr_t base = 0;  // what is added to the file's addresses
  bool is_executable = false;
};
std::vector<LoadedObject> loaded_objects();

// The objects of a process that were not there when it was last asked: a program that opens many libraries has each
// looked at once. After something was closed all of them are new, since another object may lie at the same place.
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
  bool has_cuda_code() const;          // a section with fatbin wrappers
  bool has_symbol_table() const;
  // Defines the functions of the CUDA runtime, whether it has CUDA code or leaves that to others (bindings for other
  // languages). Looks at the names of an object with a symbol table, and at nothing of one without.
  bool has_static_runtime() const;
  bool needs_shared_runtime() const;  // DT_NEEDED libcudart.so.*

  struct Function {
    std::string name;
    std::uint64_t value = 0;  // address in the file
    std::uint64_t room = 0;   // bytes up to its end
  };
  // Functions named cuda* and __cuda* that the file defines, if __cudaRegisterFatBinary is one of them.
  std::vector<Function> runtime_functions() const;
  // The release of CUDA that such functions are of: 11, 12, 13 (or later), or 10 for all before 11. Told by functions
  // that came or went: nothing in the file says it.
  static int runtime_release(const std::vector<Function>& functions);
  bool defines(std::string_view function) const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<fatbin::ElfImage> elf_;
};

}  // namespace warpgrind::cudart
