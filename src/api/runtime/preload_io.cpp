// Interception of C library functions that make the operating system read or write the program's memory. On watched
// pages (base/host_pages.h) such a call would fail, whereas an instruction of the program faults and is then let
// through.
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "runtime/preload_hooks.h"

namespace {

using warpgrind::runtime::hooks;
using warpgrind::runtime::PreloadHooks;

// Finds the real function. Uses no static variable with a guard, since memory allocators may call these functions.
template <class Function>
Function* real(Function*& found, const char* name) {
  if (!found) found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  return found;
}

// call() returns the number of units (of `unit` bytes) read or written, or a negative number. caller: return address in
// the program.
template <class Call>
auto with_memory(const void* memory, std::size_t bytes, bool write, std::size_t unit, const void* caller, Call call) {
  const PreloadHooks* const h = hooks();
  if (!h) return call();
  h->memory_used(memory, bytes);
  const auto done = call();
  const auto signed_done = static_cast<ssize_t>(done);
  h->memory_was_used(memory, bytes, signed_done > 0 ? std::min(bytes, static_cast<std::size_t>(signed_done) * unit) : 0,
                     write, caller);
  return done;
}

template <class Call>
ssize_t with_pieces(const iovec* pieces, int count, bool write, const void* caller, Call call) {
  const PreloadHooks* const h = hooks();
  if (!h) return call();
  for (int k = 0; k < count; ++k) h->memory_used(pieces[k].iov_base, pieces[k].iov_len);
  const ssize_t done = call();
  std::size_t left = done > 0 ? static_cast<std::size_t>(done) : 0;
  for (int k = 0; k < count; ++k) {
    const std::size_t here = std::min(left, pieces[k].iov_len);
    h->memory_was_used(pieces[k].iov_base, pieces[k].iov_len, here, write, caller);
    left -= here;
  }
  return done;
}

}  // namespace

// WG_IO(RESULT, NAME, (PARAMETERS), (ARGUMENTS), MEMORY, BYTES, WRITES, BYTES PER UNIT OF THE RESULT)
#define WG_IO(Result, name, parameters, arguments, memory, bytes, write, unit)    \
  __attribute__((visibility("default"))) Result name parameters {                 \
    static Result(*found) parameters = nullptr;                                   \
    return with_memory(memory, bytes, write, unit, __builtin_return_address(0),   \
                       [&]() -> Result { return real(found, #name) arguments; }); \
  }

extern "C" {

WG_IO(ssize_t, read, (int file, void* to, size_t bytes), (file, to, bytes), to, bytes, true, 1)
WG_IO(ssize_t, write, (int file, const void* from, size_t bytes), (file, from, bytes), from, bytes, false, 1)
WG_IO(ssize_t, pread, (int file, void* to, size_t bytes, off_t at), (file, to, bytes, at), to, bytes, true, 1)
WG_IO(ssize_t, pread64, (int file, void* to, size_t bytes, off64_t at), (file, to, bytes, at), to, bytes, true, 1)
WG_IO(ssize_t, pwrite, (int file, const void* from, size_t bytes, off_t at), (file, from, bytes, at), from, bytes,
      false, 1)
WG_IO(ssize_t, pwrite64, (int file, const void* from, size_t bytes, off64_t at), (file, from, bytes, at), from, bytes,
      false, 1)
WG_IO(ssize_t, recv, (int socket, void* to, size_t bytes, int flags), (socket, to, bytes, flags), to, bytes, true, 1)
WG_IO(ssize_t, send, (int socket, const void* from, size_t bytes, int flags), (socket, from, bytes, flags), from, bytes,
      false, 1)
WG_IO(size_t, fread, (void* to, size_t size, size_t count, FILE* file), (to, size, count, file), to, size* count, true,
      size)
WG_IO(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* file), (from, size, count, file), from,
      size* count, false, size)

__attribute__((visibility("default"))) ssize_t readv(int file, const iovec* pieces, int count) {
  static ssize_t (*found)(int, const iovec*, int) = nullptr;
  return with_pieces(pieces, count, true, __builtin_return_address(0),
                     [&] { return real(found, "readv")(file, pieces, count); });
}
__attribute__((visibility("default"))) ssize_t writev(int file, const iovec* pieces, int count) {
  static ssize_t (*found)(int, const iovec*, int) = nullptr;
  return with_pieces(pieces, count, false, __builtin_return_address(0),
                     [&] { return real(found, "writev")(file, pieces, count); });
}

}  // extern "C"
