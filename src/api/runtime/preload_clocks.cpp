// Interception of C library functions that read a clock, so that a program which times kernels can be warned: it
// measures the simulation. The real function returns the time. Direct reads (rdtsc, a static C library) are not
// intercepted.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>

#include "runtime/preload_hooks.h"

namespace {

// Finds the real function. Uses no static variable with a guard, since memory allocators may call these functions. If
// several threads make the first call, they all find the same function.
template <class Function>
Function* real(std::atomic<Function*>& found, const char* name) {
  Function* function = found.load(std::memory_order_relaxed);
  if (!function) {
    function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

void note(const char* function) {
  if (const warpgrind::runtime::PreloadHooks* const h = warpgrind::runtime::hooks()) h->clock_read(function);
}

}  // namespace

// WG_CLOCK(RESULT, NAME, (PARAMETERS), (ARGUMENTS))
#define WG_CLOCK(Result, name, parameters, arguments)                      \
  __attribute__((visibility("default"))) Result name parameters noexcept { \
    static std::atomic<Result(*) parameters> found{nullptr};               \
    note(#name);                                                           \
    return real(found, #name) arguments;                                   \
  }

extern "C" {

WG_CLOCK(clock_t, clock, (), ())
WG_CLOCK(time_t, time, (time_t * to), (to))
WG_CLOCK(int, clock_gettime, (clockid_t clock, timespec* to), (clock, to))
WG_CLOCK(int, gettimeofday, (timeval * to, void* zone), (to, zone))
WG_CLOCK(int, timespec_get, (timespec * to, int base), (to, base))

}  // extern "C"
