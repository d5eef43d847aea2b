// What a thread has for itself, also when others of its kind are gone: destructors of static objects and exit handlers
// call us after the destructors of the main thread's thread_locals (a global that frees its memory, libgomp that closes
// its device), so the main thread's stays. Another thread that still calls us after its end gets a new one, which stays
// too.
#pragma once

#include <unistd.h>

#include <utility>

namespace warpgrind {

// One for each T.
template <class T>
T& per_thread() {
  static thread_local T* own = nullptr;
  struct End {
    ~End() {
      if (::gettid() != ::getpid()) delete std::exchange(own, nullptr);
    }
  };
  if (!own) {
    own = new T;
    static thread_local const End end;
  }
  return *own;
}

}  // namespace warpgrind
