// A compiled kernel as bytes: what is known of it and its object code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jit/compile/compiler.h"

namespace warpgrind::jit {

// Of the sources of our own code generation, made by the build.
extern const std::string_view kCodeDigest;

// A digest of what decides what pack() gives: the PTX, the options, the CPU, and the sources of our own code
// generation.
std::string cache_key(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                      const std::string& cpu, std::string_view code = kCodeDigest);

// A version of a file.
struct FileIdentity {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  static FileIdentity of(const std::string& path);
  bool operator==(const FileIdentity&) const = default;
};

// llvm: which made the object. It decides the code too, but is no part of the key: that would have to load it.
std::string pack(const CompiledKernel& kernel, const FileIdentity& llvm, std::string_view object);
// The object, in `bytes`; fills in `kernel` and `facts`. nullopt: not such bytes, or the LLVM that made it is another
// one by now.
std::optional<std::string_view> unpack(std::string_view bytes, CompiledKernel& kernel, events::KernelFacts& facts);

}  // namespace warpgrind::jit
