// Preloaded library that simulates a host without free threads. (A test cannot use ulimit -u, because root has no
// limit.)
#include <pthread.h>

#include <cerrno>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  return EAGAIN;
}
