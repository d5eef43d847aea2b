// What the preload library (preload.cpp) puts between the program and the C library, for the real one.
#pragma once

#include <pthread.h>

namespace warpgrind::cudart {

using StartRoutine = void* (*)(void*);

struct PreloadHooks {
  // The process ends by _exit, which runs no handlers of atexit.
  void (*before_hard_exit)() = nullptr;
  // The calling thread makes another, which gets what this returns when it begins; null: nothing.
  void* (*thread_made)(StartRoutine start) = nullptr;
  void (*thread_begins)(void* made) = nullptr;
  void (*thread_joined)(pthread_t thread) = nullptr;
};
inline constexpr const char* kSetHooks = "wg_set_preload_hooks";
using SetHooks = void (*)(const PreloadHooks*);

}  // namespace warpgrind::cudart
