// Per-thread object that outlives thread_local destructors. Destructors of static objects and exit handlers call this
// library after the main thread's thread_locals are gone: a global that frees its memory, or libgomp when it closes its
// device. The main thread's object is therefore never destroyed. Another thread that still calls after its end gets a
// new object, which is not destroyed either.
#pragma once

#include <unistd.h>

#include <utility>

namespace warpgrind {

// One object for each T.
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
    [[clang::always_destroy]] static thread_local const End end;  // no -Wexit-time-destructors
  }
  return *own;
}

}  // namespace warpgrind
