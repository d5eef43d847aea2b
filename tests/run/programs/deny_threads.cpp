// Preloaded by a test: a host that allows no more threads (ulimit -u; root has no limit, so that a test cannot set
// one).
#include <pthread.h>

#include <cerrno>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  return EAGAIN;
}
