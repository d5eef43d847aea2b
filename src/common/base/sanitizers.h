// Detection of sanitizers (gcc and clang report them differently), and a guard that hides accesses from
// ThreadSanitizer.
#pragma once

#if defined(__has_feature)
#define WG_HAS_FEATURE(name) __has_feature(name)
#else
#define WG_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || WG_HAS_FEATURE(address_sanitizer)
#define WG_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) || WG_HAS_FEATURE(thread_sanitizer)
#define WG_THREAD_SANITIZER 1
#endif

#ifdef WG_THREAD_SANITIZER
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace warpgrind {

// While a NotWatched lives, ThreadSanitizer ignores plain accesses of its thread. It is for accesses to a kernel's
// memory. Kernels order them by atomics and flags that the JIT's machine code reads. That code is not instrumented, so
// a correct kernel looks like a data race of ours (a grid barrier does, once in five runs). A fiber must not be
// switched while one lives.
class NotWatched {
 public:
#ifdef WG_THREAD_SANITIZER
  NotWatched() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    ++living_;
  }
  ~NotWatched() {
    end_one();
  }
  // For use after a crash: the faulting access ran no destructors.
  static void end_all() {
    while (living_ > 0) end_one();
  }
#else
  NotWatched() {}  // user-provided: "= default" would give unused-variable warnings
  static void end_all() {}
#endif
  NotWatched(const NotWatched&) = delete;
  NotWatched& operator=(const NotWatched&) = delete;

#ifdef WG_THREAD_SANITIZER
 private:
  static void end_one() {
    --living_;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  static inline thread_local unsigned living_ = 0;
#endif
};

}  // namespace warpgrind
