#include "cudart/redirect.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "cudart/program_image.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

// movabs rax, target; jmp rax. rax carries no argument in the calling convention of these functions.
constexpr std::size_t kJumpBytes = 12;

void write_jump(std::uint8_t* at, const void* target) {
  std::uint8_t code[kJumpBytes] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  std::memcpy(code + 2, &target, sizeof target);
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  auto last = (reinterpret_cast<std::uintptr_t>(at) + kJumpBytes + page - 1) & ~(page - 1);
  auto* start = reinterpret_cast<void*>(first);
  if (::mprotect(start, last - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  std::memcpy(at, code, sizeof code);
  ::mprotect(start, last - first, PROT_READ | PROT_EXEC);
}

[[noreturn]] void refuse_stripped() {
  char path[4096];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  std::string program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  the_session().problem(
      Error{ErrorKind::bad_input,
            program + " has CUDA code and the static CUDA runtime, but no symbol table: its calls cannot be redirected",
            "  Link it with `nvcc -cudart shared`, or do not strip it."});
  ::_exit(2);
}

void redirect(const LoadedObject& object, void* self) {
  ProgramImage image;
  // Another shared runtime, which the program found through an RPATH, is redirected as a static one is.
  bool shared_runtime = object.path.find("/libcudart.so") != std::string::npos;
  if (!image.open(object.path) || (!image.has_cuda_code() && !shared_runtime)) return;
  if (image.needs_shared_runtime()) return;
  std::vector<ProgramImage::Function> functions = image.runtime_functions();
  if (functions.empty()) {
    // A library may leave the runtime to the program it is linked to; the executable itself may not.
    if (object.is_executable && !image.has_symbol_table()) refuse_stripped();
    return;
  }
  for (const ProgramImage::Function& f : functions) {
    if (f.room < kJumpBytes) continue;
    if (const void* ours = ::dlsym(self, f.name.c_str()))
      write_jump(reinterpret_cast<std::uint8_t*>(object.base + f.value), ours);
  }
}

}  // namespace

void redirect_static_runtimes() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&redirect_static_runtimes), &info)) return;
  void* self = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!self) return;
  for (const LoadedObject& object : loaded_objects())
    if (object.path != info.dli_fname) redirect(object, self);
}

}  // namespace warpgrind::cudart
