// Hooks that libcudart.so.13 registers with the preload library (preload.cpp), which intercepts calls of the C library.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace warpgrind::runtime {

using StartRoutine = void* (*)(void*);

struct PreloadHooks {
  // The process ends by _exit, which runs no atexit handlers.
  void (*before_hard_exit)() = nullptr;
  // The calling thread creates another. The new thread passes the returned pointer to thread_begins; null: no call.
  void* (*thread_made)(StartRoutine start) = nullptr;
  void (*thread_begins)(void* made) = nullptr;
  void (*thread_joined)(pthread_t thread) = nullptr;
  // The program has the operating system read or write `bytes` bytes of its memory. memory_used is called before that,
  // memory_was_used after `done` bytes were transferred, by a call that returns to `caller`.
  void (*memory_used)(const void* memory, std::size_t bytes) = nullptr;
  void (*memory_was_used)(const void* memory, std::size_t bytes, std::size_t done, bool write,
                          const void* caller) = nullptr;
  // Code in the process reads a clock of the host.
  void (*clock_read)(const char* function) = nullptr;
  // For the functions of warpgrind/sections.h.
  int (*begin_section)() = nullptr;
  char* (*section_profile)() = nullptr;
};
const PreloadHooks* hooks();  // in the preload library; null: this process does not use CUDA
inline constexpr const char* kSetHooks = "wg_set_preload_hooks";
using SetHooks = void (*)(const PreloadHooks*);

}  // namespace warpgrind::runtime
