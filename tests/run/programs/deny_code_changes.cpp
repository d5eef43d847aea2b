// Preloaded library that simulates a system on which code cannot be changed.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

extern "C" int mprotect(void* start, std::size_t size, int protection) noexcept {
  if (!(protection & PROT_EXEC)) return static_cast<int>(syscall(SYS_mprotect, start, size, protection));
  errno = EACCES;
  return -1;
}
