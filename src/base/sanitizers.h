// Which sanitizer this is compiled with (gcc and clang say it in different ways), and what it must not look at.
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

// While one lives, ThreadSanitizer does not watch its thread's plain accesses: those to the memory of a kernel. Kernels
// order them by atomics and flags that machine code of ours reads, which is not instrumented, so that a right kernel
// looks like a race of ours (a grid barrier does, once in five runs). A fiber is not left while one lives.
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
  // After a crash, whose access left no destructor to run.
  static void end_all() {
    while (living_ > 0) end_one();
  }
#else
  NotWatched() {}  // not "= default": a guard that is not used is no warning then
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
