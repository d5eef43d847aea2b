// Interface to everything that needs LLVM. The implementation is a library of its own (libwarpgrind_jit.so), opened at
// the first use. Loading LLVM takes a process some 15 ms; a process whose kernels all come from the disk cache avoids
// it.
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

// Makes object code (ELF, x86-64). Not thread-safe: the caller must lock.
class Generator {
 public:
  virtual ~Generator() = default;
  // The kernel becomes the function "kernel". Fills in `kernel` and `facts`.
  virtual Result<std::string> generate(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                                       CompiledKernel& kernel, events::KernelFacts& facts) = 0;
  virtual std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry,
                                      const CompileOptions& options) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<Generator> make_generator() = 0;
  virtual std::string llvm_library() = 0;  // path of the loaded LLVM library
  // jit/host_code.h
  virtual ResultUse result_use(const void* return_address) = 0;
  virtual std::vector<HostPlace> host_places(const void* return_address) = 0;
};

// The only function that the library exports. `find` looks up the program's call symbols. Both sides must be of one
// build: returns null if `code` differs from the library's own kCodeDigest.
extern "C" Backend* warpgrind_jit_backend(std::string_view code, FindCallSymbol find);

Result<Backend*> backend();  // opens the library at the first call; thread-safe

}  // namespace warpgrind::jit
