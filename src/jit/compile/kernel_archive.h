// A compiled kernel as bytes: what is known of it and its object code.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>
#include <string_view>

#include "jit/compile/compiler.h"

namespace warpgrind::jit {

// Of the sources of our own code generation, made by the build.
extern const std::string_view kCodeDigest;

// A digest of everything that decides what pack() gives: the PTX, the options, the CPU, LLVM, and the sources of our
// own code generation.
std::string cache_key(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                      const std::string& cpu, std::string_view code = kCodeDigest);

std::string pack(const CompiledKernel& kernel, llvm::StringRef object);
// Fills in `kernel` and `facts`; null: not such bytes.
std::unique_ptr<llvm::MemoryBuffer> unpack(llvm::StringRef bytes, CompiledKernel& kernel, events::KernelFacts& facts);

}  // namespace warpgrind::jit
