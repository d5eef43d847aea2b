// Redirection of static CUDA runtimes: writes jumps to our functions over theirs.
#include "runtime/redirect.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/call.h"
#include "runtime/program_image.h"

namespace warpgrind::runtime {

namespace {

// Size of the jump: movabs rax, target; jmp rax. These functions take no argument in rax.
constexpr std::size_t kJumpBytes = 12;

[[noreturn]] void refuse_run(const std::string& why, const std::string& advice) {
  session::messages().problem(Error{ErrorKind::bad_input, why, "  " + advice});
  ::_exit(2);
}

std::string name_of(const LoadedObject& object) {
  if (!object.is_executable) return object.path;
  char path[4096];
  ssize_t length = ::readlink(object.path.c_str(), path, sizeof path);
  return std::string(path, length > 0 ? static_cast<std::size_t>(length) : 0);
}

constexpr const char* kUseShared = "Link it with `nvcc -cudart shared`";

// Overwrites the start of a function with a jump. False: the system does not allow changes of code (SELinux's execmod,
// a hardened kernel); errno has the cause.
bool write_jump(std::uint8_t* at, const void* target) {
  std::uint8_t code[kJumpBytes] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  std::memcpy(code + 2, &target, sizeof target);
  if (std::memcmp(at, code, sizeof code) == 0) return true;  // already redirected
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  auto last = (reinterpret_cast<std::uintptr_t>(at) + kJumpBytes + page - 1) & ~(page - 1);
  auto* start = reinterpret_cast<void*>(first);
  // The page is never writable and executable at the same time. No thread runs this code yet, since its object has not
  // been initialised.
  if (::mprotect(start, last - first, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(at, code, sizeof code);
  return ::mprotect(start, last - first, PROT_READ | PROT_EXEC) == 0;
}

// Reports NVIDIA's libraries that are linked statically into the program. Their kernels are machine code, and their
// functions are not redirected.
void name_static_libraries(const LoadedObject& object, const ProgramImage& image) {
  struct Library {
    const char *function, *name, *option;
  };
  for (const Library& l :
       {Library{"cublasCreate_v2", "cuBLAS", "-lcublas"}, Library{"cublasLtCreate", "cuBLASLt", "-lcublasLt"},
        Library{"cufftCreate", "cuFFT", "-lcufft"}, Library{"curandCreateGenerator", "cuRAND", "-lcurand"},
        Library{"cusparseCreate", "cuSPARSE", "-lcusparse"}, Library{"cusolverDnCreate", "cuSOLVER", "-lcusolver"}})
    if (image.defines(l.function))
      session::messages().say_once(
          fmt::format("{} is linked statically into {}: its kernels are GPU machine code, which cannot run here. Link "
                      "it with `{}`: that library runs on the host",
                      l.name, name_of(object), l.option));
}

// Our replacement for a function of CUDA `release`'s runtime (warpgrind/older_functions.inc). Null: there is none.
const void* function_of(void* self, int release, const std::string& name) {
  if (release < 13)
    for (const std::string& older : {fmt::format("warpgrind_cuda{}_{}", release, name), "warpgrind_older_" + name})
      if (const void* ours = ::dlsym(self, older.c_str())) return ours;
  return ::dlsym(self, name.c_str());
}

void redirect(const LoadedObject& object, void* self) {
  ProgramImage image;
  // Another shared runtime, found through an RPATH, is redirected like a static one.
  bool shared_runtime = object.path.find("/libcudart.so") != std::string::npos;
  if (!image.open(object.path)) return;
  if (!image.has_cuda_code() && !image.has_static_runtime() && !shared_runtime) return;
  if (object.is_executable) name_static_libraries(object, image);
  if (image.needs_shared_runtime()) return;
  std::vector<ProgramImage::Function> functions = image.runtime_functions();
  if (functions.empty()) {
    // A library may use the runtime of the program that links it. The executable must have its own.
    if (object.is_executable && !image.has_symbol_table())
      refuse_run(name_of(object) +
                     " has CUDA code and the static CUDA runtime, but no symbol table: its calls cannot be redirected",
                 fmt::format("{}, or do not strip it.", kUseShared));
    return;
  }
  const int release = ProgramImage::runtime_release(functions);
  if (release < 11)
    refuse_run(fmt::format("{} has a CUDA runtime older than release 11, whose structures differ", name_of(object)),
               "Compile it with CUDA 11 or later.");
  // A function that remains NVIDIA's would need a driver, or mix two runtimes, so the run must end.
  for (const ProgramImage::Function& f : functions) {
    const void* ours = function_of(self, release, f.name);
    if (!ours) continue;
    if (f.room < kJumpBytes)
      refuse_run(
          fmt::format("{} of the static CUDA runtime in {} is too short to be redirected", f.name, name_of(object)),
          fmt::format("{}.", kUseShared));
    if (!write_jump(reinterpret_cast<std::uint8_t*>(object.base + f.value), ours))
      refuse_run(fmt::format("{} of the static CUDA runtime in {} cannot be redirected: {}", f.name, name_of(object),
                             std::strerror(errno)),
                 fmt::format("The system does not allow changes of code (SELinux?). {}.", kUseShared));
  }
}

}  // namespace

void redirect_static_runtimes() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&redirect_static_runtimes), &info)) return;
  void* self = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!self) return;
  const std::string own = info.dli_fname;
  const std::string folder = own.substr(0, own.rfind('/') + 1);
  static auto& new_objects = *new NewObjects;  // never destroyed: exit handlers open libraries too
  for (const LoadedObject& object : new_objects())
    if (!object.path.starts_with(folder + "libcudart.so.")) redirect(object, self);  // skips our own, of any release
}

// Entry point for the preload library, which calls it when the program has opened a library.
extern "C" __attribute__((visibility("default"))) void wg_redirect_static_runtimes() {
  redirect_static_runtimes();
}

}  // namespace warpgrind::runtime
