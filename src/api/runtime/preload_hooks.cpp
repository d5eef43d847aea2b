// Interception of _exit, pthread_create and pthread_join in the preload library, and its table of hooks.
#include "runtime/preload_hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>

namespace {

using warpgrind::runtime::PreloadHooks;
using warpgrind::runtime::StartRoutine;

std::atomic<const PreloadHooks*> g_hooks{nullptr};
std::atomic<pid_t> g_process{0};
std::atomic<bool> g_ending{false};

_Unwind_Reason_Code find_signal_frame(_Unwind_Context* context, void* found) {
  int before = 0;
  _Unwind_GetIPInfo(context, &before);
  if (!before) return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_END_OF_STACK;
}

// End of a process by _exit, which Python's workers and many forked children use: writes their profile. Not in a signal
// handler, since the interrupted code may hold a lock. Not in a child of vfork, which shares its parent's memory.
[[noreturn]] void hard_exit(int code) {
  const PreloadHooks* hooks = g_hooks;
  if (hooks && g_process.load() == ::getpid() && !g_ending.exchange(true)) {
    bool in_handler = false;
    _Unwind_Backtrace(find_signal_frame, &in_handler);
    if (!in_handler) hooks->before_hard_exit();
  }
  for (;;) ::syscall(SYS_exit_group, code);
}

struct Beginning {
  StartRoutine start;
  void *argument, *made;
};

void* begin(void* argument) {
  auto* given = static_cast<Beginning*>(argument);
  const Beginning b = *given;
  delete given;
  g_hooks.load()->thread_begins(b.made);
  return b.start(b.argument);
}

}  // namespace

namespace warpgrind::runtime {
const PreloadHooks* hooks() {
  return g_hooks.load(std::memory_order_acquire);
}
}  // namespace warpgrind::runtime

extern "C" {

__attribute__((visibility("default"))) void wg_set_preload_hooks(const PreloadHooks* hooks) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { g_process = ::getpid(); });
  if (registered != 0) return;
  g_process = ::getpid();
  g_hooks = hooks;
}

__attribute__((visibility("default"))) void _exit(int code) {
  hard_exit(code);
}
__attribute__((visibility("default"))) void _Exit(int code) noexcept {
  hard_exit(code);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          StartRoutine start, void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, StartRoutine, void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  const PreloadHooks* hooks = g_hooks;
  void* made = hooks ? hooks->thread_made(start) : nullptr;
  if (!made) return create(thread, attributes, start, argument);
  auto* given = new Beginning{start, argument, made};
  const int error = create(thread, attributes, &begin, given);
  if (error != 0) {  // `made` is leaked: it is small, and the program has a larger problem
    delete given;
  }
  return error;
}

__attribute__((visibility("default"))) int pthread_join(pthread_t thread, void** result) {
  using Join = int (*)(pthread_t, void**);
  static const auto join = reinterpret_cast<Join>(::dlsym(RTLD_NEXT, "pthread_join"));
  const int error = join(thread, result);
  if (const PreloadHooks* hooks = g_hooks; hooks && error == 0) hooks->thread_joined(thread);
  return error;
}

}  // extern "C"
