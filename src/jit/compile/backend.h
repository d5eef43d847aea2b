// What needs LLVM, behind one interface. It is a library of its own (libwarpgrind_jit.so), opened when it is first
// asked for: loading LLVM takes some 15 ms of a process, and one whose kernels all come from the disk cache does
// without.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/site.h"
#include "jit/calls/symbols.h"
#include "jit/compile/compiler.h"
#include "jit/host_code.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

// Makes object code (ELF, x86-64). Not thread-safe: whoever has it locks.
class Generator {
 public:
  virtual ~Generator() = default;
  // The kernel is its function "kernel". Fills in what is known of it.
  virtual Result<std::string> generate(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                                       CompiledKernel& kernel, events::KernelFacts& facts) = 0;
  virtual std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry,
                                      const CompileOptions& options) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<Generator> make_generator() = 0;
  virtual std::string llvm_library() = 0;  // the file that LLVM was loaded from
  // jit/host_code.h
  virtual ResultUse result_use(const void* return_address) = 0;
  virtual std::vector<HostPlace> host_places(const void* return_address) = 0;
};

// The library's one function. `find` finds what machine code may call on this side. Both sides must be of one build:
// null where `code` is not the library's own kCodeDigest.
extern "C" Backend* warpgrind_jit_backend(std::string_view code, FindCallSymbol find);

Result<Backend*> backend();  // opens it at the first call; thread-safe

}  // namespace warpgrind::jit
