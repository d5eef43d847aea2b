// Entry point of libwarpgrind_jit.so: its implementation of Backend.
#include <dlfcn.h>
#include <llvm-c/Core.h>

#include "codegen/compile/generator.h"
#include "codegen/host_code_reader.h"
#include "jit/compile/kernel_archive.h"

namespace warpgrind::jit {

namespace {

class LlvmBackend final : public Backend {
 public:
  std::unique_ptr<Generator> make_generator() override { return make_llvm_generator(); }
  std::string llvm_library() override {
    Dl_info where{};
    if (::dladdr(reinterpret_cast<void*>(&LLVMGetVersion), &where) == 0 || !where.dli_fname) return {};
    return where.dli_fname;
  }
  ResultUse result_use(const void* return_address) override { return read_result_use(return_address); }
  std::vector<HostPlace> host_places(const void* return_address) override { return read_host_places(return_address); }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] Backend* warpgrind_jit_backend(std::string_view code, FindCallSymbol find) {
  if (code != kCodeDigest) return nullptr;
  also_find_with(find);
  static LlvmBackend backend;
  return &backend;
}

}  // namespace warpgrind::jit
