// Serialisation of a compiled kernel: its facts and its object code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jit/compile/compiler.h"

namespace warpgrind::jit {

// Digest of the sources of our own code generation. The build makes it.
extern const std::string_view kCodeDigest;

// Digest of the inputs of the compilation: the kernel's PTX (kernel_text.h), the options, the CPU, and the sources of
// our own code generation.
std::string cache_key(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                      const std::string& cpu, std::string_view code = kCodeDigest);

// Identity of one version of a file.
struct FileIdentity {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  static FileIdentity of(const std::string& path);
  bool operator==(const FileIdentity&) const = default;
};

// `llvm`: the library that made the object. It affects the code but is not part of the key: the key would need LLVM
// loaded.
std::string pack(const CompiledKernel& kernel, const FileIdentity& llvm, std::string_view object);
// Returns the object as a part of `bytes`; fills in `kernel` and `facts`. nullopt: invalid bytes, or a different LLVM
// is installed now.
std::optional<std::string_view> unpack(std::string_view bytes, CompiledKernel& kernel, events::KernelFacts& facts);

}  // namespace warpgrind::jit
