// File descriptor, and pipe, that is closed at the end of its scope. Standard streams that are never missing.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace warpgrind {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.number_, -1));
    return *this;
  }
  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

// Pipe whose ends are closed by exec.
struct Pipe {
  Descriptor read, write;
  // False: no descriptor is free, and errno is set.
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }
};

// The same file under a number that is no standard stream's. The program may have closed those, and could write to the
// file as its output. For files that stay open in the program's process. -1 stays -1.
inline int above_streams(int number) {
  constexpr int kFirstOther = 3;
  if (number < 0 || number >= kFirstOther) return number;
  const int above = fcntl(number, F_DUPFD_CLOEXEC, kFirstOther);
  close(number);
  return above;
}

// Opens /dev/null as those standard streams (descriptors 0, 1 and 2) that are closed, as glibc does for setuid
// programs. Otherwise the next file that this process opens would become the program's output. Call it before any is
// opened.
inline void open_missing_streams() {
  for (int number = 0; number < 3; ++number) {
    if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number: those below are open. Reading from a missing input still fails.
    if (open("/dev/null", number == 0 ? O_WRONLY : O_RDWR) != number) return;
  }
}

}  // namespace warpgrind
