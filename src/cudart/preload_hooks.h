// What the preload library (preload.cpp) puts between the program and the C library, for the real one.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace warpgrind::cudart {

using StartRoutine = void* (*)(void*);

struct PreloadHooks {
  // The process ends by _exit, which runs no handlers of atexit.
  void (*before_hard_exit)() = nullptr;
  // The calling thread makes another, which gets what this returns when it begins; null: nothing.
  void* (*thread_made)(StartRoutine start) = nullptr;
  void (*thread_begins)(void* made) = nullptr;
  void (*thread_joined)(pthread_t thread) = nullptr;
  // The program has the kernel of the operating system read or write `bytes` bytes of its memory: before, and when
  // `done` of them have been by a call that returns to `caller`.
  void (*memory_used)(const void* memory, std::size_t bytes) = nullptr;
  void (*memory_was_used)(const void* memory, std::size_t bytes, std::size_t done, bool write,
                          const void* caller) = nullptr;
  // Something in the process reads a clock of the host.
  void (*clock_read)(const char* function) = nullptr;
};
const PreloadHooks* hooks();  // in the preload library; null: this process runs no CUDA
inline constexpr const char* kSetHooks = "wg_set_preload_hooks";
using SetHooks = void (*)(const PreloadHooks*);

}  // namespace warpgrind::cudart
